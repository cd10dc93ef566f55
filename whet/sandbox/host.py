"""What the warm parent found out about its host; every process forked from it inherits that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HostFacts:
    """How walls are raised on this host, and what was found out once so that no job needs to."""

    mode: str
    """`root`: namespaces by privilege; `user`: by a user namespace; `bubblewrap`, `gvisor`: by these; `weak`: none."""
    first_uid: int | None
    """The first of the uids that jobs run under; None where we cannot become another user."""
    program: str
    """The path of bubblewrap or runsc, found before the variables of the environment were let go; '' in other modes."""
    scratch: str
    """A folder of the host's for the files of jobs, where they have no filesystem of their own."""
    proc: int
    """The host's /proc, open: the view has none."""
    groups: int | None
    """The control group below which each job gets its own, open; None where there is none."""
    data_in_use: int
    """Bytes of data that the parent's libraries take; a job's memory is counted from there."""
    filters: Mapping[str, bytes]
    """The filters of system calls for Python code and for commands."""
    ours: Sequence[str]
    """Modules of ours that are loaded and that untrusted code does not find."""
