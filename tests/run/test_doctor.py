"""The doctor: what it finds on this machine and in a config, and the commands that print it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from loopback import Loopback, serving

from whet.cli.doctor import doctor_command
from whet.config.load import load_config
from whet.config.schema import EvalConfig
from whet.errors import WhetError
from whet.extras import install
from whet.run import doctor
from whet.run.doctor import Diagnosis, _walls, broken, diagnose
from whet.sandbox.base import Wall, Walls

SUMS = f"{Path(__file__).parents[2] / 'examples' / 'sums.py'}:Sums"


@pytest.fixture
def server() -> Iterator[Loopback]:
    with serving() as running:
        yield running


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder, and no sandbox to open: its own tests look at its walls."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(doctor, "_walls", lambda config: iter(()))


def config(model: str, *overrides: str, **control: Any) -> EvalConfig:
    base = {"env": {"name": SUMS}, "target": {"model": model}, "control": {"target": control}}
    return load_config(EvalConfig, None, base, overrides)


def found(findings: list[Diagnosis], name: str) -> Diagnosis:
    return next(one for one in findings if one.name == name)


def test_without_a_config_the_machine_is_told_and_nothing_is_broken() -> None:
    findings = diagnose()
    assert {"python", "embedded", "train", "disk"} <= {one.name for one in findings}
    assert not broken(findings)


def test_what_is_not_installed_is_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "find_spec", lambda name: None)
    one = found(diagnose(), "interop")
    assert (one.status, one.fix) == ("skip", install("interop"))


def test_a_machine_that_isolates_nothing_is_told_and_fails_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(**options: Any) -> Any:
        raise WhetError("no isolation for untrusted code on this machine")

    monkeypatch.setattr("whet.sandbox.isolation.open_sandbox", refused)
    (one,) = _walls(None)
    assert (one.status, one.told) == ("warn", "no isolation for untrusted code on this machine")


def test_a_wall_that_is_missing_is_named_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    class Weak:
        def walls(self) -> Walls:
            return Walls("weak", (Wall("files", True, "a folder"), Wall("network", False, "no namespaces")))

        async def close(self) -> None: ...

    monkeypatch.setattr("whet.sandbox.isolation.open_sandbox", lambda **options: Weak())
    (one,) = _walls(None)
    assert (one.status, one.told) == ("warn", "weak: files; missing: network (no namespaces)")


def test_a_full_disk_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    full = shutil._ntuple_diskusage(10, 10, 0)  # type: ignore[attr-defined]
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda place: full)
    assert found(diagnose(), "disk").status == "fail"


def test_a_model_that_answers_is_told_with_what_it_said(server: Loopback) -> None:
    findings = diagnose(config("openai:m", base_url=server.base_url))
    one = found(findings, "target")
    assert (one.status, server.requests) == ("ok", 1)
    assert "openai:m answers in" in one.told
    assert not broken(findings)


def test_nothing_is_sent_where_it_should_not_ask(server: Loopback) -> None:
    findings = diagnose(config("openai:m", base_url=server.base_url), ask=False)
    assert (found(findings, "target").status, server.requests) == ("skip", 0)


def test_a_model_that_does_not_answer_is_a_failure() -> None:
    one = found(diagnose(config("openai:m", base_url="http://127.0.0.1:9/v1", attempts=1)), "target")
    assert (one.status, "no connection" in one.told) == ("fail", True)


@pytest.mark.parametrize(
    ("model", "name", "told"),
    [
        ("openai:gpt-x", "target", "OPENAI_API_KEY is not set"),
        ("opnai:x", "target", "Did you mean 'openai'?"),
        ("baseline:nothing", "target", "offers no such baseline"),
    ],
)
def test_a_model_that_cannot_be_called_is_a_failure(model: str, name: str, told: str) -> None:
    one = found(diagnose(config(model)), name)
    assert one.status == "fail"
    assert told in one.told


def test_a_reference_policy_is_not_asked() -> None:
    assert found(diagnose(config("baseline:oracle")), "target").status == "skip"


def test_a_judge_is_asked_too(server: Loopback) -> None:
    at = f"control.judge.base_url={server.base_url}"
    findings = diagnose(config("baseline:oracle", "judge.model=openai:j", at))
    assert found(findings, "judge").status == "ok"


def test_an_environment_that_is_not_there_is_a_failure() -> None:
    asked = load_config(EvalConfig, None, {"env": {"name": "nowhere"}, "target": {"model": "openai:m"}})
    assert found(diagnose(asked), "environment").status == "fail"


def test_a_playbook_that_is_not_there_is_a_failure() -> None:
    assert found(diagnose(config("baseline:oracle", "eval.playbook=gone.md")), "playbook").status == "fail"


@pytest.mark.parametrize(
    ("tokens", "name", "status"),
    [
        ("64", "target limits", "ok"),
        ("4096", "target limits", "fail"),
        ("2040", "prompt", "fail"),
        ("64", "prompt", "ok"),
    ],
)
def test_token_limits_must_fit_the_context(server: Loopback, tokens: str, name: str, status: str) -> None:
    asked = config("openai:m", f"target.sampling.max_tokens={tokens}", base_url=server.base_url, context=2048)
    one = found(diagnose(asked, ask=False), name)
    assert (one.status, bool(one.fix)) == (status, status == "fail")


def test_a_limit_below_what_the_registry_recommends_is_warned_of() -> None:
    findings = diagnose(config("openrouter:openai/gpt-oss-20b"), ask=False)
    one = found(findings, "target limits")
    assert (one.status, one.fix) == ("warn", "--set target.sampling.max_tokens=10000")
    assert "vLLM" in found(findings, "target model").told


def test_an_embedded_model_must_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = config("embedded:smollm2")
    assert found(diagnose(asked, ask=False), "target memory").status == "ok"
    monkeypatch.setattr("whet.run.doctor_roles.available_memory", lambda: 10**6)
    assert found(diagnose(asked, ask=False), "target memory").status == "fail"


# --------------------------------------------------------------------------------------------- keys


def test_a_key_in_the_config_is_a_failure() -> None:
    """One that was read from a file is refused there; this one was made by a program."""
    asked = config("openai:m")
    target = asked.target.model_copy(update={"extra": {"header": "sk-abcdefghijklmnop1234"}})
    asked = asked.model_copy(update={"target": target})
    one = found(diagnose(asked, ask=False), "keys")
    assert (one.status, one.told) == ("fail", "target.extra.header holds what looks like a key")


def test_a_file_of_keys_that_git_does_not_ignore_is_warned_of(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".env").write_text("OPENAI_API_KEY=x")
    one = found(diagnose(), "keys")
    assert (one.status, one.fix) == ("warn", "echo .env >> .gitignore")
    (tmp_path / ".gitignore").write_text(".env\n")
    assert "keys" not in {one.name for one in diagnose()}


def test_a_file_of_keys_outside_of_a_repository_is_no_matter(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("x")
    asked = config("openai:m", key_file=str(tmp_path / "key"))
    assert "keys" not in {one.name for one in diagnose(asked, ask=False)}


# --------------------------------------------------------------------------------------------- the command


def test_the_command_prints_one_line_each_and_fails_where_something_is_broken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "c.toml").write_text(f'[env]\nname = "{SUMS}"\n[target]\nmodel = "openai:gpt-x"\n')
    with pytest.raises(typer.Exit) as left:
        doctor_command(tmp_path / "c.toml", (), runs=Path("runs"), ask=True)
    out = capsys.readouterr().out
    assert left.value.exit_code == 1
    assert "FAIL  target" in out
    assert "OPENAI_API_KEY is not set" in out


def test_the_command_without_a_config_is_content(capsys: pytest.CaptureFixture[str]) -> None:
    doctor_command(None, (), runs=Path("runs"), ask=True)
    assert "ok    python" in capsys.readouterr().out
