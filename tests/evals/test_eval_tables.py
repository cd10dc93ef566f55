from __future__ import annotations

import io
import subprocess
import sys

import pytest
from evals.outcomes import fault, outcome, pattern, repeated
from rich.console import Console, RenderableType

from whet.evals.compare import compare
from whet.evals.floor import floor_of
from whet.evals.summary import summarize
from whet.evals.table import comparison_table, summary_table
from whet.types import Usage


def printed(table: RenderableType, width: int = 80) -> str:
    """What a pipe gets."""
    console = Console(file=io.StringIO(), width=width)
    console.print(table)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_each_kind_is_a_row_with_its_interval_and_the_total_is_last() -> None:
    rollouts = [outcome(index, index % 2, kind=f"kind{index % 3}") for index in range(12)]
    rows = [line.split() for line in printed(summary_table(summarize(rollouts))).splitlines() if "[0." in line]
    assert [row[0] for row in rows] == ["kind0", "kind1", "kind2", "total"]
    assert rows[-1] == ["total", "12", *("0.50", "[0.25,", "0.75]") * 3]


def test_the_best_trivial_policy_stands_below_the_total() -> None:
    floor = floor_of({"echo": pattern("0100"), "constant": pattern("0000")})
    text = printed(summary_table(summarize(pattern("1111")), floor=floor))
    assert "floor: echo" in text
    assert "echo 0.25, constant 0.00" in text


def test_faults_malformed_calls_advice_and_cost_have_lines_of_their_own() -> None:
    rollouts = [outcome(0, 0, malformed=("bad_json",), usage=Usage(2, 1500, 300, 100, 0.25)), outcome(1), fault(2)]
    text = printed(summary_table(summarize(rollouts), title="test of sums", wall_seconds=3723), width=120)
    for line in (
        "test of sums",
        "faults     timeout 1; 33.3 % missing",
        "malformed  bad_json 1; in 1 rollouts",
        "used       2 calls, 1,500 (100 cached) tokens in, 300 out",
        "$0.2500, 1 h 02 min",
        "--retry-faults",
        "had a malformed call (bad_json)",
    ):
        assert line in text


def test_an_unknown_price_is_called_unknown() -> None:
    assert "price unknown" in printed(summary_table(summarize([outcome(0, usage=Usage(1, 1, 1, 0, None))])))


def test_repeats_show_pass_at_k_and_pass_hat_k() -> None:
    text = printed(summary_table(summarize(repeated([2, 1, 0], 2))))
    assert "pass@2 0.67 [" in text
    assert "pass^2 0.33 [" in text


def test_an_empty_evaluation_can_be_shown() -> None:
    assert "0 scored" in printed(summary_table(summarize([])))


def test_a_comparison_shows_verdict_kinds_and_flips() -> None:
    a = [outcome(index, 0, kind=f"kind{index % 2}") for index in range(20)]
    b = [outcome(index, int(index < 12), kind=f"kind{index % 2}") for index in range(20)]
    text = printed(comparison_table(compare(a, b), a="blank", b="skill"))
    assert text.startswith("skill is better than blank: +0.60 [")
    assert "test/0 kind0: wrong -> correct" in text
    assert "12 tasks that only B solves" in text
    assert "and 4 more" in text
    assert "p (Holm)" in text


@pytest.mark.parametrize("width", [80, 100, 120])
def test_tables_fit_the_width_and_carry_no_colour_codes_in_a_pipe(width: int) -> None:
    kinds = ["a_kind_with_a_name_far_too_long_for_its_column_of_the_table", "plain [x] kind"]
    a = [outcome(index, index % 2, kind=kinds[index % 3 % 2]) for index in range(30)]
    b = [outcome(index, 1, kind=kinds[index % 3 % 2]) for index in range(30)]
    text = printed(summary_table(summarize(a)), width) + printed(comparison_table(compare(a, b)), width)
    assert max(map(len, text.splitlines())) <= width
    assert "\x1b" not in text
    assert "plain [x] kind" in text


def test_the_room_is_imported_without_rich_or_numpy() -> None:
    rooms = "whet.evals, whet.evals.sample, whet.evals.table, whet.evals.results"
    code = f"import sys, {rooms}; print(sorted({{'rich', 'numpy', 'scipy'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_curated_name_is_there() -> None:
    import whet.evals as room

    assert all(getattr(room, name).__module__.startswith("whet.evals.") for name in room.__all__)


def test_another_metric_than_hard_has_a_column_of_its_own_and_a_floor() -> None:
    rollouts = [outcome(index, 0, soft=0.75) for index in range(8)]
    floor = floor_of({"echo": [outcome(index, 0, soft=0.25) for index in range(8)]}, metric="soft")
    assert "soft" not in printed(summary_table(summarize(rollouts), floor=floor))
    lines = printed(summary_table(summarize(rollouts, metric="soft"), floor=floor), width=120).splitlines()
    assert "soft [95 %]" in lines[0] + lines[1]
    assert any(line.strip().startswith("total") and " 0.75 [" in line for line in lines)
    assert any("floor: echo" in line and " 0.25 [" in line for line in lines)


def test_hard_stands_beside_a_comparison_on_another_metric() -> None:
    a, b = ([outcome(index, 0, soft=soft) for index in range(8)] for soft in (0.25, 0.75))
    assert "solved (hard)" in printed(comparison_table(compare(a, b, metric="soft")))
    assert "solved (hard)" not in printed(comparison_table(compare(a, b)))
