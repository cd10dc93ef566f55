"""`whet serve-model`: the words of each server, and a process that is waited for, warmed and never left behind."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import Whet

from whet.apps.serving.order import Adapter, ServeOrder
from whet.apps.serving.server import ModelServer
from whet.errors import WhetError
from whet.models.embedded.gguf import find_weights

HERE = Path(__file__).parent


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        found: int = probe.getsockname()[1]
        return found


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a fake `vllm` and a real `llama-server` on the PATH; what it was called with lies in it."""
    for name, script in (("vllm", "fake_vllm.py"), ("llama-server", "llama_server.py")):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{HERE / script}" "$@"\n')
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_VLLM_FOLDER", str(tmp_path))
    yield tmp_path
    pids = tmp_path / "pids"
    for pid in map(int, pids.read_text().split() if pids.exists() else ()):
        assert not alive(pid), "a process of the server is left"


def alive(pid: int) -> bool:
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def adapter(folder: Path, name: str, rank: int) -> Adapter:
    place = folder / name
    place.mkdir()
    (place / "adapter_config.json").write_text(json.dumps({"r": rank}))
    return Adapter.parse(f"{name}={place}")


# --------------------------------------------------------------------------------------------- the command lines


def test_the_words_of_vllm(tmp_path: Path) -> None:
    adapters = (adapter(tmp_path, "sql", 8), adapter(tmp_path, "wide", 48))
    order = ServeOrder("Qwen/Qwen3-8B", name="base", adapters=adapters, gpus=2, context=8192, more=("--enforce-eager",))
    assert " ".join(order.command()) == (
        "vllm serve Qwen/Qwen3-8B --host 127.0.0.1 --port 8000 --served-model-name base --tensor-parallel-size 2 "
        "--max-model-len 8192 --enable-lora --max-loras 2 --max-lora-rank 64 "
        f"--lora-modules sql={tmp_path}/sql wide={tmp_path}/wide --enforce-eager"
    )
    assert order.names == ("base", "sql", "wide")


def test_the_words_of_sglang(tmp_path: Path) -> None:
    order = ServeOrder("Qwen/Qwen3-8B", "sglang", port=30000, adapters=(adapter(tmp_path, "sql", 8),), gpus=4)
    assert " ".join(order.command()) == (
        "python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B --host 127.0.0.1 --port 30000 --tp 4 "
        f"--enable-lora --max-loras-per-batch 2 --lora-paths sql={tmp_path}/sql"
    )
    assert order.names == ("Qwen/Qwen3-8B", "Qwen/Qwen3-8B:sql")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("sql", "give NAME=FOLDER"),
        ("a b=.", "give NAME=FOLDER"),
        ("sql=nowhere", "holds no adapter_config.json"),
        ("sql=none.gguf", "is not there"),
    ],
)
def test_what_is_no_adapter_is_refused_before_anything_starts(text: str, why: str) -> None:
    with pytest.raises(WhetError, match=why):
        Adapter.parse(text)


def test_a_dry_run_shows_the_command_line_and_starts_nothing(whet: Whet, fake: Path) -> None:
    said = whet("serve-model", "Qwen/Qwen3-8B", "--gpus", "2", "--dry-run")
    words = "vllm serve Qwen/Qwen3-8B --host 127.0.0.1 --port 8000 --tensor-parallel-size 2"
    assert (said.code, said.out.strip()) == (0, words)
    assert not (fake / "words.json").exists()


# --------------------------------------------------------------------------------------------- a server at work


def test_a_server_is_started_as_it_is_waited_for_warmed_by_each_name_and_stopped(fake: Path, port: int) -> None:
    order = ServeOrder("m", name="base", port=port, adapters=(adapter(fake, "sql", 8),))
    with ModelServer(order, fake / "log") as server:
        server.wait(60)
        assert json.loads((fake / "words.json").read_text()) == order.command()[1:]
        assert server.served() == ["base", "sql"]
        warmth = server.warm([{"role": "system", "content": "Be brief."}])
        pids = [int(pid) for pid in (fake / "pids").read_text().split()]
        assert all(map(alive, pids))
    asked = [json.loads(line) for line in (fake / "asked.jsonl").read_text().splitlines()]
    assert [body["model"] for body in asked] == ["base", "base", "sql", "sql"]
    assert all(body["max_tokens"] == 1 for body in asked)
    assert "prefix of 40 tokens" in str(warmth[0])
    assert "32 of them from its cache" in str(warmth[0])
    assert not any(map(alive, pids))


