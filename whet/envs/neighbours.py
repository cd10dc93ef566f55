"""Which texts are most like another one: BM25 over words and over the three-letter pieces of words.

Words say what a question is about; their pieces find it again in another form, with a typing error, or in a code or a
name. What stands in every text weighs nothing, so the frame that the questions of a set share does not count.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from whet.envs.near import WORD

SATURATION, LENGTH = 1.2, 0.75
"""BM25's usual k1 and b: how soon a repeated word stops counting, and how much a long text is held against it."""

PIECE = 3

PIECES_WEIGH = 0.3
"""What a piece of a word counts beside a whole one."""

READ = 4000
"""Characters of a text that are looked at."""


class Neighbours:
    """Texts, indexed once; pure: the same texts in the same order give the same answers anywhere."""

    def __init__(self, texts: Sequence[str]) -> None:
        counted = [Counter(_features(text)) for text in texts]
        self._count = len(texts)
        mean = sum(counts.total() for counts in counted) / max(1, len(counted)) or 1.0
        found: dict[str, tuple[list[int], list[float]]] = {}
        for at, counts in enumerate(counted):
            slack = SATURATION * (1 - LENGTH + LENGTH * counts.total() / mean)
            for feature, times in counts.items():
                places, weights = found.setdefault(feature, ([], []))
                places.append(at)
                weights.append(times * (SATURATION + 1) / (times + slack))
        self._postings: dict[str, tuple[NDArray[np.intp], NDArray[np.float64]]] = {
            feature: (np.array(places), self._worth(feature, len(places)) * np.array(weights))
            for feature, (places, weights) in found.items()
            if len(places) < len(texts) or len(texts) == 1
        }

    def _worth(self, feature: str, holders: int) -> float:
        rarity = math.log(1 + (self._count - holders + 0.5) / (holders + 0.5))
        return rarity * (PIECES_WEIGH if feature.startswith(" ") else 1.0)

    def nearest(self, text: str, many: int, without: Collection[int] = ()) -> list[int]:
        """The positions of the texts most like `text`, the most like first; of equals, the earlier first."""
        scores = np.zeros(self._count)
        for feature in dict.fromkeys(_features(text)):
            posting = self._postings.get(feature)
            if posting is not None:
                scores[posting[0]] += posting[1]
        order = np.argsort(-scores, kind="stable")
        left_out = frozenset(without)
        return [int(at) for at in order[: many + len(left_out)] if int(at) not in left_out][:many]


def _features(text: str) -> Iterator[str]:
    """The words of a text, and their pieces; these begin with a space, which no word has."""
    for word in WORD.findall(text[:READ].casefold()):
        yield word
        framed = f"_{word}_"
        for at in range(len(framed) - PIECE + 1):
            yield f" {framed[at : at + PIECE]}"
