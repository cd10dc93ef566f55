"""A champion behind an endpoint: its playbook in every request, the answers as they are, none lost or twice."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest
import ticket_desk
from aiohttp import web
from command_line import Whet
from loopback import Behaviour, Loopback, serving
from promoted_champion import SKILL, promoted

from whet.errors import WhetError
from whet.release import serve as room
from whet.release.champion import Champions
from whet.release.meter import open_purse
from whet.release.serve import ChampionDesk, build_app
from whet.rollout.placement import place, place_rules
from whet.types import Example, Playbook, Rule, Sampling, system, user

Json = dict[str, Any]
OTHER = Playbook("Say the sum twice.")
WORKED = Playbook("Add.", (Example("1 + 1", "2"),), rules=(Rule("G1", "Digits alone."),))


@asynccontextmanager
async def served(releases: Path, *, token: str = "", **limits: int) -> AsyncIterator[tuple[str, ChampionDesk]]:
    with open_purse(releases / "sums", **limits) as purse:  # type: ignore[arg-type]
        desk = ChampionDesk(Champions(releases), "sums", purse, "", lambda _: None)
        runner = web.AppRunner(build_app(desk, token), handler_cancellation=True)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        watch = asyncio.create_task(desk.watch())
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}", desk
        finally:
            watch.cancel()
            await runner.cleanup()
            await desk.now.end()


async def post(url: str, body: Any, **more: Any) -> tuple[int, bytes, Any]:
    async with (
        aiohttp.ClientSession() as client,
        client.post(f"{url}/v1/chat/completions", data=orjson.dumps(body), **more) as answer,
    ):
        return answer.status, await answer.read(), answer.headers


def asking(text: str, **more: Any) -> Json:
    return {"model": "sums", "messages": [{"role": "user", "content": text}], **more}


def run(releases: Path, act: Callable[[str, ChampionDesk], Awaitable[Any]], **options: Any) -> Any:
    async def main() -> Any:
        async with served(releases, **options) as (url, desk):
            return await act(url, desk)

    return asyncio.run(main())


@pytest.fixture
def model() -> Iterator[Loopback]:
    with serving() as server:
        yield server


def at(server: Loopback, folder: Path, playbook: Playbook = SKILL, **more: Any) -> Path:
    promoted(folder, playbook, endpoint={"base_url": server.base_url}, **more)
    return folder


# --------------------------------------------------------------------------------------------- what is asked


def test_the_playbook_stands_where_it_stood_when_it_was_measured(model: Loopback, tmp_path: Path) -> None:
    releases = at(model, tmp_path, WORKED)
    opening = [{"role": "system", "content": "You are terse."}, {"role": "user", "content": "2 + 3"}]
    later = [{"role": "assistant", "content": "5"}, {"role": "user", "content": "and 4 + 4?"}]

    async def act(url: str, _: ChampionDesk) -> None:
        for said in (opening, [*opening, *later]):
            assert (await post(url, {"model": "sums", "messages": said}))[0] == 200

    run(releases, act)
    first, second = (seen["body"]["messages"] for seen in model.seen)
    measured = place(WORKED, place_rules(WORKED, (system("You are terse."), user("2 + 3"))))
    assert [(told["role"], told["content"]) for told in first] == [(told.author, told.text) for told in measured]
    assert second == [*first, *later]  # the opening stays as it was: nothing moves as a conversation goes on


def test_what_the_client_says_stays_and_what_it_leaves_out_is_the_champions(model: Loopback, tmp_path: Path) -> None:
    releases = at(model, tmp_path, sampling=Sampling(0.3, 0.8, 77, stop=("END",), effort="low"))
    tool = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}}
    odd = {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}}
    content = [{"type": "text", "text": "1 + 1"}, image, odd]
    body = asking("", tools=[tool], seed=5, user="me", metadata={"a": "b"}, temperature=0.9, max_completion_tokens=9)
    body["messages"][0]["content"] = content

    async def act(url: str, _: ChampionDesk) -> None:
        assert (await post(url, asking("1 + 1")))[0] == 200
        assert (await post(url, body))[0] == 200

    run(releases, act)
    plain, rich = (seen["body"] for seen in model.seen)
    assert {name: plain[name] for name in ("temperature", "top_p", "max_tokens", "stop", "reasoning_effort")} == {
        "temperature": 0.3,
        "top_p": 0.8,
        "max_tokens": 77,
        "stop": ["END"],
        "reasoning_effort": "low",
    }
    assert (rich["temperature"], rich["max_tokens"], rich["seed"], rich["user"]) == (0.9, 9, 5, "me")
    assert "max_completion_tokens" not in rich
    assert rich["tools"] == [tool]
    assert rich["messages"][-1]["content"] == content
    assert rich["model"] == "any"


def test_rules_go_before_the_text_of_a_message_with_images(model: Loopback, tmp_path: Path) -> None:
    releases = at(model, tmp_path, Playbook(rules=(Rule("G1", "Digits alone."),)))
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    body = asking("")
    body["messages"][0]["content"] = [{"type": "text", "text": "1 + 1"}, image]
    run(releases, lambda url, _: post(url, body))
    told = model.seen[0]["body"]["messages"][-1]["content"]
    assert told == [{"type": "text", "text": "Rules:\n1. Digits alone.\n\n1 + 1"}, image]


# --------------------------------------------------------------------------------------------- what comes back


def test_an_answer_and_a_stream_come_through_byte_for_byte(model: Loopback, tmp_path: Path) -> None:
    releases = at(model, tmp_path)

    async def act(url: str, _: ChampionDesk) -> list[tuple[int, bytes, Any]]:
        found = [await post(url, asking("20 + 22")), await post(url, asking("20 + 22", stream=True))]
        async with aiohttp.ClientSession() as client:
            for body in [seen["body"] for seen in model.seen]:
                async with client.post(f"{model.base_url}/chat/completions", json=body) as answer:
                    found.append((answer.status, await answer.read(), answer.headers))
        return found

    whole, stream, direct, direct_stream = run(releases, act)
    assert whole[:2] == direct[:2]
    assert stream[:2] == direct_stream[:2]
    assert stream[2]["content-type"] == "text/event-stream"
    assert whole[2]["x-whet-champion"] == "sums@v1"
    assert orjson.loads(whole[1])["choices"][0]["message"]["content"] == "42"


@pytest.mark.parametrize("fault", ["400", "401", "404", "429", "500", "503", "overflow", "invalid"])
def test_an_error_of_the_server_comes_through_as_it_is_and_is_not_tried_again(
    fault: str, model: Loopback, tmp_path: Path
) -> None:
    releases = at(model, tmp_path)
    model.plan.extend([{"fault": fault, "headers": {"Retry-After": "7"}}] * 2)

    async def act(url: str, _: ChampionDesk) -> Any:
        through = await post(url, asking("1 + 1"))
        assert model.requests == 1
        asked = {"json": model.seen[0]["body"]}
        async with (
            aiohttp.ClientSession() as client,
            client.post(f"{model.base_url}/chat/completions", **asked) as answer,
        ):
            return through, (answer.status, await answer.read())

    through, direct = run(releases, act)
    assert through[:2] == direct
    assert through[2].get("retry-after") == "7"


@pytest.mark.parametrize(("fault", "status"), [("drop", 502), ("cut", 502), ("stall", 504)])
def test_a_server_that_is_gone_is_told_as_an_error(fault: str, status: int, model: Loopback, tmp_path: Path) -> None:
    promoted(tmp_path, endpoint={"base_url": model.base_url, "timeout": 0.5})
    model.plan.append(fault)
    found = run(tmp_path, lambda url, _: post(url, asking("1 + 1")))
    assert found[0] == status
    assert orjson.loads(found[1])["error"]["type"] == "upstream_error"


def test_no_server_at_all_is_one_line(tmp_path: Path) -> None:
    promoted(tmp_path, endpoint={"base_url": "http://127.0.0.1:9/v1"})
    status, body, _ = run(tmp_path, lambda url, _: post(url, asking("1 + 1")))
    assert status == 502
    assert "cannot be reached" in orjson.loads(body)["error"]["message"]


def test_a_key_is_sent_to_the_server_and_comes_back_to_nobody(
    model: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UPSTREAM_KEY", "sk-very-secret-key-12345")
    promoted(tmp_path, endpoint={"base_url": model.base_url, "key_env": "UPSTREAM_KEY"})
    model.plan.append({"status": 401, "body": {"error": {"message": "bad key sk-very-secret-key-12345"}}})
    status, body, _ = run(
        tmp_path, lambda url, _: post(url, asking("1 + 1"), headers={"Authorization": "Bearer theirs"})
    )
    assert (status, b"very-secret" in body) == (401, False)
    assert model.seen[0]["headers"]["authorization"] == "Bearer sk-very-secret-key-12345"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", "invalid_json"),
        (b"[]", "invalid_messages"),
        (b'{"messages": []}', "invalid_messages"),
        (b'{"messages": [{"role": "root", "content": "x"}]}', "invalid_messages"),
        (b'{"messages": [{"role": "user", "content": 3}]}', "invalid_messages"),
        (b'{"messages": [{"role": "user", "content": ["x"]}]}', "invalid_messages"),
        (b'{"messages": [{"role": "user", "content": "x"}], "n": 0}', "invalid_n"),
        (b'{"messages": [{"role": "user", "content": "x"}], "max_tokens": "many"}', "invalid_max_tokens"),
        (b'{"messages": [{"role": "user", "content": "x"}], "model": "gpt-5"}', "model_not_found"),
        (b'{"messages": [{"role": "user", "content": "x"}], "a": ' + b"[" * 500 + b"]" * 500 + b"}", "too_deep"),
    ],
)
def test_a_bad_request_is_refused_before_anybody_is_asked(
    body: bytes, code: str, model: Loopback, tmp_path: Path
) -> None:
    releases = at(model, tmp_path)

    async def act(url: str, _: ChampionDesk) -> Any:
        async with aiohttp.ClientSession() as client, client.post(f"{url}/v1/chat/completions", data=body) as answer:
            return answer.status, orjson.loads(await answer.read())["error"]["code"]

    status, told = run(releases, act)
    assert (status, told) == (404 if code == "model_not_found" else 400, code)
    assert model.requests == 0


@pytest.mark.parametrize(
    "odd", [{"tools": 5}, {"response_format": {"json_schema": None}}, {"response_format": {"json_schema": "x"}}]
)
def test_a_field_that_we_cannot_read_is_the_servers_to_judge(odd: Json, model: Loopback, tmp_path: Path) -> None:
    model.plan.append("400")
    assert run(at(model, tmp_path), lambda url, _: post(url, asking("1 + 1", **odd)))[0] == 400
    assert odd.items() <= model.seen[0]["body"].items()


def test_an_answer_without_end_is_not_kept(model: Loopback, tmp_path: Path) -> None:
    model.plan.append("flood")
    status, body, _ = run(at(model, tmp_path), lambda url, _: post(url, asking("1 + 1")))
    assert (status, orjson.loads(body)["error"]["code"]) == (502, "reply_too_large")


# --------------------------------------------------------------------------------------------- who may ask


def test_a_token_is_asked_for(model: Loopback, tmp_path: Path) -> None:
    releases = at(model, tmp_path)

    async def act(url: str, _: ChampionDesk) -> list[int]:
        found = []
        for told in ({}, {"Authorization": "Bearer wrong-token"}, {"Authorization": "Bearer right-token"}):
            found.append((await post(url, asking("1 + 1"), headers=told))[0])
        async with aiohttp.ClientSession() as client:
            async with client.get(f"{url}/health") as answer:
                assert orjson.loads(await answer.read()) == {"status": "ok"}
            async with client.get(f"{url}/v1/models") as answer:
                found.append(answer.status)
        return found

    assert run(releases, act, token="right-token") == [401, 401, 200, 401]


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Origin": "null"}])
def test_a_page_of_another_site_is_not_answered(headers: dict[str, str], model: Loopback, tmp_path: Path) -> None:
    releases = at(model, tmp_path)
    assert run(releases, lambda url, _: post(url, asking("1 + 1"), headers=headers))[0] == 403
    assert model.requests == 0


def test_models_and_health_say_who_serves(model: Loopback, tmp_path: Path) -> None:
    releases = at(model, tmp_path)

    async def act(url: str, _: ChampionDesk) -> tuple[Any, Any, int]:
        await post(url, asking("1 + 1"))
        async with aiohttp.ClientSession() as client:
            async with client.get(f"{url}/v1/models") as answer:
                models = orjson.loads(await answer.read())
            async with client.get(f"{url}/health") as answer:
                health = orjson.loads(await answer.read())
            async with client.get(f"{url}/nothing") as answer:
                return models, health, answer.status

    models, health, missing = run(releases, act)
    assert (models["data"][0]["id"], models["data"][0]["champion"]) == ("sums", "sums@v1")
    assert (health["champion"], health["requests"], health["answered"], health["trouble"]) == ("sums@v1", 1, 1, "")
    assert missing == 404


# --------------------------------------------------------------------------------------------- another version


def test_promoted_and_rolled_back_it_switches_and_finishes_what_it_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "LOOK", 0.01)
    with serving(Behaviour(latency=0.3)) as slow:
        releases = at(slow, tmp_path)

        async def until(desk: ChampionDesk, version: int) -> None:
            async with asyncio.timeout(20):
                while desk.now.champion.version != version:
                    await asyncio.sleep(0.01)

        async def act(url: str, desk: ChampionDesk) -> list[str]:
            early = asyncio.create_task(post(url, asking("1 + 1")))
            await asyncio.sleep(0.1)
            await asyncio.to_thread(at, slow, tmp_path, OTHER)
            await until(desk, 2)
            late = await post(url, asking("1 + 1"))
            await asyncio.to_thread(Champions(releases).rollback, "sums")
            await until(desk, 1)
            last = await post(url, asking("1 + 1"))
            return [found[2]["x-whet-champion"] for found in (await early, late, last)]

        assert run(releases, act) == ["sums@v1", "sums@v2", "sums@v1"]
        systems = [seen["body"]["messages"][0]["content"] for seen in slow.seen]
        assert systems == [SKILL.body, OTHER.body, SKILL.body]


def test_a_version_that_cannot_be_served_leaves_the_old_one_at_work(
    model: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "LOOK", 0.01)
    releases = at(model, tmp_path)

    async def act(url: str, desk: ChampionDesk) -> str:
        at(model, tmp_path, OTHER)
        (releases / "sums" / "v2" / "champion.json").write_text("{}")
        async with asyncio.timeout(20):
            while not desk.trouble:
                await asyncio.sleep(0.01)
        return str((await post(url, asking("1 + 1")))[2]["x-whet-champion"])

    assert run(releases, act) == "sums@v1"


# --------------------------------------------------------------------------------------------- how much


def test_a_budget_holds_over_restarts_and_at_once(model: Loopback, tmp_path: Path) -> None:
    releases = at(model, tmp_path)

    async def act(url: str, _: ChampionDesk) -> Counter[int]:
        found = await asyncio.gather(*(post(url, asking(f"{number} + 1")) for number in range(12)))
        refused = [orjson.loads(body)["error"]["code"] for status, body, _ in found if status != 200]
        assert set(refused) <= {"budget_reached"}
        return Counter(status for status, _, _ in found)

    assert run(releases, act, calls=8) == {200: 8, 429: 4}
    assert run(releases, act, calls=10) == {200: 2, 429: 10}
    assert model.requests == 10


def test_chat_and_decisions_are_paid_from_one_budget(model: Loopback, tmp_path: Path) -> None:
    at(model, tmp_path, environment="groupqc", arguments=ticket_desk.ARGUMENTS)

    async def act(url: str, _: ChampionDesk) -> list[int]:
        lines, found = ticket_desk.tickets(3), []
        async with aiohttp.ClientSession() as client:
            for number in range(3):
                found.append((await post(url, asking(f"What is {number} + 1?")))[0])
                async with client.post(f"{url}/decide", data=lines[number]) as answer:
                    found.append(answer.status)
        return found

    assert run(tmp_path, act, calls=4) == [200, 200, 200, 200, 429, 503]
    assert run(tmp_path, act, calls=5) == [200, 200, 429, 200, 429, 503]  # what was decided is told again for nothing
    assert len(model.seen) == 5


def test_a_champion_of_an_environment_without_an_intake_has_nothing_to_decide(model: Loopback, tmp_path: Path) -> None:
    async def act(url: str, _: ChampionDesk) -> tuple[int, Json]:
        async with aiohttp.ClientSession() as client, client.post(f"{url}/decide", data=b"{}") as answer:
            return answer.status, orjson.loads(await answer.read())

    status, told = run(at(model, tmp_path, environment="data:orders.csv"), act)
    assert status == 404
    assert "data:orders.csv: new work of it cannot be decided on" in told["error"]


def test_a_look_for_the_next_version_that_fails_in_any_way_is_told_and_not_the_last(
    model: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    releases = at(model, tmp_path)

    async def act(url: str, desk: ChampionDesk) -> list[str]:
        told: list[str] = []
        desk.tell = told.append
        with monkeypatch.context() as broken:
            broken.setattr(ChampionDesk, "_shift", _broken_shift)
            at(model, releases, OTHER)
            while not told:
                await asyncio.sleep(0.05)
        while len(told) < 2:
            await asyncio.sleep(0.05)
        return told

    first, second = run(releases, act)
    assert first == "sums@v1 is served on: ImportError: no such kernel"
    assert second == "sums@v2 serves from now on, in place of sums@v1"


def _broken_shift(*_: object) -> None:
    raise ImportError("no such kernel")


def test_many_requests_at_once_are_each_answered_once(model: Loopback, tmp_path: Path) -> None:
    releases = at(model, tmp_path)
    turns = asyncio.Semaphore(64)

    async def act(url: str, _: ChampionDesk) -> list[str]:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=64)) as client:

            async def ask(number: int) -> str:
                body = orjson.dumps(asking(f"What is {number} + 1?", stream=number % 2 == 1))
                async with turns, client.post(f"{url}/v1/chat/completions", data=body) as answer:
                    data = await answer.read()
                if number % 2:
                    events = [orjson.loads(line[6:]) for line in data.split(b"\n\n") if line.startswith(b"data: {")]
                    return str(events[0]["choices"][0]["delta"]["content"])
                return str(orjson.loads(data)["choices"][0]["message"]["content"])

            return await asyncio.gather(*(ask(number) for number in range(400)))

    assert run(releases, act) == [str(number + 1) for number in range(400)]
    asked = Counter(seen["body"]["messages"][-1]["content"] for seen in model.seen)
    assert set(asked.values()) == {1}
    assert len(asked) == 400


# --------------------------------------------------------------------------------------------- other models

FUNCTION = """
from whet.types import Reply, ToolCall

