"""The few Linux calls that Python 3.11 has no name for: namespaces, mounts, capabilities, no_new_privs."""

from __future__ import annotations

import ctypes
import os
import platform

NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000

RDONLY, NOSUID, NODEV, NOEXEC = 1, 2, 4, 8
REMOUNT, BIND, REC, PRIVATE = 32, 4096, 16384, 1 << 18
DETACH = 2

_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_MOUNT_SETATTR = 442
_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 22, 24, 36, 38
_PR_SET_DUMPABLE, _PR_SET_THP_DISABLE = 4, 41

_libc = ctypes.CDLL(None, use_errno=True)

# Looked up once, before any fork: to look one up writes to memory, which a forked child would have to copy.
_prctl, _unshare, _mount, _capset = _libc.prctl, _libc.unshare, _libc.mount, _libc.capset


def _checked(result: int, what: str) -> None:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


def unshare(flags: int) -> None:
    _checked(_unshare(flags), f"unshare({flags:#x})")


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    result = _mount(
        source.encode(), target.encode(), kind.encode() if kind else None, ctypes.c_ulong(flags), options.encode()
    )
    _checked(result, f"mount {target}")


def unmount(target: str) -> None:
    _checked(_libc.umount2(target.encode(), DETACH), f"unmount {target}")


def pivot_root(new: str) -> None:
    """Makes `new` the root and lets go of the old one: nothing of it can be reached afterwards."""
    os.chdir(new)
    number = _PIVOT_ROOT[platform.machine()]
    _checked(_libc.syscall(ctypes.c_long(number), b".", b"."), "pivot_root")
    unmount(".")
    os.chdir("/")


class _MountAttributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns")]


def seal(target: str, flags: int) -> None:
    """Sets `flags` (read-only, no devices ...) on a mount and on all mounts below it."""
    wanted = _MountAttributes(flags, 0, 0, 0)
    at_recursive, at_fdcwd = 0x8000, -100
    result = _libc.syscall(
        ctypes.c_long(_MOUNT_SETATTR),
        ctypes.c_int(at_fdcwd),
        target.encode(),
        ctypes.c_uint(at_recursive),
        ctypes.byref(wanted),
        ctypes.c_size_t(ctypes.sizeof(wanted)),
    )
    if result < 0:  # a kernel before 5.12 knows only the call that seals one mount
        mount("none", target, None, REMOUNT | BIND | flags)


def no_new_privileges() -> None:
    _checked(_prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")


class _Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("lines", ctypes.c_char_p)]


def filter_calls(program: bytes) -> None:
    """Puts a seccomp filter on this process and all it starts; it cannot be taken off. Needs no_new_privs."""
    wanted = _Filter(len(program) // 8, program)
    mode_filter = 2
    _checked(_prctl(_PR_SET_SECCOMP, mode_filter, ctypes.byref(wanted), 0, 0), "seccomp filter")


def show_own_proc() -> None:
    """Files of this process in /proc belong to its user again, after it has become another one."""
    _checked(_prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0), "dumpable")


def map_user(proc: int, inside: int, uid: int, gid: int) -> None:
    """In a new user namespace: this user, and no other, under the number `inside`."""
    for name, text in (("setgroups", "deny"), ("uid_map", f"{inside} {uid} 1"), ("gid_map", f"{inside} {gid} 1")):
        file = os.open(f"self/{name}", os.O_WRONLY, dir_fd=proc)
        try:
            os.write(file, text.encode())
        finally:
            os.close(file)


def die_with_parent() -> None:
    _checked(_prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0), "pdeathsig")


def small_pages() -> None:
    """Memory comes in pages of 4 KiB: a process cannot fill 2 MiB by touching one byte, nor pin them by holding one."""
    _prctl(_PR_SET_THP_DISABLE, 1, 0, 0, 0)


def adopt_orphans() -> None:
    _checked(_prctl(_PR_SET_SUBREAPER, 1, 0, 0, 0), "subreaper")


class _CapabilityHeader(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


def drop_capabilities() -> None:
    """Empties the sets of capabilities of this process."""
    header = _CapabilityHeader(0x20080522, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _checked(_capset(ctypes.byref(header), ctypes.byref(nothing)), "capset")


def bound_capabilities() -> None:
    """No program that this process or a child starts can gain a capability. What the process has, it keeps."""
    capability = 0
    while _prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) == 0:
        capability += 1
