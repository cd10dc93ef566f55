"""The Triton kernels without a GPU: run by Triton's interpreter, they say what the plain forms say."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest


@pytest.mark.skipif(find_spec("triton") is None, reason="Triton (a gigabyte) is not installed: pip install triton")
def test_interpreted_the_kernels_agree_with_the_plain_forms() -> None:
    script = Path(__file__).with_name("kernels_interpreted.py")
    ended = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr[-2000:]
    assert "draws: True" in ended.stdout
