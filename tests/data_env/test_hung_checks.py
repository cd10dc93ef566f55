"""A check that hangs, exits or crashes is a named outcome of one rollout: the run goes on, and Ctrl-C is heard."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from builders import FromFunction
from data_env.rows import one_row, scored
from driving import outcomes, play_out

from whet.envs.base import Environment, killable
from whet.envs.data.checks import patterns
from whet.envs.data.checks.python import score_from
from whet.errors import FaultError, WhetError
from whet.rollout.works import Works
from whet.types import Ticket

CHECKS = """
import ctypes, os, signal, sys, time, itertools

def loops(reply, row):
    while True: pass

def loops_in_c(reply, row):
    sum(itertools.repeat(0))

def swallows(reply, row):
    while True:
        try:
            while True: time.sleep(0.01)
        except BaseException: pass

def stops(reply, row):
    os.kill(os.getpid(), signal.SIGSTOP)

def forks(reply, row):
    if os.fork() == 0:
        open(os.environ["NOTE_OF_TEST"], "w").write(str(os.getpid()))
        time.sleep(60)
    while True: pass

def answers_twice(reply, row):
    if os.fork() == 0:
        return True
    time.sleep(0.2)
    return False

def exits(reply, row):
    sys.exit("bye")

def interrupts(reply, row):
    raise KeyboardInterrupt

def leaves(reply, row):
    os._exit(3)

def crashes(reply, row):
    ctypes.string_at(0)

def kills(reply, row):
    os.kill(os.getpid(), signal.SIGKILL)

def closes(reply, row):
    os.closerange(3, 100)
    time.sleep(60)

def picky(reply, row):
    if reply == "hang":
        while True: pass
    if reply == "exit":
        sys.exit(0)
    return reply == row["answer"]

add = lambda reply, row: (lambda extra: reply == row["answer"] + extra)("")
"""


def checked_by(folder: Path, function: str, seconds: float = 0.5) -> Environment:
    (folder / "checks.py").write_text(CHECKS)
    address = f"{folder}/checks.py:{function}"
    return one_row(folder, "yes", check="python", answer="answer", function=address, seconds=seconds)


@pytest.mark.parametrize("function", ["loops", "loops_in_c", "swallows", "stops"])
def test_a_check_that_hangs_is_a_score_with_that_name(tmp_path: Path, function: str) -> None:
    began = time.monotonic()
    score = scored(checked_by(tmp_path, function), "yes")
    assert (score.hard, score.reason) == (0, "check_hung")
    assert time.monotonic() - began < 0.5 + 5.0


def test_what_a_hung_check_started_dies_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note = tmp_path / "note"
    monkeypatch.setenv("NOTE_OF_TEST", str(note))
    scored(checked_by(tmp_path, "forks"), "yes")
    assert gone(int(note.read_text()))


def gone(pid: int) -> bool:
    for _ in range(100):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize(
    ("function", "told"),
    [
        ("exits", "SystemExit: bye"),
        ("interrupts", "KeyboardInterrupt"),
        ("leaves", "exit status 3"),
        ("crashes", "signal SIGSEGV"),
        ("kills", "signal SIGKILL"),
        ("closes", "closed its channel"),
    ],
)
def test_a_check_that_ends_its_process_is_a_fault_that_says_how(tmp_path: Path, function: str, told: str) -> None:
    with pytest.raises(FaultError, match=told) as fault:
        scored(checked_by(tmp_path, function, seconds=20.0), "yes")
    assert fault.value.fault.kind == "check_ended"


def test_a_check_that_forks_and_returns_in_both_is_answered_once(tmp_path: Path) -> None:
    file = tmp_path / "checks.py"
    file.write_text(CHECKS)
    where = {"function": f"{file}:answers_twice", "code": "x"}
    jobs = [killable("whet.envs.data.checks.python:apply", seconds=10, **where, reply=text, row={}) for text in "ab"]

    async def story() -> list[int]:
        works = Works()
        try:
            return [(await works.perform(job)).value["score"]["hard"] for job in jobs]
        finally:
            await works.close()

    assert asyncio.run(story()) == [0, 0]


def test_words_of_a_check_that_are_no_text_can_be_written_down() -> None:
    score = score_from({"score": 1, "detail": "\ud800", "reason": "\udcff", "parts": {"\ud801": 1}}, "x")
    assert score is not None
    assert (score.detail, score.reason, dict(score.parts)) == (r"\ud800", r"\udcff", {r"\ud801": 1.0})


def test_a_lambda_over_a_closure_is_a_check(tmp_path: Path) -> None:
    assert scored(checked_by(tmp_path, "add"), "yes").hard == 1


def test_a_file_that_exits_when_it_is_imported_is_refused(tmp_path: Path) -> None:
    (tmp_path / "quits.py").write_text("import sys\nsys.exit(4)\ndef right(reply, row): return True\n")
    with pytest.raises(WhetError, match="ends the program when it is imported"):
        one_row(tmp_path, "yes", check="python", answer="answer", function=f"{tmp_path}/quits.py:right")


def test_a_run_goes_on_past_checks_that_hang_and_end(tmp_path: Path) -> None:
    env = checked_by(tmp_path, "picky")
    replies = iter(["hang", "exit", "yes"])
    tickets = [Ticket("eval", "train", 0, draw) for draw in range(3)]
    asyncio.run(play_out(tmp_path / "run", FromFunction(lambda _: next(replies)), tickets, env=env))
    ends = sorted((outcome.fault or outcome.reason) for outcome in outcomes(tmp_path / "run"))
    assert ends == ["check_ended", "check_hung", "correct"]


BACKTRACKS = r"^(?=x)(x+x+)+y$"
"""A look around: only Python's own engine can express it."""


