"""`hf:DIR`: local weights, by pages and in left-padded batches, tried on tiny random ones."""

from __future__ import annotations

import asyncio
import hashlib
import io
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image as Picture
from tiny_weights import reading_weights, seeing_weights

from whet.errors import FaultError, LimitReached, WhetError
from whet.models import ModelOptions, load_model
from whet.models.base import Request
from whet.models.hf.address import read_address
from whet.models.hf.chat_form import ChatForm
from whet.models.hf.engines import PaddedEngine, PagedEngine, open_engine
from whet.models.hf.rows import nucleus
from whet.models.hf.weights import _under_adapter, load_weights
from whet.types import Image, Message, Reply, Sampling, Shape, ToolSpec, system, user

SHORT = Sampling(temperature=0.0, max_tokens=12)


@pytest.fixture(scope="module")
def seeing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return seeing_weights(tmp_path_factory.mktemp("seeing") / "tiny")


@pytest.fixture(scope="module")
def reading(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return reading_weights(tmp_path_factory.mktemp("reading") / "tiny")


def picture(colour: str, size: tuple[int, int]) -> bytes:
    file = io.BytesIO()
    Picture.new("RGB", size, colour).save(file, "PNG")
    return file.getvalue()


PICTURES = [picture("red", (64, 30)), picture("blue", (40, 90)), picture("green", (50, 50)), picture("white", (90, 33))]


def shown(data: bytes, text: str, sampling: Sampling = SHORT) -> Request:
    image = Image(hashlib.sha256(data).hexdigest())
    return Request((system("look"), user((image, text))), sampling, blob=lambda _: data)


def asked(text: str, sampling: Sampling = SHORT) -> Request:
    return Request((user(text),), sampling)


def answers(folder: Path, requests: Sequence[Request], *, slots: int = 8, **options: Any) -> list[Reply]:
    """Replies to requests that are all under way at once."""

    async def complete() -> list[Reply]:
        model = load_model(f"hf:{folder}", ModelOptions(slots=slots, **options))
        try:
            return list(await asyncio.gather(*(model.complete(one) for one in requests)))
        finally:
            await model.close()

    return asyncio.run(complete())


def test_a_batch_of_photos_of_different_shapes_says_what_each_photo_alone_says(seeing: Path) -> None:
    requests = [shown(data, "what is it" * at) for at, data in enumerate(PICTURES, 1)]
    together = answers(seeing, requests)
    alone = answers(seeing, requests, slots=1)
    assert [one.text for one in together] == [one.text for one in alone]
    assert len({one.usage.prompt_tokens for one in together}) == len(PICTURES), "rows must differ in length"


def test_what_a_photo_shows_reaches_the_weights(seeing: Path) -> None:
    red, blue = answers(seeing, [shown(picture(one, (32, 32)), "same") for one in ("red", "blue")])
    assert red.text != blue.text


def test_a_row_draws_by_its_own_seed_whatever_stands_beside_it(reading: Path) -> None:
    drawn = [asked("hello there", Sampling(temperature=1.0, top_p=0.9, max_tokens=16, seed=seed)) for seed in range(4)]
    together, alone = answers(reading, drawn), answers(reading, drawn, slots=1)
    assert [one.text for one in together] == [one.text for one in alone]
    assert len({one.text for one in together}) > 1


def test_requests_of_different_length_and_temperature_share_a_batch(reading: Path) -> None:
    hot = Sampling(temperature=2.0, max_tokens=3, seed=1)
    short, long = answers(reading, [asked("a", hot), asked("b", replace(SHORT, max_tokens=9))])
    assert (short.usage.completion_tokens, long.usage.completion_tokens) == (3, 9)


def test_a_reply_that_reaches_its_limit_is_cut_off(reading: Path) -> None:
    (reply,) = answers(reading, [asked("hello")])
    assert reply.truncated
    assert reply.usage.completion_tokens == 12


def test_a_reply_ends_before_a_stop_string(reading: Path) -> None:
    (whole,) = answers(reading, [asked("hello")])
    stop = whole.text[4:6]
    (cut,) = answers(reading, [asked("hello", replace(SHORT, stop=(stop,)))])
    assert cut.finish == "stop"
    assert cut.text == whole.text[: whole.text.index(stop)]


def test_logprobs_come_with_token_ids_where_asked_for(reading: Path) -> None:
    (reply,) = answers(reading, [asked("hello", replace(SHORT, logprobs=2))])
    assert len(reply.completion_ids) == len(reply.logprobs) == 12
    assert all(one <= 0 for one in reply.logprobs)
    assert len(reply.trace[0]["top"]) == 2
    assert reply.trace[0]["top"][0][1] == pytest.approx(reply.logprobs[0]), "greedy takes the likeliest"


def test_a_prompt_that_fills_the_context_is_a_limit_and_spares_its_neighbours(reading: Path) -> None:
    async def complete() -> list[Any]:
        model = load_model(f"hf:{reading}", ModelOptions(slots=8))
        both = (model.complete(asked("x" * 600)), model.complete(asked("hello")))
        try:
            return list(await asyncio.gather(*both, return_exceptions=True))
        finally:
            await model.close()

    over, fine = asyncio.run(complete())
    assert isinstance(over, LimitReached)
    assert over.reason == "context_overflow"
    assert isinstance(fine, Reply)


def test_a_broken_image_is_a_fault_of_its_own_request_alone(seeing: Path) -> None:
    async def complete() -> list[Any]:
        model = load_model(f"hf:{seeing}", ModelOptions(slots=8))
        both = (model.complete(shown(b"no image", "a")), model.complete(shown(PICTURES[0], "b")))
        try:
            return list(await asyncio.gather(*both, return_exceptions=True))
        finally:
            await model.close()

    broken, fine = asyncio.run(complete())
    assert isinstance(broken, FaultError)
    assert broken.fault.kind == "local_model"
    assert isinstance(fine, Reply)


def test_text_and_photos_are_not_mixed_in_one_batch(seeing: Path) -> None:
    seen, read = answers(seeing, [shown(PICTURES[0], "look"), asked("no photo here")])
    assert seen.usage.prompt_tokens != read.usage.prompt_tokens
    assert read.text


def test_effort_none_turns_thinking_off_in_the_chat_template(reading: Path) -> None:
    plain, off = answers(reading, [asked("hello"), asked("hello", replace(SHORT, effort="none"))])
    assert off.usage.prompt_tokens == plain.usage.prompt_tokens + 1


def test_tools_are_told_in_text(reading: Path) -> None:
    spec = ToolSpec("look", "looks")
    (plain,) = answers(reading, [asked("hi")])
    (told,) = answers(reading, [replace(asked("hi"), tools=(spec,))], context=4096)
    assert told.usage.prompt_tokens > plain.usage.prompt_tokens + 100


def test_the_fingerprint_is_of_the_content_and_not_of_the_place(reading: Path, tmp_path: Path) -> None:
    same = reading_weights(tmp_path / "copy")
    other = reading_weights(tmp_path / "other", template="{{ messages[0].content }}")
    prints = [load_model(f"hf:{one}").fingerprint for one in (reading, same, other)]
    assert prints[0] == prints[1] != prints[2]


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        (shown(PICTURES[0], "a"), "reads text only"),
        (replace(asked("a"), shape=Shape(grammar="root ::= x")), "grammar or a schema"),
    ],
)
def test_what_it_cannot_do_is_refused(reading: Path, request_: Request, told: str) -> None:
    with pytest.raises(WhetError, match=told):
        answers(reading, [request_])


