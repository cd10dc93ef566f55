"""Configs are strict: what is unknown is refused with the key and the nearest known one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from whet.config.load import load_config, parse_override, write_config
from whet.config.schema import EvalConfig
from whet.errors import WhetError

SMALLEST: dict[str, Any] = {"env": {"name": "sums"}, "target": {"model": "scripted:m:f"}}


def refused(base: dict[str, Any] | None = None, overrides: tuple[str, ...] = ()) -> str:
    with pytest.raises(WhetError) as raised:
        load_config(EvalConfig, None, {**SMALLEST, **(base or {})}, overrides)
    assert "\n" not in str(raised.value), "an error is one line"
    return str(raised.value)


def test_the_command_line_goes_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text('[env]\nname = "a"\n[target]\nmodel = "m"\n[eval]\nn = 5\nrepeats = 3\n')
    config = load_config(EvalConfig, file, {"eval": {"n": 7, "repeats": None}}, ["control.budget.usd=0.5"])
    assert (config.eval.n, config.eval.repeats, config.control.budget.usd) == (7, 3, 0.5)


def test_a_config_written_is_the_config_read(tmp_path: Path) -> None:
    config = load_config(EvalConfig, None, SMALLEST, ["target.sampling.stop=['a', 'b']", "control.target.price=[1, 2]"])
    (tmp_path / "c.toml").write_bytes(write_config(config))
    assert load_config(EvalConfig, tmp_path / "c.toml") == config


def test_control_is_not_part_of_the_identity() -> None:
    plain = load_config(EvalConfig, None, SMALLEST)
    slower = load_config(EvalConfig, None, SMALLEST, ["control.concurrency=1", "control.target.base_url=http://there"])
    other = load_config(EvalConfig, None, SMALLEST, ["target.sampling.max_tokens=5"])
    assert plain.identity() == slower.identity()
    assert plain.identity() != other.identity()


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("evl.n=3", "unknown key 'evl'. Did you mean 'eval'?"),
        ("target.sampling.max_token=3", "unknown key 'target.sampling.max_token'. Did you mean 'max_tokens'?"),
        ("judge.modl=x", "unknown key 'judge.modl'. Did you mean 'model'?"),
        ("target.sampling.max_tokens=0", "target.sampling.max_tokens = 0: input should be greater than or equal to 1"),
        ("eval.n=many", "eval.n = 'many': input should be"),
        ("eval.split=dev", "eval.split = 'dev': input should be 'train', 'select' or 'test'"),
        ("control.target.api_key=sk-123", "keys are never written into a config"),
        ("nonsense", "write it as section.key=value"),
        ("a..b=1", "write it as section.key=value"),
    ],
)
def test_a_wrong_key_is_named_with_what_to_do(override: str, message: str) -> None:
    assert message in refused(overrides=(override,))


def test_a_secret_is_not_echoed() -> None:
    assert "sk-123" not in refused(overrides=("control.target.api_key=sk-123",))


def test_a_missing_key_says_how_to_set_it() -> None:
    with pytest.raises(WhetError, match=r"target is missing; set it in the config or with --set target="):
        load_config(EvalConfig, None, {"env": {"name": "sums"}})


@pytest.mark.parametrize(("content", "message"), [(b"a = [", "not valid TOML"), (b"\xff\xfe", "not valid TOML")])
def test_a_broken_file_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "c.toml").write_bytes(content)
    with pytest.raises(WhetError, match=message) as raised:
        load_config(EvalConfig, tmp_path / "c.toml")
    assert "c.toml" in str(raised.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="no such config file"):
        load_config(EvalConfig, tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("text", "value"), [("a=1", 1), ("a=true", True), ("a=[1, 2]", [1, 2]), ("a=openai:x", "openai:x"), ("a=", "")]
)
def test_an_override_is_toml_or_else_text(text: str, value: object) -> None:
    assert parse_override(text) == {"a": value}
