"""Plays of many turns through the local generator: the tokens of lock step, one sequence for each play."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import transformers
from builders import Doubles, FromFunction
from tiny_weights import READING, talking_weights

from whet.envs.base import Play, ask, call, work
from whet.errors import LimitReached
from whet.models.base import Request
from whet.models.hf.decoder import DecoderLimits
from whet.models.hf.generator import PaddedGenerator, PagedGenerator, open_generator
from whet.rollout.continuous import Generator, play_side_by_side
from whet.rollout.conversation import Conversation
from whet.rollout.lockstep import play_in_lockstep
from whet.rollout.player import Player, Seat
from whet.rollout.tokens import token_sequences
from whet.rollout.workbench import Workbench
from whet.types import Fault, Playbook, Policy, Reply, Sampling, Score, Task, solved, user

LIMITS = DecoderLimits(slots=4, chunk=64, cache_bytes=10**7)


class Interview(Doubles):
    """Questions, each after the answer to the one before, with a work in between; some have more of them."""

    def play(self, task: Task) -> Play:
        yield from ask(task.messages)
        for question in ("bad", "bead", "ab cab a", "fad")[: 2 + task.index % 3]:
            yield from work(call("time:sleep", secs=0.001 * (task.index % 3)))
            yield from ask([user(question)])
        return solved()

    def task(self, split: Any, index: int) -> Task:
        return replace(super().task(split, index), messages=(user("a bad cab " * (1 + index // 2)),))


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """A model in memory and its tokenizer, as a trainer has them."""
    folder = talking_weights(tmp_path_factory.mktemp("weights"), READING)
    return (
        transformers.AutoModelForCausalLM.from_pretrained(folder, dtype="float32").eval(),
        transformers.AutoTokenizer.from_pretrained(folder),
    )


def talks(temperature: float) -> list[Conversation]:
    env, model = Interview(), FromFunction(lambda _: "")
    policy = Policy(model.fingerprint, Sampling(temperature, max_tokens=9, stop=("\n",)), Playbook("be brief"))
    seats: dict[Any, Seat] = {"target": Seat(policy, Player(model))}
    tasks = [env.task("train", index) for index in range(4)]
    return [
        Conversation(task, env.play(task), seats, f"{7 * task.index + draw:08x}") for task in tasks for draw in range(2)
    ]


def played(generator: Generator, temperature: float) -> list[Conversation]:
    made = talks(temperature)
    with Workbench() as bench:
        outcomes = play_side_by_side(made, generator, bench)
    assert [outcome for outcome in outcomes if not (isinstance(outcome, Score) and outcome.hard)] == []
    return made


def in_batches(generator: PaddedGenerator, temperature: float) -> list[Conversation]:
    """The simple path: lock step, every conversation read anew each turn."""

    def generate(requests: Sequence[Request]) -> list[Reply | LimitReached | Fault]:
        tickets = [generator.submit(request) for request in requests]
        came: dict[int, Reply | LimitReached | Fault] = {}
        while generator.busy:
            came |= dict(generator.step())
        return [came[ticket] for ticket in tickets]

    made = talks(temperature)
    with Workbench() as bench:
        play_in_lockstep(made, generate, bench)
    return made


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_side_by_side_by_pages_draws_what_lock_step_in_padded_batches_draws(
    live: tuple[Any, Any], temperature: float
) -> None:
    paged = open_generator(*live, LIMITS)
    assert isinstance(paged, PagedGenerator)
    side = played(paged, temperature)
    lock = in_batches(PaddedGenerator(*live, LIMITS, paged._form), temperature)
    for one, other in zip(side, lock, strict=True):
        [sequence], [wanted] = token_sequences(one.turns), token_sequences(other.turns)
        assert (sequence.ids, sequence.mask) == (wanted.ids, wanted.mask)
        assert sequence.logprobs == pytest.approx(wanted.logprobs, abs=1e-4)
        assert len(sequence.logprobs) == sum(sequence.mask)
        assert [turn.reply.text for turn in one.turns] == [turn.reply.text for turn in other.turns]
        assert one.turns[-1].reply.usage.cached_tokens, "a later turn begins with what is known"


def test_a_model_that_pages_cannot_serve_plays_in_padded_batches(live: tuple[Any, Any]) -> None:
    _, tokenizer = live
    config = transformers.MistralConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        sliding_window=16,
        eos_token_id=1,
        pad_token_id=0,
    )
    heard: list[str] = []
    model = transformers.MistralForCausalLM(config).train()
    generator = open_generator(model, tokenizer, LIMITS, note=heard.append)
    assert isinstance(generator, PaddedGenerator)
    assert "padded batches" in heard[0]
    assert all(len(token_sequences(talk.turns)) == 1 for talk in played(generator, 1.0))
    assert model.training


def test_a_play_longer_than_the_context_ends_by_the_limit(live: tuple[Any, Any]) -> None:
    model, tokenizer = live
    generator = open_generator(model, tokenizer, DecoderLimits(slots=4, chunk=64, context=48, cache_bytes=10**7))
    with Workbench() as bench:
        outcomes = play_side_by_side(talks(0.0), generator, bench)
    assert {outcome.reason for outcome in outcomes if isinstance(outcome, Score) and not outcome.hard} == {
        "context_overflow"
    }


def test_a_tokenizer_without_chat_template_is_refused(live: tuple[Any, Any], tmp_path: Path) -> None:
    model, tokenizer = live
    tokenizer.save_pretrained(tmp_path)
    bare = transformers.AutoTokenizer.from_pretrained(tmp_path)
    bare.chat_template = None
    with pytest.raises(Exception, match="no chat template"):
        open_generator(model, bare)
