"""What a job gives back: streams, exit codes, files; and what becomes of those that are cut short."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest

from whet.errors import FaultError
from whet.rollout.works import Works
from whet.sandbox.base import Sandbox, performer
from whet.sandbox.isolation import open_sandbox
from whet.sandbox.jobs import Limits, run_command, run_python


def test_a_program_reads_its_input_and_prints(run) -> None:
    result = run(run_python("print(sum(map(int, input().split())))", stdin="20 22\n"))
    assert (result.ok, result.value["exit_code"], result.value["stdout"]) == (True, 0, "42\n")


def test_a_large_input_arrives_whole(run) -> None:
    result = run(run_python("import sys; print(len(sys.stdin.read()))", stdin="ü" * 1_000_000))
    assert result.value["stdout"] == "1000000\n"


def test_a_traceback_shows_the_programs_own_lines_alone(run) -> None:
    result = run(run_python("def f():\n    return 1 / 0\nf()"))
    assert result.value["exit_code"] == 1
    assert result.value["stderr"].count('File "main.py"') == result.value["stderr"].count("File ") == 2
    assert "return 1 / 0" in result.value["stderr"]


@pytest.mark.parametrize(
    ("ending", "code"), [("raise SystemExit", 0), ("exit(7)", 7), ("import sys; sys.exit('no')", 1)]
)
def test_the_exit_code_is_the_programs(run, ending: str, code: int) -> None:
    assert run(run_python(ending)).value["exit_code"] == code


def test_a_syntax_error_is_the_programs_own(run) -> None:
    result = run(run_python("print("))
    assert (result.ok, result.value["exit_code"], "SyntaxError" in result.value["stderr"]) == (True, 1, True)


def test_a_nul_in_the_code_is_told_as_python_tells_it(run) -> None:
    result = run(run_python("print(1)\0"))
    assert (result.value["exit_code"], "null bytes" in result.value["stderr"]) == (1, True)


def test_output_that_is_not_utf8_is_marked(run) -> None:
    assert run(run_python(r"import os; os.write(1, b'a\xff\xfeb')")).value["stdout"] == "a\ufffd\ufffdb"


def test_a_segfault_is_an_exit_code(run) -> None:
    result = run(run_python("import ctypes; ctypes.string_at(0)"))
    assert (result.ok, result.value["exit_code"]) == (True, -signal.SIGSEGV)


def test_threads_and_exit_hooks_run_to_their_end(run) -> None:
    code = (
        "import atexit, threading, time\natexit.register(print, 'bye')\n"
        "threading.Thread(target=lambda: (time.sleep(0.05), print('late'))).start()"
    )
    assert run(run_python(code)).value["stdout"] == "late\nbye\n"


def test_a_program_finds_its_files_and_modules_and_gives_files_back(run) -> None:
    files = {"data/in.txt": "6 7", "product.py": "def of(a, b): return a * b"}
    code = "import product\nopen('out', 'w').write(str(product.of(*map(int, open('data/in.txt').read().split()))))"
    assert run(run_python(code, files=files, collect=["out", "missing"])).value["files"] == {"out": "42"}


def test_a_command_runs_python_beside_its_files(run) -> None:
    result = run(run_command(["python", "check.py"], files={"check.py": "import json, sys; sys.exit(json.loads('5'))"}))
    assert (result.ok, result.value["exit_code"]) == (True, 5)


def test_a_program_that_is_not_there_exits_with_127(run) -> None:
    result = run(run_command(["no-such-program"]))
    assert (result.value["exit_code"], "no-such-program" in result.value["stderr"]) == (127, True)


def test_what_was_printed_before_the_deadline_is_kept(run) -> None:
    result = run(run_python("import time; print('early', flush=True); time.sleep(60)", limits=Limits(wall=0.4)))
    assert (result.error, result.value["stdout"]) == ("deadline", "early\n")


def test_sets_print_in_the_same_order_every_time(run) -> None:
    outputs = {
        run(run_python("print({'alpha', 'beta', 'gamma', 'delta', 'epsilon'})")).value["stdout"] for _ in range(3)
    }
    assert len(outputs) == 1


def test_calls_do_not_block_each_other(sandbox: Sandbox) -> None:
    slow, quick = run_python("import time; time.sleep(1.5)"), run_python("pass")
    finished = []

    async def note(name: str, payload) -> None:
        await sandbox.run(payload)
        finished.append(name)

    async def both() -> None:
        await asyncio.gather(note("slow", slow.payload), note("quick", quick.payload))

    asyncio.run(both())
    assert finished == ["quick", "slow"]


def test_more_jobs_than_places_are_all_done(sandbox: Sandbox) -> None:
    async def many():
        return await asyncio.gather(*(sandbox.run(run_python(f"print({n})").payload) for n in range(60)))

    assert [result.value["stdout"] for result in asyncio.run(many())] == [f"{n}\n" for n in range(60)]


def test_a_job_that_nobody_waits_for_is_ended(sandbox: Sandbox, run) -> None:
    async def give_up() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await sandbox.run(run_python("import time; time.sleep(60)", limits=Limits(wall=60.0)).payload)

    asyncio.run(give_up())
    assert gone(sandbox.parent)


def gone(pid: int) -> bool:
    """Whether a process started nothing that is still there; the kernel may need a moment."""
    for _ in range(100):
        if not children(pid):
            return True
        time.sleep(0.02)
    return False


def test_a_dead_parent_takes_its_jobs_along_as_faults_and_is_replaced() -> None:
    sandbox = open_sandbox(preload=())

    async def story():
        doomed = asyncio.create_task(sandbox.run(run_python("import time; time.sleep(30)").payload))
        while not (supervisors := children(sandbox.parent)) or not (jobs := children(supervisors[0])):
            await asyncio.sleep(0.02)
        os.kill(sandbox.parent, signal.SIGKILL)
        with pytest.raises(FaultError, match="sandbox at supervisor"):
            await doomed
        after = await sandbox.run(run_python("print('again')").payload)
        await sandbox.close()
        return after, jobs[0]

    after, job = asyncio.run(story())
    assert after.value["stdout"] == "again\n"
    assert not alive(job)


def alive(pid: int) -> bool:
    """Whether a process still runs; one that waits to be buried does not."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return False
        if state == "Z":
            return False
        time.sleep(0.02)
    return True


