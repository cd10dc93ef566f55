"""The anchor: the head of the trail written where whoever can edit the trail cannot, so that a new chain is noticed.

A file on another machine's mount, a command that the line is handed to (`git notes`, `logger`, a mail), or a URL that
it is posted to. `whet audit verify` reads a file back; what a command or a server has kept is given to `--expect`.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import orjson

from whet.errors import WhetError
from whet.files import write_json
from whet.outside import shown_line

MARK = "whet-trail"
SETTING = "anchor.json"

EVERY = 100
"""Commits between two lines to a command or a server; a file has a line for each."""

TAIL = 1024
"""Bytes at the end of a file that hold its last line."""

PATIENCE = 10.0
"""Seconds that a command or a server may take."""


@dataclass(frozen=True, slots=True)
class AnchorLine:
    """The head of a trail after a link: it stands for all that was written until then."""

    link: int
    head: str
    at: float

    def __str__(self) -> str:
        return f"{MARK} 1 {self.link} {self.head} {self.at:.3f}"

    @classmethod
    def parse(cls, line: str) -> AnchorLine:
        words = line.split()
        try:
            if words[:2] != [MARK, "1"] or len(words) != 5 or len(bytes.fromhex(words[3])) != 16:
                raise ValueError(line)
            return cls(int(words[2]), words[3], float(words[4]))
        except (ValueError, IndexError):
            raise WhetError(f"{shown_line(line, 80)!r}: not a line of an anchor; it begins with '{MARK} 1'") from None


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where heads go: `PATH`, `cmd:COMMAND` or `http(s)://…`."""

    place: str

    def __str__(self) -> str:
        return self.place

    @classmethod
    def of(cls, releases: Path) -> Anchor | None:
        """The anchor that a folder of releases is set to; None where it has none."""
        try:
            place = orjson.loads((releases / SETTING).read_bytes())["place"]
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            raise WhetError(f"{releases / SETTING}: damaged; set it again with: whet audit anchor PLACE") from None
        return cls(str(place))

    def keep(self, releases: Path) -> None:
        write_json(releases / SETTING, {"place": self.place})

    @property
    def path(self) -> Path | None:
        """The file, where it is one."""
        elsewhere = self.place.startswith(("cmd:", "http://", "https://"))
        return None if elsewhere else Path(self.place.removeprefix("file:"))

    @property
    def every(self) -> int:
        return EVERY if self.path is None else 1

    def write(self, line: AnchorLine) -> None:
        """Write a line; raises where it did not arrive."""
        try:
            if self.path is not None:
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
                with open(os.open(self.path, flags, 0o600), "ab", buffering=0) as file:  # noqa: PTH123
                    file.write(f"{line}\n".encode())
            elif self.place.startswith("cmd:"):
                command = shlex.split(self.place.removeprefix("cmd:"))
                subprocess.run(command, input=f"{line}\n".encode(), check=True, timeout=PATIENCE, capture_output=True)
            else:
                asked = urllib.request.Request(self.place, f"{line}\n".encode(), {"content-type": "text/plain"})
                with urllib.request.urlopen(asked, timeout=PATIENCE):
                    pass
        except (OSError, ValueError, subprocess.SubprocessError) as problem:
            raise WhetError(f"anchor {self.place}: the head did not arrive ({shown_line(str(problem), 200)})") from None

    def last(self) -> AnchorLine | None:
        """The newest line of a file; None where there is none that could be read."""
        if self.path is None:
            return None
        try:
            with self.path.open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL))
                return AnchorLine.parse(file.read().decode("utf-8", "replace").splitlines()[-1])
        except (OSError, IndexError, WhetError):
            return None

    def lines(self) -> list[AnchorLine]:
        """What a file has kept; a command or a server keeps its lines itself."""
        if self.path is None:
            return []
        try:
            text = self.path.read_text("utf-8")
        except FileNotFoundError:
            raise WhetError(f"anchor {self.path}: is gone; nothing proves what the trail was") from None
        except (OSError, UnicodeDecodeError) as problem:
            raise WhetError(f"anchor {self.path}: cannot be read ({problem})") from None
        return [AnchorLine.parse(line) for line in text.splitlines()]
