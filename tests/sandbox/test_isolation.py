"""Which sandbox is opened: the strongest there is, a weak one only on request, and what each reports of itself."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from whet.errors import WhetError
from whet.sandbox import bubblewrap, isolation
from whet.sandbox.isolation import open_sandbox
from whet.sandbox.jobs import Limits, run_command, run_python
from whet.sandbox.local import LocalSandbox

# Stands in for bubblewrap: notes that it was started, takes its options, builds no walls, runs the program after them.
STUB = """#!/bin/bash
[ "$1" = --help ] && exit
: >> "$0.started"
while [ "$1" != "--" ]; do
  case "$1" in
    --bind) place="$2";;
    --ro-bind) if [ "$3" = /job ]; then job="$2"; fi;;
  esac
  shift
done
shift
cd "$place"
words=()
for word in "$@"; do words+=("${word//\\/job\\//$job/}"); done
exec "${words[@]}"
"""


def no_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which neither root nor an ordinary user may make one, and without bubblewrap."""
    monkeypatch.setattr(isolation, "_modes", list)


@pytest.fixture
def stub(tmp_path: Path) -> Path:
    program = tmp_path / "bwrap"
    program.write_text(STUB)
    program.chmod(0o755)
    return program


def test_without_isolation_it_refuses_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    no_namespaces(monkeypatch)
    with pytest.raises(WhetError, match=r"no isolation .* install bubblewrap, or .* sandbox.allow_weak = true"):
        open_sandbox()


def test_a_weak_sandbox_runs_on_request_and_says_which_walls_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    no_namespaces(monkeypatch)
    sandbox = open_sandbox(allow_weak=True, preload=())
    result = asyncio.run(sandbox.run(run_python("import os; open('x', 'w').write('y')", collect=["x"]).payload))
    asyncio.run(sandbox.close())
    assert result.value["files"] == {"x": "y"}
    assert set(sandbox.walls().missing) >= {"processes", "files", "disk"}


def test_a_weak_sandbox_still_ends_what_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    no_namespaces(monkeypatch)
    sandbox = open_sandbox(allow_weak=True, preload=())
    code = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(60)\nprint('left')"
    result = asyncio.run(sandbox.run(run_python(code, limits=Limits(wall=5.0)).payload))
    asyncio.run(sandbox.close())
    assert (result.value["stdout"], result.value["seconds"] < 5.0) == ("left\n", True)


def test_a_weak_sandbox_clears_away_folders_of_any_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    no_namespaces(monkeypatch)
    sandbox = open_sandbox(allow_weak=True, preload=())
    code = "import os\nprint(os.getcwd())\nfor _ in range(1100): os.mkdir('dddd'); os.chdir('dddd')"
    result = asyncio.run(sandbox.run(run_python(code).payload))
    asyncio.run(sandbox.close())
    assert result.error == ""
    assert not Path(result.value["stdout"].strip()).exists()


def test_a_machine_that_is_not_linux_is_told_what_to_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(WhetError, match="Linux only"):
        open_sandbox(allow_weak=True)


def test_a_sandbox_whose_walls_do_not_stand_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "_modes", lambda: ["weak"])
    with pytest.raises(WhetError, match="no wall for processes, ipc, files"):
        open_sandbox(preload=())


def test_user_namespaces_hold_the_same_view() -> None:
    sandbox = LocalSandbox("user", ())
    code = "import os; print(os.getpid(), os.path.exists('/proc'), sorted(os.listdir('/box')))"
    result = asyncio.run(sandbox.run(run_python(code).payload))
    sandbox.discard()
    assert result.value["stdout"] == "1 False ['play', 'tmp']\n"


def test_a_missing_library_is_named_and_the_rest_is_there() -> None:
    sandbox = open_sandbox(preload=("json", "no_such_library"))
    asyncio.run(sandbox.close())
    assert sandbox.missing == ("no_such_library",)


def test_bubblewrap_is_asked_for_every_wall() -> None:
    words = bubblewrap.arguments("/usr/bin/bwrap", "/play", "/job", {"RLIMIT_CORE": 0}, ["true"], 1 << 20, 9)
    options = words[: words.index("--")]
    assert {"--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--remount-ro"} <= set(options)
    assert options[options.index("--seccomp") + 1] == "9"
    assert options[options.index("--cap-drop") + 1] == "ALL"
    shown = [options[at + 1] for at, word in enumerate(options) if word == "--ro-bind"]
    assert not any(Path(__file__).is_relative_to(path) for path in shown)


def test_a_job_goes_through_bubblewrap_and_back(stub: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{stub.parent}:/usr/bin:/bin")
    sandbox = LocalSandbox("bubblewrap")
    python = run_python("print(input()); open('out', 'w').write('kept')", stdin="hello", collect=["out"])
    command = run_command(["sh", "-c", "exit 4"])
    values = [asyncio.run(sandbox.run(work.payload)).value for work in (python, command)]
    sandbox.discard()
    assert (values[0]["stdout"], values[0]["files"]) == ("hello\n", {"out": "kept"})
    assert values[1]["exit_code"] == 4
    assert Path(f"{stub}.started").exists(), "another bubblewrap was started than the first on the PATH"


def test_without_bubblewrap_on_the_path_its_sandbox_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WhetError, match="no program bwrap on the PATH"):
        LocalSandbox("bubblewrap")