def answer(request):
    said = " | ".join(f"{message.author}: {message.text}" for message in request.messages)
    if request.tools:
        return Reply("", (ToolCall("c1", request.tools[0].name, {"x": 1}),), finish="tool_calls")
    return f"{said} | {request.sampling.max_tokens}"
"""


def test_a_model_of_ours_is_served_too(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(FUNCTION)
    releases = tmp_path / "releases"
    promoted(releases, model=f"scripted:{tmp_path / 'model.py'}:answer")
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}

    async def act(url: str, _: ChampionDesk) -> list[bytes]:
        asked = (asking("hi"), asking("hi", n=2), asking("hi", stream=True), asking("hi", tools=[tool]))
        return [(await post(url, body))[1] for body in asked]

    whole, both, stream, called = run(releases, act)
    text = f"system: {SKILL.body} | user: hi | 64"
    assert orjson.loads(whole)["choices"][0]["message"]["content"] == text
    assert len(orjson.loads(both)["choices"]) == 2
    events = [orjson.loads(line[6:]) for line in stream.split(b"\n\n") if line.startswith(b"data: {")]
    assert (events[0]["choices"][0]["delta"]["content"], events[-1]["choices"][0]["finish_reason"]) == (text, "stop")
    assert stream.endswith(b"data: [DONE]\n\n")
    assert orjson.loads(called)["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "f"


def test_a_model_that_changed_since_it_was_tested_is_not_served(tmp_path: Path, whet: Whet) -> None:
    Path("model.py").write_text(FUNCTION)
    promoted(Path("releases"), model=f"scripted:{tmp_path / 'model.py'}:answer")
    Path("model.py").write_text(FUNCTION + "\n\ndef answer(request):\n    return 'other'\n")
    said = whet("serve", "sums", "--port", "0")
    assert said.code == 2
    assert "is another model by now" in said.err
    assert said.err.count("\n") == 1


# --------------------------------------------------------------------------------------------- as a process


@contextmanager
def process(*words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-m", "whet", "serve", "sums", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        try:
            yield started, started.stdout.readline()
        finally:
            started.kill()


def test_told_to_stop_it_finishes_what_it_began(tmp_path: Path) -> None:
    with serving(Behaviour(latency=1.0)) as slow:
        at(slow, tmp_path)
        with process("--releases", str(tmp_path), "--port", "0") as (server, line):
            url = line.partition(" at ")[2].partition("/v1")[0]

            async def act() -> tuple[int, bytes, Any]:
                asked = asyncio.create_task(post(url, asking("1 + 1")))
                await asyncio.sleep(0.5)
                server.send_signal(signal.SIGTERM)
                return await asked

            status, body, _ = asyncio.run(act())
            assert status == 200
            assert orjson.loads(body)["choices"][0]["message"]["content"] == "2"
            assert server.wait(20) == 0
            assert server.stdout is not None
            assert "stopped" in server.stdout.read()


def test_a_port_in_use_is_one_line(model: Loopback, tmp_path: Path, whet: Whet) -> None:
    at(model, Path("releases"))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        said = whet("serve", "sums", "--port", str(taken.getsockname()[1]))
    assert said.code == 2
    assert "cannot be listened on" in said.err
    assert said.err.count("\n") == 1
    assert whet("serve", "sums", "--port", "99999").code == 2


def test_a_port_is_taken_from_the_start_and_not_once_the_model_is_loaded() -> None:
    with room._listen("127.0.0.1", 0) as door, pytest.raises(WhetError, match="cannot be listened on"):
        room._listen("127.0.0.1", door.getsockname()[1])


def test_dollars_without_a_price_are_refused_before_anybody_asks(model: Loopback, whet: Whet) -> None:
    at(model, Path("releases"))
    said = whet("serve", "sums", "--port", "0", "--max-usd", "1")
    assert said.code == 2
    assert "no price is known" in said.err
    assert said.err.count("\n") == 1


def test_an_answer_that_is_cut_off_is_not_called_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(room, "GRACE", 0.1)
    told: list[str] = []
    with serving(Behaviour(latency=2.0)) as slow:
        at(slow, tmp_path)

        async def act() -> None:
            with room._listen("127.0.0.1", 0) as door:
                url = f"http://127.0.0.1:{door.getsockname()[1]}"
                options = room.ServeOptions()
                server = asyncio.create_task(room._serve(Champions(tmp_path), "sums", options, "", door, told.append))
                asked = asyncio.create_task(post(url, asking("1 + 1")))
                while not slow.requests:
                    await asyncio.sleep(0.02)
                os.kill(os.getpid(), signal.SIGTERM)
                await server
                with pytest.raises(aiohttp.ClientError):
                    await asked

        asyncio.run(act())
    assert "1 answers were not out" in told[-1]


def test_an_unknown_champion_and_a_missing_token_are_one_line(tmp_path: Path, whet: Whet) -> None:
    for words, told in ((("sumz",), "no such champion"), (("sums", "--token-env", "NOWHERE"), "holds no token")):
        said = whet("serve", *words)
        assert (said.code, said.err.count("\n")) == (2, 1)
        assert told in said.err
    assert "NOWHERE" not in os.environ
