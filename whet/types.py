"""The records that cross the walls between rooms: frozen, slotted, plain data.

Nothing here acts. A record is compared by value, hashed by content (`whet.keys`) and written to the ledger as JSON
(`whet.wire`). Mappings inside a record are treated as read-only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any, Literal, get_args

Split = Literal["train", "select", "test"]
"""Evidence to learn from, tasks for the gate, and the sealed end: see `docs/architecture.md`."""

SPLITS: tuple[Split, ...] = get_args(Split)

Role = Literal["target", "optimizer", "judge"]
"""Who is asked: the policy under study, the model that proposes changes, the model that applies a rubric."""

Author = Literal["system", "user", "assistant", "tool"]

Finish = Literal["stop", "length", "tool_calls", "filter"]
"""Why a reply ended. `length`: it was cut off by the token limit."""

MalformedKind = Literal["cut_off", "raw_code", "bad_escape", "bad_json", "prose", "unknown_tool", "bad_arguments"]
"""How a tool call was broken; each is counted apart, because each has another remedy."""


def _plain(text: str) -> str:
    """A text as HTML: nothing in it is a tag, and what cannot be seen is spelled out."""
    seen = (letter if letter.isprintable() or letter in "\n\t" else repr(letter)[1:-1] for letter in text[:20_000])
    return escape("".join(seen))


def _pre(text: str) -> str:
    return f'<pre dir="auto" style="white-space:pre-wrap">{_plain(text)}</pre>'


# --------------------------------------------------------------------------------------------- conversation


@dataclass(frozen=True, slots=True)
class Image:
    """An image inside a message, named by the SHA-256 of its bytes; `Environment.blob` returns the bytes."""

    sha256: str
    media_type: str = "image/png"


Content = str | tuple["str | Image", ...]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A function that a model may call; `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A well-formed call. `raw` is the argument text exactly as the model wrote it."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    raw: str = ""


@dataclass(frozen=True, slots=True)
class MalformedCall:
    """A call that could not be read. It is never repaired and never executed; `problem` is told to the model."""

    id: str
    name: str
    raw: str
    kind: MalformedKind
    problem: str


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of a conversation. `calls` belong to an assistant, `call_id` to the tool result that answers one.

    `malformed` keeps broken calls in an assistant message, so that the conversation sent back is what the model wrote.
    """

    author: Author
    content: Content
    calls: tuple[ToolCall, ...] = ()
    malformed: tuple[MalformedCall, ...] = ()
    call_id: str = ""

    @property
    def text(self) -> str:
        """The text parts, joined."""
        if isinstance(self.content, str):
            return self.content
        return "".join(part for part in self.content if isinstance(part, str))


def system(content: Content) -> Message:
    return Message("system", content)


def user(content: Content) -> Message:
    return Message("user", content)


def assistant(content: Content) -> Message:
    return Message("assistant", content)


def tool_result(call: ToolCall | MalformedCall, content: Content) -> Message:
    """The message that answers `call`."""
    return Message("tool", content, call_id=call.id)


# --------------------------------------------------------------------------------------------- tasks


