"""The warm parent: loads the libraries once, moves into the view, and forks a supervisor for each job.

It has one thread and one socket. A job comes as an open channel of its own; the parent never reads from it, so nothing
of one job is in its memory when it forks the next.
"""

from __future__ import annotations

import array
import atexit
import contextlib
import gc
import importlib
import json
import os
import select
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from whet.sandbox import bubblewrap, inside, kernel, seccomp, view
from whet.sandbox.host import HostFacts
from whet.sandbox.supervisor import become_nobody_else, supervise

_SLOTS = 256
"""Uids set aside for one parent: each job under way has its own, so that no limit is shared."""


_BETWEEN_BURIALS = 0.2
"""Seconds after which supervisors that are done are buried, should no new job come first."""


def preload(names: Sequence[str]) -> list[str]:
    """Imports what can be imported; the names of what cannot are returned, and are not in the sandbox."""
    missing = []
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError:
            missing.append(name)
    return missing


def enter(mode: str, root: str, program: str, groups: str) -> HostFacts:
    """Moves this process behind the first walls, as far as `mode` says; `program` and `groups` may be ''."""
    home = os.open(groups, os.O_RDONLY | os.O_DIRECTORY) if groups else None
    proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    first_uid = _first_uid() if os.getuid() == 0 and mode in ("root", "weak") else None
    filters = {"python": seccomp.program(allow_exec=False), "command": seccomp.program(allow_exec=True)}
    if mode == "root":
        kernel.unshare(kernel.NEWNS)
    elif mode == "user":
        become_nobody_else(proc, kernel.NEWNS)
    elif mode == "bubblewrap":
        bubblewrap.knows_sizes(program)
    if mode in ("root", "user"):
        kernel.bound_capabilities()
        kernel.mount("none", "/", None, kernel.REC | kernel.PRIVATE)
        view.build(root)
        importlib.invalidate_caches()
        sys.path_importer_cache.clear()
    data_in_use = int(status["VmData"].split()[0]) * 1024
    ours = [name for name in sys.modules if name.partition(".")[0] == "whet"]
    return HostFacts(mode, first_uid, program, root, proc, home, data_in_use, filters, ours)


def _first_uid() -> int:
    """The first of a range of uids that nobody else has, where this machine's uids reach so far."""
    reach = max(
        int(line.split()[0]) + int(line.split()[2]) for line in Path("/proc/self/uid_map").read_text().splitlines()
    )
    high = (1 << 30) + os.getpid() * _SLOTS
    return high if high + _SLOTS < reach else 60_000 + os.getpid() % 16 * _SLOTS


def serve(control: socket.socket, host: HostFacts) -> None:
    """Forks a supervisor for each channel that comes in, until the other side is gone."""
    under_way = 0
    while True:
        waiting, _, _ = select.select([control], [], [], _BETWEEN_BURIALS if under_way else None)
        if waiting:
            message, channel = _next_channel(control)
            if channel is None:
                return
            if os.fork() == 0:
                control.close()
                supervise(channel, message[0], host)
            channel.close()
            under_way += 1
        while under_way and os.waitpid(-1, os.WNOHANG)[0]:
            under_way -= 1


def _next_channel(control: socket.socket) -> tuple[bytes, socket.socket | None]:
    message, ancillary, _, _ = control.recvmsg(1, socket.CMSG_SPACE(4))
    for _, _, data in ancillary:
        numbers = array.array("i", data)
        return message, socket.socket(fileno=numbers[0])
    return message, None


def main(settings: Mapping[str, Any]) -> None:
    """Started by `whet.sandbox.local` with the number of an open socket to it."""
    control = socket.socket(fileno=int(settings["control"]))
    try:
        missing = preload(settings["preload"])
        host = enter(*(settings[name] for name in ("mode", "root", "program", "groups")))
    except (OSError, KeyError) as error:
        control.sendall(json.dumps({"error": f"{error}"}).encode())
        return
    control.sendall(json.dumps({"missing": missing}).encode())
    os.environ.clear()
    inside.open_streams()
    gc.collect()
    gc.freeze()
    atexit._clear()
    with contextlib.suppress(ConnectionError):
        serve(control, host)
