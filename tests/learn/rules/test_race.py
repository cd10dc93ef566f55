"""What saves draws: a candidate behind one that passed waits, and attempts stand where the changed rules are silent."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from crashes import Crash, crashing
from rules_world import BLUE, GREY, RED, STRICT, Crates, SpokenCrates, config, proposing, searched, without_moments

from whet.learn.rules.book import Operation
from whet.learn.rules.review import RuleReview
from whet.learn.rules.spare import idle_rules
from whet.learn.rules.training import RuleSearch
from whet.learn.rules.types import Proposals, RuleStep
from whet.run.train import TrainResult
from whet.types import Playbook, Rule

RED_NORTH = {"verdict": "fail", "colour": "red", "site": "north"}
GREY_FRAGILE = {"verdict": "fail", "colour": "grey", "load": "fragile"}


class Ranked:
    """Brings two rules that help, the better first, as one who has counted."""

    name, ranks = "ranked", True

    async def propose(self, step: RuleStep, most: int) -> Proposals:
        held = {rule.text for rule in step.book.active}
        rules = ((RED, RED_NORTH), (GREY, GREY_FRAGILE))
        return Proposals(tuple(Operation("upsert", text, predicate=said) for text, said in rules if text not in held))


def ran(folder: Path, monkeypatch: pytest.MonkeyPatch, **sections: Any) -> TrainResult:
    monkeypatch.setattr("whet.learn.rules.training.proposer_named", lambda name: Ranked())
    train = {"steps": 2, "test": 0, **sections.pop("train", {})}
    settings = config(train=train, rules={"ablations": False, "screen": 0, **sections.pop("rules", {})}, **sections)
    return searched(folder, settings, optimiser=proposing(), env=SpokenCrates(60, 120, 10))


def fates(result: TrainResult) -> list[list[str]]:
    assert isinstance(result.training, RuleSearch)
    return [[record.fate for record in state.records] for state in result.training.rounds]


def test_what_is_behind_one_that_passed_waits_and_comes_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = ran(tmp_path, monkeypatch)
    assert fates(result) == [["applied", "outrun"], ["applied"]]
    assert {RED, GREY} <= {rule.text for rule in result.best.told}


def test_without_a_race_every_candidate_is_judged_and_the_best_applied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = fates(ran(tmp_path, monkeypatch, rules={"race": False}))[0]
    assert sorted(first) == ["applied", "passed"]


def test_attempts_stand_for_the_next_book_where_the_new_rule_is_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = ran(tmp_path, monkeypatch).training
    env = Crates(60, 120, 10)
    before, after = (state.parts[0] for state in search.rounds)
    fresh = {attempt.task.index for attempt in search.pool.made(after.branch.policy)}
    spoken = {
        index for index in range(60) if (d := env.task("train", index).data)["colour"] == "red" and d["site"] == "north"
    }
    assert fresh == spoken
    assert len(after.attempts) == len(before.attempts) == 60


def test_attempts_do_not_stand_where_that_is_turned_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    search = ran(tmp_path, monkeypatch, train={"stand": False}).training
    assert len(search.pool.made(search.rounds[1].parts[0].branch.policy)) == 60


def test_a_rule_that_the_pool_speaks_for_is_not_tried_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = ran(tmp_path, monkeypatch)
    search = result.training
    part = search.rounds[1].parts[0]
    assert [rule.text for rule in part.branch.book.learnt] == [STRICT, RED]
    assert [rule.text for rule in idle_rules(search.shop.env, part)] == [STRICT]


class Clearing:
    """Would be rid of the rule that is too strict."""

    name, ranks = "clearing", True

    async def propose(self, step: RuleStep, most: int) -> Proposals:
        return Proposals((Operation("remove", target="G1"),) if step.book.learnt[0].id == "G1" else ())


def cleared(folder: Path, monkeypatch: pytest.MonkeyPatch, workers: int = 8) -> dict[str, bytes]:
    """A removal that passes, confirmed on further tickets; the files of the run."""
    monkeypatch.setattr("whet.learn.rules.training.proposer_named", lambda name: Clearing())
    rules = (Rule("G0", "A broken seal fails."), Rule("G1", STRICT, predicate=BLUE), Rule("G2", RED), Rule("G3", GREY))
    settings = config(
        train={"steps": 1, "select": 60, "test": 0},
        rules={"ablations": False, "screen": 0, "floor": False},
        bounds={"false_release": 0.2, "regressions": 0.2},
        gate={"alpha": 0.2},
        control={"concurrency": workers},
    )
    env = SpokenCrates(20, 120, 4)
    result = searched(folder, settings, optimiser=proposing(), env=env, playbook=Playbook(rules=rules))
    assert fates(result) == [["applied"]]
    splits = json.loads((result.folder / "splits.json").read_text())
    assert len(splits["confirm"]) == 60
    assert not set(splits["confirm"]) & set(splits["select"])
    row = json.loads((result.folder / "rule_candidates.jsonl").read_text())
    assert row["release_upper"] <= row["release_limit"]
    return without_moments(result.folder)


def test_workers_and_a_crash_make_no_difference_to_what_is_confirmed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def artifacts(folder: str, workers: int) -> dict[str, bytes]:
        found = cleared(tmp_path / folder, monkeypatch, workers)
        return {name: data for name, data in found.items() if not name.startswith("config")}

    whole = artifacts("one", 1)
    assert artifacts("three", 3) == whole
    with monkeypatch.context() as patch:
        count = crashing(patch, 40, before=True)
        with contextlib.suppress(Crash):
            artifacts("crash", 1)
    assert count[0] >= 40
    assert artifacts("crash", 1) == whole


def test_rounds_that_gain_nothing_share_one_alpha(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run ends after so many of them, so it changes its book for nothing no more often than alpha says."""
    asked: list[float] = []
    shares = RuleReview.spend

    def heard(review: RuleReview, share: float, alpha: float) -> None:
        asked.append(share)
        shares(review, share, alpha)

    monkeypatch.setattr(RuleReview, "spend", heard)
    none = {"steps": 9, "patience": 3}
    result = searched(
        tmp_path,
        config(train={"test": 0, **none}, rules={"ablations": False, "candidates": 2}),
        optimiser=proposing(),
        env=Crates(20, 30, 4),
    )
    assert result.summary["total_accepts"] == 0
    assert len(asked) == 3
    assert sum(asked) * 2 == pytest.approx(1.0)
    assert asked[0] > asked[1] > asked[2]
