"""gVisor as a tier: what it is asked for, with a stand-in for runsc; and the real one where it is installed."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from whet.config.schema import SandboxSection
from whet.errors import WhetError
from whet.rollout.session import open_named_sandbox
from whet.sandbox import gvisor
from whet.sandbox.isolation import open_gvisor
from whet.sandbox.jobs import Limits, run_command, run_python
from whet.sandbox.local import LocalSandbox

# Takes the bundle, builds no walls, and runs its program where its folder really is; keeps what it was told.
STAND_IN = f"""#!{sys.executable}
import json, os, sys
folder = next(word for word in sys.argv if word.startswith("--bundle=")).partition("=")[2]
told = json.load(open(f"{{folder}}/config.json"))
places = {{mount["destination"]: mount["source"] for mount in told["mounts"]}}
with open(__file__ + ".told", "w") as file: json.dump([sys.argv, told], file)
os.chdir(places["/box/play"])
words = [word.replace("/job/", places["/job"] + "/") for word in told["process"]["args"]]
os.execve(words[0], words, dict(line.split("=", 1) for line in told["process"]["env"]))
"""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tmp_path.chmod(0o755)
    program = tmp_path / "runsc"
    program.write_text(STAND_IN)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return program


def test_a_job_goes_through_runsc_and_back(stand_in: Path) -> None:
    sandbox = LocalSandbox("gvisor")
    python = run_python("print(input()); open('out', 'w').write('kept')", stdin="hello", collect=["out"])
    command = run_command(["sh", "-c", "exit 4"])
    first, second = (asyncio.run(sandbox.run(work.payload)).value for work in (python, command))
    sandbox.discard()
    assert (first["stdout"], first["files"], second["exit_code"]) == ("hello\n", {"out": "kept"}, 4)
    words, told = json.loads(Path(f"{stand_in}.told").read_text())
    assert {"--network=none", "--host-uds=none", "run"} <= set(words)
    assert told["root"]["readonly"]


def test_a_bundle_shows_nothing_of_the_host_but_the_view(stand_in: Path) -> None:
    told = gvisor.bundle("/play", "/aside", {"RLIMIT_CORE": 0}, ["true"], 1 << 20)
    writable = {mount["destination"] for mount in told["mounts"] if "rw" in mount["options"]}
    assert writable == {"/box", "/box/play"}
    assert not any(Path(__file__).is_relative_to(mount["source"]) for mount in told["mounts"])
    assert told["process"]["noNewPrivileges"]
    assert not any(told["process"]["capabilities"].values())
    assert {space["type"] for space in told["linux"]["namespaces"]} >= {"network", "pid", "ipc", "mount"}


def test_a_stand_in_without_walls_is_found_out(stand_in: Path) -> None:
    with pytest.raises(WhetError, match="gvisor: no wall for"):
        open_gvisor(preload=())


def test_without_runsc_on_the_path_its_tier_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WhetError, match=r"\(gvisor\): there is no program runsc on the PATH"):
        open_named_sandbox(SandboxSection(kind="gvisor"))


@pytest.mark.skipif(gvisor.find() is None, reason="runsc is not installed here: no real gVisor to try")
def test_real_gvisor_runs_code_behind_its_walls() -> None:
    sandbox = open_gvisor(preload=())
    code = "import os, platform\nprint(os.path.exists('/etc/passwd'), platform.release())"
    result = asyncio.run(sandbox.run(run_python(code, limits=Limits(wall=20.0)).payload))
    asyncio.run(sandbox.close())
    assert result.value["stdout"].startswith("False 4.4")
