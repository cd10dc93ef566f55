"""The first process of an agent behind walls: raises them, hands the agent's only way out to the host, starts it.

Started by `whet.models.agent.walls` as a program of its own, with nothing of the host's environment. It becomes process
1 of a new pid namespace, so that all which the agent ever starts dies with it.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import socket
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from whet.sandbox import kernel, seccomp, view

AGENT = 1000
"""The user that an agent is in its own eyes."""

PORT = "{whet_port}"
"""Stands in words and variables for the port of the way out, which is known only here."""

_SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime"),
    *("/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates", "/etc/pki/tls/certs", "/etc/mime.types"),
)
_DEVICES = ("null", "zero", "full", "random", "urandom")
_NAMESPACES = kernel.NEWNS | kernel.NEWPID | kernel.NEWNET | kernel.NEWIPC | kernel.NEWUTS


def main(number: str) -> NoReturn:
    """Never returns: ends as the agent ends, or says on the control socket why no agent could be started."""
    control = socket.socket(fileno=int(number))
    settings = json.loads(control.recv(1 << 20))
    proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
    try:
        privileged = _own_namespaces(proc)
        kernel.die_with_parent()  # a host that was killed kills nobody any more
        first = os.fork()
    except OSError as error:
        _refuse(control, error)
    if first:
        control.close()
        os._exit(_status(os.waitpid(first, 0)[1]))
    try:
        kernel.die_with_parent()
        listener = _way_out()
        _build(settings)
        _become_agent(proc, settings["uid"] if privileged else None)
        port = listener.getsockname()[1]
        socket.send_fds(control, [b'{"ready": true}'], [listener.fileno()])
        os.closerange(3, 65536)
    except OSError as error:
        _refuse(control, error)
    _serve(settings, port)


def _refuse(control: socket.socket, error: OSError) -> NoReturn:
    control.sendall(json.dumps({"error": str(error)}).encode())
    os._exit(70)


def _own_namespaces(proc: int) -> bool:
    """Whether they were made by privilege, and not through a user namespace."""
    uid, gid = os.getuid(), os.getgid()
    if uid == 0:
        with contextlib.suppress(PermissionError):
            kernel.unshare(_NAMESPACES)
            return True
    kernel.unshare(kernel.NEWUSER | _NAMESPACES)
    kernel.map_user(proc, AGENT, uid, gid)
    return False


def _way_out() -> socket.socket:
    """A listening socket on the loopback of the empty network: whoever holds it is all that the agent can reach."""
    listener = socket.socket()
    flags_up = struct.pack("16sH14x", b"lo", 0x1)
    set_flags = 0x8914
    fcntl.ioctl(listener.fileno(), set_flags, flags_up)
    listener.bind(("127.0.0.1", 0))
    listener.listen(64)
    return listener


def _build(settings: Mapping[str, Any]) -> None:
    """The files that the agent sees: system programs, its own program, its own folder; a /proc of its namespace."""
    root = settings["scratch"]
    socket.sethostname("agent")
    kernel.bound_capabilities()
    kernel.mount("none", "/", None, kernel.REC | kernel.PRIVATE)
    kernel.mount("view", root, "tmpfs", kernel.NOSUID, "mode=755,size=16m")
    for name in ("tmp", "dev/shm", "proc", "etc", "dev/pts"):
        Path(root, name).mkdir(parents=True)
    for name in ("tmp", "dev/shm"):
        kernel.mount("tmp", f"{root}/{name}", "tmpfs", kernel.NOSUID | kernel.NODEV, "mode=1777,size=1g")
    for path in (*_SYSTEM, *sorted(settings["shown"])):  # a folder before what lies in it
        _show(root, path)
    for name in _DEVICES:
        view.show(root, f"/dev/{name}", kernel.NOSUID | kernel.NOEXEC)
    view.show(root, settings["root"], kernel.NOSUID | kernel.NODEV)
    with contextlib.suppress(OSError):  # a host that lets nobody mount these: the agent does without
        kernel.mount("proc", f"{root}/proc", "proc", kernel.NOSUID | kernel.NODEV | kernel.NOEXEC)
    with contextlib.suppress(OSError):
        kernel.mount("pts", f"{root}/dev/pts", "devpts", kernel.NOSUID | kernel.NOEXEC, "newinstance,ptmxmode=0666")
        Path(root, "dev/ptmx").symlink_to("pts/ptmx")
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        Path(root, "dev", name).symlink_to(f"/proc/self/fd{target}")
    for name, text in _accounts(settings["home"]).items():
        Path(root, "etc", name).write_text(text)
    kernel.pivot_root(root)
    kernel.mount("none", "/", None, kernel.REMOUNT | kernel.BIND | kernel.RDONLY | kernel.NOSUID | kernel.NODEV)
    os.chdir(settings["cwd"])


def _show(root: str, path: str) -> None:
    place = Path(path)
    if not os.path.lexists(place) or os.path.lexists(root + path):
        return
    if place.is_symlink():
        view.make_parents(root, path)
        Path(root + path).symlink_to(place.readlink())
    elif place.exists():
        view.show(root, path)


def _accounts(home: str) -> dict[str, str]:
    return {
        "passwd": f"root:x:0:0:root:/:/usr/sbin/nologin\nagent:x:{AGENT}:{AGENT}:agent:{home}:/bin/sh\n",
        "group": f"root:x:0:\nagent:x:{AGENT}:\n",
        "hosts": "127.0.0.1 localhost agent\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
        "resolv.conf": "",
    }


def _become_agent(proc: int, uid: int | None) -> None:
    """A user that nothing else on the host is, without privileges, behind the filter; to itself always the same."""
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        kernel.show_own_proc()
        with contextlib.suppress(PermissionError):  # a host that gives ordinary users none: it keeps its own number
            kernel.unshare(kernel.NEWUSER)
            kernel.map_user(proc, AGENT, uid, uid)
    kernel.drop_capabilities()
    kernel.no_new_privileges()
    kernel.die_with_parent()
    kernel.filter_calls(seccomp.agent_program())


def _serve(settings: Mapping[str, Any], port: int) -> NoReturn:
    """Process 1: starts the agent, buries what it leaves, and ends with it; then the kernel ends the rest."""
    words = [word.replace(PORT, str(port)) for word in settings["words"]]
    variables = {name: value.replace(PORT, str(port)) for name, value in settings["env"].items()}
    agent = os.fork()
    if agent == 0:
        os.setsid()
        for name in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
            signal.signal(name, signal.SIG_DFL)
        try:
            os.execvpe(words[0], words, variables)
        except OSError as error:
            os.write(2, f"{words[0]}: {error.strerror}\n".encode())
        os._exit(127)
    while True:
        ended, status = os.wait()
        if ended == agent:
            os._exit(_status(status))


def _status(status: int) -> int:
    """As a shell tells it: the exit code, or 128 and the number of the signal."""
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code
