"""Replies that can only be answers: by grammar, by schema, and by their beginning where a model cannot be held."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from data_env.rows import QUEUES, as_lines, environment, one_row, scored, ticket_environment
from loopback import Loopback, serving

import whet
from whet.envs.base import Environment
from whet.envs.data.forms import unwrapped
from whet.errors import WhetError
from whet.ledger.store import Ledger
from whet.models.base import Model, Request
from whet.models.load import load_model
from whet.models.options import ModelOptions
from whet.rollout.drive import drive
from whet.types import Reply, Sampling, Shape


@pytest.fixture(scope="module")
def embedded() -> Iterator[Model]:
    pytest.importorskip("xllamacpp", reason="the embedded model, the extra 'embedded'")
    model = load_model("embedded:smollm2")
    yield model
    asyncio.run(model.close())


@pytest.fixture
def server() -> Iterator[Loopback]:
    with serving() as opened:
        yield opened


def asked(env: Environment) -> Request:
    task = env.task("train", 0)
    return Request(task.messages, Sampling(temperature=1.5, max_tokens=40, seed=3), shape=Shape(**task.data["shape"]))


async def once(model: Model, request: Request) -> Reply:
    try:
        return await model.complete(request)
    finally:
        await model.close()


def options(folder: Path) -> Environment:
    rows = [{"question": "Which?", "options": ["red", "blue", 'a "b"'], "answer": "blue"}]
    return environment(
        as_lines(folder / "o.jsonl", rows), choices="options", check="choice", constrain=True, split=[1.0, 0.0, 0.0]
    )


@pytest.mark.parametrize("read", ["reply", "line", "tag", "code"])
def test_the_embedded_model_cannot_say_anything_but_a_label(tmp_path: Path, embedded: Model, read: str) -> None:
    env = ticket_environment(tmp_path, constrain=True, read=read)
    reply = asyncio.run(embedded.complete(asked(env)))
    assert any(queue in reply.text for queue in QUEUES)
    assert len(reply.text) < 40
    assert scored(env, reply.text).reason in ("correct", "wrong")


@pytest.mark.parametrize(
    ("truth", "args"),
    [
        (["a b", "c"], {"check": "set", "labels": ["a b", "c", 'd "e"', "none of it"]}),
        ("17", {"check": "number"}),
        ({"name": "Ada"}, {"check": "json", "fields": ["name"]}),
        ([["Ada", "person"]], {"check": "spans", "labels": ["person", "place"]}),
    ],
)
def test_other_answers_are_held_to_their_form_too(tmp_path: Path, embedded: Model, truth: Any, args: Any) -> None:
    env = one_row(tmp_path, truth, constrain=True, answer="answer", **args)
    reply = asyncio.run(embedded.complete(asked(env)))
    if reply.finish == "stop":
        assert scored(env, reply.text).reason in ("correct", "wrong", "partial")


def test_a_server_is_asked_for_a_schema_and_its_object_is_read(tmp_path: Path, server: Loopback) -> None:
    env = options(tmp_path)
    model = load_model("openai:any", ModelOptions(base_url=server.base_url))
    asyncio.run(once(model, asked(env)))
    body = server.seen[-1]["body"]
    schema = body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["answer"]["enum"] == ["A", "B", "C"]
    assert "grammar" not in body
    assert scored(env, orjson.dumps({"answer": "B"}).decode()).hard == 1


@pytest.mark.parametrize(
    ("shapes", "field"),
    [("grammar", "grammar"), ("none", None), ("schema", "response_format"), (None, "response_format")],
)
def test_the_config_says_how_a_server_is_held(tmp_path: Path, server: Loopback, shapes: Any, field: str | None) -> None:
    model = load_model("openai:any", ModelOptions(base_url=server.base_url, shapes=shapes))
    asyncio.run(once(model, asked(options(tmp_path))))
    sent = {"grammar", "response_format"} & set(server.seen[-1]["body"])
    assert sent == ({field} if field else set())


def test_how_replies_are_held_is_part_of_the_policy_and_of_the_environment(tmp_path: Path) -> None:
    made = [load_model("openai:any", ModelOptions(base_url="http://127.0.0.1:9/v1", shapes=s)) for s in (None, "none")]
    assert made[0].fingerprint != made[1].fingerprint
    held, free = ticket_environment(tmp_path, constrain=True), ticket_environment(tmp_path)
    assert held.fingerprint != free.fingerprint


def test_a_server_that_cannot_is_named_with_the_setting(tmp_path: Path, server: Loopback) -> None:
    server.plan.append({"status": 400, "body": {"error": {"message": "response_format is not supported"}}})
    model = load_model("openai:any", ModelOptions(base_url=server.base_url))
    with pytest.raises(WhetError, match=r"set target\.shapes to 'grammar', or to 'none'"):
        asyncio.run(once(model, asked(options(tmp_path))))


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("blue", "no_choice"),
        ("B", "correct"),
        ("**B.** Because it is.", "correct"),
        ("A, B or C", "wrong"),
        ("I would say B", "no_choice"),
        ("Below are all: A B C", "no_choice"),
    ],
)
def test_a_free_reply_is_read_by_its_beginning(tmp_path: Path, reply: str, reason: str) -> None:
    assert scored(options(tmp_path), reply).reason == reason


def test_the_longest_label_that_a_reply_begins_with_counts(tmp_path: Path) -> None:
    env = one_row(tmp_path, "very good", check="choice", choices=["very", "very good"], constrain=True)
    assert [scored(env, said).hard for said in ("Very good, I think", "very, good", "verygood")] == [1, 0, 0]


def test_a_check_without_a_shape_says_so(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="constrain: what 'em' takes has no shape"):
        one_row(tmp_path, "x", check="em", constrain=True)


def test_the_shape_does_not_tell_the_truth(tmp_path: Path) -> None:
    def shape(answer: str) -> Shape:
        env = one_row(tmp_path, answer, check="choice", choices=["ja", "nein"], constrain=True)
        return drive(env.play(env.task("train", 0)), lambda said, asked: "ja").asks[0].shape

    assert shape("ja") == shape("nein")
    assert shape("ja").grammar == 'root ::=  answer \nanswer ::= "ja" | "nein"\n'


@pytest.mark.parametrize(("said", "read"), [('{"answer": 3}', "3"), ('{"answer": 3, "b": 1}', None), ("[3]", None)])
def test_only_an_object_with_nothing_but_the_answer_is_opened(said: str, read: str | None) -> None:
    assert unwrapped(said) == (read or said)


def test_an_evaluation_with_a_held_model_has_no_unread_reply(tmp_path: Path, embedded: Model) -> None:
    env = ticket_environment(tmp_path, constrain=True)
    result = whet.evaluate(env, embedded, n=3, runs=tmp_path / "runs", overrides=["eval.floor=false"])
    with Ledger.read(result.folder) as ledger:
        assert {outcome.reason for outcome in ledger.outcomes()} <= {"correct", "wrong"}
