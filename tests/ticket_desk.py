"""A champion at work for tests: tickets of the generator, and a policy that is a function."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from whet.envs.groupqc.baselines import baselines
from whet.envs.groupqc.environment import GroupQc
from whet.models.base import Model
from whet.models.scripted import Function, Scripted, reference
from whet.release.champion import Champion, Champions
from whet.release.decision import CALIBRATED, DecisionRule, rule_seal
from whet.release.trail import Trail
from whet.types import Playbook, Policy, Sampling

MISSION = "Extinguisher check"
ARGUMENTS = {"mission": MISSION, "conventions": "none"}


def tickets(count: int, split: str = "test", *, labelled: bool = False, **args: Any) -> list[bytes]:
    """Lines of generated tickets; with a label, it is what the needs give on clean summaries."""
    env = GroupQc("", {**ARGUMENTS, **args})
    found = []
    for index in range(count):
        _, group = env._source.group(split, index)  # type: ignore[attr-defined]
        line = group.ticket.as_line()
        line["group_id"] = f"{line['group_id']}-{split}-{index}"
        line.pop("label") if not labelled else line.update(label=group.truth.observable)
        found.append(json.dumps(line, ensure_ascii=False).encode())
    return found


def rules_model() -> Model:
    """The checklist as a model: careful, and deterministic."""
    env = GroupQc("", ARGUMENTS)
    return reference("rules", "rules-as-a-model", baselines(env.mission)["rules"])


def spoken(function: Function, name: str = "spoken") -> Model:
    return Scripted(function, name, fingerprint=f"{name}-fingerprint")


def promoted(releases: Path, model: Model, name: str = "site", **more: Any) -> Champion:
    """A champion that answers by `model`."""
    draft = Champion(
        name=name,
        policy=Policy(model.fingerprint, Sampling(), Playbook("Look at every photo.")),
        target={"model": "scripted:elsewhere.py:answer"},
        endpoint={},
        environment="groupqc",
        arguments=ARGUMENTS,
        fingerprint="made-up",
        run="by-hand",
        decision={},
        claim={},
        **more,
    )
    return Champions(releases).promote(draft)


def ruled(releases: Path, champion: Champion, rule: DecisionRule) -> None:
    """A rule as calibrating leaves it: in its file, and on record."""
    rule.keep(releases, champion.name, [])
    with Trail.of(releases) as trail:
        trail.append(CALIBRATED, {"seal": rule_seal(releases, champion.name)}, subject=champion.name)
