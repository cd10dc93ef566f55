"""Both lines of verifiers as they are: one environment of theirs plays here, one of ours plays there, scores agree.

Two virtual environments are built with uv, from the index, by name. `WHET_VERIFIERS` may name a folder that holds them
already, as `v0` and `v1`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from whet.apps.interop.package import export_verifiers
from whet.envs.registry import load_environment
from whet.envs.verifiers import peer
from whet.errors import FaultError, WhetError
from whet.rollout.drive import Transcript, drive
from whet.rollout.workbench import Workbench
from whet.types import SPLITS, Reply, ToolCall

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

from script import respond, serving  # noqa: E402

VERSIONS = {"v0": "0.3.1", "v1": "0.4.0"}
TASKS = 12
NO_NETWORK = ("failed to fetch", "dns error", "error sending request", "connect", "network", "timed out")


@pytest.fixture(scope="module")
def pythons(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """An interpreter for each line, with this Whet in it."""
    ready = os.environ.get("WHET_VERIFIERS")
    if ready:
        return {line: Path(ready) / line / "bin" / "python" for line in VERSIONS}
    beside = Path(sys.executable).with_name("uv")
    uv = str(beside) if beside.exists() else shutil.which("uv")
    if uv is None:
        pytest.skip("uv is not installed, so the virtual environments of verifiers cannot be built")
    made = {}
    for line, version in VERSIONS.items():
        folder = tmp_path_factory.mktemp(line) / "venv"
        made[line] = folder / "bin" / "python"
        for words in (
            ["venv", "-q", "--python", sys.executable, str(folder)],
            ["pip", "install", "-q", "--python", str(made[line]), f"verifiers=={version}", "-e", str(ROOT)],
        ):
            done = subprocess.run([uv, *words], capture_output=True, text=True, check=False)
            if done.returncode:
                if any(sign in done.stderr.lower() for sign in NO_NETWORK):
                    pytest.skip(f"verifiers {version} cannot be fetched: {done.stderr.strip().splitlines()[-1]}")
                pytest.fail(f"uv {words[0]} of verifiers {version}: {done.stderr[-2000:]}")
    return made


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving() as address:
        yield address


def at_home(python: Path, folder: Path, *words: object) -> list[dict[str, Any]]:
    program = [str(python), str(HERE / "home.py"), *map(str, words)]
    done = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    scores: list[dict[str, Any]] = json.loads(done.stdout.strip().splitlines()[-1])["scores"]
    return scores


@pytest.mark.parametrize(
    ("line", "scheme", "module"), [("v0", "verifiers0", "vf0_hunt"), ("v1", "verifiers", "vf1_raises")]
)
def test_theirs_here(
    pythons: dict[str, Path], url: str, monkeypatch: pytest.MonkeyPatch, line: str, scheme: str, module: str
) -> None:
    """One takes several turns; one raises in its grader, which is a fault and no score."""
    monkeypatch.chdir(HERE / "theirs")
    env = load_environment(f"{scheme}:{module}", {"python": str(pythons[line]), "args": {"n": TASKS}})
    home = at_home(pythons[line], HERE / "theirs", line, module, url, TASKS, 8, "score")
    compared = 0
    with Workbench() as bench:
        for split in SPLITS:
            for index in range(env.size(split) or 0):
                task = env.task(split, index)
                there = home[task.data["row"]]
                try:
                    assert drive(env.play(task), respond, bench).score.reward == pytest.approx(there["reward"])
                    assert there["ok"]
                except FaultError as error:
                    assert error.fault.kind == "grader_raised"  # noqa: PT017
                    assert not there["ok"]
                compared += 1
    assert compared == TASKS


@pytest.mark.parametrize("line", ["v0", "v1"])
def test_ours_there(pythons: dict[str, Path], url: str, tmp_path: Path, line: str) -> None:
    package = export_verifiers(f"{ROOT}/examples/sums.py:Sums", tmp_path / "package", {})
    env = load_environment(f"{ROOT}/examples/sums.py:Sums")
    home = [drive(env.play(env.task("train", index)), respond).score.reward for index in range(TASKS)]
    abroad = at_home(pythons[line], package.folder, line, package.module, url, TASKS, 8, "score")
    assert [score["reward"] for score in abroad] == home
    assert all(score["ok"] for score in abroad)


def test_the_other_line_is_told_in_a_line(pythons: dict[str, Path]) -> None:
    with pytest.raises(WhetError, match=r"verifiers 0\.3\.1 is of the line v0, not v1: use verifiers0:x"):
        load_environment("verifiers:x", {"python": str(pythons["v0"])})


# --------------------------------------------------------------------------------------------- tasks with tools

BASKETS = [0.182, 0.466, 0.182, 0.322, 1.707, 1.296, 0.466, 0.182, 2.014, 0.182, 2.108, 1.973]
"""What their harness, with a server for each toolset of each attempt, gave the first baskets. Each word of a tool,
or that was said where none could be called, is in these numbers (`bench/scale.py --only vf1_tools` compares again)."""


def test_tools_say_in_our_loop_what_their_servers_say(
    pythons: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(HERE / "theirs")
    env = load_environment("verifiers:vf1_tools", {"python": str(pythons["v1"]), "args": {"n": len(BASKETS)}})
    tasks = [env.task(split, index) for split in SPLITS for index in range(env.size(split) or 0)]
    assert {task.data["way"] for task in tasks} == {"tools"}
    with Workbench() as bench:
        rewards = {task.data["row"]: drive(env.play(task), respond, bench).score.reward for task in tasks}
    assert [rewards[row] for row in range(len(BASKETS))] == pytest.approx(BASKETS)


def test_tools_in_their_harness(pythons: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a runtime is wanted, their servers are started for the attempt, and reach the environment's module."""
    monkeypatch.chdir(HERE / "theirs")
    named = {"python": str(pythons["v1"]), "args": {"n": 4}, "harness": "null"}
    env = load_environment("verifiers:vf1_tools", named)
    task = env.task("train", 0)
    assert task.data["way"] == "harness"
    assert drive(env.play(task), respond).score.reward == pytest.approx(BASKETS[task.data["row"]])


