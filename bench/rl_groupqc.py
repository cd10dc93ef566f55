"""Text and weights on `groupqc`, arm by arm: reviewers have habits that nobody wrote down; who finds them?

python bench/rl_groupqc.py arm base_playbook --work DIR          the base with the mission's rules and worked examples
python bench/rl_groupqc.py arm rules --seed 0 --work DIR         the same, its rule book searched with the offline miner
python bench/rl_groupqc.py arm sft --seed 0 --work DIR           imitation of labelled tickets
python bench/rl_groupqc.py arm grpo --seed 0 --work DIR          reinforcement from the arm `sft` of the same seed
python bench/rl_groupqc.py collect --work DIR --out results/groupqc_rl.json

An arm is a config of examples, with what differs set by name, trained by `whet.train` and then played at temperature 0
on the same tickets of split test, sites that no arm was trained on. An arm that is made already is left alone. Where
the arm `rules` of the same seed has brought another book, trained weights are also played with it: the other half of
the two by two. The ceiling knows the planted conventions and plays the same tickets. Invalid is no release, so a base
that is seldom valid releases little: read its false releases beside its validity.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from arm_options import arm_parser, read_arm_options
from rl import BRIEFLY, NUMBERS, KeptOpen, _keep_adapter, _say
from rl_problems import CONFIGS, HERE

import whet
from whet.config.playbooks import read_playbook, write_playbook
from whet.envs.registry import load_environment
from whet.keys import digest
from whet.models.base import Model
from whet.run.train import load_train_config
from whet.run.workspace import open_run
from whet.types import Example, Playbook, Score

BASE = os.environ.get("RL_BASE", "hf:smollm2")
N = int(os.environ.get("RL_N", "400"))
RULES = HERE / "examples" / "rules_groupqc.toml"
SFT, GRPO = CONFIGS / "groupqc_sft.toml", CONFIGS / "groupqc_grpo.toml"
TRAINED = {"sft": SFT, "grpo": GRPO}
ARMS = ("base_playbook", "rules", *TRAINED)
FIGURES = ("validity", "balanced_accuracy", "false_release")
WORKED = 4
"""Worked examples of the playbook, half of them of failing tickets: without any the base does not find the form."""
PLAYED = ("target.sampling.temperature=0", "target.sampling.max_tokens=96")
ROOM = ("control.target.slots=64", f"control.target.context={os.environ.get('RL_CONTEXT', '4096')}")
SEARCH = (
    *PLAYED,
    *ROOM,
    "target.sampling.votes=1",
    "target.sampling.until_settled=false",
    "train.proposer=miner",
    "train.steps=4",
    "train.test=0",
    "rules.floor=false",
    "rules.ablations=false",
)


def tickets() -> Mapping[str, Any]:
    """The arguments of the environment that all arms share."""
    return {name: value for name, value in load_train_config(SFT, None, ()).env.args.items() if name != "reward"}


def worked_playbook() -> Playbook:
    """Train tickets with their verdicts, passing and failing in turn."""
    env = load_environment("groupqc", tickets())
    oracle = env.baselines()["oracle"]
    found: dict[str, list[Example]] = {"pass": [], "fail": []}
    index = 0
    while min(map(len, found.values())) < WORKED // 2:
        task = env.task("train", index)
        found[task.truth["label"]].append(Example(task.messages[-1].text, str(oracle(task, task.messages))))
        index += 1
    pairs = zip(*(examples[: WORKED // 2] for examples in found.values()), strict=True)
    return Playbook(examples=tuple(example for pair in pairs for example in pair))


# ---------------------------------------------------------------------------------------------- one arm


def run_arm(name: str, seed: int, work: Path, overrides: Sequence[str], label: str = "") -> None:
    """Make an arm under a seed and measure what came of it."""
    place = work / f"{label or name}_{seed}"
    found = place / "arm.json"
    if found.exists():
        print(f"{found} is there already", flush=True)
        return
    place.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    told: dict[str, Any] = {"arm": label or name, "seed": seed, "overrides": list(overrides)}
    model, playbook = BASE, worked_playbook()
    if name == "rules":
        told |= _searched(seed, place, playbook, overrides)
        playbook = read_playbook(str(place / "book.json"))
    elif name in TRAINED:
        told |= _trained(name, seed, work, place, overrides)
        model, playbook = f"{BASE}+{place / 'adapter'}", Playbook()
    told["seconds"] = round(time.monotonic() - began, 1)
    opened = KeptOpen(model)
    told["figures"] = measured(opened, place, playbook)
    book = work / f"rules_{seed}" / "book.json"
    if name in TRAINED and book.exists():
        rules = read_playbook(str(book)).rules
        told["with_rules"] = measured(opened, place, Playbook(rules=rules))
    asyncio.run(opened.end())
    if name == "base_playbook":
        told["ceiling"] = measured("baseline:ceiling", place, Playbook())
        told["checklist"] = measured("baseline:rules", place, Playbook())
    found.write_text(json.dumps(told, indent=1))
    print(f"{label or name} {seed}: " + ", ".join(f"{key} {told['figures'][key]:.3f}" for key in FIGURES), flush=True)


def _searched(seed: int, place: Path, playbook: Playbook, overrides: Sequence[str]) -> dict[str, Any]:
    numbers = [f"target.extra.{name}={value}" for name, value in NUMBERS.items()]
    given = [f"target.model={BASE}", *numbers, f"train.seed={seed}", *SEARCH, *overrides]
    made = whet.train(RULES, playbook=playbook, overrides=given, runs=place / "runs", name="search", watch=_say)
    best = made.judge.best.policy.playbook
    (place / "book.json").write_bytes(write_playbook(best))
    return {
        "config": RULES.name,
        "rules": [rule.text for rule in best.told],
        "changed": made.summary.get("accepted", 0),
    }


def _trained(name: str, seed: int, work: Path, place: Path, overrides: Sequence[str]) -> dict[str, Any]:
    start = BASE if name == "sft" else f"{BASE}+{work / f'sft_{seed}' / 'adapter'}"
    given = [*BRIEFLY, f"train.seed={seed}", f"target.model={start}", *overrides]
    made = whet.train(TRAINED[name], overrides=given, runs=place / "runs", name="train", watch=_say)
    folder = place / "runs" / "train"
    last = json.loads((folder / "weights.json").read_text())["last"]
    log = [json.loads(line) for line in (folder / "training_log.jsonl").read_text().splitlines()]
    _keep_adapter(Path(last.partition("+")[2]), place / "adapter")
    return {
        "config": TRAINED[name].name,
        "train_seconds": made.summary["train_seconds"],
        "rollouts": made.summary["train_rollouts"],
        "steps": len(log),
        "log": log,
        "stopped": made.stopped,
    }


def measured(model: str | Model, place: Path, playbook: Playbook) -> dict[str, Any]:
    given = list(_by_name("env.args", tickets()))
    made = whet.evaluate(
        "groupqc", model, n=N, split="test", playbook=playbook, runs=place / "runs",
        overrides=[*given, *PLAYED, *(() if isinstance(model, str) else ROOM), "eval.floor=false"],
    )  # fmt: skip
    scores = [rollout.outcome for rollout in open_run(made.folder, place / "runs").rollouts()]
    return figures([score.parts for score in scores if isinstance(score, Score)])


def _by_name(where: str, values: Mapping[str, Any]) -> Iterator[str]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _by_name(f"{where}.{name}", value)
        else:
            yield f"{where}.{name}={value}"


def figures(parts: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """Validity, the mean of the shares that are right among passing and failing, releases among the failing.

    The score of a limit that was reached has no parts: such a ticket is invalid, and stands on neither side.
    """
    known = [part for part in parts if part]
    passing = [part["label"] for part in known if part["passing"]]
    failing = [part["label"] for part in known if part["failing"]]
    released = sum(part["false_release"] for part in known)
    return {
        "n": len(parts),
        "validity": sum(part["format"] for part in known) / len(parts),
        "balanced_accuracy": (_mean(passing) + _mean(failing)) / 2,
        "false_release": released / max(1, len(failing)),
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


# ---------------------------------------------------------------------------------------------- all arms


def collect(work: Path, out: Path, device: str) -> None:
    """What arms came to, as lists with a value for each seed, in the order of the seeds; what `out` held stays."""
    before = json.loads(out.read_text())["made"] if out.exists() else []
    here = [json.loads(file.read_text()) for file in sorted(work.glob("*/arm.json"))]
    made = list({(arm["arm"], arm["seed"]): arm for arm in [*before, *here]}.values())
    arms: dict[str, Any] = {}
    crossed: dict[str, Any] = {}
    seconds: dict[str, list[float]] = {}
    for name in ARMS:
        own = sorted((arm for arm in made if arm["arm"] == name), key=lambda arm: int(arm["seed"]))
        if own:
            arms[name] = {figure: [arm["figures"][figure] for arm in own] for figure in FIGURES}
            arms[name] |= {"seeds": [arm["seed"] for arm in own], "tickets": own[0]["figures"]["n"]}
            seconds[name] = [arm.get("train_seconds", arm["seconds"]) for arm in own]
            with_rules = [arm["with_rules"] for arm in own if "with_rules" in arm]
            if with_rules:
                crossed[name] = {figure: [cell[figure] for cell in with_rules] for figure in FIGURES}
    beside = {key: arm[key] for arm in made for key in ("ceiling", "checklist") if key in arm}
    files = (SFT, GRPO, RULES)
    found = {
        "arms": arms,
        "with_rules": crossed,
        **beside,
        "configs": {file.name: digest(file.read_text())[:12] for file in files},
        "versions": {name: version(name) for name in ("torch", "transformers", "trl", "peft")},
        "device": device,
        "seconds": seconds,
        "made": [{key: value for key, value in arm.items() if key != "log"} for arm in made],
    }
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(found, indent=1) + "\n")
    told = ", ".join(f"{name} ({len(arm['seeds'])} seeds)" for name, arm in arms.items())
    print(f"{out}: {told or 'no arm is made yet'}")


def main() -> None:
    given, work = read_arm_options(arm_parser(__doc__, ("arm", "collect"), tuple(ARMS), "groupqc_rl.json"))
    if given.what == "collect":
        collect(work, given.out, given.device)
    else:
        run_arm(given.name, given.seed, work, given.overrides, given.label)


if __name__ == "__main__":
    main()
