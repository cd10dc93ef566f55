"""Edit distance with a whole column of the table in one integer, so that long answers cost milliseconds."""

from __future__ import annotations


def edits(one: str, other: str) -> int:
    """Fewest insertions, deletions and replacements of a letter that turn `one` into `other`.

    The table of distances changes by -1, 0 or 1 from cell to cell. `up` and `down` hold, a bit for each letter of
    `one`, where a column rises and falls; a letter of `other` moves on by one column in a few operations on integers.
    """
    if not one or not other:
        return len(one) + len(other)
    places: dict[str, int] = {}
    for bit, letter in enumerate(one):
        places[letter] = places.get(letter, 0) | 1 << bit
    every = (1 << len(one)) - 1
    last = 1 << (len(one) - 1)
    up, down, distance = every, 0, len(one)
    for letter in other:
        same = places.get(letter, 0)
        free = (((same & up) + up) ^ up) | same | down
        right_up = down | (~(free | up) & every)
        right_down = up & free
        distance += 1 if right_up & last else -1 if right_down & last else 0
        right_up = (right_up << 1 | 1) & every
        right_down = right_down << 1 & every
        up = right_down | (~(free | right_up) & every)
        down = right_up & free
    return distance
