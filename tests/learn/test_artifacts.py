"""The readable files of a run: every artifact and key, against a schema, and rebuilt from the ledger."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builders import FromFunction
from reflact_world import Kinds, config, optimiser, target, timeless, trained

from whet.errors import WhetError
from whet.models.base import Request
from whet.run.compose import Given
from whet.run.train import TrainResult
from whet.run.train_runs import replay

NUMBER = (int, float)
MAYBE = (int, float, type(None))

STEP: dict[str, Any] = {
    **dict.fromkeys(("step", "epoch", "step_in_epoch", "rollout_n", "best_step", "skill_len"), int),
    **dict.fromkeys(("n_patches", "n_failure_patches", "n_success_patches"), int),
    **dict.fromkeys(("n_edits_merged", "n_edits_ranked", "candidate_skill_len"), int),
    **dict.fromkeys(("timing", "tokens"), dict),
    **dict.fromkeys(("accumulation_batches", "support_counts", "decisions", "trouble"), list),
    **dict.fromkeys(("rollout_hard", "rollout_soft", "selection_hard", "selection_soft"), MAYBE),
    **dict.fromkeys(("candidate_gate_score", "current_score", "best_score", "edit_budget"), MAYBE),
    **dict.fromkeys(("lr_control_mode", "candidate_hash", "gate_metric", "action"), str),
    **dict.fromkeys(("current_origin", "best_origin"), str),
    "wall_time_s": NUMBER,
}
SUMMARY: dict[str, Any] = {
    **dict.fromkeys(("version", "current_origin", "best_origin", "test_delta_says", "stopped", "spent"), str),
    **dict.fromkeys(("config", "token_summary"), dict),
    **dict.fromkeys(("baseline_selection_hard", "best_selection_hard", "final_selection_hard"), MAYBE),
    **dict.fromkeys(("final_selection_soft", "expected_false_accepts"), MAYBE),
    **dict.fromkeys(("best_step", "total_steps", "total_accepts", "total_rejects", "total_skips"), int),
    **dict.fromkeys(("baseline_test_hard", "baseline_test_soft", "test_hard", "test_soft"), NUMBER),
    **dict.fromkeys(("final_test_hard", "final_test_soft", "test_delta_hard", "final_test_delta_hard"), NUMBER),
    **dict.fromkeys(("no_playbook_test_hard", "floor_test_hard"), NUMBER),
    "epoch_stats": list,
    "total_wall_time_s": NUMBER,
}
SLOW: dict[str, Any] = {
    **dict.fromkeys(("reasoning", "slow_update_content", "candidate_hash"), str),
    **dict.fromkeys(("update_origin", "update_target", "action"), str),
    **dict.fromkeys(("prev_hard", "curr_hard", "selection_hard"), MAYBE),
    "time_s": NUMBER,
}
STATE: dict[str, Any] = {
    **dict.fromkeys(("last_completed_step", "best_step"), int),
    **dict.fromkeys(("current_skill_path", "current_origin", "best_skill_path", "best_origin"), str),
    **dict.fromkeys(("current_score", "best_score"), MAYBE),
}
ENTRY = {"step": int, "action": str, "n_total": int, "n_fail": int, "failure_patterns": list}


def fits(data: Any, schema: dict[str, Any]) -> bool:
    wrong = [name for name, kind in schema.items() if not isinstance(data.get(name, ...), kind)]
    assert not wrong, f"missing or of another type: {wrong}"
    return True


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> TrainResult:
    folder = tmp_path_factory.mktemp("runs") / "run"
    return trained(folder, config(slow={"idle": True}, update={"scheduler": "autonomous"}, reflect={"lapses": True}))


def read(run: TrainResult, name: str) -> Any:
    return json.loads((run.folder / name).read_bytes())


def test_the_tree_is_complete(run: TrainResult) -> None:
    step = "steps/step_0001"
    for name in (
        *("config.json", "config.toml", "history.json", "runtime_state.json", "summary.json", "lr_history.jsonl"),
        *("best_skill.md", "best_playbook.json", "skills/skill_v0000.md", "skills/skill_v0004.md"),
        *("selection_eval_baseline/results.jsonl", "selection_eval_baseline/summary.json"),
        *(f"{step}/rollout/results.jsonl", f"{step}/patches/minibatch_fail_000.json", f"{step}/merged_patch.json"),
        *(f"{step}/ranked_edits.json", f"{step}/lr_decision.json", f"{step}/candidate_skill.md"),
        *(f"{step}/edit_apply_report.json", f"{step}/trajectory_digest.json", f"{step}/step_record.json"),
        *(f"{step}/selection_eval/decision_00.json", f"{step}/selection_eval/results_00.jsonl"),
        f"{step}/appendix_notes.json",
        *(f"slow_update/epoch_02/{file}.json" for file in ("slow_result", "comparison_pairs", "comparison_pairs_all")),
        "slow_update/epoch_02/candidate_skill.md",
        "meta_skill/epoch_02/meta_skill_result.json",
        *(
            f"{place}/results.jsonl"
            for place in ("test_eval_none", "test_eval_baseline", "test_eval", "test_eval_final")
        ),
    ):
        assert (run.folder / name).is_file(), name
    talks = list((run.folder / step / "rollout/predictions").glob("*/conversation.json"))
    assert len(talks) == 12


def test_every_step_record_holds_every_key(run: TrainResult) -> None:
    history = read(run, "history.json")
    assert len(history) == 4
    for record in history:
        assert fits(record, STEP)
        assert set(record["timing"]) == {
            f"{name}_s" for name in ("rollout", "reflect", "aggregate", "select", "update", "probe", "evaluate")
        }
        assert fits(
            record, {"n_execution_lapse_notes": int, "n_appendix_notes_added": int, "n_appendix_notes_total": int}
        )
        assert record == read(run, f"steps/step_{record['step']:04d}/step_record.json")
        for batch in record["accumulation_batches"]:
            assert fits(batch, {"batch_idx": int, "batch_seed": int, "n_envs": int, "hard": NUMBER, "soft": NUMBER})


def test_the_summary_and_the_state_hold_every_key(run: TrainResult) -> None:
    summary = read(run, "summary.json")
    assert fits(summary, SUMMARY)
    assert fits(read(run, "runtime_state.json"), STATE)
    stats = {"epoch": int, "steps": int, "accepts": int, "rejects": int, "skips": int}
    scores = {"best_score_at_epoch_end": MAYBE, "current_score_at_epoch_end": MAYBE}
    assert all(fits(one, {**stats, **scores}) for one in summary["epoch_stats"])
    counted = sum(summary[name] for name in ("total_accepts", "total_rejects", "total_skips"))
    assert counted == summary["total_steps"] == 4


def test_the_end_of_an_epoch_and_the_memory_hold_every_key(run: TrainResult) -> None:
    assert fits(read(run, "slow_update/epoch_02/slow_result.json"), SLOW)
    pairs = read(run, "slow_update/epoch_02/comparison_pairs_all.json")
    sides = {"hard": int, "soft": NUMBER, "predicted_answer": str, "fail_reason": str}
    for pair in pairs:
        assert fits(pair, {"id": str, "task": str, "category": str, "prev": dict, "curr": dict})
        assert fits(pair["prev"], sides)
    assert fits(read(run, "meta_skill/epoch_02/meta_skill_result.json"), {"reasoning": str, "meta_skill_content": str})
    memory = read(run, "steps/step_0004/trajectory_digest.json")
    assert [entry["step"] for entry in memory] == [1, 2, 3, 4]
    assert all(fits(entry, ENTRY) for entry in memory)


def test_tokens_are_counted_by_stage_and_split_and_add_up(run: TrainResult) -> None:
    used = read(run, "summary.json")["token_summary"]
    assert {"rollout", "select", "test", "floor", "slow_update_rollout", "analyst", "merge", "meta_skill"} <= set(used)
    assert {"lr_autonomous", "slow_update"} <= set(used)
    parts = [row for stage, row in used.items() if stage != "_total"]
    for name in ("calls", "prompt_tokens", "completion_tokens"):
        assert sum(row[name] for row in parts) == used["_total"][name]
    played = [rollout for state in run.training.steps if state.evidence for rollout in state.evidence.rollouts]
    assert len(played) == 48
    assert used["rollout"]["calls"] == len({rollout.key for rollout in played}) < 48  # none is paid for twice
    spent = run.judge.shop.session.purse.spent
    assert used["_total"]["calls"] - used["floor"]["calls"] == spent.calls


def test_the_apply_report_says_what_became_of_each_item(run: TrainResult) -> None:
    rows = read(run, "steps/step_0001/edit_apply_report.json")
    assert all(
        fits(row, {"index": int, "op": str, "target": str, "content_preview": str, "status": str}) for row in rows
    )
    record = read(run, "steps/step_0001/step_record.json")
    applied = record["edit_apply_summary"]
    assert applied["total"] == len(rows) == applied["applied"] + applied["skipped"]


def test_decisions_carry_their_evidence(run: TrainResult) -> None:
    decision = read(run, "steps/step_0001/selection_eval/decision_00.json")
    assert {"verdict", "statistic", "threshold", "alpha", "rollouts", "says", "items"} <= set(decision)
    accepted = read(run, "summary.json")["accepted"]
    assert all(one["changes"] and one["says"] for one in accepted)


def test_the_files_are_rebuilt_from_the_ledger_alone(tmp_path: Path) -> None:
    made = trained(tmp_path / "run", config(slow={"idle": True}))
    before = timeless(made.folder)
    for file in sorted(made.folder.rglob("*")):
        if file.is_file() and not file.name.startswith(("ledger", "config.toml", "playbook.json")):
            file.unlink()

    def dead(request: Request) -> str:
        raise AssertionError("a rebuild calls nobody")

    silent = FromFunction(dead)
    proposer = FromFunction(dead)
    proposer.fingerprint = "optimiser-1"
    replay(made.folder, Given(env=Kinds(), model=silent, optimizer=proposer))
    assert timeless(made.folder) == before


def test_a_rebuild_of_an_unfinished_run_reaches_as_far_as_its_ledger(tmp_path: Path) -> None:
    calls: list[Request] = []

    def failing(request: Request) -> str:
        calls.append(request)
        if len(calls) > 12:
            raise WhetError("the key was revoked")
        return optimiser(request)

    with pytest.raises(WhetError, match="revoked"):
        trained(tmp_path / "run", optimiser=failing)
    silent, proposer = FromFunction(target), FromFunction(optimiser)
    proposer.fingerprint = "optimiser-1"
    again = replay(tmp_path / "run", Given(env=Kinds(), model=silent, optimizer=proposer))
    assert again.stopped.endswith("the ledger ends here")
    assert read(again, "history.json")
    assert not silent.requests
    assert not proposer.requests


def test_no_secret_reaches_an_artifact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys other than three names stood in clear in config.json and summary.json."""
    secrets = {
        "MY_KEY": "sk-verysecret-1",
        "OPENAI_API_KEY": "sk-verysecret-2",
        "AZURE_OPENAI_API_KEY": "sk-verysecret-3",
    }
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    settings = config(
        train={"epochs": 1}, control={"target": {"key_env": "MY_KEY"}, "optimizer": {"key_env": "OPENAI_API_KEY"}}
    )
    made = trained(tmp_path / "run", settings)
    everything = b"".join(file.read_bytes() for file in made.folder.rglob("*") if file.is_file())
    assert b"MY_KEY" in everything
    assert b"sk-verysecret" not in everything
