"""A language model on the panel of `ordebug`: what it repairs, asked as it is, on the rungs that it could climb.

Functions for `bench/ordebug.py`. Any address of a model will do; its attempts are ordinary runs, so one that was
interrupted goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

RUNGS = (("tiny_near", "table"), ("tiny_near", "prose"), ("small_near", "table"))
STEPS, TOKENS = 5, 48
"""Actions of an attempt, and tokens of a reply: enough to look, edit and submit."""


@dataclass(frozen=True, slots=True)
class ModelRow:
    """What a model made of a rung, as shares of its attempts; `malformed` of its steps."""

    model: str
    rung: str
    form: str
    problems: int
    repaired: float
    submitted: float
    malformed: float


def model_rows(address: str, problems: int, runs: Path, rungs: int = len(RUNGS)) -> Iterator[ModelRow]:
    """A row for each of the first rungs, on problems of split `test`, greedily, in attempts of `STEPS` actions."""
    import whet  # here, because the panel alone needs none of this
    from whet.apps.ordebug.figures import measure
    from whet.run.workspace import open_run

    for rung, form in RUNGS[:rungs]:
        overrides = [f"env.args.spec={form}", f"env.args.max_steps={STEPS}", "eval.floor=false"]
        overrides += [f"target.sampling.max_tokens={TOKENS}", "target.sampling.temperature=0"]
        result = whet.evaluate(f"ordebug/{rung}", address, n=problems, split="test", overrides=overrides, runs=runs)
        told = measure(open_run(result.folder))[0]
        share = {name: told.metrics[name].value for name in (f"repaired@{STEPS}", "submitted", "malformed")}
        yield ModelRow(address, rung, form, told.tasks, *share.values())


def markdown(rows: Sequence[ModelRow]) -> str:
    """What models made of the rungs, as a table."""
    head = "| model | rung | form | problems | repaired | submitted | malformed steps |"
    lines = [head, "|---|---|---|--:|--:|--:|--:|"]
    for row in rows:
        shares = " | ".join(f"{100 * share:.0f} %" for share in (row.repaired, row.submitted, row.malformed))
        lines.append(f"| `{row.model}` | `{row.rung}` | {row.form} | {row.problems} | {shares} |")
    return "\n".join(lines)
