"""What can go wrong, as types: a mistake of the user's, a fault of the outside, a limit the policy ran into."""

from __future__ import annotations

import difflib
import errno
import os
import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whet.types import Fault


def typed(name: object) -> str:
    """A path or a name as a shell takes it, for a command that a message suggests: `My Runs` needs its quotes."""
    return shlex.quote(str(name))


class WhetError(Exception):
    """A problem the user can mend. One line: what happened, where, what to do. The command line exits with 2."""


class Halt(WhetError):
    """What a budget or a service that gave out left undone; the line says how it goes on. The command exits with 3."""


class FaultError(Exception):
    """The service or the host failed; carries the `Fault` that is recorded."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault


class Unreachable(FaultError):
    """A server is gone: nobody answers, however often it is tried. Ends the run cleanly; restarted, it continues.

    `sent` is whether anything went out at the last attempt, which may be billed.
    """

    def __init__(self, fault: Fault, *, sent: bool = False) -> None:
        super().__init__(fault)
        self.sent = sent

    def __str__(self) -> str:
        return f"{self.fault.where} cannot be reached: {self.fault.message}"


class LimitReached(Exception):
    """The policy ran into a limit. Thrown into the play at its `yield`; uncaught, it becomes a score with `reason`."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail


class BudgetReached(Exception):
    """A hard budget leaves no room for the next call. Ends the run cleanly; raising the budget continues it."""

    def __init__(self, what: str, limit: float, spent: float) -> None:
        super().__init__(f"budget of {limit:g} {what} reached ({spent:g} spent)")
        self.what = what
        self.limit = limit
        self.spent = spent


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, or a polite kill, ended a run; what it had done is kept in `folder`."""

    def __init__(self, folder: str) -> None:
        super().__init__(f"interrupted; what is done is kept, continue with: whet resume {typed(folder)}")
        self.folder = folder


class ReplayMismatch(WhetError):
    """A remembered effect was asked for with another request than the one it answered."""


def nearest(word: str, known: Iterable[str]) -> str:
    """' Did you mean X?' when something known is close to `word`, else ''."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.55)
    return f" Did you mean {close[0]!r}?" if close else ""


def broken_line(error: BaseException) -> str:
    """The innermost line of code on the way to an error, as FILE:LINE."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else "no line of code"


_REMEDIES = {
    errno.ENOSPC: "make room there, or name another place",
    errno.EDQUOT: "make room there, or name another place",
    errno.EFBIG: "raise the limit on the size of files (ulimit -f), or name another place",
    errno.EROFS: "name another place",
    errno.EACCES: "mend its permissions, or name another place",
    errno.EPERM: "mend its permissions, or name another place",
    errno.EISDIR: "name a file",
    errno.ENOTDIR: "a part of its path is a file; name another place",
    errno.ENOENT: "check the path, and make the folder it lies in",
    errno.ENAMETOOLONG: "give a shorter name",
    errno.ELOOP: "its links lead around in a circle; mend them",
    errno.EMFILE: "raise the limit on open files (ulimit -n), or lower --concurrency",
    errno.ENFILE: "the machine has too many files open; close other programs, or lower --concurrency",
    errno.ENOMEM: "close other programs, or lower --concurrency",
    errno.EIO: "check the disk; a copy of what is there may save it",
}


def host_words(error: OSError, path: object = None) -> str:
    """What the machine refused, where and what to do about it, in one line."""
    where = path if path is not None else error.filename
    said = error.strerror or (os.strerror(error.errno) if error.errno else str(error) or type(error).__name__)
    what = f"{os.fsdecode(where)}: {said}" if isinstance(where, str | bytes | os.PathLike) else said
    remedy = _REMEDIES.get(error.errno or 0, "")
    return f"{what}; {remedy}" if remedy else what
