"""Control groups: where they are found, what is written into them, and the real ones where this machine has them."""

from __future__ import annotations

import asyncio
import os
from dataclasses import asdict
from pathlib import Path

import pytest

from whet.sandbox import cgroup
from whet.sandbox.cgroup import JobGroup
from whet.sandbox.isolation import open_sandbox
from whet.sandbox.jobs import MIB, Limits, run_python


class FakeTree:
    """A tree of groups as files: controllers and members, and this process somewhere in it."""

    def __init__(self, folder: Path, place: str, controllers: dict[str, str]) -> None:
        self.top = folder / "tree"
        for name, below in controllers.items():
            group = self.top / name
            group.mkdir(parents=True, exist_ok=True)
            (group / "cgroup.subtree_control").write_text(below)
            (group / "cgroup.procs").write_text("")
        self.mounts, self.membership = folder / "mountinfo", folder / "cgroup"
        self.mounts.write_text(
            "25 1 0:22 / /proc rw - proc proc rw\n"
            f"30 25 0:27 / {self.top} rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
        )
        self.membership.write_text(f"4:memory:/elsewhere\n0::{place}\n")

    def find(self) -> Path | None:
        return cgroup.find(self.mounts, self.membership)


def test_the_nearest_group_with_both_controllers_is_taken(tmp_path: Path) -> None:
    tree = FakeTree(tmp_path, "/user/session", {"": "memory pids cpu", "user": "cpu memory pids", "user/session": ""})
    assert tree.find() == tree.top / "user"


def test_a_tree_without_the_memory_controller_gives_none(tmp_path: Path) -> None:
    assert FakeTree(tmp_path, "/a", {"": "hugetlb", "a": "pids cpu"}).find() is None


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere: there is nothing that is not handed over")
def test_a_group_that_is_not_ours_to_write_is_passed_over(tmp_path: Path) -> None:
    tree = FakeTree(tmp_path, "/a", {"": "memory pids", "a": ""})
    tree.top.chmod(0o555)
    assert tree.find() is None


def test_a_machine_without_the_unified_tree_gives_none(tmp_path: Path) -> None:
    tree = FakeTree(tmp_path, "/", {"": "memory pids"})
    tree.mounts.write_text("25 1 0:22 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n")
    assert tree.find() is None
    assert cgroup.find(tmp_path / "missing", tree.membership) is None


def test_a_job_gets_its_limits_and_its_process_enters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = ("memory.max", "pids.max", "memory.swap.max", "memory.oom.group", "cpu.max", "cgroup.procs", "cgroup.kill")
    make = os.mkdir

    def furnished(name: str, dir_fd: int) -> None:
        make(name, dir_fd=dir_fd)
        for file in files:
            (tmp_path / name / file).write_text("")

    monkeypatch.setattr(cgroup.os, "mkdir", furnished)
    home = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        group = JobGroup(home, "job", asdict(Limits(memory=64 * MIB, processes=7)))
        group.enter()
        written = {file: (tmp_path / "job" / file).read_text() for file in files}
        (tmp_path / "job" / "memory.events").write_text("low 0\nmax 12\noom 1\noom_kill 2\n")
        assert group.overrun()
    finally:
        os.close(home)
    assert (written["memory.max"], written["pids.max"], written["cgroup.procs"]) == (str(64 * MIB), "7", "0")
    assert (written["memory.swap.max"], written["memory.oom.group"]) == ("0", "1")
    quota, period = map(int, written["cpu.max"].split())
    assert quota >= period


@pytest.mark.skipif(cgroup.find() is None, reason="no control groups with memory and pids are handed to this user")
def test_the_kernel_itself_holds_a_job_to_its_memory() -> None:
    sandbox = open_sandbox(preload=("mmap",))
    assert "control group" in next(wall.how for wall in sandbox.walls().walls if wall.name == "memory")
    code = "import os\nfor _ in range(6): os.fork()\ndata = bytearray(b'x') * (30 << 20)\nimport time; time.sleep(3)"
    result = asyncio.run(sandbox.run(run_python(code, limits=Limits(memory=96 * MIB, processes=80)).payload))
    asyncio.run(sandbox.close())
    assert result.error == "memory"
