"""The contract of an environment: tasks by index, and a play that tells one attempt as a generator without I/O.

    class Sums(Environment):
        def play(self, task):
            reply = yield from ask(task.messages)
            return solved() if reply.text.strip() == task.truth else failed("wrong")

Whoever drives the play does the work it yields: the async engine, a trainer's lock step, a replay, or a test (`drive`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, Self, cast, runtime_checkable

from whet.envs.feedback import plain_feedback
from whet.envs.language import RuleLanguage
from whet.errors import WhetError
from whet.types import (
    Ask,
    Feedback,
    Label,
    Message,
    Reply,
    Role,
    Rollout,
    Rule,
    RuleSlot,
    Score,
    Shape,
    Split,
    Task,
    ToolSpec,
    Work,
    WorkResult,
    tool_result,
    user,
)

Play = Generator[Ask | Work, Any, Score]

Messages = tuple[Message, ...]

Baseline = Callable[[Task, Messages], "Reply | str"]
"""A policy that an environment offers for reference: sees the task (truth included) and what was said so far."""


class ComputedFingerprint:
    """Stands where an environment sets no fingerprint: computed when it is first asked for, then kept."""

    def __get__(self, env: Any, owner: type) -> str:
        if env is None:
            raise AttributeError(f"{owner.__name__} has a fingerprint when it is built, with its arguments")
        from whet.envs.fingerprint import computed

        found: str = env.__dict__.setdefault("fingerprint", computed(env))
        return found


def _as_given(value: Any) -> Any:
    """Arguments as they are at this moment: what `__init__` takes out of a list or a dictionary stays in here."""
    if isinstance(value, dict):
        return {key: _as_given(item) for key, item in value.items()}
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return type(value)(map(_as_given, value))
    return set(value) if isinstance(value, set) else value


@runtime_checkable
class Environment(Protocol):
    """Tasks that a program can check. Subclass it; the methods with a body are optional."""

    name: str
    fingerprint: str = cast(str, ComputedFingerprint())
    """Of its code, its arguments and its data: part of every key, so a changed environment is another one.

    Where it is not set, it is computed from the class and what it was built with (`whet.envs.fingerprint`).
    """
    about: str = ""
    judge: str = ""
    """Where grading asks a judge: the only model whose agreement with given labels was measured; '': any."""
    chooses: bool = False
    """Whether every answer is one of a few choices, which `verdict` reads: only such answers can be voted on."""
    tie: str = ""
    """The verdict that a tied vote goes to; '': the one of those tied that was drawn first."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        made = super().__new__(cls)
        made.__dict__["_built_with"] = _as_given((args, kwargs))
        return made

    def __getstate__(self) -> object:
        """What travels to another process: the fingerprint, and not what it was computed from."""
        held = super().__getstate__()
        state, slots = held if isinstance(held, tuple) else (held, None)
        state = {**(state or {}), "fingerprint": self.fingerprint}
        state.pop("_built_with", None)
        return (state, slots) if slots else state

    def size(self, split: Split) -> int | None:
        """How many tasks a split has; None: unbounded."""
        ...

    def label(self, split: Split, index: int) -> Label:
        """Kind and difficulty without building the task: samplers stratify on it."""
        ...

    def task(self, split: Split, index: int) -> Task:
        """Pure: the same arguments give the same bytes anywhere."""
        ...

    def play(self, task: Task) -> Play:
        """One attempt. Calls no model, reads no clock, touches no network; total: any replies give a score."""
        ...

    def baselines(self) -> Mapping[str, Baseline]:
        """Reference policies by name; `oracle`, where there is one, earns full credit on every task."""
        return {}

    def feedback(self, task: Task, rollout: Rollout) -> Feedback:
        """What a learner is told of an attempt at a train task: what was expected, what came, why it failed.

        Pure. By default the truth as it is written down, the last words of the attempt, the score's reason, and what a
        judge said.
        """
        return plain_feedback(task, rollout)

    def verdict(self, task: Task, rollout: Rollout) -> str | None:
        """The choice that an attempt made, None where none can be read. Pure, and blind to what is right."""
        raise WhetError(f"{self.name}: an answer is no choice, so there is no verdict to read")

    def right(self, task: Task) -> str:
        """The choice that is right, for whoever learns from a train task."""
        raise WhetError(f"{self.name}: an answer is no choice, so none is the right one")

    def rule_language(self, task: Task) -> RuleLanguage | None:
        """How rules for tasks of this one's mission are written and run; None: only by the words of the prompts."""
        return None

    def rule_book(self, task: Task) -> Sequence[Rule]:
        """The rules that tasks of this one's mission start from, as their prompts have them; none where there are none.

        A rule book in a playbook takes their place in the prompt.
        """
        return ()

    def prompts(self) -> Mapping[str, str]:
        """Prompts for an optimiser that know more of these tasks than those that come along, by their names."""
        return {}

    def group(self, split: Split, index: int) -> str:
        """What a task belongs to (a customer, a document): none of it is shown the answer to another; '': nothing."""
        return ""

    def blob(self, sha256: str) -> bytes:
        """The bytes of an image that a message names."""
        raise KeyError(sha256)

    def content(self, split: Split, index: int) -> Any:
        """What a test is known again by: what a task asks, without the words that a config puts around it."""
        task = self.task(split, index)
        return task.messages, task.data

    def standing(self) -> str:
        """What its own references reach on a sample, in a line, measured when asked for; '' where there is none."""
        return ""

    def warning(self, split: Split) -> str:
        """What whoever reads a score on a split must know about its tasks, in a line; '' where there is nothing."""
        return ""


