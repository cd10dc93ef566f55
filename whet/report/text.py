"""A report without a browser: Markdown for a pull request, JSON for a script. The same records as the page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from whet.evals.compare import Comparison
from whet.evals.results import comparison_json
from whet.outside import shown, shown_line
from whet.report.fold import RunFacts
from whet.report.sections import duration, moment, money, note_lines, rate_words

_ACTIVE = re.compile(r"([\\`*_{}\[\]<>#|])")


def plain_text(value: object) -> str:
    """A text in one line of Markdown: what Markdown or HTML would act on is escaped."""
    return _ACTIVE.sub(r"\\\1", shown_line(str(value)))


def markdown(runs: Sequence[RunFacts], compared: Sequence[tuple[str, str, Comparison | str]] = ()) -> str:
    lines: list[str] = []
    for a, b, found in compared:
        said = found if isinstance(found, str) else found.words(a, b)
        lines += [f"**{plain_text(b)} against {plain_text(a)}**: {plain_text(said)}", ""]
    for run in runs:
        lines += _run(run)
    return "\n".join(lines) + "\n"


def _run(run: RunFacts) -> list[str]:
    facts = " · ".join(filter(None, (run.kind, run.env, run.model, run.state, moment(run.changed))))
    lines = [f"# {plain_text(run.name)}", "", plain_text(facts), ""]
    lines += [f"> {plain_text(line)}" for line in note_lines(run)]
    if run.trouble:
        return lines
    if run.claim:
        lines += ["", f"**{plain_text(run.claim)}**"]
    spent = f"{run.tokens:,} tokens, {money(run.usd)}, {duration(run.seconds)}, {run.rollouts:,} rollouts"
    lines += ["", f"Cost: {plain_text(spent)}", ""]
    tests = [(test.name, rate_words(test.rate), test.rate.tasks) for test in run.tests]
    lines += _table(("policy", "solved", "tasks"), tests)
    decided = [
        (
            *(decision.purpose, decision.verdict, decision.reason),
            *(rate_words(decision.incumbent), rate_words(decision.candidate), f"{decision.better} / {decision.worse}"),
        )
        for decision in run.decisions
    ]
    lines += _headed(
        "Gate decisions", ("decision", "verdict", "why", "incumbent", "candidate", "better / worse"), decided
    )
    changes = [
        (decision.purpose, edit.op, edit.source, edit.content)
        for decision in run.decisions
        if decision.accepted
        for edit in decision.edits
    ]
    lines += _headed("Accepted edits", ("decision", "edit", "from", "text"), changes)
    kinds = [(group.name, rate_words(group.rate), group.rate.tasks) for group in run.kinds]
    lines += _headed("By kind", ("kind", "solved", "tasks"), kinds if len(kinds) > 1 else [])
    lines += _headed("Reasons", ("reason", "rollouts"), list(run.reasons.items()))
    cases = [(f"{line.split}/{line.task}", line.kind, line.reason) for line in run.cases]
    lines += _headed("Hard cases", ("task", "kind", "ended with"), cases)
    costs = [(cost.stage, f"{cost.calls:,}", f"{cost.tokens:,}", money(cost.usd)) for cost in run.costs]
    return [*lines, *_headed("Cost by stage", ("stage", "calls", "tokens", "cost"), costs)]


def _headed(title: str, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    return ["", f"## {title}", "", *_table(heads, rows)] if rows else []


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    if not rows:
        return []
    body = ["| " + " | ".join(plain_text(cell) for cell in row) + " |" for row in rows]
    return ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads), *body]


def report_data(runs: Sequence[RunFacts], compared: Sequence[tuple[str, str, Comparison | str]] = ()) -> dict[str, Any]:
    """The records as plain data."""
    found = [
        {"a": a, "b": b, "refused": told} if isinstance(told, str) else comparison_json(told, a=a, b=b)
        for a, b, told in compared
    ]
    return {"runs": [_plain(run) for run in runs], "compared": found}


def _plain(value: Any) -> Any:
    """Records as JSON knows them: places and pairs as text."""
    if hasattr(value, "__dataclass_fields__"):
        return {name: _plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, Mapping):
        return {" / ".join(key) if isinstance(key, tuple) else str(key): _plain(held) for key, held in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(held) for held in value]
    return shown(value) if isinstance(value, str) else str(value) if isinstance(value, Path) else value
