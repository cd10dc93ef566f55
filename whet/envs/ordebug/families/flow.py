"""Network flow: goods go from depots over one-way links to customers; stations in between keep nothing. Linear."""

from __future__ import annotations

import itertools
import random

from whet.envs.ordebug.families.story import ProblemDraft, ProblemFamily, Story, counted, listed


def draw(rng: random.Random, rows: int) -> ProblemDraft:
    nodes = max(4, round(rows / 1.25))
    sources = max(1, round(nodes * 0.2))
    sinks = max(1, round(nodes * 0.3))
    flow = _planned(rng, nodes, sources, sinks)
    story = Story(
        "flow",
        f"Goods are shipped over a network of {nodes} places joined by one-way links. The first "
        f"{counted(sources, 'place')} are depots, the last {counted(sinks, 'place')} are customers, "
        "all others only pass on what they receive.",
        "ship at least cost.",
    )
    names = {}
    for (start, end), amount in sorted(flow.items()):
        capacity = float(round(amount * rng.uniform(1.05, 1.7)) + rng.randint(0, 3))
        names[start, end] = story.column(
            f"shipped from place {start + 1} to place {end + 1}", rng.randint(1, 25), capacity
        )
    net = [0] * nodes
    for (start, end), amount in flow.items():
        net[start] += amount
        net[end] -= amount
    _balances(story, rng, names, net, sources, sinks)
    _crossings(story, rng, names, flow, max(1, rows - nodes))
    return story.draft()


def _planned(rng: random.Random, nodes: int, sources: int, sinks: int) -> dict[tuple[int, int], int]:
    """Amounts on links: customers are served over paths that only lead to higher numbers, and no place is idle."""
    flow: dict[tuple[int, int], int] = {}
    for sink in range(nodes - sinks, nodes):
        for _ in range(rng.randint(1, 2)):
            amount = rng.randint(5, 30)
            middle = sorted(rng.sample(range(sources, nodes - sinks), min(rng.randint(1, 3), nodes - sinks - sources)))
            path = [rng.randrange(sources), *middle, sink]
            for link in itertools.pairwise(path):
                flow[link] = flow.get(link, 0) + amount
    for node in range(sources, nodes - sinks):
        if not any(node in link for link in flow):
            path = [rng.randrange(sources), node, rng.randrange(nodes - sinks, nodes)]
            for link in itertools.pairwise(path):
                flow[link] = flow.get(link, 0) + 5
    return flow


def _balances(
    story: Story, rng: random.Random, names: dict[tuple[int, int], str], net: list[int], sources: int, sinks: int
) -> None:
    """One row for each place: what leaves minus what arrives (for customers: what arrives minus what leaves)."""
    nodes = len(net)
    supply, demand = [], []
    for node in range(nodes):
        leaves = {name: 1.0 for (start, _), name in names.items() if start == node}
        arrives = {name: 1.0 for (_, end), name in names.items() if end == node}
        if node < sources:
            if not leaves:
                continue
            supply.append((f"place {node + 1}", float(round(net[node] * rng.uniform(1.0, 1.25)))))
            story.require(leaves, "<=", supply[-1][1])
        elif node >= nodes - sinks:
            demand.append((f"place {node + 1}", float(-net[node])))
            story.require(arrives, ">=", demand[-1][1])
        else:
            story.require({**leaves, **dict.fromkeys(arrives, -1.0)}, "=", 0.0)
    story.say(f"A depot ships no more than it has: {listed(supply)}.")
    story.say(f"A customer receives at least what was ordered: {listed(demand)}.")
    story.say("At every other place, what leaves equals what arrives.")


def _crossings(
    story: Story, rng: random.Random, names: dict[tuple[int, int], str], flow: dict[tuple[int, int], int], count: int
) -> None:
    """Groups of links share a crossing of limited capacity, or must together carry a least amount."""
    links = sorted(names)
    for _ in range(count):
        group = sorted(rng.sample(links, min(len(links), rng.randint(2, 4))))
        total = sum(flow[link] for link in group)
        told = ", ".join(f"{start + 1}-{end + 1}" for start, end in group)
        if rng.random() < 0.6:
            limit = float(round(total * rng.uniform(1.02, 1.2)))
            story.say(f"Links {told} share one crossing: together at most {limit:g}.")
            story.require({names[link]: 1.0 for link in group}, "<=", limit)
        else:
            least = float(int(total * rng.uniform(0.6, 0.9)))
            story.say(f"Links {told} are under contract: together at least {least:g}.")
            story.require({names[link]: 1.0 for link in group}, ">=", least)


FAMILY = ProblemFamily("flow", draw, mixed=False)
