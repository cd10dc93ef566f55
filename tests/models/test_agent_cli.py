"""Coding agents as models, tried with a stub: a small script that does what its scenario says."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import Doubles, FromFunction
from driving import outcomes, play_out

from whet.envs.base import Play, ask
from whet.errors import FaultError, LimitReached, WhetError
from whet.models import Model, ModelOptions, Price, Request, load_model
from whet.models.agent.workspace import FILE_BYTES, files_of
from whet.types import (
    Example,
    Image,
    Playbook,
    Reply,
    Shape,
    Task,
    Ticket,
    ToolSpec,
    failed,
    solved,
    user,
)

ASKED = Request((user("Say twice 21, the number alone."),))
SKILL = Playbook("Double it.", (Example("Say twice 1", "2"),), {"notes/more.md": "Carry the one."})
TOOL = ToolSpec("run", "Runs.", {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]})

Stub = Callable[..., Model]


@pytest.fixture
def stub(tmp_path: Path) -> Stub:
    """An agent whose program is the text given; `words` are further words of its command. It runs behind walls."""

    def made(program: str, words: str = "", outside: bool = False, **options: Any) -> Model:
        script = tmp_path / "stub.py"
        script.write_text(f"import json, os, pathlib, subprocess, sys, time\n{program}\n")
        address = f"agent:{shlex.quote(sys.executable)} {script} {words}"
        return open_outside(address, **options) if outside else load_model(address, ModelOptions(**options))

    return made


def open_outside(address: str, **options: Any) -> Model:
    """The agent without walls, which says so aloud."""
    extra = {**options.pop("extra", {}), "walls": False}
    with pytest.warns(UserWarning, match="OUTSIDE all walls"):
        return load_model(address, ModelOptions(**options, extra=extra))


def asked(model: Model, *requests: Request) -> list[Reply]:
    async def one_after_another() -> list[Reply]:
        try:
            return [await model.complete(request) for request in requests or (ASKED,)]
        finally:
            await model.close()

    return asyncio.run(one_after_another())


# --------------------------------------------------------------------------------------------- what it is given


def test_the_agent_finds_the_playbook_as_files_and_the_task(stub: Stub) -> None:
    model = stub("print(json.dumps({str(p): p.read_text() for p in sorted(pathlib.Path('.').rglob('*.md'))}))")
    (reply,) = asked(model, Request(ASKED.messages, playbook=SKILL))
    for told in ("Double it.", "Say twice 1", "Carry the one.", "notes/more.md", "Say twice 21, the number alone."):
        assert told in reply.text


def test_the_prompt_is_on_standard_input_or_in_the_file_that_is_asked_for(stub: Stub) -> None:
    (by_input,) = asked(stub("print(sys.stdin.read())"))
    (by_file,) = asked(stub("print(open(sys.argv[1]).read(), sys.stdin.read())", "{prompt_file}"))
    assert by_input.text == by_file.text
    assert "Say twice 21" in by_input.text


def test_a_blank_playbook_is_no_file(stub: Stub) -> None:
    (reply,) = asked(stub("print(sorted(os.listdir('.')), 'SKILL' in sys.stdin.read())"))
    assert reply.text == "['TASK.md'] False"


def test_it_stands_in_its_workspace(stub: Stub) -> None:
    (reply,) = asked(stub("print(os.getcwd() == sys.argv[1])", "{workspace}"))
    assert reply.text == "True"


def test_images_are_files_that_the_task_points_to(stub: Stub) -> None:
    request = Request((user(("Look: ", Image("beef" * 16))),), blob=lambda _: b"png")
    program = "p = next(pathlib.Path('images').iterdir())\nprint(p.read_bytes(), str(p) in sys.stdin.read())"
    assert asked(stub(program), request)[0].text == "b'png' True"


def test_the_environment_is_scrubbed_except_for_what_is_named(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "SOME_TOKEN", "NAMED", "MY_KEY"):
        monkeypatch.setenv(name, "value")
    program = "print(sorted(os.environ), os.environ['HOME'])"
    model = stub(program, outside=True, extra={"env": ["NAMED"]}, key_env="MY_KEY")
    (reply,) = asked(model)
    assert "NAMED" in reply.text
    assert "MY_KEY" in reply.text
    assert "SOME_TOKEN" not in reply.text
    assert "ANTHROPIC_API_KEY" not in reply.text
    assert os.environ["HOME"] + "'" not in reply.text


@pytest.mark.parametrize("name", ["../up.md", "/etc/x", "TASK.md", "a/../../b"])
def test_a_playbook_file_that_would_lie_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(WhetError, match="cannot lie in a workspace"):
        files_of(Playbook(files={name: "x"}))


# --------------------------------------------------------------------------------------------- what comes back


def test_the_answer_is_what_it_printed(stub: Stub) -> None:
    (reply,) = asked(stub("print('42')"))
    assert (reply.text, reply.finish, reply.usage.calls, reply.usage.usd) == ("42", "stop", 1, None)


def test_with_an_answer_file_the_answer_is_the_file_and_the_print_a_trace(stub: Stub) -> None:
    program = "print(json.dumps({'step': 1}))\nprint('thinking')\nopen(sys.argv[1], 'w').write('42\\n')"
    (reply,) = asked(stub(program, "{output_file}"))
    assert (reply.text, reply.trace) == ("42", ({"step": 1}, {"type": "text", "text": "thinking"}))


def test_files_that_it_wrote_or_changed_come_back(stub: Stub) -> None:
    program = (
        "os.makedirs('out'); open('out/a.py', 'w').write('x = 1'); open('SKILL.md', 'a').write('More.')\n"
        "os.makedirs('.git'); open('.git/x', 'w').write('y'); os.symlink('/etc/hostname', 'link')\n"
    )
    (reply,) = asked(stub(program), Request(ASKED.messages, playbook=Playbook("Double it.")))
    assert reply.files == {"SKILL.md": "Double it.\nMore.", "out/a.py": "x = 1"}


def test_files_too_big_or_not_text_are_named_in_the_trace(stub: Stub) -> None:
    (reply,) = asked(stub(f"open('big', 'w').write('x' * {FILE_BYTES + 1}); open('bin', 'wb').write(b'\\xff')"))
    assert reply.files == {}
    assert reply.trace == ({"type": "files_left_out", "names": ["big", "bin"]},)


def test_printing_nothing_is_an_empty_answer(stub: Stub) -> None:
    assert asked(stub("pass"))[0].text == ""


def test_a_crash_without_an_answer_is_a_fault_with_the_end_of_its_complaint(stub: Stub) -> None:
    with pytest.raises(FaultError) as fault:
        asked(stub("sys.exit('no licence found')"))
    assert fault.value.fault.kind == "agent_error"
    assert "status 1 and gave no answer: no licence found" in fault.value.fault.message


def test_a_crash_after_the_answer_keeps_the_answer(stub: Stub) -> None:
    (reply,) = asked(stub("print('42', flush=True); sys.exit(3)"))
    assert (reply.text, reply.trace) == ("42", ({"type": "exit", "status": 3},))


def test_endless_output_is_capped_to_its_beginning_and_end(stub: Stub) -> None:
    (reply,) = asked(stub("print('first'); print('x' * 5_000_000); print('last')", max_reply_bytes=10_000))
    assert len(reply.text) < 11_000
    assert reply.text.startswith("first")
    assert reply.text.endswith("last")
    assert "bytes left out]" in reply.text


def test_a_call_in_a_fence_is_a_call(stub: Stub) -> None:
    fence = '```tool\n{"name": "run", "arguments": {"code": "1"}}\n```'
    (reply,) = asked(stub(f"print({fence!r})"), Request(ASKED.messages, tools=(TOOL,), must_call=True))
    assert ([call.arguments for call in reply.calls], reply.finish) == ([{"code": "1"}], "tool_calls")


def test_a_schema_is_told_and_a_grammar_refused(stub: Stub) -> None:
    (reply,) = asked(stub("print(sys.stdin.read())"), Request(ASKED.messages, shape=Shape(schema={"type": "array"})))
    assert '{"type":"array"}' in reply.text
    with pytest.raises(WhetError, match="follows no grammar"):
        asked(stub("pass"), Request(ASKED.messages, shape=Shape(grammar="root ::= 'a'")))


# --------------------------------------------------------------------------------------------- limits


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pid: int) -> bool:
    """Whether a process ends within a few seconds."""
    for _ in range(100):
        if not alive(pid):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("apart", [False, True])
def test_a_hang_is_a_limit_and_its_children_die_with_it(stub: Stub, tmp_path: Path, apart: bool) -> None:
    noted = tmp_path / "pid"
    program = (
        f"c = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], start_new_session={apart})\n"
        f"open({str(noted)!r}, 'w').write(str(c.pid))\ntime.sleep(60)"
    )
    with pytest.raises(LimitReached) as limit:
        asked(stub(program, outside=True, extra={"time_limit": 3}))
    assert limit.value.reason == "deadline"
    assert gone(int(noted.read_text()))


def test_a_child_left_behind_does_not_hold_the_answer_up(stub: Stub, tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    program = (
        "c = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(noted)!r}, 'w').write(str(c.pid))\nprint('42')"
    )
    assert asked(stub(program, outside=True, extra={"time_limit": 30}))[0].text == "42"
    assert gone(int(noted.read_text()))


def test_a_cancelled_call_is_killed(stub: Stub, tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    model = stub(f"open({str(noted)!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)", outside=True)

    async def given_up() -> None:
        task = asyncio.create_task(model.complete(ASKED))
        while not (noted.exists() and noted.read_text()):
            await asyncio.sleep(0.02)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(given_up())
    assert gone(int(noted.read_text()))


# --------------------------------------------------------------------------------------------- codex and claude


def installed(folder: Path, name: str, events: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An executable of that name that notes its words and prints what it is told to."""
    folder.mkdir()
    program = folder / name
    note = f"import sys, pathlib\npathlib.Path({str(folder / 'words')!r}).write_text(' '.join(sys.argv[1:]))\n"
    program.write_text(f"#!{sys.executable}\n{note}sys.stdin.read()\nprint({events!r})\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


CODEX = """{"type":"thread.started","thread_id":"t"}
{"type":"item.completed","item":{"id":"item_0","type":"reasoning","text":"Let me see"}}
{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"Looking."}}
{"type":"item.completed","item":{"id":"item_2","type":"agent_message","text":"42"}}
{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":60,"output_tokens":7}}"""

CLAUDE = """{"type":"system","subtype":"init","model":"claude-x"}
{"type":"assistant","message":{"content":[{"type":"text","text":"Hm"}]}}
{"type":"result","subtype":"success","is_error":false,"result":"42","total_cost_usd":0.25,"usage":{"input_tokens":4,\
"cache_read_input_tokens":96,"output_tokens":7}}"""


def test_codex_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path / "bin", "codex", CODEX, monkeypatch)
    (reply,) = asked(open_outside("agent:codex:gpt-x", price=Price(1.0, 10.0, 0.5)))
    usage = reply.usage
    assert (reply.text, len(reply.trace)) == ("42", 5)
    assert (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens) == (100, 60, 7)
    assert usage.usd == pytest.approx((40 * 1.0 + 60 * 0.5 + 7 * 10.0) / 1e6)
    assert (tmp_path / "bin" / "words").read_text().endswith("--sandbox workspace-write --model gpt-x")


