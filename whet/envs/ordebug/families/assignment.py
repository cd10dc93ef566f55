"""Assignment with knapsacks: every job goes to one machine, machines have limited hours, groups are kept apart."""

from __future__ import annotations

import random

from whet.envs.ordebug.families.story import ProblemDraft, ProblemFamily, Story, counted, listed


def draw(rng: random.Random, rows: int) -> ProblemDraft:
    machines = max(2, round(rows * 0.2))
    jobs = max(2, rows - 2 * machines - 1)
    allowed = [sorted(rng.sample(range(machines), min(machines, rng.randint(2, 4)))) for _ in range(jobs)]
    plan = [rng.choice(choices) for choices in allowed]
    hours = {(job, machine): rng.randint(2, 15) for job in range(jobs) for machine in allowed[job]}
    story = Story(
        "assignment",
        f"{jobs} jobs are given to {machines} machines. A job runs whole on one machine that can do it.",
        "do all jobs at least cost.",
    )
    names = {
        (job, machine): story.column(
            f"job {job + 1} runs on machine {machine + 1}", rng.randint(5, 60), 1.0, kind="binary"
        )
        for job, machine in hours
    }
    story.say("Every job runs on exactly one machine.")
    for job in range(jobs):
        story.require({names[job, machine]: 1.0 for machine in allowed[job]}, "=", 1.0)
    _hours(story, rng, names, hours, plan, machines)
    _counts(story, rng, names, plan, machines)
    _crew(story, rng, names, plan)
    return story.draft()


def _hours(
    story: Story,
    rng: random.Random,
    names: dict[tuple[int, int], str],
    hours: dict[tuple[int, int], int],
    plan: list[int],
    machines: int,
) -> None:
    for machine in range(machines):
        mine = {key: hours[key] for key in hours if key[1] == machine}
        load = sum(value for (job, _), value in mine.items() if plan[job] == machine)
        capacity = float(round(load * rng.uniform(1.1, 1.5)) + rng.randint(1, 6))
        told = listed((f"job {job + 1}", value) for (job, _), value in mine.items())
        story.say(f"Machine {machine + 1} has {capacity:g} hours. Hours needed there: {told or 'none'}.")
        if mine:
            story.require({names[key]: float(value) for key, value in mine.items()}, "<=", capacity)


def _counts(
    story: Story, rng: random.Random, names: dict[tuple[int, int], str], plan: list[int], machines: int
) -> None:
    """How many jobs a machine must at least run, or may at most run."""
    for machine in range(machines):
        terms = {names[key]: 1.0 for key in names if key[1] == machine}
        here = plan.count(machine)
        if len(terms) < 2:
            continue
        if here >= 2 and rng.random() < 0.6:
            least = float(rng.randint(max(1, here - 1), here))
            story.say(f"Machine {machine + 1} runs at least {counted(int(least), 'job')}.")
            story.require(terms, ">=", least)
        else:
            most = float(min(len(terms), here + rng.randint(1, 2)))
            story.say(f"Machine {machine + 1} runs at most {counted(int(most), 'job')}.")
            story.require(terms, "<=", most)


def _crew(story: Story, rng: random.Random, names: dict[tuple[int, int], str], plan: list[int]) -> None:
    """Operators are a shared budget over all assignments."""
    need = {key: rng.randint(1, 4) for key in names}
    used = sum(need[job, machine] for job, machine in enumerate(plan))
    limit = float(round(used * rng.uniform(1.05, 1.3)) + 1)
    told = listed((f"job {job + 1} on machine {machine + 1}", count) for (job, machine), count in need.items())
    story.say(f"Operators are shared: at most {limit:g} over all jobs. Operators needed: {told}.")
    story.require({names[key]: float(count) for key, count in need.items()}, "<=", limit)


FAMILY = ProblemFamily("assignment", draw, mixed=True, most=60)