def test_a_pattern_that_backtracks_for_ever_is_a_score_with_that_name(tmp_path: Path) -> None:
    assert patterns.linear_pattern(BACKTRACKS, False) is None
    began = time.monotonic()
    score = scored(one_row(tmp_path, BACKTRACKS, check="regex", answer="answer", seconds=0.5), "x" * 60)
    assert (score.hard, score.reason) == (0, "check_hung")
    assert time.monotonic() - began < 0.5 + 5.0


@pytest.mark.parametrize(("reply", "hard"), [("xxy", 1), ("yy", 0)])
def test_a_pattern_that_only_re_knows_still_grades(tmp_path: Path, reply: str, hard: int) -> None:
    assert scored(one_row(tmp_path, BACKTRACKS, check="regex", answer="answer"), reply).hard == hard


def test_a_pattern_of_letters_outside_ascii_still_grades(tmp_path: Path) -> None:
    assert scored(one_row(tmp_path, r"^\w+$", check="regex", answer="answer"), "caf\u00e9").hard == 1


def test_waiting_for_a_worker_is_not_the_checks_own_time() -> None:
    async def story() -> list[str]:
        works = Works()
        jobs = [killable("whet.envs.data.checks.patterns:search", seconds=1.5, **search_of(n)) for n in range(40)]
        try:
            return [result.error for result in await asyncio.gather(*map(works.perform, jobs))]
        finally:
            await works.close()

    def search_of(n: int) -> dict[str, object]:
        return {"pattern": "(x+x+)+y", "ignore_case": False, "text": "x" * 18 + str(n)}

    assert asyncio.run(story()) == [""] * 40


INTERRUPTED = """
import sys
sys.path[:0] = {path!r}
import whet
from pathlib import Path
from builders import FromFunction
from data_env.test_hung_checks import checked_by
env = checked_by(Path({folder!r}), "loops", seconds=120.0)
print("ready", flush=True)
whet.evaluate(env, FromFunction(lambda _: "yes"), n=1, split="train", runs=Path({folder!r}) / "runs")
"""


def test_ctrl_c_is_heard_at_once_while_a_check_hangs(tmp_path: Path) -> None:
    tests = Path(__file__).parents[1]
    code = INTERRUPTED.format(path=[str(tests)], folder=str(tmp_path))
    run = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert run.stdout is not None
    assert run.stdout.readline() == "ready\n", run.stderr.read() if run.stderr else ""
    workers = children(run.pid)
    assert workers, "no worker was started"
    time.sleep(0.3)
    began = time.monotonic()
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=10)
    assert time.monotonic() - began < 5.0
    assert all(gone(pid) for pid in workers)


def children(pid: int) -> list[int]:
    """Processes that a program has started, once there is one."""
    for _ in range(200):
        found = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        found += [
            int(child)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for child in (task / "children").read_text().split()
        ]
        if found:
            return sorted(set(found))
        time.sleep(0.05)
    return []


def test_processes_end_with_their_works() -> None:
    async def story() -> int:
        works = Works()
        job = killable("os:getpid", seconds=5.0)
        result = await works.perform(job)
        await works.close()
        return int(result.value)

    pid = asyncio.run(story())
    assert pid != os.getpid()
    assert gone(pid)
