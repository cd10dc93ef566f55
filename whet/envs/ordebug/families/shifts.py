"""Shift scheduling: how many people work each shift, so that every hour is staffed and contracts are kept. Integer."""

from __future__ import annotations

import random

from whet.envs.ordebug.families.story import ProblemDraft, ProblemFamily, Story, counted, listed


def draw(rng: random.Random, rows: int) -> ProblemDraft:
    days = 1 if rows < 14 else max(1, round(rows / 14))
    slots = max(3, round((rows - 2 * days) / days) - 1)
    story = Story(
        "shifts",
        f"A service desk is open on {counted(days, 'day')} of {slots} hours. People are booked for shifts of "
        "several hours in a row.",
        "cover every hour at least cost.",
    )
    week: dict[str, int] = {}
    for day in range(days):
        _day(story, rng, day, slots, week)
    total = sum(week.values())
    limit = float(total + rng.randint(0, max(1, total // 8)))
    story.say(f"All bookings together are at most {limit:g} (there are no more people).")
    story.require(dict.fromkeys(week, 1.0), "<=", limit)
    return story.draft()


def _day(story: Story, rng: random.Random, day: int, slots: int, week: dict[str, int]) -> None:
    """The shifts of one day, the need in each hour, and two limits of that day."""
    plan: dict[str, int] = {}
    covers: dict[str, range] = {}
    short: list[str] = []
    for first in range(slots):
        for length in sorted(rng.sample((2, 3, 4), 2)) if first == 0 else [rng.choice((2, 3, 4))]:
            last = min(slots, first + length)
            people = rng.randint(0, 6)
            name = story.column(
                f"people on day {day + 1} for hours {first + 1} to {last}",
                rng.randint(8, 14) * (last - first),
                float(people + rng.randint(1, 4)),
                kind="integer",
            )
            plan[name], covers[name] = people, range(first, last)
            if last - first <= 2:
                short.append(name)
    needs = []
    for hour in range(slots):
        there = [name for name in plan if hour in covers[name]]
        staffed = sum(plan[name] for name in there)
        needs.append((f"hour {hour + 1}", float(max(0, staffed - rng.randint(0, 1)))))
        story.require(dict.fromkeys(there, 1.0), ">=", needs[-1][1])
    story.say(f"People needed on day {day + 1}, at least: {listed(needs)}.")
    bookings = float(sum(plan.values()) + rng.randint(0, 2))
    story.say(f"Bookings on day {day + 1}: at most {bookings:g}.")
    story.require(dict.fromkeys(plan, 1.0), "<=", bookings)
    if short and len(short) < len(plan):
        most = float(sum(plan[name] for name in short) + rng.randint(0, 2))
        story.say(f"Shifts of at most two hours on day {day + 1}: together at most {most:g} people.")
        story.require(dict.fromkeys(short, 1.0), "<=", most)
    week.update(plan)


FAMILY = ProblemFamily("shifts", draw, mixed=True)
