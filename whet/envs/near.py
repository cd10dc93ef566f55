"""Near-duplicates among texts: what a changed number, name, case or order of sentences does not make another question.

Two texts are near-duplicates when at least half of the word pairs that either has are in both (Jaccard's index), when
four fifths of the shorter one are in the longer, or when each holds six tenths of the other's longest sentence: a
greeting and a closing do not make another question of the same request. Word pairs that stand in more than half of all
texts are the form that the questions share and do not count. Candidates are found by MinHash, so ten thousand texts
take seconds; each candidate is then compared exactly.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from whet.keys import seed_for
from whet.types import SPLITS, Split

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

THRESHOLD = 0.5
"""The share of word pairs in common from which two texts are near-duplicates."""

LADDER = (THRESHOLD, 0.7, 0.9)
"""Where clusters at `THRESHOLD` are too few or too large to be split, the next is tried."""

CONTAINED = 0.8
"""The share of the shorter text that has to be in the longer one; for texts of at least `SHORTEST` word pairs."""

SHORTEST = 6

CORE = 0.6
"""The share of each one's longest sentence that the other has to hold; sentences have `CORE_FROM` pairs or more."""

CORE_FROM = 4

BANDS, BAND = 32, 2
"""Pairs that agree on all hashes of a band are compared: 95 of 100 pairs at an index of .3, 99.6 at .4, 8 at .05."""

COMPARED = 16
"""With how many of those that fell into the same place a text is compared."""

COMPARED_IN_ALL = 96
"""With how many in all its places, those with the fewest texts first: they say most."""

FORM = 0.5
"""Word pairs in a larger share of the texts than this are their common form; from `FORM_FROM` texts on."""

FORM_FROM = 8

LARGE = 0.1
"""A cluster of a larger share of the texts than this is hard to place on one side."""

_SCRIPTS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # kana, Chinese characters
    "\uac00-\ud7af"  # Hangul, which spaces its phrases and not its words
)

UNSPACED = re.compile(f"[{_SCRIPTS}]")
"""A character of a script that is written without spaces between words."""

WORD = re.compile(f"{UNSPACED.pattern}|[^\\W_{_SCRIPTS}]+")
"""A run of letters and digits; in scripts without spaces, a character."""

_SENTENCE = re.compile(r"[.!?;\n\u3002\uff01\uff1f]+(?:\s|$)|\n|[\u3002\uff01\uff1f]")


@dataclass(frozen=True, slots=True)
class Gist:
    """A text as the pairs of neighbouring words in it, as numbers, all of them and sentence by sentence."""

    pairs: frozenset[int]
    sentences: tuple[frozenset[int], ...]

    @classmethod
    def of(cls, text: str) -> Gist:
        """Spacing, case and punctuation do not matter."""
        return cls(_pairs(text), tuple(_pairs(sentence) for sentence in _SENTENCE.split(text)))

    @property
    def core(self) -> frozenset[int]:
        """The sentence that says most."""
        return max(self.sentences, key=len)

    def without(self, form: frozenset[int]) -> Gist:
        """What is left without the form that all texts share; all of it where nothing would be."""
        rest = self.pairs - form
        return Gist(rest, (max((held - form for held in self.sentences), key=len),)) if rest else self

    def alike(self, other: Gist, threshold: float = THRESHOLD) -> bool:
        """Whether two texts are near-duplicates."""
        shared, fewer = len(self.pairs & other.pairs), min(len(self.pairs), len(other.pairs))
        if not fewer:
            return not (self.pairs or other.pairs)
        if shared >= threshold * (len(self.pairs) + len(other.pairs) - shared):
            return True
        if fewer >= SHORTEST and shared >= max(CONTAINED, threshold) * fewer:
            return True
        if min(len(self.core), len(other.core)) < CORE_FROM:
            return False
        core = max(CORE, threshold)
        return all(
            len(mine.core & theirs.pairs) >= core * len(mine.core) for mine, theirs in ((self, other), (other, self))
        )


def _pairs(text: str) -> frozenset[int]:
    words = [zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in WORD.findall(text.casefold())]
    if len(words) < 2:
        return frozenset(words)
    return frozenset((first << 32) | second for first, second in pairwise(words))


@dataclass(frozen=True, slots=True)
class Resemblance:
    """How many of some texts have a near-duplicate among others, and the first pair, by their positions."""

    count: int
    of: int
    first: tuple[int, int] | None = None

    @property
    def share(self) -> float:
        return self.count / self.of if self.of else 0.0


class Ties:
    """Numbers below `count` that belong together."""

    def __init__(self, count: int, ties: Iterable[tuple[int, int]] = ()) -> None:
        self._parent = list(range(count))
        for left, right in ties:
            self.tie(left, right)

    def root(self, at: int) -> int:
        """The first number of the group that a number is in."""
        parent = self._parent
        while parent[at] != at:
            parent[at] = at = parent[parent[at]]
        return at

    def tie(self, left: int, right: int) -> None:
        low, high = sorted((self.root(left), self.root(right)))
        self._parent[high] = low

    def groups(self) -> list[list[int]]:
        """All groups, in the order of their first number."""
        found: dict[int, list[int]] = {}
        for at in range(len(self._parent)):
            found.setdefault(self.root(at), []).append(at)
        return list(found.values())


