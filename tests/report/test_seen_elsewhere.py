"""Figures, tables in a terminal, frames, exports, sinks and notebooks: other eyes on the same records."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import run_folders
from builders import Doubles, FromFunction, doubled
from command_line import Whet

from whet.errors import WhetError
from whet.evals.frame import aligned_rows
from whet.ledger.store import Ledger
from whet.report.figures import draw_figures, steps_curve
from whet.report.fold import fold_run
from whet.report.glimpse import glimpse
from whet.report.task_list import TaskChoice, task_lines
from whet.run.api import compare, evaluate
from whet.run.export_rows import export_rows
from whet.run.sinks import SINKS, LedgerTail
from whet.types import Example, Playbook, user


def test_figures_are_drawn_from_runs_and_from_results(seen_runs: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="figures need the extra report")
    results = seen_runs / "third" / "results.json"
    made = draw_figures([seen_runs / "kinds", results], tmp_path / "out", ["png", "svg"], seen_runs)
    names = {place.name for place in made}
    assert {"learning_curves.png", "train_steps.svg", "scores.png", "difficulty_gradient.png"} <= names
    assert all(place.stat().st_size > 2000 for place in made)
    again = draw_figures([seen_runs / "kinds", results], tmp_path / "again", ["svg"], seen_runs)
    assert all(place.read_bytes() == (tmp_path / "out" / place.name).read_bytes() for place in again)


def test_repaired_at_k_counts_steps(tmp_path: Path) -> None:
    with run_folders.writer(tmp_path / "run") as ledger:
        for index, steps in enumerate((2, 7, 0)):
            held = run_folders.rollout(index, "t", hard=int(steps > 0))
            parts = {"repaired": float(steps > 0), "steps": float(steps or 20), "first_optimal": float(steps)}
            score = held.score
            assert score is not None
            ledger.add_rollouts([replace(held, outcome=replace(score, parts=parts))])
    found = steps_curve(fold_run(tmp_path / "run"))
    assert [round(rate.value, 2) for rate in found["repaired@k"]] == [0.0, 0.33, 0.67, 0.67, 0.67]


def test_an_ablation_is_drawn_arm_by_arm(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="figures need the extra report")
    arms = [{"preset": name, "select_hard": 0.5, "interval": [0.4, 0.6]} for name in ("baseline", "no_kl")]
    (tmp_path / "ablation.json").write_text(json.dumps(arms))
    made = draw_figures([tmp_path / "ablation.json"], tmp_path, ["png"], tmp_path)
    assert [place.name for place in made] == ["scores.png"]


def test_what_is_no_result_is_refused(tmp_path: Path, whet: Whet) -> None:
    (tmp_path / "x.json").write_text("{}")
    said = whet("figures", "x.json")
    assert said.code == 2
    assert "holds no results" in said.err


def test_tasks_are_listed_by_how_they_ended(seen_runs: Path, whet: Whet) -> None:
    failed = task_lines(seen_runs / "third", TaskChoice(failed=True))
    assert failed
    assert all(line.solved == 0 and line.reasons == "wrong" for line in failed)
    assert [line.task for line in task_lines(seen_runs / "third", TaskChoice(reason="wrong"))] == [
        line.task for line in failed
    ]
    assert {line.kind for line in task_lines(seen_runs / "third", TaskChoice(kind="odd"))} == {"odd"}
    said = whet("runs", "show", "third", "--failed", "--runs", seen_runs)
    assert failed[0].task in said.out
    assert "Did you mean 'wrong'" in whet("runs", "show", "third", "--reason", "wrng", "--runs", seen_runs).err


def test_the_record_of_runs_names_model_and_result(seen_runs: Path, tmp_path: Path, whet: Whet) -> None:
    said = whet("runs", "table", "--env", "doubles", "--runs", seen_runs, "-o", "record.md")
    assert said.code == 0
    assert "third" in said.out
    assert "kinds" not in said.out
    assert (tmp_path / "record.md").read_text().count("\n") == 4
    assert whet("runs", "table", "--env", "nope", "--runs", seen_runs).code == 2


def test_watching_a_run_that_is_done_says_so_once(seen_runs: Path, whet: Whet) -> None:
    said = whet("watch", "kinds", "--runs", seen_runs)
    assert said.code == 0
    assert said.out.startswith("kinds: complete, 4 of 4 steps, solved 0.")


def test_a_run_that_was_continued_is_not_done_sooner_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four rollouts took a session of 40 s that was killed; the time left is at that pace, not at the new one's."""
    clock = [1000.0]
    monkeypatch.setattr(time, "time", lambda: clock[0])
    with run_folders.writer(tmp_path / "run") as ledger:
        clock[0] = 1040.0
        ledger.add_rollouts([run_folders.rollout(index, "t") for index in range(4)])
        clock[0] = 5000.0
        ledger.add_event("session", planned=8)
        clock[0] = 5001.0
        seen = glimpse(tmp_path / "run")
    assert seen.run.seconds == pytest.approx(40.0, abs=0.1)
    assert seen.left == pytest.approx(41.0, abs=0.1)


def test_a_running_evaluation_has_a_time_left(tmp_path: Path) -> None:
    with run_folders.writer(tmp_path / "live") as ledger:
        ledger.add_rollouts([run_folders.rollout(index, "t", hard=1) for index in range(2)])
        began = ledger.events("session")[0].at
        seen = glimpse(tmp_path / "live", began + 10.0)
    assert (seen.done, seen.planned) == (2, 8)
    assert seen.left == pytest.approx(30.0)
    assert "about 30 s left" in seen.line()


