"""What a run of rule search says of itself: a round in a few lines, and the summary at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whet.learn.rules.records import Round

if TYPE_CHECKING:
    from whet.learn.rules.training import RuleSearch


def round_text(state: Round) -> str:
    """What was brought in a round, and what became of it."""
    lines = []
    for part in state.parts:
        right = sum(attempt.right for attempt in part.attempts)
        lines.append(
            f"round {state.number}, {part.branch.name}: {right} of {len(part.attempts)} right on the propose pool, "
            f"{len(part.cases)} cases, {len(part.records)} operations"
        )
        lines += [f"  {record}" for record in part.records]
    if state.stopped:
        lines.append(f"  stopped: {state.stopped}")
    return "\n".join(lines)


def summary_of(search: RuleSearch) -> dict[str, Any]:
    """The figures of a run: operations by their fate, and the book that leads."""
    fates: dict[str, int] = {}
    for record in (record for state in search.rounds for record in state.records):
        fates[record.fate] = fates.get(record.fate, 0) + 1
    step, book, _ = search.books[-1]
    return {
        "mission": search.mission,
        "rounds": len(search.rounds),
        "operations": dict(sorted(fates.items())),
        "total_accepts": fates.get("applied", 0),
        "total_rejects": fates.get("rejected", 0) + fates.get("undecided", 0),
        "book_step": step,
        "book": {rule.id: rule.text for rule in book.active},
        "noise": None if search.noise is None else search.noise.as_data(),
    }
