"""vLLM as the generator of a training, over the wire that TRL's client speaks; the model behind it is a tiny one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import trl.generation.vllm_generation as trl_generation
from small_world import Hail, grpo_config, tiny
from vllm_stand_in import ColocatedModel, HeldModel, WireServer, lay_line, listening

from whet.errors import WhetError
from whet.ledger.store import Ledger
from whet.rollout.tokens import token_sequences
from whet.run.api import train
from whet.run.train import TrainResult

SHORT = {"tune": {"steps": 2, "segment": 2, "lr": 0.02}, "grpo": {"groups": 2, "generations": 4, "refill": 2}}


@pytest.fixture
def server(base: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WireServer]:
    with listening(WireServer(HeldModel(base), lay_line(monkeypatch))) as opened:
        yield opened


def trained(base: Path, runs: Path, section: dict[str, Any], env: Hail | None = None, **sections: Any) -> TrainResult:
    config = grpo_config(base, generator={"kind": "vllm", "patience": 0, **section}, **(sections or SHORT))
    return train(config, env=env or Hail(), runs=runs, name="run")


def test_a_training_learns_through_a_server_that_is_sent_the_weights(
    base: Path, server: WireServer, tmp_path: Path
) -> None:
    """From nothing to nearly everything, in two segments, each of which opens the line anew."""
    sections = {
        "tune": {"steps": 4, "segment": 2, "lr": 0.04, "judge": "last"},
        "grpo": {"groups": 4, "generations": 8, "refill": 5},
    }
    result = trained(base, tmp_path, {"url": server.url}, **sections)
    rows = [json.loads(line) for line in (result.folder / "training_log.jsonl").read_text().splitlines()]
    assert rows[0]["solved"] < 0.1
    assert rows[-1]["solved"] > 0.8
    assert result.summary["test_hard"] > 0.9
    assert server.held.updates == 4, "the weights are sent before each step"
    assert all(row["sampling/sampling_logp_difference/mean"] < 0.01 for row in rows)
    assert server.seen.count("/init_weight_transfer_engine") == 2
    with Ledger.read(result.folder) as ledger:
        purposes = [purpose for purpose in ledger.purposes() if purpose.startswith("train/")]
        for purpose in purposes:
            for rollout in ledger.rollouts(purpose):
                assert {turn.reply.version for turn in rollout.turns} == {"/".join(purpose.split("/")[1:3])}


def test_plays_of_two_turns_are_what_the_server_read_and_drew(base: Path, server: WireServer, tmp_path: Path) -> None:
    result = trained(base, tmp_path, {"url": server.url}, env=Hail(turns=2))
    with Ledger.read(result.folder) as ledger:
        rollouts = [r for p in ledger.purposes() if p.startswith("train/") for r in ledger.rollouts(p)]
    whole = [sequences[0] for r in rollouts if len(sequences := token_sequences(r.turns)) == 1]
    assert whole
    for sequence in whole:
        assert len(sequence.logprobs) == sum(sequence.mask)
        assert 0 in sequence.mask[sequence.mask.index(1) :]


def test_an_engine_beside_the_trainer_is_sent_the_weights_too(
    base: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lay_line(monkeypatch)
    monkeypatch.setattr(ColocatedModel, "made", [])
    monkeypatch.setattr(trl_generation, "LLM", ColocatedModel, raising=False)
    for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    result = trained(base, tmp_path, {"mode": "colocate", "memory": 0.25})
    rows = [json.loads(line) for line in (result.folder / "training_log.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [1, 2]
    assert all(row["sampling/sampling_logp_difference/mean"] < 0.01 for row in rows)
    [settings] = ColocatedModel.made
    assert settings["gpu_memory_utilization"] == 0.25


def test_without_vllm_it_is_one_line_with_the_way_out(base: Path, tmp_path: Path) -> None:
    with pytest.raises(WhetError, match=r"needs vLLM .* pip install vllm, or set generator.kind = 'local'"):
        trained(base, tmp_path, {})


def test_a_server_that_does_not_answer_is_named_with_how_to_start_one(
    base: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lay_line(monkeypatch)
    with pytest.raises(WhetError, match=rf"no vLLM server answers at http://127.0.0.1:9 .*vllm serve {base} --weight"):
        trained(base, tmp_path, {"url": "http://127.0.0.1:9"})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"dev": False}, "has no endpoints for weights; start it with: VLLM_SERVER_DEV_MODE=1"),
        ({"config": {"weight_transfer_config": None}}, "without weight transfer"),
        ({"config": {"model_config": {"logprobs_mode": "raw_logprobs"}}}, "tells raw_logprobs"),
        ({"config": {}, "bare": True}, "no vLLM server that this version of TRL knows"),
        ({"ill": "/init_weight_transfer_engine"}, "cannot be opened: Request failed: 400.*the engine is dead"),
        ({"ill": "/start_weight_update"}, "could not be sent the weights: Request failed: 400.*the engine is dead"),
        ({"ill": "/v1/completions"}, "did not reply: Request failed: 400.*the engine is dead"),
        ({"deaf": True, "steps": 4}, "does not have the weights of version s0001/[1-3]: the log-probability"),
    ],
)
def test_a_server_that_cannot_be_trained_with_is_refused(
    base: Path, server: WireServer, tmp_path: Path, change: dict[str, Any], told: str
) -> None:
    server.dev, server.ill = change.get("dev", True), change.get("ill", "")
    server.config = change.get("config", {}) if change.get("bare") else {**server.config, **change.get("config", {})}
    server.held.deaf = change.get("deaf", False)
    sections = {**SHORT, "tune": {"steps": change.get("steps", 1), "segment": 4, "lr": 0.05}}
    with pytest.raises(WhetError, match=told):
        trained(base, tmp_path, {"url": server.url}, **sections)


def test_a_server_with_another_vocabulary_is_refused(
    base: Path, server: WireServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = {"a": 0, "b": 1}
    monkeypatch.setattr(server.held, "tokenizer", lambda text, **_: {"input_ids": list(other.values())})
    with pytest.raises(WhetError, match=r"serves tiny, which has another vocabulary than the base in training"):
        trained(base, tmp_path, {"url": server.url})


def test_a_server_with_other_weights_of_the_same_form_is_refused(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes no weights, so it still has those that it was started with."""
    with ExitStack() as stack:
        strange = HeldModel(tiny(tmp_path / "other", loudness=4.0), deaf=True)
        opened = stack.enter_context(listening(WireServer(strange, lay_line(monkeypatch))))
        with pytest.raises(WhetError, match=r"does not have the weights of version s0001/0"):
            trained(base, tmp_path, {"url": opened.url})


def test_a_conversation_that_the_server_has_no_room_for_ends_by_its_limit(
    base: Path, server: WireServer, tmp_path: Path
) -> None:
    """The longest first question has seven tokens, and a further turn needs more."""
    server.context = 12
    sections = {"tune": {"steps": 1, "segment": 1}, "grpo": {"groups": 2, "generations": 2, "refill": 1}}
    result = trained(base, tmp_path, {"url": server.url}, env=Hail(turns=3), **sections)
    with Ledger.read(result.folder) as ledger:
        rollouts = [r for p in ledger.purposes() if p.startswith("train/") for r in ledger.rollouts(p)]
    assert any("context" in (r.score.reason if r.score else "") for r in rollouts)


@pytest.mark.parametrize(
    ("section", "told"),
    [
        ({"url": "127.0.0.1:8000"}, "give the whole address, such as http://127.0.0.1:8000"),
        ({"mode": "colocate"}, "set tune.segment = 100, or use a server"),
    ],
)
def test_a_generator_that_cannot_work_is_refused_with_the_config(
    base: Path, section: dict[str, Any], told: str
) -> None:
    with pytest.raises(WhetError, match=told):
        grpo_config(base, generator={"kind": "vllm", **section})
