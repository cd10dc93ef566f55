"""A folder that a policy leaves, and the program that looks at it: what is earned, and what nobody gets away with."""

from __future__ import annotations

import asyncio
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from data_env.rows import as_lines, environment

from whet.envs.base import Environment
from whet.envs.data.checks.desk import LARGEST, LONGEST, FileDesk
from whet.envs.data.checks.verdict import verdict
from whet.errors import WhetError
from whet.models.base import Request
from whet.models.load import load_model
from whet.rollout.drive import drive
from whet.rollout.workbench import Workbench
from whet.types import FILES_LEFT_OUT, Ask, Label, Reply, Rollout, Score, Ticket, ToolCall, Turn

LOOKS = """
import json, pathlib
row = json.loads(pathlib.Path("TASK.json").read_text())
found = pathlib.Path("workspace/out.txt")
right = found.is_file() and not found.is_symlink() and found.read_text().strip() == row["wanted"]
print(json.dumps({"score": float(right), "feedback": "" if right else f"out.txt should say {row['wanted']}"}))
"""
RUNS = """
import subprocess, sys
sys.exit(subprocess.run([sys.executable, "workspace/app.py"]).returncode or 1)
"""
SCORES = """
import json, subprocess, sys
subprocess.run([sys.executable, "workspace/app.py"])
print(json.dumps({"score": 0.0, "feedback": "never good enough"}))
"""


@pytest.fixture(scope="module")
def bench() -> Iterator[Workbench]:
    with Workbench() as opened:
        yield opened


def workspace(folder: Path, program: str = LOOKS, **more: Any) -> Environment:
    (folder / "own").mkdir(exist_ok=True)
    (folder / "own" / "check.py").write_text(program)
    files = {"in.txt": "seven", "notes/old.txt": "x"}
    rows = [{"prompt": "Copy in.txt to out.txt.", "files": files, "wanted": "seven", "solution": {"out.txt": "seven"}}]
    args = {"check": "workspace", "command": ["python", "check.py"], "checker": str(folder / "own"), "files": "files"}
    return environment(as_lines(folder / "tasks.jsonl", rows), split=[1.0, 0.0, 0.0], prompt="{prompt}", **args, **more)


def left(env: Environment, files: Mapping[str, str], bench: Workbench, *trace: Mapping[str, Any]) -> Score:
    """The score of an agent's reply that left these files."""
    return drive(
        env.play(env.task("train", 0)), lambda said, asked: Reply("done", files=files, trace=trace), bench
    ).score


def called(env: Environment, bench: Workbench, *calls: tuple[str, dict[str, str]]) -> tuple[Score, list[str]]:
    """The score of a chat model that makes these calls, and what it was told."""
    told: list[str] = []

    def respond(said: Any, asked: Ask) -> Reply:
        told.extend(message.text for message in asked.messages if message.author == "tool")
        place = sum(message.author == "tool" for message in said)
        if place < len(calls):
            name, arguments = calls[place]
            return Reply("", (ToolCall(str(place), name, arguments),))
        return Reply("done")

    return drive(env.play(env.task("train", 0)), respond, bench).score, told


# --------------------------------------------------------------------------------------------- what is earned


def test_an_agent_earns_by_what_it_leaves(tmp_path: Path, bench: Workbench) -> None:
    env = workspace(tmp_path)
    assert left(env, {"out.txt": "seven\n"}, bench).hard == 1
    score = left(env, {"out.txt": "eight"}, bench)
    assert (score.hard, score.detail) == (0, "out.txt should say seven")


def test_a_chat_model_earns_the_same_with_tools(tmp_path: Path, bench: Workbench) -> None:
    env = workspace(tmp_path)
    write = ("write_file", {"path": "out.txt", "text": "eight"})
    mend = ("replace_in_file", {"path": "out.txt", "old": "eight", "new": "seven"})
    score, told = called(env, bench, ("list_files", {}), ("read_file", {"path": "in.txt"}), write, mend)
    assert score.hard == 1
    assert told == [
        "in.txt (5 characters)\nnotes/old.txt (1 characters)",
        "seven",
        "out.txt is written",
        "out.txt is written",
    ]


