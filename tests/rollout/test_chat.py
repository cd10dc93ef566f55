"""Chat records: what is exported is what the model was sent, message for message, and what it answered."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from builders import Doubles, FromFunction

from whet import wire
from whet.envs.base import Play, ask
from whet.models.base import Request
from whet.rollout.chat import chat_message, chat_record
from whet.rollout.conversation import Conversation
from whet.rollout.player import Player, Seat
from whet.types import (
    Ask,
    Example,
    Image,
    MalformedCall,
    Message,
    Playbook,
    Policy,
    Reply,
    Role,
    Task,
    ToolCall,
    ToolSpec,
    Turn,
    assistant,
    solved,
    system,
    tool_result,
    user,
)

LOOK = ToolSpec("look", "Look at a row.", {"type": "object", "properties": {"row": {"type": "integer"}}})
SUBMIT = ToolSpec("submit", "Hand in.")
PICTURE = Image("ab" * 32, "image/jpeg")
PLAYBOOK = Playbook("Look twice.", (Example("Say 1", "1"), Example("Say 2", "2")), {"notes": "n"}, "h", ("r",))


class Talk(Doubles):
    """Three turns of the target with tools that change, and a rubric in between."""

    def play(self, task: Task) -> Play:
        opening = (system("Own rules."), user(("Look at this: ", PICTURE, " and answer.")))
        reply = yield Ask(opening, (LOOK,))
        answers = [tool_result(call, f"row {call.arguments['row']}") for call in reply.calls]
        answers += [tool_result(bad, bad.problem) for bad in reply.malformed]
        yield from ask((user("How good is it?"),), role="judge", corrections=0)
        reply = yield Ask(tuple(answers), (LOOK, SUBMIT))
        yield Ask((user("Sure?"),), (LOOK, SUBMIT))
        return solved()


SAID = (
    Reply(
        "I look.",
        (ToolCall("c1", "look", {"row": 3}, '{"row": 3 }'), ToolCall("c2", "look", {"row": 4})),
        (MalformedCall("c3", "look", '{"row": "fo', "cut_off", "It was cut off."),),
        "tool_calls",
    ),
    Reply("", (ToolCall("c4", "submit", {}, "{}"),), finish="tool_calls"),
    Reply("Yes."),
)


def talked(playbook: Playbook) -> tuple[list[Request], list[Turn]]:
    """A conversation: what the target was sent, and its turns as a ledger gives them back."""
    model = FromFunction(lambda _: "")
    seat = Seat(Policy(model.fingerprint, playbook=playbook), Player(model))
    seats: dict[Role, Seat] = {"target": seat, "judge": Seat(Policy(model.fingerprint), Player(model))}
    env, said, requests = Talk(), iter(SAID), []
    task = env.task("select", 0)
    conversation = Conversation(task, env.play(task), seats, "00")
    while isinstance(step := conversation.next(), Request):
        if step.role == "judge":
            conversation.answer(Reply("good"))
        else:
            requests.append(step)
            conversation.answer(next(said))
    assert step == solved()
    return requests, [wire.turn_in(orjson.loads(wire.dumps(wire.turn_out(turn)))) for turn in conversation.turns]


def as_message(data: dict[str, Any]) -> Message:
    """A chat message read back."""
    content = data["content"]
    if isinstance(content, list):
        content = tuple(
            part["text"] if part["type"] == "text" else Image(part["sha256"], part["media_type"]) for part in content
        )
    calls = tuple(
        ToolCall(call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in data.get("tool_calls", ())
    )
    malformed = tuple(
        MalformedCall(bad["id"], bad["name"], bad["text"], bad["kind"], bad["problem"])
        for bad in data.get("malformed_calls", ())
    )
    return Message(data["role"], content, calls, malformed, data.get("tool_call_id", ""))


def without_raw(message: Message) -> Message:
    calls = tuple(ToolCall(call.id, call.name, call.arguments) for call in message.calls)
    return Message(message.author, message.content, calls, message.malformed, message.call_id)


@pytest.mark.parametrize("playbook", [Playbook(), PLAYBOOK], ids=["blank", "with examples"])
def test_before_each_reply_stands_exactly_what_the_model_was_sent(playbook: Playbook) -> None:
    requests, turns = talked(playbook)
    messages = [as_message(data) for data in chat_record(playbook, turns)["messages"]]
    assert len(requests) == 3
    replies = [at for at, message in enumerate(messages) if message.author == "assistant"][-3:]
    for request, at, reply in zip(requests, replies, SAID, strict=True):
        assert messages[:at] == [without_raw(message) for message in request.messages]
        assert messages[at] == without_raw(reply.as_message())


def test_other_roles_say_nothing_in_it() -> None:
    _, turns = talked(Playbook())
    assert {turn.role for turn in turns} == {"target", "judge"}
    assert "How good" not in json.dumps(chat_record(Playbook(), turns))


def test_the_playbook_stands_where_the_model_saw_it() -> None:
    _, turns = talked(PLAYBOOK)
    messages = chat_record(PLAYBOOK, turns)["messages"]
    assert [message["role"] for message in messages[:6]] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert messages[0]["content"].startswith("Own rules.\n\nLook twice.")


def test_calls_keep_the_words_of_the_model_where_these_are_its_arguments() -> None:
    _, turns = talked(Playbook())
    first = chat_record(Playbook(), turns)["messages"][2]
    assert first["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"row": 3 }'}},
        {"id": "c2", "type": "function", "function": {"name": "look", "arguments": '{"row":4}'}},
    ]


def test_the_words_of_a_fenced_call_are_more_than_its_arguments() -> None:
    call = ToolCall("c", "look", {"row": 3}, '{"name": "look", "arguments": {"row": 3}}')
    (made,) = chat_message(Message("assistant", "", (call,)))["tool_calls"]
    assert json.loads(made["function"]["arguments"]) == {"row": 3}


def test_a_malformed_call_is_kept_verbatim_and_is_no_call() -> None:
    _, turns = talked(Playbook())
    first, *answers = chat_record(Playbook(), turns)["messages"][2:6]
    assert [call["id"] for call in first["tool_calls"]] == ["c1", "c2"]
    (bad,) = first["malformed_calls"]
    assert (bad["text"], bad["kind"]) == ('{"row": "fo', "cut_off")
    assert [(answer["role"], answer["tool_call_id"]) for answer in answers] == [
        ("tool", "c1"),
        ("tool", "c2"),
        ("tool", "c3"),
    ]


def test_images_are_named_by_their_hash() -> None:
    _, turns = talked(Playbook())
    assert chat_record(Playbook(), turns)["messages"][1]["content"] == [
        {"type": "text", "text": "Look at this: "},
        {"type": "image", "sha256": "ab" * 32, "media_type": "image/jpeg"},
        {"type": "text", "text": " and answer."},
    ]


def test_tools_are_all_that_were_offered_each_once() -> None:
    _, turns = talked(Playbook())
    tools = chat_record(Playbook(), turns)["tools"]
    assert [tool["function"]["name"] for tool in tools] == ["look", "submit"]
    assert tools[0] == {
        "type": "function",
        "function": {"name": "look", "description": "Look at a row.", "parameters": dict(LOOK.parameters)},
    }
    plain = chat_record(Playbook(), [Turn("target", (user("q"),), Reply("a"))])
    assert plain == {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]}


def test_what_there_is_to_say_about_it_stands_beside() -> None:
    record = chat_record(Playbook(), [Turn("target", (user("q"),), Reply("a"))], task="train/1", reward=0.5)
    assert (record["task"], record["reward"]) == ("train/1", 0.5)


def turn(prompt: tuple[int, ...], drawn: tuple[int, ...], kept: int = 0, logprobs: tuple[float, ...] = ()) -> Turn:
    reply = Reply("a", completion_ids=drawn, logprobs=logprobs)
    return Turn("target", (user("q"),), reply, prompt_ids=prompt, kept=kept)


def test_tokens_stand_in_it_where_they_are_known() -> None:
    whole = chat_record(Playbook(), [turn((1, 2), (3,), 0, (-0.5,)), turn((4,), (5, 6), 3, (-0.1, -0.2))])
    assert whole["token_ids"] == [[1, 2, 3, 4, 5, 6]]
    assert whole["mask"] == [[0, 0, 1, 0, 1, 1]]
    assert whole["logprobs"] == [[-0.5, -0.1, -0.2]]
    rewritten = chat_record(Playbook(), [turn((1, 2), (3,)), turn((4,), (5, 6), 1)])
    assert rewritten["token_ids"] == [[1, 2, 3], [1, 4, 5, 6]]
    assert rewritten["mask"] == [[0, 0, 1], [0, 0, 1, 1]]
    assert "logprobs" not in rewritten
    assert "token_ids" not in chat_record(Playbook(), [turn((1, 2), (3,)), turn((), ())])


def test_a_message_of_each_author_has_its_role() -> None:
    made = [chat_message(message) for message in (system("s"), user("u"), assistant("a"))]
    assert made == [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u"},
        {"role": "assistant", "content": "a"},
    ]
