"""Conversations to imitate, as the very tokens that the model would read and say: oracle's, a run's, or a file's.

An oracle's answers and a run's replies are played through the environment again, so prompts, tools and the places of
turns are what the policy meets; only a file is taken at its word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from whet.envs.base import Environment
from whet.errors import LimitReached, WhetError
from whet.keys import digest
from whet.learn.weights.base import Base
from whet.learn.weights.config import MixSection, SftSection
from whet.ledger.store import Ledger
from whet.models.base import Model, Request
from whet.models.chat import fenced
from whet.models.hf.chat_form import ChatForm
from whet.models.hf.prompt import Renderer
from whet.rollout.conversation import AttemptLimits, Conversation
from whet.rollout.lockstep import play_in_lockstep
from whet.rollout.player import Player, Seat
from whet.rollout.tokens import TokenSequence, token_sequences
from whet.rollout.workbench import Workbench
from whet.rollout.works import Works
from whet.types import Message, Playbook, Policy, Reply, Rollout, Score, Task, ToolCall, ToolSpec

Respond = Callable[[Task, Request], Reply | str]


class Dictation(Model):
    """Sits where the policy would sit while its lines are dictated."""

    name = "dictation"
    fingerprint = "dictation"

    async def complete(self, request: Request) -> Reply:
        raise NotImplementedError("lines are dictated")


class TokenScribe:
    """Writes down a reply as the tokens that the model would have drawn for it."""

    def __init__(self, base: Base, form: ChatForm) -> None:
        self._base = base
        self._form = form
        self._renderer = Renderer(base.processor, base.ends)

    def taken_down(self, request: Request, reply: Reply) -> Reply:
        """`reply` with the prompt that it answers and with its own tokens, the end of the turn among them.

        What was said before was taken down here too, so whose tokens came before need not be looked into.
        """
        said = fenced.spoken((*request.messages, reply.as_message()), request.tools, request.must_call)[-1].text
        prompt = self._renderer.ids(self._form.prompt(request), own=True)
        tokenizer = self._base.tokenizer
        drawn = [*tokenizer(said, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]
        return replace(reply, prompt_ids=tuple(prompt), completion_ids=tuple(drawn), logprobs=())


@dataclass(frozen=True, slots=True)
class Trace:
    """One conversation: sequences that the model reads, marked where it speaks, and where it is from."""

    sequences: tuple[TokenSequence, ...]
    source: str


@dataclass(frozen=True, slots=True)
class TraceSet:
    """What there is to imitate, and why the rest was left out, by reason."""

    traces: tuple[Trace, ...]
    left_out: Mapping[str, int]

    def __str__(self) -> str:
        left = ", ".join(f"{count} {reason}" for reason, count in sorted(self.left_out.items()))
        tokens = sum(sum(sequence.mask) for trace in self.traces for sequence in trace.sequences)
        return f"{len(self.traces)} conversations, {tokens:,} tokens to learn" + (f"; left out: {left}" if left else "")


def gather_traces(
    section: SftSection,
    env: Environment,
    tasks: Sequence[int],
    scribe: TokenScribe,
    playbook: Playbook,
    context: int | None,
    works: Works | None = None,
) -> TraceSet:
    """The conversations that `section` names; those that do not fit into the context are left out and counted."""
    if section.source == "chat":
        found = list(_from_file(Path(section.path), scribe))
    elif section.source == "run":
        found = _from_run(section, env, scribe, playbook, works)
    else:
        found = _from_oracle(env, tasks, scribe, playbook, works)
    kept, left = [], dict[str, int]()
    for trace, problem in found:
        longest = max((len(sequence.ids) for sequence in trace.sequences), default=0)
        if not problem and context is not None and longest > context:
            problem = "too long for the context"
        if not problem and not any(sum(sequence.mask) for sequence in trace.sequences):
            problem = "without a word of the model's"
        if problem:
            left[problem] = left.get(problem, 0) + 1
        else:
            kept.append(trace)
    if not kept:
        why = ", ".join(f"{count} {reason}" for reason, count in sorted(left.items())) or "none was found"
        name = "mix" if isinstance(section, MixSection) else "sft"
        raise WhetError(f"{name}.source = {section.source!r}: there is no conversation to learn from ({why})")
    return TraceSet(tuple(kept), left)


def play_again(
    env: Environment,
    tasks: Sequence[Task],
    respond: Respond,
    scribe: TokenScribe,
    playbook: Playbook,
    works: Works | None = None,
) -> list[tuple[Trace, Score | None]]:
    """Every task played with dictated replies, side by side; no score where that met a fault.

    `respond` is asked with the task; which of several plays of one task asks, `attempt_key` of its place tells.
    """
    keyed = {attempt_key(at): task for at, task in enumerate(tasks)}
    talks = [_dictated(env, task, playbook, key) for key, task in keyed.items()]

    def dictate(requests: Sequence[Request]) -> list[Reply | LimitReached]:
        answered: list[Reply | LimitReached] = []
        for request in requests:
            try:
                said = respond(keyed[request.attempt], request)
            except LimitReached as ended:
                answered.append(ended)
                continue
            answered.append(scribe.taken_down(request, Reply(said) if isinstance(said, str) else said))
        return answered

    with Workbench(works) as bench:
        outcomes = play_in_lockstep(talks, dictate, bench)
    return [
        (Trace(token_sequences(talk.turns), task.id), outcome if isinstance(outcome, Score) else None)
        for talk, task, outcome in zip(talks, tasks, outcomes, strict=True)
    ]


def attempt_key(at: int) -> str:
    """What the requests of the play at a place of `play_again` say that they belong to."""
    return digest("dictation", at)


def _dictated(env: Environment, task: Task, playbook: Playbook, key: str = "") -> Conversation:
    seat = Seat(Policy(Dictation.fingerprint, playbook=playbook), Player(Dictation()))
    return Conversation(task, env.play(task), {"target": seat}, key, limits=AttemptLimits(), blob=env.blob)


def _from_oracle(
    env: Environment, tasks: Sequence[int], scribe: TokenScribe, playbook: Playbook, works: Works | None
) -> list[tuple[Trace, str]]:
    oracle = env.baselines().get("oracle")
    if oracle is None:
        raise WhetError(f"{env.name} offers no oracle to imitate; use sft.source = 'run' or 'chat'")
    played = play_again(
        env, [env.task("train", index) for index in tasks], lambda task, asked: oracle(task, asked.messages), scribe,
        playbook, works,
    )  # fmt: skip
    return [(trace, "" if score is not None and score.hard else "not solved by the oracle") for trace, score in played]


def _from_run(
    section: SftSection, env: Environment, scribe: TokenScribe, playbook: Playbook, works: Works | None
) -> list[tuple[Trace, str]]:
    """Solved rollouts of train tasks, said again in this environment: with the run's own playbook or without any."""
    found: list[tuple[Trace, str]] = []
    with Ledger.read(Path(section.path)) as ledger:
        groups: dict[str, list[Rollout]] = {}
        seen, known = 0, list(ledger.purposes())
        for purpose in known:
            if purpose == section.purpose or purpose.startswith(f"{section.purpose}/"):
                for rollout in ledger.rollouts(purpose):
                    seen += 1
                    if rollout.ticket.split == "train" and rollout.score is not None and rollout.score.hard:
                        groups.setdefault(rollout.policy, []).append(rollout)
        if not groups:
            made = ", ".join(sorted({purpose.partition("/")[0] for purpose in known})) or "nothing"
            why = f"none of its {seen} is a solved one of a train task" if seen else f"it has rollouts for: {made}"
            raise WhetError(f"{section.path}: no rollouts for purpose = {section.purpose!r} to imitate; {why}")
        playbooks = {policy: ledger.policy(policy).playbook for policy in groups}
    for policy, rollouts in groups.items():
        own = playbooks[policy]
        said = {attempt_key(at): _said(rollout) for at, rollout in enumerate(rollouts)}

        def respond(task: Task, asked: Request, said: Mapping[str, Iterator[Reply]] = said) -> Reply:
            line = next(said[asked.attempt], None)
            if line is None:
                raise LimitReached("turn_limit", "the rollout had fewer turns")
            return line

        tasks = [env.task("train", rollout.ticket.index) for rollout in rollouts]
        shown = playbook if section.playbook == "drop" else own
        played = play_again(env, tasks, respond, scribe, shown, works)
        for rollout, task, (trace, score) in zip(rollouts, tasks, played, strict=True):
            found.append((trace, "" if score is not None and score.hard else _unsolved(env, task, rollout, own)))
    return found


