"""`whet ordebug` as a user types it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import Doubles
from typer.testing import CliRunner

from whet.apps.ordebug.commands import app
from whet.apps.ordebug.gradient import GradientPlan, against, gradient
from whet.envs.ordebug import FAMILY
from whet.envs.ordebug.environment import OrDebug
from whet.envs.ordebug.protocol import MalformedStep, read_text
from whet.envs.splits import split_of
from whet.errors import WhetError
from whet.evals.estimate import Estimate, Interval
from whet.run.api import evaluate

SAMPLE = Path(__file__).parents[2] / "envs" / "ordebug" / "data" / "sample"
CELLS = ["--cell", "type_A_easy", "--cell", "type_D_easy"]


@pytest.fixture(autouse=True, scope="module")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_generate_writes_a_folder_for_each_cell(tmp_path: Path) -> None:
    output = run("generate", *CELLS, "--n", "1", "--out", str(tmp_path / "out"), "-j", "1")
    assert "2 problems" in output
    assert sorted(path.name for path in (tmp_path / "out").iterdir() if path.is_dir()) == ["type_A_easy", "type_D_easy"]


def test_generate_wants_to_know_which_cells(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="--all, or --cell"):
        run("generate", "--n", "1", "--out", str(tmp_path / "out"))


def test_an_unknown_cell_is_named_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="type_A_easy"):
        run("generate", "--cell", "type_A_eazy", "--out", str(tmp_path / "out"))


def test_inspect_says_what_is_taken_and_what_is_refused(tmp_path: Path) -> None:
    records = json.loads((SAMPLE / "dataset.json").read_text())
    records["problems"] = records["problems"][:2]
    (tmp_path / "models").mkdir()
    for record in records["problems"]:
        name = record.get("file") or record["model_file"]
        (tmp_path / name).write_text((SAMPLE / name).read_text())
    (tmp_path / name).write_text("NAME broken\n")
    (tmp_path / "dataset.json").write_text(json.dumps(records))
    output = run("inspect", str(tmp_path))
    assert "1 problems can be used, 1 are refused" in output
    assert "without ENDATA" in output


def test_a_cross_check_without_gurobi_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gurobipy", None)
    with pytest.raises(WhetError, match="pip install gurobipy"):
        run("inspect", str(SAMPLE), "--gurobi")


def traced(folder: Path, *arguments: str) -> list[dict[str, object]]:
    out = folder / "traces.jsonl"
    run("traces", "--out", str(out), "--n", "4", "-a", "difficulty=easy", *arguments)
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_traces_are_conversations_that_end_in_a_submission(tmp_path: Path) -> None:
    records = traced(tmp_path)
    assert len(records) == 4
    for record in records:
        messages = record["messages"]
        assert isinstance(messages, list)
        said = [message["content"] for message in messages if message["role"] == "assistant"]
        assert not any(isinstance(read_text(text), MalformedStep) for text in said)
        assert said[-1].endswith("Action: submit")


def test_traces_come_from_training_problems_alone(tmp_path: Path) -> None:
    env = FAMILY.build("", "", {"difficulty": "easy"})
    assert isinstance(env, OrDebug)
    instances = {one.id: one for one in (env.instance("train", index) for index in range(4))}
    for record in traced(tmp_path):
        assert split_of(instances[str(record["id"])].content) == "train"


def test_traces_are_the_same_bytes_again_and_others_with_another_seed(tmp_path: Path) -> None:
    one, again, other = traced(tmp_path), traced(tmp_path), traced(tmp_path, "--seed", "1")
    assert one == again
    assert one != other


def test_traces_as_tool_calls_carry_the_tools(tmp_path: Path) -> None:
    record = traced(tmp_path, "-a", "protocol=tools")[0]
    assert len(record["tools"]) == 19  # type: ignore[arg-type]


def test_the_gradient_of_the_oracle_is_flat_and_continues_its_runs(tmp_path: Path) -> None:
    arguments = [
        "gradient",
        "-m",
        "baseline:oracle",
        "--n",
        "2",
        "--runs",
        str(tmp_path / "runs"),
        *CELLS,
        "--no-floor",
    ]
    first = run(*arguments, "--json", str(tmp_path / "one.json"))
    assert "type_A_easy" in first
    assert "repaired@10: easy 100 %" in first
    runs = sorted((tmp_path / "runs").iterdir())
    assert len(runs) == 2
    run(*arguments, "--json", str(tmp_path / "two.json"))
    assert sorted((tmp_path / "runs").iterdir()) == runs
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    found = json.loads((tmp_path / "one.json").read_text())["cells"]["type_A_easy"]
    assert (found["verdict"], found["model"]["repaired@10"]["value"]) == ("in band", 1.0)


def test_the_gradient_shows_the_reference_policies_beside_a_model(tmp_path: Path) -> None:
    [row] = gradient(GradientPlan("baseline:drop-first-iis", n=1), runs=tmp_path, cells=["type_D_easy"])
    assert list(row.others) == ["random", "drop-first-iis", "elastic", "greedy", "search", "oracle"]
    assert row.others["oracle"].metrics["repaired@10"].value == 1.0
    assert row.others["drop-first-iis"] == row.model


def test_metrics_show_a_run_with_its_floor(tmp_path: Path) -> None:
    env = FAMILY.build("", str(SAMPLE), {})
    result = evaluate(env, "baseline:greedy", n=2, runs=tmp_path)
    output = run("metrics", str(result.folder), "--json", str(tmp_path / "figures.json"))
    assert "greedy" in output
    found = json.loads((tmp_path / "figures.json").read_text())
    assert {"baseline:random", "baseline:drop-first-iis", "baseline:elastic", "baseline:search"} <= set(found)
    assert {"repaired@5", "feasible@5", "RR@5", "DA", "OP", "precision", "minimal", "steps", "tokens"} <= set(
        found["baseline:greedy"]
    )


def test_metrics_of_another_environment_are_refused(tmp_path: Path) -> None:
    result = evaluate(Doubles(), "baseline:empty", n=1, runs=tmp_path)
    with pytest.raises(WhetError, match="not of ordebug"):
        run("metrics", str(result.folder))


@pytest.mark.parametrize(
    ("value", "low", "high", "verdict"),
    [
        (0.7, 0.6, 0.8, "in band"),
        (0.85, 0.75, 0.92, "overlaps"),
        (0.95, 0.85, 0.99, "above"),
        (0.2, 0.1, 0.35, "below"),
    ],
)
def test_a_rate_stands_to_its_band_by_value_and_interval(value: float, low: float, high: float, verdict: str) -> None:
    assert against(Estimate(value, Interval(low, high), 50), (0.6, 0.8)) == verdict
