"""`whet decide`: a champion's decisions on new work, and the threshold by which it releases any."""

from __future__ import annotations

import asyncio
from pathlib import Path

from whet.errors import WhetError
from whet.release.batch import DecisionBatch, decide_lines, read_lines, write_batch
from whet.release.calibration import calibrate
from whet.release.champion import Champion, Champions, parse_title
from whet.release.decider import Decider, open_decider
from whet.terminal import print_lines


def named_champion(title: str, releases: Path) -> Champion:
    return Champions(releases).get(*parse_title(title))


def decide_command(name: str, source: Path, out: Path, releases: Path, control: dict[str, object]) -> None:
    """Decide on every line of a file; exit code 1 where a line was refused or left undecided, 3 at a budget's end."""
    champion, lines = named_champion(name, releases), read_lines(source)
    if out.is_dir() or not out.absolute().parent.is_dir():
        raise WhetError(f"{out}: cannot be written; name a file in a folder that is there")

    async def work() -> tuple[DecisionBatch, Decider]:
        async with open_decider(champion, releases, control=control) as decider:
            print_lines(*decider.notes)
            return await decide_lines(decider, lines), decider

    batch, decider = asyncio.run(work())
    write_batch(out, batch)
    print_lines(*batch.lines(out), *([decider.trail.trouble] if decider.trail.trouble else []))
    if batch.exit_code:
        raise SystemExit(batch.exit_code)


def calibrate_command(name: str, labelled: Path, releases: Path, check: int, **shares: float) -> None:
    """Choose the threshold of a champion on labelled work."""
    champion = named_champion(name, releases)
    lines = [line for _, line in read_lines(labelled)]
    allowed = shares.pop("allowed")
    rule = asyncio.run(calibrate(champion, lines, allowed, releases, check=check, **shares))  # type: ignore[arg-type]
    print_lines(rule.said())
