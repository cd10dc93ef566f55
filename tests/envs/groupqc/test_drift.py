"""Drift between sets of tickets: no alarm where nothing changed, whatever is clustered; an alarm where values did."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from whet.envs.groupqc.drift.shift import TraitShift, compare_tickets, lines_p
from whet.envs.groupqc.drift.traits import TicketTraits, TraitLexicon, label_format, ticket_traits, vote_shares
from whet.envs.groupqc.drift.watch import LEVELS, STAKES, DriftWatch
from whet.envs.groupqc.pack.file import find_mission
from whet.envs.groupqc.world.noise import REALISTIC, Noise
from whet.envs.groupqc.world.world import SiteWorld
from whet.errors import WhetError
from whet.keys import seed_for

MISSION = "挡风板安装检查"
ALPHA = 0.015


def tickets(n: int, seed: int, noise: Noise = REALISTIC, edit: Callable[[str], str] = str) -> list[TicketTraits]:
    pack, mission = find_mission(MISSION)
    world = SiteWorld(pack, mission, noise, seed)
    drawn = (world.ticket("train", index) for index in range(n))
    return [
        ticket_traits(pack, mission, ticket.group_id, [edit(text) for text in ticket.summaries], ticket.label)
        for ticket in drawn
    ]


def compared(before: list[TicketTraits], after: list[TicketTraits]) -> dict[str, TraitShift]:
    lexicon = TraitLexicon.of([*before, *after])
    sides = [[ticket.with_shares(lexicon.shares(ticket)) for ticket in side] for side in (before, after)]
    return {shift.about: shift for shift in compare_tickets(sides[0], sides[1], 999)}


def moved(shifts: dict[str, TraitShift]) -> set[str]:
    return {about for about, shift in shifts.items() if shift.adjusted <= ALPHA}


@pytest.fixture(scope="module")
def pool() -> list[TicketTraits]:
    return tickets(500, 71)


def test_null_pairs_raise_next_to_no_alarm(pool: list[TicketTraits]) -> None:
    """The bench does it 900 times; ALPHA says at most one in 67."""
    rng = random.Random(0)
    drawn = [rng.sample(pool, 80) for _ in range(25)]
    assert sum(bool(moved(compared(side[:40], side[40:]))) for side in drawn) <= 2


def test_draws_of_one_ticket_are_not_counted_as_many_tickets() -> None:
    """Half of the tickets are answered badly, every time: 200 draws on 40 tickets say no more than 40 tickets do."""
    rng, alarms = random.Random(1), 0
    for _ in range(40):
        sides = []
        for side in "ab":
            bad = [rng.random() < 0.5 for _ in range(40)]
            votes = [
                {
                    "majority_pred": "fail",
                    "agreement": 1.0,
                    "pass_count": 0,
                    "fail_count": 1,
                    "invalid_count": 4 if broken else 0,
                }
                for broken in bad
            ]
            sides.append([TicketTraits(f"{side}{at}", "m", vote_shares(vote)) for at, vote in enumerate(votes)])
        alarms += any(shift.adjusted <= ALPHA for shift in compare_tickets(sides[0], sides[1], 499))
    assert alarms <= 4


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (lambda text: text.replace("方向正确", "方向错误"), "value/挡风板.安装方向=方向错误"),
        (lambda text: text.replace("华为", "诺基亚").replace("中兴", "三星"), "unknown words"),
    ],
)
def test_changed_values_are_named(pool: list[TicketTraits], edit: Callable[[str], str], named: str) -> None:
    assert named in moved(compared(pool[:200], tickets(200, 72, edit=edit)))


def test_a_new_label_format_is_named() -> None:
    pack, mission = find_mission(MISSION)

    def labelled(texts: list[str], side: str) -> list[TicketTraits]:
        said = ('{"统计": [{"类别": "标签", "文本": {"' + text + '": 1}}]}' for text in texts)
        return [ticket_traits(pack, mission, f"{side}{at}", [text]) for at, text in enumerate(said)]

    old = [f"BBU{at % 7}-A{at % 3}" for at in range(100)]
    new = [f"{at % 7}#BBU/{at % 3}" for at in range(100)]
    assert any(about.startswith("label format") for about in moved(compared(labelled(old, "a"), labelled(new, "b"))))
    assert not moved(compared(labelled(old[:50], "a"), labelled(old[50:], "b")))


def test_flips_that_are_spread_thin_are_seen(pool: list[TicketTraits]) -> None:
    after = tickets(500, 73, replace(REALISTIC, flip=0.2))
    assert "values out of place" in moved(compared(pool, after))


def test_a_format_is_what_kinds_of_letters_follow_each_other() -> None:
    assert label_format("B扇区-RRU12-尾纤") == "A字-A9-字"


def test_lines_are_tested_exactly() -> None:
    assert lines_p((100, 0), (60, 40)) < 1e-9
    assert lines_p((11, 1), (4, 6)) == pytest.approx(min(1.0, 0.0202 / 0.05), abs=0.01)


def test_watching_raises_no_alarm_over_a_quiet_year_and_one_soon_after_a_change(pool: list[TicketTraits]) -> None:
    rng = random.Random(3)
    quiet = [replace(ticket, site=f"q{at}") for at, ticket in enumerate(rng.choices(pool, k=900))]
    watch = DriftWatch(quiet[:200])
    assert not watch.take(quiet[200:]).alarms
    turned = tickets(150, 74, edit=lambda text: text.replace("方向正确", "方向错误"))
    state = watch.take(turned)
    assert any("安装方向" in alarm.about for alarm in state.alarms)
    assert min(alarm.ticket for alarm in state.alarms) < 700 + 150


def test_looking_every_day_gives_what_one_look_gives(pool: list[TicketTraits]) -> None:
    daily, once = DriftWatch(pool[:100]), DriftWatch(pool[:100])
    for day in range(10):
        state = daily.take(pool[100 + 20 * day : 120 + 20 * day])
    assert state == once.take(pool[100:300])


def test_a_reference_that_is_too_small_is_refused(pool: list[TicketTraits]) -> None:
    with pytest.raises(WhetError, match="too small to watch by"):
        DriftWatch(pool[:8])


def test_a_watch_that_counts_on_bets_as_one_that_ranks_each_ticket_anew(pool: list[TicketTraits]) -> None:
    """The rank of a ticket among all before it, trait by trait, from the values themselves and no running count."""
    sites = list({ticket.site: ticket for ticket in pool}.values())
    watch, came = DriftWatch(sites[:60]), sites[60:100]
    before = [watch._levels(ticket)[0] for ticket in sites[30:60]]
    capital, left = np.zeros_like(watch._capital), 1.0
    for number, ticket in enumerate(came):
        shares = watch._all(ticket)
        values = np.array([shares.get(name, 0.0) for name in watch._names])
        level = np.clip(np.rint(values * (LEVELS - 1)), 0, LEVELS - 1)
        lot = np.random.default_rng(seed_for("groupqc", "watch", number) % 2**63).random(len(level))
        before.append(level)
        among = np.array(before)
        rank = ((among > level).sum(axis=0) + lot * (among == level).sum(axis=0)) / len(among)
        stake = (number + 10) ** -1.1 / watch._reserve
        left -= stake
        capital = (capital + stake / len(STAKES)) * (1 + STAKES[None, :] * (rank - 0.5)[:, None])
        watch.take([ticket])
    assert np.array_equal(watch._capital, capital)
    assert watch._left == left
