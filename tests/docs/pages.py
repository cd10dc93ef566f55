"""Pages as programs: their blocks in order, run in a folder as a reader would run them.

* A fenced block that begins with `# name.ext` is written to that file.
* A `bash` block is run by bash, all blocks of a page in one shell, so `cd` holds; a `python` block by Python.
* Each line of a `text` block must have been printed by the block before it, spacing apart; `...` stands for anything.
* `whet` is this Whet. What nobody can run in a test (a paid model, minutes of a processor) is put into other words by
  `Stand`, which must all be used: a page that changes loses none silently.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"# ([\w.-]+\.\w+)\n")


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    language: str
    text: str

    @property
    def file(self) -> str:
        found = FILE.match(self.text)
        return found[1] if found else ""


def blocks(page: Path) -> list[Block]:
    return [Block(*found) for found in BLOCK.findall(page.read_text(encoding="utf-8"))]


def indented(page: Path) -> list[str]:
    """The commands and snippets of a page that indents them: each run of indented lines that follows a blank one."""
    text = page.read_text(encoding="utf-8")
    return [
        re.sub(r"^    ", "", found, flags=re.MULTILINE)
        for found in re.findall(r"(?<=\n\n)(?:    .*\n|\n(?=    ))+", text)
    ]


def free_port() -> int:
    """A port for a server that a page starts."""
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return int(door.getsockname()[1])


def shim(folder: Path) -> Path:
    """A folder for the PATH in which `whet` and `python` are those of the tests."""
    folder.mkdir()
    for name, words in {"whet": "-m whet ", "python": ""}.items():
        (folder / name).write_text(f'#!/bin/sh\nexec {sys.executable} {words}"$@"\n')
        (folder / name).chmod(0o755)
    return folder


def surroundings(tools: Path) -> dict[str, str]:
    return {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "COLUMNS": "200"}


def run_page(page: Path, folder: Path, stands: Mapping[str, str]) -> list[str]:
    """Run a page; what is not as it says, a line each."""
    tools = shim(folder.parent / f"{folder.name}-bin")
    unused, wrong, said, here = set(stands), [], "", folder
    for block in blocks(page):
        text = block.text
        for words, other in stands.items():
            if words in text:
                unused.discard(words)
                text = text.replace(words, other)
        if block.file:
            (here / block.file).write_text(text)
        elif block.language in ("bash", "python"):
            program = (
                ["bash", "-ec", f"{text}\npwd > {folder}/.here"] if block.language == "bash" else ["python", "-c", text]
            )
            done = subprocess.run(
                program, cwd=here, env=surroundings(tools), capture_output=True, text=True, check=False
            )
            said = done.stdout
            if done.returncode:
                wrong.append(f"{text.strip()}\n  ended with {done.returncode}: {done.stderr[-600:]}")
            elif block.language == "bash":
                here = Path((folder / ".here").read_text().strip())
        elif block.language == "text":
            wrong += [f"{line!r} was not printed" for line in text.splitlines() if not _printed(line, said)]
    return wrong + [f"{words!r} stands nowhere on the page any more" for words in sorted(unused)]


def _printed(line: str, said: str) -> bool:
    pattern = r".*".join(re.escape(" ".join(part.split())) for part in line.split("..."))
    return any(re.search(pattern, " ".join(other.split())) for other in said.splitlines())