def test_the_oracle_solves_it(tmp_path: Path, bench: Workbench) -> None:
    env = workspace(tmp_path, answer="solution")
    task = env.task("train", 0)
    oracle = env.baselines()["oracle"]
    assert drive(env.play(task), lambda said, asked: oracle(task, said), bench).score.hard == 1


def test_files_may_lie_in_a_folder_beside_the_tasks(tmp_path: Path, bench: Workbench) -> None:
    (tmp_path / "work" / "a").mkdir(parents=True)
    (tmp_path / "work" / "a" / "in.txt").write_text("seven")
    rows = [{"prompt": "Copy.", "files": "work/a"}]
    as_lines(tmp_path / "t.jsonl", rows)

    def made() -> Environment:
        args = {"check": "workspace", "command": ["true"], "files": "files", "split": [1.0, 0.0, 0.0]}
        return environment(tmp_path / "t.jsonl", prompt="{prompt}", **args)

    env = made()
    assert env.task("train", 0).data["files"] == {"in.txt": "seven"}
    (tmp_path / "work" / "a" / "in.txt").write_text("eight")
    assert made().fingerprint != env.fingerprint
    shutil.rmtree(tmp_path / "work")
    with pytest.raises(WhetError, match="is not a folder"):
        made()


@pytest.mark.parametrize("name", ["../x", "/etc/x", "SKILL.md", "TASK.json", "a//b"])
def test_a_task_whose_file_cannot_lie_in_a_workspace_is_refused(tmp_path: Path, name: str) -> None:
    path = as_lines(tmp_path / "t.jsonl", [{"prompt": "x", "files": {name: "x"}}])
    with pytest.raises(WhetError, match=r"row 1, column 'files': .* cannot be a file of the workspace"):
        environment(path, check="workspace", command=["true"], files="files", prompt="{prompt}")


def test_the_program_s_files_and_the_rest_of_the_row_reach_no_policy(tmp_path: Path, bench: Workbench) -> None:
    env = workspace(tmp_path)
    task = env.task("train", 0)
    seen = drive(env.play(task), lambda said, asked: "done", bench).asks[0]
    assert set(seen.files) == {"in.txt", "notes/old.txt"}
    assert "wanted" not in repr((task.messages, task.data, seen))


def test_feedback_says_what_was_written_and_what_the_program_says(tmp_path: Path, bench: Workbench) -> None:
    env = workspace(tmp_path)
    task = env.task("train", 0)
    reply = Reply("I did it", files={"out.txt": "eight", "in.txt": "x"}, trace=())
    score = left(env, reply.files, bench)
    turn = Turn("target", task.messages, reply)
    told = env.feedback(task, Rollout(Ticket("t", "train", 0), Label("x"), "k", "r", "p", (turn,), score))
    assert told.got == "changed in.txt, out.txt; said: I did it"
    assert told.evidence == "out.txt should say seven"


# --------------------------------------------------------------------------------------------- what is not


def test_a_policy_that_writes_the_checker_does_not_change_it_and_is_named(tmp_path: Path, bench: Workbench) -> None:
    env = workspace(tmp_path)
    fake = "print('{\"score\": 1.0}')"
    score = left(env, {"check.py": fake, "TASK.json": '{"wanted": ""}', "out.txt": ""}, bench)
    assert score.hard == 0
    assert "left under names of the checker's files: TASK.json, check.py" in score.detail


@pytest.mark.parametrize(
    "name", ["check.py", "json.py", "json/__init__.py", "pathlib.py", "sitecustomize.py", "usercustomize.py"]
)
def test_files_that_would_stand_in_the_program_s_way_do_not_earn(tmp_path: Path, bench: Workbench, name: str) -> None:
    fake = "print('{\"score\": 1.0}')\nimport os\nos._exit(0)"
    assert left(workspace(tmp_path), {name: fake}, bench).hard == 0


