"""One job from beginning to end: raises the walls, starts the code behind them, watches it, ends it, says what it did.

A supervisor is forked from the warm parent for each job and is the only process beside the code itself that ever sees
the job. It is outside the walls and trusts nothing that comes out of them.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import struct
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from whet.sandbox import bubblewrap, gvisor, inside, kernel, view
from whet.sandbox.cgroup import JobGroup
from whet.sandbox.host import HostFacts
from whet.sandbox.memory import MOST_SECONDS, JobMemory
from whet.sandbox.watch import JobWatch
from whet.sandbox.workspace import collect, furnish, remove

_HEADER = struct.Struct("!Q")

_WRAPPERS = {"bubblewrap": bubblewrap.become, "gvisor": gvisor.become}
"""Programs that raise the walls in our place, by mode."""


def supervise(channel: socket.socket, slot: int, host: HostFacts) -> NoReturn:
    """Reads a job from `channel`, runs it, and writes what came of it; then this process ends."""
    try:
        kernel.die_with_parent()
        channel.settimeout(60)
        job = json.loads(receive(channel))
        answer = perform(job, None if host.first_uid is None else host.first_uid + slot, host, channel)
    except OSError as error:
        answer = {"fault": f"{type(error).__name__}: {error}"}
    try:
        files = answer.pop("files", {})
        told = {**answer, "sizes": {name: len(data) for name, data in files.items()}}
        send(channel, json.dumps(told).encode())
        for data in files.values():  # as they are: as JSON, they could be six times as long
            channel.sendall(data)
    finally:
        os._exit(0)


def receive(channel: socket.socket) -> bytes:
    (size,) = _HEADER.unpack(_exactly(channel, _HEADER.size))
    return _exactly(channel, size)


def send(channel: socket.socket, body: bytes) -> None:
    channel.sendall(_HEADER.pack(len(body)) + body)


def _exactly(channel: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = channel.recv(min(size - len(parts), 1 << 20))
        if not part:
            raise ConnectionError("the other side is gone")
        parts += part
    return bytes(parts)


def perform(job: Mapping[str, Any], uid: int | None, host: HostFacts, channel: socket.socket) -> dict[str, Any]:
    folder = _walls(job["limits"], uid, host)
    furnish(folder, job["files"], uid)
    group = JobGroup(host.groups, f"job-{os.getpid()}", job["limits"]) if host.groups is not None else None
    ours, theirs = _streams()
    ready, tell_ready = os.pipe()
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        _become(job, uid, host, folder, group, (*theirs, tell_ready))
    for stream in (*theirs, tell_ready):
        os.close(stream)
    watch = JobWatch(job["limits"], job["stdin"].encode(), *ours)
    box, behind = "" if host.mode in ("weak", "gvisor") else view.BOX, host.mode == "bubblewrap"
    memory = JobMemory(host.proc, child, box, job["limits"]["memory"], behind=behind)
    _attend(child, watch, memory, channel, began)
    status, cpu = _end(child, host)
    if group is not None:
        watch.weigh_by_kernel(group.overrun())
        group.end()
    watch.drain()
    if not os.read(ready, 1):
        raise OSError(f"a job was not brought behind its walls in time: {watch.text(1) or 'the machine is too busy'}")
    seconds = time.monotonic() - began
    code = _exit_code(status, host.mode)
    error, detail = watch.verdict(code, cpu)
    value = {
        "exit_code": code,
        "stdout": watch.text(0),
        "stderr": watch.text(1),
        "truncated": watch.truncated,
        "seconds": round(seconds, 4),
    }
    files = collect(folder, job["collect"], int(job["limits"]["file_size"]), int(job["limits"]["disk"]))
    if folder != view.PLAY:
        remove(str(Path(folder).parent))
    return {"value": value, "error": error, "detail": detail, "files": files}


def _walls(limits: Mapping[str, float], uid: int | None, host: HostFacts) -> str:
    """Own namespaces, and a private empty folder on a filesystem of limited size. Children are born inside."""
    if host.mode not in ("root", "user"):
        kernel.adopt_orphans()
        folder = Path(tempfile.mkdtemp(dir=host.scratch), "play")
        folder.mkdir(mode=0o700)
        folder.parent.chmod(0o711)
        if uid is not None:
            os.chown(folder, uid, uid)
        return str(folder)
    flags = kernel.NEWNS | kernel.NEWPID | kernel.NEWNET | kernel.NEWIPC | kernel.NEWUTS
    if host.mode == "user":
        become_nobody_else(host.proc, flags)
    else:
        kernel.unshare(flags)
    owner = os.getuid() if uid is None else uid
    options = (
        f"size={int(limits['disk'])},nr_inodes=4096,mode=700,uid={owner},gid={os.getgid() if uid is None else uid}"
    )
    kernel.mount("play", view.BOX, "tmpfs", kernel.NOSUID | kernel.NODEV, options)
    socket.sethostname("sandbox")
    for place in (view.PLAY, view.SCRATCH):
        os.mkdir(place, mode=0o700)  # noqa: PTH102 - a Path for each job costs more than the folder
        if uid is not None:
            os.chown(place, uid, uid)
    return view.PLAY


def become_nobody_else(proc: int, flags: int) -> None:
    """A new user namespace in which this user is the only one, with the namespaces of `flags` belonging to it."""
    uid, gid = os.getuid(), os.getgid()
    kernel.unshare(kernel.NEWUSER | flags)
    kernel.map_user(proc, uid, uid, gid)


def _streams() -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Pipes for the three standard streams: our ends, which never block, and the code's."""
    in_theirs, in_ours = os.pipe()
    out_ours, out_theirs = os.pipe()
    err_ours, err_theirs = os.pipe()
    ours = (in_ours, out_ours, err_ours)
    for end in ours:
        os.set_blocking(end, False)
    return ours, (in_theirs, out_theirs, err_theirs)