@dataclass(frozen=True, slots=True)
class Label:
    """What kind of task it is and how hard; cheap to know without building the task."""

    kind: str
    difficulty: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to do. `truth` is what the grader knows and the policy must not; `data` is for the play alone."""

    split: Split
    index: int
    label: Label
    messages: tuple[Message, ...]
    truth: Any = None
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"{self.split}/{self.index}"


# --------------------------------------------------------------------------------------------- policies


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a reply is drawn. `None` leaves a value to the model's own default."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int = 1024
    seed: int | None = None
    stop: tuple[str, ...] = ()
    logprobs: int | None = None
    """Top alternatives to report for each token; 0 reports the chosen token alone."""
    effort: Literal["none", "minimal", "low", "medium", "high"] | None = None
    votes: int = 1
    """Draws of which an answer is the majority, where the answer is a choice; see `whet.rollout.votes`."""
    until_settled: bool = False
    """Whether a vote ends as soon as no further draw could change it."""


ShapeForm = Literal["schema", "grammar", "none"]
"""How a model is held to a shape that comes in two forms; `none`: not at all."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What a reply must look like: a JSON schema or a GBNF grammar, enforced by the model's own decoder.

    Both together are a wish: a model keeps to the one that it can, or answers freely where it can neither, and whoever
    asked reads all three. One alone is a demand, which a model that cannot keep to it refuses.
    """

    schema: Mapping[str, Any] | None = None
    grammar: str | None = None

    def kept(self, form: ShapeForm) -> Shape:
        """What a model that keeps to `form` is held to."""
        if self.schema is None or self.grammar is None:
            return self
        return {"schema": Shape(schema=self.schema), "grammar": Shape(grammar=self.grammar), "none": Shape()}[form]


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example: what was asked, what was said and called on the way, and what a good answer looks like.

    `kin` names the questions (`whet.keys.question_digest`) of the tasks that belong to its own group: from a bank, it
    is never shown to one of them.
    """

    question: str
    answer: str
    steps: tuple[Message, ...] = ()
    kin: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """The steps and the answer as one text, for whoever reads it as such."""
        return "\n".join((*map(_step, self.steps), self.answer))


def _step(message: Message) -> str:
    calls = [f"[call {call.name} {json.dumps(dict(call.arguments), ensure_ascii=False)}]" for call in message.calls]
    text = f"[result] {message.text}" if message.author == "tool" else message.text
    return "\n".join(part for part in (text, *calls) if part)


RuleStatus = Literal["proposed", "shadow", "active", "retired"]
"""A rule is proposed, stands in the book without being told (`shadow`), is told, and is told no more."""

RuleSort = Literal["S", "G0", "G"]
"""Structural rules, the checklist, and rules that are learnt."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a rule book. `created` and `retired` are steps; `parent` is the rule that it took the place of.

    `evidence` are ids of train tasks. `predicate` is the condition on which the rule decides, as data in the language
    of an environment, where there is one: it can be measured on which tasks such a rule fires.
    """

    id: str
    text: str
    scope: str = ""
    evidence: tuple[str, ...] = ()
    parent: str = ""
    status: RuleStatus = "active"
    created: int = 0
    retired: int | None = None
    predicate: Mapping[str, Any] | None = None

    @property
    def sort(self) -> RuleSort:
        return "S" if self.id.startswith("S") else "G0" if self.id == "G0" else "G"


