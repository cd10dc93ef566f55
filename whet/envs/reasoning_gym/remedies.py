"""What keeps some datasets of reasoning-gym from being pure or safe, and the class made from theirs that mends it.

Most datasets draw an item from `Random(seed + number)` and need nothing. The rest iterate over sets of text (whose
order changes from process to process), make their items at construction, or evaluate a reply as Python.
"""

from __future__ import annotations

import ast
import dataclasses
import sys
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

from whet.envs.reasoning_gym.expressions import differentiates_to
from whet.keys import seed_for

Kind = type[Any]


def remedied(name: str, kind: Kind) -> Kind:
    """The class to build `name` from."""
    return REMEDIES[name](kind) if name in REMEDIES else kind


def _derived(kind: Kind, **members: Any) -> Kind:
    return type(kind.__name__, (kind,), members)


def _fixed(value: Callable[[Any], Any]) -> property:
    """An attribute that is what `value` says, whatever the class assigns to it."""
    return property(value, lambda self, assigned: None)


class SortedSet(frozenset[Any]):
    """A set that is walked in sorted order."""

    def __iter__(self) -> Iterator[Any]:
        return iter(sorted(frozenset.__iter__(self)))

    def __sub__(self, other: Any) -> SortedSet:
        return SortedSet(frozenset.__sub__(self, other))


class NumberedChoice:
    """A choice for every number, in place of a list with one for every index below the dataset's size."""

    def __init__(self, name: str, choices: list[int]) -> None:
        self._name = name
        self._choices = choices

    def __getitem__(self, number: int) -> int:
        return Random(seed_for("choice", self._name, number)).choice(self._choices)


def _letters_in_order(kind: Kind) -> Kind:
    """Letters are chosen from a set."""
    letters = SortedSet("abcdefghijklmnopqrstuvwxyz")
    return _derived(kind, letters=_fixed(lambda self: letters))


def _monomials_in_order(kind: Kind) -> Kind:
    """Terms are chosen from a set of sympy expressions, and the variables listed from another."""

    def monomials(self: Any, rng: Random) -> list[Any]:
        return sorted(kind._get_monomials(self, rng), key=str)

    def item(self: Any, number: int) -> dict[str, Any]:
        entry: dict[str, Any] = kind.__getitem__(self, number)
        entry["metadata"]["variables"].sort()
        return entry

    return _derived(kind, _get_monomials=monomials, __getitem__=item)


def _knights_in_order(kind: Kind) -> Kind:
    """The solver walks frozen sets of squares, so which of the shortest solutions it finds depends on their order."""
    vars(sys.modules[kind.__module__])["frozenset"] = SortedSet
    return kind


def _words_in_order(kind: Kind) -> Kind:
    """Neighbours of a word are a set; and a pair that is not found shrinks the dataset for good."""

    def graph(self: Any, length: int) -> dict[str, list[str]]:
        return {word: sorted(near) for word, near in kind._build_word_graph(self, length).items()}

    return _derived(kind, _build_word_graph=graph, size=_fixed(lambda self: sys.maxsize))


def _choice_by_number(choices: str) -> Callable[[Kind], Kind]:
    """Which generator an item comes from is drawn at construction, for as many items as the size says."""

    def remedy(kind: Kind) -> Kind:
        module = sys.modules[kind.__module__]
        chosen = NumberedChoice(module.__name__, getattr(module, choices))
        return _derived(kind, task_indices=_fixed(lambda self: chosen))

    return remedy


def _one_at_a_time(kind: Kind) -> Kind:
    """All items are made at construction: five at a time is the least that keeps the proportions of its kinds."""

    def item(self: Any, number: int) -> dict[str, Any]:
        config = dataclasses.replace(self.config, seed=number, size=5)
        entry: dict[str, Any] = kind(config)[0]
        return entry

    return _derived(kind, __getitem__=item, _generate_questions=lambda self: [])


def _conclusions(kind: Kind) -> Kind:
    """When it finds no conclusion it makes one up; such items are not used."""

    def item(self: Any, number: int) -> dict[str, Any]:
        entry: dict[str, Any] = kind.__getitem__(self, number)
        if kind.score_answer(self, entry["metadata"]["example_answer"], entry) < 1.0:
            raise ValueError("no conclusion found")
        return entry

    return _derived(kind, __getitem__=item)


def _integrals(kind: Kind) -> Kind:
    """Sympy simplifies the difference of a wrong answer for minutes: what is wrong at a point is wrong.

    Which of several forms of an integral sympy finds depends on hash order, so the answer that is known is left out;
    the scorer does not compare with it.
    """

    def item(self: Any, number: int) -> dict[str, Any]:
        return {**kind.__getitem__(self, number), "answer": None}

    def score(self: Any, answer: str, entry: Mapping[str, Any]) -> float:
        metadata = entry["metadata"]
        if not differentiates_to(answer, metadata["integrand"], metadata["variable"]):
            return 0.0
        return float(kind.score_answer(self, answer, entry))

    return _derived(kind, __getitem__=item, score_answer=score)


def _literals_only(kind: Kind) -> Kind:
    """The scorer calls `eval` on the reply, to accept a Python list: literals are read, nothing is executed."""
    vars(sys.modules[kind.__module__])["eval"] = ast.literal_eval
    return kind


REMEDIES: Mapping[str, Callable[[Kind], Kind]] = {
    "acre": _one_at_a_time,
    "binary_matrix": _literals_only,
    "gsm_symbolic": _choice_by_number("tasks_ok"),
    "intermediate_integration": _integrals,
    "isomorphic_strings": _letters_in_order,
    "knight_swap": _knights_in_order,
    "list_functions": _choice_by_number("tasks"),
    "n_queens": _literals_only,
    "polynomial_multiplication": _monomials_in_order,
    "propositional_logic": _conclusions,
    "ransom_note": _letters_in_order,
    "simple_integration": _integrals,
    "spiral_matrix": _literals_only,
    "string_insertion": _literals_only,
    "word_ladder": _words_in_order,
}
