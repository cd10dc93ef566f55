"""The decoder with pages against plain `generate`, on tiny random models: the same tokens, whatever stands beside."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import peft
import pytest
import torch
import transformers

from whet.errors import LimitReached, WhetError
from whet.models.hf.decoder import Decoder, DecoderLimits
from whet.models.hf.layout import UnpagedModelError
from whet.models.hf.noise import gumbel
from whet.models.hf.paged import LayerShape, token_bytes
from whet.models.hf.pages import PAGE, Chain, PageTable
from whet.models.hf.rows import Defaults, RowResult
from whet.types import Sampling

VOCABULARY = 60
END = 1
SHAPE: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 48,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    "eos_token_id": END,
    "pad_token_id": 0,
}
SMALL = DecoderLimits(slots=4, chunk=24, cache_bytes=10**6)


def model_of(kind: str = "Llama", **more: Any) -> Any:
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(**SHAPE | more)
    model = getattr(transformers, f"{kind}ForCausalLM")(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(3.0 if weight.ndim > 1 else 1.0)  # far from the uniform, where last bits decide
    return model


def letters(ids: Sequence[int]) -> str:
    return "".join(chr(ord("a") + token % 26) for token in ids)


def decoder_of(model: Any, limits: DecoderLimits = SMALL, temperature: float = 0.0) -> Decoder:
    return Decoder(model, Defaults(temperature, 1.0, frozenset({END})), letters, limits)


def answers(decoder: Decoder, asked: Sequence[tuple[Sequence[int], Sampling]]) -> list[Any]:
    tickets = [decoder.submit(ids, sampling) for ids, sampling in asked]
    came: dict[int, Any] = {}
    while decoder.busy:
        came |= dict(decoder.step())
    return [came[ticket] for ticket in tickets]


def by_generate(model: Any, ids: Sequence[int], most: int) -> list[int]:
    given = torch.tensor([list(ids)])
    with torch.no_grad():
        out = model.generate(input_ids=given, attention_mask=given * 0 + 1, do_sample=False, max_new_tokens=most)
    found: list[int] = out[0, len(ids) :].tolist()
    return found


def prompts(n: int, seed: int = 0) -> list[list[int]]:
    chance = random.Random(seed)
    return [[chance.randrange(2, VOCABULARY) for _ in range(chance.randrange(1, 60))] for _ in range(n)]


# --------------------------------------------------------------------------------------------- the same tokens


@pytest.mark.parametrize("kind", ["Llama", "Qwen2"])
def test_ragged_plays_of_many_turns_say_what_generate_says(kind: str) -> None:
    model = model_of(kind)
    decoder = decoder_of(model)
    chance = random.Random(1)
    talks = [list(prompt) for prompt in prompts(3) for _ in range(3)]
    for _ in range(3):
        limits = [chance.randrange(1, 20) for _ in talks]
        rows = answers(decoder, [(t, Sampling(0.0, max_tokens=n)) for t, n in zip(talks, limits, strict=True)])
        for at, (row, most) in enumerate(zip(rows, limits, strict=True)):
            assert list(row.completion_ids) == by_generate(model, talks[at], most)
            assert row.finish == ("stop" if row.completion_ids[-1] == END else "length")
            talks[at] += [*row.completion_ids, *prompts(1, at)[0][: chance.randrange(1, 20)]]


def test_who_lacks_one_token_of_a_shared_prompt_waits_until_it_is_read() -> None:
    model = model_of()
    prompt = [3 + 7 * at % 50 for at in range(4 * PAGE + 1)]
    rows = answers(decoder_of(model), [(prompt, Sampling(0.0, max_tokens=10))] * 4)
    assert [list(row.completion_ids) for row in rows] == [by_generate(model, prompt, 10)] * 4


def test_a_reply_ends_with_its_stop_string_and_is_told_without_it() -> None:
    model = model_of()
    [prompt] = prompts(1)
    whole = by_generate(model, prompt, 12)
    stop = letters(whole[4:6])
    first = letters(whole).index(stop)
    [row] = answers(decoder_of(model), [(prompt, Sampling(0.0, max_tokens=12, stop=(stop,)))])
    assert list(row.completion_ids) == whole[: first + 2]
    assert (row.text, row.finish) == (letters(whole)[:first], "stop")


def test_company_changes_no_draw() -> None:
    model = model_of()
    asked = [(p, Sampling(0.9, 0.8 if at % 2 else None, 15, seed=at)) for at, p in enumerate(prompts(2) * 4)]
    together = answers(decoder_of(model), asked)
    alone = [answers(decoder_of(model), [request])[0] for request in asked]
    assert [row.completion_ids for row in together] == [row.completion_ids for row in alone]
    assert len({tuple(row.completion_ids) for row in together}) > 2, "seeds differ, and so do draws"


def test_logprobs_are_those_of_the_weights_before_temperature() -> None:
    model = model_of()
    asked = [(prompt, Sampling(1.3, 0.7, 9, seed=5, logprobs=0)) for prompt in prompts(4)]
    for (prompt, _), row in zip(asked, answers(decoder_of(model), asked), strict=True):
        with torch.no_grad():
            scores = model(torch.tensor([[*prompt, *row.completion_ids]])).logits[0].log_softmax(-1)
        told = [float(scores[len(prompt) - 1 + at, token]) for at, token in enumerate(row.completion_ids)]
        assert row.logprobs == pytest.approx(told, abs=1e-4)


def test_draws_follow_the_probabilities() -> None:
    logits = torch.tensor([0.0, 1.0, 2.0, -1.0])
    counts = torch.zeros(4)
    for seed in range(100):
        for step in range(40):
            counts[(logits + gumbel([(seed, step)], 4, logits.device)[0]).argmax()] += 1
    assert torch.allclose(counts / counts.sum(), logits.softmax(0), atol=0.03)


# --------------------------------------------------------------------------------------------- what is read


def test_a_groups_prompt_is_read_once_and_a_turn_reads_what_is_new() -> None:
    decoder = decoder_of(model_of(), DecoderLimits(slots=8, chunk=64, cache_bytes=10**6))
    prompt = [5 + at % 50 for at in range(100)]
    asked = [(prompt, Sampling(1.0, max_tokens=10, seed=seed)) for seed in range(8)]
    rows = answers(decoder, asked)
    drawn = sum(len(row.completion_ids) for row in rows)
    assert decoder.read <= len(prompt) + 7 * PAGE + drawn
    before = decoder.read
    again = [([*prompt, *row.completion_ids, 7, 8, 9], Sampling(1.0, max_tokens=1)) for row in rows]
    assert min(row.known for row in answers(decoder, again)) >= 96
    assert decoder.read - before <= 8 * (PAGE + 4)


def test_short_of_pages_plays_wait_and_are_read_again_and_say_the_same() -> None:
    model = model_of()
    asked = [(prompt, Sampling(1.0, max_tokens=40, seed=at)) for at, prompt in enumerate(prompts(8, 3))]
    each = PAGE * token_bytes([LayerShape(2, 8, 8)] * 2, torch.float32)
    tight = decoder_of(model, DecoderLimits(slots=8, chunk=64, cache_bytes=9 * each))
    roomy = answers(decoder_of(model), asked)
    assert [row.completion_ids for row in answers(tight, asked)] == [row.completion_ids for row in roomy]
    assert tight.read > sum(len(row.prompt_ids) + len(row.completion_ids) for row in roomy) / 2


def test_pages_are_neither_lost_nor_given_twice() -> None:
    chance = random.Random(0)
    table = PageTable(20, 4)
    held: list[Chain] = []
    for _ in range(2000):
        if held and (table.room < 6 or chance.random() < 0.5):
            table.release(held.pop(chance.randrange(len(held))).pages)
            continue
        ids = [chance.randrange(2) for _ in range(chance.randrange(1, 20))]
        found = table.find(ids)
        new = table.take(-(-len(ids) // 4) - found.known)
        assert new is not None
        assert not set(new) & {page for chain in held for page in chain.pages}, "a page that is held was given again"
        found.pages += new
        held.append(found)
        table.remember(ids, found)
    for chain in held:
        table.release(chain.pages)
    assert table.room == 19


# --------------------------------------------------------------------------------------------- weights that change


def test_after_an_update_in_place_the_new_weights_answer() -> None:
    model = model_of()
    decoder = decoder_of(model)
    [prompt] = [[3 + at % 50 for at in range(50)]]
    before = answers(decoder, [(prompt, Sampling(0.0, max_tokens=12))])[0].completion_ids
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight) * 0.1)
    after = answers(decoder, [(prompt, Sampling(0.0, max_tokens=12))])[0]
    assert list(after.completion_ids) == by_generate(model, prompt, 12) != list(before)
    assert after.known == 0


def test_an_update_while_replies_are_drawn_is_refused() -> None:
    model = model_of()
    decoder = decoder_of(model)
    decoder.submit([5, 6, 7], Sampling(0.0, max_tokens=30))
    decoder.step()
    with torch.no_grad():
        model.lm_head.weight.mul_(1.5)
    with pytest.raises(WhetError, match="while replies were being drawn"):
        decoder.step()


def test_a_model_in_training_is_left_as_it_was() -> None:
    model = model_of(attention_dropout=0.5)
    model.train()
    decoder = decoder_of(model)
    first, second = (answers(decoder, [([5, 6, 7], Sampling(0.0, max_tokens=12))])[0] for _ in range(2))
    assert first.completion_ids == second.completion_ids, "nothing is dropped out"
    assert model.training
    assert model.model.layers[0].self_attn.training
    assert model.config._attn_implementation == "sdpa"


def test_adapters_on_a_live_model_are_heard() -> None:
    model = model_of()
    [prompt] = prompts(1)
    plain = by_generate(model, prompt, 12)
    adapted = peft.get_peft_model(model, peft.LoraConfig(r=4, target_modules=["q_proj", "v_proj"], lora_dropout=0.5))
    with torch.no_grad():
        for name, weight in adapted.named_parameters():
            if "lora_B" in name:
                weight.normal_()
    adapted.train()
    found = list(answers(decoder_of(adapted), [(prompt, Sampling(0.0, max_tokens=12))])[0].completion_ids)
    adapted.eval()
    assert found == by_generate(adapted, prompt, 12) != plain


# --------------------------------------------------------------------------------------------- limits


def test_a_prompt_that_fills_the_context_is_a_limit_and_a_reply_is_cut_there() -> None:
    decoder = decoder_of(model_of(), DecoderLimits(slots=4, chunk=64, context=40, cache_bytes=10**6))
    full, short = answers(decoder, [([5] * 40, Sampling(0.0)), ([5] * 36, Sampling(1.0, max_tokens=99, seed=1))])
    assert isinstance(full, LimitReached)
    assert full.reason == "context_overflow"
    assert isinstance(short, RowResult)
    assert (len(short.completion_ids), short.finish) == (4, "length")


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        (DecoderLimits(slots=2, context=200, cache_bytes=20_000), "raise cache_bytes or lower context"),
        (DecoderLimits(slots=64, chunk=64), "at least two tokens for each slot"),
    ],
)
def test_limits_that_cannot_be_kept_are_refused(limits: DecoderLimits, told: str) -> None:
    with pytest.raises(WhetError, match=told):
        decoder_of(model_of(), limits)


ROPE = {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10000.0}


@pytest.mark.parametrize(
    ("kind", "more", "told"),
    [
        ("Mistral", {"sliding_window": 16}, "do not keep all keys and values"),
        ("Llama", {"rope_parameters": ROPE}, "company would change a reply"),
        ("Bloom", {"n_head": 6, "n_layer": 2}, "Bloom"),
    ],
)
def test_a_model_that_pages_cannot_serve_is_refused(kind: str, more: dict[str, Any], told: str) -> None:
    with pytest.raises(UnpagedModelError, match=told):
        decoder_of(model_of(kind, **more))