@dataclass(frozen=True, slots=True)
class RuleSlot:
    """Where an environment's prompt has rules of a sort: the part of its last message that a rule book replaces.

    `before` and `after` are written around what is put there, such as a heading that an empty list does without.
    """

    sort: RuleSort
    start: int
    end: int
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Playbook:
    """What a policy works from. The driver places it: the text as system text, examples as turns before the task.

    Each part is a field of its own, so that no edit of one can damage another: `body` is the skill, `hindsight` what
    comparing epochs has taught, `reminders` short lines at its end, `files` what lies beside it. `examples` stand
    before every task; of the `bank`, each task gets the `nearest` that are most like it. `rules` are a rule book, whose
    active rules the driver places where the task's own message has its rules.
    """

    body: str = ""
    examples: tuple[Example, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    hindsight: str = ""
    reminders: tuple[str, ...] = ()
    bank: tuple[Example, ...] = ()
    nearest: int = 0
    rules: tuple[Rule, ...] = ()

    @property
    def blank(self) -> bool:
        parts = (self.body, self.examples, self.files, self.hindsight, self.reminders, self.bank, self.rules)
        return not any(parts)

    @property
    def told(self) -> tuple[Rule, ...]:
        """The rules that a policy is told."""
        return tuple(rule for rule in self.rules if rule.status == "active")

    @property
    def text(self) -> str:
        """Body, hindsight and reminders as one document."""
        reminders = "\n".join(f"- {reminder}" for reminder in self.reminders)
        headed = (
            self.body,
            self.hindsight and f"## Guidance\n\n{self.hindsight}",
            reminders and f"## Reminders\n\n{reminders}",
        )
        return "\n\n".join(part for part in headed if part)

    def __repr__(self) -> str:
        """Short: a playbook can be a book."""
        first = next(iter(self.body.splitlines()), "")[:60]
        bank = f", {self.nearest} of {len(self.bank)} nearest" if self.bank else ""
        rules = f", {len(self.told)} rules" if self.rules else ""
        return (
            f"<Playbook {first!r}, {len(self.text)} characters, {len(self.examples)} examples{bank}, "
            f"{len(self.files)} files{rules}>"
        )

    def _repr_html_(self) -> str:
        """For a notebook."""
        shown = [_pre(self.text)] if self.text else []
        shown += [f"<p>{_plain(rule.id)}: {_plain(rule.text)}</p>" for rule in self.told]
        worked = (*self.examples, *self.bank)
        shown += [f"<p>{_plain(example.question)}<br>→ {_plain(example.told)}</p>" for example in worked]
        return "".join(shown) or "<em>blank playbook</em>"


@dataclass(frozen=True, slots=True)
class Policy:
    """Who answers: a model (by fingerprint), how it samples, and the playbook it works from."""

    model: str
    sampling: Sampling = Sampling()
    playbook: Playbook = Playbook()


# --------------------------------------------------------------------------------------------- what a play yields


@dataclass(frozen=True, slots=True)
class Ask:
    """A play's request for a reply. `messages` are only the new ones: the driver owns the conversation.

    `narrow` overrides the policy's sampling where its fields are set. With `must_call`, an answer without a tool call
    counts as malformed (`prose`). `files` lie in the folder of a policy that has one, a coding agent; it works on them
    with tools of its own, and those of the play are not offered to it.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    role: Role = "target"
    narrow: Mapping[str, Any] = field(default_factory=dict)
    shape: Shape = Shape()
    must_call: bool = False
    files: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[RuleSlot, ...] = ()
    """Where the last message has rules that a rule book takes the place of; none: a book stands at its beginning."""


@dataclass(frozen=True, slots=True)
class Work:
    """A play's request for a computation, as data: `kind` names who performs it (`call`: an importable function).

    A work that outlasts `deadline` seconds comes back with `error = "deadline"`: the policy brought it about.
    """

    kind: str
    payload: Mapping[str, Any]
    deadline: float = 30.0


@dataclass(frozen=True, slots=True)
class WorkResult:
    """What a work returned, or in `error` a short stable code with `detail`."""

    value: Any = None
    error: str = ""
    detail: str = ""

    @property
    def ok(self) -> bool:
        return not self.error


@dataclass(frozen=True, slots=True)
class Usage:
    """What a reply cost. `usd` is None where no price is known."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    usd: float | None = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
            None if self.usd is None or other.usd is None else self.usd + other.usd,
        )

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


