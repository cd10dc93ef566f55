"""A Python function as a model, and the addresses that name one."""

from __future__ import annotations

import asyncio
import functools
from pathlib import Path
from typing import Any

import pytest

from whet.errors import FaultError, LimitReached, WhetError
from whet.models import Request, Scripted, load_model, reference
from whet.models.base import FREE, Model
from whet.types import Fault, Label, MalformedCall, Reply, Task, ToolCall, ToolSpec, Usage, user

ASKED = Request((user("1 + 1"),))
TOOL = ToolSpec("say", "Says it.", {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]})


def say(model: Model, request: Request = ASKED) -> Reply:
    return asyncio.run(model.complete(request))


def constant(text: str) -> Any:
    return lambda request: text


def test_tokens_that_a_function_tells_are_kept() -> None:
    told = Reply("42", prompt_ids=(1, 2), completion_ids=(7, 0), logprobs=(-0.1, -0.2))
    reply = asyncio.run(Scripted(lambda request: told).complete(Request((user("17 + 25"),))))
    assert (reply.prompt_ids, reply.completion_ids, reply.logprobs) == ((1, 2), (7, 0), (-0.1, -0.2))


def test_a_function_answers_with_text() -> None:
    assert say(Scripted(lambda request: request.messages[-1].text.upper())) == Reply("1 + 1", usage=Usage(calls=1))


def test_an_async_function_is_awaited() -> None:
    async def slow(request: Request) -> str:
        await asyncio.sleep(0)
        return "2"

    assert say(Scripted(slow)).text == "2"


def test_a_reply_is_taken_as_it_is() -> None:
    reply = Reply("2", usage=Usage(1, 5, 7, 0, 0.25), version="mine")
    assert say(Scripted(lambda request: reply)) == reply


def test_a_fence_in_the_text_is_a_call() -> None:
    text = '```tool\n{"name": "say", "arguments": {"word": "two"}}\n```'
    reply = say(Scripted(constant(text)), Request((user("?"),), tools=(TOOL,)))
    assert [(call.name, call.arguments) for call in reply.calls] == [("say", {"word": "two"})]


def test_prose_is_malformed_where_a_call_was_demanded() -> None:
    reply = say(Scripted(constant("two")), Request((user("?"),), tools=(TOOL,), must_call=True))
    assert [bad.kind for bad in reply.malformed] == ["prose"]


def test_it_costs_nothing_and_says_so() -> None:
    model = Scripted(constant("x"))
    assert (model.price, say(model).usage.usd) == (FREE, 0.0)


def test_a_function_that_raises_is_a_fault_with_type_message_and_line() -> None:
    def broken(request: Request) -> str:
        return {}["x"]

    with pytest.raises(FaultError) as failed:
        say(Scripted(broken, "scripted:mine"))
    fault = failed.value.fault
    assert (fault.kind, fault.where) == ("scripted_error", "scripted:mine")
    assert fault.message == f"KeyError: 'x' (test_scripted.py:{broken.__code__.co_firstlineno + 1})"


@pytest.mark.parametrize(
    "error", [FaultError(Fault("timeout", "x", "y")), LimitReached("context_overflow"), WhetError("mend it")]
)
def test_errors_of_ours_pass_through(error: Exception) -> None:
    def fails(request: Request) -> str:
        raise error

    with pytest.raises(type(error)):
        say(Scripted(fails))


def test_a_function_that_returns_something_else_is_a_fault() -> None:
    with pytest.raises(FaultError, match="it returned int, and must return a Reply or text"):
        say(Scripted(lambda request: 2))  # type: ignore[arg-type,return-value]


# --------------------------------------------------------------------------------------------- fingerprints


def test_functions_from_one_factory_have_fingerprints_of_their_own() -> None:
    assert Scripted(constant("a")).fingerprint == Scripted(constant("a")).fingerprint
    assert Scripted(constant("a")).fingerprint != Scripted(constant("b")).fingerprint


