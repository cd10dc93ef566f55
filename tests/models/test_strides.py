"""Rows that draw several tokens before the host looks, as beside a GPU, say what rows say that are looked at each time.

The passes are plain torch here, of what a graph would be filled with: what is shown is the host's side of them.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))

from test_decoder import SMALL, answers, decoder_of, letters, model_of, prompts

from whet.models.hf.decoder import Decoder, DecoderLimits
from whet.models.hf.host_step import HostStep, RowColumns
from whet.models.hf.noise import gumbel
from whet.models.hf.paged import LayerShape, PackedStep, logits_of, token_bytes
from whet.models.hf.pages import PAGE
from whet.types import Sampling


class PlainGraphs:
    """Passes without a graph: repeated, each row reads the token that it has just drawn."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder

    def run(self, step: HostStep, repeat: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        drawn, logprobs = [], []
        for at in range(repeat):
            scores = self._scores(step).float()
            sharp = torch.tensor(step.sharpness, dtype=torch.float32)[:, None]
            draws = list(zip(step.seeds.tolist(), (step.steps + at).tolist(), strict=True))
            noisy = scores * sharp + gumbel(draws, scores.shape[-1], scores.device)
            tokens = torch.where(sharp > 0, noisy, scores).argmax(-1)
            drawn.append(tokens.int())
            logprobs.append(scores.log_softmax(-1).gather(1, tokens[:, None])[:, 0])
            step = replace(step, ids=tokens.numpy(), total=step.total + 1)
        return torch.stack(drawn), torch.stack(logprobs), scores

    def _scores(self, step: HostStep) -> torch.Tensor:
        ends = np.cumsum(step.new)
        owner = np.repeat(np.arange(len(ends)), step.new)
        position = np.arange(len(step.ids)) - np.repeat(ends - step.total, step.new)
        places = step.table[owner, position // PAGE].astype(np.int64) * PAGE + position % PAGE
        numbers = [torch.as_tensor(part) for part in (np.asarray(step.ids, dtype=np.int64), position, places)]
        counts = list(zip(step.new.tolist(), step.total.tolist(), strict=True))
        none = torch.empty(0)
        packed = PackedStep(
            self._decoder._memory(), *numbers, none, none, torch.from_numpy(step.table.copy()), counts=counts
        )
        with self._decoder._computing():
            return logits_of(self._decoder._model, packed, torch.as_tensor(ends - 1))


def striding(model: Any, limits: DecoderLimits = SMALL) -> Decoder:
    decoder = decoder_of(model, limits)
    decoder._fast, decoder._graphs = True, PlainGraphs(decoder)  # type: ignore[assignment]
    return decoder


def asked(n: int, seed: int, **more: Any) -> list[tuple[list[int], Sampling]]:
    return [
        (prompt, Sampling((1.0, 0.0, 0.7)[at % 3], max_tokens=1 + 7 * at % 40, seed=at, logprobs=0, **more))
        for at, prompt in enumerate(prompts(n, seed))
    ]


def told(rows: list[Any]) -> list[Any]:
    return [(row.text, row.finish, row.prompt_ids, row.completion_ids) for row in rows]


@pytest.mark.parametrize("stride", [1, 4, 7])
def test_strides_change_nothing_that_is_said(stride: int) -> None:
    model = model_of()
    wanted, found = (
        answers(decoder, asked(12, 3))
        for decoder in (decoder_of(model), striding(model, replace(SMALL, stride=stride)))
    )
    assert told(found) == told(wanted)
    for row, other in zip(found, wanted, strict=True):
        assert row.logprobs == pytest.approx(other.logprobs, abs=1e-4)


def test_rows_that_are_looked_at_draw_beside_others() -> None:
    model = model_of()
    whole = answers(decoder_of(model), asked(3, 5))
    stop = letters(whole[2].completion_ids[3:5])
    mixed = [*asked(3, 5), *asked(3, 5, stop=(stop,)), *asked(3, 5, top_p=0.8), *asked(3, 6)]
    assert told(answers(striding(model), mixed)) == told(answers(decoder_of(model), mixed))


def test_rows_that_wait_for_pages_go_on_from_what_they_had_drawn() -> None:
    model = model_of()
    each = PAGE * token_bytes([LayerShape(2, 8, 8)] * 2, torch.float32)
    tight = striding(model, DecoderLimits(slots=8, chunk=64, cache_bytes=9 * each))
    wanted = answers(decoder_of(model), asked(8, 3))
    found = answers(tight, asked(8, 3))
    assert told(found) == told(wanted)
    assert [len(row.logprobs) for row in found] == [len(row.completion_ids) for row in found]


def test_a_reply_that_is_dropped_leaves_what_it_read() -> None:
    decoder = striding(model_of())
    [(prompt, _)] = asked(1, 4)
    long = [*prompt, *prompt][: 2 * PAGE]
    ticket = decoder.submit(long, Sampling(1.0, max_tokens=40, seed=1))
    for _ in range(3):
        decoder.step()
    decoder.drop(ticket)
    assert not decoder.busy
    [row] = answers(decoder, [(long, Sampling(0.0, max_tokens=3))])
    assert row.known == PAGE


def test_what_is_drawn_beyond_an_end_or_a_limit_is_not_noted() -> None:
    columns = RowColumns(3, {1})
    columns.limit[:] = (9, 2, 9)
    drawn = np.array([[5, 5, 5], [1, 6, 6], [7, 7, 7]], dtype=np.int32)
    ended = columns.take(np.arange(3), drawn, np.zeros((3, 3), dtype=np.float32))
    assert ended.tolist() == [True, True, False]
    assert [columns.told(slot)[0] for slot in range(3)] == [[5, 1], [5, 6], [5, 6, 7]]
    assert columns.last.tolist() == [1, 6, 7]


class CountedGraphs(PlainGraphs):
    """Tells how many passes were started."""

    started = 0

    def run(self, step: HostStep, repeat: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        self.started += 1
        return super().run(step, repeat)


def counting(model: Any) -> tuple[Decoder, CountedGraphs]:
    decoder = striding(model)
    graphs = CountedGraphs(decoder)
    decoder._graphs = graphs  # type: ignore[assignment]
    return decoder, graphs


def test_the_next_pass_is_started_before_what_the_last_one_brought_is_told() -> None:
    decoder, graphs = counting(model_of())
    [(prompt, _), (other, _)] = asked(2, 7)
    short = decoder.submit(prompt, Sampling(1.0, max_tokens=1, seed=1))
    decoder.submit(other, Sampling(1.0, max_tokens=40, seed=2))
    assert decoder.step() == []
    assert graphs.started == 1
    assert [ticket for ticket, _ in decoder.step()] == [short]
    assert graphs.started == 2


def test_no_pass_is_started_when_the_last_reply_has_ended() -> None:
    decoder, graphs = counting(model_of())
    [(prompt, _)] = asked(1, 7)
    decoder.submit(prompt, Sampling(1.0, max_tokens=1, seed=1))
    while decoder.busy:
        decoder.step()
    assert graphs.started == 1
    assert decoder._started is None


def test_a_reply_that_is_dropped_while_its_pass_runs_is_not_told() -> None:
    decoder, _ = counting(model_of())
    [(prompt, _), (other, _)] = asked(2, 7)
    dropped = decoder.submit(prompt, Sampling(1.0, max_tokens=1, seed=1))
    kept = decoder.submit(other, Sampling(1.0, max_tokens=1, seed=2))
    decoder.step()
    decoder.drop(dropped)
    told = []
    while decoder.busy:
        told += [ticket for ticket, _ in decoder.step()]
    assert told == [kept]


def test_a_decoder_that_is_closed_while_a_pass_runs_begins_anew() -> None:
    model = model_of()
    decoder, _ = counting(model)
    [(prompt, sampling)] = asked(1, 7)
    decoder.submit(prompt, sampling)
    decoder.step()
    decoder.close()
    assert not decoder.busy
    decoder._graphs = PlainGraphs(decoder)  # type: ignore[assignment]
    assert told(answers(decoder, asked(4, 8))) == told(answers(decoder_of(model), asked(4, 8)))
