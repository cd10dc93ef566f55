"""Exact turns of `hf:DIR`: along a conversation, the tokens that were read and drawn are what the model saw."""

from __future__ import annotations

import asyncio
import hashlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image as Picture
from tiny_weights import READING, SEEING, SPECIALS, reading_weights, seeing_weights, talking_weights

from whet.models import ModelOptions, load_model
from whet.models.base import Model, Request
from whet.types import Image, Message, Reply, Sampling, ToolSpec, assistant, system, tool_result, user

END = SPECIALS.index("<|end|>")
FIRST = SPECIALS.index("<|system|>")

SPACED = (
    "<|system|>{% for m in messages %}<|{{ m.role }}|>\n{{ m.content | trim }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)
"""With a first token, trimmed contents, and a line break after each end token that no reply draws."""

FORGETFUL = (
    "{% for m in messages %}<|{{ m.role }}|>"
    "{{ m.content if loop.last or m.role != 'assistant' else m.content.split('a')[-1] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
"""Leaves out a part of past replies, as templates do with thinking."""

PREFILLED = READING.replace(
    "{% if add_generation_prompt %}<|assistant|>", "{% if add_generation_prompt %}<|assistant|>b"
)
"""Begins the reply itself, and does not write this beginning in past turns."""


@dataclass(frozen=True)
class Weights:
    """One folder of tiny weights behind the model protocol, and beside it as transformers loads it."""

    model: Model
    plain: Any
    tokenizer: Any

    def greedy(self, ids: Sequence[int], most: int) -> list[int]:
        """What the bare weights say after `ids`."""
        drawn = self.plain.generate(
            torch.tensor([ids]),
            attention_mask=torch.ones(1, len(ids)),
            do_sample=False,
            max_new_tokens=most,
            pad_token_id=0,
        )
        return list(drawn[0, len(ids) :].tolist())

    def ask(self, *requests: Request) -> list[Reply]:
        """Replies to requests that share a batch."""

        async def all_of_them() -> list[Reply]:
            return list(await asyncio.gather(*map(self.model.complete, requests)))

        return asyncio.run(all_of_them())

    def rendered(self, messages: Sequence[Message]) -> list[int]:
        """A conversation through the chat template, as transformers itself makes tokens of it."""
        chat = [{"role": message.author, "content": message.text} for message in messages]
        text = self.tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])


def opened(folder: Path) -> Weights:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    plain = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    return Weights(load_model(f"hf:{folder}", ModelOptions(extra={"dtype": "float32"})), plain, tokenizer)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Weights]:
    weights = opened(talking_weights(tmp_path_factory.mktemp("plain") / "w", READING))
    yield weights
    asyncio.run(weights.model.close())


@pytest.fixture(scope="module")
def spaced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Weights]:
    weights = opened(talking_weights(tmp_path_factory.mktemp("spaced") / "w", SPACED, begins=True))
    yield weights
    asyncio.run(weights.model.close())


def seen(reply: Reply) -> tuple[int, ...]:
    return (*reply.prompt_ids, *reply.completion_ids)


words = st.text("abcdefgh", min_size=1, max_size=12)
samplings = st.builds(
    Sampling,
    temperature=st.sampled_from([0.0, 1.0, 3.0]),
    seed=st.integers(0, 1000),
    max_tokens=st.integers(1, 24),
    stop=st.sampled_from([(), ("ab",), ("dd", "g")]),
)
talks = st.lists(st.tuples(words, samplings), min_size=2, max_size=4)


def check_conversation(weights: Weights, talk: Sequence[tuple[str, Sampling]], between: str) -> None:
    """Each turn begins with all that was read and drawn before, and then holds the new message and nothing else."""
    messages: tuple[Message, ...] = (system("abc"),)
    prior: tuple[int, ...] = ()
    for text, sampling in talk:
        messages = (*messages, user(text))
        (reply,) = weights.ask(Request(messages, sampling, prior_ids=prior))
        assert reply.prompt_ids[: len(prior)] == prior
        if prior:
            new = weights.tokenizer.decode(reply.prompt_ids[len(prior) :], skip_special_tokens=False)
            ended = prior[-1] == END
            assert new == ("" if ended else "<|end|>") + between.format(text=text)
        else:
            assert list(reply.prompt_ids) == weights.rendered(messages)
        assert len(reply.completion_ids) == reply.usage.completion_tokens
        if sampling.temperature == 0 and not sampling.stop:
            assert list(reply.completion_ids) == weights.greedy(reply.prompt_ids, sampling.max_tokens)
        prior, messages = seen(reply), (*messages, reply.as_message())