@pytest.mark.parametrize("name", ["../out.txt", "/tmp/out.txt", "a/../../out.txt", "x\0y", "in.txt/deeper"])
def test_a_name_that_leaves_the_workspace_is_refused_and_named(tmp_path: Path, bench: Workbench, name: str) -> None:
    env = workspace(tmp_path)
    score, told = called(env, bench, ("write_file", {"path": name, "text": "seven"}))
    assert score.hard == 0
    assert told[0].startswith("Error: write_file cannot take these arguments")
    assert "did not come back" in left(env, {name: "seven"}, bench).detail


def test_what_an_agent_could_not_bring_back_is_named(tmp_path: Path, bench: Workbench) -> None:
    note = {"type": FILES_LEFT_OUT, "names": ["out.txt (a link)"]}
    score = left(workspace(tmp_path), {}, bench, note)
    assert (score.hard, "did not come back: out.txt (a link)" in score.detail) == (0, True)


def test_too_much_is_told_and_not_kept() -> None:
    desk = FileDesk({})
    assert desk.take(Reply("", files={"big": "x" * (LONGEST + 1), "ok": "x"})) == [
        f"big ({desk._problem('b', 'x' * (LONGEST + 1))})"
    ]
    many = {f"f{n}": "x" * LONGEST for n in range(LARGEST // LONGEST + 3)}
    assert len(desk.take(Reply("", files=many))) >= 3
    assert sum(map(len, desk.files.values())) <= LARGEST


@pytest.mark.parametrize(
    ("program", "app", "reason"),
    [
        (RUNS, 'print(\'{"score": 1.0, "feedback": "all good"}\')', "wrong"),
        (SCORES, "print('{\"score\": 1.0}')", "two_verdicts"),
        (SCORES, "import os\nos.write(1, b'{\"score\": 1.0}\\n' * 3)", "two_verdicts"),
        (SCORES, "open('check.py', 'w').write('print(1)')\nopen('TASK.json', 'w').write('{}')", "wrong"),
        (
            SCORES,
            "import os\nif os.fork():\n    os._exit(0)\nimport time\ntime.sleep(1)\nprint('{\"score\": 1.0}')",
            "wrong",
        ),
        (SCORES, "f = open('full', 'wb')\nwhile True: f.write(b'x' * 1000000)", "wrong"),
        (SCORES, "while True: open(str(id(object())), 'ab').write(b'x' * 100000)", "wrong"),
        (SCORES, "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)", "wrong"),
        (SCORES, "while True: print('x' * 10000)", "output"),
        (SCORES, "import time\ntime.sleep(60)", "deadline"),
    ],
)
def test_code_of_the_policy_that_the_program_starts_cannot_speak_for_it(
    tmp_path: Path, bench: Workbench, program: str, app: str, reason: str
) -> None:
    score = left(workspace(tmp_path, program, seconds=3.0), {"app.py": app}, bench)
    assert (score.hard, score.soft) == (0, 0.0)
    assert score.reason in (reason, "deadline", "memory", "killed"), score


@pytest.mark.parametrize(
    ("code", "stdout", "reason", "soft"),
    [
        (0, "", "correct", 1.0),
        (0, "all well\n", "correct", 1.0),
        (0, 'log\n{"score": 0.5, "feedback": "half", "parts": {"a": 1}}\n', "partial", 0.5),
        (0, '{"score": true}', "correct", 1.0),
        (1, '{"score": 1.0}', "wrong", 0.0),
        (0, '{"score": 1.0}\n{"score": 0.0}', "two_verdicts", 0.0),
        (0, '{"score": 1.0}\nbye', "two_verdicts", 0.0),
        (0, '{"score": 7}', "bad_verdict", 0.0),
        (0, '{"score": NaN}', "bad_verdict", 0.0),
        (0, '{"score": 0.2,', "bad_verdict", 0.0),
        (0, "{'score': 0.2}", "bad_verdict", 0.0),
        (0, '{\n  "score": 0.2\n}', "bad_verdict", 0.0),
        (0, "the score is fine", "correct", 1.0),
        (0, '{"score": "1"}', "bad_verdict", 0.0),
        (0, '{"score": 1, "parts": [1]}', "bad_verdict", 0.0),
    ],
)
def test_a_verdict_counts_once_in_the_last_line_of_a_program_that_ended_well(
    code: int, stdout: str, reason: str, soft: float
) -> None:
    score = verdict(code, stdout, "")
    assert (score.reason, score.soft) == (reason, soft)


def test_a_program_that_is_not_there_is_the_user_s_to_mend(tmp_path: Path, bench: Workbench) -> None:
    path = as_lines(tmp_path / "t.jsonl", [{"prompt": "x"}])
    env = environment(path, check="workspace", command=["no-such-program"], prompt="{prompt}", split=[1.0, 0.0, 0.0])
    with pytest.raises(WhetError, match="'no-such-program' cannot be run in the sandbox"):
        left(env, {}, bench)


# --------------------------------------------------------------------------------------------- a real agent

AGENT = """
import os, pathlib, subprocess, sys, time
deed = pathlib.Path("in.txt").read_text()
if deed == "good":
    pathlib.Path("out.txt").write_text("seven")
    pathlib.Path("old.txt").unlink()
elif deed == "link":
    os.symlink("/etc/passwd", "out.txt")
    os.symlink("in.txt", "alias.txt")
elif deed == "outside":
    for name in ("../out.txt", "/tmp/out.txt", "/etc/out.txt", "../../out.txt", "/usr/out.txt"):
        try:
            pathlib.Path(name).write_text("seven")
        except OSError:
            pass
elif deed == "outlive":
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(97531.5)"])
    time.sleep(0.3)
elif deed == "full":
    for number in range(40):
        pathlib.Path(f"big{number}.txt").write_text("x" * 300_000)
print("done")
"""


def worked(folder: Path, deed: str) -> Reply:
    """What an agent behind walls comes back with."""
    (folder / "agent.py").write_text(AGENT)
    model = load_model(f"agent:{sys.executable} {folder}/agent.py")

    async def once() -> Reply:
        try:
            files = {"in.txt": deed, "old.txt": "x"}
            return await model.complete(Request((), files=files))
        finally:
            await model.close()

    return asyncio.run(once())


def test_an_agent_has_the_files_in_its_folder_and_tools_of_its_own(tmp_path: Path) -> None:
    reply = worked(tmp_path, "good")
    assert (dict(reply.files), reply.text.strip()) == ({"out.txt": "seven"}, "done")
    desk = FileDesk({"in.txt": "good", "old.txt": "x"})
    assert desk.take(reply) == []
    assert desk.files == {"in.txt": "good", "out.txt": "seven"}


def test_links_of_an_agent_are_not_followed_and_are_named(tmp_path: Path) -> None:
    reply = worked(tmp_path, "link")
    assert reply.files == {}
    assert FileDesk({}).take(reply) == ["alias.txt (a link)", "out.txt (a link)"]


def test_what_an_agent_writes_elsewhere_is_nowhere(tmp_path: Path) -> None:
    reply = worked(tmp_path, "outside")
    assert reply.files == {}
    assert not any(Path(place).exists() for place in ("/tmp/out.txt", "/etc/out.txt", "/usr/out.txt"))


def test_a_process_that_an_agent_leaves_does_not_outlive_it(tmp_path: Path) -> None:
    worked(tmp_path, "outlive")
    for _ in range(20):
        alive = [file for file in Path("/proc").glob("[0-9]*/cmdline") if _names(file, b"97531.5")]
        if not alive:
            break
        time.sleep(0.1)
    assert alive == []


def _names(file: Path, word: bytes) -> bool:
    try:
        return word in file.read_bytes()
    except OSError:
        return False


def test_a_full_folder_comes_back_as_names_alone(tmp_path: Path) -> None:
    reply = worked(tmp_path, "full")
    assert reply.files == {}
    assert len(FileDesk({}).take(reply)) == 40
