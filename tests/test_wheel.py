"""From a wheel, in an environment of its own, in an empty folder: everything that the first hour needs is inside.

`make fresh` does the same with nothing borrowed and the embedded model; here the packages that Whet stands on are those
of the tests.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from wheel import build, tell

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that holds the wheel, and sees the packages of the tests behind it."""
    place = tmp_path_factory.mktemp("wheel")
    source = place / "source"
    kept = ("pyproject.toml", "README.md", "LICENSE")
    shutil.copytree(ROOT / "whet", source / "whet", ignore=shutil.ignore_patterns("__pycache__"))
    for name in kept:
        shutil.copy(ROOT / name, source)
    wheel = build(source, place, [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)])
    venv.create(place / "venv", symlinks=True)
    (site,) = (place / "venv").glob("lib/python*/site-packages")
    shutil.unpack_archive(wheel, site, "zip")
    (info,) = site.glob("whet-*.dist-info")
    (info / "direct_url.json").write_text(f'{{"url": "{wheel.as_uri()}", "archive_info": {{}}}}')
    borrowed = [path for path in sys.path if path.endswith("site-packages")]
    (site / "zz_borrowed.pth").write_text("\n".join(borrowed))
    return place / "venv" / "bin" / "python"


def test_the_first_hour_from_a_wheel(python: Path, tmp_path: Path) -> None:
    surroundings = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    assert tell(python, tmp_path, surroundings, "baseline:oracle") == []


def test_it_is_the_wheel_that_runs_and_messages_lead_back_to_it(python: Path, tmp_path: Path) -> None:
    code = "import whet, whet.extras; print(whet.__file__); print(whet.extras.install('soup'))"
    done = subprocess.run([python, "-P", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    place, command = done.stdout.splitlines()
    assert Path(place).is_relative_to(python.parents[1])
    assert command.startswith("pip install 'whet[soup] @ file:///")
    assert command.endswith(".whl'")
