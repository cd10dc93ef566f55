"""Which page of keys and values holds which tokens: shared by what begins alike, and kept until room is short.

A page is known by the tokens in it and by the page before it, so a prompt finds whatever was read or drawn in the same
order before, by whichever conversation. Nothing here knows of tensors.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

Node = tuple[int, bytes]
"""The number of the page before, and the tokens of this one: bytes are cut, hashed and compared at once."""

PAGE = 16
"""Tokens in a page."""

WORD = "i"
"""How a token is packed: as a word of 32 bits."""

SPARE = 0
"""The page that nobody reads: rows that pad a batch write there."""


@dataclass(slots=True)
class Chain:
    """The pages of one sequence in their order; others can find the first `known`, the last of them as `last`."""

    pages: list[int] = field(default_factory=list)
    known: int = 0
    last: int = 0


class PageTable:
    """`count` pages of `size` tokens. A page is held by sequences, or remembered, or free."""

    def __init__(self, count: int, size: int = PAGE) -> None:
        self.size = size
        self.count = count
        self._free = list(range(count - 1, SPARE, -1))
        self._holders = [0] * count
        self._remembered: OrderedDict[int, None] = OrderedDict()
        """Pages that nobody holds and that a prompt may still find; the first is the next to go."""
        self._nodes: dict[Node, tuple[int, int]] = {}
        """Page and number of each known content."""
        self._known: dict[int, Node] = {}
        self._next = 1

    @property
    def room(self) -> int:
        """Pages that can be taken now."""
        return len(self._free) + len(self._remembered)

    def find(self, ids: Sequence[int]) -> Chain:
        """The pages that hold how `ids` begin, now held once more. At least one token is left to be read."""
        chain = Chain()
        packed, width = array(WORD, ids).tobytes(), self.size * array(WORD).itemsize
        for start in range(0, len(packed) - width, width):
            known = self._nodes.get((chain.last, packed[start : start + width]))
            if known is None:
                break
            page, chain.last = known
            if not self._holders[page]:
                del self._remembered[page]
            self._holders[page] += 1
            chain.pages.append(page)
        chain.known = len(chain.pages)
        return chain

    def take(self, count: int) -> list[int] | None:
        """New pages, or None where there are not so many; what was remembered longest is forgotten first."""
        if count > self.room:
            return None
        while len(self._free) < count:
            page, _ = self._remembered.popitem(last=False)
            self._forget(page)
            self._free.append(page)
        taken = [self._free.pop() for _ in range(count)]
        for page in taken:
            self._holders[page] = 1
        return taken

    def remember(self, ids: Sequence[int], chain: Chain) -> None:
        """Have others find the full pages of a chain whose tokens are `ids`."""
        for at in range(chain.known, len(ids) // self.size):
            node = (chain.last, array(WORD, ids[at * self.size : (at + 1) * self.size]).tobytes())
            known, page = self._nodes.get(node), chain.pages[at]
            if known is None:
                if page in self._known:  # it stands under a page that has been forgotten: out of reach there
                    self._forget(page)
                known = self._nodes[node] = (page, self._next)
                self._known[page] = node
                self._next += 1
            chain.last = known[1]
            chain.known = at + 1

    def release(self, pages: Sequence[int]) -> None:
        """Hold these pages once less. The end of a sequence goes before its beginning, which others may share."""
        for page in reversed(pages):
            self._holders[page] -= 1
            if self._holders[page]:
                continue
            if page in self._known:
                self._remembered[page] = None
            else:
                self._free.append(page)

    def forget(self) -> None:
        """Nothing that was read holds any more: the weights are others."""
        self._nodes.clear()
        self._known.clear()
        self._free.extend(self._remembered)
        self._remembered.clear()

    def _forget(self, page: int) -> None:
        node = self._known.pop(page)
        if self._nodes.get(node, (None,))[0] == page:
            del self._nodes[node]
