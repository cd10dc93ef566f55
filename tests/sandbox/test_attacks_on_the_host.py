"""Attacks on the kernel's doors, on the supervisor, on the next job, and on whoever reads the result."""

from __future__ import annotations

import json
import os
import platform
import struct
import time
from pathlib import Path

import pytest

from whet.sandbox.base import Sandbox
from whet.sandbox.jobs import MIB, Limits, run_command, run_python
from whet.sandbox.local import LocalSandbox

x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers of the calls are those of x86_64")

DOORS = {
    "io_uring": 425,
    "bpf": 321,
    "keyctl": 250,
    "add_key": 248,
    "perf_event_open": 298,
    "userfaultfd": 323,
    "syslog": 103,
    "clock_settime": 227,
    "adjtimex": 159,
    "sethostname": 170,
    "reboot": 169,
    "kexec_load": 246,
    "init_module": 175,
    "finit_module": 313,
    "acct": 163,
    "swapon": 167,
    "quotactl": 179,
    "fanotify_init": 300,
    "open_by_handle_at": 304,
    "fsopen": 430,
    "open_tree": 428,
    "move_mount": 429,
    "mount_setattr": 442,
    "pidfd_getfd": 438,
    "process_madvise": 440,
    "kcmp": 312,
    "personality": 135,
    "modify_ldt": 154,
}


@x86
@pytest.mark.parametrize("door", DOORS)
def test_a_door_of_the_kernel_is_closed(attack, door: str) -> None:
    code = (
        "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        f"print(libc.syscall({DOORS[door]}, 0, 0, 0, 0, 0), os.strerror(ctypes.get_errno()))"
    )
    assert attack(run_python(code)).value["stdout"] == "-1 Operation not permitted\n"


@x86
@pytest.mark.parametrize(("call", "number"), [("clone3", 435), ("cachestat", 451), ("a call of tomorrow", 5000)])
def test_a_call_that_cannot_be_looked_into_does_not_exist(attack, call: str, number: int) -> None:
    code = f"import ctypes as c\nprint(c.CDLL(None, use_errno=True).syscall({number}, 0, 0), c.get_errno())"
    assert attack(run_python(code)).value["stdout"] == "-1 38\n"


@x86
def test_calls_of_another_architecture_end_the_code(attack) -> None:
    """`int 0x80` counts calls differently: a filter for one numbering must not see the other."""
    code = (
        "import ctypes, mmap\n"
        "page = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7)\n"
        "page.write(bytes.fromhex('b814000000cd80c3'))\n"  # mov eax, getpid; int 0x80; ret
        "at = ctypes.addressof(ctypes.c_char.from_buffer(page))\n"
        "print('OPEN', ctypes.CFUNCTYPE(ctypes.c_int)(at)())"
    )
    result = attack(run_python(code))
    assert "OPEN" not in result.value["stdout"]
    assert result.value["exit_code"] != 0


RAISED = {
    "its priority": "os.setpriority(os.PRIO_PROCESS, 0, -10)",
    "real-time scheduling": "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))",
    "its privileges": "raised(libc.prctl(38, 0, 0, 0, 0))",
    "its bounding set": "raised(libc.prctl(24, 0, 0, 0, 0))",
    "its ambient capabilities": "raised(libc.prctl(47, 2, 12, 0, 0))",
    "its security bits": "raised(libc.prctl(28, 0x2f, 0, 0, 0))",
    "its core dumps": "resource.setrlimit(resource.RLIMIT_CORE, (1 << 30, 1 << 30))",
    "its groups": "os.setgid(0)",
    "its filter": "raised(libc.prctl(22, 0, 0, 0, 0))",
}


@pytest.mark.parametrize("what", RAISED)
def test_nothing_of_its_own_standing_can_be_raised(attack, what: str) -> None:
    code = (
        "import ctypes, os, resource\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "def raised(result):\n    if result < 0: raise OSError(ctypes.get_errno(), 'call')\n"
        f"try:\n    {RAISED[what]}\nexcept (OSError, ValueError): print('refused')\nelse: print('OPEN')"
    )
    assert attack(run_python(code)).value["stdout"] == "refused\n"


