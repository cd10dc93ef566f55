"""The driver of a trainer: many plays side by side, all their requests generated as one batch, round after round.

A round first performs the works that plays wait for, all at once, until every play needs a reply or has ended; then the
requests go to the generator together, in the order of the plays. So a batch is the same whatever work finished first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait

from whet.errors import FaultError, LimitReached, WhetError
from whet.models.base import Request
from whet.rollout.conversation import Answer, Conversation
from whet.rollout.workbench import Workbench
from whet.types import Fault, Reply, Score, Work, WorkResult

Generate = Callable[[Sequence[Request]], Sequence[Reply | LimitReached | Fault]]
"""Replies to a batch of requests, in its order."""


def play_in_lockstep(
    conversations: Sequence[Conversation],
    generate: Generate,
    bench: Workbench,
    beside: Generate | None = None,
) -> list[Score | Fault]:
    """Drive all to their ends and return how each ended. `beside` answers whom a play asks besides the target."""
    try:
        while True:
            _perform_works(conversations, bench)
            steps = [(talk, talk.next()) for talk in conversations]
            asking = [(talk, step) for talk, step in steps if isinstance(step, Request)]
            if not asking:
                return [step for _, step in steps if isinstance(step, Score | Fault)]
            _answer([pair for pair in asking if pair[1].role == "target"], generate)
            _answer([pair for pair in asking if pair[1].role != "target"], beside)
    finally:
        for talk in conversations:
            talk.close()


def _perform_works(conversations: Sequence[Conversation], bench: Workbench) -> None:
    """All works that are waited for, at once; what a play yields after a work is performed in the same round."""
    running: dict[Future[WorkResult], tuple[Conversation, float]] = {}
    for talk in conversations:
        _start(talk, bench, running)
    while running:
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            talk, began = running.pop(future)
            talk.answer(work_answer(future), time.monotonic() - began)
            _start(talk, bench, running)


def _start(talk: Conversation, bench: Workbench, running: dict[Future[WorkResult], tuple[Conversation, float]]) -> None:
    step = talk.next()
    if isinstance(step, Work):
        running[bench.start(step)] = (talk, time.monotonic())


def work_answer(future: Future[WorkResult]) -> Answer:
    """What a work that has ended brings to its play."""
    try:
        return future.result()
    except FaultError as error:
        return error.fault


def _answer(asking: Sequence[tuple[Conversation, Request]], generate: Generate | None) -> None:
    if not asking:
        return
    if generate is None:
        raise WhetError(f"a play asks for a {asking[0][1].role}, and nobody here answers for it")
    replies = generate([request for _, request in asking])
    for (talk, _), reply in zip(asking, replies, strict=True):
        talk.answer(reply)
