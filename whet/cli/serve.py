"""`whet serve`: a champion behind an endpoint, on this machine unless another address is named."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whet.errors import WhetError
from whet.release.serve import ServeOptions, serve
from whet.terminal import print_lines


def serve_command(
    name: str, *, host: str, port: int, token_env: str, base_url: str, budget: Mapping[str, Any], releases: Path
) -> None:
    token = os.environ.get(token_env, "") if token_env else ""
    if token_env and len(token) < 8:
        raise WhetError(f"--token-env {token_env}: holds no token of at least 8 characters; set that variable")
    serve(name, ServeOptions(host, port, token, base_url, **budget), print_lines, releases)
