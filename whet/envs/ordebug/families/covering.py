"""Covering: stations are opened so that every district is reached often enough, within crews and zones. Binary."""

from __future__ import annotations

import random

from whet.envs.ordebug.families.story import ProblemDraft, ProblemFamily, Story, listed


def draw(rng: random.Random, rows: int) -> ProblemDraft:
    districts = max(3, round(rows * 0.65))
    sites = max(4, round(districts * rng.uniform(0.6, 0.9)))
    extra = max(1, rows - districts - 2)
    open_ = [rng.random() < 0.55 for _ in range(sites)]
    story = Story(
        "covering",
        f"Emergency stations are opened at some of {sites} sites so that {districts} districts are reached in time.",
        "open stations at least cost.",
    )
    cost = [rng.randint(10, 60) for _ in range(sites)]
    names = [
        story.column(f"a station is opened at site {site + 1}", cost[site], 1.0, kind="binary") for site in range(sites)
    ]
    story.say("Each district must be reached from at least so many open stations:")
    for district in range(districts):
        near = sorted(rng.sample(range(sites), min(sites, rng.randint(2, 5))))
        there = sum(open_[site] for site in near)
        if there == 0:
            open_[near[0]], there = True, 1
        need = rng.randint(max(1, there - 1), there)
        story.say(f"district {district + 1}: {need} of sites {', '.join(str(site + 1) for site in near)}.")
        story.require({names[site]: 1.0 for site in near}, ">=", need)
    _budgets(story, rng, names, open_)
    _zones(story, rng, names, open_, extra)
    return story.draft()


def _budgets(story: Story, rng: random.Random, names: list[str], open_: list[bool]) -> None:
    """Crews and money are limited over all sites."""
    most = float(sum(open_) + rng.randint(0, 1))
    story.say(f"At most {most:g} stations are opened.")
    story.require(dict.fromkeys(names, 1.0), "<=", most)
    crews = [rng.randint(3, 12) for _ in names]
    used = sum(crew for crew, there in zip(crews, open_, strict=True) if there)
    limit = float(round(used * rng.uniform(1.02, 1.2)))
    told = listed((f"site {site + 1}", float(crew)) for site, crew in enumerate(crews))
    story.say(f"Crews for an open station: {told}; there are {limit:g} crews.")
    story.require({name: float(crew) for name, crew in zip(names, crews, strict=True)}, "<=", limit)


def _zones(story: Story, rng: random.Random, names: list[str], open_: list[bool], count: int) -> None:
    """Limits on groups of sites, and stations that only run with another one."""
    for _ in range(count):
        if rng.random() < 0.6:
            group = sorted(rng.sample(range(len(names)), min(len(names), rng.randint(2, 6))))
            there = sum(open_[site] for site in group)
            least = rng.random() < 0.4 and there > 0
            limit = there if least else min(len(group), there + rng.randint(0, 1))
            told = ", ".join(str(site + 1) for site in group)
            story.say(f"Of sites {told}, {'at least' if least else 'at most'} {limit} are opened.")
            story.require({names[site]: 1.0 for site in group}, ">=" if least else "<=", limit)
        else:
            first, second = rng.sample(range(len(names)), 2)
            if open_[first] and not open_[second]:
                first, second = second, first
            story.say(
                f"Site {first + 1} is opened only if site {second + 1} is (the first minus the second is at most 0)."
            )
            story.require({names[first]: 1.0, names[second]: -1.0}, "<=", 0.0)


FAMILY = ProblemFamily("covering", draw, mixed=True, most=120)
