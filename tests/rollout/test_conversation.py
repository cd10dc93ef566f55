"""One attempt without I/O: what it needs next, as often as it is asked, and what it makes of what came."""

from __future__ import annotations

from builders import FromFunction

from whet.envs.base import Play, ask, call, work
from whet.errors import LimitReached
from whet.models.base import Request
from whet.rollout.conversation import AttemptLimits, Conversation
from whet.rollout.player import Player, Seat
from whet.types import Fault, Playbook, Policy, Reply, Score, ToolSpec, Work, WorkResult, solved, user

DIG = ToolSpec("dig", "Dig a hole.")


def begun(play: Play, limits: AttemptLimits = AttemptLimits()) -> Conversation:
    model = FromFunction(lambda _: "")
    seat = Seat(Policy(model.fingerprint, playbook=Playbook("Mind the gap.")), Player(model))
    return Conversation(None, play, {"target": seat}, "0" * 32, limits=limits)


def request(conversation: Conversation) -> Request:
    step = conversation.next()
    assert isinstance(step, Request)
    return step


def test_asking_twice_what_is_needed_changes_nothing() -> None:
    def play() -> Play:
        yield from ask([user("one")])
        yield from work(call("os:getpid"))
        return solved()

    conversation = begun(play())
    assert request(conversation) is request(conversation)
    conversation.answer(Reply("x"))
    job = conversation.next()
    assert isinstance(job, Work)
    assert conversation.next() is job
    conversation.answer(WorkResult(3), seconds=0.5)
    assert isinstance(conversation.next(), Score)
    assert conversation.working == 0.5


def test_what_a_model_did_not_take_is_not_sent_again() -> None:
    """An overlong message once stayed in the conversation, so a play that asked for less overflowed again."""

    def play() -> Play:
        yield from ask([user("short")])
        try:
            yield from ask([user("much too long")])
        except LimitReached:
            yield from ask([user("shorter")])
        return solved()

    conversation = begun(play())
    conversation.next()
    conversation.answer(Reply("fine"))
    assert request(conversation).messages[-1].text == "much too long"
    conversation.answer(LimitReached("context_overflow"))
    assert [message.text for message in request(conversation).messages] == ["Mind the gap.", "short", "fine", "shorter"]
    conversation.answer(Reply("done"))
    assert [turn.messages[0].text for turn in conversation.turns] == ["short", "shorter"]


def test_a_first_message_that_did_not_fit_leaves_the_playbook_to_the_next() -> None:
    def play() -> Play:
        try:
            yield from ask([user("much too long")])
        except LimitReached:
            yield from ask([user("shorter")])
        return solved()

    conversation = begun(play())
    conversation.next()
    conversation.answer(LimitReached("context_overflow"))
    assert [message.text for message in request(conversation).messages] == ["Mind the gap.", "shorter"]


def test_a_turn_says_when_tools_changed_and_when_none_are_left() -> None:
    def play() -> Play:
        for tools in ([DIG], [DIG], [], []):
            yield from ask([user("go on")], tools=tools)
        return solved()

    conversation = begun(play())
    while isinstance(conversation.next(), Request):
        conversation.answer(Reply("x"))
    assert [turn.tools for turn in conversation.turns] == [(DIG,), None, (), None]


def test_time_spent_in_its_own_works_ends_an_attempt() -> None:
    def play() -> Play:
        while True:
            yield from work(call("os:getpid"))

    conversation = begun(play(), AttemptLimits(deadline=10.0))
    conversation.next()
    conversation.answer(WorkResult(1), seconds=6.0)
    conversation.answer(WorkResult(1), seconds=6.0)
    outcome = conversation.next()
    assert isinstance(outcome, Score)
    assert outcome.reason == "deadline"


def test_a_fault_ends_an_attempt_and_closes_its_play() -> None:
    closed = []

    def play() -> Play:
        try:
            yield from ask([user("one")])
        finally:
            closed.append(True)
        return solved()

    conversation = begun(play())
    conversation.next()
    conversation.answer(Fault("server_error", "there", "500"))
    assert isinstance(conversation.next(), Fault)
    assert closed == [True]