def children(pid: int) -> list[int]:
    """Processes that a process started and that are still there."""
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def test_a_closed_sandbox_runs_nothing() -> None:
    sandbox = open_sandbox(preload=())
    asyncio.run(sandbox.close())
    with pytest.raises(FaultError, match="closed"):
        asyncio.run(sandbox.run(run_python("1").payload))


def test_works_perform_sandbox_jobs(sandbox: Sandbox) -> None:
    works = Works(lambda: sandbox)
    assert asyncio.run(works.perform(run_python("print(1)"))).value["stdout"] == "1\n"


def test_a_performer_takes_the_payload_of_a_job(sandbox: Sandbox) -> None:
    assert asyncio.run(performer(sandbox)(run_python("print(1)").payload)).value["stdout"] == "1\n"


def test_only_preloaded_packages_are_seen() -> None:
    sandbox = open_sandbox(preload=["orjson"])
    code = "import orjson\nprint(orjson.dumps([1]).decode())\nimport pytest"
    result = asyncio.run(sandbox.run(run_python(code).payload))
    asyncio.run(sandbox.close())
    assert result.value["stdout"] == "[1]\n"
    assert "No module named 'pytest'" in result.value["stderr"]


@pytest.mark.parametrize("kind", ["pid", "net", "ipc", "mnt", "uts"])
def test_a_job_has_namespaces_of_its_own(sandbox: Sandbox, kind: str) -> None:
    async def story() -> tuple[str, str]:
        jobs = [asyncio.create_task(sandbox.run(run_python("import time; time.sleep(0.8)").payload)) for _ in range(2)]
        found: list[int] = []
        while len(found) < 2:
            await asyncio.sleep(0.02)
            found = [job for supervisor in children(sandbox.parent) for job in children(supervisor)]
        seen = (namespace(found[0], kind), namespace(found[1], kind))
        await asyncio.gather(*jobs)
        return seen

    assert len({namespace(os.getpid(), kind), *asyncio.run(story())}) == 3


def namespace(pid: int, kind: str) -> str:
    return str(Path(f"/proc/{pid}/ns/{kind}").readlink())
