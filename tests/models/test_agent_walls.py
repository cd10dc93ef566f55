"""An agent behind walls: what it cannot see, reach or leave behind, tried by a real hostile process."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_attack import KEY, scene
from nobody import folder_of_nobody, start_as_nobody

from whet.errors import WhetError
from whet.models import Model, ModelOptions, Request, load_model
from whet.models.agent import walls
from whet.models.agent.walls import installation
from whet.types import Image, Reply, user

HERE = Path(__file__).parents[1]


@pytest.fixture(scope="module", params=["this user", "ordinary user"])
def attacked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the hostile agent came to: once as this user, once as an ordinary one."""
    if request.param == "this user":
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SERVICE_KEY", KEY)
            return scene(tmp_path_factory.mktemp("scene"))
    if os.getuid() != 0:
        pytest.skip("this user is an ordinary one: the same as above")
    folder = folder_of_nobody(prefix="whet-test-")
    program = [sys.executable, str(HERE / "agent_attack.py"), folder]
    env = {**os.environ, "SERVICE_KEY": KEY, "HOME": folder, "TMPDIR": folder}
    run = start_as_nobody(program, env=env, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    told, complaint = run.communicate(timeout=120)
    subprocess.run(["/bin/rm", "-rf", folder], check=False)
    assert run.returncode == 0, complaint
    found: dict[str, Any] = json.loads(told)
    return found


def test_the_key_is_nowhere_that_it_can_look(attacked: dict[str, Any]) -> None:
    found = attacked["found"]
    assert (found["environments"], found["own environment"]) == (False, [])
    assert KEY not in json.dumps(found)


def test_it_sees_no_process_but_its_own(attacked: dict[str, Any]) -> None:
    assert attacked["found"]["processes"] in ([], [1, 2])
    assert attacked["found"]["kill all"] == "ProcessLookupError"


def test_neither_the_hosts_accounts_nor_other_runs_nor_the_project_can_be_read(attacked: dict[str, Any]) -> None:
    paths = {name: told for name, told in attacked["found"].items() if name.startswith("/")}
    assert len(paths) == 5
    assert set(paths.values()) == {"FileNotFoundError"}


def test_it_is_nobody_of_the_host_and_writes_nothing_outside(attacked: dict[str, Any]) -> None:
    assert attacked["found"]["uid"] == 1000
    assert attacked["found"]["writes"] in ("OSError", "PermissionError")
    assert attacked["found"]["mount"] == "PermissionError"


@pytest.mark.parametrize("way", ["host port", "abstract socket", "internet", "vsock"])
def test_nothing_of_the_network_is_reached(attacked: dict[str, Any], way: str) -> None:
    assert attacked["found"][way] in ("ConnectionRefusedError", "OSError", "PermissionError")


def test_four_processes_that_forked_twice_are_gone(attacked: dict[str, Any]) -> None:
    assert (attacked["found"]["daemons"], attacked["beats"]) == ("started", 4)
    assert attacked["left"] == 0


def test_the_service_is_reached_with_the_key_that_the_agent_does_not_hold(attacked: dict[str, Any]) -> None:
    found, (first, second, *_) = attacked["found"], attacked["service"]
    assert found["service"] == found["api key header"] == [200, "served"]
    assert (first["authorization"], first["path"]) == (f"Bearer {KEY}", "/v1/chat")
    assert second["x-api-key"] == KEY


def test_the_proxy_passes_on_nothing_else(attacked: dict[str, Any]) -> None:
    found = attacked["found"]
    assert [found[name][0] for name in ("without token", "another path", "dots")] == [401, 403, 403]
    assert {request["path"] for request in attacked["service"]} == {"/v1/chat", "/v1/moved", "/v1/echo"}
    assert all(request["host"].startswith("127.0.0.1:") for request in attacked["service"])


def test_the_proxy_follows_no_redirect_and_gives_no_key_away(attacked: dict[str, Any]) -> None:
    assert attacked["found"]["redirect"] == [307, ""]
    assert attacked["found"]["error"] == [401, "no such key: Bearer ***"]


def test_calls_are_counted_where_they_pass(attacked: dict[str, Any]) -> None:
    assert attacked["network"] == [{"type": "network", "calls": len(attacked["service"]), "refused": 3}]
    assert attacked["calls"] == len(attacked["service"])


# --------------------------------------------------------------------------------------------- traps for the host


def agent(folder: Path, program: str, words: str = "", **options: Any) -> Model:
    script = folder / "trap.py"
    script.write_text(f"import os, sys, pathlib\n{program}\n")
    return load_model(f"agent:{shlex.quote(sys.executable)} {script} {words}", ModelOptions(**options))


def turns(model: Model, *requests: Request) -> list[Reply]:
    async def story() -> list[Reply]:
        try:
            return [await model.complete(request) for request in requests]
        finally:
            await model.close()

    return asyncio.run(story())


def test_a_link_that_it_leaves_is_not_written_through(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("precious")
    program = (
        f"for name in ('TASK.md', '../prompt.md'): os.unlink(name); os.symlink({str(outside / 'precious')!r}, name)\n"
        f"if not os.path.lexists('images'): os.symlink({str(outside)!r}, 'images')\nprint('ready')"
    )
    told = Request((user(("Look ", Image("beef" * 16))),), blob=lambda _: b"png", attempt="a")
    turns(agent(tmp_path, program), Request((user("Go."),), attempt="a"), told)
    assert (outside / "precious").read_text() == "precious"
    assert [path.name for path in outside.iterdir()] == ["precious"]


@pytest.mark.parametrize("walls_stand", [True, False])
def test_a_workspace_turned_into_a_link_leads_nowhere(tmp_path: Path, walls_stand: bool) -> None:
    """Nothing of the folder it points to is taken for the agent's own, and nothing is written there."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "TASK.md").write_text("precious")
    program = (
        "try:\n    os.rename('../workspace', '../away')\n"
        f"    os.symlink({str(outside)!r}, '../workspace')\nexcept OSError: pass\nprint('ready')"
    )
    asked = [Request((user("Go."),), attempt="a")] * 2
    with contextlib.nullcontext() if walls_stand else pytest.warns(UserWarning, match="OUTSIDE"):
        replies = turns(agent(tmp_path, program, extra={"walls": walls_stand}), *asked)
    assert [reply.files for reply in replies] == [{}, {}]
    assert [(path.name, path.read_text()) for path in outside.iterdir()] == [("TASK.md", "precious")]


def test_names_that_are_no_text_or_too_long_are_left_out_by_name(tmp_path: Path) -> None:
    program = (
        "open(b'\\xff.txt', 'w').write('x')\nopen('fine', 'w').write('x')\n"
        "while len(os.getcwd()) < 3950: os.makedirs('d' * 90, exist_ok=True); os.chdir('d' * 90)\n"
        "open('f' * 250, 'w').write('x'); print(1)"
    )
    replies = turns(agent(tmp_path, program), *[Request((user("Go."),), attempt="a")] * 2)
    assert [set(reply.files) for reply in replies] == [{"fine"}, {"fine"}]
    assert {"type": "files_left_out", "names": ["\\xff.txt"]} in replies[0].trace


def test_an_agent_whose_host_is_killed_ends_too(tmp_path: Path) -> None:
    host = (
        "import asyncio, shlex, sys\nfrom whet.models import ModelOptions, Request, load_model\n"
        "from whet.types import user\n"
        "model = load_model(f'agent:{shlex.quote(sys.executable)} -c ' + shlex.quote(sys.argv[1]), ModelOptions())\n"
        "asyncio.run(model.complete(Request((user('Go.'),))))"
    )
    mark = f"outlives-{os.getpid()}-{tmp_path.name}"
    words = [sys.executable, "-c", host, f"import time; time.sleep(60)  # {mark}"]
    with subprocess.Popen(words) as running:
        assert _seen(f"sleep(60)  # {mark}", besides=running.pid)
        running.kill()
    assert not _seen(f"sleep(60)  # {mark}", besides=running.pid, wanted=False)


def _seen(text: str, besides: int, wanted: bool = True) -> bool:
    """Whether a process with these words is there, once it is as wanted or after a while."""
    ends = time.monotonic() + 20
    while time.monotonic() < ends:
        found = any(text in line for pid, line in _commands() if pid != besides)
        if found == wanted:
            return found
        time.sleep(0.05)
    return not wanted


def _commands() -> Iterator[tuple[int, str]]:
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            yield int(file.parent.name), file.read_text(errors="replace")


@pytest.mark.parametrize("trap", ["os.symlink({secret!r}, a)", "os.mkfifo(a)", "os.mkdir(a)", "os.link('TASK.md', a)"])
def test_an_answer_that_is_no_plain_file_reads_nothing_of_the_host(tmp_path: Path, trap: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("rosebud")
    model = agent(tmp_path, "a = sys.argv[1]\n" + trap.format(secret=str(secret)), "{output_file}")
    (reply,) = turns(model, Request((user("Go."),)))
    assert "rosebud" not in reply.text


def test_folders_of_great_depth_and_many_files_are_cleared_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    program = (
        "for n in range(2000): open(f'f{n}', 'w').close()\n"
        "for _ in range(1100): os.mkdir('dddd'); os.chdir('dddd')\nprint(1)"
    )
    (reply,) = turns(agent(tmp_path, program), Request((user("Go."),)))
    assert (reply.text, len(reply.files)) == ("1", 200)
    assert list((tmp_path / "tmp").iterdir()) == []


# --------------------------------------------------------------------------------------------- where walls cannot be

NO_WALLS = (
    "import sys, socket; s = socket.socket(fileno=int(sys.argv[2])); s.recv(1 << 20);"
    's.sendall(b\'{"error": "unshare(0x7c020000): Operation not permitted"}\')'
)


def test_where_walls_cannot_be_had_it_is_refused_with_the_name_of_the_switch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walls, "_START", NO_WALLS)
    with pytest.raises(WhetError, match=r"no walls for an agent .*not permitted.* target.extra.walls = false"):
        turns(agent(tmp_path, "print(1)"), Request((user("Go."),)))


def test_a_command_without_a_service_has_no_network_and_no_token(tmp_path: Path) -> None:
    (reply,) = turns(
        agent(tmp_path, "print([n for n in os.environ if 'URL' in n or 'KEY' in n])"), Request((user("x"),))
    )
    assert reply.text == "[]"


def test_a_folder_that_is_named_is_shown_and_cannot_be_changed(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "note").write_text("of use")
    program = (
        f"p = pathlib.Path({str(tmp_path / 'tools' / 'note')!r})\nsaid = p.read_text()\n"
        "try: p.write_text('x')\nexcept OSError: print(said)"
    )
    (reply,) = turns(agent(tmp_path, program, extra={"show": [str(tmp_path / "tools")]}), Request((user("x"),)))
    assert reply.text == "of use"


def test_what_is_installed_beside_a_program_is_there(tmp_path: Path) -> None:
    """Also where a chooser of versions stands for the program, as pyenv's does, and needs all of its own folder."""
    for name, text in (
        ("tool/bin/beside", "#!/bin/sh\necho beside\n"),
        ("tool/bin/agent", f"#!/bin/sh\n{tmp_path}/tool/bin/beside\n"),
        ("env/libexec/real", "#!/bin/sh\necho real\n"),
        ("env/shims/agent", f"#!/bin/sh\n{tmp_path}/env/libexec/real\n"),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    models = [load_model(f"agent:{tmp_path / name}", ModelOptions()) for name in ("tool/bin/agent", "env/shims/agent")]
    assert [turns(model, Request((user("x"),)))[0].text.strip() for model in models] == ["beside", "real"]


def test_a_script_that_is_not_executable_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "agent.sh").write_text("#!/bin/sh\n")
    with pytest.raises(WhetError, match="it is not executable"):
        turns(load_model(f"agent:{tmp_path / 'agent.sh'}", ModelOptions()), Request((user("x"),)))


def test_what_a_program_needs_is_found_through_links_and_first_lines(tmp_path: Path) -> None:
    modules = tmp_path / "prefix" / "lib" / "node_modules" / "codex" / "bin"
    modules.mkdir(parents=True)
    (tmp_path / "prefix" / "bin").mkdir()
    (modules / "codex.js").write_text(f"#!{sys.executable}\n")
    (modules / "codex.js").chmod(0o755)
    link = tmp_path / "prefix" / "bin" / "codex"
    link.symlink_to("../lib/node_modules/codex/bin/codex.js")
    shown = installation([str(link)])
    assert {str(link), str(tmp_path / "prefix" / "lib" / "node_modules"), f"{sys.prefix}/bin"} <= set(shown)
    assert str(tmp_path) not in shown
    assert str(tmp_path / "prefix") not in shown