def test_one_that_will_not_end_is_killed_with_all_that_it_started(
    fake: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_VLLM", "stubborn")
    server = ModelServer(ServeOrder("m", port=port), fake / "log")
    server.start()
    server.wait(60)
    server.stop(grace=0.3)  # the fixture looks for what is left


@pytest.mark.parametrize(
    ("mood", "patience", "why"),
    [
        ("dies", 60.0, r"vllm on port \d+: ended before it was ready \(exit status 1\), its last words: ValueError"),
        ("never", 1.5, r"not ready within 1.5 s, its last words: INFO loading weights; its log: "),
        ("forgets", 60.0, r"serves base, and not sql"),
    ],
)
def test_a_start_that_comes_to_nothing_is_one_line_with_the_end_of_the_log(
    fake: Path, port: int, monkeypatch: pytest.MonkeyPatch, mood: str, patience: float, why: str
) -> None:
    monkeypatch.setenv("FAKE_VLLM", mood)
    order = ServeOrder("m", port=port, adapters=(adapter(fake, "sql", 8),))
    with ModelServer(order, fake / "log") as server, pytest.raises(WhetError, match=why) as told:
        server.wait(patience)
    assert "\n" not in str(told.value)
    assert "\x1b" not in str(told.value)


def test_a_server_that_dies_at_work_is_one_line(fake: Path, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_VLLM", "crashes")
    with ModelServer(ServeOrder("m", port=port), fake / "log") as server:
        server.wait(60)
        with pytest.raises(WhetError, match=r"ended at /v1/chat/completions \(exit status 3\)|cannot be asked"):
            server.warm([{"role": "user", "content": "x"}])
        time.sleep(0.2)
        with pytest.raises(WhetError, match=r"ended \(exit status 3\)"):
            server.watch()


def test_a_port_in_use_is_refused_before_weights_are_loaded(whet: Whet, fake: Path, port: int) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        said = whet("serve-model", "m", "--port", str(port))
    assert said.code == 2
    assert f"127.0.0.1:{port}: cannot be listened on (Address already in use); choose another with --port" in said.err
    assert not (fake / "words.json").exists()


def test_a_program_that_is_not_there_says_how_it_is_had(whet: Whet) -> None:
    said = whet("serve-model", "m", "--program", "no-such-vllm")
    assert said.code == 2
    assert "no-such-vllm: no such program here; install it (pip install vllm), or name it with --program" in said.err
    assert "Did you mean 'sglang'?" in whet("serve-model", "m", "-b", "slang").err


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_however_the_command_ends_its_server_ends(fake: Path, port: int, how: signal.Signals) -> None:
    words = [sys.executable, "-m", "whet", "serve-model", "m", "--port", str(port), "--log", str(fake / "log")]
    command = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert command.stdout is not None
    lines = iter(command.stdout.readline, "")
    assert any("Ctrl-C stops it" in line for line in lines)
    pids = [int(pid) for pid in (fake / "pids").read_text().split()]
    command.send_signal(how)
    assert command.wait(30) == (0 if how != signal.SIGKILL else -signal.SIGKILL)
    command.stdout.close()
    end = time.monotonic() + 10
    while alive(pids[0]) and time.monotonic() < end:
        time.sleep(0.05)
    assert not alive(pids[0])
    if how == signal.SIGKILL:  # what it started is its own to end; the fake leaves that to us
        os.kill(pids[1], signal.SIGKILL)
        time.sleep(0.1)


# --------------------------------------------------------------------------------------------- a real one


def test_llama_cpp_is_served_warmed_and_asked(fake: Path, port: int) -> None:
    pytest.importorskip("xllamacpp", reason="llama.cpp, the extra 'embedded'")
    playbook = fake / "skill.md"
    playbook.write_text("# Skill\n" + "Answer with one short sentence, and say nothing else. " * 8)
    words = [sys.executable, "-m", "whet", "serve-model", str(find_weights("")), "-b", "llama", "--port", str(port)]
    words += ["--name", "small", "--context", "512", "--prefix", str(playbook), "--log", str(fake / "log")]
    command = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert command.stdout is not None
    said = []
    for line in iter(command.stdout.readline, ""):
        said.append(line)
        if "Ctrl-C stops it" in line:
            break
    told = "".join(said)
    assert f"at http://127.0.0.1:{port}/v1: small" in told
    assert "small: prefix of " in told
    assert f"use it: whet eval ENV -m openai:small --base-url http://127.0.0.1:{port}/v1" in told
    asked = [sys.executable, "-m", "whet", "eval", f"{HERE.parent / 'builders.py'}:Doubles", "-m", "openai:small"]
    asked += ["--base-url", f"http://127.0.0.1:{port}/v1", "-n", "2", "--max-tokens", "4", "--set", "eval.floor=false"]
    done = subprocess.run([*asked, "--runs", str(fake / "runs")], capture_output=True, text=True, check=False)
    command.send_signal(signal.SIGTERM)
    assert command.wait(60) == 0
    command.stdout.close()
    assert "2 scored" in done.stdout, done.stderr
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0
