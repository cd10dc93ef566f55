"""gVisor (`runsc`) as a tier above namespaces: a kernel of its own, in user space, between the code and the host's.

Asked for by name, because each job starts a cold sandbox and a cold Python. The view, the limits and the launcher are
those of bubblewrap; the walls are told to `runsc` as a bundle, the form in which containers are described.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whet.sandbox import view
from whet.sandbox.bubblewrap import interpreter, launch_words, lay_aside


def find() -> str | None:
    """Where runsc is, if it is installed."""
    found = shutil.which("runsc")
    return os.path.abspath(found) if found else None  # noqa: PTH100 - a link must stay the link that was named


def bundle(folder: str, job_folder: str, limits: Mapping[str, int], argv: list[str], disk: int) -> dict[str, Any]:
    """The description of a container: nothing but the view and the job's own folder, no network, no privilege."""
    shown = view.sources()
    mounts = [_bound(path, path) for path in shown if not Path(path).is_symlink()]
    mounts += [_memory(path, "1m", "ro") for path in view.package_folders(shown)]
    mounts += [_bound(path, path) for path in view.libraries()]
    if sys.prefix != sys.base_prefix:
        mounts.append(_bound(f"{sys.prefix}/pyvenv.cfg", f"{sys.prefix}/pyvenv.cfg"))
    mounts += [_memory(view.BOX, str(disk), "rw"), _bound(folder, view.PLAY, "rw"), _bound(job_folder, "/job")]
    none: dict[str, list[str]] = {kind: [] for kind in ("bounding", "effective", "permitted", "inheritable", "ambient")}
    variables = view.surroundings(view.PLAY)
    return {
        "ociVersion": "1.0.2",
        "hostname": "sandbox",
        "root": {"path": "root", "readonly": True},
        "mounts": mounts,
        "process": {
            "cwd": view.PLAY,
            "args": launch_words(limits, argv),
            "env": [f"{name}={value}" for name, value in variables.items()],
            "user": {"uid": os.getuid(), "gid": os.getgid()},
            "capabilities": none,
            "noNewPrivileges": True,
            "rlimits": [
                {"type": name, "soft": value, "hard": value} for name, value in limits.items() if "CPU" in name
            ],
        },
        "linux": {"namespaces": [{"type": kind} for kind in ("pid", "network", "ipc", "uts", "mount")]},
    }


def arguments(program: str, folder: str, name: str) -> list[str]:
    """The command line: no network, files through the gofer alone, state beside the bundle."""
    rootless = [] if os.getuid() == 0 else ["--rootless"]
    words = [program, *rootless, "--network=none", "--host-uds=none", "--overlay2=none", f"--root={folder}/state"]
    return [*words, "run", f"--bundle={folder}", name]


def become(
    program: str, job: Mapping[str, Any], folder: str, limits: Mapping[str, int], filters: Mapping[str, bytes]
) -> None:
    """Replaces this process by runsc and the job behind it. Comes back only by an error."""
    aside = lay_aside(job, folder, filters)
    place = Path(folder).parent / "bundle"
    root = place / "root"
    root.mkdir(parents=True)
    for path in view.sources():
        if Path(path).is_symlink():
            link = Path(f"{root}{path}")
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(Path(path).readlink())
    if sys.prefix != sys.base_prefix:
        Path(f"{root}{interpreter()}").parent.mkdir(parents=True)
        Path(f"{root}{interpreter()}").symlink_to(os.path.realpath(sys.executable))
    told = bundle(folder, str(aside), limits, job.get("argv", []), int(job["limits"]["disk"]))
    (place / "config.json").write_text(json.dumps(told))
    words = arguments(program, str(place), f"whet-{os.getpid()}")
    os.execve(words[0], words, {"PATH": "/usr/local/bin:/usr/bin:/bin"})


def _bound(source: str, target: str, mode: str = "ro") -> dict[str, Any]:
    return {"destination": target, "type": "bind", "source": source, "options": ["rbind", mode, "nosuid", "nodev"]}


def _memory(target: str, size: str, mode: str) -> dict[str, Any]:
    return {
        "destination": target,
        "type": "tmpfs",
        "source": "tmpfs",
        "options": [mode, f"size={size}", "nosuid", "nodev"],
    }
