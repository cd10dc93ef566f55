"""Plays of many turns by local weights: what the ledger holds are the very tokens that were read and drawn."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from builders import Doubles
from driving import play_out
from tiny_weights import READING, talking_weights

from whet.envs.base import Play, ask
from whet.ledger.store import Ledger
from whet.models import ModelOptions, load_model
from whet.models.base import Model, Request
from whet.rollout.conversation import Conversation
from whet.rollout.lockstep import play_in_lockstep
from whet.rollout.player import Player, Seat
from whet.rollout.tokens import token_sequences
from whet.rollout.workbench import Workbench
from whet.types import Playbook, Policy, Reply, Sampling, Task, Ticket, solved, user

GREEDY = Sampling(temperature=0.0, max_tokens=7, logprobs=0)
TICKETS = [Ticket("eval", "train", index) for index in range(4)]


class Interview(Doubles):
    """Three questions, each after the answer to the one before."""

    def play(self, task: Task) -> Play:
        yield from ask(task.messages)
        for question in ("and why", "anything else"):
            yield from ask([user(question)])
        return solved()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Model]:
    folder = talking_weights(tmp_path_factory.mktemp("weights"), READING)
    opened = load_model(f"hf:{folder}", ModelOptions(slots=4, extra={"dtype": "float32"}))
    yield opened
    asyncio.run(opened.close())


def test_a_conversation_is_one_sequence_of_what_the_model_saw(model: Model, tmp_path: Path) -> None:
    told: list[Reply] = []

    class Telling(Model):
        """The same weights, with what they told written down."""

        name, fingerprint, width = model.name, model.fingerprint, model.width

        async def complete(self, request: Request) -> Reply:
            told.append(await model.complete(request))
            return told[-1]

    asyncio.run(play_out(tmp_path / "run", Telling(), TICKETS[:1], env=Interview(), playbook=Playbook("be brief")))
    with Ledger.read(tmp_path / "run") as ledger:
        [rollout] = ledger.rollouts("eval")
    [sequence] = token_sequences(rollout.turns)
    assert len(rollout.turns) == len(told) == 3
    assert sequence.ids == (*told[-1].prompt_ids, *told[-1].completion_ids)
    drawn = [token for token, mark in zip(sequence.ids, sequence.mask, strict=True) if mark]
    assert drawn == [token for reply in told for token in reply.completion_ids]


def test_lock_step_and_the_engine_draw_the_same_tokens(model: Model, tmp_path: Path) -> None:
    """One by one and as a batch, over all turns: greedy decoding in float32 knows no company."""
    env = Interview()
    seat = Seat(Policy(model.fingerprint, GREEDY), Player(model))
    talks = [Conversation(task, env.play(task), {"target": seat}, "0" * 32) for task in map(_task, TICKETS)]

    def generate(requests: Sequence[Request]) -> list[Reply]:
        async def batch() -> list[Reply]:
            return list(await asyncio.gather(*map(model.complete, requests)))

        return asyncio.run(batch())

    with Workbench() as bench:
        play_in_lockstep(talks, generate, bench)
    alone = [Conversation(task, env.play(task), {"target": seat}, "0" * 32) for task in map(_task, TICKETS)]
    for talk in alone:
        while isinstance(request := talk.next(), Request):
            talk.answer(generate([request])[0])
    assert [token_sequences(talk.turns)[0].ids for talk in talks] == [
        token_sequences(talk.turns)[0].ids for talk in alone
    ]
    assert all(len(token_sequences(talk.turns)[0].logprobs) for talk in talks)


def _task(ticket: Ticket) -> Task:
    return Interview().task(ticket.split, ticket.index)
