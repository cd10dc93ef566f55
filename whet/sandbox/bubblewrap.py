"""Bubblewrap as the way to namespaces, for machines where only its own, privileged program may make them.

The warm parent's children cannot be put behind walls after the fact here, so each job starts a cold Python: slower,
with the same view, filter and limits.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whet.sandbox import view

# Runs inside, before the job: hard limits first, then the program. Knows nothing of ours.
_LAUNCH = """
import ctypes, json, os, resource, sys
limits, argv = json.loads(sys.argv[1]), sys.argv[2:]
for name, value in limits.items():
    number = getattr(resource, name)
    hard = resource.getrlimit(number)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(number, (value, value + (name == "RLIMIT_CPU")))
if argv:
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\\n".encode())
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)
class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("lines", ctypes.c_char_p)]
lines, prctl = open("/job/filter", "rb").read(), ctypes.CDLL(None).prctl
if prctl(38, 1, 0, 0, 0) or prctl(22, 2, ctypes.byref(Filter(len(lines) // 8, lines)), 0, 0):
    os._exit(70)
del Filter, lines, prctl
os.environ.clear()
sys.argv[:] = ["main.py"]
sys.path.insert(0, os.getcwd())
exec(compile(open("/job/main.py").read(), "main.py", "exec"), {"__name__": "__main__", "__builtins__": __builtins__})
"""


def find() -> str | None:
    """Where bubblewrap is, if it is installed: looked up by whoever opens a sandbox, on the user's own PATH."""
    found = shutil.which("bwrap")
    return os.path.abspath(found) if found else None  # noqa: PTH100 - a link must stay the link that was named


@functools.lru_cache
def knows_sizes(program: str) -> bool:
    """Whether it can limit a filesystem in memory (0.8 and later can); asked once, by the warm parent."""
    try:
        told = subprocess.run([program, "--help"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return "--size" in told.stdout + told.stderr


def arguments(
    program: str, folder: str, job_folder: str, limits: Mapping[str, int], argv: list[str], disk: int, filter_file: int
) -> list[str]:
    """The whole command line: bubblewrap, walls from the outside in, then the launcher and the job."""
    shown = view.sources()
    words = [program, "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    words += ["--unshare-user-try", "--hostname", "sandbox", "--clearenv", "--seccomp", str(filter_file)]
    for path in shown:
        words += (
            ["--symlink", str(Path(path).readlink()), path] if Path(path).is_symlink() else ["--ro-bind", path, path]
        )
    for path in view.package_folders(shown):
        words += ["--tmpfs", path]
    for path in view.libraries():
        words += ["--ro-bind", path, path]
    for path in view.package_folders(shown):
        words += ["--remount-ro", path]
    for name in view.DEVICES:
        words += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    if sys.prefix != sys.base_prefix:
        words += ["--ro-bind", f"{sys.prefix}/pyvenv.cfg", f"{sys.prefix}/pyvenv.cfg"]
        words += ["--symlink", os.path.realpath(sys.executable), interpreter()]
    words += ["--size", str(disk)] if knows_sizes(program) else []
    words += ["--tmpfs", view.BOX, "--dir", view.SCRATCH, "--bind", folder, view.PLAY, "--chdir", view.PLAY]
    words += ["--ro-bind", job_folder, "/job", "--ro-bind", f"{job_folder}/zeros", "/dev/zero"]
    if not any(word.startswith("/tmp/") for word in words[: words.index(view.BOX)]):
        words += ["--symlink", view.SCRATCH, "/tmp"]
    words += ["--symlink", view.SCRATCH, "/dev/shm"]
    words += ["--remount-ro", "/"]
    for name, value in view.surroundings(view.PLAY).items():
        words += ["--setenv", name, value]
    return [*words, "--", *launch_words(limits, argv)]


def interpreter() -> str:
    """Where Python is inside: in a virtual environment, the link that makes it one."""
    return f"{sys.prefix}/bin/python" if sys.prefix != sys.base_prefix else sys.executable


def launch_words(limits: Mapping[str, int], argv: list[str]) -> list[str]:
    """What runs first inside: sets the hard limits, then becomes the command, or runs the code of the job."""
    return [interpreter(), "-s", "-P", "-B", "-c", _LAUNCH, json.dumps(limits), *argv]


def lay_aside(job: Mapping[str, Any], folder: str, filters: Mapping[str, bytes]) -> Path:
    """A folder beside the job's own with what the launcher reads: the code, the filter; and a file of zeros."""
    aside = Path(folder).parent / "job"
    aside.mkdir()
    (aside / "main.py").write_text(job.get("python", ""), encoding="utf-8")
    (aside / "filter").write_bytes(filters["python"])
    with (aside / "zeros").open("wb") as zeros:
        zeros.truncate(view.ZEROS)
    return aside


def become(
    program: str, job: Mapping[str, Any], folder: str, limits: Mapping[str, int], filters: Mapping[str, bytes]
) -> None:
    """Replaces this process by bubblewrap and the job behind it. Comes back only by an error."""
    aside = lay_aside(job, folder, filters)
    read, write = os.pipe()
    os.write(write, filters["command"])
    os.close(write)
    os.set_inheritable(read, True)
    words = arguments(program, folder, str(aside), limits, job.get("argv", []), int(job["limits"]["disk"]), read)
    os.execve(words[0], words, {})
