"""`whet view`: the viewer, on this machine unless another address is named."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from whet.errors import WhetError
from whet.extras import install
from whet.terminal import print_lines


def view_command(folder: Path, host: str, port: int, *, reviewing: bool = False, releases: Path | None = None) -> None:
    if any(find_spec(package) is None for package in ("starlette", "uvicorn")):
        raise WhetError(f"the viewer needs the extra web: {install('web')}")
    if not folder.is_dir():
        raise WhetError(f"{folder}: no folder; name the folder that runs are kept in")
    from whet.web.server import serve

    serve(folder, host, port, print_lines, reviewing=reviewing, releases=releases)