class NearIndex:
    """Texts by what they share. Word pairs that are their common form are left out."""

    def __init__(self, texts: Sequence[str | Gist]) -> None:
        self._whole = [Gist.of(text) if isinstance(text, str) else text for text in texts]
        form = _form([gist.pairs for gist in self._whole])
        self.gists: Sequence[Gist] = [gist.without(form) for gist in self._whole]

    def clusters(self, threshold: float = THRESHOLD) -> list[list[int]]:
        """Positions of texts that belong together, each text in one cluster, in the order of their first text."""
        ties, left = Ties(len(self.gists)), [COMPARED_IN_ALL] * len(self.gists)
        for place in self._places:
            heads: dict[int, int] = {}
            for at in place:
                for other, head in islice(heads.items(), COMPARED):
                    if left[at] and ties.root(other) != ties.root(at):
                        left[at] -= 1
                        if self.gists[at].alike(self.gists[head], threshold):
                            ties.tie(other, at)
                heads.setdefault(ties.root(at), at)
        return ties.groups()

    def finer(self, threshold: float = THRESHOLD) -> list[list[int]]:
        """Clusters, of which those with more than `LARGE` of all texts are told apart by what they do not share.

        For texts of a few templates, each of which would be one cluster.
        """
        found: list[list[int]] = []
        for cluster in self.clusters(threshold):
            if len(cluster) <= LARGE * len(self.gists):
                found.append(cluster)
                continue
            within = NearIndex([self._whole[at] for at in cluster])
            found += [[cluster[at] for at in part] for part in within.clusters(threshold)]
        return found

    def resemblance(self, some: Iterable[int], others: Iterable[int], threshold: float = THRESHOLD) -> Resemblance:
        """How many of `some` have a near-duplicate among `others`."""
        wanted, among = set(some), set(others)
        found: dict[int, int] = {}
        left = dict.fromkeys(wanted, COMPARED_IN_ALL)
        for place in self._places:
            near = [at for at in place if at in among][:COMPARED]
            for at in place if near else ():
                if left.get(at) and at not in found:
                    some_near = near[: left[at]]
                    left[at] -= len(some_near)
                    twin = next((other for other in some_near if self._alike(at, other, threshold)), None)
                    if twin is not None:
                        found[at] = twin
        first = min(found.items(), default=None)
        return Resemblance(len(found), len(wanted), first)

    def _alike(self, one: int, other: int, threshold: float) -> bool:
        return one != other and self.gists[one].alike(self.gists[other], threshold)

    @cached_property
    def _places(self) -> list[list[int]]:
        """Texts that agree on a band of hashes, where there are at least two; the fewest first."""
        import numpy as np

        signs = _signatures([gist.pairs for gist in self.gists])
        places: list[list[int]] = []
        for band in range(BANDS):
            rows = signs[:, band * BAND : (band + 1) * BAND]
            keys = rows[:, 0] * np.uint64(0x9E3779B97F4A7C15) + rows[:, 1]
            order = np.argsort(keys, kind="stable")
            ends = np.flatnonzero(np.diff(keys[order])) + 1
            places += [place.tolist() for place in np.split(order, ends) if place.size > 1]
        return sorted(places, key=len)


def _form(texts: Sequence[frozenset[int]]) -> frozenset[int]:
    if len(texts) < FORM_FROM:
        return frozenset()
    counts = Counter(pair for text in texts for pair in text)
    return frozenset(pair for pair, count in counts.items() if count > FORM * len(texts))


def _signatures(texts: Sequence[frozenset[int]]) -> NDArray[np.uint64]:
    """MinHash: for each of many hashes the smallest over a text's word pairs; an empty text has a place of its own."""
    import numpy as np

    sizes = np.array([max(len(text), 1) for text in texts])
    flat = np.fromiter(_flat(texts), np.uint64, int(sizes.sum()))
    flat ^= flat >> np.uint64(29)
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    rng = np.random.default_rng(20_240_229)
    factors = rng.integers(1, 2**63, BANDS * BAND, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    shifts = rng.integers(0, 2**63, BANDS * BAND, dtype=np.uint64)
    signs = np.empty((len(texts), BANDS * BAND), np.uint64)
    for number, (factor, shift) in enumerate(zip(factors, shifts, strict=True)):
        mixed = flat * factor + shift
        mixed ^= mixed >> np.uint64(32)
        signs[:, number] = np.minimum.reduceat(mixed * np.uint64(0xFF51AFD7ED558CCD), starts)
    return signs


def _flat(texts: Sequence[frozenset[int]]) -> Iterator[int]:
    for text in texts:
        yield from text or (0,)


def split_texts(texts: Sequence[str], fractions: Sequence[float] = (0.5, 0.25, 0.25), seed: int = 0) -> list[Split]:
    """A side for each text of a file or an iterable, with near-duplicates together on one side.

    For environments that bring their own rows; every cluster goes to the side that lacks most of its share.
    """
    sides: list[Split] = ["train"] * len(texts)
    counts = dict.fromkeys(SPLITS, 0)
    clusters = NearIndex(texts).clusters()
    for cluster in sorted(clusters, key=lambda cluster: (-len(cluster), seed_for("split", seed, texts[cluster[0]]))):
        total = sum(counts.values()) + len(cluster)
        side = max(SPLITS, key=lambda split: fractions[SPLITS.index(split)] * total - counts[split])
        counts[side] += len(cluster)
        for at in cluster:
            sides[at] = side
    return sides
