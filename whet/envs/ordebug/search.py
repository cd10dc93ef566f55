"""A fixed search over edits, also known as `baseline:search`: one of the panel that cells are measured with.

It tries sequences of up to three single edits, the likeliest first, and is told after each try whether the model is
repaired: its figure is the number of tries that such a search needs. Nothing in it is learned and nothing is random.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from whet.envs.ordebug.candidates import Clues, candidates
from whet.envs.ordebug.edits import Edit, apply_all, element
from whet.envs.ordebug.equivalence import Checker
from whet.envs.ordebug.instance import Instance
from whet.envs.ordebug.model import LinearProgram, ModelError
from whet.envs.ordebug.witnesses import Witnesses

BUDGETS = (8, 32, 128, 512, 2048)
"""Tries; the search rate of an instance is the share of these budgets within which it is repaired."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search came to: the edits that repair the model (None: not within the budget), and the tries it took."""

    edits: tuple[Edit, ...] | None
    tries: int

    @property
    def rate(self) -> float:
        """The share of the budgets that would have sufficed."""
        if self.edits is None:
            return 0.0
        return sum(self.tries <= budget for budget in BUDGETS) / len(BUDGETS)


def search(instance: Instance, budget: int = BUDGETS[-1]) -> SearchResult:
    """Search for a repair of an instance; the original serves only to tell whether a try is one."""
    clues = Clues(instance.sabotaged, instance.certificate.subsystem, instance.prose.text)
    return search_with(clues, Checker(instance.original), budget)


def search_with(clues: Clues, checker: Checker, budget: int, witnesses: Witnesses | None = None) -> SearchResult:
    """Search with what is known. Tries that leave something wrong untouched are counted, not made."""
    plan = sequences(budget)
    edits = candidates(clues, 1 + max(max(places) for places in plan))
    touched = [element(edit) for edit in edits]
    needed = (witnesses or Witnesses(checker)).against(clues.model)
    for tries, places in enumerate(plan, start=1):
        if places[-1] >= len(edits):
            continue
        if needed <= {touched[place] for place in places}:
            chosen = tuple(edits[place] for place in places)
            if _repairs(clues.model, chosen, checker):
                return SearchResult(chosen, tries)
    return SearchResult(None, budget)


@functools.cache
def sequences(count: int) -> tuple[tuple[int, ...], ...]:
    """The first `count` sequences of candidates, by the product of their ranks, doubled for each further edit."""
    bound = 1
    while True:
        found = _within(bound)
        if len(found) >= count:
            return tuple(places for _, places in found[:count])
        bound *= 2


def _within(bound: int) -> list[tuple[int, tuple[int, ...]]]:
    """All sequences up to a cost, by cost; places count from 0, ranks from 1."""
    found: list[tuple[int, tuple[int, ...]]] = [(rank, (rank - 1,)) for rank in range(1, bound + 1)]
    for first in range(1, bound + 1):
        for second in range(first + 1, bound // (2 * first) + 1):
            found.append((2 * first * second, (first - 1, second - 1)))
            for third in range(second + 1, bound // (4 * first * second) + 1):
                found.append((4 * first * second * third, (first - 1, second - 1, third - 1)))
    return sorted(found)


def _repairs(model: LinearProgram, edits: tuple[Edit, ...], checker: Checker) -> bool:
    try:
        return checker.repaired(apply_all(model, edits))
    except ModelError:
        # Two edits of a sequence may contradict each other, as a dropped row and its new sense do.
        return False
