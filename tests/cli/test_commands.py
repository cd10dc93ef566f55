"""The commands as a user types them: what they print, what they leave behind, and how they refuse."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest
from command_line import Whet
from loopback import Behaviour, serving

from whet.ledger.store import FILE, Ledger
from whet.ledger.writer import LedgerWriter

SUMS = f"{Path(__file__).parents[2] / 'examples' / 'sums.py'}:Sums"


def test_an_evaluation_prints_its_table_and_leaves_results(whet: Whet, tmp_path: Path) -> None:
    said = whet("eval", SUMS, "-m", "baseline:oracle", "-n", "40", "--run", "o")
    assert said.code == 0, said.err
    assert "1.00 [0.90, 1.00]" in said.out
    results = orjson.loads((tmp_path / "runs" / "o" / "results.json").read_bytes())
    asked_for = {"model", "num_examples", "avg_reward", "pass_rate", "perfect_rate", "by_archetype", "results"}
    assert asked_for <= results.keys()
    assert (results["num_examples"], results["pass_rate"], len(results["results"])) == (40, 1.0, 40)


def test_the_floor_stands_beside_every_score(whet: Whet, tmp_path: Path) -> None:
    assert "floor: " in whet("eval", SUMS, "-m", "baseline:oracle", "-n", "10", "--run", "o").out
    floor = orjson.loads((tmp_path / "runs" / "o" / "results.json").read_bytes())["floor"]
    assert {"empty", "echo", "constant", "frequent"} <= floor["policies"].keys()


def test_the_same_command_again_replays(whet: Whet) -> None:
    first = whet("eval", SUMS, "-m", "baseline:oracle", "-n", "10")
    again = whet("eval", SUMS, "-m", "baseline:oracle", "-n", "10")
    assert "all 10 rollouts replayed" in again.out
    assert "replayed" not in first.out


def test_a_sample_is_not_the_first_n(whet: Whet, tmp_path: Path) -> None:
    whet("eval", SUMS, "-m", "baseline:oracle", "-n", "20", "--run", "o")
    results = orjson.loads((tmp_path / "runs" / "o" / "results.json").read_bytes())["results"]
    assert {one["id"] for one in results} != {f"select/{index}" for index in range(20)}


def test_compare_shows_what_changed_hands(whet: Whet, tmp_path: Path) -> None:
    (tmp_path / "p.md").write_text("Think twice.")
    with serving(Behaviour(solves=0.3, taught={"Think twice": 0.9})) as server:
        for name, playbook in (("a", "blank"), ("b", "p.md")):
            words = ("-m", "openai:any", "--base-url", server.base_url, "-n", "80", "--playbook", playbook)
            assert whet("eval", SUMS, *words, "--run", name).code == 0
    assert " on mixed(0.5): " in whet("compare", "a", "b", "--metric", "mixed(0.5)").out
    said = whet("compare", "a", "b", "--json", "c.json")
    assert said.out.startswith("b is better than a: +")
    assert "only B solves" in said.out
    assert orjson.loads((tmp_path / "c.json").read_bytes())["overall"]["p"] < 0.001


def test_a_candidate_is_brought_to_the_gate_in_one_line(whet: Whet, tmp_path: Path) -> None:
    (tmp_path / "p.md").write_text("Think twice.")
    with serving(Behaviour(solves=0.1, taught={"Think twice": 0.95})) as server:
        words = ("-m", "openai:any", "--base-url", server.base_url, "-n", "80", "--run", "a")
        assert whet("eval", SUMS, *words).code == 0
        said = whet("gate", "a", "--candidate", "p.md")
    assert said.code == 0, said.err
    verdict, evidence = said.out.strip().splitlines()
    assert verdict.startswith("accepted by paired (gain_shown)")
    assert orjson.loads(Path(evidence.removeprefix("evidence: ")).read_bytes())["verdict"] == "accept"


def test_gates_are_tried_out_in_a_world(whet: Whet, tmp_path: Path) -> None:
    world = Path(SUMS.removesuffix(":Sums")).parent / "worlds" / "eight-points.toml"
    said = whet("gate", "simulate", "--world", str(world), "--gate", "strict", "--runs", "3", "--json", "s.json")
    assert said.code == 0, said.err
    assert "true gain" in said.out
    assert orjson.loads((tmp_path / "s.json").read_bytes())["gates"][0]["gate"] == "strict"


def test_runs_lists_and_shows(whet: Whet) -> None:
    whet("eval", SUMS, "-m", "baseline:oracle", "-n", "10", "--run", "o")
    assert "complete" in whet("runs").out
    assert "baseline:oracle" in whet("runs", "show", "o").out
    task = orjson.loads(Path("runs/o/results.json").read_bytes())["results"][0]["id"]
    assert "solved: correct" in whet("runs", "show", "o", "--task", task).out


def test_a_name_does_not_lead_out_of_the_folder_of_runs(whet: Whet) -> None:
    for name in ("../x", "/tmp/x", "a/../../x"):
        said = whet("eval", SUMS, "-m", "baseline:oracle", "-n", "10", "--run", name)
        assert (said.code, "leads out of runs" in said.err) == (2, True)
    assert not Path("runs").exists()


def test_more_tasks_than_there_are_is_said(whet: Whet) -> None:
    said = whet("eval", SUMS, "-m", "baseline:oracle", "-n", "1000000", "--run", "all")
    assert "1,000,000 tasks were asked for; select has " in said.out


def test_a_budget_stops_cleanly_and_resume_continues(whet: Whet) -> None:
    with serving() as server:
        words = ("-m", "openai:any", "--base-url", server.base_url, "-n", "30", "--run", "r")
        stopped = whet("eval", SUMS, *words, "--set", "control.budget.calls=12")
        assert stopped.code == 3
        assert "budget of 12 calls reached" in stopped.out
        assert "whet resume" in stopped.out
        resumed = whet("resume", "r", "--set", "control.budget.calls=100")
        assert "stopped" not in resumed.out
        assert server.requests == 30


def test_a_dead_endpoint_is_named_and_the_exit_code_says_so(whet: Whet) -> None:
    words = ("-m", "openai:any", "--base-url", "http://127.0.0.1:9/v1", "--set", "control.target.attempts=1")
    said = whet("eval", SUMS, *words, "-n", "3")
    assert said.code == 1
    assert "last fault: connection at http://127.0.0.1:9/v1/chat/completions: no connection" in said.out


def test_rebuild_writes_the_same_bytes(whet: Whet, tmp_path: Path) -> None:
    whet("eval", SUMS, "-m", "baseline:echo", "-n", "10", "--run", "o")
    file = tmp_path / "runs" / "o" / "results.json"
    before = file.read_bytes()
    file.unlink()
    assert whet("rebuild", "o").code == 0
    assert file.read_bytes() == before


def test_a_dry_run_calls_and_writes_nothing(whet: Whet, tmp_path: Path) -> None:
    said = whet("eval", SUMS, "-m", "openai:any", "--base-url", "http://127.0.0.1:9/v1", "-n", "10", "--dry-run")
    assert said.code == 0, said.err
    assert "plan: 10 tasks of select x 1 = 10 rollouts" in said.out
    assert "price unknown" in said.out
    assert not (tmp_path / "runs").exists()


def test_options_go_over_the_config_file(whet: Whet, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(f'[env]\nname = "{SUMS}"\n[target]\nmodel = "baseline:oracle"\n[eval]\nn = 5\n')
    assert "plan: 5 tasks" in whet("eval", "--config", "c.toml", "--dry-run").out
    assert "plan: 7 tasks" in whet("eval", "--config", "c.toml", "-n", "7", "--dry-run").out


REFUSALS = {
    "environment": (("eval", "reasoning-gim/x", "-m", "baseline:oracle"), "reasoning-gym"),
    "split": (("eval", SUMS, "-m", "baseline:oracle", "--split", "dev"), "'train', 'select' or 'test'"),
    "scheme": (("eval", SUMS, "-m", "opnai:x"), "openai"),
    "no scheme": (("eval", SUMS, "-m", "gpt-4"), "Did you mean 'openai:gpt-4'"),
    "baseline": (("eval", SUMS, "-m", "baseline:orcle"), "Did you mean 'oracle'?"),
    "key": (("eval", SUMS, "-m", "baseline:oracle", "--set", "evl.n=3"), "Did you mean 'eval'?"),
    "playbook": (("eval", SUMS, "-m", "baseline:oracle", "--playbook", "none.md"), "none.md: no such playbook"),
    "n of 0": (("eval", SUMS, "-m", "baseline:oracle", "-n", "0"), "at least 1"),
    "n of words": (("eval", SUMS, "-m", "baseline:oracle", "-n", "many"), "eval.n = 'many'"),
    "argument": (("eval", SUMS, "-m", "baseline:oracle", "-a", "nonsense=1"), "nonsense"),
    "empty split": (("eval", SUMS, "-m", "baseline:oracle", "-a", "select=0"), "no tasks"),
    "price": (("eval", SUMS, "-m", "openai:x", "--base-url", "http://127.0.0.1:9/v1", "--max-usd", "1"), "price"),
    "missing model": (("eval", SUMS), "target.model is missing"),
    "run": (("runs", "show", "nothing"), "no run here"),
    "compare": (("compare", "nothing", "neither"), "no run here"),
    "gate": (("gate", "simulate", "--world", "none.toml"), "none.toml"),
    "gate run": (("gate", "nothing", "--candidate", "none.md"), "no"),
    "config": (("eval", "--config", "none.toml"), "none.toml: no such config file"),
}


@pytest.mark.parametrize(("words", "message"), REFUSALS.values(), ids=REFUSALS.keys())
def test_bad_input_is_one_line_and_nothing_is_written(
    whet: Whet, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    said = whet(*words)
    assert said.code == 2
    assert message in said.err
    assert len(said.err.strip().splitlines()) == 1, said.err
    assert not list(tmp_path.iterdir()), "nothing may be written"


def test_another_run_in_the_folder_is_refused_by_what_differs(whet: Whet) -> None:
    whet("eval", SUMS, "-m", "baseline:oracle", "-n", "5", "--run", "o")
    said = whet("eval", SUMS, "-m", "baseline:oracle", "-n", "6", "--run", "o")
    assert said.code == 2
    assert "eval.n = 5 there, 6 here" in said.err


def test_a_resumed_run_keeps_its_identity(whet: Whet) -> None:
    whet("eval", SUMS, "-m", "baseline:oracle", "-n", "5", "--run", "o")
    said = whet("resume", "o", "--set", "eval.n=6")
    assert said.code == 2
    assert "keeps its identity" in said.err


def test_a_run_that_is_being_written_is_refused(whet: Whet, tmp_path: Path) -> None:
    whet("eval", SUMS, "-m", "baseline:oracle", "-n", "5", "--run", "o")
    with LedgerWriter.open(tmp_path / "runs" / "o"):
        said = whet("resume", "o")
    assert (said.code, "is writing to this run" in said.err) == (2, True)


@pytest.mark.parametrize("polite", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_evaluation_keeps_what_is_done_and_says_how_to_go_on(tmp_path: Path, polite: int) -> None:
    with serving(Behaviour(latency=0.2)) as server:
        words = ["eval", SUMS, "-m", "openai:any", "--base-url", server.base_url, "-n", "200", "--run", "r"]
        command = [sys.executable, "-m", "whet", *words, "--concurrency", "4"]
        with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
            while server.requests < 12:
                time.sleep(0.02)
            process.send_signal(polite)
            said = process.communicate(timeout=30)[1]
    assert process.returncode == 3
    assert "continue with: whet resume runs/r" in said
    with Ledger.read(tmp_path / "runs" / "r") as ledger:
        assert 8 <= ledger.counts()["rollouts"] < 200
        assert ledger.events("ended")[-1].body["why"] == "CancelledError"


def test_a_damaged_ledger_is_named_and_left_alone(whet: Whet, tmp_path: Path) -> None:
    whet("eval", SUMS, "-m", "baseline:oracle", "-n", "50", "--run", "o")
    file = tmp_path / "runs" / "o" / FILE
    file.write_bytes(file.read_bytes()[:9000])
    said = whet("resume", "o")
    assert (said.code, "damaged" in said.err) == (2, True)
    assert file.stat().st_size == 9000
    assert "damaged" in whet("runs").out
