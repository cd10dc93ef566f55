"""The folder that a coding agent works in: the playbook as SKILL.md with its files, the task as TASK.md.

root/
    workspace/   where the agent stands: SKILL.md, TASK.md, the playbook's files, images/
    home/        its home directory and temporary files, so that settings of the user's do not enter
    prompt.md    what it is told
    answer.txt   where a command that is asked to may write its answer
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import orjson

from whet.errors import WhetError
from whet.models.base import Request
from whet.models.chat import fenced
from whet.models.chat.images import Blob, image_bytes, parts
from whet.sandbox.workspace import collect as collect_files
from whet.sandbox.workspace import remove as remove_folder
from whet.types import Image, Message, Playbook

FILE_BYTES = 256 * 1024
FILES_BYTES = 4 * 1024 * 1024
FILES = 200
"""What comes back of an agent's files: each at most, all together, how many."""

_MOST_SEEN = 20_000
"""Files that are looked at; an agent may have left millions."""
_DEPTH = 64
_LONGEST = 4096
"""Bytes of a path that the kernel takes."""

_OURS = ("SKILL.md", "TASK.md")
_PASSED_OVER = {".git", "node_modules", "__pycache__", ".venv", ".cache"}


@dataclass(slots=True)
class Workspace:
    """One attempt's folder; `turns` counts how often the agent was called in it."""

    root: Path
    belongs_to: int | None = None
    """The user that the agent is, where that is another one than we are."""
    turns: int = 0
    _before: dict[str, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def make(cls, belongs_to: int | None = None) -> Workspace:
        root = Path(tempfile.mkdtemp(prefix="whet-agent-"))
        (root / "workspace").mkdir()
        (root / "home").mkdir()
        return cls(root, belongs_to)

    @property
    def place(self) -> Path:
        return self.root / "workspace"

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def prompt(self) -> Path:
        return self.root / "prompt.md"

    @property
    def answer(self) -> Path:
        return self.root / "answer.txt"

    def lay_out(self, request: Request) -> None:
        """Write what the agent needs for its next turn; files from its earlier turns stay as it left them."""
        playbook = request.playbook or Playbook()
        for folder in (self.root, self.place):
            _make_folder(folder)
        if self.turns == 0:
            ours = files_of(playbook)
            for name, text in {**ours, **request.files}.items():
                if name in ours and name in request.files:
                    raise WhetError(f"the task's file {name!r} has the name of a file of the playbook: rename one.")
                _write(self.place, name, text.encode("utf-8", "replace"))
        task = conversation(request, self.place)
        _write(self.place, "TASK.md", task.encode("utf-8", "replace"))
        _write(self.root, self.prompt.name, prompt(task, playbook, again=self.turns > 0).encode("utf-8", "replace"))
        _clear(self.answer)
        self.hand_over()
        self._before = {name: _state(path) for name, path in self._files()}
        self.turns += 1

    def read_answer(self, most: int) -> str:
        """What the agent wrote as its answer; '' where that is no plain file of its own."""
        found = collect_files(str(self.root), [self.answer.name], most, most)
        return found.get(self.answer.name, b"").decode("utf-8", "replace")

    def hand_over(self) -> None:
        """Everything belongs to the agent's user."""
        if self.belongs_to is None:
            return
        os.chown(self.root, self.belongs_to, self.belongs_to)
        for entry in _entries(self.root):
            with contextlib.suppress(OSError):  # a path that is too long to be named: the agent's own doing
                if entry.stat(follow_symlinks=False).st_uid != self.belongs_to:
                    os.chown(entry.path, self.belongs_to, self.belongs_to, follow_symlinks=False)

    def collect(self) -> tuple[dict[str, str], list[str]]:
        """The text files that the agent wrote or changed in this turn, and the names of those left out."""
        changed = [(name, path) for name, path in self._files() if self._before.get(name) != _state(path)]
        kept: dict[str, str] = {}
        left_out = [*self._links(), *(_printable(name) for name, _ in changed if name != _printable(name))]
        changed = [(name, path) for name, path in changed if name == _printable(name)]
        room = FILES_BYTES
        for name, path in changed:
            text = _text(path) if len(kept) < FILES and path.stat().st_size <= min(FILE_BYTES, room) else None
            if text is None:
                left_out.append(name)
            else:
                kept[name] = text
                room -= path.stat().st_size
        return kept, left_out

    def gone(self) -> list[str]:
        """Files that lay there before this turn and do so no more."""
        return sorted(set(self._before) - {name for name, _ in self._files()})

    def _links(self) -> list[str]:
        """Links that the agent left; none is followed."""
        found = (entry.path for entry in _entries(self.place) if entry.is_symlink())
        return sorted(f"{_printable(Path(path).relative_to(self.place).as_posix())} (a link)" for path in found)

    def remove(self) -> None:
        remove_folder(str(self.root))

    def _files(self) -> list[tuple[str, Path]]:
        """Plain files under the workspace by name, in order; links and what tools leave behind are passed over."""
        found: list[tuple[str, Path]] = []
        for entry in _entries(self.place):
            if entry.is_file(follow_symlinks=False) and len(entry.path.encode(errors="surrogateescape")) < _LONGEST:
                found.append((Path(entry.path).relative_to(self.place).as_posix(), Path(entry.path)))
            if len(found) > _MOST_SEEN:
                break
        return sorted(found)


def _entries(place: Path) -> Iterator[os.DirEntry[str]]:
    """What lies below a folder, down to a depth that people use; what cannot be opened is passed over."""
    todo = [(str(place), 0)] if not place.is_symlink() else []
    while todo:
        folder, depth = todo.pop()
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                yield entry
                if entry.is_dir(follow_symlinks=False) and entry.name not in _PASSED_OVER and depth < _DEPTH:
                    todo.append((entry.path, depth + 1))


def files_of(playbook: Playbook) -> dict[str, str]:
    """A playbook as files: SKILL.md with the worked examples at its end, and the files beside it."""
    files = {}
    for name, text in playbook.files.items():
        steps = PurePosixPath(name).parts
        if not steps or name.startswith("/") or ".." in steps or name in _OURS:
            raise WhetError(f"the playbook's file {name!r} cannot lie in a workspace: give it a plain relative name.")
        files[name] = text
    shown = [
        f"### Example {n}\n\n{example.question}\n\nA good answer:\n\n{example.told}"
        for n, example in enumerate(playbook.examples, 1)
    ]
    parts_of_skill = [playbook.text, *(("## Worked examples", *shown) if shown else ())]
    if skill := "\n\n".join(filter(None, parts_of_skill)):
        files["SKILL.md"] = f"{skill}\n"
    return files


def prompt(task: str, playbook: Playbook, *, again: bool) -> str:
    """What the agent is told: where its skill is, what the task is, and what counts as its answer."""
    files = files_of(playbook)
    skill = "SKILL.md in this folder says how to work: read it first, and follow it." if "SKILL.md" in files else ""
    beside = ", ".join(sorted(set(files) - {"SKILL.md"}))
    more = f"These files beside it are yours to use: {beside}." if beside else ""
    task_is = (
        "The conversation below goes on: answer what was said last. Files from your earlier turns are still here."
        if again
        else "Your task is below (TASK.md holds it too)."
    )
    end = "Work in this folder alone. Your final message is your answer: give all that the task asks for in it."
    return "\n\n".join(filter(None, (skill, more, task_is, end, "---", task))) + "\n"


def conversation(request: Request, place: Path) -> str:
    """What was said so far as Markdown; images become files beside it."""
    said = request.messages
    sections = [_said(message, request.blob, place, alone=len(said) == 1) for message in said]
    if request.tools:
        sections.append(fenced.manual(request.tools, request.must_call))
    if request.shape.schema is not None:
        schema = orjson.dumps(dict(request.shape.schema)).decode()
        sections.append(f"The answer must be JSON alone, valid under this schema: {schema}")
    return "\n\n".join(filter(None, sections))


_TITLES = {"system": "Instructions", "user": "Task", "assistant": "Your earlier answer", "tool": "Result of your call"}


def _said(message: Message, blob: Blob, place: Path, *, alone: bool) -> str:
    text = "".join(part if isinstance(part, str) else _shown(part, blob, place) for part in parts(message))
    return text if alone else f"## {_TITLES[message.author]}\n\n{text}"


def _shown(image: Image, blob: Blob, place: Path) -> str:
    data = image_bytes(image, blob)
    name = f"images/{image.sha256[:16]}.{image.media_type.partition('/')[2] or 'png'}"
    _write(place, name, data)
    return f"\n![image]({name})\n"


def _write(place: Path, name: str, data: bytes) -> None:
    """Writes a file below `place`, where an agent may have been: no link that it left leads anywhere else."""
    path = place / name
    for folder in reversed(path.relative_to(place).parents[:-1]):
        _make_folder(place / folder)
    _clear(path)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644), "wb") as file:
        file.write(data)


def _make_folder(path: Path) -> None:
    """A folder at `path` that we may write to, whatever an agent has put there or closed."""
    if path.is_symlink() or not path.is_dir():
        _clear(path)
        path.mkdir()
    elif path.stat().st_mode & 0o700 != 0o700:
        path.chmod(0o755)


def _printable(name: str) -> str:
    """A file name as text; the bytes of one that is not Unicode are spelled out."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _clear(path: Path) -> None:
    """Takes away whatever stands at `path`."""
    if path.is_dir() and not path.is_symlink():
        remove_folder(str(path))
    else:
        path.unlink(missing_ok=True)


def _state(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (UnicodeDecodeError, OSError):
        return None
