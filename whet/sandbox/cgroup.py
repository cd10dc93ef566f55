"""Control groups (version 2): limits that the kernel itself holds over all processes of a job together.

They can be had where somebody has handed this user a part of the tree (systemd does so for a user's session and for a
service with `Delegate=yes`; root has all of it) with the memory and pids controllers switched on below it. Nothing of
the tree is rearranged for them: where they cannot be had as things are, a job is watched instead (`memory`).
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

_NEEDED = {"memory", "pids"}
_PERIOD = 100_000
_BURIAL = 1.0
"""Seconds that the kernel may need until a group whose processes were killed can be removed."""


def find(mounts: Path = Path("/proc/self/mountinfo"), membership: Path = Path("/proc/self/cgroup")) -> Path | None:
    """The nearest group above this process below which limited groups can be made; None where there is none."""
    top = _mount_point(mounts)
    place = _place(membership)
    if top is None or place is None:
        return None
    here = top / place.lstrip("/")
    for folder in (here, *here.parents):
        if not folder.is_relative_to(top):
            break
        if _handed_over(folder):
            return folder
    return None


def _mount_point(mounts: Path) -> Path | None:
    """Where the unified tree is mounted."""
    try:
        lines = mounts.read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        before, _, behind = line.partition(" - ")
        if behind.split(" ", 1)[0] == "cgroup2":
            return Path(before.split()[4])
    return None


def _place(membership: Path) -> str | None:
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        return None
    return next((line.removeprefix("0::") for line in lines if line.startswith("0::")), None)


def _handed_over(folder: Path) -> bool:
    try:
        below = set((folder / "cgroup.subtree_control").read_text().split())
    except OSError:
        return False
    return below >= _NEEDED and os.access(folder, os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK)


def make_home(above: Path) -> Path | None:
    """A group of our own below `above`, for the groups of jobs; None where the kernel refuses."""
    try:
        home = Path(tempfile.mkdtemp(prefix="whet-sandbox-", dir=above))
        wanted = _NEEDED | ({"cpu"} & set((home / "cgroup.controllers").read_text().split()))
        (home / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in sorted(wanted)))
    except OSError:
        with contextlib.suppress(OSError, UnboundLocalError):
            home.rmdir()
        return None
    return home


def remove_home(home: Path) -> None:
    """Takes our group away again, with what is left in it."""
    for group in [*home.glob("*/"), home]:
        _remove(str(group))


class JobGroup:
    """The group of one job, made below the open folder `home`; its process enters it before it runs anything."""

    def __init__(self, home: int, name: str, limits: Mapping[str, float]) -> None:
        self._home = home
        self._name = name
        os.mkdir(name, dir_fd=home)
        self._write("memory.max", str(int(limits["memory"])))
        self._write("pids.max", str(int(limits["processes"])))
        for file, text in (("memory.swap.max", "0"), ("memory.oom.group", "1"), ("cpu.max", _cpu_share())):
            with contextlib.suppress(OSError):  # a kernel or a host that has not all of them
                self._write(file, text)

    def enter(self) -> None:
        """Moves the calling process into it."""
        self._write("cgroup.procs", "0")

    def overrun(self) -> bool:
        """Whether the kernel ended the job because its memory was up."""
        told = dict(line.split() for line in self._read("memory.events").splitlines())
        return int(told.get("oom_kill", "0")) > 0

    def end(self) -> None:
        """Kills what is left in it and removes it."""
        with contextlib.suppress(OSError):
            self._write("cgroup.kill", "1")
        _remove(self._name, self._home)

    def _write(self, file: str, text: str) -> None:
        number = os.open(f"{self._name}/{file}", os.O_WRONLY, dir_fd=self._home)
        try:
            os.write(number, text.encode())
        finally:
            os.close(number)

    def _read(self, file: str) -> str:
        try:
            number = os.open(f"{self._name}/{file}", os.O_RDONLY, dir_fd=self._home)
        except OSError:
            return ""
        try:
            return os.read(number, 4096).decode()
        finally:
            os.close(number)


def _cpu_share() -> str:
    """All processors less half of one: a job leaves the host room to end it."""
    return f"{int(max(1.0, (os.cpu_count() or 1) - 0.5) * _PERIOD)} {_PERIOD}"


def _remove(group: str, home: int | None = None) -> None:
    ends = time.monotonic() + _BURIAL
    while True:
        try:
            os.rmdir(group, dir_fd=home)
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() > ends:
                return
            time.sleep(0.005)
        else:
            return
