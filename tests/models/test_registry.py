"""The registry of models: what it holds, which model fits a purpose, what an endpoint serves, and prices in runs."""

from __future__ import annotations

from collections import Counter

import pytest
from loopback import serving
from messages import messages_server

from whet.errors import WhetError
from whet.models import ModelOptions, Price, load_model
from whet.models.registry import ModelRecord, price_of, registry
from whet.models.registry.choice import ModelFilter, matching, signal
from whet.models.registry.live import compared, list_served
from whet.models.registry.records import read

KNOWN = registry()


def found(**wanted: object) -> list[str]:
    return [one.id for one in matching(KNOWN.records, ModelFilter(**wanted))]  # type: ignore[arg-type]


def test_every_id_stands_once() -> None:
    assert [name for name, times in Counter(one.id.lower() for one in KNOWN.records).items() if times > 1] == []


def test_open_and_closed_models_are_all_there() -> None:
    assert (sum(not one.closed for one in KNOWN.records), sum(one.closed for one in KNOWN.records)) == (38, 41)


def test_a_record_tells_all_that_was_measured() -> None:
    record = KNOWN.get("openai/gpt-oss-20b")
    assert (record.params, record.price, record.max_tokens) == (20.9, Price(0.07, 0.30), 10000)
    assert record.baseline is not None
    assert (record.baseline.rate, record.baseline.n, record.baseline.date) == (0.53, 10, "2026-01-04")
    assert (record.trainable, record.closed, record.tool_parser) == (True, False, "openai")


def test_nothing_closed_or_seeing_is_trainable() -> None:
    assert [one.id for one in KNOWN.records if one.trainable and (one.closed or one.vision)] == []


def test_active_parameters_are_fewer_than_all() -> None:
    assert all(one.active < (one.params or 0) for one in KNOWN.records if one.active is not None)


def test_the_model_for_rl_is_cheap_open_and_has_room_to_grow() -> None:
    ids = found(purpose="rl", trainable=True, max_params=30, max_price_out=1)
    assert ids == [
        "mistralai/mistral-nemo",
        "mistralai/mistral-small-24b-instruct-2501",
        "openai/gpt-oss-20b",
    ]


@pytest.mark.parametrize("purpose", ["rl", "ceiling"])
def test_a_model_with_a_known_defect_comes_after_all_without(purpose: str) -> None:
    """gpt-oss-20b stood first, because it solves half of the tasks; a defect of vLLM hinders its training."""
    troubled = [bool(KNOWN.get(name).trouble) for name in found(purpose=purpose)]
    assert troubled == sorted(troubled)
    assert not troubled[0]


@pytest.mark.parametrize(
    ("name", "params", "active"),
    [
        ("mistralai/mistral-large-2512", 675, 41),
        ("mistralai/mixtral-8x22b-instruct", 141, 39),
        ("z-ai/glm-4.5", 355, 32),
        ("z-ai/glm-4.6", 355, 32),
        ("arcee-ai/trinity-mini", 26, 3),
        ("openai/gpt-oss-120b", 116.8, 5.1),
    ],
)
def test_a_mixture_has_all_its_parameters_and_those_at_work(name: str, params: float, active: float) -> None:
    """The list that they came from had 41, 176, 106, 106, 3 and 120, most of them as dense."""
    record = KNOWN.get(name)
    assert (record.params, record.active, record.layout) == (params, active, "moe")


def test_every_mixture_says_what_is_at_work_and_nothing_dense_does() -> None:
    assert [one.id for one in KNOWN.records if (one.layout == "moe") != (one.active is not None)] == []


def test_what_was_confirmed_says_by_what_and_is_not_called_unverified() -> None:
    told = [(one, what, by) for one in KNOWN.records for what, by in one.confirmed.items()]
    assert {what for _, what, _ in told} == {"size", "tool_parser", "price"}
    assert {name for *_, by in told for name in by} == set(KNOWN.sources)
    assert [one.id for one, what, _ in told if what in one.unverified] == []
    assert all(one.params for one, what, _ in told if what == "size")
    assert all(one.tool_parser for one, what, _ in told if what == "tool_parser")


def test_what_was_not_confirmed_is_named_by_a_field() -> None:
    named = {field for one in KNOWN.records for field in one.unverified}
    assert named == {"tool_parser", "hub"}
    assert KNOWN.checked > KNOWN.verified


