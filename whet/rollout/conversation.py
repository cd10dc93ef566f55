"""One attempt without I/O: what it needs next, and what came of that. Limits, seeds and placing live here once.

    conversation = Conversation(task, env.play(task), seats, key)
    while not isinstance(step := conversation.next(), Score | Fault):
        conversation.answer(...)          # a Reply to a Request, a WorkResult to a Work

The drivers differ only in who answers: the engine awaits models (`engine`), a trainer generates in batches
(`lockstep`), a test or a baseline calls a function (`drive`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import GeneratorType
from typing import Any

from whet.envs.base import Play
from whet.errors import FaultError, LimitReached, WhetError, broken_line
from whet.keys import digest
from whet.models.base import Request
from whet.rollout.placement import for_task, place, place_rules
from whet.rollout.player import Seat
from whet.types import Ask, Fault, Message, Reply, Role, Sampling, Score, Task, ToolSpec, Turn, Usage, Work, WorkResult
from whet.types import failed as failed_score

Answer = Reply | WorkResult | LimitReached | Fault
"""What a driver brings: a reply, or the limit that the policy overran; the result of a work; or a fault."""

ENDS = (Score, Fault)
"""How an attempt ends."""

STUBBORN = 3
"""How often a play may go on asking after it was told of a limit."""


@dataclass(frozen=True, slots=True)
class AttemptLimits:
    """Limits of one attempt. Overrunning a limit on turns or tokens is the policy's doing, and a score."""

    turns: int = 64
    tokens: int | None = None
    deadline: float = 900.0
    call_timeout: float = 600.0
    """Seconds for one reply, the model's own retries included."""