def test_claude_is_read_with_what_it_cost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path / "bin", "claude", CLAUDE, monkeypatch)
    (reply,) = asked(open_outside("agent:claude", extra={"args": ["--max-turns", "9"]}))
    assert (reply.text, reply.version, reply.usage.usd, reply.usage.prompt_tokens) == ("42", "claude-x", 0.25, 100)
    assert (tmp_path / "bin" / "words").read_text().endswith("--max-turns 9")


@pytest.mark.parametrize(
    ("name", "events", "told"),
    [
        ("codex", '{"type":"turn.failed","error":{"message":"usage limit"}}', "usage limit"),
        (
            "claude",
            '{"type":"result","subtype":"success","is_error":true,"result":"Invalid API key"}',
            "Invalid API key",
        ),
    ],
)
def test_a_failure_that_an_agent_reports_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, events: str, told: str
) -> None:
    installed(tmp_path / "bin", name, events, monkeypatch)
    with pytest.raises(FaultError, match=told):
        asked(open_outside(f"agent:{name}"))


def test_a_turn_limit_of_the_agents_own_is_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path / "bin", "claude", '{"type":"result","subtype":"error_max_turns","is_error":true}', monkeypatch)
    with pytest.raises(LimitReached, match="turn_limit"):
        asked(open_outside("agent:claude"))