def test_what_solves_all_comes_last_for_rl_and_first_as_a_ceiling() -> None:
    untroubled = [name for name in found(purpose="rl") if not KNOWN.get(name).trouble]
    assert untroubled[-1] == "qwen/qwen3-235b-a22b-instruct-2507"
    assert found(purpose="ceiling")[:2] == ["qwen/qwen3-235b-a22b-instruct-2507", "openai/gpt-5-nano"]


def test_a_group_teaches_most_where_half_is_solved() -> None:
    half, most = (ModelRecord("x", baseline=type(KNOWN.records[0].baseline)(rate)) for rate in (0.5, 0.9))  # type: ignore[misc]
    assert (signal(half) or 0) > (signal(most) or 0)


@pytest.mark.parametrize("wanted", [{"max_price_out": 1.0}, {"max_price_in": 0.1}, {"max_params": 8.0}])
def test_what_is_not_known_is_within_no_limit(wanted: dict[str, float]) -> None:
    assert "openai/gpt-5" not in found(**wanted)


def test_filters_narrow_what_is_listed() -> None:
    assert all(KNOWN.get(name).vision for name in found(vision=True))
    assert found(text="kimi") == ["moonshotai/kimi-k2-thinking", "moonshotai/kimi-k2-0905"]
    assert all(KNOWN.get(name).closed for name in found(closed=True))
    assert all((KNOWN.get(name).at_work or 0) <= 12 for name in found(max_active=12))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("gpt-oss-20b", "Did you mean 'openai/gpt-oss-20b'?"),
        ("openai/gpt-oss-20", "Did you mean 'openai/gpt-oss-20b'?"),
        ("google/gemma-3-4b-it", "known not to be served"),
    ],
)
def test_an_id_that_is_not_there_is_explained(name: str, told: str) -> None:
    with pytest.raises(WhetError) as refused:
        KNOWN.get(name)
    assert told in str(refused.value)


def test_a_name_for_all_variants_covers_each() -> None:
    assert KNOWN.get("openai/gpt-5.1-codex").id == "openai/gpt-5.1*"


def test_a_field_that_the_registry_does_not_know_is_refused() -> None:
    with pytest.raises(TypeError, match="prize"):
        read('verified = "x"\n[defaults]\nmax_tokens = 1\n[[model]]\nid = "a/b"\nprize = 1\n')


# --------------------------------------------------------------------------------------------- prices


@pytest.mark.parametrize(
    ("address", "price"),
    [
        ("openrouter:openai/gpt-oss-20b", Price(0.07, 0.30)),
        ("openai:openai/gpt-oss-20b", Price(0.07, 0.30)),
        ("openai:gpt-5-nano", Price(0.05, 0.40)),
        ("openai:gpt-5", None),
        ("openai:nobody/knows", None),
        ("embedded:smollm2", None),
    ],
)
def test_prices_come_from_the_registry(address: str, price: Price | None) -> None:
    assert price_of(address) == price


def test_a_model_is_loaded_with_its_price_unless_one_is_given_or_it_is_served_here() -> None:
    address = "openai:openai/gpt-oss-20b"
    assert load_model(address).price == Price(0.07, 0.30)
    assert load_model(address, ModelOptions(price=Price(1, 2))).price == Price(1, 2)
    assert load_model(address, ModelOptions(base_url="http://127.0.0.1:8000/v1")).price is None


# --------------------------------------------------------------------------------------------- live


def test_what_an_endpoint_serves_is_compared_with_the_registry() -> None:
    with messages_server(models=("openai/gpt-oss-20b", "Openai/GPT-5.1-codex", "new/model")) as server:
        served = list_served(server.base_url)
    beside = compared(KNOWN.records, served)
    assert {one.id for one in beside.served} == {"openai/gpt-oss-20b", "openai/gpt-5.1*"}
    assert beside.unknown == ("new/model",)
    assert "z-ai/glm-4.6" in {one.id for one in beside.absent}


def test_an_endpoint_without_a_list_is_an_error() -> None:
    with serving() as server, pytest.raises(WhetError, match="answered 404"):
        list_served(server.base_url)


def test_an_endpoint_that_is_not_there_is_an_error() -> None:
    with pytest.raises(WhetError, match="no connection"):
        list_served("http://127.0.0.1:9/v1")
