"""Two by two: trained weights and an evolved playbook, alone and together; and a playbook distilled into weights."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from small_world import Hail, sft_config

from whet.config.playbooks import write_playbook
from whet.errors import WhetError
from whet.run.api import train
from whet.run.compose import Given
from whet.run.cross import CELLS, cross_config, run_cross
from whet.run.cross_runs import RUNS_KIND
from whet.run.register import Register
from whet.run.train import TrainResult
from whet.types import Playbook


@pytest.fixture(scope="module")
def trained(base: Path, tmp_path_factory: pytest.TempPathFactory) -> TrainResult:
    config = sft_config(
        base,
        train={"tasks": 10, "test": 8, "select": 8},
        tune={"steps": 20, "segment": 20, "lr": 0.005, "rank": 16, "micro": 10},
        sft={"batch": 10},
        gate={"name": "none"},
    )
    return train(config, env=Hail(), runs=tmp_path_factory.mktemp("runs"), name="weights")


def evolved(folder: Path, text: str = "beg") -> Path:
    file = folder / "evolved.json"
    file.write_bytes(write_playbook(Playbook(text)))
    return file


def test_four_cells_on_the_same_sealed_tasks_open_the_test_once(trained: TrainResult, tmp_path: Path) -> None:
    runs = trained.folder.parent
    config = cross_config("weights", str(evolved(tmp_path)), runs, 8)
    before = len(Register(runs)._read())
    result = run_cross(config, Given(env=Hail()), runs=runs, name="cross")
    assert tuple(result.summaries) == CELLS
    assert {summary.overall.tasks for summary in result.summaries.values()} == {8}
    told = json.loads((runs / "cross" / "cross.json").read_text())
    assert told["cells"]["base, plain"]["value"] == 0.0
    assert told["cells"]["trained, plain"]["value"] == 1.0
    assert told["contrasts"]["training, with the plain playbook"]["interval"][0] > 0
    assert told["opening"] == 2
    assert len(Register(runs)._read()) == before + 1
    again = run_cross(config, Given(env=Hail()), runs=runs, name="cross")
    assert list(again.lines()) == list(result.lines())
    assert len(Register(runs)._read()) == before + 1


def test_a_table_is_shown_and_rebuilt_from_its_ledger(trained: TrainResult, tmp_path: Path) -> None:
    runs = trained.folder.parent
    config = cross_config("weights", str(evolved(tmp_path)), runs, 4)
    result = run_cross(config, Given(env=Hail()), runs=runs, name="again")
    file = result.folder / "cross.json"
    held = file.read_bytes()
    file.unlink()
    RUNS_KIND.rebuild(result.folder, Given(env=Hail()))
    assert file.read_bytes() == held
    assert "base, evolved" in "\n".join(result.lines())


def test_what_cannot_be_crossed_is_refused(trained: TrainResult, tmp_path: Path) -> None:
    runs = trained.folder.parent
    with pytest.raises(WhetError, match="the four cells would be two"):
        run_cross(cross_config("weights", str(evolved(tmp_path, "")), runs), Given(env=Hail()), runs=runs)
    where = trained.folder / "weights.json"
    told = json.loads(where.read_text())
    where.write_text(json.dumps({**told, "best": told["base"]}))
    try:
        with pytest.raises(WhetError, match="no trained weights were accepted"):
            cross_config("weights", str(evolved(tmp_path)), runs)
    finally:
        where.write_text(json.dumps(told))


def test_weights_that_were_trained_without_a_test_are_crossed_on_as_many_tasks_as_one_says(
    trained: TrainResult, tmp_path: Path
) -> None:
    runs = trained.folder.parent
    closed = runs / "closed"
    shutil.copytree(trained.folder, closed, ignore=shutil.ignore_patterns("*.lock", "checkpoints"))
    said = (closed / "config.toml").read_text()
    (closed / "config.toml").write_text(said.replace("test = 8", "test = 0"))
    with pytest.raises(WhetError, match=r"train.test = 0; say how many sealed tasks to open"):
        cross_config("closed", str(evolved(tmp_path)), runs)
    with pytest.raises(WhetError, match="-n 0: four cells need at least one"):
        cross_config("weights", str(evolved(tmp_path)), runs, 0)
    assert cross_config("closed", str(evolved(tmp_path)), runs, 5).eval.n == 5


def test_a_playbook_of_another_environment_is_refused_unless_its_file_is_named(trained: TrainResult) -> None:
    runs = trained.folder.parent
    other = runs / "other"
    shutil.copytree(trained.folder, other, ignore=shutil.ignore_patterns("*.lock", "checkpoints"))
    (other / "best_playbook.json").write_bytes(write_playbook(Playbook("beg")))
    said = (trained.folder / "config.toml").read_text()
    assert cross_config("weights", "other", runs).cross.playbook == str(other / "best_playbook.json")
    (other / "config.toml").write_text(said.replace('name = "hail"', 'name = "groupqc"'))
    with pytest.raises(WhetError, match="evolved on groupqc, not on hail"):
        cross_config("weights", "other", runs)
    assert cross_config("weights", str(other / "best_playbook.json"), runs)


def test_the_second_table_of_the_same_test_is_another_opening(trained: TrainResult, tmp_path: Path) -> None:
    runs = trained.folder.parent
    config = cross_config("weights", str(evolved(tmp_path)), runs, 3)
    openings = [run_cross(config, Given(env=Hail()), runs=runs, name=f"t{at}").caveats.opening for at in range(2)]
    assert openings[1] == openings[0] + 1


def test_a_playbook_is_distilled_into_weights(trained: TrainResult, base: Path, tmp_path: Path) -> None:
    """Rollouts that were made with a playbook are imitated without it: afterwards it is not needed."""
    from whet.run.api import evaluate

    address = json.loads((trained.folder / "weights.json").read_text())["best"]
    made = evaluate(
        Hail(), address, n=20, split="train", playbook=Playbook("beg"), runs=tmp_path,
        overrides=["target.sampling.max_tokens=3", "target.sampling.temperature=0.0", "eval.floor=false"],
    )  # fmt: skip
    assert (made.pass_rate or 0) > 0.5
    sections: dict[str, Any] = {
        "train": {"tasks": 10, "test": 8, "select": 8},
        "tune": {"steps": 20, "segment": 20, "lr": 0.005, "rank": 16, "micro": 10},
        "sft": {"batch": 10, "source": "run", "path": str(made.folder), "purpose": "eval", "playbook": "drop"},
        "gate": {"name": "none"},
    }
    result = train(sft_config(base, **sections), env=Hail(), runs=tmp_path, name="distilled")
    assert result.judge.best.policy.playbook == Playbook()
    assert result.summary["baseline_test_hard"] == 0.0
    assert result.summary["test_hard"] > 0.9
