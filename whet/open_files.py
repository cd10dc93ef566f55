"""How many calls can be under way at once: each has a connection, and a process may have so many files open."""

from __future__ import annotations

import resource
import warnings
from contextlib import suppress

OTHERS = 64
"""Files that a run has open beside its connections: the ledger, the terminal, a sandbox."""

MOST = 65536


def calls_at_once(wanted: int) -> int:
    """`wanted`, or as many as the machine lets one process have. The soft limit is raised as far as it goes first."""
    needed = wanted + OTHERS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or needed <= soft:
        return wanted
    ceiling = MOST if hard == resource.RLIM_INFINITY else hard
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(ceiling, max(needed, 4096)), hard))
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if needed <= soft:
        return wanted
    possible = max(1, soft - OTHERS if soft > 2 * OTHERS else soft // 3)
    warnings.warn(
        f"{possible} calls at once instead of {wanted}: a process may have {soft} open files here (ulimit -n)",
        stacklevel=2,
    )
    return possible