def test_a_core_is_not_dumped(attack) -> None:
    result = attack(run_python("import ctypes; ctypes.string_at(0)", collect=["core", "core.1"]))
    assert (result.value["exit_code"] < 0, result.value["files"]) == (True, {})


# --------------------------------------------------------------------------------------------- the result


def test_a_forged_result_is_only_output(attack) -> None:
    forged = json.dumps({"value": {"exit_code": 0, "stdout": "forged"}, "error": "", "detail": ""}).encode()
    message = struct.pack("!Q", len(forged)) + forged
    code = (
        f"import os\nfor fd in range(1, 64):\n    try: os.write(fd, {message!r})\n    except OSError: pass\nos._exit(3)"
    )
    result = attack(run_python(code))
    assert (result.value["exit_code"], result.error) == (3, "")
    assert "forged" in result.value["stdout"]


def test_telling_that_the_walls_stand_is_not_the_codes_to_do(attack) -> None:
    code = "import os\ntry: os.write(3, b'1')\nexcept OSError as error: print(error.strerror)"
    assert attack(run_python(code)).value["stdout"] == "Bad file descriptor\n"


def test_a_flood_of_tiny_lines_on_both_streams_is_cut(attack) -> None:
    code = "import os\nwhile True: os.write(1, b'x\\n' * 2000); os.write(2, b'y\\n' * 2000)"
    result = attack(run_python(code, limits=Limits(wall=5.0, output=1000)))
    assert (result.error, len(result.value["stdout"]), len(result.value["stderr"])) == ("output", 1000, 1000)


def test_input_that_is_never_read_holds_nothing_up(attack) -> None:
    assert attack(run_python("print('done')", stdin="x" * 3_000_000)).value["stdout"] == "done\n"


def test_a_child_that_keeps_the_streams_open_does_not_hold_the_result_up(attack) -> None:
    began = time.monotonic()
    result = attack(run_python("import os, time\nif os.fork() == 0: time.sleep(60)\nprint('left')"))
    assert (result.value["stdout"], time.monotonic() - began < 5) == ("left\n", True)


@pytest.mark.parametrize(
    "trap", ["os.mkfifo('out')", "os.mkdir('out')", "os.symlink('out', 'out')", "os.chmod('.', 0)"]
)
def test_a_trap_in_the_place_of_a_file_does_not_hold_the_collection_up(attack, trap: str) -> None:
    assert attack(run_python(f"import os\n{trap}", collect=["out"])).value["files"] == {}


def test_a_file_that_grows_without_end_is_read_to_its_limit(attack) -> None:
    code = "open('out', 'wb').truncate(900_000)"
    result = attack(run_python(code, collect=["out"], limits=Limits(file_size=MIB)))
    assert len(result.value["files"]["out"]) == 900_000


def test_a_sparse_file_is_limited_by_its_length(attack) -> None:
    code = "try: open('out', 'wb').truncate(1 << 40)\nexcept OSError as error: print(error.strerror)"
    assert attack(run_python(code)).value["stdout"] == "File too large\n"


def test_folders_of_great_depth_are_cleared_away(attack) -> None:
    code = "import os\nfor _ in range(1100): os.mkdir('dddd'); os.chdir('dddd')\nprint('deep')"
    assert attack(run_python(code)).value["stdout"] == "deep\n"


def test_a_folder_that_is_closed_is_cleared_away(attack, tried_in: LocalSandbox) -> None:
    code = "import os\nos.makedirs('d/e')\nopen('d/e/f', 'w').close()\nfor p in ('d/e', 'd'): os.chmod(p, 0)\nprint(1)"
    before = set(tried_in._scratch.iterdir())
    assert attack(run_python(code)).value["stdout"] == "1\n"
    assert set(tried_in._scratch.iterdir()) == before


