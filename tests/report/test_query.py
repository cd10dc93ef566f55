"""Filters and pages as SQL say what a loop over the rollouts says."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import run_folders
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from whet.ledger.store import Ledger, glance
from whet.report import query
from whet.report.query import RolloutCounts, RolloutFilter
from whet.types import Outcome

words = st.sampled_from(["", "even", "odd"])


def wanted(outcome: Outcome, chosen: RolloutFilter, mixed: set[tuple[str, int]]) -> bool:
    task = (outcome.ticket.split, outcome.ticket.index)
    return (
        (not chosen.purpose or f"{outcome.ticket.purpose}/".startswith(f"{chosen.purpose}/"))
        and (not chosen.kind or outcome.label.kind == chosen.kind)
        and (not chosen.difficulty or outcome.label.difficulty == chosen.difficulty)
        and (not chosen.reason or outcome.reason == chosen.reason)
        and (not chosen.solved or outcome.hard == (chosen.solved == "yes"))
        and (not chosen.flipped or (task in mixed and not outcome.ticket.purpose.startswith(query.BESIDE)))
        and (not chosen.task or f"{task[0]}/{task[1]}" == chosen.task or str(task[1]) == chosen.task)
    )


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    chosen=st.builds(
        RolloutFilter,
        purpose=st.sampled_from(["", "eval", "floor", "floor/echo", "flo", "select"]),
        kind=words,
        difficulty=st.sampled_from(["", "easy", "hard"]),
        solved=st.sampled_from(["", "yes", "no"]),
        reason=st.sampled_from(["", "wrong", "correct"]),
        flipped=st.booleans(),
        task=st.sampled_from(["", "3", "select/3", "test/3", "x", "99999999999999999999"]),
    )
)
def test_a_page_holds_what_a_loop_would_find(seen_runs: Path, chosen: RolloutFilter) -> None:
    with Ledger.read(seen_runs / "third") as ledger:
        outcomes = [outcome for outcome in ledger.outcomes() if not outcome.fault]
    own: dict[tuple[str, int], set[int]] = {}
    for outcome in outcomes:
        if not outcome.ticket.purpose.startswith(query.BESIDE):
            own.setdefault((outcome.ticket.split, outcome.ticket.index), set()).add(outcome.hard)
    mixed = {task for task, seen in own.items() if len(seen) > 1}
    with closing(glance(seen_runs / "third")) as db:
        found = query.rollout_page(db, chosen, 0, 1000)
    assert found.total == len(found.lines) == sum(wanted(outcome, chosen, mixed) for outcome in outcomes)


def test_pages_cut_a_list_without_gaps(seen_runs: Path) -> None:
    with closing(glance(seen_runs / "kinds")) as db:
        whole = [line.seq for line in query.rollout_page(db, RolloutFilter(solved="no"), 0, 10_000).lines]
        parts = [
            line.seq
            for start in range(0, len(whole), 50)
            for line in query.rollout_page(db, RolloutFilter(solved="no"), start, 50).lines
        ]
        beyond = query.rollout_page(db, RolloutFilter(), 10**9, 50)
    assert parts == whole
    assert beyond.lines


def test_flipped_tasks_were_solved_and_not(seen_runs: Path) -> None:
    with closing(glance(seen_runs / "kinds")) as db:
        found = query.rollout_page(db, RolloutFilter(flipped=True), 0, 10_000).lines
    seen: dict[tuple[str, int], set[float]] = {}
    for line in found:
        seen.setdefault((line.split, line.task), set()).add(line.hard)
    assert seen
    assert all(len(hard) == 2 for hard in seen.values())


def test_counts_grow_by_what_is_new(tmp_path: Path) -> None:
    counts = RolloutCounts()
    with run_folders.writer(tmp_path / "run") as ledger, closing(glance(tmp_path / "run")) as db:
        for number in range(3):
            ledger.add_rollouts([run_folders.rollout(number, "t")])
            assert counts.update(db).rollouts == number + 1
        assert counts.update(db).rollouts == 3
    with closing(glance(tmp_path / "run")) as db:
        assert RolloutCounts().update(db).cells == counts.cells


def test_what_an_address_says_never_becomes_sql(seen_runs: Path) -> None:
    nasty = "x' OR 1=1 --"
    for name in ("purpose", "kind", "reason", "split", "task", "policy", "difficulty"):
        with closing(glance(seen_runs / "third")) as db:
            assert query.rollout_page(db, RolloutFilter.of({name: nasty})).total == 0