class Conversation:
    """The state of one attempt. `next` says what is needed, as often as it is asked; `answer` moves on."""

    __slots__ = (
        *("task", "key", "limits", "turns", "usage", "working", "error"),
        *("_play", "_seats", "_blob", "_said", "_ids", "_tools", "_unanswered", "_limits_told", "_request", "_step"),
    )

    def __init__(
        self,
        task: Task | None,
        play: Play,
        seats: Mapping[Role, Seat],
        key: str = "",
        *,
        limits: AttemptLimits = AttemptLimits(),
        blob: Callable[[str], bytes] | None = None,
    ) -> None:
        """Runs the play up to what it first needs, which costs nothing and shows what would be asked."""
        self.task = task
        self.key = key
        self.limits = limits
        self.turns: list[Turn] = []
        self.usage = Usage()
        self.working = 0.0
        """Seconds spent in the attempt's own works."""
        self.error: BaseException | None = None
        """What the environment's own code raised, where that ended the attempt."""
        self._play = play
        self._seats = seats
        self._blob = blob
        self._said: dict[Role, list[Message]] = {}
        self._ids: dict[Role, tuple[int, ...]] = {}
        self._tools: dict[Role, tuple[ToolSpec, ...]] = {}
        self._unanswered: tuple[Role, int] | None = None
        """Whose messages the request under way added, and how many had been said before."""
        self._limits_told = 0
        self._request: Request | None = None
        self._step: Ask | Work | Score | Fault
        if isinstance(play, GeneratorType):
            self._move(play.__next__)
        else:
            self._step = _unplayable(f"must be a generator, this one returned {_kind(play)} without a yield")

    # ------------------------------------------------------------------------------------------- what is needed

    def next(self) -> Request | Work | Score | Fault:
        """What the attempt needs now, or how it ended."""
        while isinstance(self._step, Ask):
            if self._request is None:
                overrun = self._overrun()
                if overrun is not None:
                    self._tell(overrun)
                    continue
                try:
                    self._request = self._asked(self._step)
                except WhetError:
                    raise
                except Exception as error:  # noqa: BLE001 - what the environment asked for cannot be asked
                    self.error = error
                    self._end(defect(error))
                    continue
            return self._request
        return self._step

    @property
    def pending(self) -> Ask | Work | Score | Fault:
        """What the play yielded, before it is made into a request."""
        return self._step

    def request_hash(self) -> str:
        """What the first request would be: compared on replay, so that a changed prompt is noticed.

        A model that places the playbook itself gets the same content in another form, and so the same hash.
        """
        first = self._step
        if not isinstance(first, Ask):
            return digest("work", first)
        opening = place(self._seats["target"].policy.playbook, first.messages)
        files = (dict(first.files),) if first.files else ()
        return digest(opening, first.tools, dict(first.narrow), first.shape, first.must_call, *files)

    # ------------------------------------------------------------------------------------------- what came

    def answer(self, came: Answer, seconds: float = 0.0) -> None:
        """Hand over what `next` asked for; `seconds` is how long a work took."""
        if isinstance(came, Reply):
            self._keep(came)
            self._move(self._play.send, came)
        elif isinstance(came, WorkResult):
            self.working += seconds
            self._move(self._play.send, came)
        elif isinstance(came, LimitReached):
            self._take_back()
            self._tell(came)
        elif isinstance(came, Fault):
            self._end(came)
        else:
            raise TypeError(f"a driver brought {type(came).__name__}, which answers neither a request nor a work")
        if self.working > self.limits.deadline and not isinstance(self._step, ENDS):
            self._end(self.out_of_time(self.working))

    def out_of_time(self, spent: float) -> Score | Fault:
        """How an attempt ends whose time is up: its own doing where its works took most of it."""
        if self.working > spent / 2:
            return failed_score("deadline", f"{self.working:.1f} s of {spent:.1f} s in its own calls")
        return Fault("timeout", "attempt", f"not finished within {self.limits.deadline:g} s")

    def close(self) -> None:
        """Lets go of the play. What was said stays, and how it ended: whatever the play makes of being let go."""
        if not isinstance(self._play, GeneratorType):
            return
        try:
            self._play.close()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the environment's own code, which is over
            self.error = self.error or error

    # ------------------------------------------------------------------------------------------- the play

    def _move(self, step: Callable[..., Ask | Work], *came: Any) -> None:
        """Runs the play to its next need or its end. A `WhetError` is the user's to mend and passes through."""
        self._request = None
        try:
            self._step = step(*came)
            problem = _malformed(self._step)
            if problem:
                self._end(_unplayable(problem))
            else:
                self._step = self._with_rules(self._step)
        except StopIteration as end:
            self._step = _graded(end.value)
        except LimitReached as uncaught:
            self._step = failed_score(uncaught.reason, uncaught.detail)
        except FaultError as error:
            self._step = error.fault
        except WhetError:
            raise
        except (Exception, SystemExit, GeneratorExit) as error:  # noqa: BLE001 - the environment's own code: its defect
            self.error = error
            self._step = defect(error)

    def _with_rules(self, step: Ask | Work) -> Ask | Work:
        """The first question to the target with the rules of its playbook: they are part of what is asked."""
        seat = self._seats.get("target")
        if not isinstance(step, Ask) or step.role != "target" or self._said.get("target") or seat is None:
            return step
        if not seat.policy.playbook.rules:
            return step
        return replace(step, messages=place_rules(seat.policy.playbook, step.messages, step.rules))

    def _tell(self, limit: LimitReached) -> None:
        """The play hears of a limit at its `yield`; one that will not hear is ended."""
        self._limits_told += 1
        if self._limits_told > STUBBORN:
            self._end(failed_score(limit.reason, limit.detail))
        else:
            self._move(self._play.throw, limit)

    def _end(self, outcome: Score | Fault) -> None:
        self._request = None
        self._step = outcome
        self.close()

    # ------------------------------------------------------------------------------------------- one request

    def _overrun(self) -> LimitReached | None:
        limits = self.limits
        if len(self.turns) >= limits.turns:
            return LimitReached("turn_limit", f"{limits.turns} turns")
        if limits.tokens is not None and self.usage.completion_tokens >= limits.tokens:
            return LimitReached("token_limit", f"{limits.tokens} tokens")
        return None

    def _asked(self, ask: Ask) -> Request:
        seat = self._seats.get(ask.role)
        if seat is None:
            raise WhetError(f"the environment asks for a {ask.role}; name its model with --set {ask.role}.model=...")
        model, policy = seat.player.model, seat.policy
        said = self._said.setdefault(ask.role, [])
        own = ask.role == "target" and model.places_playbook
        opening = not said and ask.role == "target" and not own
        self._unanswered = (ask.role, len(said))
        said.extend(place(policy.playbook, ask.messages) if opening else ask.messages)
        return Request(
            tuple(said),
            _sampling(policy.sampling, ask.narrow, self.key, len(self.turns)),
            ask.tools,
            ask.shape,
            ask.must_call,
            self._blob,
            self.task if model.sees_task else None,
            for_task(policy.playbook, ask.messages) if own else None,
            self.key,
            ask.role,
            self._ids.get(ask.role, ()),
            ask.files,
        )

    def _take_back(self) -> None:
        """What a model did not take was not said: a play that asks for less is not sent it again."""
        if self._unanswered is not None:
            role, before = self._unanswered
            del self._said[role][before:]

    def _keep(self, reply: Reply) -> None:
        """The turn that a reply completes, with its tokens cut to what is new in them."""
        ask = self._step
        assert isinstance(ask, Ask), "a reply answers a request"
        self._unanswered = None
        role, prompt = ask.role, reply.prompt_ids
        tools = ask.tools if ask.tools != self._tools.get(role, ()) else None
        self._tools[role] = ask.tools
        kept = 0
        if prompt:
            kept = _shared(self._ids.get(role, ()), prompt)
            reply = replace(reply, prompt_ids=())
        self._ids[role] = (*prompt, *reply.completion_ids) if prompt else ()
        self.usage += reply.usage
        self.turns.append(Turn(role, ask.messages, reply, tools, prompt[kept:], kept))
        self._said[role].append(reply.as_message())


