"""What the stages hand to each other: evidence, patches, edits, candidates. Frozen, plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from whet.types import Example, Playbook, Rollout

Op = Literal["append", "insert_after", "replace", "delete"]
OPS: tuple[Op, ...] = ("append", "insert_after", "replace", "delete")

Source = Literal["failure", "success", "examples"]

PREVIEW = 200
"""Characters of an edit's text in a report."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of the body, or of one of the playbook's files. `where` is '' for the body, else the file's name.

    `support` is how many attempts it rests on, `level` how often it has been merged.
    """

    op: str
    content: str = ""
    target: str = ""
    where: str = ""
    source: Source = "failure"
    support: int = 1
    level: int = 0

    def as_data(self) -> dict[str, Any]:
        data = {"op": self.op, "content": self.content, "target": self.target}
        if self.where:
            data["where"] = self.where
        return {**data, "source_type": self.source, "support_count": self.support, "merge_level": self.level}

    def __str__(self) -> str:
        text = self.content if self.op != "delete" else self.target
        return f"{self.op}: {text.strip()}"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What a rewrite should take up."""

    title: str
    instruction: str
    kind: str = ""
    motivation: str = ""
    priority: str = ""
    source: Source = "failure"
    support: int = 1
    level: int = 0

    def as_data(self) -> dict[str, Any]:
        return {
            "type": self.kind,
            "title": self.title,
            "motivation": self.motivation,
            "instruction": self.instruction,
            "priority_hint": self.priority,
            "source_type": self.source,
            "support_count": self.support,
            "merge_level": self.level,
        }

    def __str__(self) -> str:
        return f"{self.title}: {self.instruction}".strip(": ")


@dataclass(frozen=True, slots=True)
class Draft:
    """A whole new body."""

    body: str
    title: str = ""
    summary: str = ""
    source: Source = "failure"
    support: int = 1
    level: int = 0

    def as_data(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "change_summary": self.summary,
            "new_skill": self.body,
            "source_type": self.source,
            "support_count": self.support,
            "merge_level": self.level,
        }

    def __str__(self) -> str:
        return f"{self.title or 'rewrite'}: {self.summary}".strip(": ")


@dataclass(frozen=True, slots=True)
class AddExample:
    """A worked example put into the playbook, in the place of another where `instead` says so."""

    example: Example
    task: str
    instead: int | None = None
    source: Source = "examples"
    support: int = 1
    level: int = 0

    def as_data(self) -> dict[str, Any]:
        return {
            "op": "add_example" if self.instead is None else "exchange_example",
            "content": {"question": self.example.question, "answer": self.example.answer},
            "target": "" if self.instead is None else self.instead,
            "task": self.task,
            "source_type": self.source,
            "support_count": self.support,
            "merge_level": self.level,
        }

    def __str__(self) -> str:
        shown = " ".join(f"{self.example.answer} to {self.example.question}".split())
        return f"example {self.task}: {shown}"


@dataclass(frozen=True, slots=True)
class FillBank:
    """Worked examples put into the bank, of which each task is shown the `nearest`."""

    examples: tuple[Example, ...]
    nearest: int
    tasks: tuple[str, ...]
    source: Source = "examples"
    support: int = 1
    level: int = 0

    def as_data(self) -> dict[str, Any]:
        return {
            "op": "fill_bank",
            "content": f"{len(self.examples)} examples, {self.nearest} shown to a task",
            "target": "",
            "nearest": self.nearest,
            "tasks": list(self.tasks),
            "source_type": self.source,
            "support_count": self.support,
            "merge_level": self.level,
        }

    def __str__(self) -> str:
        return f"bank: {len(self.examples)} examples more, the {self.nearest} nearest shown to each task"


@dataclass(frozen=True, slots=True)
class AddNote:
    """A reminder put into the appendix."""

    note: str
    source: Source = "failure"
    support: int = 1
    level: int = 0

    def as_data(self) -> dict[str, Any]:
        return {
            "op": "add_note",
            "content": self.note,
            "target": "",
            "source_type": self.source,
            "support_count": self.support,
            "merge_level": self.level,
        }

    def __str__(self) -> str:
        return f"reminder: {self.note}"


Item = Edit | Suggestion | Draft | AddExample | FillBank | AddNote


