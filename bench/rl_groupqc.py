"""Text and weights on `groupqc`, arm by arm: reviewers have habits that nobody wrote down; who finds them?

python bench/rl_groupqc.py arm base_playbook --work DIR          the base with the mission's rules and worked examples
python bench/rl_groupqc.py arm rules --seed 0 --work DIR         the same, its rule book searched with the offline miner
python bench/rl_groupqc.py arm sft --seed 0 --work DIR           imitation of labelled tickets
python bench/rl_groupqc.py arm grpo --seed 0 --work DIR          reinforcement from the arm `sft` of the same seed
python bench/rl_groupqc.py collect --work DIR --out results/groupqc_rl.json

An arm is a config of examples, with what differs set by name, trained by `whet.train` and then played at temperature 0
on the same tickets of split test, sites that no arm was trained on. An arm that is made already is left alone. Where
the arm `rules` of the same seed has brought another book, trained weights are also played with it: the other half of
the two by two. The ceiling knows the planted conventions and plays the same tickets. What is invalid releases nothing,
and neither does a base that never passes: read the base's false releases beside its validity and what it passes.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from arm_options import arm_parser, read_arm_options
from rl import BRIEFLY, NUMBERS, KeptOpen, _say
from rl_arm import BASE, train_arm
from rl_problems import CONFIGS, HERE
from rl_records import agreeing, arms_of, circumstances, held_in, keep, made_by, taken_up, weights_of, write_results

import whet
from whet.config.playbooks import read_playbook, write_playbook
from whet.envs.registry import load_environment
from whet.keys import digest
from whet.models.base import Model
from whet.run.train import load_train_config
from whet.run.workspace import open_run
from whet.types import Example, Playbook, Score

N = int(os.environ.get("RL_N", "400"))
RULES = HERE / "examples" / "rules_groupqc.toml"
SFT, GRPO = CONFIGS / "groupqc_sft.toml", CONFIGS / "groupqc_grpo.toml"
TRAINED = {"sft": SFT, "grpo": GRPO}
ARMS = ("base_playbook", "rules", *TRAINED)
FIGURES = ("validity", "balanced_accuracy", "false_release", "passed")
MEASURED = ("figures", "with_rules", "ceiling", "checklist")
WORKED = 4
"""Worked examples of the playbook, half of them of failing tickets: without any the base does not find the form."""
PLAYED = ("target.sampling.temperature=0", "target.sampling.max_tokens=96")
ROOM = (
    f"control.target.slots={os.environ.get('RL_SLOTS', '64')}",
    f"control.target.context={os.environ.get('RL_CONTEXT', '4096')}",
)
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
    """Make an arm under a seed, and measure it where it has not been measured."""
    place = work / f"{label or name}_{seed}"
    told = taken_up(place, "groupqc", MEASURED, plays=name in ("rules", "grpo"))
    if not told:
        told = {"arm": label or name, "seed": seed, "overrides": list(overrides)}
        if name == "rules":
            told |= _searched(seed, place, overrides)
        elif name in TRAINED:
            start = BASE if name == "sft" else f"{BASE}+{weights_of(work, 'sft', seed)}"
            given = [*BRIEFLY, f"train.seed={seed}", f"target.model={start}", *overrides]
            told |= train_arm("groupqc", TRAINED[name], given, place, overrides)
        else:
            told |= made_by("groupqc", None, [digest(worked_playbook())])
        keep(place, told)
    book, own = work / f"rules_{seed}" / "book.json", worked_playbook()
    if name == "rules":
        own = read_playbook(str(place / "book.json"))
    weights = KeptOpen(f"{BASE}+{place / 'adapter'}" if name in TRAINED else BASE)
    jobs = {"figures": partial(measured, weights, place, Playbook() if name in TRAINED else own)}
    if name in TRAINED and book.exists():
        jobs["with_rules"] = partial(measured, weights, place, Playbook(rules=read_playbook(str(book)).rules))
    if name == "base_playbook":
        jobs["ceiling"] = partial(measured, "baseline:ceiling", place, Playbook())
        jobs["checklist"] = partial(measured, "baseline:rules", place, Playbook())
    for what, job in jobs.items():
        if what not in told:
            told[what] = job()
            keep(place, told)
    asyncio.run(weights.end())
    print(f"{label or name} {seed}: " + ", ".join(f"{key} {told['figures'][key]:.3f}" for key in FIGURES), flush=True)


def _searched(seed: int, place: Path, overrides: Sequence[str]) -> dict[str, Any]:
    began, playbook = time.monotonic(), worked_playbook()
    numbers = [f"target.extra.{name}={value}" for name, value in NUMBERS.items()]
    given = [f"target.model={BASE}", *numbers, f"train.seed={seed}", *SEARCH, *overrides]
    made = whet.train(RULES, playbook=playbook, overrides=given, runs=place / "runs", name="search", watch=_say)
    best = made.judge.best.policy.playbook
    (place / "book.json").write_bytes(write_playbook(best))
    return {
        **made_by("groupqc", RULES, [*SEARCH, *overrides, digest(playbook)]),
        "seconds": round(time.monotonic() - began, 1),
        "rules": [rule.text for rule in best.told],
        "changed": made.summary.get("accepted", 0),
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
    """Validity, the mean of the shares that are right among passing and failing, releases among the failing, and the
    share of the passing that are passed.

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
        "passed": _mean(passing),
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


# ---------------------------------------------------------------------------------------------- all arms


def collect(work: Path, out: Path) -> None:
    """What arms came to, as lists with a value for each seed; what `out` held stays where it is the same comparison."""
    fresh = [told for told in arms_of(work) if told["arm"] in ARMS]
    made, left_out = agreeing(held_in(out), fresh, {"grpo": "sft"})
    arms: dict[str, Any] = {}
    crossed: dict[str, Any] = {}
    seconds: dict[str, list[float]] = {}
    for name in ARMS:
        own = [arm for arm in made if arm["arm"] == name and "figures" in arm]
        if own:
            arms[name] = {figure: [arm["figures"][figure] for arm in own] for figure in FIGURES}
            arms[name] |= {"seeds": [arm["seed"] for arm in own], "tickets": own[0]["figures"]["n"]}
            seconds[name] = [arm.get("seconds", 0.0) for arm in own]
            with_rules = [arm["with_rules"] for arm in own if "with_rules" in arm]
            if with_rules:
                crossed[name] = {figure: [cell[figure] for cell in with_rules] for figure in FIGURES}
    beside = {key: arm[key] for arm in made for key in ("ceiling", "checklist") if key in arm}
    found = {"arms": arms, "with_rules": crossed, **beside, **circumstances(made), "seconds": seconds, "made": made}
    told = ", ".join(f"{name} ({len(arm['seeds'])} seeds)" for name, arm in arms.items())
    write_results(out, found, left_out, told)


def main() -> None:
    given, work = read_arm_options(arm_parser(__doc__, ("arm", "collect"), tuple(ARMS), "groupqc_rl.json"))
    if given.what == "collect":
        collect(work, given.out)
    else:
        run_arm(given.name, given.seed, work, given.overrides, given.label)


if __name__ == "__main__":
    main()
