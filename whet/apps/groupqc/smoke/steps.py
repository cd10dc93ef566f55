"""The whole path with no model, in seconds: does everything that stands between photos and figures work here?

Each step is a function that works in a folder and returns a line; a step that fails raises a `WhetError`.
"""

from __future__ import annotations

import functools
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from whet.apps.groupqc.audit.files import METRICS, NG, NP, STATS, STEPS, WRONG
from whet.apps.groupqc.audit.run import AuditSettings, run_audit
from whet.apps.groupqc.drift.report import find_drift
from whet.apps.groupqc.generation.files import generate_groups, write_photos, write_tickets
from whet.apps.groupqc.pipeline.run import READER, PipelinePlan, run_all
from whet.config.load import load_config
from whet.config.schema import EvalConfig
from whet.envs.groupqc.environment import GroupQc
from whet.envs.groupqc.pack.file import load_packs
from whet.envs.groupqc.pack.schema import VERDICTS
from whet.envs.groupqc.tickets.line import json_line
from whet.envs.groupqc.verdict.lines import read_verdict, write_verdict
from whet.envs.groupqc.verdict.votes import Ballot, DecodeSettings
from whet.envs.groupqc.world.noise import Noise
from whet.errors import WhetError
from whet.run.compose import Given

TICKETS = 40
NOISE = Noise(omission=0.05, malformed=0.05, label=0.05, resubmission=0.3)
FILES = (METRICS, STATS, WRONG, NP, NG, STEPS)


@dataclass(frozen=True, slots=True)
class SmokeStep:
    """What one step found."""

    name: str
    ok: bool
    said: str
    seconds: float


def run_smoke(
    packs: tuple[str, ...] = (), *, photos: bool = True, max_pixels: int | None = None
) -> tuple[SmokeStep, ...]:
    """Every step, in a temporary folder. Without `photos` nothing is drawn or read."""
    sized = functools.partial(_photos, max_pixels=max_pixels)
    wanted = {
        name: sized if name == "photos" else step for name, step in STEPS_IN_ORDER.items() if photos or name != "photos"
    }
    with tempfile.TemporaryDirectory(prefix="whet-smoke-") as folder:
        return tuple(_tried(name, step, Path(folder), packs) for name, step in wanted.items())


SmokeCheck = Callable[[Path, tuple[str, ...]], str]


def _tried(name: str, step: SmokeCheck, folder: Path, packs: tuple[str, ...]) -> SmokeStep:
    began = time.monotonic()
    try:
        said, ok = step(folder, packs), True
    except WhetError as problem:
        said, ok = str(problem), False
    return SmokeStep(name, ok, said, time.monotonic() - began)


def _require(holds: bool, said: str) -> None:
    if not holds:
        raise WhetError(said)


def _packs(folder: Path, packs: tuple[str, ...]) -> str:
    loaded = load_packs(packs)
    missions = sum(len(pack.missions) for pack in loaded)
    return f"{len(loaded)} packs with {missions} missions: {', '.join(pack.name for pack in loaded)}"


def _protocol(folder: Path, packs: tuple[str, ...]) -> str:
    """Two lines are read back; a third state, an empty reason and a third line are not."""
    for call in VERDICTS:
        for language in ("zh", "en"):
            _require(read_verdict(write_verdict(call, "待定", language)).call == call, f"{call} is not read back")
    for text in ("Verdict: 待定\nReason: x", "Verdict: 通过\nReason:", "Verdict: 通过\nReason: x\n更多"):
        _require(not read_verdict(text).valid, f"{text!r} is read although it is malformed")
    return "two lines are read, anything else is invalid"