def test_what_a_partial_binds_enters_the_fingerprint() -> None:
    def add(more: int, request: Request) -> str:
        return str(more)

    one, two = Scripted(functools.partial(add, 1)), Scripted(functools.partial(add, 2))
    assert one.fingerprint != two.fingerprint


def test_a_function_without_source_still_has_a_fingerprint() -> None:
    built: dict[str, Any] = {}
    exec("def f(request):\n    return 'x'\ndef g(request):\n    return 'y'", built)
    assert Scripted(built["f"]).fingerprint != Scripted(built["g"]).fingerprint


def test_a_function_that_refers_to_itself_has_a_fingerprint() -> None:
    def again(request: Request, depth: int = 3) -> str:
        return again(request, depth - 1) if depth else "end"

    assert say(Scripted(again)).text == "end"


# --------------------------------------------------------------------------------------------- baselines


def oracle(task: Task, said: tuple[Any, ...]) -> str:
    return f"{task.truth} after {len(said)}"


def test_a_baseline_sees_the_task_and_what_was_said() -> None:
    model = reference("oracle", "abc", oracle)
    task = Task("train", 0, Label("sum"), ASKED.messages, truth="2")
    assert (model.name, model.sees_task) == ("baseline:oracle", True)
    assert say(model, Request(ASKED.messages, task=task)).text == "2 after 1"


def test_a_baseline_without_a_task_is_an_error() -> None:
    with pytest.raises(WhetError, match="baseline:oracle was asked without a task"):
        say(reference("oracle", "abc", oracle))


def test_a_baseline_of_another_environment_is_another_model() -> None:
    assert reference("oracle", "abc", oracle).fingerprint != reference("oracle", "abd", oracle).fingerprint


# --------------------------------------------------------------------------------------------- addresses


SOURCE = """
from __future__ import annotations
from dataclasses import dataclass

@dataclass
class Word:
    text: str

def answer(request) -> str:
    return Word("from a file").text
"""


def scripted_file(folder: Path, text: str = SOURCE) -> str:
    path = folder / "mine.py"
    path.write_text(text)
    return f"scripted:{path}:answer"


def test_a_file_and_a_function_name_a_model(tmp_path: Path) -> None:
    address = scripted_file(tmp_path)
    model = load_model(address)
    assert (model.name, say(model).text) == (address, "from a file")


def test_a_module_and_a_function_name_a_model() -> None:
    assert say(load_model("scripted:builders:doubled"), Request((user("Say twice 4, please"),))).text == "8"


def test_a_change_anywhere_in_the_file_changes_the_fingerprint(tmp_path: Path) -> None:
    before = load_model(scripted_file(tmp_path)).fingerprint
    assert load_model(scripted_file(tmp_path)).fingerprint == before
    assert load_model(scripted_file(tmp_path, SOURCE.replace("from a file", "another"))).fingerprint != before


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("scripted:alone", "must be scripted:module:function"),
        ("scripted:no_such_module:f", "no_such_module cannot be loaded: ModuleNotFoundError"),
        ("scripted:absent.py:f", "cannot read absent.py"),
        ("scripted:builders:doubler", "has no function 'doubler'. Did you mean 'doubled'?"),
    ],
)
def test_an_address_that_names_no_function_is_explained(address: str, told: str) -> None:
    with pytest.raises(WhetError) as refused:
        load_model(address)
    assert told in str(refused.value)


def test_a_file_that_fails_on_import_is_explained_with_the_line(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match=r"ZeroDivisionError: division by zero \(mine.py:1\)"):
        load_model(scripted_file(tmp_path, "1 / 0"))


def test_calls_made_by_a_function_are_kept() -> None:
    made = Reply("", (ToolCall("a", "say", {"word": "x"}),), (MalformedCall("b", "say", "{", "bad_json", "no"),))
    assert say(Scripted(lambda request: made)).calls == made.calls