def tasks_of(item: Item) -> tuple[str, ...]:
    """The train tasks whose answers an item brings along."""
    return (item.task,) if isinstance(item, AddExample) else item.tasks if isinstance(item, FillBank) else ()


def stamped(item: Item, *, source: Source | None = None, support: int | None = None, level: int | None = None) -> Item:
    """The same item with another origin."""
    return replace(
        item,
        source=item.source if source is None else source,
        support=item.support if support is None else support,
        level=item.level if level is None else level,
    )


@dataclass(frozen=True, slots=True)
class Pattern:
    """A way of failing, with the tasks that failed so."""

    kind: str
    description: str
    tasks: tuple[str, ...]

    def as_data(self) -> dict[str, Any]:
        return {
            "failure_type": self.kind,
            "count": len(self.tasks),
            "description": self.description,
            "tasks": list(self.tasks),
        }


@dataclass(frozen=True, slots=True)
class Patch:
    """What one analyst, or one merge, proposes. `trouble` says why a reply was not used, or not all of it."""

    source: Source
    items: tuple[Item, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    notes: tuple[str, ...] = ()
    reasoning: str = ""
    size: int = 0
    trouble: tuple[str, ...] = ()
    name: str = ""
    """Which minibatch it comes from."""

    def as_data(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "source_type": self.source,
            "batch_size": self.size,
            "reasoning": self.reasoning,
            "items": [item.as_data() for item in self.items],
            "failure_summary": [pattern.as_data() for pattern in self.patterns],
            "appendix_notes": list(self.notes),
            "trouble": list(self.trouble),
        }


@dataclass(frozen=True, slots=True)
class Batch:
    """One micro-batch of a step, rolled out."""

    index: int
    seed: int
    rollouts: tuple[Rollout, ...]
    planned: int

    @property
    def failed(self) -> tuple[Rollout, ...]:
        return tuple(rollout for rollout in self.rollouts if rollout.score is not None and not rollout.score.hard)

    @property
    def solved(self) -> tuple[Rollout, ...]:
        return tuple(rollout for rollout in self.rollouts if rollout.score is not None and rollout.score.hard)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the current playbook did on the train tasks of a step."""

    batches: tuple[Batch, ...]

    @property
    def rollouts(self) -> tuple[Rollout, ...]:
        return tuple(rollout for batch in self.batches for rollout in batch.rollouts)

    def mean(self, metric: Literal["hard", "soft"]) -> float | None:
        scores = [rollout.score for rollout in self.rollouts if rollout.score is not None]
        return sum(getattr(score, metric) for score in scores) / len(scores) if scores else None


@dataclass(frozen=True, slots=True)
class EditOutcome:
    """What became of one item: `status` begins with 'applied_' or 'skipped_'."""

    item: Item
    status: str
    detail: str = ""

    @property
    def applied(self) -> bool:
        return self.status.startswith("applied_")

    def row(self, index: int) -> dict[str, Any]:
        data = self.item.as_data()
        preview = str(data.get("content", data.get("instruction", data.get("new_skill", ""))))
        return {
            "index": index,
            "op": data.get("op", type(self.item).__name__.lower()),
            "target": str(data.get("target", ""))[:PREVIEW],
            "content_preview": preview[:PREVIEW],
            "status": self.status,
            **({"detail": self.detail} if self.detail else {}),
        }


@dataclass(frozen=True, slots=True)
class EditSelection:
    """What the select stage kept. `budget` None: no limit."""

    items: tuple[Item, ...]
    budget: int | None
    available: int
    ranking: Mapping[str, Any] = field(default_factory=dict)
    decision: Mapping[str, Any] | None = None
    """The optimiser's own choice of the budget, where it chooses."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A playbook to be judged, with the items in it and what became of those that are not."""

    playbook: Playbook
    rows: tuple[EditOutcome, ...] = ()
    summary: tuple[str, ...] = ()
    """What a rewriter says it changed."""
    trouble: tuple[str, ...] = ()
    whole: bool = False
    """Whether it is more than its items applied one by one, and so cannot be taken apart."""

    @property
    def items(self) -> tuple[Item, ...]:
        return tuple(row.item for row in self.rows if row.applied)
