"""What a check is: it takes its part of the truth from a row, and grades an answer against it."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from whet.envs.arguments import Argument
from whet.envs.data.reply import Form, write_answer
from whet.envs.data.template import cell
from whet.envs.feedback import judged, reason, written
from whet.errors import WhetError
from whet.types import Ask, Feedback, Message, Reply, Rollout, Score, Shape, Task, Work, failed, user

Grading = Generator[Ask | Work, Any, Score]

SEPARATOR = Argument("separator", str, "", "what stands between several accepted answers in one cell, such as '|'")
THRESHOLD = Argument("threshold", float, 1.0, "credit from which a task counts as solved")
TOLERANCE = Argument("tolerance", float, 0.0, "how far a number may be off")
RELATIVE = Argument("relative", float, 0.0, "how far a number may be off, as a share of the right one")


class AnswerCheck:
    """One way to grade. A subclass that needs no work defines `score`; one that does, `grade`."""

    takes: ClassVar[tuple[Argument, ...]] = ()
    """Its own arguments, beside those of every `data` environment."""
    needs_answer: ClassVar[bool] = True
    constrain: bool = False
    """Whether replies are held to the shape; then only the beginning of a free reply is read."""
    home: Path = Path()
    """The folder that the data lies in."""
    chooses: ClassVar[bool] = False
    """Whether every answer is one of a few choices; then it has `verdict` and `right`."""
    judge: str = ""
    """The model whose agreement was measured, for a check that asks one."""

    def __init__(self, answer: str | None, columns: Sequence[str], own: Mapping[str, Any]) -> None:
        self.answer = answer
        self.columns = columns
        self.own = {argument.name: argument.default for argument in self.takes} | dict(own)

    @property
    def hidden(self) -> frozenset[str]:
        """Columns that hold the truth: no prompt may show them."""
        return frozenset([self.answer] if self.answer is not None else [])

    @property
    def shows(self) -> tuple[str, ...]:
        """Columns that it shows beside the prompt."""
        return ()

    @property
    def optional_fields(self) -> tuple[str, ...]:
        """Columns that a prompt nobody wrote shows after the question."""
        return ()

    def stratum(self, truth: Any) -> str:
        """By what splits are stratified beside the label: classes that a truth belongs to."""
        return ""

    @property
    def made_of(self) -> Any:
        """What the grade depends on beyond the arguments and the data: the content of files, say."""
        return ""

    def instruction(self) -> str:
        """What a prompt that nobody wrote tells about the form of the answer."""
        return ""

    def shown(self, row: Mapping[str, Any]) -> Mapping[str, str]:
        """Cells that a prompt displays in a form of their own."""
        return {}

    def shape(self, row: Mapping[str, Any], place: str) -> Shape | None:
        """What a reply to a row can look like at all, as `whet.envs.data.forms` writes it; None: like anything."""
        return None

    def data(self, row: Mapping[str, Any], place: str) -> dict[str, Any]:
        """What the play of a row needs beside its messages, and the policy may know."""
        return {}

    def play(self, task: Task) -> Grading | None:
        """An attempt of more than one answer, for a check that has its own; None: one question, one reply."""
        return None

    def oracle_reply(self, truth: Any, form: Form) -> Reply | str:
        """What an oracle replies."""
        return write_answer(self.oracle(truth) or "", form)

    def messages(self, row: Mapping[str, Any], prompt: str) -> tuple[Message, ...]:
        """What is asked about a row, without its images."""
        return (user(prompt),)

    def truth(self, row: Mapping[str, Any], place: str) -> Any:
        """What the grader knows about a row, as plain data; a `WhetError` where the row is not fit."""
        return accepted(row, self.answer, str(self.own.get("separator", "")), place)

    def oracle(self, truth: Any) -> str | None:
        """An answer that earns full credit; None where the truth holds none."""
        return str(truth[0])

    def expected(self, truth: Any) -> str:
        """The right answer for a person to read; '' where the check knows none."""
        return written(truth)

    def feedback(self, task: Task, rollout: Rollout, said: str) -> Feedback:
        """What a learner is told of an answer to a train task; `said` is what was read from the reply."""
        return Feedback(self.expected(task.truth), said, reason(rollout), judged(rollout))

    def verdict(self, truth: Any, said: str) -> str | None:
        """The choice that an answer names; None where it names none, or several. What is right is not looked at."""
        raise NotImplementedError

    def right(self, truth: Any) -> str:
        """The choice that is right."""
        raise NotImplementedError

    def score(self, truth: Any, said: str) -> Score:
        raise NotImplementedError

    def grade(self, task: Task, said: str) -> Grading:
        """The grade of what was read from a reply."""
        yield from ()
        return self.score(task.truth, said) if said.strip() else failed("no_answer", "nothing to read in the reply")


def accepted(row: Mapping[str, Any], column: str | None, separator: str, place: str) -> list[str]:
    """The answers in a cell, any of which is right."""
    assert column is not None
    value = row.get(column)
    parts = value if isinstance(value, list) else cell(value).split(separator) if separator else [value]
    answers = [cell(part).strip() for part in parts]
    if not answers or not all(answers):
        raise WhetError(f"{place}, column {column!r}: there is no answer")
    return answers


def graded(soft: float, said: str, threshold: float = 1.0, **parts: float) -> Score:
    """A score from credit in [0, 1]."""
    hard = int(soft >= threshold - 1e-9)
    reason = "correct" if hard else "partial" if soft > 0.0 else "wrong"
    return Score(hard, soft, soft, parts, reason, f"read as {said[:80]!r}")
