"""How a command ends: whatever happens, in an exit code that says so and at most one line.

`whet.cli.codes` says what each code means.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import sysconfig
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from whet.errors import Halt, WhetError, host_words
from whet.terminal import INTERRUPTED, complain

MENDABLE, DEFECT, PIPE = 2, 70, 141

SHELL_INTERRUPT = 130
"""What the library below calls an interrupt."""

TRACEBACK = "WHET_TRACEBACK"
"""The environment variable that asks for the whole way to an error."""

KEPT = "what is done is kept, and the same command continues it"


def ended(command: Callable[[], None]) -> int:
    """The exit code of a command; its line, if it has one, is on standard error."""
    _prepare_streams()
    with warnings.catch_warnings():
        warnings.showwarning = _warn
        try:
            command()
            _flush()
            return 0
        except SystemExit as end:
            return _code(end)
        except BrokenPipeError:
            _silence()
            return PIPE
        except KeyboardInterrupt:
            return INTERRUPTED
        except Exception as error:  # noqa: BLE001 - the one place where everything ends
            code = _explained(error)
            try:
                _flush()
            except OSError:
                _silence()
            return code


def _explained(error: Exception) -> int:
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    if isinstance(error, WhetError):
        complain(str(error))
        return INTERRUPTED if isinstance(error, Halt) else MENDABLE
    if culprit := _foreign(error):
        complain(f"{culprit} raised {type(error).__name__}: {error}; mend it there ({TRACEBACK}=1 shows the way)")
        return MENDABLE
    if isinstance(error, OSError):
        complain(f"{host_words(error)}; {KEPT}")
        return MENDABLE
    if isinstance(error, sqlite3.Error):
        complain(f"a ledger cannot be used ({error}); look it through with: whet verify RUN")
        return MENDABLE
    if isinstance(error, MemoryError):
        complain(f"out of memory; close other programs, or lower --concurrency; {KEPT}")
        return MENDABLE
    where = _frames(error)[-1:] or ["unknown"]
    complain(
        f"defect: {type(error).__name__}: {error} ({where[0]}); {KEPT}. {TRACEBACK}=1 shows the way, please report"
    )
    return DEFECT


def _frames(error: BaseException) -> list[str]:
    return [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]


def _foreign(error: BaseException) -> str:
    """The user's own line that broke: the innermost one that is neither Whet's, nor Python's, nor a package's."""
    python, ours = str(sysconfig.get_path("stdlib")), str(Path(__file__).parents[1])
    frames = [
        frame
        for frame in _frames(error)
        if not frame.startswith(("<", python)) and "site-packages" not in frame.partition(ours)[0]
    ]
    return "" if not frames or frames[-1].startswith(ours) else frames[-1]


def _code(end: SystemExit) -> int:
    if isinstance(end.__context__, BrokenPipeError):  # typer has its own end for it
        _silence()
        return PIPE
    if end.code == SHELL_INTERRUPT:
        return INTERRUPTED
    if end.code is None or isinstance(end.code, int):
        with suppress(BrokenPipeError):
            return _flushed(end.code or 0)
        _silence()
        return PIPE
    complain(str(end.code))
    return 1


def _flushed(code: int) -> int:
    """`code`, or that of output that did not arrive."""
    try:
        _flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _silence()
        return code or _explained(error)
    return code


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            try:
                stream.flush()
            except OSError:
                if stream is sys.stdout:
                    raise


def _silence() -> None:
    """Nothing more can be written: what is still buffered goes nowhere, so that Python's own end stays quiet."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _prepare_streams() -> None:
    """What the terminal's encoding does not know is spelled out instead of ending the command."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    complain(f"note: {message}")
