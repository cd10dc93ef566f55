"""From an address to a model."""

from __future__ import annotations

import subprocess
import sys

import pytest

from whet.errors import WhetError
from whet.models import ModelOptions, load_model


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("opnai:gpt-5", "Did you mean 'openai'?"),
        ("gpt-5", "Did you mean 'openai:gpt-5'?"),
        ("llama:x", "one of agent, anthropic, azure, embedded, hf, openai, openrouter, scripted"),
        ("openai:", "names no model: write openai:MODEL"),
        ("baseline:oracle", "reference policy of an environment"),
    ],
)
def test_an_address_that_names_no_model_is_explained(address: str, told: str) -> None:
    with pytest.raises(WhetError) as refused:
        load_model(address)
    assert told in str(refused.value)


def test_loading_needs_no_key() -> None:
    assert load_model("openai:gpt-5").name == "openai:gpt-5"


@pytest.mark.parametrize(
    ("base_url", "told"),
    [
        ("127.0.0.1:8000/v1", "must begin with http:// or https://"),
        ("ftp://host/v1", "must begin with http:// or https://"),
        ("me:hunter2@host/v1", "base_url must"),
        ("http://me:hunter2@host/v1", "must not hold a user name or password"),
        ("http://[broken/v1", "is not a URL"),
    ],
)
def test_a_base_url_that_cannot_be_used_is_explained_without_its_password(base_url: str, told: str) -> None:
    with pytest.raises(WhetError) as refused:
        load_model("openai:m", ModelOptions(base_url=base_url))
    assert told in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_extra_must_not_replace_the_request() -> None:
    with pytest.raises(WhetError, match="extra must not set messages, stream"):
        load_model("openai:m", ModelOptions(extra={"stream": True, "messages": []}))


@pytest.mark.parametrize("option", ["timeout", "attempts", "connections", "max_reply_bytes"])
def test_options_that_no_call_could_be_made_with_are_refused(option: str) -> None:
    with pytest.raises(WhetError, match=f"{option} = 0 must be above zero"):
        load_model("openai:m", ModelOptions(**{option: 0}))


def test_azure_needs_its_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AZURE_OPENAI_ENDPOINT", raising=False)
    with pytest.raises(WhetError, match="set AZURE_OPENAI_ENDPOINT or base_url"):
        load_model("azure:mine")


def test_the_room_is_imported_without_its_heavy_parts() -> None:
    program = (
        "import sys, whet.models as m; m.load_model; m.ModelOptions; print({'aiohttp', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
