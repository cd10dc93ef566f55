"""Which models fit a purpose: filters over the registry, and an order in which the best comes first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from whet.models.registry import ModelRecord

Purpose = Literal["rl", "ceiling"]
"""`rl`: to be trained, so solving some tasks and not all; `ceiling`: to show how far a task can be solved."""

PURPOSES: tuple[Purpose, ...] = get_args(Purpose)


@dataclass(frozen=True, slots=True)
class ModelFilter:
    """What a model must be; None does not matter. Parameters are billions, prices dollars for a million tokens.

    A model whose size or price is not known fits no limit on it.
    """

    text: str = ""
    purpose: Purpose | None = None
    trainable: bool | None = None
    closed: bool | None = None
    vision: bool | None = None
    max_params: float | None = None
    max_active: float | None = None
    max_price_in: float | None = None
    max_price_out: float | None = None

    def fits(self, record: ModelRecord) -> bool:
        price = record.price
        return (
            self.text.lower() in record.id.lower()
            and _same(self.trainable, record.trainable)
            and _same(self.closed, record.closed)
            and _same(self.vision, record.vision)
            and _within(record.params, self.max_params)
            and _within(record.at_work, self.max_active)
            and _within(price.prompt if price else None, self.max_price_in)
            and _within(price.completion if price else None, self.max_price_out)
            and (self.purpose is None or serves(record, self.purpose))
        )


def matching(records: Iterable[ModelRecord], wanted: ModelFilter) -> list[ModelRecord]:
    """The records that fit, best first for the purpose; without one, the smallest first."""
    order = {"rl": _for_rl, "ceiling": _for_ceiling}.get(wanted.purpose or "", _by_size)
    return sorted((record for record in records if wanted.fits(record)), key=order)


def serves(record: ModelRecord, purpose: Purpose) -> bool:
    if record.availability == "missing" or purpose in record.unfit_for:
        return False
    return record.trainable if purpose == "rl" else record.baseline is not None


def signal(record: ModelRecord) -> float | None:
    """How much a group of rollouts has to teach: p (1 - p) of the baseline, most where half of the tasks are solved."""
    if record.baseline is None:
        return None
    return record.baseline.middle * (1 - record.baseline.middle)


LITTLE = 0.1
"""A signal below this (solved in fewer than one task of nine, or in more than eight) leaves little to learn from."""


def _for_rl(record: ModelRecord) -> tuple[object, ...]:
    """Most to learn from first, then the unmeasured, then those that solve nearly all or nothing; cheap before dear.

    A model with a known defect comes after all without: how much it would learn says nothing when it cannot.
    """
    known = signal(record)
    tier = 1 if known is None else 0 if known >= LITTLE else 2
    return (bool(record.trouble), tier, -(known or 0.0), *_by_size(record))


def _for_ceiling(record: ModelRecord) -> tuple[object, ...]:
    return (bool(record.trouble), -(record.baseline.middle if record.baseline else 0.0), *_by_price(record))


def _by_size(record: ModelRecord) -> tuple[object, ...]:
    return (_or_last(record.at_work), *_by_price(record))


def _by_price(record: ModelRecord) -> tuple[object, ...]:
    return (_or_last(record.price.completion if record.price else None), record.id)


def _or_last(value: float | None) -> float:
    return float("inf") if value is None else value


def _same(wanted: bool | None, is_so: bool) -> bool:
    return wanted is None or wanted == is_so


def _within(value: float | None, most: float | None) -> bool:
    return most is None or (value is not None and value <= most)