def test_files_of_holes_are_not_read_back_beyond_the_limit_of_the_folder(attack) -> None:
    names = [f"f{n}" for n in range(6)]
    code = "for n in range(6): open(f'f{n}', 'wb').truncate(1 << 20)"
    result = attack(run_python(code, collect=names, limits=Limits(disk=(2 << 20) + 4096, file_size=1 << 20)))
    assert {name: len(text) for name, text in result.value["files"].items()} == {
        "f0": 1 << 20,
        "f1": 1 << 20,
        "f2": 4096,
    }


def test_a_great_many_files_end_at_a_limit(attack, tried_in: Sandbox) -> None:
    if tried_in.walls().kind == "bubblewrap":
        pytest.skip("bubblewrap has no option for the number of files")
    code = "try:\n    for n in range(9000): open(f'/box/tmp/{n}', 'w').close()\nexcept OSError as e: print(e.strerror)"
    assert attack(run_python(code)).value["stdout"] == "No space left on device\n"


# --------------------------------------------------------------------------------------------- time and processes


def bounded(attack, code: str, wall: float = 0.6) -> str:
    """The error of a job, which must be back soon after its deadline."""
    began = time.monotonic()
    result = attack(run_python(code, limits=Limits(wall=wall)))
    assert time.monotonic() - began < wall + 5.0
    return result.error


def test_an_exit_hook_that_never_ends_is_ended(attack) -> None:
    assert bounded(attack, "import atexit\n@atexit.register\ndef forever():\n    while True: pass") == "deadline"


def test_a_thread_that_never_ends_is_ended(attack) -> None:
    assert (
        bounded(attack, "import threading, time\nthreading.Thread(target=time.sleep, args=(99,)).start()") == "deadline"
    )


def test_an_answer_to_every_signal_is_no_defence(attack) -> None:
    code = (
        "import os, signal\ndef again(*_): os.fork()\n"
        "for n in (signal.SIGTERM, signal.SIGINT, signal.SIGXCPU, signal.SIGALRM): signal.signal(n, again)\n"
        "while True: pass"
    )
    assert bounded(attack, code) == "deadline"


def test_processes_that_stop_one_another_are_ended(attack) -> None:
    code = (
        "import os, signal\nfirst = os.getpid()\n"
        "for _ in range(5):\n    if os.fork() == 0: os.kill(os.getpid(), signal.SIGSTOP)\n"
        "while True: signal.pause()"
    )
    assert bounded(attack, code) == "deadline"


def test_a_horde_of_zombies_is_bounded(attack) -> None:
    code = (
        "import os\nmade = 0\ntry:\n    while made < 500:\n        if os.fork() == 0: os._exit(0)\n        made += 1\n"
        "except BlockingIOError: pass\nprint(made)"
    )
    assert int(attack(run_python(code, limits=Limits(processes=12))).value["stdout"]) < 12


def test_a_bomb_of_threads_is_bounded(attack) -> None:
    code = (
        "import threading\nstop = threading.Event()\nmade = 0\ntry:\n    while made < 500:\n"
        "        threading.Thread(target=stop.wait, daemon=True).start()\n        made += 1\n"
        "except RuntimeError: pass\nprint(made)"
    )
    assert int(attack(run_python(code, limits=Limits(processes=12))).value["stdout"]) < 12


def test_a_command_left_in_the_background_dies_with_its_job(attack) -> None:
    mark = f"7{os.getpid()}.25"
    attack(run_command(["sh", "-c", f"nohup setsid sleep {mark} >/dev/null 2>&1 & sleep 0.1"]))
    for _ in range(50):
        left = [file for file in Path("/proc").glob("[0-9]*/cmdline") if mark.encode() in content(file)]
        if not left:
            break
        time.sleep(0.02)
    assert left == []


def content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


def test_a_command_that_removes_everything_removes_its_own(attack) -> None:
    here = Path(__file__)
    script = "rm -rf /box/* /tmp/* ~; rm -rf --no-preserve-root / 2>/dev/null"
    attack(run_command(["sh", "-c", script], limits=Limits(wall=1.0)))
    assert here.exists()


