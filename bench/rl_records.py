"""How an arm was made, and which arms may stand in one table.

Arms of one name are one recipe under several seeds: a config with what was set by name, for so many seconds, from the
same demonstrations. All arms are played in one environment, and one that goes on from another goes on from the very
weights that stand in the table. What earlier sittings made stays in a file of results as far as this is so; where it is
not, it is left out by name: the mean of two recipes is none of either, and a gain over other weights is no gain.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from whet.envs.fingerprint import code, file_digest
from whet.envs.registry import load_environment
from whet.keys import digest
from whet.run.train import load_train_config

PACKAGES = ("torch", "transformers", "trl", "peft")
WEIGHTS = "adapter_model.safetensors"
SETTING = re.compile(r"[a-z_]+(\.\w+)+=")
"""What is set by name; what else a recipe is told by (seconds, digests) reads otherwise."""
SHARED = "CUDA_MPS_PIPE_DIRECTORY"
"""What a process is told under which others use the same GPU (bench/sitting.py --share)."""
REHEARSAL = ("RL_BASE", "RL_N", "RL_TRACES", "RL_PLAYED", "RL_TOKENS")
"""Variables that make an arm small, to see that it works: it is marked, and stands in no table beside others."""
Told = Mapping[str, Any]
Key = tuple[str, int]
"""An arm's name and its seed."""


def made_by(
    environment: str, config: Path | None, given: Sequence[str] = (), learnt: Path | None = None
) -> dict[str, Any]:
    """By what an arm is made: its recipe, the environment's code, versions and the machine.

    `given` is what is set by name, with what it may take; `learnt` the file of conversations that it imitates.
    """
    shown = [file_digest(learnt)] if learnt else []
    told = sorted(said for said in given if not SETTING.match(said))
    recipe = [recipe_of(config, [said for said in given if SETTING.match(said)])] if config else []
    return {
        "config": config.name if config else "",
        "config_hash": digest(*recipe, *told, *shown)[:16] if recipe or told else "",
        "environment": environment_code(environment),
        **machine(),
    }


def recipe_of(config: Path, settings: Sequence[str] = ()) -> dict[str, Any]:
    """What is learnt by a config, as its text or what is set by name says it; not how a machine goes about it.

    The context counts: what does not fit into it is not learnt.
    """
    made = load_train_config(config, None, settings)
    found = made.identity() | {"context": made.control.target.context}
    tune = found.get("tune", {})
    tune.pop("micro", None)
    tune["save"] = 0
    return found


def machine() -> dict[str, Any]:
    """Versions, and what this process computes on."""
    return {
        "versions": {package: version(package) for package in PACKAGES},
        "python": platform.python_version(),
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "a processor",
        "shared": SHARED in os.environ,
    }


def peak_gib() -> float | None:
    """Of the GPU's memory, what this process has held at the most: what a list of jobs must promise for it."""
    return round(torch.cuda.max_memory_reserved() / 2**30, 1) if torch.cuda.is_available() else None


def environment_code(name: str) -> str:
    """The code of an environment and its libraries; but numpy, from which it takes no chance, as machines differ."""
    return code(type(load_environment(name)), without=("numpy",))[:16]


def keep_adapter(checkpoint: Path, out: Path) -> None:
    """The adapter alone, in bfloat16: what another sitting goes on from."""
    out.mkdir(parents=True, exist_ok=True)
    for file in checkpoint.iterdir():
        if file.suffix == ".json" and file.name.startswith(("adapter", "whet")):
            shutil.copy(file, out / file.name)
    held = load_file(checkpoint / WEIGHTS)
    save_file({name: tensor.to(torch.bfloat16) for name, tensor in held.items()}, out / WEIGHTS)


def weights_digest(adapter: Path) -> str:
    """By which an adapter is known; '' where there is none."""
    file = adapter / WEIGHTS
    return file_digest(file)[:16] if file.is_file() else ""


# ---------------------------------------------------------------------------------------------- arms on their way


def keep(place: Path, told: Told) -> None:
    """What is known of an arm so far; once a part of it was rehearsed, that is what it is."""
    place.mkdir(parents=True, exist_ok=True)
    small = {name: os.environ[name] for name in REHEARSAL if name in os.environ}
    marked = {"toy": small} if small else {}
    (place / "arm.json").write_text(json.dumps({**told, **marked}, indent=1))


def weights_of(work: Path, name: str, seed: int) -> Path:
    """The adapter of an arm that another goes on from."""
    adapter = work / f"{name}_{seed}" / "adapter"
    if not weights_digest(adapter):
        raise SystemExit(f"{adapter} holds no weights to go on from: make {name} under seed {seed} first")
    return adapter


def attempts_of(work: Path) -> Path:
    """The worked attempts that are imitated."""
    file = work / "traces.jsonl"
    if not file.is_file():
        raise SystemExit(f"{file} is not there: make it by `warm --work {work}` first")
    return file


def kept(place: Path) -> dict[str, Any]:
    """What is known of an arm; nothing where it was not begun."""
    file = place / "arm.json"
    found: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    return found


