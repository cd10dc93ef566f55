"""A gain where rules speak: shown on few tickets among many, at the promised error, and never in place of the gate."""

from __future__ import annotations

import asyncio
import contextlib
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from crashes import Crash, crashing
from rules_shop import LetterShop, brought, removal
from rules_world import BLUE, GREY, RED, STRICT, SpokenCrates, config, proposing, searched, target, without_moments

from whet.gate import Decision, Draw
from whet.gate.decision import GuardReading
from whet.learn.rules.book import Operation
from whet.learn.rules.further import FurtherTickets
from whet.learn.rules.gains import GainWatch, drawn_again, harmless, sign_chance, waits
from whet.learn.rules.records import GainReading
from whet.learn.rules.training import RuleSearch
from whet.learn.rules.types import Proposals, RuleStep
from whet.models.base import Request
from whet.run.train import TrainResult
from whet.types import Playbook, Rule, Task

RARE = {"verdict": "fail", "colour": "blue", "site": "north", "load": "fragile"}
"""A rule that is too strict and speaks of one crate in twenty."""


def sealed(task: Task) -> bool:
    return bool(task.data["seal"] == "broken")


def read(shop: LetterShop, operation: Operation, rules: list[Rule], confirm: int = 800) -> GainReading | None:
    branch, record = brought(shop, operation, rules)
    settings = config(bounds={"confirm": confirm})
    more = FurtherTickets.of(shop, settings)  # type: ignore[arg-type]
    return asyncio.run(GainWatch(settings, more, 0.025).read(branch, record))


def test_a_removal_that_helps_one_ticket_in_twenty_is_shown_and_draws_nothing_else() -> None:
    shop = LetterShop(sealed, slip=0.05)
    found = read(shop, removal(), [Rule("G1", STRICT, predicate=RARE)])
    assert found is not None
    assert found.shown
    crates = [shop.env.task("select", index).data for index in shop.asked]
    assert all((crate["colour"], crate["site"], crate["load"]) == ("blue", "north", "fragile") for crate in crates)
    assert not set(shop.asked) & set(shop.select)


def test_a_removal_of_a_rule_that_is_right_is_not_shown() -> None:
    shop = LetterShop(lambda task: task.data["colour"] == "blue" or sealed(task), slip=0.05)
    found = read(shop, removal(), [Rule("G1", STRICT, predicate=BLUE)])
    assert found is not None
    assert not found.shown
    assert found.worse > found.better
    assert "worse; chance does that" in str(found)


@pytest.mark.parametrize(
    "operation",
    [
        Operation("upsert", "Be fair."),
        Operation("update", "A crate that is blue fails.", "G1", predicate=BLUE),
        Operation("upsert", "A crate from nowhere fails.", predicate={"verdict": "fail", "site": "nowhere"}),
    ],
)
def test_what_does_not_say_where_it_speaks_or_says_the_same_is_left_to_the_gate(operation: Operation) -> None:
    shop = LetterShop(sealed)
    assert read(shop, operation, [Rule("G1", STRICT, predicate=BLUE)]) is None
    assert not shop.asked


def test_what_is_no_better_passes_no_more_often_than_promised() -> None:
    """Three looks at pairs whose signs are a coin's, at any rate of ties: together at most alpha."""
    rng, alpha, looks, runs = random.Random("coin"), 0.05, (10, 30, 90), 3000
    passed = 0
    for _ in range(runs):
        moves = rng.choice((0.1, 0.5, 1.0))
        pairs = [rng.choice((-1, 1)) if rng.random() < moves else 0 for _ in range(looks[-1])]
        shown = [sign_chance(pairs[:n].count(1), pairs[:n].count(-1)) <= alpha / len(looks) for n in looks]
        passed += any(shown)
    assert 0 < passed / runs <= alpha


def test_chance_counts_signs() -> None:
    assert sign_chance(0, 0) == 1.0
    assert sign_chance(5, 0) == 1 / 32
    assert sign_chance(1, 1) == 0.75


def decision(**changed: Any) -> Decision:
    guard = GuardReading("false_release", 0.0, 0.03, 0.05, 0.9, "failing", 100)
    plain = Decision("reject", "paired", "not_shown", seen=500, statistic=0.2, guards=(guard,))
    return replace(plain, **changed)


def test_a_gate_that_shows_nothing_must_still_rule_out_harm() -> None:
    broken = GuardReading("false_release", 0.04, 0.07, 0.05, 0.9, "failing", 100)
    assert harmless(decision(), 20, 0.05, 0.0)
    assert not harmless(decision(statistic=-1.2), 20, 0.05, 0.0), "the pool speaks against it"
    assert not harmless(decision(guards=(broken,)), 20, 0.05, 0.0)
    assert not harmless(decision(), 40, 0.05, 0.0)
    assert harmless(decision(), 40, 0.05, 0.08), "a book differs from itself on as many"
    assert not harmless(decision(reason="regressions"), 20, 0.05, 0.0)
    assert not harmless(decision(seen=0), 0, 0.05, 0.0)


