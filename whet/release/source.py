"""Where a champion is installed from: the releases folder, or the file of a package."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from whet.release.champion import PROMOTED, RELEASES, Champion, Champions, parse_title
from whet.release.install import install
from whet.release.package import Package


def install_source(source: str, into: str, *, releases: Path = RELEASES, description: str = "") -> list[str]:
    """Install a champion by its name, or a package by its file; says what was done, a line each."""
    champions = Champions(releases)
    path = Path(source)
    if path.suffix == ".zip" or path.is_file():
        champion = Package.read(path).champion
        proof = list(_proof(champions, champion))
    else:
        champion, proof = champions.get(*parse_title(source)), []
    done = install(champion, into, releases=releases, description=description)
    over = f" in place of {done.before}" if done.before not in ("", done.champion) else ""
    return [
        f"{done.folder}: {done.champion} installed{over}",
        *proof,
        "what it is worth there: whet eval ENV -m agent:..., before and after",
        f"to take it away: whet release uninstall {champion.name} --from {into}",
    ]


def _proof(champions: Champions, champion: Champion) -> Iterator[str]:
    """Whether the trail here knows what a package holds."""
    known = {event.digest for event in champions.events(champion.name) if event.kind == PROMOTED}
    if champion.digest in known:
        yield f"{champion.title} was promoted here: its digest {champion.digest} stands in {champions.folder}"
    else:
        yield f"its digest is {champion.digest}: compare it with what 'whet release show' prints where it was promoted"
