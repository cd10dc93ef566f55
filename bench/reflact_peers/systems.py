"""The systems side by side: their virtual environments, a run of one of them, and what it comes to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from loopback import serving

from reflact_peers.server import Answer, Desk
from reflact_peers.world import World

HERE = Path(__file__).resolve().parent
CACHE = HERE.parents[1] / ".bench"

System = Literal["skillopt", "gepa", "whet"]
SYSTEMS: tuple[System, ...] = ("skillopt", "gepa", "whet")
PINS = {"skillopt": "skillopt==0.2.0", "gepa": "gepa==0.1.4"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run of one system: what it exported is worth, and what it cost."""

    system: System
    seed: int
    score: float
    target_calls: int
    test_calls: int
    refused: int
    optimizer_calls: int
    target_tokens: int
    optimizer_tokens: int
    wall: float
    cpu: float
    accepted: int
    false_accepts: int
    kept: int
    useless: int
    bytes: int
    text: str
    decisions: int = 0
    acceptances: int = 0
    """Candidates that were judged, and those of them that were taken, where a system says so."""

    @property
    def tokens(self) -> int:
        return self.target_tokens + self.optimizer_tokens


def interpreter(system: System, cache: Path = CACHE) -> Path:
    """The Python of a system; a peer's virtual environment is made once, in a folder that git does not see."""
    if system == "whet":
        return Path(sys.executable)
    python = cache / system / "bin" / "python"
    if not python.exists():
        cache.mkdir(parents=True, exist_ok=True)
        (cache / ".gitignore").write_text("*\n")
        uv = [sys.executable, "-m", "uv"]
        subprocess.run([*uv, "venv", "--quiet", str(cache / system)], check=True)
        subprocess.run([*uv, "pip", "install", "--quiet", "--python", str(python), PINS[system]], check=True)
    return python


def run(
    system: System,
    world: World,
    seed: int,
    budget: int,
    batch: int = 30,
    answer: Answer | None = None,
    settings: dict[str, Any] | None = None,
    carried: Path | None = None,
) -> Outcome:
    """A system from the starting skill to the end of its budget, in a process of its own."""
    desk = Desk(world, seed, budget, answer)
    with serving(server=desk), tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        job = {
            "port": desk.port,
            "seed": seed,
            "budget": budget,
            "batch": batch,
            "start": world.start,
            "check": world.check,
            "settings": settings or {},
            "folder": str(folder / "run"),
            "tasks": {split: [asdict(task) for task in tasks] for split, tasks in world.tasks(seed).items()},
        }
        (folder / "run").mkdir()
        (folder / "job.json").write_text(json.dumps(job))
        python, extra = command(system, carried)
        wall, cpu = _timed([str(python), str(HERE / f"run_{system}.py")], folder, extra)
        found = json.loads((folder / "result.json").read_text())
    return _outcome(system, world, desk, found, wall, cpu)


def command(system: System, carried: Path | None) -> tuple[Path, dict[str, str]]:
    """The interpreter of a system and what its environment needs: a peer's packages, where they were carried along."""
    if system == "whet" or carried is None:
        return interpreter(system), {}
    return Path(sys.executable), {"PYTHONPATH": str((carried / system).resolve())}


def _timed(command: list[str], folder: Path, extra: dict[str, str]) -> tuple[float, float]:
    """Seconds on the wall and of CPU that a program took, its own children included."""
    began = time.perf_counter()
    with (folder / "said.txt").open("wb") as said:
        process = subprocess.Popen(
            [*command, str(folder / "job.json"), str(folder / "result.json")],
            stdout=said,
            stderr=said,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **extra},
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{(folder / 'said.txt').read_text()[-3000:]}")
    return time.perf_counter() - began, used.ru_utime + used.ru_stime


def _outcome(system: System, world: World, desk: Desk, found: dict, wall: float, cpu: float) -> Outcome:
    book, best = desk.book, found["best"]
    moves = [(world.present(before), world.present(after)) for before, after in found["accepted"]]
    present = world.present(best)
    return Outcome(
        system=system,
        seed=desk.seed,
        score=world.score(present),
        target_calls=book.target.calls,
        test_calls=book.test.calls,
        refused=book.refused,
        optimizer_calls=book.optimizer.calls,
        target_tokens=book.target.tokens,
        optimizer_tokens=book.optimizer.tokens,
        wall=wall,
        cpu=cpu,
        accepted=sum(len(before ^ after) for before, after in moves),
        false_accepts=sum(world.false_edits(before, after) for before, after in moves),
        kept=len(present),
        useless=len(world.useless(present)),
        bytes=len(best.encode()),
        text=best,
        decisions=found.get("decisions", 0),
        acceptances=len(found["accepted"]),
    )
