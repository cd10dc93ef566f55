"""A seccomp filter, assembled by hand: the calls that computing never needs and that attacks on a kernel are made of.

Refused calls fail with EPERM, so that code sees an ordinary error. Calls newer than this list fail with ENOSYS, and so
does `clone3`, whose flags a filter cannot see (the C library then uses `clone`, whose flags it can).
"""

from __future__ import annotations

import errno
import platform
import struct

_X86, _ARM = 0, 1

_ARCHITECTURES = {"x86_64": (_X86, 0xC000003E), "aarch64": (_ARM, 0xC00000B7)}

_NEWEST = 450
"""`set_mempolicy_home_node`, of Linux 5.17. Later calls are unknown to programs of today."""

_CLONE3 = 435

# Each call with its number on x86_64 and on aarch64; -1 where a machine does not have it.
_REFUSED_TABLE = """
# the network, and shared memory outside the limits
socket 41 198, connect 42 203, bind 49 200, listen 50 201, accept 43 202, accept4 288 242, memfd_create 319 279
memfd_secret 447 447, shmget 29 194, shmat 30 196, semget 64 190, msgget 68 186, mq_open 240 180
# other processes
ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, kcmp 312 272, pidfd_getfd 438 438
process_madvise 440 440, process_mrelease 448 448, migrate_pages 256 238, move_pages 279 239, mbind 237 235
set_mempolicy 238 237, unshare 272 97, setns 308 268, mount 165 40, umount2 166 39, pivot_root 155 41, chroot 161 51
open_tree 428 428, move_mount 429 429, fsopen 430 430, fsconfig 431 431, fsmount 432 432, fspick 433 433
mount_setattr 442 442, mknod 133 -1, mknodat 259 33, name_to_handle_at 303 264, open_by_handle_at 304 265
quotactl 179 60, quotactl_fd 443 443, swapon 167 224, swapoff 168 225, fanotify_init 300 262, fanotify_mark 301 263
# the kernel itself
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


_REFUSED = _table(_REFUSED_TABLE)
_EXEC = {"execve": (59, 221), "execveat": (322, 281)}
_CLONE = (56, 220)
_PRCTL, _SET_PARENT_DEATH_SIGNAL = (157, 167), 1

_NAMESPACES = 0x7E020000 | 0x00000080
"""Every CLONE_NEW flag that `clone` takes."""

_LOAD, _EQUAL, _ATLEAST, _ANYBIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCH, _FIRST_ARGUMENT = 0, 4, 16


def supported() -> bool:
    return platform.machine() in _ARCHITECTURES


def program(allow_exec: bool) -> bytes:
    """The filter as the kernel reads it: a decision for each call, by its number and, for two, its first argument."""
    if not supported():
        raise OSError(errno.ENOSYS, f"no filter of system calls for {platform.machine()} processors")
    column, architecture = _ARCHITECTURES[platform.machine()]
    names = _REFUSED if allow_exec else {**_REFUSED, **_EXEC}
    numbers = sorted(number[column] for number in names.values() if number[column] >= 0)
    lines = [
        *[(_LOAD, 0, 0, _ARCH), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _KILL)],
        (_LOAD, 0, 0, _NUMBER),
        *[(_ATLEAST, 0, 1, _NEWEST + 1), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)],
        *[(_EQUAL, 0, 1, _CLONE3), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)],
    ]
    for number in numbers:
        lines += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERRNO | errno.EPERM)]
    for number, test, value in (
        (_CLONE[column], _ANYBIT, _NAMESPACES),
        (_PRCTL[column], _EQUAL, _SET_PARENT_DEATH_SIGNAL),
    ):
        lines += [(_EQUAL, 0, 4, number), (_LOAD, 0, 0, _FIRST_ARGUMENT), (test, 0, 1, value)]
        lines += [(_RETURN, 0, 0, _ERRNO | errno.EPERM), (_RETURN, 0, 0, _ALLOW)]
    lines.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *line) for line in lines)
