"""The last steps of a job's own process: limits, the dropped user, the filter; then the untrusted code."""

from __future__ import annotations

import atexit
import linecache
import math
import os
import resource
import signal
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

from whet.sandbox import kernel
from whet.sandbox.host import HostFacts
from whet.sandbox.view import surroundings

_MAIN = "main.py"

TELL_READY = 3
"""The descriptor on which a job's process says that its walls stand; closed before anything untrusted runs."""


_ADDRESSES = 8 << 30
"""Address space beyond the memory limit, for what programs reserve and never touch. It costs page tables alone."""

_QUEUED_SIGNALS = 1024


def hard_limits(limits: Mapping[str, float], data_in_use: int) -> dict[str, int]:
    """The limits of a process, by their names in `resource`."""
    return {
        "RLIMIT_AS": int(limits["memory"]) + data_in_use + _ADDRESSES,
        "RLIMIT_SIGPENDING": _QUEUED_SIGNALS,
        "RLIMIT_CPU": math.ceil(limits["cpu"]),
        "RLIMIT_DATA": int(limits["memory"]) + data_in_use,
        "RLIMIT_NPROC": int(limits["processes"]),
        "RLIMIT_NOFILE": int(limits["open_files"]),
        "RLIMIT_FSIZE": int(limits["file_size"]),
        "RLIMIT_CORE": 0,
        "RLIMIT_MEMLOCK": 0,
        "RLIMIT_MSGQUEUE": 0,
    }


def _limit(most: Mapping[str, int]) -> None:
    """Sets hard limits; none can be raised again without a privilege that the process does not have."""
    for name, value in most.items():
        number = getattr(resource, name)
        _, hard = resource.getrlimit(number)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(number, (value, value))


def drop(uid: int | None) -> None:
    """Another user where we may become one, then no privilege at all, now or by any program that is started."""
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    kernel.drop_capabilities()
    kernel.no_new_privileges()
    kernel.die_with_parent()
    kernel.small_pages()


def ready() -> None:
    """Closes what the supervisor had open, and leaves its session."""
    os.closerange(TELL_READY + 1, 65536)
    os.setsid()
    os.umask(0o022)


def run(job: Mapping[str, Any], uid: int | None, folder: str, host: HostFacts) -> None:
    """Never returns. Standard streams are in place, and behind them the one that tells that the walls stand."""
    python = "python" in job
    ready()
    _limit(hard_limits(job["limits"], host.data_in_use if python else 0))
    drop(uid)
    kernel.filter_calls(host.filters["python" if python else "command"])
    os.write(TELL_READY, b"1")
    os.close(TELL_READY)
    if python:
        _python(job["python"], folder, host.ours)
    else:
        restore_signals()
        _command(job["argv"], folder)


def restore_signals() -> None:
    """The signals that Python ignores, as a program expects them."""
    for name in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(name, signal.SIG_DFL)


def _command(argv: list[str], folder: str) -> None:
    try:
        os.execvpe(argv[0], argv, surroundings(folder))
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode())
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def open_streams() -> None:
    """Standard streams as a program on pipes has them. Made once, by the parent: a job puts its pipes under them."""
    read, write = os.pipe()
    for number, end in enumerate((read, write, write)):
        os.dup2(end, number)
    sys.stdin = open(0, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]
    os.close(read)
    os.close(write)


def _python(code: str, folder: str, ours: Sequence[str]) -> None:
    """Runs `code` as `python main.py` would, in this process, which has the libraries loaded."""
    sys.argv[:] = [_MAIN]
    sys.path.insert(0, folder)
    module = type(sys)("__main__")
    module.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = module
    for name in ours:
        del sys.modules[name]
    linecache.cache[_MAIN] = (len(code), None, code.splitlines(keepends=True), _MAIN)
    os._exit(_status(code, module.__dict__))


def _status(code: str, names: dict[str, Any]) -> int:
    status = 0
    try:
        exec(compile(code, _MAIN, "exec", dont_inherit=True), names)
    except SystemExit as end:
        status = _exit_status(end.code)
    except BaseException as error:  # noqa: BLE001 - it is the untrusted program's own, and is told on its stderr
        status = 1
        trace = error.__traceback__.tb_next if error.__traceback__ else None
        traceback.print_exception(type(error), error, trace)
    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001 - likewise: a stream it closed, a hook that raises
        status = status or 1
    return status


def _exit_status(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    sys.stderr.write(f"{code}\n")
    return 1
