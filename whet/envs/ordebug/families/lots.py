"""Lot sizing: products are made in periods, kept in stock, and need a set-up in every period in which they run."""

from __future__ import annotations

import random

from whet.envs.ordebug.families.story import ProblemDraft, ProblemFamily, Story, counted, listed

Key = tuple[int, int]


def draw(rng: random.Random, rows: int) -> ProblemDraft:
    periods = rng.randint(2, 3) if rows < 16 else rng.randint(3, 6) if rows < 60 else rng.randint(5, 9)
    products = max(1, round((rows - periods) / (2 * periods + 1)))
    story = Story(
        "lots",
        f"A line makes {counted(products, 'product')} over {counted(periods, 'period')}. "
        "Stock is carried from one period to the next.",
        "meet demand at least cost.",
    )
    keys = [(product, period) for product in range(products) for period in range(periods)]
    made = {key: rng.choice([0, rng.randint(10, 40), rng.randint(10, 40)]) for key in keys}
    start = [rng.randint(5, 20) for _ in range(products)]
    demand, left = _demand(rng, made, start, periods)
    most = [float(max(made[product, t] for t in range(periods)) + rng.randint(5, 20)) for product in range(products)]
    make = {
        key: story.column(f"made of product {key[0] + 1} in period {key[1] + 1}", rng.randint(2, 9)) for key in keys
    }
    keep = {
        key: story.column(
            f"stock of product {key[0] + 1} after period {key[1] + 1}",
            rng.randint(1, 3),
            float(left[key] + rng.randint(4, 25)),
        )
        for key in keys
    }
    ready = {
        key: story.column(
            f"set-up for product {key[0] + 1} in period {key[1] + 1}", rng.randint(20, 90), 1.0, kind="binary"
        )
        for key in keys
    }
    _balance(story, keys, make, keep, demand, start)
    story.say(
        "A product is made only with a set-up, and then at most: "
        f"{listed((f'product {p + 1}', value) for p, value in enumerate(most))}."
    )
    for key in keys:
        story.require({make[key]: 1.0, ready[key]: -most[key[0]]}, "<=", 0.0)
    _capacity(story, rng, keys, make, ready, made, periods)
    _reserve(story, rng, keep, left, periods, products)
    return story.draft()


def _demand(
    rng: random.Random, made: dict[Key, int], start: list[int], periods: int
) -> tuple[dict[Key, float], dict[Key, float]]:
    """Demand that the planned lots can meet, and the stock that the plan leaves."""
    demand, left = {}, {}
    for product, first in enumerate(start):
        stock = float(first)
        for period in range(periods):
            there = stock + made[product, period]
            share = rng.uniform(0.6, 1.0) if period < periods - 1 else rng.uniform(0.4, 0.8)
            demand[product, period] = int(2 * there * share) / 2
            left[product, period] = stock = there - demand[product, period]
    return demand, left


def _balance(
    story: Story,
    keys: list[Key],
    make: dict[Key, str],
    keep: dict[Key, str],
    demand: dict[Key, float],
    start: list[int],
) -> None:
    story.say(f"Stock before period 1: {listed((f'product {p + 1}', float(v)) for p, v in enumerate(start))}.")
    for product in range(len(start)):
        told = listed((f"period {t + 1}", float(demand[p, t])) for p, t in keys if p == product)
        story.say(f"Demand for product {product + 1}: {told}.")
    story.say(
        "Stock after a period is the stock before it plus what was made minus demand (the stock before period 1 is "
        "moved to the right-hand side)."
    )
    for product, period in keys:
        terms = {make[product, period]: 1.0, keep[product, period]: -1.0}
        rhs = float(demand[product, period])
        if period:
            terms[keep[product, period - 1]] = 1.0
        else:
            rhs -= start[product]
        story.require(terms, "=", rhs)


def _capacity(
    story: Story,
    rng: random.Random,
    keys: list[Key],
    make: dict[Key, str],
    ready: dict[Key, str],
    made: dict[Key, int],
    periods: int,
) -> None:
    products = 1 + max(product for product, _ in keys)
    hours = [rng.randint(1, 4) for _ in range(products)]
    setup = [rng.randint(3, 12) for _ in range(products)]
    limits = []
    for period in range(periods):
        load = sum(hours[p] * made[p, period] + setup[p] * (made[p, period] > 0) for p in range(products))
        limits.append((f"period {period + 1}", float(round(load * rng.uniform(1.05, 1.3)) + rng.randint(5, 15))))
        terms = {make[p, period]: float(hours[p]) for p in range(products)}
        terms |= {ready[p, period]: float(setup[p]) for p in range(products)}
        story.require(terms, "<=", limits[-1][1])
    story.say(
        f"Hours for one unit: {listed((f'product {p + 1}', float(v)) for p, v in enumerate(hours))}; hours for a "
        f"set-up: {listed((f'product {p + 1}', float(v)) for p, v in enumerate(setup))}; hours there are: "
        f"{listed(limits)}."
    )


def _reserve(
    story: Story, rng: random.Random, keep: dict[Key, str], left: dict[Key, float], periods: int, products: int
) -> None:
    """What must be in stock at the end, and how much the store holds in all."""
    last = periods - 1
    least = [(f"product {p + 1}", float(int(left[p, last] * rng.uniform(0.5, 1.0)))) for p in range(products)]
    story.say(f"Stock after the last period, at least: {listed(least)}.")
    for product in range(products):
        story.require({keep[product, last]: 1.0}, ">=", least[product][1])


FAMILY = ProblemFamily("lots", draw, mixed=True)
