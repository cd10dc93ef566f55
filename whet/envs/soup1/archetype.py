"""What a family of tasks is made of: an archetype draws a `TaskDraft`, from which the page and the task are built.

A draft is cheap and holds everything that makes the task this task; the page around it is filler. No draft is parsed:
the author chooses the answer first and writes the markup around it, so that the answer is unique by construction.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from whet.envs.soup1.answers import AnswerKind

Difficulty = Literal["primer", "easy", "medium", "hard"]

Size = Literal["bare", "small", "large"]
"""`bare`: the parts and nothing else; `small`: 1 to 4 kB; `large`: 50 to 110 kB."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One page before it is built: `parts` stand in this order in the main column, with filler between them."""

    parts: tuple[str, ...]
    title: str = ""
    head: str = ""
    """Markup at the end of the head."""
    tail: str = ""
    """Markup before the end of the body."""


@dataclass(frozen=True, slots=True)
class Limit:
    """Why a task cannot be solved from its page, and what in the page shows it.

    Evidence counts when it is a verbatim piece of the page that holds one of `marks`. A mark is a text of at least
    eight characters that stands in this page once, in the fragment that shows why.
    """

    reasons: tuple[str, ...]
    marks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TaskDraft:
    """What an archetype drew: the question, its answer, and the markup that decides it."""

    query: str
    answer: Any
    """The truth, of the archetype's kind; None in a draft with a `limit`."""
    sheet: Sheet
    code: tuple[str, ...]
    """The oracle: BeautifulSoup programs, one for each page it reads. See `soup/oracle.py`."""
    pages: Mapping[str, Sheet] = field(default_factory=dict)
    """Pages that `navigate` leads to, by href."""
    visits: int = 1
    """How many pages must be read to solve it: calls up to that many cost nothing."""
    secrets: tuple[str, ...] = ()
    """Values in the page that an answer must not give away."""
    limit: Limit | None = None
    twin: TaskDraft | None = None
    """For a draft with a `limit`: the same query on a page that answers it."""

    @property
    def content(self) -> str:
        """What the task is, filler apart: it decides which split the task belongs to."""
        own = "\x1f".join((self.query, *self.sheet.parts, self.sheet.head, self.sheet.tail))
        others = "\x1f".join("\x1f".join((href, *sheet.parts)) for href, sheet in self.pages.items())
        return f"{own}\x1e{others}\x1e{self.twin.content if self.twin else ''}"


@dataclass(frozen=True, slots=True)
class Archetype:
    """A kind of task. `phase` 1 is the core of the benchmark, 2 its harder half."""

    name: str
    """`family.name`."""
    difficulty: Difficulty
    phase: Literal[1, 2]
    answer: AnswerKind
    draw: Callable[[random.Random], TaskDraft]
    size: Size = "large"
    malformed: float = 0.0
    """How often the page is damaged, in ways that change no answer."""

    @property
    def family(self) -> str:
        return self.name.partition(".")[0]

    @property
    def limits(self) -> bool:
        """Whether its drafts have a limit, each with a twin."""
        return self.family == "limit"

    @property
    def about(self) -> str:
        return (self.draw.__doc__ or "").strip().splitlines()[0]


def archetype(
    difficulty: Difficulty,
    phase: Literal[1, 2],
    answer: AnswerKind,
    *,
    size: Size = "large",
    malformed: float = 0.0,
) -> Callable[[Callable[[random.Random], TaskDraft]], Archetype]:
    """Makes a drawing function the archetype of its name, in the family that its module is."""

    def made(draw: Callable[[random.Random], TaskDraft]) -> Archetype:
        family = draw.__module__.rpartition(".")[2]
        return Archetype(f"{family}.{draw.__name__}", difficulty, phase, answer, draw, size, malformed)

    return made
