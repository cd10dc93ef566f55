"""The little world that untrusted code sees: system programs, Python, the preloaded libraries; all read-only.

The project, home folders, other site packages, `/proc` and `/sys` are not in it. It is built once, on a tmpfs, and the
forking parent moves into it for good; a job adds nothing but its own `/box`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from whet.sandbox import kernel

BOX = "/box"
"""Where a job's own filesystem is mounted: the only place it can write to."""

PLAY = f"{BOX}/play"
"""The private folder a job starts in."""

SCRATCH = f"{BOX}/tmp"
"""Its folder for temporary files; `/tmp` leads there."""

_SYSTEM = (
    *("/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/share"),
    *("/usr/local/bin", "/usr/local/lib", "/bin", "/sbin", "/lib", "/lib32", "/lib64"),
    *("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime"),
)
DEVICES = ("null", "full", "random", "urandom")

ZEROS = 1 << 30
"""Bytes of `/dev/zero`: a file that is one hole, because a mapping of the device is memory that no limit counts."""

_PACKAGES = ("site-packages", "dist-packages")


def surroundings(folder: str) -> dict[str, str]:
    """The variables of a command, none of them the host's. A fixed hash seed: sets print the same way every time."""
    return {"PATH": _search_path(), "HOME": folder, "TMPDIR": SCRATCH, "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"}


def _search_path() -> str:
    """This interpreter's programs first."""
    return ":".join(
        dict.fromkeys((f"{sys.prefix}/bin", f"{sys.base_prefix}/bin", "/usr/local/bin", "/usr/bin", "/bin"))
    )


def sources() -> list[str]:
    """System folders and the interpreter's own, outermost first."""
    interpreter = [f"{sys.base_prefix}/bin", f"{sys.base_prefix}/lib"]
    chosen: list[str] = []
    for path in (*_SYSTEM, *interpreter):
        if Path(path).exists() and not any(path.startswith(f"{outer}/") or path == outer for outer in chosen):
            chosen.append(path)
    return chosen


def package_folders(shown: Iterable[str]) -> list[str]:
    """Folders of installed packages that lie in what is shown: they are covered, whatever is installed there."""
    roots = [Path(path) for path in shown if Path(path).name.startswith("lib") and not Path(path).is_symlink()]
    found = {
        str(folder)
        for root in roots
        for kind in _PACKAGES
        for pattern in (f"python*/{kind}", f"*/python*/{kind}")
        for folder in root.glob(pattern)
    }
    return sorted(found)


def libraries() -> list[str]:
    """Files and folders of the installed packages that are loaded now."""
    found: set[str] = set()
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not file or name.partition(".")[0] == "whet":
            continue
        parts = Path(file).parts
        for kind in _PACKAGES:
            if kind in parts:
                top = Path(*parts[: parts.index(kind) + 2])
                bundled = top.with_name(f"{top.name}.libs")
                found.update(str(path) for path in (top, bundled) if path.exists())
    return sorted(found)


def build(root: str) -> None:
    """Builds the view on the folder `root` of this mount namespace and moves into it. There is no way back."""
    loaded = libraries()
    shown = sources()
    kernel.mount("view", root, "tmpfs", kernel.NOSUID, "mode=755,size=4m")
    for path in shown:
        if Path(path).is_symlink():
            make_parents(root, path)
            Path(root + path).symlink_to(Path(path).readlink())
        else:
            show(root, path)
    for folder in package_folders(shown):
        kernel.mount("cover", root + folder, "tmpfs", kernel.NOSUID | kernel.NODEV, "mode=755,size=1m")
    for path in loaded:
        show(root, path)
    _virtual_environment(root)
    for name in DEVICES:
        show(root, f"/dev/{name}", kernel.NOSUID | kernel.NOEXEC)
    with Path(root, "dev/zero").open("wb") as zeros:
        zeros.truncate(ZEROS)
    Path(root + BOX).mkdir()
    Path(root, "dev/shm").symlink_to(SCRATCH)
    if not Path(root, "tmp").exists():  # an interpreter may live below /tmp
        Path(root, "tmp").symlink_to(SCRATCH)
    for folder in package_folders(shown):
        kernel.mount("none", root + folder, None, kernel.REMOUNT | kernel.BIND | kernel.RDONLY | kernel.NOSUID)
    kernel.pivot_root(root)
    kernel.mount("none", "/", None, kernel.REMOUNT | kernel.BIND | kernel.RDONLY | kernel.NOSUID | kernel.NODEV)
    sys.path[:] = [path for path in sys.path if Path(path).exists() and _holds_libraries(path, shown)]


def _holds_libraries(path: str, shown: Iterable[str]) -> bool:
    """Whether a folder of the module path is one of Python's own, and not that of a project."""
    return Path(path).name in _PACKAGES or any(path.startswith(f"{outer}/") for outer in shown)


def make_parents(root: str, path: str) -> None:
    """The folders above `path` in the view."""
    Path(root + path).parent.mkdir(parents=True, exist_ok=True)


def show(root: str, path: str, flags: int = kernel.RDONLY | kernel.NOSUID | kernel.NODEV) -> None:
    """Binds a file or a folder of the host to the same place in the view."""
    make_parents(root, path)
    target = Path(root + path)
    if Path(path).is_dir():
        target.mkdir(exist_ok=True)
    else:
        target.touch()
    kernel.mount(path, str(target), None, kernel.BIND | kernel.REC)
    kernel.seal(str(target), flags)


def _virtual_environment(root: str) -> None:
    """The two files by which `python` knows that it runs in a virtual environment."""
    if sys.prefix == sys.base_prefix:
        return
    programs = Path(root + sys.prefix, "bin")
    programs.mkdir(parents=True, exist_ok=True)
    real = os.path.realpath(sys.executable)
    for name in ("python", "python3"):
        (programs / name).symlink_to(real)
    Path(root + sys.prefix, "pyvenv.cfg").write_bytes(Path(sys.prefix, "pyvenv.cfg").read_bytes())
