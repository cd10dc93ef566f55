"""Rule search on crates: what is kept, what is dropped, and why."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from rules_world import (
    GOOD,
    GREY,
    HARM,
    NULLS,
    RED,
    STRICT,
    Crates,
    config,
    judged,
    proposing,
    searched,
    shown,
    target,
    upsert,
)

from whet.errors import FaultError, WhetError
from whet.keys import seed_for
from whet.learn.rules.training import RuleSearch
from whet.models.base import Request
from whet.run.train import TrainResult
from whet.types import Fault, Playbook, Rule

QUICK: dict[str, Any] = {"train": {"steps": 2, "patience": 1, "test": 0}}


def book_of(result: TrainResult) -> set[str]:
    return {rule.text for rule in result.best.told}


def fates(result: TrainResult) -> dict[str, str]:
    search = result.training
    assert isinstance(search, RuleSearch)
    return {str(record.operation): record.fate for state in search.rounds for record in state.records}


def refusals(result: TrainResult) -> list[str]:
    search = result.training
    assert isinstance(search, RuleSearch)
    return [record.refusal.code for state in search.rounds for record in state.records if record.refusal]


def test_good_rules_come_in_the_strict_one_goes_and_the_rest_stays_out(tmp_path: Path) -> None:
    result = searched(tmp_path, config(gate={"pace": "patient"}))
    assert book_of(result) >= set(GOOD)
    assert not book_of(result) & {STRICT, HARM, *NULLS}
    assert result.summary["test_hard"] >= 0.93
    assert result.summary["baseline_test_hard"] <= 0.75
    assert result.folder == tmp_path / "yard 0" / "run"


def test_of_two_that_pass_the_better_is_applied_and_the_other_carried(tmp_path: Path) -> None:
    both = proposing(upsert(GREY), upsert(RED))
    result = searched(tmp_path, config(train={"steps": 1, "test": 0}, rules={"ablations": False}), optimiser=both)
    applied = [record for record in result.training.rounds[0].records if record.fate == "applied"]
    passed = [record for record in result.training.rounds[0].records if record.fate == "passed"]
    assert len(applied) == 1
    assert all(applied[0].utility >= other.utility for other in passed)
    assert [kept.source for kept in result.training.branches[0].carried] == ["carried"] * len(passed)


def test_a_rule_that_releases_what_fails_is_rejected_though_it_mends_more_than_it_breaks(tmp_path: Path) -> None:
    """Everybody is blocked by a rule far too strict; one that lets the south pass mends most and releases some."""
    blocked = "Every crate from the south fails."
    freed = "Every crate from the south passes."

    def strict(request: Request) -> str:
        text = request.messages[-1].text
        south, broken = "site south" in text, "seal broken" in text
        if south and freed in text:
            return "pass"
        return "fail" if (south and blocked in text) or broken else "pass"

    book = Playbook(rules=(Rule("G0", "A broken seal fails."), Rule("G1", blocked)))
    freeing = proposing(upsert(freed))
    settings = config(**QUICK, rules={"ablations": False, "screen": 0}, gate={"pace": "patient"})
    result = searched(tmp_path, settings, optimiser=freeing, target=strict, playbook=book)
    record = result.training.rounds[0].records[0]
    assert record.fate == "rejected"
    assert record.judgement.decision.reason == "guard"
    assert record.judgement.decision.effect > 0.1
    assert "false_release" in record.judgement.decision.detail
    unbound = config(
        **QUICK,
        rules={"ablations": False, "screen": 0},
        bounds={"false_release": 1.0, "regressions": 1.0},
        costs={"false_release": 1.0},
        gate={"pace": "patient"},
    )
    free = searched(tmp_path / "free", unbound, optimiser=freeing, target=strict, playbook=book)
    assert free.training.rounds[0].records[0].fate == "applied"


def test_a_paraphrase_changes_nothing(tmp_path: Path) -> None:
    def paraphrase(request: Request) -> str:
        seed = request.sampling.seed or 0
        word = random.Random(seed_for("a", seed)).choice(["Look", "See", "Mind", "Note"])
        return json.dumps({"operations": [upsert(f"{word} well at what is shown ({chr(97 + seed % 26)}).")]})

    right = Playbook(rules=(Rule("G0", "A broken seal fails; all else passes."), Rule("G1", RED), Rule("G2", GREY)))
    result = searched(
        tmp_path, config(train={"steps": 5, "patience": 3, "test": 0}), optimiser=paraphrase, playbook=right
    )
    assert result.best.rules == right.rules
    assert result.summary["total_accepts"] == 0


@pytest.mark.parametrize("reply", ["no idea", '{"operations": 3}', '{"something": []}', '{"operations": ["x"]}', ""])
def test_garbage_is_asked_for_once_more_then_on_record_and_learning_goes_on(tmp_path: Path, reply: str) -> None:
    result = searched(tmp_path, config(train={"steps": 1, "test": 0}), optimiser=lambda request: reply)
    assert refusals(result) == ["unreadable", "unreadable"]
    failures = (result.folder / "reflection_cache" / "rule_search_proposer_failures.jsonl").read_text().splitlines()
    assert len(failures) == 2
    assert fates(result)["remove G1"] in ("applied", "rejected")


def test_each_bad_operation_is_refused_by_itself_and_on_record(tmp_path: Path) -> None:
    bad = [
        upsert(RED),
        upsert(f"{RED.upper()}!"),
        upsert("A crate like train/3 fails."),
        upsert("Crate train0-K fails."),
        {"op": "remove", "target": "S1"},
        {"op": "remove", "target": "G0"},
        {"op": "update", "target": "G9", "text": "Nine."},
        {"op": "shuffle", "text": "x"},
        {"op": "upsert", "text": {"a": 1}},
        {"op": "upsert"},
    ]
    settings = config(train={"steps": 1, "test": 0}, rules={"candidates": 10})
    result = searched(tmp_path, settings, optimiser=proposing(*bad))
    assert sorted(refusals(result)) == sorted(
        [
            *("unknown_operation", "unreadable", "duplicate", "quotes_a_ticket", "quotes_a_ticket", "frozen"),
            *("mandatory", "unknown_rule", "empty"),
        ]
    )
    rows = [json.loads(line) for line in (result.folder / "rule_candidates.jsonl").read_text().splitlines()]
    assert len(rows) == len(bad) + 1, "and one removal to fill"
    assert all(row["refusal"] and row["detail"] for row in rows if row["decision"] == "refused")


def test_what_was_rejected_is_not_tried_again(tmp_path: Path) -> None:
    settings = config(train={"steps": 3, "patience": 3, "test": 0}, rules={"ablations": False})
    result = searched(tmp_path, settings, optimiser=proposing(upsert(HARM)))
    assert refusals(result) == ["tried_before", "tried_before"]


def test_a_run_ends_when_patience_does(tmp_path: Path) -> None:
    settings = config(train={"steps": 9, "patience": 2, "test": 0}, rules={"ablations": False})
    result = searched(tmp_path, settings, optimiser=proposing(upsert(NULLS[0])))
    assert len(result.training.rounds) == 2


def test_golden_tickets_are_not_broken(tmp_path: Path) -> None:
    """The rule is right by the labels, yet the golden tickets are those that it turns."""
    env = Crates()
    turned = [n for n in range(60) if (d := env.task("train", n).data)["colour"] == "red" and d["site"] == "north"]

    class Golden(Crates):
        def right(self, task: Any) -> str:
            return "pass" if task.split == "train" and task.index in turned else str(task.truth)

    settings = config(
        train={"steps": 1, "test": 0}, rules={"ablations": False, "screen": 0, "golden": tuple(turned[:2])}
    )
    result = searched(tmp_path, settings, optimiser=proposing(upsert(RED)), env=Golden())
    assert fates(result)[f"upsert: {RED}"] == "golden"
    assert book_of(result) == {rule.text for rule in env.rule_book(env.task("train", 0))}


def test_a_golden_ticket_without_an_answer_is_not_kept(tmp_path: Path) -> None:
    """With the new rule the model gives out on the golden ticket: nothing shows that the rule keeps it."""
    golden = next(n for n in range(10) if shown(n, "train")["colour"] == "green" and target_is_right(n))

    def gives_out(request: Request) -> str:
        if RED in request.messages[-1].text and f"Crate train{golden}-K" in request.messages[-1].text:
            raise FaultError(Fault("http_500", "test", "the server gave out"))
        return target(request)

    settings = config(
        train={"steps": 1, "test": 0},
        rules={"ablations": False, "screen": 0, "golden": tuple(range(10))},
        control={"patience": 0},
    )
    result = searched(tmp_path, settings, optimiser=proposing(upsert(RED)), target=gives_out)
    record = result.training.rounds[0].records[0]
    assert record.fate == "golden"
    assert f"train/{golden}" in record.detail


def target_is_right(index: int) -> bool:
    return judged(shown(index, "train"), [STRICT]) == judged(shown(index, "train"), GOOD)


@pytest.mark.parametrize("task", [60, -1])
def test_a_golden_ticket_that_does_not_exist_is_refused(tmp_path: Path, task: int) -> None:
    with pytest.raises(WhetError, match=f"rules.golden names train task {task}"):
        searched(tmp_path, config(train={"steps": 1, "test": 0}, rules={"golden": (task,)}))


def test_with_a_beam_several_books_live(tmp_path: Path) -> None:
    settings = config(train={"steps": 2, "beam": 2, "test": 0}, rules={"candidates": 2})
    result = searched(tmp_path, settings, optimiser=proposing(upsert(RED), upsert(GREY)))
    search = result.training
    assert len(search.rounds[1].parts) == 2
    assert len({part.branch.book.told for part in search.rounds[1].parts}) == 2
    assert {branch.policy.playbook == result.best for branch in search.branches} == {True, False}
    assert search.branches[0].policy == result.judge.current.policy


def test_the_published_preset_has_no_bounds_and_its_thresholds(tmp_path: Path) -> None:
    settings = config(preset="published", train={"steps": 1, "test": 0})
    assert settings.gate.name == "rule_search"
    assert settings.gate.guards == ()
    assert settings.rules.candidates == 3
    result = searched(tmp_path, settings)
    decided = [record.judgement.decision for record in result.training.rounds[0].records if record.judgement]
    assert decided
    assert all("bootstrap" in decision.detail for decision in decided)
    assert all(decision.alpha is None for decision in decided)


def test_the_workers_make_no_difference(tmp_path: Path) -> None:
    def artifacts(workers: int) -> dict[str, bytes]:
        settings = config(train={"steps": 2, "test": 0}, distill={"use": True}, control={"concurrency": workers})
        folder = searched(tmp_path / str(workers), settings, env=Crates(24, 40, 10)).folder
        return steady(folder)

    assert artifacts(1) == artifacts(3)


def steady(folder: Path) -> dict[str, bytes]:
    """Every file of rule search by name, without what a clock or the config says."""
    kept = ("*.jsonl", "guidance.json", "best_*", "snapshots/*")
    found = {}
    for pattern in kept:
        for file in sorted(folder.glob(pattern)):
            lines = file.read_text().splitlines()
            found[file.name] = "\n".join(line for line in lines if '"updated_at"' not in line)
    return {name: _without_clock(text) for name, text in found.items()}


def _without_clock(text: str) -> bytes:
    import re

    return re.sub(r'"timestamp":\s*"[^"]*"', "", text).encode()


def test_the_noise_floor_is_told_before_anything_is_judged(tmp_path: Path) -> None:
    result = searched(tmp_path, config(train={"steps": 1, "test": 0}))
    noise = result.training.noise
    assert 0.02 < noise.flips < 0.2
    assert 0.05 < noise.mde < 0.25
    assert result.summary["noise"]["minimum_detectable_effect"] == noise.mde
    rows = [json.loads(line) for line in (result.folder / "rule_candidates.jsonl").read_text().splitlines()]
    assert all(row["noise_floor"] == noise.flips for row in rows)


def test_votes_reach_the_cases(tmp_path: Path) -> None:
    settings = config(train={"steps": 1, "test": 0}, target={"model": "test:function", "sampling": {"votes": 3}})
    result = searched(tmp_path, settings, env=Crates(20, 30, 10))
    cases = [json.loads(line) for line in (result.folder / "rule_search_hard_cases.jsonl").read_text().splitlines()]
    assert cases
    assert all(len(case["verdict_samples"]) == 3 for case in cases)


def test_two_missions_in_a_run_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="one mission"):
        searched(tmp_path, env=Crates(missions=2))


def test_tasks_whose_answer_is_no_choice_are_refused(tmp_path: Path) -> None:
    class Open(Crates):
        chooses = False

    with pytest.raises(WhetError, match="no choices"):
        searched(tmp_path, env=Open())


def test_an_empty_gate_pool_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="select"):
        searched(tmp_path, env=Crates(select=0))
    assert not (tmp_path / "yard 0").exists()


def test_a_book_edited_into_an_invalid_state_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="no active G0"):
        searched(tmp_path, playbook=Playbook(rules=(Rule("G1", "x y"),)))


def test_a_crate_of_the_target_errs_now_and_then() -> None:
    """The world is noisy: without that the gate would have nothing to do."""
    from whet.types import Sampling

    asked = Crates().task("select", 3).messages
    said = {target(Request(asked, Sampling(seed=seed))) for seed in range(200)}
    assert said == {"pass", "fail"}


def test_the_prompt_of_the_proposer_can_be_replaced_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    asked: list[str] = []

    def listening(request: Request) -> str:
        asked.append(request.messages[0].text)
        return '{"operations": []}'

    prompts = {"reflect": "Say $most things about $choices."}
    settings = config(train={"steps": 1, "test": 0}, rules={"prompts": prompts, "ablations": False})
    searched(tmp_path, settings, optimiser=listening, env=Crates(20, 20, 4))
    assert asked == ["Say 4 things about fail, pass."]
    with pytest.raises(WhetError, match="no prompt 'reflex'"):
        config(rules={"prompts": {"reflex": "x"}})


def test_a_proposer_is_shown_no_truth_of_the_gate_and_no_test_ticket(tmp_path: Path) -> None:
    asked: list[str] = []

    def listening(request: Request) -> str:
        asked.append(request.messages[1].text)
        return '{"operations": []}'

    searched(tmp_path, config(train={"steps": 1, "test": 0}), optimiser=listening, env=Crates(20, 20, 4))
    assert "Crate train" in asked[0]
    assert "Crate select" not in asked[0]
    assert "Crate test" not in asked[0]
