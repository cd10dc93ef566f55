"""Rule search on its home, group quality control, and on a file of multiple-choice questions."""

from __future__ import annotations

import csv
import json
import random
import re
from pathlib import Path

from builders import FromFunction

from whet.config.load import validate
from whet.envs.groupqc.environment import GroupQc
from whet.envs.groupqc.summaries.counts import read_summary
from whet.envs.groupqc.verdict.conventions import judge_with
from whet.envs.groupqc.verdict.lines import write_verdict
from whet.envs.splits import split_of
from whet.keys import seed_for
from whet.learn.rules.config import RulesConfig
from whet.models.base import Request
from whet.models.scripted import Scripted
from whet.run.api import train
from whet.types import SPLITS

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]


def upserts(*texts: str) -> str:
    return json.dumps({"operations": [{"op": "upsert", "text": text, "reason": "seen"} for text in texts]})


def test_a_planted_convention_is_found_where_the_mission_has_its_rules(tmp_path: Path) -> None:
    known = GroupQc("", {"pack": "firesafety"})
    name = next(mission for mission in known._missions if "door" in mission.casefold())
    env = GroupQc("", {"pack": "firesafety", "mission": name, "grounded": True})
    pack, mission = env.mission(name)
    planted = env.conventions(name)
    assert len(planted) >= 3

    def reviewer(request: Request) -> str:
        """Goes by the checklist and by those conventions that its prompt tells, and errs now and then."""
        task, text = request.task, request.messages[-1].text
        assert task is not None
        assert "\nRules:\n1. " in text
        told = tuple(convention for convention in planted if convention.text in text)
        readings = [read_summary(pack, summary) for summary in task.data["summaries"]]
        where = (task.data.get("site", ""), task.data.get("submitted", ""))
        call = judge_with(pack, mission, told, readings, *where).verdict
        luck = random.Random(seed_for("reviewer", task.id, request.sampling.seed or 0)).random()
        said = {"pass": "fail", "fail": "pass"}[call] if luck < 0.03 else call
        return write_verdict(said, "Overall: by the rules", pack.language)

    texts = [convention.text for convention in planted]
    settings = {
        "env": {"name": "groupqc"},
        "target": {"model": "test:reviewer"},
        "optimizer": {"model": "test:function"},
        "train": {"tasks": 24, "select": 100, "test": 0, "steps": 1},
        "rules": {"ablations": False, "candidates": len(texts), "screen": 8},
        "gate": {"alpha": 0.2},
        "distill": {"use": True},
    }
    result = train(
        validate(RulesConfig, settings, "test"),
        env=env,
        model=Scripted(reviewer, sees_task=True, fingerprint="reviewer-1"),
        optimizer=FromFunction(lambda request: upserts(*texts)),
        runs=tmp_path,
        name="run",
    )
    found = {rule.text for rule in result.best.told} & set(texts)
    assert found
    applied = next(record for record in result.training.rounds[0].records if record.fate == "applied")
    assert applied.judgement.decision.effect > 0.03
    assert result.folder == tmp_path / name / "run"
    splits = {split: {env.ticket(split, index).group_id for index in range(40)} for split in SPLITS}
    assert not splits["train"] & splits["select"]
    assert not (splits["train"] | splits["select"]) & splits["test"]


def test_a_resubmitted_site_stays_in_one_pool() -> None:
    """Pools go by the group id: whatever the label of a ticket is, its site decides."""
    assert len({split_of("QC-TEMP-20241206-0015502") for _ in range(3)}) == 1


def test_multiple_choice_questions_are_learnt_by_rules_too(tmp_path: Path) -> None:
    rule = "A message about a parcel is urgent."
    rng = random.Random("messages")
    file = tmp_path / "messages.csv"
    with file.open("w", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(["message", "kind"])
        for number in range(200):
            about = rng.choice(["parcel", "refund", "login", "survey"])
            words = " ".join(rng.sample(WORDS, 6))
            writer.writerow([f"{about} {number * 7919 % 10007} {words}", "urgent" if about == "parcel" else "normal"])

    def reader(request: Request) -> str:
        text = request.messages[-1].text
        luck = random.Random(seed_for("reader", text, request.sampling.seed or 0)).random()
        urgent = rule in text and re.search(r"\bparcel \d", text) is not None
        return "urgent" if urgent != (luck < 0.03) else "normal"

    settings = {
        "env": {"name": f"data:{file}", "args": {"answer": "kind", "check": "choice", "choices": ["urgent", "normal"]}},
        "target": {"model": "test:function"},
        "optimizer": {"model": "test:function"},
        "train": {"steps": 1},
    }
    result = train(
        validate(RulesConfig, settings, "test"),
        model=FromFunction(reader),
        optimizer=FromFunction(lambda request: upserts(rule, "Be kind to all.")),
        runs=tmp_path,
        name="run",
    )
    assert rule in {told.text for told in result.best.told}
    assert result.summary["test_hard"] > result.summary["baseline_test_hard"] + 0.1
    record = next(record for record in result.training.rounds[0].records if record.fate == "applied")
    assert all(guard.tasks == 0 for guard in record.judgement.decision.guards[:2]), "no releases to bound here"