def _said(rollout: Rollout) -> Iterator[Reply]:
    return iter([turn.reply for turn in rollout.turns if turn.role == "target"])


def _unsolved(env: Environment, task: Task, rollout: Rollout, playbook: Playbook) -> str:
    """Why a solved rollout is not solved here; most often its task is not the one that has this number here."""
    talk = _dictated(env, task, playbook)
    alike = talk.request_hash() == rollout.request
    talk.close()
    return "not solved when said again" + ("" if alike else ", and asked otherwise: the run had another [env]")


# --------------------------------------------------------------------------------------------- a file


def _from_file(path: Path, scribe: TokenScribe) -> Iterator[tuple[Trace, str]]:
    """Chat records, one a line: `messages`, and `tools` where there were any. Empty replies would teach silence.

    A message of the assistant with `"weight": 0` is read and not learnt: a mistake that what follows answers to.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as problem:
        raise WhetError(f"{path}: cannot be read ({problem.strerror})") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = orjson.loads(line)
            messages = [_message(said) for said in record["messages"]]
            learnt = [_learnt(said) for said in record["messages"]]
            tools = tuple(_tool(spec) for spec in record.get("tools") or ())
        except (KeyError, TypeError, AttributeError, ValueError) as problem:
            raise WhetError(
                f"{path}:{number}: no chat record ({type(problem).__name__}: {problem}); each line is an object with "
                "messages, each with role and content"
            ) from None
        said = [message for message in messages if message.author == "assistant"]
        hollow = said and not any(message.text.strip() or message.calls for message in said)
        trace = Trace(written_down(messages, tools, scribe, learnt), f"{path.name}:{number}")
        yield trace, "with empty replies alone" if hollow else ""


def written_down(
    messages: Sequence[Message], tools: tuple[ToolSpec, ...], scribe: TokenScribe, learnt: Sequence[bool] = ()
) -> tuple[TokenSequence, ...]:
    """A conversation as tokens, each reply after the very prompt it answers. `learnt`: which messages, else all."""
    done: list[TokenSequence] = []
    ids: tuple[int, ...] = ()
    mask: tuple[int, ...] = ()
    for at, message in enumerate(messages):
        if message.author != "assistant":
            continue
        request = Request(tuple(messages[:at]), tools=tools, prior_ids=ids)
        line = scribe.taken_down(request, Reply(message.text, message.calls))
        prompt, drawn = line.prompt_ids, line.completion_ids
        if prompt[: len(ids)] != ids:  # the template writes what came before in another way now
            done.append(TokenSequence(ids, mask))
            mask = (0,) * len(prompt)
        else:
            mask = (*mask, *(0,) * (len(prompt) - len(ids)))
        ids, mask = (*prompt, *drawn), (*mask, *(int(not learnt or learnt[at]),) * len(drawn))
    return (*done, TokenSequence(ids, mask)) if ids else ()


def _message(said: Mapping[str, Any]) -> Message:
    calls = tuple(
        ToolCall(call.get("id", ""), call["function"]["name"], orjson.loads(call["function"]["arguments"]))
        for call in said.get("tool_calls") or ()
    )
    content = said.get("content") or ""
    if not isinstance(content, str):
        raise TypeError("content must be text")
    return Message(said["role"], content, calls, call_id=said.get("tool_call_id", ""))


def _learnt(said: Mapping[str, Any]) -> bool:
    weight = said.get("weight", 1)
    if weight not in (0, 1):
        raise ValueError(f"weight {weight!r}: a message is learnt (1) or not (0)")
    return bool(weight)


def _tool(spec: Mapping[str, Any]) -> ToolSpec:
    function = spec.get("function", spec)
    return ToolSpec(function["name"], function.get("description", ""), function.get("parameters", {}))