def test_a_bound_that_one_draw_does_not_hold_gets_a_second_of_both_sides() -> None:
    shop = LetterShop(sealed, select=120, slip=0.1)
    branch, record = brought(shop, removal(), [Rule("G1", STRICT, predicate=BLUE)])
    assert record.policy is not None
    first = []
    for arm, policy in (("incumbent", branch.policy), ("candidate", record.policy)):
        rolled = asyncio.run(shop.roll("select", policy, shop.select, "select"))
        first += [(Draw(arm, task, 0), shop.gate.read(said.score)) for task, said in enumerate(rolled)]  # type: ignore[arg-type]
    loose = GuardReading("false_release", 0.1, 0.2, 0.05, 0.9, "failing", 30)
    once = decision(draws=tuple(first), guards=(loose,), seen=120)
    assert waits(once)
    twice = asyncio.run(drawn_again(shop, shop.gate.guards, branch, record.policy, once))  # type: ignore[arg-type]
    assert [draw.draw for draw, _ in twice.draws].count(1) == 240
    assert len(twice.draws) == len({draw for draw, _ in twice.draws}) == 480
    failing = sum(sealed(shop.env.task("select", index)) for index in shop.select)
    assert twice.guards[0].tasks == failing
    assert abs(twice.guards[0].difference) < 0.1
    assert not waits(decision()), "nothing is left to wait for"
    assert not waits(decision(reason="guard", guards=(loose,)))


class Clearer:
    """Would be rid of the first rule."""

    name, ranks = "clearer", True

    async def propose(self, step: RuleStep, most: int) -> Proposals:
        return Proposals((Operation("remove", target="G1"),) if step.book.learnt[0].id == "G1" else ())


RARE_RULE = "A fragile blue crate from the north fails."


def rare_target(request: Request) -> str:
    """The target of crates, with the rare rule followed."""
    text = request.messages[-1].text
    call = target(request)
    asked = text[text.rindex("Crate ") :]
    spoken = all(word in asked for word in ("colour blue", "site north", "load fragile"))
    return "fail" if RARE_RULE in text and spoken else call


def side_target(request: Request) -> str:
    """Without the rare rule it also passes red crates of the north: harm where no rule that changed speaks."""
    text = request.messages[-1].text
    asked = text[text.rindex("Crate ") :]
    loosed = RARE_RULE not in text and all(word in asked for word in ("colour red", "site north"))
    return "pass" if loosed else rare_target(request)


def cleared(
    folder: Path, monkeypatch: pytest.MonkeyPatch, confirm: int, answering: Any = rare_target, workers: int = 8
) -> TrainResult:
    monkeypatch.setattr("whet.learn.rules.training.proposer_named", lambda name: Clearer())
    rules = (
        Rule("G0", "A broken seal fails; all else passes."),
        *(Rule("G1", RARE_RULE, predicate=RARE), Rule("G2", RED), Rule("G3", GREY)),
    )
    settings = config(
        train={"steps": 1, "select": 60, "test": 0},
        rules={"ablations": False, "screen": 0},
        bounds={"false_release": 0.3, "false_block": 0.3, "regressions": 0.1, "confirm": confirm},
        control={"concurrency": workers},
    )
    env = SpokenCrates(20, 460, 4)
    return searched(folder, settings, optimiser=proposing(), target=answering, env=env, playbook=Playbook(rules=rules))


def test_a_gain_that_the_gate_cannot_see_is_accepted_where_it_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = cleared(tmp_path / "alone", monkeypatch, 0).training
    heard = cleared(tmp_path / "heard", monkeypatch, 400)
    assert isinstance(alone, RuleSearch)
    assert isinstance(heard.training, RuleSearch)
    assert [record.fate for record in alone.rounds[0].records] == ["rejected"]
    (record,) = heard.training.rounds[0].records
    assert record.fate == "applied"
    assert record.judgement is not None
    assert record.judgement.decision.reason == "gain_where_it_speaks"
    assert RARE_RULE not in {rule.text for rule in heard.best.told}


def test_harm_where_no_rule_speaks_is_still_the_gates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    training = cleared(tmp_path, monkeypatch, 400, side_target).training
    assert isinstance(training, RuleSearch)
    (record,) = training.rounds[0].records
    assert record.gains is not None
    assert record.gains.shown
    assert record.fate == "rejected"


def test_workers_and_a_crash_make_no_difference_to_what_is_shown_where_it_speaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def artifacts(folder: str, workers: int) -> dict[str, bytes]:
        found = without_moments(cleared(tmp_path / folder, monkeypatch, 400, workers=workers).folder)
        return {name: data for name, data in found.items() if not name.startswith("config")}

    whole = artifacts("one", 1)
    assert b'"gate_reason":"gain_where_it_speaks"' in whole["rule_candidates.jsonl"].replace(b": ", b":")
    assert artifacts("three", 3) == whole
    with monkeypatch.context() as patch:
        count = crashing(patch, 90, before=True)
        with contextlib.suppress(Crash):
            artifacts("crash", 1)
    assert count[0] >= 90
    assert artifacts("crash", 1) == whole
