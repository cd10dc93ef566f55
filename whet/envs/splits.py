"""Splits that cannot overlap: what is asked decides where a task belongs, so no question is in two splits.

A generator is redrawn until the content of what it made falls into the residue class of the split wanted. The class
depends on the content alone: whatever the arguments, a question trained on here is never tested on there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TypeVar

from whet.errors import WhetError
from whet.keys import seed_for
from whet.types import Split

T = TypeVar("T")

CLASSES: tuple[Split, ...] = ("train", "train", "select", "test")
"""The split of each residue of the content hash: half train, a quarter each for select and test."""

NUMBERS = 2**31
"""Item numbers are drawn below this: generators hand them to numpy, which takes 32 bits."""


class NoItem(Exception):
    """A generator has nothing for this number; another is drawn."""


def split_of(content: str) -> Split:
    """Where a task with this content belongs."""
    data = content.encode("utf-8", "surrogatepass")
    return CLASSES[hashlib.blake2b(data, digest_size=8).digest()[-1] % len(CLASSES)]


def draw(
    names: tuple[str | int, ...],
    split: Split,
    index: int,
    generate: Callable[[int], T],
    content: Callable[[T], str],
    attempts: int = 256,
) -> T:
    """The item of `split` at `index`: the first whose content belongs there, of a sequence fixed by the names."""
    nothing: NoItem | None = None
    barren = 0
    for attempt in range(attempts):
        try:
            item = generate(seed_for("task", *names, split, index, attempt) % NUMBERS)
        except NoItem as none:
            nothing, barren = none, barren + 1
            if barren > attempts // 4:
                break
            continue
        if split_of(content(item)) == split:
            return item
    where = "/".join(str(name) for name in names)
    if nothing is not None and barren > attempts // 4:
        raise WhetError(f"{where} makes no task with these arguments: {nothing}")
    raise WhetError(
        f"{where} has too few different tasks to fill the split {split!r}: none of {attempts} draws belongs there; "
        "widen its arguments"
    )
