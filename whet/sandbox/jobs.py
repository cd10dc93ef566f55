"""A sandbox job as plain data: what to run, with which files, within which limits; and the check that it is one.

A play builds a job with `run_python` or `run_command` and yields it. What a policy can bring about (too much code, a
file name that leaves the workspace) is answered with `error = "refused"`; a payload that no policy could write is a
`WhetError`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from whet.errors import WhetError, nearest
from whet.types import Work, WorkResult

MIB = 1024 * 1024

PATIENCE = 300.0
"""Seconds a job may wait for a place beside its own time: the sandbox itself ends the code at `Limits.wall`."""

MOST_TEXT = 4_000_000
"""Characters of code, standard input or one file that a job may bring."""

MOST_FILES = 256


@dataclass(frozen=True, slots=True)
class Limits:
    """What a job may use: seconds, bytes and counts. `output` is characters kept of stdout and of stderr, each."""

    wall: float = 10.0
    cpu: float = 10.0
    memory: int = 512 * MIB
    processes: int = 16
    open_files: int = 64
    file_size: int = 16 * MIB
    output: int = 200_000
    disk: int = 64 * MIB


def run_python(
    code: str, *, files: Mapping[str, str] = {}, stdin: str = "", limits: Limits = Limits(), collect: Sequence[str] = ()
) -> Work:
    """A work that runs `code` as a program of its own, beside `files`; the files named in `collect` come back."""
    return _job({"python": code}, files, stdin, limits, collect)


def run_command(
    argv: Sequence[str],
    *,
    files: Mapping[str, str] = {},
    stdin: str = "",
    limits: Limits = Limits(),
    collect: Sequence[str] = (),
) -> Work:
    """A work that runs a program, e.g. `["python", "tests.py"]`, in a workspace that holds `files`."""
    return _job({"argv": list(argv)}, files, stdin, limits, collect)


def _job(what: dict[str, Any], files: Mapping[str, str], stdin: str, limits: Limits, collect: Sequence[str]) -> Work:
    payload = {**what, "files": dict(files), "stdin": stdin, "limits": asdict(limits), "collect": list(collect)}
    return Work("sandbox", payload, limits.wall + PATIENCE)


def blank_run() -> dict[str, Any]:
    """The value of a job that did not run."""
    return {"exit_code": -1, "stdout": "", "stderr": "", "files": {}, "truncated": False, "seconds": 0.0}


def refused(why: str) -> WorkResult:
    return WorkResult(blank_run(), "refused", why)


def checked(payload: Mapping[str, Any]) -> dict[str, Any] | WorkResult:
    """The payload made whole, or the result that refuses it. Raises `WhetError` where the payload is not a job."""
    job = _shaped(payload)
    texts = {"the code": job.get("python", ""), "standard input": job["stdin"], **job["files"]}
    for name, text in texts.items():
        if len(text) > MOST_TEXT:
            return refused(f"{name} has {len(text):,} characters, more than {MOST_TEXT:,}")
    if sum(len(text.encode(errors="replace")) for text in job["files"].values()) > job["limits"]["disk"]:
        return refused(f"its files have more than {job['limits']['disk']:,} bytes")
    if len(job["files"]) > MOST_FILES or len(job["collect"]) > MOST_FILES:
        return refused(f"more than {MOST_FILES} files")
    for name in (*job["files"], *job["collect"]):
        if problem := name_problem(name):
            return refused(f"file name {name!r}: {problem}")
    for name in job["files"]:
        if any(other.startswith(f"{name}/") for other in job["files"]):
            return refused(f"file name {name!r}: it is also the folder of another file")
    for text in (*texts.values(), *job["files"], *job["collect"], *job.get("argv", ())):
        if not _encodable(text):
            return refused("text that is not valid Unicode (a lone surrogate)")
    if any("\0" in word for word in job.get("argv", ())):
        return refused("a command with a NUL character")
    return job


def name_problem(name: str) -> str:
    """Why `name` is not a file of the workspace, or ''."""
    parts = name.split("/")
    if name.startswith("/"):
        return "it is absolute; name files relative to the workspace"
    if ".." in parts:
        return "it leaves the workspace ('..')"
    if "" in parts or "." in parts:
        return "it has an empty part or '.'"
    if "\0" in name or len(name) > 512 or any(len(part.encode(errors="replace")) > 200 for part in parts):
        return "it is too long or has a NUL character"
    return ""


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


_KEYS = ("python", "argv", "files", "stdin", "limits", "collect")


def _shaped(payload: Mapping[str, Any]) -> dict[str, Any]:
    for key in payload:
        if key not in _KEYS:
            raise WhetError(f"sandbox job: unknown key {key!r}.{nearest(str(key), _KEYS)} It takes {', '.join(_KEYS)}")
    if ("python" in payload) == ("argv" in payload):
        raise WhetError("sandbox job: give 'python' (code) or 'argv' (a command), one of the two")
    job = {"files": {}, "stdin": "", "collect": [], **payload}
    sound = {
        "python": isinstance(job.get("python", ""), str),
        "argv": _words(job.get("argv", ["-"])) and len(job.get("argv", ["-"])) > 0,
        "files": isinstance(job["files"], Mapping) and _words([*job["files"], *job["files"].values()]),
        "stdin": isinstance(job["stdin"], str),
        "collect": _words(job["collect"]),
    }
    for key, right in sound.items():
        if not right:
            raise WhetError(f"sandbox job: {key!r} has the wrong type; build jobs with run_python or run_command")
    job["limits"] = _limits(payload.get("limits", {}))
    return job


def _words(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(word, str) for word in value)


def _limits(given: Any) -> dict[str, float]:
    known = {field.name: field.default for field in fields(Limits)}
    if not isinstance(given, Mapping):
        raise WhetError("sandbox job: 'limits' must be a mapping of limit to number")
    for name, value in given.items():
        if name not in known:
            raise WhetError(f"sandbox limit {name!r} is unknown.{nearest(str(name), known)} Known: {', '.join(known)}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 2**50:
            raise WhetError(f"sandbox limit {name!r} must be a positive number, not {value!r}")
    return {**known, **given}