FILES_GONE, FILES_LEFT_OUT = "files_gone", "files_left_out"
"""Notes in the trace of an agent's reply: `names` of files that it took away, and of those that did not come back."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered. `version` is what the server says it is; the rest is empty unless asked for.

    `prompt_ids` are all tokens that were read before answering and `completion_ids` those that were drawn, an end
    token included; empty where the backend does not tell them.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()
    malformed: tuple[MalformedCall, ...] = ()
    finish: Finish = "stop"
    usage: Usage = Usage()
    version: str = ""
    reasoning: str = ""
    prompt_ids: tuple[int, ...] = ()
    completion_ids: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    trace: tuple[Mapping[str, Any], ...] = ()

    @property
    def truncated(self) -> bool:
        return self.finish == "length"

    def as_message(self) -> Message:
        """The reply as it stands in the conversation, verbatim."""
        return Message("assistant", self.text, self.calls, self.malformed)


# --------------------------------------------------------------------------------------------- outcomes


@dataclass(frozen=True, slots=True)
class Score:
    """How an attempt did. Everything the policy brought about is a score, a broken attempt included.

    `hard`: solved (1) or not (0). `soft`: credit in [0, 1]; 1 is *perfect*. `reward`: what RL maximises.
    `reason`: a short stable code; `detail` says it for a person.
    """

    hard: int
    soft: float
    reward: float
    parts: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    detail: str = ""


def solved(reason: str = "correct", **parts: float) -> Score:
    """Full credit."""
    return Score(1, 1.0, 1.0, parts, reason)


def failed(reason: str, detail: str = "", **parts: float) -> Score:
    """No credit, with the reason."""
    return Score(0, 0.0, 0.0, parts, reason, detail)


@dataclass(frozen=True, slots=True)
class Feedback:
    """An environment's own word on an attempt at a train task, for whoever learns from it.

    `expected` and `got` are what should have come and what came, `why` says what is wrong, and `evidence` is what shows
    it: a judge's sentence, a failing assertion, the output of a tool. Empty where there is nothing to say.
    """

    expected: str = ""
    got: str = ""
    why: str = ""
    evidence: str = ""
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class Fault:
    """What the service or the host did to an attempt: no evidence about the policy. Recorded, and redone on request."""

    kind: str
    where: str
    message: str
    attempts: int = 1

    def __str__(self) -> str:
        tries = f" after {self.attempts} attempts" if self.attempts > 1 else ""
        return f"{self.kind} at {self.where}{tries}: {self.message}"


@dataclass(frozen=True, slots=True)
class Ticket:
    """A planned rollout: which task, which draw, for what purpose. A plan is a list of tickets in a fixed order."""

    purpose: str
    split: Split
    index: int
    draw: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """One exchange of a play: what was newly said to the model (or another role), and what it answered.

    `tools` are those offered, None where they are the same as in the turn before. As tokens, the model read the first
    `kept` ids of what this role's turns had come to, then `prompt_ids`, and drew `reply.completion_ids`; the reply in a
    turn holds no prompt of its own.
    """

    role: Role
    messages: tuple[Message, ...]
    reply: Reply
    tools: tuple[ToolSpec, ...] | None = None
    prompt_ids: tuple[int, ...] = ()
    kept: int = 0


@dataclass(frozen=True, slots=True)
class Rollout:
    """One attempt, graded. `outcome` is a Score, or a Fault when the service gave out.

    `policy` is the digest of the policy that answered, whose playbook stood before the first turn; `request` is the
    hash of the first request; `seconds` is wall time.
    """

    ticket: Ticket
    label: Label
    key: str
    request: str
    policy: str
    turns: tuple[Turn, ...]
    outcome: Score | Fault
    usage: Usage = Usage()
    seconds: float = 0.0

    def __repr__(self) -> str:
        """Short: a transcript can be megabytes."""
        ticket, score = self.ticket, self.score
        how = f"{'solved' if score.hard else 'not solved'}, {score.reason}" if score else str(self.outcome)
        return f"<Rollout {ticket.split}/{ticket.index} draw {ticket.draw} for {ticket.purpose}: {how[:120]}>"

    def _repr_html_(self) -> str:
        """For a notebook: what was said, and how it was graded."""
        said = [message for turn in self.turns for message in (*turn.messages, turn.reply.as_message())]
        shown = "".join(f"<p><b>{message.author}</b></p>{_pre(message.text)}" for message in said)
        return f"<p><b>{_plain(repr(self)[1:-1])}</b></p>{shown}"

    @property
    def score(self) -> Score | None:
        return self.outcome if isinstance(self.outcome, Score) else None

    @property
    def truncated(self) -> bool:
        return any(turn.reply.truncated for turn in self.turns if turn.role == "target")

    @property
    def malformed(self) -> tuple[MalformedCall, ...]:
        return tuple(bad for turn in self.turns if turn.role == "target" for bad in turn.reply.malformed)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A rollout without its transcript: what the numbers are made of. With a `fault`, the score fields are zero."""

    ticket: Ticket
    label: Label
    hard: int
    soft: float
    reward: float
    reason: str
    fault: str = ""
    truncated: bool = False
    malformed: tuple[MalformedKind, ...] = ()
    turns: int = 1
    usage: Usage = Usage()
    seconds: float = 0.0
    key: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)