def test_a_frame_has_a_row_for_each_rollout(seen_runs: Path, tmp_path: Path) -> None:
    with Ledger.read(seen_runs / "third") as ledger:
        rows = aligned_rows(ledger.outcomes())
    place, many = export_rows(seen_runs / "third", tmp_path / "rows.jsonl")
    assert many == len(rows) == len(place.read_bytes().splitlines())
    assert json.loads(place.read_bytes().splitlines()[0])["kind"] in ("even", "odd")
    with pytest.raises(WhetError, match="no form 'csv'"):
        export_rows(seen_runs / "third", tmp_path / "rows.csv")


def test_rows_go_to_parquet_and_come_back(seen_runs: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="Parquet needs the extra data")
    place, many = export_rows(seen_runs / "third", tmp_path / "rows.parquet")
    assert parquet.read_table(place).num_rows == many


def test_results_show_themselves_in_a_notebook(tmp_path: Path) -> None:
    result = evaluate(Doubles(), FromFunction(doubled), n=6, runs=tmp_path)
    assert "<pre" in result._repr_html_()
    found = compare(result, result)
    assert "<pre" in found._repr_html_()
    assert len(repr(found)) < 400
    playbook = Playbook("<script>x</script> " * 500, (Example("q\u202e", "a"),))
    assert len(repr(playbook)) < 200
    assert "<script>" not in playbook._repr_html_()
    assert "\u202e" not in playbook._repr_html_()
    held = run_folders.rollout_of(user("<img src=x onerror=y>"))
    assert "<img" not in held._repr_html_()
    assert len(repr(held)) < 200


def test_a_frame_of_a_result_is_of_what_is_installed(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="a frame needs polars or pandas")
    result = evaluate(Doubles(), FromFunction(doubled), n=6, runs=tmp_path)
    frame = result.frame()
    assert len(frame) >= 6
    assert "reward" in list(frame.columns)
    assert isinstance(frame, pandas.DataFrame) or type(frame).__module__.startswith("polars")


class Heard:
    """A sink that remembers, as `wandb` and `mlflow` would be told."""

    def __init__(self) -> None:
        self.figures: list[tuple[int, dict[str, float]]] = []
        self.closed = False


def test_a_sink_is_told_what_the_ledger_remembers(tmp_path: Path) -> None:
    override = [f"control.sinks.jsonl.file={tmp_path / 'm.jsonl'}"]
    evaluate(Doubles(), FromFunction(doubled), n=6, runs=tmp_path, overrides=override)
    lines = [json.loads(line) for line in (tmp_path / "m.jsonl").read_text().splitlines()]
    told: dict[str, float] = {}
    for line in lines:
        told |= line
    assert told["eval/solved"] == 1.0
    assert sum(line.get("eval/rollouts", 0) for line in lines) == 6
    before = len(lines)
    evaluate(Doubles(), FromFunction(doubled), n=6, runs=tmp_path, overrides=override)
    assert len((tmp_path / "m.jsonl").read_text().splitlines()) == before


def test_wandb_and_mlflow_are_told_in_their_own_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard = Heard()

    class WandbRun:
        def log(self, figures: Mapping[str, Any]) -> None:
            heard.figures.append((int(figures["whet_step"]), dict(figures)))

        def finish(self) -> None:
            heard.closed = True

    wandb, mlflow = ModuleType("wandb"), ModuleType("mlflow")
    wandb.init = lambda **options: WandbRun()  # type: ignore[attr-defined]
    for name in ("set_tracking_uri", "set_experiment", "end_run"):
        setattr(mlflow, name, lambda *_: None)
    mlflow.start_run = lambda run_name: None  # type: ignore[attr-defined]
    mlflow.log_metrics = lambda figures, step: heard.figures.append((step, figures))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    monkeypatch.setitem(sys.modules, "mlflow", mlflow)
    for name in ("wandb", "mlflow"):
        sink = SINKS.load(name)(tmp_path, {"project": "p"} if name == "wandb" else {"uri": "u"})
        sink.scalars(3, {"eval/solved": 0.5})
        sink.close()
    assert [step for step, _ in heard.figures] == [3, 3]
    assert heard.closed


def test_a_sink_that_fails_does_not_end_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from whet.run import sinks

    def broken(self: sinks.JsonlSink, step: int, figures: Mapping[str, float]) -> None:
        raise RuntimeError("the service is gone")

    monkeypatch.setattr(sinks.JsonlSink, "scalars", broken)
    with pytest.warns(UserWarning, match="the sink JsonlSink is left out.*the service is gone") as heard:
        result = evaluate(Doubles(), FromFunction(doubled), n=4, runs=tmp_path, overrides=["control.sinks.jsonl={}"])
    assert result.pass_rate == 1.0
    assert len(heard) == 1


def test_an_unknown_sink_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="Did you mean 'wandb'"):
        evaluate(Doubles(), FromFunction(doubled), n=4, runs=tmp_path, overrides=["control.sinks.wandbb={}"])


def test_the_news_of_a_training_hold_decisions(seen_runs: Path) -> None:
    told: dict[str, float] = {}
    for _, figures in LedgerTail(seen_runs / "kinds").news():
        told |= figures
    assert told["gate/accepted"] in (0.0, 1.0)
    assert "test/solved" in told
    assert list(LedgerTail.at_end(seen_runs / "kinds").news()) == []


def test_letters_without_a_font_are_one_line(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="figures need the extra report")
    run_folders.evaluation(tmp_path, "\U00012000 $\\frac{")  # cuneiform, and a sum that does not end
    with pytest.warns(UserWarning, match="drawn as boxes") as heard:
        made = draw_figures([tmp_path / "\U00012000 $\\frac{"] * 2, tmp_path / "out", ["png"], tmp_path)
    assert made
    assert len(heard) == 1