fast = settings(
    max_examples=20, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@fast
@given(talks)
def test_a_turn_begins_with_the_very_tokens_of_those_before(plain: Weights, talk: list[tuple[str, Sampling]]) -> None:
    check_conversation(plain, talk, "<|user|>{text}<|end|><|assistant|>")


@fast
@given(talks)
def test_what_the_template_writes_after_a_reply_is_read_too(spaced: Weights, talk: list[tuple[str, Sampling]]) -> None:
    check_conversation(spaced, talk, "\n<|user|>\n{text}<|end|>\n<|assistant|>\n")


def test_text_that_is_tokenised_again_comes_out_as_other_tokens(plain: Weights) -> None:
    """The defect that `prior_ids` mend: without them the model is shown what it did not say."""
    asked = (user("a"),)
    drawn = Sampling(temperature=3.0, seed=1, max_tokens=40)
    (first,) = plain.ask(Request(asked, drawn))
    talk = (*asked, first.as_message(), user("b"))
    (anew,), (continued,) = plain.ask(Request(talk, drawn)), plain.ask(Request(talk, drawn, prior_ids=seen(first)))
    assert anew.prompt_ids[: len(seen(first))] != seen(first)
    assert continued.prompt_ids[: len(seen(first))] == seen(first)


def test_conversations_of_one_batch_each_keep_their_own_tokens(plain: Weights) -> None:
    samplings = [Sampling(temperature=0.0, max_tokens=limit) for limit in (3, 9, 30)]
    first = plain.ask(*(Request((user(text),), how) for text, how in zip("abc", samplings, strict=True)))
    talks = [(user(text), reply.as_message(), user("dd")) for text, reply in zip("abc", first, strict=True)]
    asked = [Request(talk, how, prior_ids=seen(one)) for talk, how, one in zip(talks, samplings, first, strict=True)]
    for reply, how, before in zip(plain.ask(*asked), samplings, first, strict=True):
        assert reply.prompt_ids[: len(seen(before))] == seen(before)
        assert list(reply.completion_ids) == plain.greedy(reply.prompt_ids, how.max_tokens)


def test_logprobs_are_aligned_with_the_tokens_and_are_those_of_the_weights(plain: Weights) -> None:
    (reply,) = plain.ask(Request((user("abc"),), Sampling(temperature=1.0, seed=3, max_tokens=20, logprobs=0)))
    with torch.inference_mode():
        scores = plain.plain(torch.tensor([seen(reply)])).logits[0].log_softmax(-1)
    before = range(len(reply.prompt_ids) - 1, len(seen(reply)) - 1)
    told = [float(scores[at, token]) for at, token in zip(before, reply.completion_ids, strict=True)]
    assert list(reply.logprobs) == pytest.approx(told, abs=1e-4)


def test_tokens_are_told_without_being_asked_for_and_logprobs_are_not(plain: Weights) -> None:
    (reply,) = plain.ask(Request((user("abc"),), Sampling(max_tokens=5)))
    assert reply.prompt_ids
    assert reply.completion_ids
    assert reply.logprobs == ()


@pytest.mark.parametrize("template", [FORGETFUL, PREFILLED])
def test_a_template_that_rewrites_the_past_is_obeyed(tmp_path: Path, template: str) -> None:
    weights = opened(talking_weights(tmp_path / "w", template))
    (first,) = weights.ask(Request((user("ab"),), Sampling(temperature=2.0, seed=5, max_tokens=30)))
    talk = (user("ab"), replace(first.as_message(), content="c" + first.text + "acd"), user("e"))
    (second,) = weights.ask(Request(talk, Sampling(max_tokens=3), prior_ids=seen(first)))
    asyncio.run(weights.model.close())
    assert list(second.prompt_ids) == weights.rendered(talk)


def test_a_forgetful_template_is_obeyed_with_the_reply_as_it_was(tmp_path: Path) -> None:
    weights = opened(talking_weights(tmp_path / "w", FORGETFUL))
    replies = weights.ask(*(Request((user("ab"),), Sampling(temperature=2.0, seed=n, max_tokens=30)) for n in range(4)))
    first = next(reply for reply in replies if "a" in reply.text)
    talk = (user("ab"), first.as_message(), user("e"))
    (second,) = weights.ask(Request(talk, Sampling(max_tokens=3), prior_ids=seen(first)))
    asyncio.run(weights.model.close())
    assert list(second.prompt_ids) == weights.rendered(talk)
    assert second.prompt_ids[: len(seen(first))] != seen(first)


def test_tools_that_change_on_the_way_are_told(tmp_path: Path) -> None:
    weights = opened(reading_weights(tmp_path / "w"))
    model = load_model(f"hf:{tmp_path / 'w'}", ModelOptions(context=4096))
    weights = replace(weights, model=model)
    (first,) = weights.ask(Request((user("hi"),), Sampling(max_tokens=4), tools=(ToolSpec("look", "looks"),)))
    talk = (user("hi"), first.as_message(), user("go on"))
    (second,) = weights.ask(
        Request(talk, Sampling(max_tokens=4), tools=(ToolSpec("jump", "jumps"),), prior_ids=seen(first))
    )
    asyncio.run(model.close())
    read = weights.tokenizer.decode(second.prompt_ids)
    assert ("- jump: jumps" in read, "- look: looks" in read) == (True, False)


def test_results_of_tools_follow_the_tokens_of_the_call(tmp_path: Path) -> None:
    weights = opened(reading_weights(tmp_path / "w"))
    model = load_model(f"hf:{tmp_path / 'w'}", ModelOptions(context=4096))
    weights = replace(weights, model=model)
    tools = (ToolSpec("look", "looks"),)
    (first,) = weights.ask(Request((user("hi"),), Sampling(max_tokens=4), tools=tools, must_call=True))
    results = tuple(tool_result(bad, "nothing") for bad in first.malformed)
    talk = (user("hi"), first.as_message(), *results)
    (second,) = weights.ask(Request(talk, Sampling(max_tokens=4), tools=tools, must_call=True, prior_ids=seen(first)))
    asyncio.run(model.close())
    assert first.malformed
    assert second.prompt_ids[: len(seen(first))] == seen(first)
    assert "nothing" in weights.tokenizer.decode(second.prompt_ids[len(seen(first)) :])


@pytest.mark.parametrize(
    "talk",
    [
        (user("ab"), assistant("REPLY"), user("e"), assistant("gg"), user("h")),
        (user("ab"), assistant("REPLY"), user("e"), user("ab"), assistant("REPLY"), user("h")),
        (user("ab"), assistant("gg"), user("h")),
        (system("h"), user("ab"), assistant("REPLY"), user("h")),
        (assistant("REPLY"), user("h")),
    ],
)
def test_tokens_that_are_not_of_this_conversation_are_left_aside(plain: Weights, talk: tuple[Message, ...]) -> None:
    """A play may say something in the model's name; a driver may err: no message is lost by it."""
    (first,) = plain.ask(Request((user("ab"),), Sampling(temperature=2.0, seed=5, max_tokens=30)))
    talk = tuple(replace(one, content=first.text) if one.text == "REPLY" else one for one in talk)
    (second,) = plain.ask(Request(talk, Sampling(max_tokens=3), prior_ids=seen(first)))
    assert list(second.prompt_ids) == plain.rendered(talk)


@pytest.mark.parametrize("place", range(6))
def test_a_conversation_of_which_any_message_was_changed_is_read_as_it_is(plain: Weights, place: int) -> None:
    how = Sampling(temperature=2.0, seed=5, max_tokens=30)
    talk: tuple[Message, ...] = (user("ab"),)
    prior: tuple[int, ...] = ()
    for text in ("cd", "ef", "gh"):
        (reply,) = plain.ask(Request(talk, how, prior_ids=prior))
        talk, prior = (*talk, reply.as_message(), user(text)), seen(reply)
    changed = tuple(replace(message, content="hgfedcba") if at == place else message for at, message in enumerate(talk))
    (same,) = plain.ask(Request(talk, Sampling(max_tokens=3), prior_ids=prior))
    (anew,) = plain.ask(Request(changed, Sampling(max_tokens=3), prior_ids=prior))
    assert same.prompt_ids[: len(prior)] == prior
    assert list(anew.prompt_ids) == plain.rendered(changed)


def test_worked_examples_stand_before_the_first_reply(plain: Weights) -> None:
    shown = (system("abc"), user("a"), assistant("bc"), user("d"))
    (first,) = plain.ask(Request(shown, Sampling(temperature=1.0, seed=2, max_tokens=20)))
    talk = (*shown, first.as_message(), user("e"))
    (second,) = plain.ask(Request(talk, Sampling(max_tokens=3), prior_ids=seen(first)))
    assert second.prompt_ids[: len(seen(first))] == seen(first)


def test_what_begins_a_text_is_not_added_twice(spaced: Weights, tmp_path: Path) -> None:
    assert spaced.tokenizer("a")["input_ids"][0] == FIRST, "this tokenizer would add it by itself"
    (read,) = spaced.ask(Request((user("abc"),), Sampling(max_tokens=2)))
    data = io.BytesIO()
    Picture.new("RGB", (40, 40), "red").save(data, "PNG")
    folder = seeing_weights(tmp_path / "w", template=f"<|system|>{SEEING}", begins=True)
    image = Image(hashlib.sha256(data.getvalue()).hexdigest())
    model = load_model(f"hf:{folder}")
    shown = Request((user((image, "what")),), Sampling(max_tokens=2), blob=lambda _: data.getvalue())

    async def look() -> Reply:
        try:
            return await model.complete(shown)
        finally:
            await model.close()

    looked = asyncio.run(look())
    assert [reply.prompt_ids.count(FIRST) for reply in (read, looked)] == [1, 1]
    assert len(looked.prompt_ids) == looked.usage.prompt_tokens
    assert looked.prompt_ids.count(SPECIALS.index("<image>")) > 1, "an image is read as several tokens"
