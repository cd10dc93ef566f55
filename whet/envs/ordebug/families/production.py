"""Production mix: products share resources in every period, under contracts and proportions. Linear, for profit."""

from __future__ import annotations

import random

from whet.envs.ordebug.families.story import ProblemDraft, ProblemFamily, Story, counted, listed

_RESOURCES = ("cutting", "milling", "welding", "painting", "packing")


def draw(rng: random.Random, rows: int) -> ProblemDraft:
    periods = 1 if rows < 12 else rng.randint(2, 4) if rows < 60 else rng.randint(4, 7)
    each = rows / periods
    resources = list(_RESOURCES[: 2 if each < 8 else 3 if each < 15 else 5])
    products = max(3, round((each - len(resources) - 1) / 1.3))
    story = Story(
        "production",
        f"A workshop makes {counted(products, 'product')} in {counted(periods, 'period')}. "
        "Amounts are hundreds of pieces.",
        "earn the greatest profit.",
        maximize=True,
    )
    profit = [rng.randint(5, 40) for _ in range(products)]
    hours = {resource: [rng.randint(0, 3) * rng.randint(1, 3) for _ in range(products)] for resource in resources}
    for resource in resources:
        told = listed((f"product {p + 1}", float(value)) for p, value in enumerate(hours[resource]))
        story.say(f"Hours of {resource} for one unit: {told}.")
    for period in range(periods):
        _period(story, rng, period, profit, hours)
    return story.draft()


def _period(story: Story, rng: random.Random, period: int, profit: list[int], hours: dict[str, list[int]]) -> None:
    """Columns and rows of one period."""
    products = len(profit)
    plan = [rng.randint(4, 25) for _ in range(products)]
    names = [
        story.column(f"made of product {p + 1} in period {period + 1}", profit[p], float(plan[p] + rng.randint(2, 20)))
        for p in range(products)
    ]
    limits = []
    for resource, needed in hours.items():
        load = sum(value * amount for value, amount in zip(needed, plan, strict=True))
        limits.append((resource, float(round(load * rng.uniform(1.02, 1.25)) + 1)))
        story.require({names[p]: float(needed[p]) for p in range(products)}, "<=", limits[-1][1])
    story.say(f"Hours in period {period + 1}, at most: {listed(limits)}.")
    least = [
        (f"product {p + 1}", p, float(int(plan[p] * rng.uniform(0.5, 0.95))))
        for p in range(products)
        if p == 0 or rng.random() < 0.8
    ]
    story.say(f"Contracts in period {period + 1}, at least: {listed((name, value) for name, _, value in least)}.")
    for _, product, value in least:
        story.require({names[product]: 1.0}, ">=", value)
    for _ in range(max(1, products // 3)):
        first, second = rng.sample(range(products), 2)
        factor = -(-plan[first] // plan[second])
        story.say(
            f"In period {period + 1}, product {first + 1} is at most {factor} times product {second + 1} (the first "
            f"minus {factor} times the second is at most 0)."
        )
        story.require({names[first]: 1.0, names[second]: -float(factor)}, "<=", 0.0)
    total = float(sum(plan) - rng.randint(0, 3))
    story.say(f"All products of period {period + 1} together are at least {total:g}.")
    story.require(dict.fromkeys(names, 1.0), ">=", total)


FAMILY = ProblemFamily("production", draw, mixed=False)