def _sampling(base: Sampling, narrow: Mapping[str, Any], key: str, turn: int) -> Sampling:
    """The sampling of one call: every draw and every turn has a seed of its own, fixed by the rollout's key."""
    seed = (int(key[:8] or "0", 16) + (base.seed or 0) + turn) & 0x7FFFFFFF
    if narrow:
        return replace(base, **{**narrow, "seed": seed})
    return Sampling(base.temperature, base.top_p, base.max_tokens, seed, base.stop, base.logprobs, base.effort)


def _shared(before: Sequence[int], prompt: Sequence[int]) -> int:
    """How many ids a prompt has in common, from the start, with what its role's turns had come to."""
    if tuple(prompt[: len(before)]) == tuple(before):
        return len(before)
    return next(place for place, (old, new) in enumerate(zip(before, (*prompt, None), strict=False)) if old != new)


def _graded(value: Any) -> Score | Fault:
    """The score that a play returned, in plain numbers: a check may well reckon in numpy's."""
    if not isinstance(value, Score):
        return _unplayable(f"must return a Score, this one returned {_kind(value)}")
    if type(value.hard) is int and _is_number(value.soft) and _is_number(value.reward) and not value.parts:
        return value
    told = {name: _plain(getattr(value, name)) for name in ("hard", "soft", "reward")}
    strange = [
        name for name, number in told.items() if not isinstance(number, int | float) or not math.isfinite(number)
    ]
    if strange:
        return _unplayable(f"must score in finite numbers, this one's {strange[0]} is {told[strange[0]]!r}")
    return replace(value, **told, parts={name: _plain(part) for name, part in value.parts.items()})


def _is_number(value: Any) -> bool:
    return type(value) in (float, int) and math.isfinite(value)


def _plain(number: Any) -> Any:
    return number.item() if hasattr(number, "item") else number


def _malformed(step: Any) -> str:
    """What is wrong with what a play yielded; '' where nothing is."""
    if isinstance(step, Ask):
        for part in step.messages:
            if not isinstance(part, Message):
                return f"must ask with messages, this one asked with {_kind(part)}"
        return ""
    return "" if isinstance(step, Work) else f"must yield an Ask or a Work, this one yielded {_kind(step)}"


def _unplayable(problem: str) -> Fault:
    return Fault("environment_error", "play", f"a play {problem}")


def _kind(value: Any) -> str:
    return type(value).__name__


def defect(error: BaseException) -> Fault:
    """A defect of the environment's own code, named by the line that broke: never a score of the policy's."""
    return Fault("environment_error", broken_line(error), f"{type(error).__name__}: {error}")
