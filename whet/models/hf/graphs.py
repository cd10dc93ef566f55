"""Passes over a GPU as CUDA graphs: a pass is recorded once for each shape, and then started by one call.

A model of thirty layers is more than a thousand small kernels, which take longer to start one by one than to run. A
graph reads weights where they lie, so weights that are updated in place are the ones it uses.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import torch

from whet.models.hf.host_step import HostStep
from whet.models.hf.kernels import draw, tile
from whet.models.hf.paged import PackedStep, PagePool, logits_of
from whet.models.hf.pages import PAGE

TOKENS = (512, 1024, 2048, 4096, 8192)
"""Shapes of passes in which prompts are read."""

ROWS = 32
"""Passes in which every row draws its next token have a multiple of so many rows, or a power of 2 below."""


class StepGraphs:
    """The graphs of one model. `rows` is the most sequences in a pass, `pages` the most of one sequence.

    The model computes `within` a context, which those that are recorded need no more.
    """

    def __init__(
        self,
        model: Any,
        pool: PagePool,
        heads: int,
        rows: int,
        pages: int,
        within: Callable[[], AbstractContextManager[Any]] = nullcontext,
        *,
        record: bool = True,
    ) -> None:
        self._model, self._pool, self._heads = model, pool, heads
        self._rows, self._pages = rows, pages
        self._within, self._record = within, record
        self._graphs: dict[tuple[bool, int, int], StepGraph] = {}
        self._memory: Any = torch.cuda.graph_pool_handle() if record else None

    def run(self, step: HostStep, repeat: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Drawn tokens and their log-probabilities, `[repeat, rows]`, and the last scores.

        Repeated, each row reads the token it has just drawn; that is for passes where every row brings one token.
        """
        rows, tokens = len(step.new), len(step.ids)
        single = tokens == rows
        shape = (_up(rows), _up(rows)) if single else (_bucket(tokens), self._rows)
        graph = self._graphs.get((single, *shape))
        if graph is None:
            graph = StepGraph(self._model, self._pool, self._heads, shape, self._pages, single=single)
            if self._record:
                with self._within():
                    graph.record(self._memory)
            self._graphs[(single, *shape)] = graph
        graph.fill(step)
        drawn = torch.empty(repeat, rows, dtype=torch.int32, device=graph.whole.device)
        logprobs = torch.empty(repeat, rows, dtype=torch.float32, device=graph.whole.device)
        with nullcontext() if self._record else self._within():
            for at in range(repeat):
                graph.start()
                drawn[at] = graph.tokens[:rows]
                logprobs[at] = graph.logprobs[:rows]
        return drawn, logprobs, graph.logits[:rows]

    def clear(self) -> None:
        self._graphs.clear()


class StepGraph:
    """One shape of pass: its inputs at fixed addresses, and the graph over them."""

    tokens: torch.Tensor
    logprobs: torch.Tensor
    logits: torch.Tensor

    def __init__(
        self, model: Any, pool: PagePool, heads: int, shape: tuple[int, int], pages: int, *, single: bool
    ) -> None:
        tokens, rows = shape
        device, held = pool.keys[0].device, pool.keys[0].shape[1]
        self.single = single
        self._model = model
        self._tile = tile(heads, held, narrow=self.single)
        n_blocks = rows if self.single else tokens // self._tile + rows
        sizes = [tokens, tokens, tokens, rows + 1, rows, rows, 2 * rows, rows, rows, 2 * n_blocks, rows * pages]
        self.whole = torch.zeros(sum(sizes), dtype=torch.int32, device=device)
        self._host = torch.zeros(sum(sizes), dtype=torch.int32, pin_memory=True)
        ids, positions, places, starts, lengths, last, seeds, steps, sharp, blocks, table = self.whole.split(sizes)
        self._parts = [part.numpy() for part in self._host.split(sizes)]
        self._seeds, self._steps, self._sharp, self._last = seeds, steps, sharp.view(torch.float32), last
        self._places = places
        self._step = PackedStep(
            pool,
            ids,
            positions,
            places,
            starts,
            lengths,
            table.view(rows, pages),
            blocks.view(2, n_blocks),
            self.single,
        )
        self._step.blocks[0] = -1  # type: ignore[index]
        self._graph: Any = None

    def record(self, memory: Any) -> None:
        """Run once aside, so that everything is compiled, and then record."""
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            self._pass()
        torch.cuda.current_stream().wait_stream(aside)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph, pool=memory):
            self._pass()

    def start(self) -> None:
        if self._graph is None:
            self._pass()
        else:
            self._graph.replay()

    def fill(self, step: HostStep) -> None:
        """Bring the numbers of a pass to the device, in one copy."""
        ids, positions, places, starts, lengths, last, seeds, steps, sharp, blocks, table = self._parts
        new, total = step.new, step.total
        rows, tokens = len(new), len(step.ids)
        ends = np.cumsum(new)
        ids[:tokens] = step.ids
        ids[tokens:] = 0
        owner = np.repeat(np.arange(rows), new)
        position = np.arange(tokens) - np.repeat(ends - total, new)
        positions[:tokens] = position
        positions[tokens:] = 0
        places[:tokens] = step.table[owner, position // PAGE] * PAGE + position % PAGE
        places[tokens:] = 0
        starts[0] = 0
        starts[1 : rows + 1] = ends
        starts[rows + 1 :] = tokens
        lengths[:rows] = total
        lengths[rows:] = 1
        last[:rows] = ends - 1
        last[rows:] = 0
        seeds[: 2 * rows] = step.seeds.view(np.int32)
        steps[:rows] = step.steps
        sharp.view(np.float32)[:rows] = step.sharpness
        sharp[rows:] = 0
        tiles = -(-new // self._tile)
        n_blocks = int(tiles.sum())
        split = blocks.reshape(2, -1)
        split[0] = -1
        split[0, :n_blocks] = np.repeat(np.arange(rows), tiles)
        split[1, :n_blocks] = (np.arange(n_blocks) - np.repeat(np.cumsum(tiles) - tiles, tiles)) * self._tile
        wide = table.reshape(len(lengths), -1)
        wide[:rows, : step.table.shape[1]] = step.table
        wide[rows:] = 0
        if self.single:  # rows that pad the batch draw as well, each for itself, from the spare page
            last[rows:] = np.arange(rows, len(last))
            starts[rows + 1 :] = np.arange(rows + 1, len(starts))
        self.whole.copy_(self._host, non_blocking=True)

    def _pass(self) -> None:
        step = self._step
        step.places = self._places.long()
        self.logits = logits_of(self._model, step, self._last)
        self.tokens, self.logprobs = draw(self.logits, self._sharp, self._seeds, self._steps)
        if self.single:
            step.ids.copy_(self.tokens)
            step.positions.add_(1)
            step.lengths.add_(1)
            self._steps.add_(1)
            page = step.table.gather(1, (step.positions // PAGE).long()[:, None])[:, 0]
            self._places.copy_(page * PAGE + step.positions % PAGE)


def _up(rows: int) -> int:
    return 1 << (rows - 1).bit_length() if rows <= ROWS else -(-rows // ROWS) * ROWS


def _bucket(tokens: int) -> int:
    return next((size for size in TOKENS if size >= tokens), tokens)
