"""The command line: one file a command, each parses, calls one function of Whet and prints."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point of `whet`; `whet.cli.exits` says how it ends."""
    from whet.cli.exits import ended

    def command() -> None:
        from whet.cli.app import app

        app()

    sys.exit(ended(command))
