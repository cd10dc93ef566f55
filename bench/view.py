"""How long the viewer and the report take on a run of 100,000 rollouts, beside what a bare SQL query takes there.

CPU seconds, the least of some, of pages made in this process: nothing here waits, and a machine that others use too
makes a clock on the wall say little. Cold is the first look of a viewer that has counted nothing yet; the files are in
the system's cache, as after a run.

python bench/view.py [--quick] [--json FILE]
"""

from __future__ import annotations

import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rows import Row, arguments, report

from whet.ledger.writer import LedgerWriter
from whet.report.write import write_report
from whet.types import Label, Policy, Reply, Rollout, Score, Ticket, Turn, Usage, user
from whet.web import pages
from whet.web.site import Site

KINDS = ("tables", "forms", "cards", "traversal", "jsonld", "primer")
LEVELS = ("easy", "medium", "hard")
REASONS = ("wrong", "no_answer", "malformed", "turn_limit")

LIST_BAR, FILTER_BAR, REPORT_BAR, SIZE_BAR = 0.2, 0.3, 20.0, 5.0


def rollout(index: int, rng: random.Random, policy: str) -> Rollout:
    """A record of about 1.5 kB: two draws of each task."""
    task, draw = index // 2, index % 2
    solved = rng.random() < 0.6
    reply = Reply("a" * 300, finish="length" if rng.random() < 0.03 else "stop", usage=Usage(1, 200, 80, 0, 0.001))
    score = Score(
        int(solved), float(solved), float(solved), {"format": 1.0}, "correct" if solved else rng.choice(REASONS)
    )
    label = Label(KINDS[task % 6], LEVELS[task % 3])
    turn = Turn("target", (user("q" * 560),), reply)
    ticket = Ticket("eval", "select", task, draw)
    return Rollout(ticket, label, f"{index:032x}", "r" * 32, policy, (turn,), score, reply.usage, 1.5)


def make_run(folder: Path, rollouts: int) -> None:
    rng = random.Random(0)
    with LedgerWriter.create(folder) as ledger:
        ledger.set_meta(
            kind="eval", depends_on='{"env":{"name":"soup"},"target":{"model":"m"},"eval":{"split":"select"}}'
        )
        ledger.add_policy(Policy("m"))
        (policy,) = ledger.policies()
        ledger.add_event("session", planned=rollouts)
        for first in range(0, rollouts, 500):
            ledger.add_rollouts([rollout(index, rng, policy) for index in range(first, min(first + 500, rollouts))])
        ledger.add_event("ended", seconds=1.0, why="done")
    (folder / "config.toml").write_text('[env]\nname = "soup"\n')


def best_of(times: int, act: Callable[[], object]) -> float:
    taken = []
    for _ in range(times):
        began = time.process_time()
        act()
        taken.append(time.process_time() - began)
    return min(taken)


FILTERS: dict[str, dict[str, str]] = {
    "none": {},
    "kind": {"kind": "forms"},
    "reason": {"reason": "turn_limit"},
    "solved": {"solved": "no"},
    "truncated": {"truncated": "1"},
    "flipped": {"flipped": "1"},
    "task": {"task": "select/40000"},
    "several": {"kind": "forms", "difficulty": "medium", "solved": "no", "reason": "wrong"},
    "last page": {"start": "99950"},
}


def rows(quick: bool) -> Iterator[Row]:
    times = 3 if quick else 7
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        many = 100_000
        make_run(root / "large", many)
        file = root / "large" / "ledger.sqlite"
        condition = f"{many:,} rollouts, {file.stat().st_size / 1e6:.0f} MB"
        db = sqlite3.connect(file)
        pages.runs_page(Site(root))  # what is imported at the first estimate is not the page's
        bare = best_of(times, lambda: db.execute("SELECT count(*), avg(hard) FROM rollouts").fetchone())
        cold = best_of(times, lambda: pages.runs_page(Site(root)))
        yield _row("view_list_cold", cold, LIST_BAR, bare, f"{condition}; nothing counted before")
        site = Site(root)
        pages.runs_page(site)
        warm = best_of(times, lambda: pages.runs_page(site))
        yield _row("view_list_again", warm, LIST_BAR, bare, condition)
        for name, words in FILTERS.items():
            slow = best_of(times, lambda words=words: pages.rollouts_page(site, "large", words))
            yield _row(f"view_filter_{name.replace(' ', '_')}", slow, FILTER_BAR, bare, condition)
        fresh = best_of(times, lambda: pages.rollouts_page(Site(root), "large", {"flipped": "1"}))
        yield _row("view_filter_flipped_cold", fresh, FILTER_BAR, bare, f"{condition}; nothing counted before")
        overview = best_of(2, lambda: pages.run_page(Site(root), "large"))
        yield Row("view_overview_cold", overview, "CPU s", peer="bare SQL", peer_value=bare, ratio=overview / bare, condition=condition)  # fmt: skip  # noqa: E501
        reader = best_of(times, lambda: pages.rollout_page(site, "large", {"seq": "50000"}))
        yield Row(
            "view_transcript",
            reader,
            "CPU s",
            peer="bare SQL",
            peer_value=bare,
            ratio=reader / bare,
            condition=condition,
        )
        out = root / "report.html"
        made = best_of(2, lambda: write_report([root / "large"], out))
        yield _row("report_seconds", made, REPORT_BAR, bare, condition)
        size = out.stat().st_size / 1e6
        yield Row("report_size", size, "MB", SIZE_BAR, size < SIZE_BAR, condition=condition)


def _row(name: str, seconds: float, bar: float, bare: float, condition: str) -> Row:
    return Row(name, seconds, "CPU s", bar, seconds < bar, "bare SQL", bare, seconds / bare, condition)


if __name__ == "__main__":
    options = arguments(__doc__)
    report(rows(options.quick), options.json)
