"""The bench's panel: what was looked at is kept, a row tells the truth about its problems, the page takes the table."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import orjson
import pytest

BENCH = Path(__file__).parents[3] / "bench"


sys.path.append(str(BENCH))  # the bench lies outside the package

import ordebug  # noqa: E402
import ordebug_notebook  # noqa: E402
import ordebug_panel  # noqa: E402
from ordebug_opinion import Group, Job, Opinion, opinion  # noqa: E402
from ordebug_panel import PanelRow, panel_row  # noqa: E402

from whet.envs.ordebug.ladder import EVERY_CELL  # noqa: E402

GROUP = Group("few", (EVERY_CELL["tiny_near_A"], EVERY_CELL["tiny_near_missing"]), 3, second=0)


@pytest.fixture(scope="module")
def opinions() -> list[Opinion]:
    return [opinion(Job(GROUP, place, 5)) for place in range(GROUP.problems)]


def test_everybody_has_an_opinion_and_the_oracle_repairs(opinions: list[Opinion]) -> None:
    assert [each.kind for each in opinions] == ["A", "missing", "A"]
    assert all(each.oracle and each.sound and each.grammar and each.table for each in opinions)
    assert [bool(each.fingers) for each in opinions] == [True, False, True]


def test_what_was_looked_at_is_not_looked_at_again(
    opinions: list[Opinion], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def remembered(job: Job) -> Opinion:
        asked.append(job.place)
        return opinions[job.place]

    monkeypatch.setattr(ordebug_notebook, "opinion", remembered)
    notebook = ordebug_notebook.Notebook(tmp_path)
    two = replace(GROUP, problems=2)
    assert [found for _, found in ordebug_notebook.gathered([two], 5, notebook, 1, 600.0)] == [opinions[:2]]
    torn = next(tmp_path.iterdir())
    torn.write_bytes(torn.read_bytes() + b'[2,{"kind":')
    assert [found for _, found in ordebug_notebook.gathered([GROUP], 5, notebook, 1, 0.0)] == [opinions[:2]]
    assert asked == [0, 1]


def test_a_classifier_is_trained_across_problems_of_which_more_or_less_can_be_said(
    opinions: list[Opinion], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of rows more can be said than of columns, and a rung has faults in both."""
    rows = replace(opinions[0], features={"row:r1": [1.0, 7.0, 3.0], "row:r2": [1.0, 1.0, 1.0]}, wrong=["row:r1"])
    columns = replace(opinions[0], features={"column:x1": [0.0, 2.0]}, wrong=["column:x1"])
    seen: list[list[list[float]]] = []

    class Largest:
        """Holds what has the largest second number to be wrong."""

        def fit(self, inputs: Any, targets: Any) -> Largest:
            seen.append(inputs.tolist())
            return self

        def predict_proba(self, inputs: Any) -> Any:
            return inputs[:, :2]

    monkeypatch.setattr(ordebug_panel, "new_classifier", lambda kind: Largest())
    assert ordebug_panel.pointed("boosted", [columns, rows], [rows, columns]) == [True, True]
    assert seen == [[[0.0, 2.0, 0.0], [1.0, 7.0, 3.0], [1.0, 1.0, 1.0]]]


def test_a_row_is_published_by_both_rules_and_never_on_few_problems(opinions: list[Opinion]) -> None:
    row = panel_row("few", [opinions[0], opinions[2]])
    assert (row.problems, row.figures["oracle"], row.verdict) == (2, 1.0, "open")
    figures = {"chance": 0.5, "oddity": 0.55, "patterns": 0.1}
    told = PanelRow("many", 400, "3–9", 2.0, figures, 0)
    assert told.verdict == "yes"
    assert replace(told, figures=figures | {"patterns": 0.2}).verdict == "no"
    assert replace(told, figures=figures | {"oddity": 0.9}).verdict == "no"
    assert replace(told, figures=figures | {"oddity": 0.62}).verdict == "open"


def test_the_table_goes_between_its_marks_and_nothing_else_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{ordebug.BEGIN}\nold\n{ordebug.END}\nafter\n", encoding="utf-8")
    monkeypatch.setattr(ordebug, "DOCS", page)
    row = PanelRow("many", 400, "3–9", 2.0, {"chance": 0.5, "oddity": 0.55, "oracle": 1.0}, 0)
    (tmp_path / "figures.json").write_bytes(orjson.dumps({"rows": [asdict(row)]}))
    ordebug.render(tmp_path / "figures.json")
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"before\n{ordebug.BEGIN}\n| cell |")
    assert "| `many` | 400 | 3–9 | 2.0 | 50 % | 55 % (oddity) | +5 ± 2 | – |" in text
    assert text.endswith(f"|\n{ordebug.END}\nafter\n")
    assert "old" not in text