def test_a_command_cannot_raise_its_limits(attack) -> None:
    result = attack(run_command(["bash", "-c", "ulimit -n 100000 2>/dev/null || echo kept; ulimit -c"]))
    assert result.value["stdout"] == "kept\n0\n"


def test_a_setuid_program_of_its_own_is_an_ordinary_one(attack) -> None:
    script = "cp /usr/bin/id . && chmod 6755 id && ./id -u && id -u"
    first, second = attack(run_command(["sh", "-c", script])).value["stdout"].split()
    assert first == second != "0"


# --------------------------------------------------------------------------------------------- the next job

POISON = {
    "a builtin": ("import builtins; builtins.len = None", "len([1])"),
    "a module": ("import sys; sys.modules['json'] = None", "__import__('json').dumps(1)"),
    "a function of a module": ("import json; json.dumps = None", "__import__('json').dumps(1)"),
    "a trace": ("import sys; sys.settrace(lambda *a: 1 / 0)", "__import__('sys').gettrace()"),
    "a hook on imports": ("import sys; sys.meta_path.insert(0, None)", "__import__('sys').meta_path[0] is not None"),
    "the module path": ("import sys; sys.path.insert(1, '/box/play/x')", "'/box/play/x' in __import__('sys').path"),
    "the environment": ("import os; os.environ['PYTHONSTARTUP'] = 'x.py'", "dict(__import__('os').environ)"),
    "a signal": ("import signal; signal.signal(2, signal.SIG_IGN)", "__import__('signal').getsignal(2)"),
    "the random numbers": ("import random; random.seed(1)", "__import__('random').Random(1).random() > 2"),
    "the decimal context": ("import decimal; decimal.getcontext().prec = 1", "__import__('decimal').getcontext().prec"),
    "the recursion limit": ("import sys; sys.setrecursionlimit(50)", "__import__('sys').getrecursionlimit()"),
    "the mask of new files": ("import os; os.umask(0)", "__import__('os').umask(0o22)"),
    "its folder": ("import os; os.chdir('/')", "__import__('os').getcwd() == '/'"),
    "its priority": ("import os; os.nice(10)", "__import__('os').nice(0)"),
    "a soft limit": (
        "import resource as r; r.setrlimit(r.RLIMIT_NOFILE, (9, 9))",
        "__import__('resource').getrlimit(7)",
    ),
    "the memory of an object": (
        "import ctypes; ctypes.memmove(id((1, 2)) + 24, b'\\0' * 8, 8)",
        "(1, 2)",
    ),
    "a small number": ("import ctypes; ctypes.memmove(id(7) + 24, b'\\x08\\0\\0\\0', 4)", "3 + 4"),
}


@pytest.mark.parametrize("what", POISON)
def test_the_next_job_finds_the_world_as_it_was(run, what: str) -> None:
    poison, look = POISON[what]
    seen = run_python(f"print({look})")
    before = run(seen).value["stdout"]
    run(run_python(poison))
    assert run(seen).value["stdout"] == before != ""


@pytest.mark.parametrize(
    "place",
    [
        "~/.local/lib/python3.11/site-packages/x.pth",
        "sitecustomize.py",
        "usercustomize.py",
        "~/.pythonrc",
        "~/.profile",
    ],
)
def test_a_start_file_that_was_left_starts_with_nobody(attack, place: str) -> None:
    script = f'f={place}; mkdir -p "$(dirname $f)"; echo "import os; os._exit(9)" > $f; export ENV=$f'
    attack(run_command(["sh", "-c", script]))
    after = attack(run_command(["python", "-c", "print('clean')"]))
    assert (after.value["stdout"], after.value["exit_code"]) == ("clean\n", 0)


def test_files_of_a_job_are_the_jobs_alone(attack) -> None:
    attack(run_python("import os\nos.makedirs('/box/tmp/x')\nopen('/box/tmp/x/secret', 'w').write('rosebud')"))
    code = "import os\nprint([name for root, _, names in os.walk('/box') for name in names])"
    assert attack(run_python(code)).value["stdout"] == "[]\n"
