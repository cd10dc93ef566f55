"""Replies for many conversations at once from one model in memory: read what is new, draw, refill, turn after turn.

A sequence takes a slot while a reply is drawn. Its keys and values lie in pages (`pages.py`) that outlive it: the next
turn of the same conversation finds them, and so does every other draw from the same prompt, also one that is read in
the same pass. What waits for a tool holds no slot, and its pages only as long as there is room.

On a GPU every pass is a CUDA graph over Triton kernels (`graphs.py`), and rows draw `stride` tokens before the host
looks. The next pass is started before what the last one brought is told, so it runs while its caller does something
with that: parses a reply, has a work done, asks anew. Elsewhere the same passes run as plain torch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from whet.errors import LimitReached, WhetError
from whet.models.hf.folded import FoldedAdapters
from whet.models.hf.host_step import Column, HostStep, RowColumns
from whet.models.hf.layout import ModelLayout, inner_model, read_layout
from whet.models.hf.limits import GIB, DecoderLimits, page_room
from whet.models.hf.norms import FusedNorms
from whet.models.hf.paged import PackedStep, PagePool, logits_of, paged, token_bytes
from whet.models.hf.pages import PAGE, Chain, PageTable
from whet.models.hf.rows import BatchRow, Chooser, Decode, Defaults, RowResult, Watcher, text_of, top_entries
from whet.models.hf.sequence import DrawingSequence, slots_of
from whet.types import Sampling

if TYPE_CHECKING:
    from whet.models.hf.graphs import StepGraphs

WRITTEN = attrgetter("_version")
"""How often a tensor was written."""

PATIENCE = 3
"""Passes for which a few prompts wait for more of them, where many rows draw."""


@dataclass(frozen=True, slots=True)
class StartedPass:
    """A pass that a GPU is at work on, or has done: who takes part, and what each draws."""

    sequences: Sequence[DrawingSequence]
    tokens: torch.Tensor
    logprobs: torch.Tensor
    logits: torch.Tensor


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
        self._columns = RowColumns(limits.slots, defaults.ends)
        self._pages = PageTable(self._count)
        self._pool: PagePool | None = None
        self._graphs: StepGraphs | None = None
        self._weights = self._weights_now()
        self._slots = list(range(limits.slots - 1, -1, -1))
        self._waiting: deque[DrawingSequence] = deque()
        self._running: list[DrawingSequence] = []
        self._refused: list[tuple[int, LimitReached]] = []
        self._started: StartedPass | None = None
        self._over: list[DrawingSequence] = []
        """Replies that have ended and were not told yet."""
        self._next = self._delay = 0
        self._reading = False
        self.read = 0
        """Tokens that were read so far, prompts and drawn ones."""

    # ------------------------------------------------------------------------------------------- what it is asked

    @property
    def busy(self) -> bool:
        """Whether anything is left to answer."""
        return bool(self._running or self._waiting or self._refused or self._over)

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
            sequence = DrawingSequence(self._next, ids, row, list(ids), sharpness=self._defaults.sharpness(sampling))
            sequence.plain = not sampling.logprobs and self._defaults.share(sampling) >= 1
            sequence.noted = self._fast and sequence.plain and not sampling.stop
            self._waiting.append(sequence)
        return self._next

    def step(self) -> list[tuple[int, RowResult | LimitReached]]:
        """One pass or a few: what was answered meanwhile, in no particular order."""
        done: list[tuple[int, RowResult | LimitReached]] = list(self._refused)
        self._refused.clear()
        if not (self._running or self._waiting or self._over):
            return done
        self._check_weights()
        try:
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
        self._over += self._drawn()
        self._over = [sequence for sequence in self._over if sequence.ticket != ticket]
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
        if self._started is not None and self._layout.device.type == "cuda":
            torch.cuda.synchronize(self._layout.device)  # it writes into what is given back
        self._started = None
        self._pool = self._graphs = None
        self._pages = PageTable(self._count)
        self._running.clear()
        self._over.clear()
        self._waiting.clear()
        self._refused.clear()
        self._slots = list(range(self._limits.slots - 1, -1, -1))

    # ------------------------------------------------------------------------------------------- one pass

    def _pass(self) -> list[tuple[int, RowResult | LimitReached]]:
        """What the last pass brought, told when the next one has been started."""
        over, self._over = [*self._over, *self._drawn()], []
        self._admit()
        self._reading = reading = any(sequence.reading for sequence in self._running)
        plain = all(sequence.plain for sequence in self._running)
        repeat = self._limits.stride if self._fast and plain and not reading else 1
        self._extend(repeat)
        chosen = self._chosen()
        self.read += sum(new for _, new in chosen)
        if self._fast:
            self._started = self._start(chosen, repeat) if chosen else None
        else:
            over += self._plain_pass(chosen)
        return [(sequence.ticket, self._told(sequence)) for sequence in over]

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
            self._pages.remember(sequence.ids, chain)
            self._running.append(sequence)
            self._enter(sequence)

    def _enter(self, sequence: DrawingSequence) -> None:
        """Write a sequence that has got a slot into the columns."""
        slot, row, pages, columns = sequence.slot, sequence.row, sequence.chain.pages, self._columns
        self._table[slot] = 0
        self._table[slot, : len(pages)] = pages
        columns.length[slot], columns.most[slot] = len(sequence.ids), len(sequence.prompt) + row.limit
        columns.pages[slot], columns.limit[slot] = len(pages), row.limit
        columns.seed[slot], columns.sharpness[slot] = row.seed, sequence.sharpness
        columns.begin(slot, row.ids, row.logprobs)

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
        running = list(self._running)
        lacking = self._columns.lacking(slots_of(running), repeat, PAGE)
        for at in np.flatnonzero(lacking > 0).tolist():
            sequence, need = running[at], int(lacking[at])
            while sequence.slot >= 0:
                new = self._pages.take(need)
                if new is not None:
                    held = sequence.chain.pages
                    self._table[sequence.slot, len(held) : len(held) + need] = new
                    held += new
                    self._columns.pages[sequence.slot] = len(held)
                    break
                self._put_back(next(last for last in reversed(self._running) if not last.reading))

    def _put_back(self, sequence: DrawingSequence) -> None:
        self._leave(sequence)
        self._waiting.appendleft(sequence)

    def _leave(self, sequence: DrawingSequence) -> None:
        if sequence.noted and not sequence.reading:
            row = sequence.row
            row.ids, logprobs = self._columns.told(sequence.slot)
            row.logprobs = logprobs if row.sampling.logprobs is not None else []
            sequence.ids = [*sequence.prompt, *row.ids]
            sequence.done = len(sequence.ids) - 1  # the last token has been drawn and not yet read
        self._pages.remember(sequence.ids[: sequence.done], sequence.chain)
        self._pages.release(sequence.chain.pages)
        self._slots.append(sequence.slot)
        self._running.remove(sequence)
        sequence.slot, sequence.chain = -1, Chain()

    def _chosen(self) -> list[tuple[DrawingSequence, int]]:
        """Who takes part in the next pass, with how many tokens: all that draw, then prompts in their order."""
        chosen = [(sequence, 1) for sequence in self._running if not sequence.reading]
        left = self._limits.chunk - len(chosen)
        for sequence in self._running:
            if sequence.reading and left > 0:
                new = min(sequence.unread, left)
                chosen.append((sequence, new))
                left -= new
        return chosen

    def _take(self, sequence: DrawingSequence, tokens: Sequence[int], logprobs: Sequence[float]) -> bool:
        """Note what a row drew, up to where it ends, and whether it does; what it drew beyond is dropped."""
        row = sequence.row
        for at, token in enumerate(tokens):
            row.ids.append(token)
            sequence.ids.append(token)
            if logprobs:
                row.logprobs.append(logprobs[at])
            row.finish = self._watcher.finish(row, token)
            if row.finish is not None:
                break
        sequence.done = len(sequence.ids) - 1
        self._columns.note(sequence.slot, len(sequence.ids), len(row.ids), row.ids[-1])
        return row.finish is not None

    def _told(self, sequence: DrawingSequence) -> RowResult:
        """What came of a reply that has ended and left its slot."""
        row = sequence.row
        row.finish = row.finish or self._watcher.finish(row, row.ids[-1])
        text = text_of(row, self._defaults.ends, self._decode)
        entries = top_entries(row, self._decode) if row.tops else ()
        return RowResult(text, row.finish or "length", sequence.prompt, row.ids, entries, row.logprobs, sequence.known)

    # ------------------------------------------------------------------------------------------- how it is computed

    @contextmanager
    def _computing(self) -> Iterator[None]:
        """Within this, the model computes by pages, with its adapters and norms in the form that is fastest."""
        with paged(self._model), self._folded.in_place(), self._norms.in_place() if self._norms else nullcontext():
            yield

    def _plain_pass(self, chosen: Sequence[tuple[DrawingSequence, int]]) -> list[DrawingSequence]:
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
        with self._computing():
            logits = logits_of(self._model, step, torch.tensor(ends[drawing], device=device, dtype=torch.long))
        self._has_read(chosen)
        if not drawing:
            return []
        rows = [chosen[at][0] for at in drawing]
        tokens = Chooser([sequence.row for sequence in rows], self._defaults)(step.ids, logits).argmax(-1).tolist()
        over = [sequence for sequence, token in zip(rows, tokens, strict=True) if self._take(sequence, [token], [])]
        for sequence in over:
            self._leave(sequence)
        return over

    def _has_read(self, chosen: Sequence[tuple[DrawingSequence, int]]) -> None:
        """Those who were reading have read so much; whoever has read all draws."""
        for sequence, new in chosen:
            if sequence.reading:
                sequence.done += new
                sequence.reading = sequence.unread > 0

    def _start(self, chosen: Sequence[tuple[DrawingSequence, int]], repeat: int) -> StartedPass:
        """Have a GPU begin with a pass. Nothing of it is waited for."""
        if self._graphs is None:
            from whet.models.hf.graphs import StepGraphs

            whole = self._model, self._memory(), self._layout.heads, self._limits.slots, self._width
            self._graphs = StepGraphs(*whole, self._computing, record=self._limits.graphs)
        sequences = [sequence for sequence, _ in chosen]
        begun = self._graphs.run(self._step_of(chosen, slots_of(sequences)), repeat)
        self._has_read(chosen)
        return StartedPass(sequences, *begun)

    def _drawn(self) -> list[DrawingSequence]:
        """Note what the pass that was started last has drawn; the replies that ended, which have left their slots."""
        begun, self._started = self._started, None
        if begun is None:
            return []
        sequences = begun.sequences
        told, told_logprobs = begun.tokens.cpu().numpy(), begun.logprobs.cpu().numpy()
        ended = np.zeros(len(sequences), dtype=np.bool_)
        noted = [at for at, sequence in enumerate(sequences) if sequence.noted and not sequence.reading]
        slots = slots_of([sequences[at] for at in noted])
        ended[noted] = self._columns.take(slots, told[:, noted], told_logprobs[:, noted])
        others = [at for at, sequence in enumerate(sequences) if not (sequence.noted or sequence.reading)]
        strange = [at for at in others if not sequences[at].plain]
        if strange:
            rows = [sequences[at].row for at in strange]
            drawn = Chooser(rows, self._defaults)(begun.tokens, begun.logits[strange]).argmax(-1).tolist()
            for at, token in zip(strange, drawn, strict=True):
                ended[at] = self._take(sequences[at], [token], [])
        for at in others:
            sequence = sequences[at]
            if sequence.plain:
                known = told_logprobs[:, at].tolist() if sequence.row.sampling.logprobs is not None else []
                ended[at] = self._take(sequence, told[:, at].tolist(), known)
        over = [sequences[at] for at in np.flatnonzero(ended).tolist()]
        for sequence in over:
            self._leave(sequence)
        return over

    def _step_of(self, chosen: Sequence[tuple[DrawingSequence, int]], slots: Column) -> HostStep:
        """A pass in numbers: whoever draws brings its last token, whoever reads the next of its prompt."""
        columns = self._columns
        readers = [(sequence, new) for sequence, new in chosen if sequence.reading]
        drawing = len(chosen) - len(readers)
        read = [token for sequence, new in readers for token in sequence.ids[sequence.done : sequence.done + new]]
        ends = [sequence.done + new for sequence, new in readers]
        return HostStep(
            np.concatenate([columns.last[slots[:drawing]], np.array(read, dtype=np.int32)]),
            np.array([new for _, new in chosen], dtype=np.int32),
            np.concatenate([columns.length[slots[:drawing]], np.array(ends, dtype=np.int32)]),
            self._table[slots],
            columns.sharpness[slots],
            columns.seed[slots],
            columns.drawn[slots],
        )

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
        return sum(map(WRITTEN, self._tensors))

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