def test_an_agent_that_is_not_installed_is_named_with_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(WhetError, match=r"'codex' cannot be started .*npm install -g @openai/codex"):
        asked(load_model("agent:codex"))


# --------------------------------------------------------------------------------------------- addresses


@pytest.mark.parametrize(
    ("address", "options", "told"),
    [
        ("agent:codx", {}, "there is no program 'codx'. Did you mean 'codex'?"),
        ("agent:'open", {}, "cannot be read"),
        ("agent:sh", {"extra": {"time_limt": 3}}, "extra.time_limt is unknown. Did you mean 'time_limit'?"),
        ("agent:sh", {"extra": {"time_limit": 0}}, "above zero"),
        ("agent:sh", {"extra": {"env": "HOME"}}, "must be a list of texts"),
        ("agent:sh", {"extra": {"walls": "no"}}, "must be true or false"),
        ("agent:sh", {"extra": {"env": ["HOME"]}}, "runs with walls = false"),
        ("agent:sh", {"key_env": "MY_KEY"}, "name the service that its key is for with base_url"),
    ],
)
def test_an_agent_that_cannot_be_is_explained(address: str, options: Any, told: str) -> None:
    with pytest.raises(WhetError) as refused:
        load_model(address, ModelOptions(**options))
    assert told in str(refused.value)


