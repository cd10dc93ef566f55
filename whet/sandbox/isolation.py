"""Opens the strongest sandbox that this machine allows, and refuses where that would be none."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from whet.errors import WhetError
from whet.sandbox import bubblewrap
from whet.sandbox.base import Sandbox
from whet.sandbox.local import LocalSandbox

PRELOAD = (
    *("bs4", "lxml.etree", "lxml.html", "html5lib"),
    *("asyncio", "bisect", "collections", "csv", "ctypes", "dataclasses", "datetime", "decimal", "enum", "fractions"),
    *("functools", "heapq", "html.parser", "io", "itertools", "json", "math", "operator", "pathlib", "pprint"),
    *(
        "random",
        "re",
        "statistics",
        "string",
        "textwrap",
        "typing",
        "unittest",
        "urllib.parse",
        "xml.etree.ElementTree",
    ),
)
"""Libraries that Python code finds already loaded. Installed packages outside this list are not in the sandbox."""


def open_gvisor(preload: Sequence[str] = PRELOAD, width: int | None = None) -> Sandbox:
    """A sandbox with a kernel of its own for each job. Refuses where there is no runsc, or its walls do not stand."""
    sandbox = LocalSandbox("gvisor", preload, width)
    missing = set(sandbox.walls().missing) - {"disk", "user"}
    if missing:
        sandbox.discard()
        raise WhetError(f"gvisor: no wall for {', '.join(sorted(missing))}; run: runsc do true, and see what it says")
    return sandbox


def open_sandbox(*, allow_weak: bool = False, preload: Sequence[str] = PRELOAD, width: int | None = None) -> Sandbox:
    """A sandbox whose walls were seen to stand. With `allow_weak`, one without namespaces where there is no other."""
    if not sys.platform.startswith("linux"):
        raise WhetError(
            "untrusted code runs on Linux only; here, use a remote one with --set control.sandbox.kind=prime"
        )
    problems = []
    for mode in _modes():
        try:
            sandbox = LocalSandbox(mode, preload, width)
        except WhetError as error:
            problems.append(str(error))
            continue
        if not set(sandbox.walls().missing) - {"disk"}:
            return sandbox
        sandbox.discard()
        problems.append(f"{mode}: no wall for {', '.join(sandbox.walls().missing)}")
    if allow_weak:
        return LocalSandbox("weak", preload, width)
    raise WhetError(
        f"no isolation for untrusted code on this machine ({'; '.join(problems)}): allow user namespaces, install "
        "bubblewrap, or accept the risk with sandbox.allow_weak = true"
    )


def _modes() -> list[str]:
    """Ways to namespaces, strongest first."""
    modes = ["root", "user"] if os.getuid() == 0 else ["user"]
    return [*modes, "bubblewrap"] if bubblewrap.find() else modes
