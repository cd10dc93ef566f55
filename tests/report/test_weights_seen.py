"""The monitoring of weights: what the trainer logged is drawn, in the page and in the figures, and nothing else."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
import run_folders

from whet.report.figures import draw_figures
from whet.report.fold import SEGMENT, RunFacts, fold_run
from whet.report.page import report_page
from whet.report.sections import WEIGHTS, weight_series
from whet.web.pages import run_page
from whet.web.site import ViewerSite


def logged(step: int) -> dict[str, Any]:
    """A row as the trainer of groups writes it."""
    row: dict[str, Any] = {name: 0.1 * step for names in WEIGHTS.values() for name in names}
    del row["rollouts_per_second"], row["mean_token_accuracy"]
    return {**row, "step": step, "kl": None if step == 2 else 0.01, "parts": {"hits": step / 6, "<b>x</b>": 1.0}}


def weights_run(runs: Path) -> Path:
    folder = runs / "tuned"
    with run_folders.writer(folder) as ledger:
        for number, steps in enumerate(((1, 2, 3), (4, 5, 6))):
            body = {"checkpoint": f"checkpoints/s{number}", "fingerprint": f"f{number}", "seconds": 4.0, "rollouts": 96}
            body["log"] = [logged(step) for step in steps]
            ledger.add_effect(f"k{number}", SEGMENT, f"segment/{number}", "r", body)
        ledger.add_rollouts([run_folders.rollout(0, "t", hard=1)])
    return folder


@pytest.fixture
def tuned(tmp_path: Path) -> RunFacts:
    return fold_run(weights_run(tmp_path))


def test_every_step_of_every_segment_is_a_point(tuned: RunFacts) -> None:
    assert [row["step"] for row in tuned.weights] == [1, 2, 3, 4, 5, 6]
    assert weight_series(tuned.weights, ("entropy",))["entropy"][5] == (6.0, pytest.approx(0.6))
    assert [step for step, _ in weight_series(tuned.weights, ("kl",))["kl"]] == [1, 3, 4, 5, 6]
    assert weight_series(tuned.weights, ("rollouts_per_second",)) == {
        "rollouts_per_second": [(n, 24.0) for n in range(1, 7)]
    }


def test_what_was_logged_is_drawn_and_what_was_not_is_left_out(tuned: RunFacts) -> None:
    page = report_page([tuned])
    part = page[page.index('id="weights"') :]
    part = part[: part.index("</section>")]
    for title in WEIGHTS:
        assert (title in part) == (title != "token accuracy")
    assert "parts of the reward" in part
    assert "<b>x</b>" not in page
    drawn = [float(number) for number in re.findall(r'c[xy]="([-\d.]+)"', part)]
    assert drawn
    assert all(math.isfinite(number) for number in drawn)


def test_the_viewer_and_the_figures_have_them_too(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="figures need the extra report")
    folder = weights_run(tmp_path)
    assert 'id="weights"' in run_page(ViewerSite(tmp_path), "tuned")
    made = draw_figures([folder], tmp_path / "figures", ["svg"], tmp_path)
    assert "weights.svg" in {place.name for place in made}


def test_a_run_without_weights_has_no_such_part(tmp_path: Path) -> None:
    run_folders.hostile(tmp_path)
    assert 'id="weights"' not in report_page([fold_run(tmp_path / "hostile")])
