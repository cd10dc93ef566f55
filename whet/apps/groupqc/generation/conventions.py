"""The unwritten conventions of generated work: a file beside its truth, and lines for a person."""

from __future__ import annotations

import json
from pathlib import Path

from whet.envs.groupqc.tickets.source import Missions
from whet.envs.groupqc.world.conventions import draw_conventions
from whet.files import write_atomically

FILE = "{stem}.conventions.json"


def write_conventions(truth: Path, missions: Missions, seed: int | None) -> Path | None:
    """The conventions of each mission beside the truth; None where there are none."""
    if seed is None:
        return None
    stem = truth.name.split(".truth")[0] if truth.suffix == ".jsonl" else "MISSION"
    path = truth.with_name(FILE.format(stem=stem))
    planted = {
        name: [convention.as_data() for convention in draw_conventions(pack, mission, seed)]
        for name, (pack, mission) in missions.items()
    }
    write_atomically(path, json.dumps({"seed": seed, "missions": planted}, ensure_ascii=False, indent=1).encode())
    return path


def convention_lines(missions: Missions, seed: int | None) -> list[str]:
    """The conventions for a person, with the share of tickets that each decides."""
    if seed is None:
        return ["there are no unwritten conventions: labels go by the checklist"]
    return [
        f"{name}: {convention.id} ({convention.kind}, {convention.share:.0%}) {convention.text}"
        for name, (pack, mission) in missions.items()
        for convention in draw_conventions(pack, mission, seed)
    ]
