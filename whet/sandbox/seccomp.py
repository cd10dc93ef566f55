"""A seccomp filter, assembled by hand: the calls that computing never needs and that attacks on a kernel are made of.

Refused calls fail with EPERM, so that code sees an ordinary error. Calls newer than this list fail with ENOSYS, and so
does `clone3`, whose flags a filter cannot see (the C library then uses `clone`, whose flags it can). Calls that give a
process memory which no limit of it counts are refused too: without a control group nothing else would hold them.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_X86, _ARM = 0, 1

_ARCHITECTURES = {"x86_64": (_X86, 0xC000003E), "aarch64": (_ARM, 0xC00000B7)}

_NEWEST = 450
"""`set_mempolicy_home_node`, of Linux 5.17. Later calls are unknown to programs of today."""

_CLONE3 = 435

# Each call with its number on x86_64 and on aarch64; -1 where a machine does not have it.
_NETWORK = """
socket 41 198, connect 42 203, bind 49 200, listen 50 201, accept 43 202, accept4 288 242, setsockopt 54 208
"""
_MEMORY = """
# memory that no limit of a process counts: held by a segment, a descriptor, a pipe, or a watch on somebody's file
memfd_create 319 279, memfd_secret 447 447, shmget 29 194, shmat 30 196, semget 64 190, msgget 68 186, mq_open 240 180
remap_file_pages 216 234, vmsplice 278 75, tee 276 77, inotify_init 253 -1, inotify_init1 294 26
inotify_add_watch 254 27
"""
_PROCESSES = """
ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, kcmp 312 272, pidfd_getfd 438 438
process_madvise 440 440, process_mrelease 448 448, migrate_pages 256 238, move_pages 279 239, mbind 237 235
set_mempolicy 238 237
"""
_KERNEL = """
unshare 272 97, setns 308 268, mount 165 40, umount2 166 39, pivot_root 155 41, chroot 161 51
open_tree 428 428, move_mount 429 429, fsopen 430 430, fsconfig 431 431, fsmount 432 432, fspick 433 433
mount_setattr 442 442, mknod 133 -1, mknodat 259 33, name_to_handle_at 303 264, open_by_handle_at 304 265
quotactl 179 60, quotactl_fd 443 443, swapon 167 224, swapoff 168 225, fanotify_init 300 262, fanotify_mark 301 263
bpf 321 280, perf_event_open 298 241, userfaultfd 323 282, io_uring_setup 425 425, io_uring_enter 426 426
io_uring_register 427 427, add_key 248 217, request_key 249 218, keyctl 250 219, init_module 175 105
finit_module 313 273, delete_module 176 106, kexec_load 246 104, kexec_file_load 320 294, reboot 169 142
syslog 103 116, acct 163 89, personality 135 92, vhangup 153 58, iopl 172 -1, ioperm 173 -1, modify_ldt 154 -1
uselib 134 -1, ustat 136 -1, sysfs 139 -1, _sysctl 156 -1, lookup_dcookie 212 18, create_module 174 -1
sethostname 170 161, setdomainname 171 162, settimeofday 164 170, clock_settime 227 112, clock_adjtime 305 266
adjtimex 159 171
"""


def _table(text: str) -> dict[str, tuple[int, int]]:
    entries = [entry.split() for line in text.splitlines() if line[:1] not in ("", "#") for entry in line.split(",")]
    return {name: (int(x86), int(arm)) for name, x86, arm in entries}


_REFUSED = _table(_NETWORK + _MEMORY + _PROCESSES + _KERNEL)
_REFUSED_TO_AGENTS = {name: numbers for name, numbers in _table(_KERNEL).items() if not name.startswith("mknod")}
"""They may make a FIFO, as build tools do; a device needs a privilege that they do not have."""
_EXEC = {"execve": (59, 221), "execveat": (322, 281)}

_LOAD, _EQUAL, _ATLEAST, _ANYBIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16

_NAMESPACES = 0x7E020000 | 0x00000080
"""Every CLONE_NEW flag that `clone` takes."""
_SET_PARENT_DEATH_SIGNAL, _SET_HUGE_PAGES = 1, 41
_SHARED, _ANONYMOUS, _HUGE_PAGES = 0x01, 0x20, 0x40000
_SET_PIPE_SIZE = 1031


@dataclass(frozen=True, slots=True)
class ArgumentRule:
    """A call that is refused for some values of an argument: where every one of `tests` holds."""

    numbers: tuple[int, int]
    argument: int
    tests: tuple[tuple[int, int], ...]
    differs: bool = False
    """Refuse where none of the tests holds instead."""

    def lines(self, column: int) -> list[tuple[int, int, int, int]]:
        """Its part of the filter; what does not concern it goes on behind it with the number loaded again."""
        body = [(_LOAD, 0, 0, _ARGUMENTS + 8 * self.argument)]
        for at, (test, value) in enumerate(self.tests):
            on = len(self.tests) - at
            body.append((test, on, 0, value) if self.differs else (test, 0, on, value))
        body += [(_RETURN, 0, 0, _ERRNO | errno.EPERM), (_LOAD, 0, 0, _NUMBER)]
        return [(_EQUAL, 0, len(body), self.numbers[column]), *body]


_CLONE, _PRCTL, _MMAP, _FCNTL, _SOCKET = (56, 220), (157, 167), (9, 222), (72, 25), (41, 198)

_NO_NAMESPACE = ArgumentRule(_CLONE, 0, ((_ANYBIT, _NAMESPACES),))
_RULES = (
    _NO_NAMESPACE,
    ArgumentRule(_PRCTL, 0, ((_EQUAL, _SET_PARENT_DEATH_SIGNAL),)),
    ArgumentRule(_PRCTL, 0, ((_EQUAL, _SET_HUGE_PAGES),)),
    # Pages of a shared anonymous mapping stay when a process gives them back or ends: no limit of a process holds them.
    ArgumentRule(_MMAP, 3, ((_ANYBIT, _ANONYMOUS), (_ANYBIT, _SHARED))),
    ArgumentRule(_MMAP, 3, ((_ANYBIT, _HUGE_PAGES),)),
    ArgumentRule(_FCNTL, 1, ((_EQUAL, _SET_PIPE_SIZE),)),
)

_FAMILIES = (1, 2, 10, 16)
"""Sockets that a network namespace keeps apart: unix, both internet protocols, netlink. Others reach the machine."""


def supported() -> bool:
    return platform.machine() in _ARCHITECTURES


def program(allow_exec: bool) -> bytes:
    """The filter of a job, as the kernel reads it: a decision for each call, by its number and for some an argument."""
    return _assembled(_REFUSED if allow_exec else {**_REFUSED, **_EXEC}, _RULES)


def agent_program() -> bytes:
    """The filter of a coding agent: it may use its own network and processes, and not the kernel's doors."""
    family = ArgumentRule(_SOCKET, 0, tuple((_EQUAL, number) for number in _FAMILIES), differs=True)
    return _assembled(_REFUSED_TO_AGENTS, (_NO_NAMESPACE, family))


def _assembled(names: Mapping[str, tuple[int, int]], rules: Sequence[ArgumentRule]) -> bytes:
    if not supported():
        raise OSError(errno.ENOSYS, f"no filter of system calls for {platform.machine()} processors")
    column, architecture = _ARCHITECTURES[platform.machine()]
    numbers = sorted(number[column] for number in names.values() if number[column] >= 0)
    lines = [
        *[(_LOAD, 0, 0, _ARCH), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _KILL)],
        (_LOAD, 0, 0, _NUMBER),
        *[(_ATLEAST, 0, 1, _NEWEST + 1), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)],
        *[(_EQUAL, 0, 1, _CLONE3), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)],
    ]
    for number in numbers:
        lines += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERRNO | errno.EPERM)]
    for rule in rules:
        lines += rule.lines(column)
    lines.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *line) for line in lines)
