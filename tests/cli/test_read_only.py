"""In a folder that may not be written to, as an ordinary user: one line that names it, and nothing half done."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from nobody import start_as_nobody

COMMANDS = {
    "demo": ("demo", "-m", "baseline:oracle"),
    "init": ("init", "queue", "--from", "rows.csv", "--try", "none"),
    "env": ("init", "mine", "--env"),
    "eval": ("eval", "data:rows.csv", "-a", "answer=label", "-m", "baseline:oracle"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_says_that_nothing_can_be_written(command: str, tmp_path: Path) -> None:
    folder = tmp_path / "shut"
    folder.mkdir()
    rows = "".join(f"row {n} of {n * 37 % 101},{'ab'[n % 2]}\n" for n in range(24))
    (folder / "rows.csv").write_text("text,label\n" + rows)
    before = sorted(folder.iterdir())
    folder.chmod(0o555)
    words = [sys.executable, "-m", "whet", *COMMANDS[command]]
    tmp_path.chmod(0o755)
    done = start_as_nobody(
        words,
        tmp_path,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    out, err = done.communicate(timeout=120)
    assert "Traceback" not in out + err
    assert done.returncode == 2, (out, err)
    assert "denied" in err.lower() or "cannot be" in err, err
    assert len(err.strip().splitlines()) == 1, err
    assert sorted(folder.iterdir()) == before
