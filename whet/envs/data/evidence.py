"""How well a text tells a label: the words of other rows name the label of each row, better than the commonest does.

What people label is in the text, however the column is called; who labelled it and when is not.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

MOST_ROWS = 300
MOST_WORDS = 80
"""Words of a row that are looked at: enough to tell, and quick."""
CERTAIN = 2.0
"""Standard errors by which the words must do better than the commonest label."""

_WORDS = re.compile(r"[^\W_]+|[\u3040-\u30ff\u3400-\u9fff]")


def told_by(texts: Sequence[str], labels: Sequence[str]) -> float:
    """What naive Bayes gets right of the rows that the commonest label leaves, each left out in turn; 0 for chance."""
    step = max(1, len(texts) // MOST_ROWS)
    rows = [
        (frozenset(_WORDS.findall(text.casefold())[:MOST_WORDS]), label)
        for text, label in zip(texts[::step], labels[::step], strict=True)
    ]
    sizes = Counter(label for _, label in rows)
    held: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for words, label in rows:
        for word in words:
            held[word][label] += 1
    right = sum(_named(words, label, sizes, held) == label for words, label in rows)
    most = max(sizes.values(), default=0)
    if not rows or most == len(rows):
        return 0.0
    error = math.sqrt(most * (len(rows) - most) / len(rows))
    return max(0.0, (right - most) / (len(rows) - most)) if right - most > CERTAIN * error else 0.0


def _named(words: frozenset[str], own: str, sizes: Counter[str], held: dict[str, Counter[str]]) -> str:
    """The likeliest label of a row by the words that it has, the row itself not counted."""
    best, found = -math.inf, ""
    total = sizes.total() - 1
    for label, size in sizes.items():
        here = size - (label == own)
        if not here:
            continue
        weight = math.log(here / total)
        for word in words:
            seen = held[word]
            elsewhere = seen.total() - 1
            if elsewhere > 0:
                share = (seen[label] - (label == own) + 0.5) / (here + 1.0)
                weight += math.log(share / ((elsewhere + 0.5) / (total + 1.0)))
        if weight > best:
            best, found = weight, label
    return found
