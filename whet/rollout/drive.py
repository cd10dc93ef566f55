"""The driver for tests, checks and baselines: one play to its end in this thread. No model, no ledger.

score = drive(env.play(task), lambda said, asked: "42").score
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

from whet.envs.base import Messages, Play
from whet.errors import FaultError, LimitReached
from whet.models.base import Model, Request
from whet.rollout.conversation import AttemptLimits, Conversation
from whet.rollout.player import Player, Seat
from whet.rollout.workbench import Workbench
from whet.types import Ask, Fault, Policy, Reply, Role, Score, Turn, Work, WorkResult

Respond = Callable[[Messages, Ask], Reply | str]
"""Answers what a play asks, given everything that was said to its role so far."""

Perform = Callable[[Work], WorkResult]


class _Nobody(Model):
    """Holds the seats of a play whose requests a function answers."""

    name = "drive"
    fingerprint = "drive"

    async def complete(self, request: Request) -> Reply:
        raise NotImplementedError("a driven play is answered by its function")


SEATS: dict[Role, Seat] = dict.fromkeys(get_args(Role), Seat(Policy("drive"), Player(_Nobody())))


@dataclass(frozen=True, slots=True)
class Transcript:
    """What `drive` saw: everything the play asked for, the turns it came to, and how it ended."""

    asks: tuple[Ask, ...]
    turns: tuple[Turn, ...]
    score: Score

    @property
    def replies(self) -> tuple[Reply, ...]:
        return tuple(turn.reply for turn in self.turns)


def drive(play: Play, respond: Respond, perform: Perform | None = None, max_turns: int = 64) -> Transcript:
    """Drive a play to its end. What the environment's own code raises is raised here; a fault is a `FaultError`.

    Works are performed as anywhere else unless `perform` stands in; hand over a `Workbench` to open its sandbox once.
    """
    conversation = Conversation(None, play, SEATS, limits=AttemptLimits(turns=max_turns))
    asks: list[Ask] = []

    def noted(said: Messages, asked: Ask) -> Reply | str:
        asks.append(asked)
        return respond(said, asked)

    if perform is None:
        with Workbench() as bench:
            outcome = drive_through(conversation, noted, bench)
    else:
        outcome = drive_through(conversation, noted, perform)
    if conversation.error is not None:
        raise conversation.error
    if isinstance(outcome, Fault):
        raise FaultError(outcome)
    return Transcript(tuple(asks), tuple(conversation.turns), outcome)


def drive_through(conversation: Conversation, respond: Respond, perform: Perform) -> Score | Fault:
    """Answer everything that a conversation needs, until it has ended."""
    try:
        while not isinstance(step := conversation.next(), Score | Fault):
            try:
                if isinstance(step, Work):
                    began = time.monotonic()
                    result = perform(step)
                    conversation.answer(result, time.monotonic() - began)
                else:
                    asked = conversation.pending
                    assert isinstance(asked, Ask)
                    answered = respond(step.messages, asked)
                    conversation.answer(Reply(answered) if isinstance(answered, str) else answered)
            except LimitReached as limit:
                conversation.answer(limit)
            except FaultError as error:
                conversation.answer(error.fault)
        return step
    finally:
        conversation.close()
