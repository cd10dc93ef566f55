"""Replies for many conversations at once from one model in memory: read what is new, draw, refill, turn after turn.

A sequence takes a slot while a reply is drawn. Its keys and values lie in pages (`pages.py`) that outlive it: the next
turn of the same conversation finds them, and so does every other draw from the same prompt, also one that is read in
the same pass. What waits for a tool holds no slot, and its pages only as long as there is room.

On a GPU every pass is a CUDA graph over Triton kernels (`graphs.py`), and rows draw `stride` tokens before the host
looks; elsewhere the same passes run as plain torch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from whet.errors import LimitReached, WhetError
from whet.models.hf.folded import FoldedAdapters
from whet.models.hf.host_step import HostStep
from whet.models.hf.layout import ModelLayout, inner_model, read_layout
from whet.models.hf.limits import GIB, DecoderLimits, page_room
from whet.models.hf.norms import FusedNorms
from whet.models.hf.paged import PackedStep, PagePool, logits_of, paged, token_bytes
from whet.models.hf.pages import PAGE, Chain, PageTable
from whet.models.hf.rows import BatchRow, Chooser, Decode, Defaults, RowResult, Watcher, text_of, top_entries
from whet.types import Sampling

if TYPE_CHECKING:
    from whet.models.hf.graphs import StepGraphs

PATIENCE = 3
"""Passes for which a few prompts wait for more of them, where many rows draw."""


@dataclass(slots=True, eq=False)
class _Sequence:
    """A prompt on its way to a reply. All of `ids` up to `done` have keys and values in the pages of `chain`."""

    ticket: int
    prompt: Sequence[int]
    row: BatchRow
    ids: list[int]
    done: int = 0
    known: int = 0
    slot: int = -1
    reading: bool = True
    """Whether its tokens are still being read, since it was last given a slot."""
    chain: Chain = field(default_factory=Chain)
    sharpness: float = 0.0
    plain: bool = True
    """Whether the kernel draws for this row: it knows no nucleus and no alternatives."""

    @property
    def unread(self) -> int:
        return len(self.ids) - self.done


class Decoder:
    """The slots of one model. `submit` prompts, and call `step` until all are answered. Used from one thread.

    `module` is a live causal language model of transformers, also with peft adapters on it. After its weights have
    changed, what was read with the old ones is of no use: `refresh` forgets it, and where nothing is under way that
    happens by itself. Weights that were moved to another place are recorded anew.
    """

    def __init__(
        self, module: Any, defaults: Defaults, decode: Decode, limits: DecoderLimits = DecoderLimits()
    ) -> None:
        self._model = inner_model(module)
        self._layout: ModelLayout = read_layout(self._model)
        self._limits = limits
        self._defaults, self._decode = defaults, decode
        self._watcher = Watcher((), defaults, decode, lambda: False)
        self._fast = self._layout.device.type == "cuda" and _has_triton()
        self._folded = FoldedAdapters(self._model)
        self._folded.fold()
        self._norms = FusedNorms(self._model) if self._fast else None
        self._count, self.context = page_room(limits, self._layout)
        self._width = -(-(self.context + limits.stride) // PAGE) + 1
        self._table = np.zeros((limits.slots, self._width), dtype=np.int32)
        self._pages = PageTable(self._count)
        self._pool: PagePool | None = None
        self._graphs: StepGraphs | None = None
        self._weights = self._weights_now()
        self._slots = list(range(limits.slots - 1, -1, -1))
        self._waiting: deque[_Sequence] = deque()
        self._running: list[_Sequence] = []
        self._refused: list[tuple[int, LimitReached]] = []
        self._next = self._delay = 0
        self._reading = False
        self.read = 0
        """Tokens that were read so far, prompts and drawn ones."""

    # ------------------------------------------------------------------------------------------- what it is asked

    @property
    def busy(self) -> bool:
        """Whether anything is left to answer."""
        return bool(self._running or self._waiting or self._refused)

    def submit(self, ids: Sequence[int], sampling: Sampling) -> int:
        """Have a prompt answered; the number under which `step` will tell what came."""
        self._next += 1
        room = self.context - len(ids)
        if not ids:
            raise WhetError("a prompt of no tokens cannot be continued; look at the chat template")
        if room <= 0:
            told = f"a prompt of {len(ids)} tokens in a context of {self.context}"
            self._refused.append((self._next, LimitReached("context_overflow", told)))
        else:
            row = BatchRow(sampling, min(sampling.max_tokens, room))
            sequence = _Sequence(self._next, ids, row, list(ids), sharpness=self._defaults.sharpness(sampling))
            sequence.plain = not sampling.logprobs and self._defaults.share(sampling) >= 1
            self._waiting.append(sequence)
        return self._next

    def step(self) -> list[tuple[int, RowResult | LimitReached]]:
        """One pass or a few: what was answered meanwhile, in no particular order."""
        done: list[tuple[int, RowResult | LimitReached]] = list(self._refused)
        self._refused.clear()
        if not self._running and not self._waiting:
            return done
        self._check_weights()
        try:
            with paged(self._model), self._folded.in_place(), self._norms.in_place() if self._norms else nullcontext():
                done += self._pass()
        except torch.OutOfMemoryError as error:
            self.close()
            taken = self._count * PAGE * token_bytes(self._layout.shapes, self._layout.dtype) / GIB
            raise WhetError(
                f"out of memory on {self._layout.device} beside {taken:.1f} GiB of keys and values: "
                f"lower cache_bytes, slots ({self._limits.slots}) or chunk ({self._limits.chunk})"
            ) from error
        return done

    def drop(self, ticket: int) -> None:
        """Leave off a reply that nobody waits for any more; what was read for it stays known."""
        for sequence in [*self._running, *self._waiting]:
            if sequence.ticket == ticket:
                if sequence.slot >= 0:
                    self._leave(sequence)
                else:
                    self._waiting.remove(sequence)
        self._refused = [(other, told) for other, told in self._refused if other != ticket]

    def refresh(self) -> None:
        """The weights are others now: forget what was read with the old ones. Nothing may be under way."""
        if self._running:
            raise WhetError("the weights changed while replies were being drawn; let them end before an update")
        self._pages.forget()
        self._folded.fold()
        now = self._weights_now()
        if self._graphs is not None and now[1:] != self._weights[1:]:
            self._graphs.clear()
        self._weights = now

    def close(self) -> None:
        """Give back the memory; what is under way is lost. A decoder that is used again begins anew."""
        self._pool = self._graphs = None
        self._pages = PageTable(self._count)
        self._running.clear()
        self._waiting.clear()
        self._refused.clear()
        self._slots = list(range(self._limits.slots - 1, -1, -1))

    # ------------------------------------------------------------------------------------------- one pass

    def _pass(self) -> list[tuple[int, RowResult | LimitReached]]:
        self._admit()
        self._reading = reading = any(sequence.reading for sequence in self._running)
        plain = all(sequence.plain for sequence in self._running)
        repeat = self._limits.stride if self._fast and plain and not reading else 1
        self._extend(repeat)
        chosen = self._chosen()
        drawn = self._fast_pass(chosen, repeat) if self._fast else self._plain_pass(chosen)
        for sequence, new in chosen:
            self.read += new
            sequence.done += new
        finished = []
        for (sequence, _), (tokens, logprobs) in zip(chosen, drawn, strict=True):
            if sequence.unread == 0:
                self._take(sequence, tokens, logprobs)
                if sequence.row.finish is not None:
                    finished.append((sequence.ticket, self._finish(sequence)))
        return list(finished)

    def _admit(self) -> None:
        """Give slots to what waits, in its order, as long as there are slots and pages.

        The pages of a prompt can be found by others from here on. Whoever finds them comes after it, and passes read
        in that order, so they are filled before, or in the pass in which, they are first read.
        """
        if not self._due():
            return
        while self._waiting and self._slots:
            sequence = self._waiting[0]
            chain = self._pages.find(sequence.ids)
            new = self._pages.take(-(-len(sequence.ids) // PAGE) - chain.known)
            if new is None:
                self._pages.release(chain.pages)
                return
            self._waiting.popleft()
            sequence.slot, sequence.reading = self._slots.pop(), True
            sequence.chain, sequence.done = chain, chain.known * PAGE
            if not sequence.row.ids:
                sequence.known = sequence.done
            chain.pages += new
            self._table[sequence.slot] = 0
            self._table[sequence.slot, : len(chain.pages)] = chain.pages
            self._pages.remember(sequence.ids, chain)
            self._running.append(sequence)

    def _due(self) -> bool:
        """Whether what waits is let in now.

        On a GPU a pass that reads draws one token where others draw `stride`. So whoever draws has a pass of those
        after each that read, and where many draw a few come in together.
        """
        drawing, waiting = len(self._running), len(self._waiting)
        if self._fast and self._reading and drawing and not any(sequence.reading for sequence in self._running):
            return False
        self._delay = self._delay + 1 if self._fast and waiting and drawing > 8 * waiting else 0
        return self._delay % PATIENCE == 0

    def _extend(self, repeat: int) -> None:
        """Pages for what is drawn next. Where there are none, who came last goes back to wait and is read again."""
        for sequence in list(self._running):
            if sequence.slot < 0:
                continue
            most = len(sequence.prompt) + sequence.row.limit
            need = -(-min(len(sequence.ids) + repeat - 1, most) // PAGE) - len(sequence.chain.pages)
            while need > 0:
                new = self._pages.take(need)
                if new is not None:
                    held = sequence.chain.pages
                    self._table[sequence.slot, len(held) : len(held) + need] = new
                    held += new
                    break
                self._put_back(next(last for last in reversed(self._running) if not last.reading))
                if sequence.slot < 0:
                    break

    def _put_back(self, sequence: _Sequence) -> None:
        self._leave(sequence)
        self._waiting.appendleft(sequence)

    def _leave(self, sequence: _Sequence) -> None:
        self._pages.remember(sequence.ids[: sequence.done], sequence.chain)
        self._pages.release(sequence.chain.pages)
        self._slots.append(sequence.slot)
        self._running.remove(sequence)
        sequence.slot, sequence.chain = -1, Chain()

    def _chosen(self) -> list[tuple[_Sequence, int]]:
        """Who takes part in the next pass, with how many tokens: all that draw, then prompts in their order."""
        chosen = [(sequence, 1) for sequence in self._running if not sequence.reading]
        left = self._limits.chunk - len(chosen)
        for sequence in self._running:
            if sequence.reading and left > 0:
                new = min(sequence.unread, left)
                chosen.append((sequence, new))
                left -= new
        return chosen

    def _take(self, sequence: _Sequence, tokens: Sequence[int], logprobs: Sequence[float]) -> None:
        """Note what a row drew, up to where it ends; what it drew beyond is dropped."""
        row, sequence.reading = sequence.row, False
        for at, token in enumerate(tokens):
            row.ids.append(token)
            sequence.ids.append(token)
            if logprobs:
                row.logprobs.append(logprobs[at])
            row.finish = self._watcher.finish(row, token)
            if row.finish is not None:
                break
        sequence.done = len(sequence.ids) - 1  # the last token has been drawn and not yet read

    def _finish(self, sequence: _Sequence) -> RowResult:
        row = sequence.row
        self._leave(sequence)
        text = text_of(row, self._defaults.ends, self._decode)
        entries = top_entries(row, self._decode) if row.tops else ()
        return RowResult(text, row.finish or "length", sequence.prompt, row.ids, entries, row.logprobs, sequence.known)

    # ------------------------------------------------------------------------------------------- how it is computed

    def _plain_pass(self, chosen: Sequence[tuple[_Sequence, int]]) -> list[tuple[list[int], list[float]]]:
        device = self._layout.device
        ids: list[int] = []
        places: list[int] = []
        positions: list[int] = []
        for sequence, new in chosen:
            ids += sequence.ids[sequence.done : sequence.done + new]
            spots = range(sequence.done, sequence.done + new)
            positions += spots
            places += [sequence.chain.pages[spot // PAGE] * PAGE + spot % PAGE for spot in spots]
        step = PackedStep(
            self._memory(),
            torch.tensor(ids, device=device),
            torch.tensor(positions, device=device),
            torch.tensor(places, device=device),
            torch.empty(0),
            torch.empty(0),
            torch.from_numpy(self._table[[sequence.slot for sequence, _ in chosen]]).to(device),
            counts=[(new, sequence.done + new) for sequence, new in chosen],
        )
        ends = np.cumsum([new for _, new in chosen]) - 1
        drawing = [at for at, (sequence, new) in enumerate(chosen) if sequence.unread == new]
        drawn: list[tuple[list[int], list[float]]] = [([], []) for _ in chosen]
        logits = logits_of(self._model, step, torch.tensor(ends[drawing], device=device, dtype=torch.long))
        if drawing:
            tokens = Chooser([chosen[at][0].row for at in drawing], self._defaults)(step.ids, logits).argmax(-1)
            for at, token in zip(drawing, tokens.tolist(), strict=True):
                drawn[at] = ([token], [])
        return drawn

    def _fast_pass(self, chosen: Sequence[tuple[_Sequence, int]], repeat: int) -> list[tuple[list[int], list[float]]]:
        pool = self._memory()
        if self._graphs is None:
            from whet.models.hf.graphs import StepGraphs

            record = self._limits.graphs
            self._graphs = StepGraphs(
                self._model, pool, self._layout.heads, self._limits.slots, self._width, record=record
            )
        step = HostStep(
            [token for sequence, new in chosen for token in sequence.ids[sequence.done : sequence.done + new]],
            [(new, sequence.done + new) for sequence, new in chosen],
            self._table[[sequence.slot for sequence, _ in chosen]],
            [(sequence.sharpness, sequence.row.seed, len(sequence.row.ids)) for sequence, _ in chosen],
        )
        tokens, logprobs, logits = self._graphs.run(step, repeat)
        strange = [at for at, (sequence, new) in enumerate(chosen) if sequence.unread == new and not sequence.plain]
        told = tokens.T.tolist(), logprobs.T.tolist()
        drawn = [
            (row_tokens, row_logprobs if sequence.row.sampling.logprobs is not None else [])
            for (sequence, _), row_tokens, row_logprobs in zip(chosen, *told, strict=True)
        ]
        if strange:
            rows = [chosen[at][0].row for at in strange]
            chosen_tokens = Chooser(rows, self._defaults)(tokens, logits[strange]).argmax(-1).tolist()
            for at, token in zip(strange, chosen_tokens, strict=True):
                drawn[at] = ([token], [])
        return drawn

    # ------------------------------------------------------------------------------------------- memory and weights

    def _memory(self) -> PagePool:
        if self._pool is None:
            self._pool = PagePool(self._layout.shapes, self._count, self._layout.dtype, self._layout.device)
        return self._pool

    def _check_weights(self) -> None:
        """Before a batch all is looked at; while one is under way, only how often the weights were written."""
        if self._written() != self._weights[0] or (not self._running and self._weights_now() != self._weights):
            self.refresh()

    def _written(self) -> int:
        return sum(tensor._version for tensor in self._tensors)

    def _weights_now(self) -> tuple[int, ...]:
        """How often the weights were written, how many there are and where they lie."""
        tensors = [*self._model.parameters(), *self._model.buffers()]
        self._tensors = [tensor for tensor in tensors if not tensor.is_inference()]
        places = tuple(tensor.data_ptr() for tensor in tensors)
        return self._written(), len(tensors), hash((places, self._folded.state))


def _has_triton() -> bool:
    try:
        import triton  # noqa: F401
    except ImportError:
        return False
    return True
