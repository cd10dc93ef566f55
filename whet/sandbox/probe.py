"""Which walls stand, seen from inside: a job tries each door and tells what it found."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from whet.errors import WhetError
from whet.sandbox.base import Wall, Walls
from whet.types import WorkResult

PROBE = """
import ctypes, json, os, socket

def opens(action):
    try:
        action()
    except OSError:
        return False
    return True

libc = ctypes.CDLL(None, use_errno=True)
print(json.dumps({
    "pid": os.getpid(),
    "uid": os.getuid(),
    "hidden": not any(os.path.exists(path) for path in ("/proc/self", "/sys/kernel", "/home", "/var", "/etc/passwd")),
    "socket": opens(socket.socket),
    "hostname": socket.gethostname(),
    "writes": opens(lambda: open("/outside", "w")),
    "folder": os.listdir("."),
    "disk": os.statvfs(".").f_blocks * os.statvfs(".").f_frsize,
    "environment": len(os.environ),
    "shared": libc.mmap(None, 4096, 3, 0x21, -1, 0) != -1,
    "ptrace": libc.ptrace(0, 0, 0, 0) == 0,
    "no_new_privileges": libc.prctl(39, 0, 0, 0, 0) == 1,
    "filtered": libc.prctl(21, 0, 0, 0, 0) == 2,
}))
"""

_HOW = {
    "root": "a namespace of its own",
    "user": "a namespace of its own, through a user namespace",
    "bubblewrap": "a namespace of its own, through bubblewrap",
    "gvisor": "a kernel of its own, through gVisor",
    "weak": "no namespace",
}


def report(mode: str, grouped: bool, result: WorkResult) -> Walls:
    """The walls as the probe found them; `grouped`: each job has a control group."""
    try:
        seen = json.loads(result.value["stdout"])
    except ValueError:
        told = result.detail or result.value["stderr"].strip().rpartition("\n")[2] or "it printed nothing"
        raise WhetError(f"the sandbox does not run code ({mode}): {told}") from None
    return Walls(mode, (*_namespaces(mode, seen), *_process(mode, seen), _memory(grouped, seen)))


def _memory(grouped: bool, seen: Mapping[str, Any]) -> Wall:
    held = "a control group" if grouped else "a watch on all its processes"
    return Wall("memory", not seen["shared"], f"{held}; memory that outlives a process is refused")


def _namespaces(mode: str, seen: Mapping[str, Any]) -> list[Wall]:
    how, apart = _HOW[mode], mode != "weak"
    closed = "sockets are refused"
    hidden = seen["hidden"] and not seen["writes"]
    sight = (
        "sees system programs and libraries, read-only, and its own folder" if hidden else "sees what this user sees"
    )
    return [
        Wall("processes", apart and seen["pid"] < 10, how if apart else "others can be seen and signalled"),
        Wall("network", not seen["socket"], f"{how}, and {closed}" if apart else f"{closed}; {how}"),
        Wall("ipc", apart, how if apart else "shared memory is refused; no namespace"),
        Wall("files", hidden, sight),
        Wall("folder", not seen["folder"], "private and empty"),
    ]


def _process(mode: str, seen: Mapping[str, Any]) -> list[Wall]:
    if mode in ("user", "bubblewrap", "gvisor"):
        ordinary = os.getuid() != 0
        user = Wall("user", ordinary, f"{'this user' if ordinary else 'root'}, alone in a user namespace")
    else:
        other = seen["uid"] != os.getuid()
        user = Wall("user", other, f"uid {seen['uid']}, used by nothing else" if other else "this user")
    limited = mode in ("root", "user")
    return [
        user,
        Wall("privileges", seen["no_new_privileges"], "no capabilities, and no_new_privs"),
        Wall("system calls", seen["filtered"] and not seen["ptrace"], "a seccomp filter"),
        Wall("environment", seen["environment"] == 0 or mode in ("bubblewrap", "gvisor"), "nothing of the host's"),
        Wall("limits", True, "CPU, memory, processes, files, file size, output; all killed at the deadline"),
        Wall("disk", limited, "a filesystem of limited size" if limited else "each file is limited, their sum is not"),
    ]
