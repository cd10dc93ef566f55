"""Blending: raw materials of known quality are mixed into products that must keep quality limits. Linear."""

from __future__ import annotations

import random

from whet.envs.ordebug.algebra import number
from whet.envs.ordebug.families.story import ProblemDraft, ProblemFamily, Story, listed, named

_RAWS = ("alder", "birch", "cedar", "damson", "elder", "fir", "gorse", "hazel", "ivy", "juniper", "larch", "maple")
_TRAITS = ("ash", "moisture", "sulphur", "density")


def draw(rng: random.Random, rows: int) -> ProblemDraft:
    traits = list(_TRAITS[: rng.randint(1, 2 if rows < 30 else 3)])
    products = max(1, round((rows - 2) / (len(traits) + 2.2)))
    raws = named(max(3, round(products * 0.8) + 1), rng, _RAWS)
    quality = {trait: [rng.randint(5, 95) / 10 for _ in raws] for trait in traits}
    used = [sorted(rng.sample(range(len(raws)), min(len(raws), rng.randint(3, 5)))) for _ in range(products)]
    plan = [{raw: rng.randint(8, 60) / 2 for raw in blend} for blend in used]
    story = Story(
        "blending",
        f"A plant mixes {len(raws)} raw materials into {products} blends. Amounts are tonnes.",
        "meet every requirement at least cost.",
    )
    prices = [rng.randint(20, 90) for _ in raws]
    names = {
        (raw, blend): story.column(f"tonnes of {raws[raw]} in blend {blend + 1}", prices[raw])
        for blend in range(products)
        for raw in used[blend]
    }
    _amounts(story, rng, raws, names, plan)
    for trait in traits:
        _limit(story, rng, raws, names, plan, trait, quality[trait])
    return story.draft()


def _amounts(
    story: Story, rng: random.Random, raws: list[str], names: dict[tuple[int, int], str], plan: list[dict[int, float]]
) -> None:
    """What must be made of each blend, what there is of each raw material, and what must be taken of some."""
    orders = [sum(blend.values()) for blend in plan]
    story.say(f"Blend sizes, exactly: {listed((f'blend {b + 1}', order) for b, order in enumerate(orders))}.")
    for blend, order in enumerate(orders):
        story.require({names[key]: 1.0 for key in names if key[1] == blend}, "=", order)
    supply, contract = [], []
    for raw in range(len(raws)):
        terms = {names[key]: 1.0 for key in names if key[0] == raw}
        taken = sum(blend.get(raw, 0) for blend in plan)
        if not terms:
            continue
        supply.append((raws[raw], float(round(taken * rng.uniform(1.02, 1.3)))))
        story.require(terms, "<=", supply[-1][1])
        if rng.random() < 0.35:
            contract.append((raws[raw], float(int(taken * rng.uniform(0.5, 0.9)))))
            story.require(terms, ">=", contract[-1][1])
    story.say(f"Stock, over all blends at most: {listed(supply)}.")
    if contract:
        story.say(f"Contracts, over all blends at least: {listed(contract)}.")


def _limit(
    story: Story,
    rng: random.Random,
    raws: list[str],
    names: dict[tuple[int, int], str],
    plan: list[dict[int, float]],
    trait: str,
    quality: list[float],
) -> None:
    """A ceiling (or a floor) on the average of a trait in each blend."""
    ceiling = rng.random() < 0.65
    limits = []
    for blend, amounts in enumerate(plan):
        mean = sum(quality[raw] * amount for raw, amount in amounts.items()) / sum(amounts.values())
        limit = round(mean + rng.uniform(0.1, 0.6), 1) if ceiling else round(mean - rng.uniform(0.1, 0.6), 1)
        limits.append((f"blend {blend + 1}", limit))
        terms = {names[raw, blend]: round(quality[raw] - limit, 4) for raw in amounts}
        story.require(terms, "<=" if ceiling else ">=", 0.0)
    story.say(
        f"Grade of {trait} (per tonne): {listed((raws[raw], quality[raw]) for raw in range(len(raws)))}; the average "
        f"grade of a blend is {'at most' if ceiling else 'at least'}: {listed(limits)}. A limit L is written as the "
        f"sum of (grade - L) times tonnes {'<=' if ceiling else '>='} {number(0.0)}."
    )


FAMILY = ProblemFamily("blending", draw, mixed=False, most=120)
