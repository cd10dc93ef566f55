"""From an address to a model."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint, entry_points

import pytest

from whet import plugins
from whet.errors import WhetError
from whet.models import ModelOptions, load_model
from whet.models.base import Model, Request
from whet.models.load import SCHEMES, schemes
from whet.models.scheme import scheme
from whet.types import Reply

KEYLESS = "no scheme at all"


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("opnai:gpt-5", "Did you mean 'openai'?"),
        ("gpt-5", "Did you mean 'openai:gpt-5'?"),
        ("llama:x", "one of agent, anthropic, azure, embedded, hf, litellm, openai, openrouter, scripted"),
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


# --------------------------------------------------------------------------------------------- schemes of others


class Echo(Model):
    """A model of another package."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fingerprint = name

    async def complete(self, request: Request) -> Reply:
        return Reply(request.messages[-1].text)


@scheme("echo", "echo:ANYTHING, says it again")
def echo(address: str, options: ModelOptions) -> Model:
    return Echo(address)


@scheme("needy", "needy:MODEL", packages=("json", "no_such_sdk"), install="pip install no-such-sdk")
def needy(address: str, options: ModelOptions) -> Model:
    raise AssertionError("opened without what it needs")


def offered(monkeypatch: pytest.MonkeyPatch, **places: str) -> None:
    """A machine on which another package offers further schemes, by name and place."""
    own = list(entry_points(group=SCHEMES.name))
    others = [EntryPoint(name, place, SCHEMES.name) for name, place in places.items()]
    monkeypatch.setattr(plugins, "entry_points", lambda group: own + others)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name under which an entry point finds this module."""
    monkeypatch.setitem(sys.modules, "whet_plugin_of_another", sys.modules[__name__])
    return "whet_plugin_of_another"


def test_another_package_adds_a_scheme(monkeypatch: pytest.MonkeyPatch, here: str) -> None:
    offered(monkeypatch, echo=f"{here}:echo")
    model = load_model("echo:x")
    assert isinstance(model, Echo)
    assert schemes()["echo"].form == "echo:ANYTHING, says it again"


@scheme("deep", "deep:MODEL", packages=("no_such_sdk.inside",), install="pip install no-such-sdk")
def deep(address: str, options: ModelOptions) -> Model:
    raise AssertionError("opened without what it needs")


def test_a_package_inside_one_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch, here: str) -> None:
    offered(monkeypatch, deep=f"{here}:deep")
    with pytest.raises(WhetError, match=r"deep: needs no_such_sdk\.inside, .*pip install no-such-sdk"):
        load_model("deep:x")


def test_what_a_scheme_needs_is_named_before_it_is_opened(monkeypatch: pytest.MonkeyPatch, here: str) -> None:
    offered(monkeypatch, needy=f"{here}:needy")
    with pytest.raises(WhetError, match=r"needy: needs no_such_sdk, .*pip install no-such-sdk"):
        load_model("needy:x")


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("no_such_package.models:mine", "ModuleNotFoundError: No module named 'no_such_package'"),
        ("whet_plugin_of_another:nothing", "AttributeError"),
        ("whet_plugin_of_another:KEYLESS", "points to no Scheme of that name"),
        ("whet_plugin_of_another:echo", "points to no Scheme of that name"),
    ],
)
def test_a_broken_plugin_is_named_and_spares_the_others(
    monkeypatch: pytest.MonkeyPatch, here: str, place: str, why: str
) -> None:
    offered(monkeypatch, mine=place)
    with pytest.raises(WhetError) as refused:
        load_model("mine:x")
    told = str(refused.value)
    assert "the model scheme 'mine' of" in told
    assert place in told
    assert why in told
    assert "\n" not in told
    assert load_model("openai:gpt-5").name == "openai:gpt-5"


def test_a_scheme_that_two_packages_offer_is_refused(monkeypatch: pytest.MonkeyPatch, here: str) -> None:
    offered(monkeypatch, openai=f"{here}:echo")
    with pytest.raises(WhetError, match=r"'openai' is offered twice, by whet \(whet\.models\.openai:openai\) and"):
        load_model("openai:gpt-5")


def test_every_scheme_says_how_its_addresses_look() -> None:
    known = schemes()
    assert [*known] == ["agent", "anthropic", "azure", "embedded", "hf", "litellm", "openai", "openrouter", "scripted"]
    assert all(scheme.form.startswith(f"{name}:") for name, scheme in known.items())


def test_listing_the_schemes_loads_none_of_what_they_need() -> None:
    program = "import sys; from whet.models.load import schemes; schemes(); print(sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert not [name for name in ("aiohttp", "torch", "transformers", "xllamacpp", "numpy") if f"'{name}'" in loaded]