def test_a_changed_script_is_another_agent(stub: Stub) -> None:
    assert stub("print(1)").fingerprint == stub("print(1)").fingerprint != stub("print(2)").fingerprint


# --------------------------------------------------------------------------------------------- in a rollout


class Twice(Doubles):
    """Asks once more about what was answered."""

    def play(self, task: Task) -> Play:
        yield from ask(task.messages)
        again = yield from ask([user("Are you sure?")])
        return solved() if again.text == "2 turns, skill: True, asked: True" else failed("wrong", again.text)


def rolled_out(folder: Path, model: Model, env: Doubles, playbook: Playbook) -> Any:
    async def one() -> Any:
        await play_out(folder, model, [Ticket("eval", "select", 0)], env=env, playbook=playbook)
        (outcome,) = outcomes(folder)
        return outcome

    return asyncio.run(one())


def test_the_turns_of_an_attempt_share_a_workspace_that_goes_with_it(
    stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    program = (
        "n = int(open('count').read()) + 1 if os.path.exists('count') else 1\nopen('count', 'w').write(str(n))\n"
        "said = sys.stdin.read()\n"
        "print(f\"{n} turns, skill: {'Double' in open('SKILL.md').read()}, asked: {'sure' in said}\")"
    )
    outcome = rolled_out(tmp_path / "run", stub(program), Twice(), Playbook("Double it."))
    assert (outcome.hard, outcome.reason) == (1, "correct")
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_hang_in_a_rollout_is_a_score_and_a_crash_a_fault(stub: Stub, tmp_path: Path) -> None:
    hung = rolled_out(tmp_path / "a", stub("time.sleep(60)", extra={"time_limit": 0.5}), Doubles(), Playbook())
    crashed = rolled_out(tmp_path / "b", stub("sys.exit(1)"), Doubles(), Playbook())
    assert (hung.reason, hung.fault) == ("deadline", "")
    assert crashed.fault == "agent_error"


def test_a_chat_model_still_gets_its_playbook_in_the_conversation(tmp_path: Path) -> None:
    model = FromFunction(lambda request: "x")
    rolled_out(tmp_path / "a", model, Doubles(), Playbook("Double it."))
    (request,) = model.requests
    assert (request.messages[0].text, request.playbook) == ("Double it.", None)
    assert request.attempt
