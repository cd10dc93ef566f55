"""What untrusted code may try, and what comes of it. After each attack the sandbox serves the next call (see `run`)."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from pathlib import Path

import pytest

from whet.sandbox.base import Sandbox
from whet.sandbox.jobs import MIB, Limits, run_command, run_python

MARK = f"left-{os.getpid()}"
"""The name that a job gives its processes, so that they can be looked for from outside."""

# Python text that prints OPEN when `attempt` gets through and its error's name when it does not.
TRY = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def attempt(action):
    try:
        action()
    except (OSError, ImportError, ValueError) as error:
        print(type(error).__name__)
    else:
        print("OPEN")
def call(name, *arguments):
    def action():
        if getattr(libc, name)(*arguments) < 0:
            raise OSError(ctypes.get_errno(), name)
    attempt(action)
"""


def tried(run, code: str) -> list[str]:
    """What each attempt of `code` came to."""
    result = run(run_python(TRY + code))
    assert (result.error, result.value["exit_code"]) == ("", 0), result.value["stderr"]
    return result.value["stdout"].split()


def test_every_wall_stands_on_this_machine(sandbox: Sandbox) -> None:
    assert sandbox.walls().missing == (), "\n".join(sandbox.walls().lines())


def test_no_environment_variable_is_seen(attack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHET_SECRET", "hunter2")
    code = "import os, ctypes\nprint(dict(os.environ), ctypes.CDLL(None).getenv(b'WHET_SECRET'))"
    assert attack(run_python(code)).value["stdout"] == "{} 0\n"


def test_a_command_sees_no_variable_of_the_host(attack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHET_SECRET", "hunter2")
    names = {line.partition("=")[0] for line in attack(run_command(["env"])).value["stdout"].splitlines()}
    assert names - {"PWD"} == {"PATH", "HOME", "LANG", "TMPDIR", "PYTHONHASHSEED"}


@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK", "AF_PACKET", "AF_VSOCK"])
def test_no_socket_is_opened(attack, family: str) -> None:
    assert tried(attack, f"import socket\nattempt(lambda: socket.socket(socket.{family}, socket.SOCK_DGRAM))") == [
        "PermissionError"
    ]


def test_a_service_of_the_host_is_not_reached_by_a_command(attack) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        result = attack(run_command(["bash", "-c", f"echo hello > /dev/tcp/127.0.0.1/{port}"]))
    assert result.value["exit_code"] != 0


def test_the_project_is_not_seen(attack) -> None:
    here = Path(__file__).resolve()
    paths = [str(here), str(here.parents[2] / "pyproject.toml"), str(here.parents[2] / "whet"), "/etc/passwd", "/home"]
    assert set(tried(attack, f"for path in {paths!r}: attempt(lambda: os.stat(path))")) == {"FileNotFoundError"}


def test_whet_cannot_be_imported(attack) -> None:
    assert tried(attack, "attempt(lambda: __import__('whet.types'))") == ["ModuleNotFoundError"]


def test_another_plays_file_is_not_seen(tried_in: Sandbox, attack) -> None:
    holder = run_python("import time; open('/box/tmp/answer', 'w').write('42'); time.sleep(0.6)", files={"truth": "42"})
    thief = run_python(
        "import os, time\ntime.sleep(0.3)\n"
        "print([name for folder, _, names in os.walk('/box') for name in names], os.path.exists('/box/tmp/answer'))"
    )

    async def both():
        return await asyncio.gather(tried_in.run(holder.payload), tried_in.run(thief.payload))

    _, seen = asyncio.run(both())
    assert seen.value["stdout"] == "[] False\n"


def test_nothing_of_a_job_is_left_for_the_next(attack) -> None:
    attack(
        run_python("import builtins, sys, json\nbuiltins.print = None\njson.dumps = None\nopen('/box/tmp/left', 'w')")
    )
    assert attack(run_python("import os, json; print(json.dumps(os.listdir('/box/tmp')))")).value["stdout"] == "[]\n"


def test_memory_of_another_job_is_not_inherited(attack) -> None:
    attack(run_python("secret = 'attack at dawn ' * 3", stdin="rosebud" * 50))
    code = (
        "import gc\ngc.unfreeze()\nneedle = 'dubesor'[::-1]\n"
        "texts = [t for one in gc.get_objects() for t in gc.get_referents(one) if type(t) in (str, bytes)]\n"
        "print(len(texts) > 1000, sum((needle * 9 if type(t) is str else needle.encode() * 9) in t for t in texts))"
    )
    assert attack(run_python(code)).value["stdout"] == "True 0\n"


def test_neither_a_neighbour_nor_the_parent_can_be_signalled(tried_in: Sandbox, attack) -> None:
    targets = [os.getpid(), tried_in.parent, os.getppid()]
    outcomes = tried(
        attack, f"for pid in {targets!r}: attempt(lambda: os.kill(pid, 0))\nattempt(lambda: os.kill(-1, 0))"
    )
    assert set(outcomes) == {"ProcessLookupError"}


def test_killing_everything_in_reach_harms_only_itself(tried_in: Sandbox, attack) -> None:
    parent = tried_in.parent
    attack(run_python("import os, signal\nos.fork()\nos.kill(-1, signal.SIGKILL)\nos.kill(0, signal.SIGKILL)"))
    assert tried_in.parent == parent


def test_no_process_is_left_behind(attack) -> None:
    code = (
        f"import ctypes, os, time\nctypes.CDLL(None).prctl(15, b{MARK!r})\n"
        "for _ in range(3):\n"
        "    if os.fork() == 0:\n        os.setsid()\n"
        "        if os.fork() == 0:\n            time.sleep(300)\n        os._exit(0)\n"
        "time.sleep(0.1)"
    )
    result = attack(run_python(code))
    assert result.error == ""
    assert marked() == []


def test_a_fork_bomb_is_bounded_and_cleared_away(attack) -> None:
    code = (
        f"import ctypes, os\nctypes.CDLL(None).prctl(15, b{MARK!r})\nmade = 0\n"
        "try:\n"
        "    while True:\n"
        "        if os.fork() == 0:\n"
        "            while True: os.fork()\n"
        "        made += 1\n"
        "except BlockingIOError: print(made, flush=True)\n"
        "while True: pass"
    )
    result = attack(run_python(code, limits=Limits(wall=1.0, processes=12)))
    assert result.error == "deadline"
    assert int(result.value["stdout"].split()[0]) < 12
    assert marked() == []


def test_a_shell_fork_bomb_is_bounded(attack) -> None:
    result = attack(run_command(["bash", "-c", ":(){ :|:& };:; sleep 100"], limits=Limits(wall=1.0)))
    assert result.error == "deadline"


def test_a_gigabyte_of_output_is_cut_off(attack) -> None:
    result = attack(run_python("import sys\nfor _ in range(1000): sys.stdout.write('x' * 1_000_000)"))
    assert (result.error, result.value["truncated"], len(result.value["stdout"])) == ("output", True, 200_000)


def test_a_little_too_much_output_is_only_cut(attack) -> None:
    result = attack(run_python("print('x' * 300_000)\nimport sys; sys.exit(3)"))
    assert (result.error, result.value["exit_code"], result.value["truncated"]) == ("", 3, True)


def test_nothing_is_written_outside_its_folder(attack) -> None:
    places = ["/x", "/usr/x", "/usr/bin/x", "/etc/x", "/dev/x", "/usr/lib/x", str(Path(os.__file__).with_name("x.py"))]
    outcomes = tried(attack, f"for path in {places!r}: attempt(lambda: open(path, 'w'))")
    assert set(outcomes) <= {"OSError", "PermissionError"}


def test_the_disk_is_limited(attack) -> None:
    code = (
        "try:\n    for n in range(100): open(f'/box/tmp/{n}', 'wb').write(bytes(1 << 20))\n"
        "except OSError as error: print(error.strerror)"
    )
    assert attack(run_python(code, limits=Limits(disk=8 * MIB))).value["stdout"] == "No space left on device\n"


def test_a_file_is_limited(attack) -> None:
    code = "try:\n    open('big', 'wb').write(bytes(4 << 20))\nexcept OSError as error: print(error.strerror)"
    assert attack(run_python(code, limits=Limits(file_size=MIB))).value["stdout"] == "File too large\n"


def test_a_planted_module_reaches_no_other_job(attack) -> None:
    planted = {"json.py": "raise SystemExit(9)", "sitecustomize.py": "raise SystemExit(9)", "abc.py": "1/0"}
    first = attack(run_python("import json, abc\nprint(json.dumps(1))", files=planted))
    second = attack(run_python("import json, abc\nprint(json.dumps(1))"))
    assert (first.value["stdout"], second.value["stdout"]) == ("1\n", "1\n")


def test_a_symlink_is_not_followed_when_files_are_collected(attack) -> None:
    code = (
        "import os\nos.symlink('/etc/alternatives', 'folder')\nos.symlink('/usr/bin/env', 'link')\n"
        "os.mkdir('plain'); os.symlink('../plain', 'again'); open('plain/file', 'w').write('mine')"
    )
    wanted = ["link", "folder/awk", "again/file", "plain/file", "plain", "missing"]
    assert attack(run_python(code, collect=wanted)).value["files"] == {"plain/file": "mine"}


def test_a_link_cannot_be_made_to_what_is_outside(attack) -> None:
    assert tried(attack, "attempt(lambda: os.link('/usr/bin/env', 'hard'))") != ["OPEN"]


def test_no_device_can_be_made_or_opened(attack) -> None:
    code = (
        "attempt(lambda: os.mknod('disk', 0o60600, os.makedev(8, 0)))\n"
        "for name in ('sda', 'vda', 'mem', 'kmsg', 'tty', 'ptmx', 'fuse', 'kvm'): attempt(lambda: open('/dev/' + name))"
    )
    assert set(tried(attack, code)) <= {"PermissionError", "FileNotFoundError"}


def test_python_code_cannot_start_a_program(attack) -> None:
    code = (
        "import subprocess\nattempt(lambda: subprocess.run(['/bin/sh', '-c', 'true'], check=True))\n"
        "attempt(lambda: os.execv('/bin/sh', ['sh', '-c', 'exit 0']))"
    )
    assert tried(attack, code) == ["PermissionError", "PermissionError"]


def test_a_command_gains_no_privilege_from_a_setuid_program(attack) -> None:
    script = (
        "for p in /usr/bin/su /bin/mount /usr/bin/passwd; do test -u $p && $p --version >/dev/null 2>&1; done; id -u"
    )
    assert int(attack(run_command(["sh", "-c", script])).value["stdout"].split()[-1]) > 0


def test_ptrace_and_the_memory_of_others_are_refused(attack) -> None:
    code = "call('ptrace', 0, 0, 0, 0)\ncall('ptrace', 16, 1, 0, 0)\ncall('process_vm_readv', 1, None, 0, None, 0, 0)"
    assert set(tried(attack, code)) == {"PermissionError"}


def test_there_is_no_proc_and_none_can_be_mounted(attack) -> None:
    code = (
        "attempt(lambda: os.listdir('/proc'))\nattempt(lambda: os.listdir('/sys'))\nos.mkdir('p')\n"
        "call('mount', b'proc', b'p', b'proc', 0, None)\ncall('mount', b'/', b'p', None, 4096, None)\n"
        "call('umount2', b'/box', 2)"
    )
    assert tried(attack, code) == ["FileNotFoundError"] * 2 + ["PermissionError"] * 3


def test_there_is_no_way_out_through_chroot_or_a_namespace(attack) -> None:
    code = (
        "attempt(lambda: os.chroot('/tmp'))\ncall('unshare', 0x10000000)\ncall('unshare', 0x00020000)\n"
        "call('setns', 0, 0)\ncall('clone', None, None, 0x10000000 | 17, None)\n"
        "call('pivot_root' if hasattr(libc, 'pivot_root') else 'chroot', b'/tmp', b'/tmp')"
    )
    assert "OPEN" not in tried(attack, code)


def test_it_cannot_arrange_to_outlive_its_supervisor(attack) -> None:
    assert tried(attack, "call('prctl', 1, 0, 0, 0, 0)") == ["PermissionError"]


def test_leaving_by_dots_ends_at_the_same_root(attack) -> None:
    code = "import os\nfor _ in range(50): os.chdir('..')\nprint(sorted(os.listdir('.')) == sorted(os.listdir('/')))"
    assert attack(run_python(code)).value["stdout"] == "True\n"


def test_no_limit_can_be_raised(attack) -> None:
    code = (
        "import resource\n"
        "for name in ('RLIMIT_NPROC', 'RLIMIT_NOFILE', 'RLIMIT_FSIZE', 'RLIMIT_DATA', 'RLIMIT_CPU', 'RLIMIT_CORE'):\n"
        "    number = getattr(resource, name)\n"
        "    attempt(lambda: resource.setrlimit(number, (1 << 40, 1 << 40)))\n"
    )
    assert set(tried(attack, code)) == {"ValueError"}


def test_no_other_user_can_be_become(attack) -> None:
    code = "for uid in (0, 1, 1000): attempt(lambda: os.setuid(uid))\nattempt(lambda: os.setgroups([0]))"
    assert set(tried(attack, code)) <= {"PermissionError", "OSError"}


def test_kernel_doors_are_closed(attack) -> None:
    numbers = {"bpf": 321, "io_uring": 425, "keyctl": 250, "userfaultfd": 323, "perf": 298, "memfd": 319}
    code = f"for number in {list(numbers.values())!r}: call('syscall', number, 0, 0, 0)"
    assert set(tried(attack, code)) == {"PermissionError"}


def test_no_descriptor_of_the_supervisor_is_open(attack) -> None:
    code = "import os\nfor fd in range(3, 200):\n    try: os.fstat(fd); print(fd)\n    except OSError: pass"
    assert attack(run_python(code)).value["stdout"] == ""


def test_a_busy_loop_ends_at_the_cpu_limit(attack) -> None:
    result = attack(run_python("while True: pass", limits=Limits(wall=20.0, cpu=1.0)))
    assert (result.error, "CPU" in result.detail) == ("deadline", True)


def test_ignoring_signals_does_not_outlast_the_deadline(attack) -> None:
    code = (
        "import signal, time\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n"
        "    except (OSError, ValueError): pass\nprint('here', flush=True)\ntime.sleep(60)"
    )
    result = attack(run_python(code, limits=Limits(wall=0.5)))
    assert (result.error, result.value["stdout"]) == ("deadline", "here\n")


def test_stopping_itself_does_not_hold_the_sandbox_up(attack) -> None:
    code = "import os, signal\nif os.fork():\n    os.wait()\nelse:\n    os.kill(os.getpid(), signal.SIGSTOP)"
    assert attack(run_python(code, limits=Limits(wall=0.5))).error == "deadline"


def test_closing_its_streams_is_no_escape(attack) -> None:
    result = attack(
        run_python("import os, time\nos.close(0); os.close(1); os.close(2)\ntime.sleep(60)", limits=Limits(wall=0.5))
    )
    assert result.error == "deadline"


def marked() -> list[str]:
    """Processes on this machine that bear the mark; the kernel may need a moment to bury the last."""
    for _ in range(50):
        left = [str(name.parent) for name in Path("/proc").glob("[0-9]*/comm") if name_of(name) == MARK]
        if not left:
            break
        time.sleep(0.02)
    return left


def name_of(file: Path) -> str:
    try:
        return file.read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""
