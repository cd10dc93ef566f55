"""The command line: one file a command, each parses, calls one function of Whet and prints."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point of `whet`. A `WhetError` is one line and exit code 2; Ctrl-C keeps what is done and exits 130."""
    from whet.cli.app import app
    from whet.errors import WhetError

    try:
        app()
    except WhetError as error:
        print(f"whet: {error}", file=sys.stderr)  # noqa: T201 - the one place that reports errors
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