def awkward(pythons: dict[str, Path], call: str, **more: object) -> Transcript:
    """The first task, by a policy that calls one tool and then says yes."""
    env = load_environment("verifiers:vf1_awkward", {"python": str(pythons["v1"]), **more})
    said = iter([Reply("", (ToolCall("1", call, {}),)) if call else "yes", "yes"])
    return drive(env.play(env.task("train", 0)), lambda *_: next(said))


def test_a_tool_that_hangs_costs_its_attempt_and_no_more(
    pythons: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(HERE / "theirs")
    monkeypatch.setattr(peer, "PULSE_SECONDS", 1.0)
    with pytest.raises(FaultError, match="a tool or grader holds up its worker"):
        awkward(pythons, "hang", deadline=2.0)
    assert awkward(pythons, "", deadline=60.0).score.hard == 1


def test_a_tool_that_shows_a_picture_is_one_line(pythons: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE / "theirs")
    with pytest.raises(FaultError, match=r"a message holds image_url: only text can be played here"):
        awkward(pythons, "picture")


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ({"set_up": True}, r"`python -m vf1_awkward`, which serves none: .* `if __name__ == '__main__': Awkward"),
        ({"task": {"tools": {"runtime": {"type": "podman"}}}}, r"runs in podman, and podman is not on the PATH"),
    ],
)
def test_tools_that_cannot_come_up_are_refused_before_anything_waits(
    pythons: dict[str, Path], monkeypatch: pytest.MonkeyPatch, args: dict[str, Any], told: str
) -> None:
    monkeypatch.chdir(HERE / "theirs")
    with pytest.raises(WhetError, match=told) as problem:
        load_environment("verifiers:vf1_awkward", {"python": str(pythons["v1"]), "args": args})
    assert "\n" not in str(problem.value)
