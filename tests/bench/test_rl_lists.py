"""The lists of jobs for a GPU: every training that they begin has settings that a training takes.

One did not: parts of ten rows of a step of 256. That came out on the GPU, twenty minutes into a sitting.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench")]

pytest.importorskip("torch")
pytest.importorskip("trl")
pytest.importorskip("bs4")
pytest.importorskip("highspy")

import rl  # noqa: E402
import rl_ablation  # noqa: E402
import rl_groupqc  # noqa: E402
import rl_records  # noqa: E402
import rl_soup  # noqa: E402
import rl_step  # noqa: E402
import sitting  # noqa: E402

import whet  # noqa: E402
from whet.run.train import load_train_config  # noqa: E402

BENCHES = {module.__name__: module for module in (rl, rl_ablation, rl_groupqc, rl_soup, rl_step)}
MEASURING = ("base", "qc_base", "soup_base", "start", "gradient")
"""Jobs that train nothing."""


class Reached(Exception):
    """A training would begin now."""


def a_place(work: Path) -> dict[str, str]:
    """A work folder with what arms go on from, and the variables that lists name."""
    for seed in (0, 1, 2):
        adapter = work / f"sft_{seed}" / "adapter"
        adapter.mkdir(parents=True)
        (adapter / rl_records.WEIGHTS).write_bytes(b"weights")
    (work / "traces.jsonl").write_text("")
    for name in ("step", "step_sft", "step_one"):
        (work / f"{name}.json").write_text(json.dumps({"alone": 3.0, "attempt": 0.01}))
    tool = work / "bin" / "python3"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
    tool.chmod(0o755)
    folders = dict.fromkeys(("W", "A", "Q", "S"), str(work))
    adapter = str(work / "sft_0" / "adapter")
    path = f"{tool.parent}:{os.environ['PATH']}"
    return {"PATH": path, "T": "600", "TWICE": "--alone 6", "ADAPTER": adapter} | folders


@pytest.mark.parametrize("name", ["rl_seed", "rl_tune", "rl_ablation", "rl_groupqc", "rl_soup"])
def test_every_training_of_a_list_has_settings_that_a_training_takes(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Any] = []

    def train(config: Path, *, overrides: list[str], **_: object) -> None:
        begun.append(load_train_config(config, None, overrides))
        raise Reached

    monkeypatch.setattr(whet, "train", train)
    monkeypatch.setattr(rl, "_own_plays", lambda work, seed, place: place / "runs" / "played")
    monkeypatch.setattr(rl_ablation, "start", lambda work, adapter: "A")
    monkeypatch.setattr(rl_soup, "sound", lambda place: None)
    jobs, told = sitting.read_jobs([ROOT / "bench" / f"{name}.toml"])
    known = a_place(tmp_path)
    environment = known | sitting.settled(jobs, told, known)
    for job in jobs:
        if job.name in MEASURING:
            continue
        if job.name.startswith("stages_"):  # which takes as many steps as flat took, and that was made by now
            flat = {"steps": 40, "environment": rl_records.environment_code("ordebug")}
            rl_records.keep(tmp_path / job.name.replace("stages", "flat"), flat)
        command = ["sh", "-c", job.run]
        made = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True)
        script, *given = made.stdout.splitlines()
        monkeypatch.setattr(sys, "argv", [script, *given])
        monkeypatch.chdir(ROOT)
        with pytest.raises(Reached):
            BENCHES[Path(script).stem].main()
        sft = getattr(begun[-1], "sft", None)
        assert sft is None or sft.batch % min(begun[-1].tune.micro, sft.batch) == 0, job.name
    assert len(begun) == len([job for job in jobs if job.name not in MEASURING])
