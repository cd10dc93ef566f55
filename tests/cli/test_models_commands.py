"""`whet models` as a user types it."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from messages import messages_server
from typer.testing import CliRunner, Result

from whet.cli.models import app
from whet.errors import WhetError


def whet(*words: str) -> Result:
    result = CliRunner().invoke(app, list(words))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_the_question_which_model_for_rl_is_answered_best_first() -> None:
    lines = whet("--trainable", "--max-params", "30", "--max-price-out", "1", "--for", "rl").stdout.splitlines()
    assert lines[1].split()[:4] == ["mistralai/mistral-nemo", "12B", "0.1/0.25", "open,"]
    assert lines[3].split()[:4] == ["openai/gpt-oss-20b", "20.9B", "(3.6B)", "0.07/0.3"]
    assert lines[-1].startswith("3 models")


def test_records_come_as_json_too() -> None:
    first, *_ = whet("--search", "intellect", "--json").stdout.splitlines()
    assert orjson.loads(first)["price"]["completion"] == 1.10


def test_no_match_is_said() -> None:
    assert "loosen a filter" in whet("--max-params", "0.1").stdout


def test_one_model_is_shown_whole() -> None:
    out = whet("show", "prime-intellect/intellect-3").stdout
    for told in ("106B (12B)", "0.2/1.1", "Glm4Moe, native", "92.5% (n=10)", "10000", "trainable    yes"):
        assert told in out


def test_an_unknown_model_is_an_error_with_the_nearest() -> None:
    with pytest.raises(WhetError, match="Did you mean 'openai/gpt-oss-20b'"):
        whet("show", "gpt-oss-20b")


def test_what_an_endpoint_lacks_is_flagged() -> None:
    with messages_server(models=("openai/gpt-oss-20b", "new/model")) as server:
        out = whet("--search", "gpt-oss", "--live", server.base_url).stdout
    served, absent = (next(line for line in out.splitlines() if name in line) for name in ("oss-20b", "oss-120b"))
    assert (served.split()[-1], absent.rstrip().endswith("not served")) == ("yes", True)
    assert "serves 1 of these 2" in out
    assert "  new/model" in out


def test_weights_that_cannot_be_trained_fail_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"architectures": ["BertModel"]}')
    result = whet("verify", str(tmp_path))
    assert result.exit_code == 1
    assert "a causal language model is needed" in result.stdout
    assert "not fit for training" in result.stdout