def _become(
    job: Mapping[str, Any],
    uid: int | None,
    host: HostFacts,
    folder: str,
    group: JobGroup | None,
    streams: tuple[int, int, int, int],
) -> NoReturn:
    """The forked child, which says when its walls stand. It never comes back to the supervisor's code."""
    try:
        if group is not None:
            group.enter()
        os.chdir(folder)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        if host.mode in _WRAPPERS:
            inside.ready()
            inside.restore_signals()
            kernel.die_with_parent()
            os.write(inside.TELL_READY, b"1")
            os.close(inside.TELL_READY)
            become = _WRAPPERS[host.mode]
            become(host.program, job, folder, inside.hard_limits(job["limits"], 0), host.filters)
        inside.run(job, uid, folder, host)
    except OSError as error:
        os.write(2, str(error).encode())
    except MemoryError:
        os.write(2, b"MemoryError\n")
        os._exit(1)
    finally:
        os._exit(70)


def _attend(child: int, watch: JobWatch, memory: JobMemory, channel: socket.socket, began: float) -> None:
    """Until the code ends by itself or has to be ended: moves its streams, looks at the clock and at its memory."""
    handle = os.pidfd_open(child)
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    poll.register(channel, select.POLLIN | select.POLLRDHUP)
    watch.register(poll)
    ends, looks = began + watch.limits["wall"], began + MOST_SECONDS
    while not watch.over:
        now = time.monotonic()
        if now >= ends:
            watch.stop("deadline", f"not done after {watch.limits['wall']:g} s")
            break
        if now >= looks:
            used = memory.used()
            watch.weigh(used)
            looks = time.monotonic() + memory.pause(used)
        for stream, _ in poll.poll(max(0.0, min(looks, ends) - now) * 1000 + 1):
            if stream == handle:
                os.close(handle)
                return
            if stream == channel.fileno():
                watch.stop("killed", "nobody waits for it any more")
            else:
                watch.move(stream, poll)
    os.close(handle)


def _end(child: int, host: HostFacts) -> tuple[int, float]:
    """Kills what is left. The code is process 1 of its namespace: with it, the kernel kills all that it started."""
    os.kill(child, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    if host.mode not in ("root", "user"):
        _end_orphans(host.proc)
    return status, usage.ru_utime + usage.ru_stime


def _exit_code(status: int, mode: str) -> int:
    """The code a program exited with, or minus the signal that ended it, which bubblewrap tells as a shell does."""
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if mode in _WRAPPERS and code > 128 else code


def _end_orphans(proc: int) -> None:
    """Without a namespace, what the code left behind has become ours: kill until nothing is left."""
    me = os.getpid()
    while True:
        try:
            with os.fdopen(os.open(f"{me}/task/{me}/children", os.O_RDONLY, dir_fd=proc)) as file:
                left = [int(pid) for pid in file.read().split()]
        except FileNotFoundError:
            left = []
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return