def test_a_base_model_without_a_chat_template_is_refused(tmp_path: Path) -> None:
    folder = reading_weights(tmp_path / "base", template=None)
    with pytest.raises(WhetError, match="no chat template"):
        answers(folder, [asked("a")])


@pytest.mark.parametrize(("made", "told"), [(False, "is no model folder"), (True, "holds no weights")])
def test_a_folder_that_holds_no_model_is_refused(tmp_path: Path, made: bool, told: str) -> None:
    if made:
        (tmp_path / "config.json").write_text("{}")
    with pytest.raises(WhetError, match=told):
        load_model(f"hf:{tmp_path}")


def test_unknown_settings_are_refused(reading: Path) -> None:
    with pytest.raises(WhetError, match="it takes device, dtype, template"):
        load_model(f"hf:{reading}", ModelOptions(extra={"devise": "cpu"}))


def test_a_call_after_the_close_is_a_fault(reading: Path) -> None:
    async def late() -> None:
        model = load_model(f"hf:{reading}")
        await model.close()
        await model.complete(asked("a"))

    with pytest.raises(FaultError, match="closed"):
        asyncio.run(late())


def test_a_cancelled_call_ends_its_batch(reading: Path) -> None:
    async def cancelled() -> int:
        model = load_model(f"hf:{reading}", ModelOptions(context=1 << 20))
        await model.complete(asked("a"))
        endless = asyncio.create_task(model.complete(asked("b", replace(SHORT, max_tokens=1 << 19))))
        await asyncio.sleep(0.05)
        endless.cancel()
        after = await model.complete(asked("c"))
        await model.close()
        return after.usage.completion_tokens

    assert asyncio.run(cancelled()) == 12


