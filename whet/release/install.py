"""A champion's playbook in the folder that an agent loads skills from: put there whole, or not at all.

    ~/.agents/skills/NAME/     --into codex
    ~/.claude/skills/NAME/     --into claude (or below CLAUDE_CONFIG_DIR)
    DIR/NAME/                  --into DIR

`.whet.json` in it says what was written. What is there and was not written by us, or was changed since, is not touched.
The new folder is made beside and exchanged with the old one in one step of the file system, where it has one.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from whet.errors import WhetError
from whet.files import write_atomically, write_json
from whet.release.champion import Champion, check_name
from whet.release.skill import MANIFEST, skill_files
from whet.release.trail import FILE as TRAIL
from whet.release.trail import Trail

INSTALLED, UNINSTALLED = "install", "uninstall"
"""Kinds of entries in the trail."""

_EXCHANGE = 2
_HERE = -100


@dataclass(frozen=True, slots=True)
class Installation:
    """A skill that was put into an agent's folder."""

    champion: str
    folder: Path
    before: str
    """The champion whose skill was there until then; '' where none was."""


def skills_folder(into: str) -> Path:
    """Where an agent looks for the skills of its user, or a folder by name."""
    if not into.strip():
        raise WhetError("say where: codex, claude or a folder; nothing was changed")
    if into == "codex":
        return Path.home() / ".agents" / "skills"
    if into == "claude":
        own = os.environ.get("CLAUDE_CONFIG_DIR")
        return (Path(own) if own else Path.home() / ".claude") / "skills"
    return Path(into)


def install(champion: Champion, into: str, *, releases: Path | None = None, description: str = "") -> Installation:
    """Put a champion's playbook where an agent loads it from; the same again changes nothing."""
    check_name(champion.name)
    files = skill_files(champion, description)
    root = skills_folder(into)
    folder = root / champion.name
    with _alone(root):
        _recover(folder)
        held = _held(folder)
        beside = root / f".{champion.name}.{os.getpid()}.part"
        try:
            _write(beside, champion, files)
            if held is None:
                beside.rename(folder)
            else:
                _exchange(beside, folder)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    _note(releases, INSTALLED, champion.name, {"version": champion.version, "digest": champion.digest, "into": into})
    return Installation(champion.title, folder, "" if held is None else str(held["champion"]))


def uninstall(name: str, source: str, *, releases: Path | None = None) -> Path:
    """Take a skill away again; what was not written by us stays, and so does the folder it lies in."""
    check_name(name)
    root = skills_folder(source)
    folder = root / name
    if not root.is_dir():
        raise WhetError(f"{folder}: no skill of that name was installed there")
    with _alone(root):
        _recover(folder)
        held = _held(folder)
        if held is None:
            raise WhetError(f"{folder}: no skill of that name was installed there")
        gone = root / f".{name}.{os.getpid()}.part"
        folder.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)
    _note(releases, UNINSTALLED, name, {"version": held.get("version"), "digest": held.get("digest"), "from": source})
    return folder


def _write(folder: Path, champion: Champion, files: Mapping[str, bytes]) -> None:
    """Readable by whoever the agent runs as: a skill is no secret of a run."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o755)
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, data)
    sums = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in files}
    record = {"champion": champion.title, "version": champion.version, "digest": champion.digest, "files": sums}
    write_json(folder / MANIFEST, record)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _held(folder: Path) -> dict[str, Any] | None:
    """What we wrote to a folder; None where there is none. Anything else in its place is refused."""
    if folder.is_symlink():
        raise WhetError(f"{folder}: is a link; nothing was changed. Take it away, or name another folder with --into")
    if not folder.exists():
        return None
    try:
        held = dict(orjson.loads((folder / MANIFEST).read_bytes()))
        sums = dict(held["files"])
    except (OSError, ValueError, LookupError, TypeError):
        raise WhetError(
            f"{folder}: was not written by Whet (there is no {MANIFEST} of ours in it); nothing was changed. Take it "
            "away, or name another folder with --into"
        ) from None
    there = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if not _is_folder(path)}
    for name in sorted((there.keys() | sums.keys()) - {MANIFEST}):
        if name not in sums or name not in there or _sum(there[name]) != sums[name]:
            raise WhetError(
                f"{folder / name}: was changed or added since {held.get('champion')} was installed; nothing was "
                "changed. Keep a copy elsewhere and take the folder away"
            )
    return held


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _sum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() and not path.is_symlink() else ""


def _recover(folder: Path) -> None:
    """What a kill left: an old folder that was on its way out is put back where no other took its place."""
    for old in sorted(folder.parent.glob(f".{folder.name}.*.old")):
        if folder.exists():
            shutil.rmtree(old, ignore_errors=True)
        else:
            old.rename(folder)
    for part in folder.parent.glob(f".{folder.name}.*.part"):
        shutil.rmtree(part, ignore_errors=True)


def _exchange(new: Path, folder: Path) -> None:
    """`new` in place of `folder`, in one step where the file system can; then `new` is what was there before."""
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        code = libc.renameat2(_HERE, os.fsencode(new), _HERE, os.fsencode(folder), _EXCHANGE)
        failed = ctypes.get_errno() if code else 0
    except (AttributeError, OSError):
        failed = errno.ENOSYS
    if failed in (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP):
        old = folder.with_name(f".{folder.name}.{os.getpid()}.old")
        folder.rename(old)
        new.rename(folder)
        shutil.rmtree(old, ignore_errors=True)
    elif failed:
        raise OSError(failed, os.strerror(failed), str(folder))


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    """Whoever changes a folder of skills does so alone."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        lock = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as problem:
        raise WhetError(f"{root}: cannot be used ({problem.strerror}); name another folder with --into") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    except PermissionError as problem:
        raise WhetError(f"{root}: cannot be written ({problem.strerror}); name another folder with --into") from None
    finally:
        os.close(lock)


def _note(releases: Path | None, kind: str, name: str, record: Mapping[str, Any]) -> None:
    """In the trail, where there is one: a package may be installed where nothing was ever promoted."""
    if releases is not None and (releases / TRAIL).is_file():
        with Trail.of(releases) as trail:
            trail.append(kind, record, subject=name)