def ask(
    messages: Sequence[Message],
    *,
    tools: Sequence[ToolSpec] = (),
    role: Role = "target",
    narrow: Mapping[str, Any] | None = None,
    shape: Shape = Shape(),
    must_call: bool = False,
    corrections: int = 2,
    files: Mapping[str, str] | None = None,
    rules: Sequence[RuleSlot] = (),
) -> Generator[Ask, Reply, Reply]:
    """Ask for a reply. A malformed tool call is never executed: the model is told what was wrong, `corrections` times.

    The reply returned may still be malformed; `reply.malformed` says so, and `reply.calls` then must not be run.
    """
    asked = Ask(
        tuple(messages), tuple(tools), role, dict(narrow or {}), shape, must_call, dict(files or {}), tuple(rules)
    )
    reply = yield asked
    for _ in range(corrections):
        if not reply.malformed:
            break
        reply = yield replace(asked, messages=complaints(reply))
    return reply


def complaints(reply: Reply) -> tuple[Message, ...]:
    """What the model is told about its malformed calls; sound calls beside them were not run and are told so."""
    told = [
        tool_result(bad, f"Error: {bad.problem}") if bad.id else user(f"Error: {bad.problem}")
        for bad in reply.malformed
    ]
    held = "Not run: another call in the same message was malformed. Send it again."
    return (*(tool_result(call, held) for call in reply.calls), *told)


def work(job: Work) -> Generator[Work, WorkResult, WorkResult]:
    """Have a job done by whoever drives the play."""
    return (yield job)


def call(function: str, /, *, deadline: float = 30.0, pool: str = "thread", **arguments: Any) -> Work:
    """A work that calls an importable function (`"package.module:name"`) in a thread or a process pool."""
    return Work("call", {"function": function, "arguments": arguments, "pool": pool}, deadline)


PATIENCE = 300.0
"""Seconds a work may wait for a worker beside its own time, which begins when its function does."""


def killable(
    function: str, /, *, seconds: float, prepare: tuple[str, Mapping[str, Any]] | None = None, **arguments: Any
) -> Work:
    """A work that calls an importable function where it can be killed: a user's check, a search that may backtrack.

    Plain data goes in and comes out; a function of a file that was given by its path is found by that file's
    `__name__`. Beside what the function gives, the result may be `raised`, `hung` (killed after `seconds`) or `ended`
    (it left by `SystemExit`, or took its process down). `prepare` is called once before, outside that time.
    """
    payload = {"function": function, "arguments": arguments, "seconds": seconds, "prepare": prepare}
    return Work("killable", payload, seconds + PATIENCE)


def stratify(
    labels: Iterable[tuple[int, Label]],
) -> dict[tuple[str, str], list[int]]:
    """Indices by (kind, difficulty), each in the order given."""
    strata: dict[tuple[str, str], list[int]] = {}
    for index, label in labels:
        strata.setdefault((label.kind, label.difficulty), []).append(index)
    return strata
