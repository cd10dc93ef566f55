"""The program around a policy's program, sent to the sandbox as text: it looks at a page, or runs an extractor on many.

In a submission every page has a process of its own, made before any page is read: it knows its own page and no other,
cannot start processes, and what it leaves in the folder is removed before the next begins. One that crashes, hangs or
lies about itself costs its own page. Nothing in here knows what is right.
"""

from __future__ import annotations

import contextlib
import io
import json
import linecache
import os
import re
import resource
import select
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from bs4.element import Comment, NavigableString, Tag

GIVEN = "given.json"
RESULTS = "results.json"
MAIN = "program.py"
PARSERS = ("html.parser", "lxml", "lxml-xml", "xml", "html5lib")
SCRATCH = "/box/tmp"
"""The job's own folder for temporary files, where the sandbox gives it one."""
MOST_BYTES = 1_000_000
"""Bytes of output that a page may have."""
MISSING = "<!DOCTYPE html>\n<html><head><title>404 Not Found</title></head><body><h1>404 Not Found</h1></body></html>\n"


def scope(page: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """The names that a program finds."""
    html: str = page["html"]

    def make_soup(parser: str = "html.parser") -> BeautifulSoup:
        if parser not in PARSERS:
            raise ValueError(
                "make_soup takes the name of a parser, no markup: make_soup() is the page, "
                'BeautifulSoup(text, "html.parser") any text'
            )
        return BeautifulSoup(html, parser)

    def load(href: str) -> str:
        """The page behind a link of this site; where there is none, the page that says so."""
        path = str(href).partition("#")[0].strip()
        forms = (path, path.removeprefix("."), f"/{path.lstrip('./')}")
        return next((page["links"][form] for form in forms if form in page["links"]), MISSING)

    names: dict[str, Any] = {"__name__": "__main__", "HTML": html, "make_soup": make_soup, "load": load}
    names |= {"QUERY": given["query"], "SCHEMA": given["schema"], "re": re, "json": json}
    return names | {kind.__name__: kind for kind in (BeautifulSoup, NavigableString, Tag, Comment)}


def execute(code: str, names: dict[str, Any]) -> None:
    linecache.cache[MAIN] = (len(code), None, code.splitlines(keepends=True), MAIN)
    exec(compile(code, MAIN, "exec", dont_inherit=True), names)


def look(given: dict[str, Any]) -> None:
    """Runs a program as `python program.py` would; its traceback begins at its own lines."""
    try:
        execute(given["code"], scope(given["pages"][0], given))
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - it is the policy's program; it is told what went wrong
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename != MAIN:
            trace = trace.tb_next
        traceback.print_exception(type(error), error, trace)
        sys.exit(1)


def extracted(given: dict[str, Any]) -> str:
    """What the program makes of the one page that it is given, as JSON."""
    names = scope(given["pages"][0], given)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        execute(given["code"], names)
        if callable(names.get("extract")):
            return json.dumps(names["extract"](given["pages"][0]["html"]), allow_nan=False)
    return json.dumps(json.loads(printed.getvalue()), allow_nan=False)


def serve(inlet: int, outlet: int) -> None:
    """The life of a page's process: waits for its page, extracts, says what came of it."""
    with os.fdopen(inlet, "rb") as pipe:
        given = json.loads(pipe.read())
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    try:
        said = {"value": extracted(given)}
    except BaseException as error:  # noqa: BLE001 - it is the policy's program; the page is lost, the others are not
        said = {"error": f"{type(error).__name__}: {error}"[:300]}
    with os.fdopen(outlet, "wb") as pipe:
        pipe.write(json.dumps(said).encode())


def children(count: int) -> list[tuple[int, int, int]]:
    """As many processes, each with a pipe to it and one from it, of which no other has an end."""
    made: list[tuple[int, int, int]] = []
    for _ in range(count):
        theirs, to_child = os.pipe()
        from_child, back = os.pipe()
        pid = os.fork()
        if pid == 0:
            for fd in (to_child, from_child, *(fd for _, *ends in made for fd in ends)):
                os.close(fd)
            with contextlib.suppress(BaseException):
                serve(theirs, back)
            os._exit(0)
        os.close(theirs)
        os.close(back)
        made.append((pid, to_child, from_child))
    return made


def heard(child: tuple[int, int, int], given: dict[str, Any], seconds: float) -> dict[str, str]:
    """What one process makes of its page within its time."""
    pid, to_child, from_child = child
    with contextlib.suppress(BrokenPipeError), os.fdopen(to_child, "wb") as pipe:
        pipe.write(json.dumps(given).encode())
    end, data = time.monotonic() + seconds, b""
    while len(data) <= MOST_BYTES:
        if not select.select([from_child], [], [], max(0.0, end - time.monotonic()))[0]:
            break
        piece = os.read(from_child, 65536)
        if not piece:
            break
        data += piece
    os.close(from_child)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    if len(data) > MOST_BYTES:
        return {"error": f"more than {MOST_BYTES:,} bytes of output"}
    if time.monotonic() >= end:
        return {"error": f"no result after {seconds:g} s"}
    try:
        said = json.loads(data)
        # Half a surrogate pair is no text, and the file with the results must be one.
        return {name: str(said[name]).encode(errors="replace").decode() for name in ("value", "error") if name in said}
    except (ValueError, TypeError):
        return {"error": "the process ended without a result"}


def sweep() -> set[Path]:
    """Removes whatever a page's process left behind; what withstands it is said.

    The folder for temporary files is swept where it is the job's own, and there alone: where a sandbox has no
    filesystem of its own, `/tmp` is the host's.
    """
    folders = [folder for folder in (Path.cwd(), Path(SCRATCH)) if folder.is_dir()]
    for folder in folders:
        with contextlib.suppress(OSError, RecursionError):
            folder.chmod(0o700)
        for path in folder.iterdir():
            with contextlib.suppress(OSError, RecursionError):
                remove(path)
    return {path for folder in folders for path in folder.iterdir()}


def remove(path: Path) -> None:
    """Removes a file or a folder, whose rights may have been taken away."""
    if path.is_symlink() or not path.is_dir():
        path.unlink()
        return
    path.chmod(0o700)
    for inner in path.iterdir():
        remove(inner)
    path.rmdir()


def main() -> None:
    count = int(sys.stdin.readline())
    made = children(count)
    given = json.loads(Path(GIVEN).read_text("utf-8"))
    Path(GIVEN).unlink()
    if not made:
        look(given)
        return
    results: list[dict[str, str]] = []
    kept, left = sweep(), set[Path]()
    for child, page in zip(made, given["pages"], strict=True):
        if left <= kept:
            results.append(heard(child, {**given, "pages": [page]}, given["seconds"]))
            left = sweep()
        else:
            results.append({"error": "not run: an earlier page left files that cannot be removed"})
    Path(RESULTS).write_text(json.dumps(results), "utf-8")


if __name__ == "__main__":
    main()