def test_a_later_turn_is_not_read_from_the_beginning(reading: Path) -> None:
    weights = load_weights(read_address(str(reading)), "cpu", "auto", 1)
    engine = open_engine(weights, 4)
    assert isinstance(engine, PagedEngine)
    form, sampling = ChatForm("tiny", ""), replace(SHORT, max_tokens=6)
    talk: tuple[Message, ...] = (user("a long question " * 20),)
    read: list[int] = []
    for _ in range(3):
        before = engine._decoder.read
        engine.submit(form.prompt(Request(talk, sampling)))
        told: list[Any] = []
        while engine.busy:
            told += engine.step(lambda ticket: False)
        ((_, made),) = told
        read.append(engine._decoder.read - before)
        talk = (*talk, Message("assistant", made.text), user("go on"))
    assert max(read[1:]) < read[0] / 2


def test_a_model_that_pages_cannot_serve_is_served_in_batches(seeing: Path) -> None:
    weights = load_weights(read_address(str(seeing)), "cpu", "auto", 1)
    assert isinstance(open_engine(weights, 4), PaddedEngine)


def test_keys_and_values_take_no_more_than_they_may(reading: Path) -> None:
    model = load_model(f"hf:{reading}", ModelOptions(slots=2, context=256, cache=1e-6))
    with pytest.raises(WhetError, match="hold the keys and values of"):
        asyncio.run(model.complete(asked("a", SHORT)))


def test_whoever_is_given_up_makes_room_for_the_next(reading: Path) -> None:
    async def replaced() -> tuple[int, int]:
        model = load_model(f"hf:{reading}", ModelOptions(slots=1))
        first = asyncio.create_task(model.complete(asked("b", replace(SHORT, max_tokens=200))))
        other = asyncio.create_task(model.complete(asked("c", replace(SHORT, max_tokens=200))))
        await asyncio.sleep(0.05)
        other.cancel()  # waits for the slot that the first one has
        said = await first
        after = await model.complete(asked("d"))
        await model.close()
        return said.usage.completion_tokens, after.usage.completion_tokens

    assert asyncio.run(replaced()) == (200, 12)


def test_the_nucleus_is_the_least_that_has_the_mass() -> None:
    kept = nucleus(torch.log(torch.tensor([0.1, 0.5, 0.15, 0.25])), 0.7)
    assert torch.isfinite(kept).tolist() == [False, True, False, True]


def test_messages_keep_their_order_and_their_parts(seeing: Path) -> None:
    first, second = (Image(hashlib.sha256(data).hexdigest()) for data in PICTURES[:2])
    by_name = {hashlib.sha256(data).hexdigest(): data for data in PICTURES}
    talk = (user((first, "one")), Message("assistant", "said"), user((second, "two")))
    swapped = (user((second, "one")), Message("assistant", "said"), user((first, "two")))
    one, other = answers(seeing, [Request(talk, SHORT, blob=by_name.__getitem__) for talk in (talk, swapped)])
    assert one.text != other.text


COLLECTED = """
import gc, sys, threading
from whet.models import ModelOptions, load_model

class Engine:
    busy = False

    def submit(self, job):
        return 0

    def step(self, given_up):
        return [(0, None)]

model = load_model("hf:" + sys.argv[1], ModelOptions())
model._queue._open = Engine
model._queue.put(None).result()
model.itself = model
del model
within = threading._maintain_shutdown_locks

def collect():
    gc.collect()
    within()

threading._maintain_shutdown_locks = collect
thread = threading.Thread(target=int)
thread.start()
thread.join()
"""
"""Drops a model that nobody closed where the interpreter holds the lock that ending a thread takes."""


@pytest.mark.skipif(
    not hasattr(threading, "_maintain_shutdown_locks"), reason="this Python ends threads in another way"
)
def test_a_model_that_is_collected_waits_for_no_thread(reading: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", COLLECTED, str(reading)], timeout=60, check=False)
    assert ended.returncode == 0


@pytest.mark.parametrize(
    ("saved", "asked", "device", "wanted"),
    [
        (torch.float32, "auto", "cuda", torch.bfloat16),
        (torch.float32, "auto", "cuda:1", torch.bfloat16),
        (torch.float16, "auto", "cuda", torch.float16),
        (torch.float32, "float32", "cuda", torch.float32),
        (torch.float32, "auto", "cpu", torch.float32),
    ],
)
def test_a_base_under_an_adapter_has_the_numbers_that_it_is_trained_in(
    saved: torch.dtype, asked: str, device: str, wanted: torch.dtype
) -> None:
    assert _under_adapter(saved, asked, device) == wanted
