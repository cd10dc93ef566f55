"""Attempts on a real cluster: Ray's own processes, killed and hung, joined by address, interrupted.

Ray is 200 MB and takes many seconds to start, so it is no part of `make test`; `make scale` installs it and runs this.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fleet_crew import artifact

from whet.config.load import load_config
from whet.config.schema import EvalConfig
from whet.errors import WhetError
from whet.ledger.store import Ledger
from whet.run.evaluate import EvalResult, run_evaluation

ray = pytest.importorskip("ray", reason="Ray, the extra 'ray': make scale installs it and runs these")

WORLD = Path(__file__).parent / "ray_world.py"

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A cluster of eight places on this machine, with flags for the models that misbehave."""
    os.environ["WHET_STORM"] = str(tmp_path_factory.mktemp("storm"))
    ray.init(address="local", num_cpus=8, include_dashboard=False, log_to_driver=False, logging_level=40)
    del os.environ["WHET_STORM"]  # of the actors alone
    yield ray.get_runtime_context().gcs_address
    ray.shutdown()


def told(model: str, n: int, **control: object) -> dict[str, object]:
    return {
        "env": {"name": f"{WORLD}:Sums"},
        "target": {"model": f"scripted:{WORLD}:{model}"},
        "eval": {"n": n, "floor": False},
        "control": control,
    }


def evaluate(runs: Path, name: str, model: str, n: int, **control: object) -> EvalResult:
    return run_evaluation(load_config(EvalConfig, None, told(model, n, **control), []), runs=runs, name=name)


def on_ray(workers: int = 2, **ray_section: object) -> dict[str, object]:
    return {"engine": "ray", "ray": {"workers": workers, **ray_section}}


def test_actors_that_die_and_hang_leave_the_artifacts_of_the_local_engine(tmp_path: Path, cluster: str) -> None:
    local = evaluate(tmp_path, "local", "stormy", 200)
    spread = evaluate(tmp_path, "ray", "stormy", 200, concurrency=8, **on_ray(silence=5.0))
    with Ledger.read(spread.folder) as ledger:
        keys = [outcome.key for outcome in ledger.outcomes()]
    assert (len(keys), len(set(keys)), spread.tally.faults) == (200, 200, 0)
    assert artifact(spread) == artifact(local)


def test_a_budget_holds_over_two_actors(tmp_path: Path, cluster: str) -> None:
    result = evaluate(tmp_path, "r", "slow", 60, budget={"calls": 17}, concurrency=16, **on_ray())
    with Ledger.read(result.folder) as ledger:
        assert ledger.account().spent.calls == 17
    assert result.tally.stopped == "budget of 17 calls reached (17 spent)"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_driver_that_is_ended_goes_on_where_it_was(tmp_path: Path, cluster: str, how: signal.Signals) -> None:
    """It has joined a cluster by its address, which outlives it."""
    words = [sys.executable, "-m", "whet", "eval", f"{WORLD}:Sums", "-m", f"scripted:{WORLD}:slow", "-n", "400"]
    words += ["--engine", "ray", "--workers", "1", "--set", f"control.ray.address={cluster}", "--concurrency", "2"]
    words += ["--set", "eval.floor=false", "--runs", str(tmp_path), "--run", "r"]
    driver = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    end = time.monotonic() + 120
    while answered(tmp_path / "r") < 5:
        assert driver.poll() is None, driver.communicate()[0]
        assert time.monotonic() < end
        time.sleep(0.1)
    driver.send_signal(how)
    said = driver.communicate(timeout=60)[0]
    if how == signal.SIGKILL:
        assert driver.returncode == -signal.SIGKILL
    else:
        assert f"what is done is kept, continue with: whet resume {tmp_path / 'r'}" in said
        assert "Traceback" not in said
    done = answered(tmp_path / "r")
    assert 5 <= done < 400
    again = evaluate(tmp_path, "r", "slow", 400, concurrency=32, **on_ray())
    assert (again.tally.replayed, again.tally.done) == (done, 400 - done)
    assert artifact(again) == artifact(evaluate(tmp_path, "local", "slow", 400))


def answered(folder: Path) -> int:
    try:
        with Ledger.read(folder) as ledger:
            return ledger.counts()["rollouts"]
    except WhetError:
        return 0


def test_a_cluster_that_cannot_be_reached_is_one_line_and_nothing_is_made(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(WhetError, match=f"no cluster can be reached there .*ray start --head --port {port}") as line:
        evaluate(tmp_path, "r", "answer", 5, **on_ray(address=f"127.0.0.1:{port}"))
    assert "\n" not in str(line.value)
    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", 0))
        stranger.listen()
        threading.Thread(target=lambda: stranger.accept()[0].sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")).start()
        with pytest.raises(WhetError, match=r"no cluster can be reached there \(something else listens\)"):
            evaluate(tmp_path, "r", "answer", 5, **on_ray(address=f"127.0.0.1:{stranger.getsockname()[1]}"))
    with pytest.raises(WhetError, match="is no address; give HOST:PORT, or 'auto'"):
        evaluate(tmp_path, "r", "answer", 5, **on_ray(address="nowhere"))
    assert not list(tmp_path.iterdir())


def test_an_actor_that_wants_what_no_machine_has_is_refused(tmp_path: Path, cluster: str) -> None:
    with pytest.raises(WhetError, match="an actor wants 1 CPU and 1 GPU, and there are 8 CPU, 0 GPU"):
        evaluate(tmp_path, "r", "answer", 5, engine="ray", ray={"gpus": 1})
    assert not list(tmp_path.iterdir())