def taken_up(place: Path, environment: str, measured: Collection[str], *, plays: bool) -> dict[str, Any]:
    """What is known of an arm, to go on with it here.

    Where the environment is another by now, what was `measured` is measured anew; what was learnt by playing is not
    learnt anew in silence.
    """
    told, here = kept(place), environment_code(environment)
    if not told or told.get("environment", "") == here:
        return told
    if plays:
        raise SystemExit(f"{place}: it was trained in another environment than the one here; take it away")
    print(f"{place.name}: the environment is another now, so it is measured anew", flush=True)
    return {key: value for key, value in told.items() if key not in measured} | {"environment": here}


def arms_of(work: Path) -> list[dict[str, Any]]:
    """All arms in a folder, of which there must be one."""
    found = [json.loads(file.read_text()) for file in sorted(work.glob("*/arm.json"))]
    if not found:
        raise SystemExit(f"{work} holds no arm to collect")
    return found


# ---------------------------------------------------------------------------------------------- arms in one table


def held_in(out: Path) -> list[dict[str, Any]]:
    """The arms that a file of results holds."""
    found: list[dict[str, Any]] = json.loads(out.read_text())["made"] if out.exists() else []
    return found


def agreeing(
    held: Iterable[Told], fresh: Iterable[Told], after: Mapping[str, str] = {}
) -> tuple[list[dict[str, Any]], list[str]]:
    """The arms that may stand in one table, by name and seed, without their logs; and what is left out, and why.

    `fresh` count before those `held` from earlier. `after` says which arm one goes on from.
    """
    new = {_key(told): told for told in fresh}
    made = {_key(told): told for told in held} | new
    if len({bool(told.get("toy")) for told in made.values()}) > 1:
        toys = {key: told for key, told in made.items() if told.get("toy")}
        raise SystemExit(f"a rehearsal stands in no table with results; collect it by itself: {_by(toys, 'toy')}")
    worlds = {told.get("environment", "") for told in new.values()}
    if len(worlds) > 1:
        raise SystemExit(f"arms of {len(worlds)} environments are in one folder: {_by(new, 'environment')}")
    recipes: dict[str, str] = {}
    for (name, _), told in new.items():
        if recipes.setdefault(name, told.get("config_hash", "")) != told.get("config_hash", ""):
            own = {key: arm for key, arm in new.items() if key[0] == name}
            raise SystemExit(f"arms {name} of several recipes are in one folder: {_by(own, 'config_hash')}")
    why: dict[Key, str] = {}
    for key, told in made.items():
        if key not in new and worlds and told.get("environment", "") not in worlds:
            why[key] = "another environment"
        elif key not in new and key[0] in recipes and told.get("config_hash", "") != recipes[key[0]]:
            why[key] = "another recipe"
    while found := {key: said for key in made.keys() - why if (said := _uprooted(made[key], made, why, after))}:
        why |= found
    kept = [{name: value for name, value in made[key].items() if name != "log"} for key in sorted(made.keys() - why)]
    return kept, [f"{name} {seed}: {reason}" for (name, seed), reason in sorted(why.items())]


def _uprooted(told: Told, made: Mapping[Key, Told], gone: Collection[Key], after: Mapping[str, str]) -> str:
    """Why the weights that an arm went on from do not stand in the table; '' where they do, or nothing is known."""
    name, seed = after.get(told["arm"], ""), told["seed"]
    if not name or not told.get("start"):
        return ""
    if (name, seed) not in made or (name, seed) in gone:
        return f"{name} {seed} is not in the table"
    adapter = made[name, seed].get("adapter")
    return f"other weights of {name}" if adapter and adapter != told["start"] else ""


def _key(told: Told) -> Key:
    return told["arm"], told["seed"]


def _by(made: Mapping[Key, Told], what: str) -> str:
    return ", ".join(f"{name}_{seed} ({told.get(what) or 'unknown'})" for (name, seed), told in sorted(made.items()))


def circumstances(made: Iterable[Told]) -> dict[str, Any]:
    """Of all arms together: recipes, versions and machines, and whether they are a rehearsal."""
    told = list(made)
    return {
        **({"toy": True} if any(arm.get("toy") for arm in told) else {}),
        "configs": _sets((arm["arm"], arm["config_hash"]) for arm in told if arm.get("config_hash")),
        "versions": _sets(pair for arm in told for pair in arm.get("versions", {}).items()),
        "device": ", ".join(sorted({arm["device"] for arm in told if arm.get("device")})),
    }


def _sets(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    found: dict[str, set[str]] = {}
    for name, value in pairs:
        found.setdefault(name, set()).add(value)
    return {name: ", ".join(sorted(values)) for name, values in sorted(found.items())}


def write_results(out: Path, found: Mapping[str, Any], left_out: Sequence[str], told: str) -> None:
    """A file of results, and a line that says what is in it and what is not."""
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({**found, "left_out": list(left_out)}, indent=1, sort_keys=True) + "\n")
    without = f"; left out: {'; '.join(left_out)}" if left_out else ""
    print(f"{out}: {told or 'no arm is made yet'}{without}", flush=True)
