"""The files of a job's private folder: put there before the code runs, read back after it ended.

Names were checked to stay inside. Reading trusts nothing that the code left: no link is followed, nothing but a plain
file is opened, and no more is read than a file may hold.
"""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


def furnish(folder: str, files: Mapping[str, str], uid: int | None) -> None:
    """Writes `files` below `folder`, owned by `uid` where that is another user."""
    made: list[Path] = []
    for name, text in files.items():
        path = Path(folder, name)
        missing = [parent for parent in path.parents if not parent.exists()]
        for parent in reversed(missing):
            parent.mkdir(mode=0o755)
        path.write_bytes(text.encode())
        made += [*missing, path]
    if uid is not None:
        for path in made:
            os.chown(path, uid, uid)


def collect(folder: str, names: Sequence[str], most: int, most_together: int) -> dict[str, bytes]:
    """The content of those files of `names` that are there.

    All together have a limit of their own: a file of holes takes no room on a disk, and all of it when it is read.
    """
    found: dict[str, bytes] = {}
    room = most_together
    for name in names:
        data = _read(folder, name.split("/"), min(most, room))
        if data is not None and room > 0:
            found[name] = data
            room -= len(data)
    return found


def remove(folder: str) -> None:
    """Takes a folder away with all that is in it: by programs that no depth stops, and no closed folder of our own."""
    for words in (["rm", "-rf"], ["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
        ended = subprocess.run([f"/bin/{words[0]}", *words[1:], folder], check=False, stderr=subprocess.DEVNULL)
        if words[0] == "rm" and ended.returncode == 0:
            return


def _read(folder: str, parts: list[str], most: int) -> bytes | None:
    opened: list[int] = []
    try:
        opened.append(os.open(folder, _FOLDER))
        for part in parts[:-1]:
            opened.append(os.open(part, _FOLDER, dir_fd=opened[-1]))
        opened.append(os.open(parts[-1], _FILE, dir_fd=opened[-1]))
        if not stat.S_ISREG(os.fstat(opened[-1]).st_mode):
            return None
        with os.fdopen(opened.pop(), "rb") as file:
            return file.read(most)
    except OSError:
        return None
    finally:
        for number in opened:
            os.close(number)
