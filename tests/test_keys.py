"""Digests stand for content: what differs has another, numbers that JSON does not know included."""

from __future__ import annotations

import math
from itertools import combinations

from whet.keys import digest
from whet.types import Label, Playbook, Sampling, Shape, Task, user


def test_numbers_that_are_not_finite_are_told_from_null_and_from_each_other() -> None:
    """They were all written as null, so that two configs could have one identity."""
    values = [None, math.nan, math.inf, -math.inf, "nan", 0.0, {"x": None}, {"x": math.nan}, [math.inf], [None]]
    assert len({digest(value) for value in values}) == len(values)
    assert digest(Sampling(temperature=math.nan)) != digest(Sampling())
    for low, high in combinations((None, math.inf, -math.inf), 2):
        truths = [Task("train", 0, Label("k"), (user("q"),), truth={"bound": bound}) for bound in (low, high)]
        assert digest(truths[0]) != digest(truths[1])


def test_what_is_finite_keeps_its_digest() -> None:
    assert digest(Shape(), Playbook("b"), None, 1.5) == digest(Shape(), Playbook("b"), None, 1.5)
    assert digest({"a": 1, "b": None}) == digest({"b": None, "a": 1})
