"""What starting costs: `import whet` beyond a bare interpreter, and `whet --help`, in CPU seconds.

python bench/startup.py [--quick] [--json FILE]
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator

from rows import Row, arguments, report


def cpu(*command: str) -> float:
    """CPU seconds of a command, its start included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rows(quick: bool) -> Iterator[Row]:
    rounds = 5 if quick else 20
    bare, imported, helped = (
        min(cpu(*command) for _ in range(rounds))
        for command in (("-c", "pass"), ("-c", "import whet"), ("-m", "whet", "--help"))
    )
    condition = f"best of {rounds}"
    yield Row(
        "import_whet",
        imported - bare,
        "s",
        0.15,
        imported - bare < 0.15,
        "bare start",
        bare,
        imported / bare,
        condition,
    )
    yield Row("whet_help", helped, "s", 0.4, helped < 0.4, condition=condition)


if __name__ == "__main__":
    options = arguments(__doc__)
    report(rows(options.quick), options.json)
