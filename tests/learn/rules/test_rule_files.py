"""The files of rule search: their names, every number in every row, chats that may teach, and the audit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builders import FromFunction
from rules_world import HARM, RED, STRICT, Crates, config, proposing, searched, upsert
from typer.testing import CliRunner

from whet.apps.rules.commands import app
from whet.apps.rules.history import approve, book_at, diff_lines, roll_back, rolled_back
from whet.config.playbooks import read_playbook
from whet.errors import WhetError
from whet.learn.rules.approval import PersonsWord
from whet.learn.rules.distil import distil
from whet.learn.rules.types import PoolAttempt
from whet.run.api import evaluate
from whet.run.train import TrainResult
from whet.types import Policy, Reply, Rollout, Score, Ticket, Turn, user


def lines(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> TrainResult:
    folder = tmp_path_factory.mktemp("runs")
    settings = config(train={"steps": 2, "patience": 2}, distill={"use": True}, rules={"screen": 0})
    return searched(folder, settings, optimiser=proposing(upsert(RED), upsert(HARM)), env=Crates(40, 100, 10))


NAMES = (
    *("rule_candidates.jsonl", "benchmarks.jsonl", "rule_search_hard_cases.jsonl"),
    *("rule_search_candidate_regressions.jsonl", "distill_chatml.jsonl", "distill_rejected.jsonl", "guidance.json"),
)


def test_the_files_have_the_names_that_they_are_known_by(run: TrainResult) -> None:
    assert all((run.folder / name).is_file() for name in NAMES)
    steps = sorted(file.name for file in (run.folder / "snapshots").iterdir())
    assert steps == [f"guidance-step-{step:04d}.json" for step in range(len(steps))]
    assert len(steps) == 1 + run.summary["total_accepts"] >= 2


def test_guidance_is_the_leading_book(run: TrainResult) -> None:
    section = json.loads((run.folder / "guidance.json").read_text())["yard 0"]
    assert section["experiences"] == {rule.id: rule.text for rule in run.best.told}
    assert section["step"] == run.summary["book_step"]
    assert section["metadata"]["G0"]["status"] == "active"
    assert section["updated_at"]


def test_every_judged_row_has_every_number_of_the_gate(run: TrainResult) -> None:
    judged = [row for row in lines(run.folder, "rule_candidates.jsonl") if row["decision"] in ("applied", "rejected")]
    assert {row["decision"] for row in judged} == {"applied", "rejected"}
    names = ["effect", "statistic", "threshold", "alpha", "tasks", "seen", "better", "worse", "rollouts", "guards"]
    for row in judged:
        assert all(row[f"gate_{name}"] is not None for name in names), row
        assert row["base_acc"] is not None
        assert row["relative_error_reduction"] is not None
        assert 0 <= row["changed_fraction"] <= 1
        for name in ("false_release", "false_block", "utility"):
            assert all(row[f"{name}_{part}"] is not None for part in ("change", "bound", "limit"))
        assert row["minimum_detectable_effect"] > 0


def test_a_harmful_candidate_lists_the_tickets_it_breaks(run: TrainResult) -> None:
    rows = lines(run.folder, "rule_search_candidate_regressions.jsonl")
    harm = [row for row in rows if "south" in row["candidate_id"]]
    assert harm[0]["n"] >= 5
    assert all(ticket["base_right"] > 0.5 > ticket["candidate_right"] for ticket in harm[0]["tickets"])


def test_benchmarks_are_the_accepted_edits(run: TrainResult) -> None:
    rows = lines(run.folder, "benchmarks.jsonl")
    assert [row["guidance_step_after"] for row in rows] == list(range(1, len(rows) + 1))
    assert all(row["decision"] == "applied" and row["reflect_tickets"] for row in rows)


def test_hard_cases_are_train_tickets_with_what_they_teach(run: TrainResult) -> None:
    rows = lines(run.folder, "rule_search_hard_cases.jsonl")
    assert rows
    assert all(row["ticket"].startswith("train/") for row in rows)
    assert all(row["kind"] in ("confident", "split", "conflict", "wrong") for row in rows)


def test_chats_are_written_after_an_early_stop_too_and_only_right_ones_teach(run: TrainResult) -> None:
    kept, rejected = lines(run.folder, "distill_chatml.jsonl"), lines(run.folder, "distill_rejected.jsonl")
    assert len(kept) + len(rejected) == 40
    assert all(row["label"] == row["verdict"] == row["messages"][-1]["content"] for row in kept)
    assert all(row["why"] for row in rejected)
    told = [rule.text for rule in run.best.told]
    assert all(text in row["messages"][-2]["content"] for row in kept for text in told)


@pytest.mark.parametrize(
    ("parts", "data", "why"),
    [
        ({"grounded": 1.0}, {"summaries": []}, ""),
        ({"grounded": 0.5}, {"summaries": []}, "ungrounded"),
        ({}, {"summaries": []}, "grounds_unknown"),
        ({}, {}, ""),
    ],
)
def test_a_reason_that_the_photos_do_not_bear_out_teaches_nothing(
    parts: dict[str, float], data: dict[str, Any], why: str
) -> None:
    from dataclasses import replace

    task = replace(Crates().task("train", 0), data=data)
    turn = Turn("target", (user("?"),), Reply("pass"))
    rolled = Rollout(Ticket("train", "train", 0), task.label, "k", "r", "p", (turn,), Score(1, 1.0, 1.0, parts))
    found = distil("yard", Policy("m"), [PoolAttempt(task, "pass", "pass", ("pass",), "pass", "", rolled)])
    assert [row["why"] for row in found.rejected] == ([why] if why else [])
    assert len(found.kept) == (not why)


def test_an_audit_judges_the_pool_and_changes_nothing(tmp_path: Path) -> None:
    settings = config(rules={"audit_only": True})
    result = searched(tmp_path, settings, optimiser=lambda request: 1 / 0, env=Crates(40, 20, 4))
    assert result.best.rules == result.judge.initial.playbook.rules
    figures = json.loads((result.folder / "baseline_metrics.json").read_text())
    stats = lines(result.folder, "baseline_ticket_stats.jsonl")
    wrong = lines(result.folder, "baseline_wrong_cases.jsonl")
    np, ng = (lines(result.folder, f"baseline_{name}_cases.jsonl") for name in ("np", "ng"))
    assert figures["n_used"] == len(stats) == 40
    assert figures["wrong"] == len(wrong) == len(np) + len(ng) > 0
    assert (figures["np"], figures["ng"]) == (len(np), len(ng))
    assert lines(result.folder, "baseline_metrics_steps.jsonl")[-1]["acc"] == figures["acc"]
    assert result.tested is None


def test_a_book_is_shown_compared_and_rolled_back(run: TrainResult, tmp_path: Path) -> None:
    _, last, book = book_at(run.folder)
    _, _, first = book_at(run.folder, 0)
    assert diff_lines(first, book)
    back = rolled_back(book, first, last + 1)
    assert diff_lines(first, back) == []
    assert {rule.id for rule in back.rules} == {rule.id for rule in book.rules}, "ids that came since stay taken"
    for never in (99, -1):
        with pytest.raises(WhetError, match=f"no step {never}"):
            roll_back(run.folder, never, tmp_path / "never.json")
    assert not (tmp_path / "never.json").exists()


def test_a_run_of_another_kind_has_no_rule_book(tmp_path: Path) -> None:
    evaluated = evaluate(Crates(4, 4, 4), FromFunction(lambda request: "pass"), n=4, runs=tmp_path)
    for act in (
        lambda: book_at(evaluated.folder),
        lambda: roll_back(evaluated.folder, 0, None),
        lambda: approve(evaluated.folder, "", PersonsWord(True)),
    ):
        with pytest.raises(WhetError, match="is it a run of rule search"):
            act()


def test_the_commands_say_it(run: TrainResult, tmp_path: Path) -> None:
    runner, folder = CliRunner(), str(run.folder)
    assert RED in runner.invoke(app, ["show", folder]).output
    assert f": {RED}" in runner.invoke(app, ["diff", folder]).output
    assert runner.invoke(app, ["rollback", folder, "0", "--out", str(tmp_path / "back.json")]).exit_code == 0
    back = read_playbook(str(tmp_path / "back.json"))
    assert [rule.text for rule in back.told] == [rule.text for rule in run.judge.initial.playbook.told]


def edited(folder: Path, **changes: Any) -> Path:
    """A guidance.json that somebody has worked on."""
    section = {
        "step": 0,
        "experiences": {"G0": "A broken seal fails.", "G1": STRICT},
        "metadata": {
            "G0": {"text": "A broken seal fails.", "status": "active"},
            "G1": {"text": STRICT, "status": "active", "predicate": {"colour": "blue"}},
        },
        **changes,
    }
    file = folder / "guidance.json"
    file.write_text(json.dumps({"yard 0": section}))
    return file


def test_a_rule_that_was_taken_out_of_a_guidance_does_not_come_back(tmp_path: Path) -> None:
    file = edited(tmp_path, experiences={"G0": "A broken seal fails."})
    with pytest.raises(WhetError, match="rule G1 is active in 'metadata' and not among 'experiences'"):
        read_playbook(str(file))


def test_a_rule_that_somebody_worded_anew_has_lost_its_predicate(tmp_path: Path) -> None:
    assert {rule.id: rule.predicate for rule in read_playbook(str(edited(tmp_path))).rules}["G1"] == {"colour": "blue"}
    anew = edited(tmp_path, experiences={"G0": "A broken seal fails.", "G1": "A blue crate passes."})
    assert {rule.id: rule.predicate for rule in read_playbook(str(anew)).rules} == {"G0": None, "G1": None}


def test_a_guidance_that_names_two_missions_is_refused(tmp_path: Path) -> None:
    about = {"G0": {"text": "A broken seal fails.", "status": "active", "scope": "yard 1"}}
    file = edited(tmp_path, metadata=about)
    with pytest.raises(WhetError, match="its rules are under 'yard 0' and its G0 is of 'yard 1'"):
        read_playbook(str(file))


def test_the_book_of_another_mission_is_refused(tmp_path: Path) -> None:
    file = edited(tmp_path)
    file.write_text(file.read_text().replace("yard 0", "yard 7"))
    with pytest.raises(WhetError, match="is of 'yard 7', and this run is of 'yard 0'"):
        searched(tmp_path, config(train={"steps": 1, "test": 0}), playbook=read_playbook(str(file)))


def test_an_audit_leaves_the_sealed_test_closed_whatever_the_config_says() -> None:
    settings = config(train={"test": 30}, rules={"audit_only": True})
    assert settings.train.test == 0


def test_a_bound_out_of_range_is_refused_by_its_name() -> None:
    with pytest.raises(WhetError, match=r"bounds\.level"):
        config(bounds={"level": 0.4})