def _tickets(folder: Path, packs: tuple[str, ...]) -> str:
    """Generated tickets in both key schemes, with a line that is none between them."""
    missions = {mission.name: (pack, mission) for pack in load_packs(packs) for mission in pack.missions}
    groups = generate_groups(missions, TICKETS, noise=NOISE)
    for number, keys in enumerate(("图片_", "image_")):
        write_tickets(folder / f"smoke{number}.jsonl", groups, keys)
    bad = json_line({"group_id": "x", "mission": "none", "label": "pass"})
    path = folder / "smoke_stage_a.jsonl"
    path.write_bytes((folder / "smoke0.jsonl").read_bytes() + bad)
    lenient, other = (
        GroupQc(str(path), {**_given(packs), "strict": False}),
        GroupQc(str(folder / "smoke1.jsonl"), _given(packs)),
    )
    _require(len(lenient.rejects) == 1, f"{len(lenient.rejects)} lines were set aside instead of 1")
    same = [lenient.task("train", n).messages == other.task("train", n).messages for n in range(TICKETS)]
    _require(all(same), "the two key schemes give different prompts")
    return f"{TICKETS} tickets in both key schemes, 1 bad line set aside"


def _audit(folder: Path, packs: tuple[str, ...]) -> str:
    """The rules vote on every ticket; started again, nothing changes."""
    path = folder / "smoke_stage_a.jsonl"
    args = {**_given(packs), "strict": False}
    base = {
        "env": {"name": f"groupqc:{path}", "args": args},
        "target": {"model": "baseline:rules"},
        "eval": {"n": "all"},
    }
    config = load_config(EvalConfig, None, base)
    settings = AuditSettings(Ballot((DecodeSettings(0.3), DecodeSettings(0.7)), 2), sequential=True)
    given = Given(env=GroupQc(str(path), args))
    first = run_audit(config, settings, given, runs=folder)
    before = {name: (first.folder / name).read_bytes() for name in FILES}
    again = run_audit(config, settings, given, runs=folder)
    _require(again.tally.done == 0, "a second start asked again")
    _require(before == {name: (again.folder / name).read_bytes() for name in FILES}, "a second start changed a file")
    metrics = first.metrics
    _require(metrics["n_used"] == TICKETS, f"{metrics['n_used']} of {TICKETS} tickets were judged")
    return f"{metrics['n_used']} tickets judged, accuracy of the rules {metrics['acc']:.2f}, 6 files, replayed the same"


def _drift(folder: Path, packs: tuple[str, ...]) -> str:
    """A file does not drift from itself."""
    path = folder / "smoke0.jsonl"
    found = find_drift(path, path, packs=packs)
    _require(not found.drifted, f"a file drifts from itself in {[finding.about for finding in found.drifted]}")
    return f"{len(found.findings)} things compared, none apart"


def _photos(folder: Path, packs: tuple[str, ...], max_pixels: int | None = None) -> str:
    """Two drawn groups, read off their pixels, judged by the rules."""
    pack = load_packs(packs)[0]
    mission = pack.missions[0]
    groups = generate_groups({mission.name: (pack, mission)}, 2)
    root = folder / "photos"
    made = write_photos(root, groups)
    ran = run_all(PipelinePlan(root, folder / "out", READER, packs=packs, stage_a=_sized(max_pixels)))
    if ran.audit is None:
        raise WhetError(f"no group came through Stage-A: {[stage.lines() for stage in ran.stages.values()]}")
    _require(ran.audit.metrics["acc"] == 1.0, "the verdicts on drawn photos are not the true ones")
    return f"{made.photos} drawn photos of {made.groups} groups read and judged rightly"


def _sized(max_pixels: int | None) -> dict[str, object]:
    return {} if max_pixels is None else {"photos": {"max_pixels": max_pixels}}


def _given(packs: tuple[str, ...]) -> dict[str, object]:
    return {"pack": list(packs)} if packs else {}


STEPS_IN_ORDER: Mapping[str, SmokeCheck] = {
    "packs": _packs,
    "protocol": _protocol,
    "tickets": _tickets,
    "audit": _audit,
    "drift": _drift,
    "photos": _photos,
}
