"""Turns as tokens: along a conversation they are exactly what the model saw, each drawn token marked."""

from __future__ import annotations

from builders import FromFunction
from hypothesis import given
from hypothesis import strategies as st

from whet.envs.base import Play, ask
from whet.models.base import Request
from whet.rollout.conversation import Conversation
from whet.rollout.player import Player, Seat
from whet.rollout.tokens import token_sequences
from whet.types import Policy, Reply, Score, Turn, solved, user

Ids = tuple[int, ...]


def talk(prompts: list[Ids], drawn: list[Ids]) -> tuple[list[Turn], list[Request]]:
    """A play of as many turns as there are prompts, against a backend that tells these tokens."""

    def play() -> Play:
        for _ in prompts:
            yield from ask([user("go on")])
        return solved()

    model = FromFunction(lambda _: "")
    conversation = Conversation(None, play(), {"target": Seat(Policy(model.fingerprint), Player(model))}, "0" * 32)
    requests: list[Request] = []
    for prompt, completion in zip(prompts, drawn, strict=True):
        request = conversation.next()
        assert isinstance(request, Request)
        requests.append(request)
        conversation.answer(
            Reply("x", prompt_ids=prompt, completion_ids=completion, logprobs=tuple(-0.5 for _ in completion))
        )
    assert isinstance(conversation.next(), Score)
    return conversation.turns, requests


ids = st.lists(st.integers(0, 5), min_size=1, max_size=6).map(tuple)


@given(st.lists(st.tuples(ids, ids), min_size=1, max_size=5))
def test_turns_that_continue_each_other_are_one_sequence(parts: list[tuple[Ids, Ids]]) -> None:
    prompts: list[Ids] = []
    seen: Ids = ()
    for new, completion in parts:
        prompts.append((*seen, *new))
        seen = (*seen, *new, *completion)
    turns, requests = talk(prompts, [completion for _, completion in parts])
    [sequence] = token_sequences(turns)
    assert sequence.ids == seen
    assert sequence.mask == tuple(bit for new, drawn in parts for bit in (*[0] * len(new), *[1] * len(drawn)))
    assert len(sequence.logprobs) == sum(sequence.mask)
    for request, prompt, (new, _) in zip(requests, prompts, parts, strict=True):
        assert (*request.prior_ids, *new) == prompt


@given(st.lists(st.tuples(ids, ids), min_size=1, max_size=5))
def test_whatever_a_template_rewrites_every_prompt_can_be_read_back(parts: list[tuple[Ids, Ids]]) -> None:
    """Prompts that have nothing to do with each other: `kept` and `prompt_ids` still say what was read each time."""
    turns, _ = talk([prompt for prompt, _ in parts], [drawn for _, drawn in parts])
    stood: Ids = ()
    for turn, (prompt, drawn) in zip(turns, parts, strict=True):
        assert (*stood[: turn.kept], *turn.prompt_ids) == prompt
        stood = (*prompt, *drawn)
    drawn_ids = [
        token
        for sequence in token_sequences(turns)
        for token, mark in zip(sequence.ids, sequence.mask, strict=True)
        if mark
    ]
    assert drawn_ids == [token for _, drawn in parts for token in drawn]


def test_a_rewritten_history_begins_a_new_sequence_in_which_nothing_old_counts_as_drawn() -> None:
    turns, _ = talk([(1, 2), (1, 2, 9, 4)], [(7, 8), (5,)])
    first, second = token_sequences(turns)
    assert (first.ids, first.mask) == ((1, 2, 7, 8), (0, 0, 1, 1))
    assert (second.ids, second.mask) == ((1, 2, 9, 4, 5), (0, 0, 0, 0, 1))


def test_a_turn_whose_tokens_are_not_known_leaves_no_sequence() -> None:
    turns, requests = talk([(1, 2), (), (4, 5)], [(7,), (), (6,)])
    assert token_sequences(turns) == ()
    assert [request.prior_ids for request in requests] == [(), (1, 2, 7), ()]


def test_a_reply_in_a_turn_holds_no_prompt_of_its_own() -> None:
    """Every prompt in full would make a transcript grow with the square of its turns."""
    turns, _ = talk([(1, 2), (1, 2, 7, 3)], [(7,), (8,)])
    assert [(turn.reply.prompt_ids, turn.prompt_ids, turn.kept) for turn in turns] == [((), (1, 2), 0), ((), (3,), 3)]
