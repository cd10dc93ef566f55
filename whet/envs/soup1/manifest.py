"""Compares the benchmark with its manifest, or commits it anew: `python -m whet.envs.soup1.manifest [--write]`."""

from __future__ import annotations

import sys

from whet.envs.soup1 import bench
from whet.envs.soup1.environment import FirstSoup


def main() -> None:
    env = FirstSoup()
    tasks = [env.task("test", index) for index in range(env.size("test") or 0)]
    if "--write" in sys.argv[1:]:
        bench.write(tasks)
    changed = bench.changed(tasks)
    sys.stdout.write(f"{len(tasks):,} tasks, {len(changed)} not as in the manifest\n")
    sys.exit(1 if changed else 0)


if __name__ == "__main__":
    main()
