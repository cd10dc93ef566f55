"""What a server may send instead of an answer: the run ends in a table or in one line, in time, and nothing of it acts.

Every scenario runs `whet eval`, then reads the run again with every command that shows one.
"""

from __future__ import annotations

import gzip
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest
from command_line import Whet
from hostile import BIDI, ESCAPES, LATE, MARKUP, SUMS, Behave, Talk, completion, harmless, hostile, right


def body(data: bytes, status: int = 200, **more: object) -> Behave:
    return lambda talk: talk.answer(data, status, **more)  # type: ignore[arg-type]


def error(message: object, status: int = 400, **more: object) -> Behave:
    return body(orjson.dumps({"error": {"message": message, **more}}), status)


def raw(data: bytes, stay: bool = False) -> Behave:
    """Bytes as they are, then the end of the connection."""

    def behave(talk: Talk) -> None:
        talk.send(data)
        if not stay:
            talk.connection.shutdown(socket.SHUT_RDWR)

    return behave


def drip(talk: Talk) -> None:
    with suppress(OSError):
        talk.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        while True:
            talk.send(b" ")
            time.sleep(0.2)


def endless_headers(talk: Talk) -> None:
    with suppress(OSError):
        talk.send(b"HTTP/1.1 200 OK\r\n")
        for number in range(1_000_000):
            talk.send(b"X-%d: %s\r\n" % (number, b"y" * 4000))


def flood(talk: Talk) -> None:
    with suppress(OSError):
        talk.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            talk.send(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")


BOMB = gzip.compress(b'{"choices": "' + b"a" * 60_000_000 + b'"}', 1)
SOLVED = b'"choices":[{"message":{"content":"%s"},"finish_reason":"stop"}]'


@dataclass(frozen=True)
class Scene:
    """What the server does, how the command ends, and what it says."""

    behave: Behave
    code: int = 1
    told: str = ""
    attempts: int = 1
    timeout: float = 3.0
    tasks: int = 1


def solved(talk: Talk) -> None:
    talk.say(right(talk))


def retry_after(value: bytes) -> Behave:
    return lambda talk: solved(talk) if talk.number else talk.answer(b"{}", 429, headers=b"Retry-After: %s\r\n" % value)


SCENES: dict[str, Scene] = {
    # text that would act
    "markup in an error": Scene(error(MARKUP), told="[/bold]"),
    "escapes in an error": Scene(error(ESCAPES), told="b[31mred"),
    "bidi in an error": Scene(error(BIDI), told="\\u202e"),
    "markup in a reply": Scene(lambda talk: talk.say(MARKUP), 0),
    "escapes in a reply": Scene(lambda talk: talk.say(ESCAPES), 0),
    "bidi in a reply": Scene(lambda talk: talk.say(BIDI), 0),
    "markup in many errors": Scene(error(MARKUP + ESCAPES), told="faults in a row", tasks=40),
    "markup in the model's name": Scene(lambda talk: talk.say("1", model=MARKUP + ESCAPES), 0),
    "markup in a refusal": Scene(error(MARKUP + ESCAPES, 401), 2, "The key was refused"),
    "escapes in a redirect": Scene(
        body(b"", 308, headers=b"Location: http://x/\x1b[31m[/bold]\r\n"), 2, "points to http://x/"
    ),
    "escapes in a reason": Scene(raw(b"HTTP/1.1 400 \x1b[31m[/bold]\r\nContent-Length: 0\r\n\r\n")),
    "escapes in a finish reason": Scene(
        body(orjson.dumps({"choices": [{"message": {"content": "1"}, "finish_reason": ESCAPES}]})), 0
    ),
    "escapes in a broken reply": Scene(body(ESCAPES.encode() + MARKUP.encode()), told="is not JSON"),
    # bodies that are no reply
    "an HTML page": Scene(body(b"<html><h1>502 Bad Gateway</h1></html>", 502, media="text/html"), told="502"),
    "an HTML page under 200": Scene(body(b"<!DOCTYPE html><p>log in</p>", media="text/html"), told="is not JSON"),
    "nothing under 200": Scene(body(b""), told="is not JSON"),
    "no content": Scene(raw(b"HTTP/1.1 204 No Content\r\n\r\n"), told="is not JSON"),
    "invalid UTF-8": Scene(body(b'{"choices":[{"message":{"content":"\xff\xfe\xc3("}}]}'), 0),
    "half surrogates": Scene(body(b'{"choices":[{"message":{"content":"\\ud800 \\udfff"}}]}'), 0),
    "a zero byte in a reply": Scene(lambda talk: talk.say("a\x00b"), 0),
    "deep arrays": Scene(body(b"[" * 200_000), told="is not JSON"),
    "deep objects": Scene(body(b'{"a":' * 90_000 + b"1" + b"}" * 90_000), told="is not JSON"),
    "deep arguments": Scene(body(b'{"choices":' + b"[" * 900 + b"]" * 900 + b"}"), told="no message"),
    "numbers without end": Scene(
        body(b'{%s,"usage":{"prompt_tokens":1e999,"cost":%s}}' % (SOLVED % b"1", b"9" * 9000))
    ),
    "huge usage": Scene(body(b'{%s,"usage":{"prompt_tokens":%s}}' % (SOLVED % b"1", b"9" * 400)), 0),
    "negative usage": Scene(lambda talk: talk.say("1", usage={"prompt_tokens": -5, "completion_tokens": -(2**60)}), 0),
    "NaN in usage": Scene(body(b'{%s,"usage":{"prompt_tokens":NaN,"cost":Infinity}}' % (SOLVED % b"1")), 0),
    "usage of another kind": Scene(lambda talk: talk.say("1", usage=["x", {"y": ESCAPES}]), 0),
    "duplicate keys": Scene(body(b'{"choices":1,%s,"model":"a","model":"b"}' % (SOLVED % b"1")), 0),
    "choices of another kind": Scene(body(b'{"choices":[[["x"]]]}'), told="no message"),
    "content of another kind": Scene(lambda talk: talk.say({"text": [1, {"x": None}]}), 0),
    "an error of another kind": Scene(body(b'{"error":["[/bold]",{"code":{}}]}', 400)),
    "an error without end": Scene(error("x" * 3_000_000, 500), told="xxx..."),
    "a plain text reply": Scene(lambda talk: talk.answer(orjson.dumps(completion(right(talk))), media="text/plain"), 0),
    # the exchange itself
    "a gzip bomb": Scene(body(BOMB, headers=b"Content-Encoding: gzip\r\n"), told="reply"),
    "a broken encoding": Scene(body(b"not gzip", headers=b"Content-Encoding: gzip\r\n")),
    "endless headers": Scene(endless_headers, timeout=5.0),
    "an endless body": Scene(flood, told="larger than", timeout=5.0),
    "bytes that drip": Scene(drip, told="no whole answer within", timeout=1.0),
    "silence": Scene(lambda talk: time.sleep(4), told="no whole answer within", timeout=1.0),
    "a body that is cut": Scene(raw(b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{")),
    "no HTTP at all": Scene(raw(b"SSH-2.0-OpenSSH_9.6\x1b[31m\r\n")),
    "a version from the future": Scene(raw(b"HTTP/9.9 200 \x1b[1mOK\r\n\r\n{}")),
    "a bad chunk": Scene(raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\x1b[31m\r\n{}\r\n")),
    "two lengths": Scene(raw(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 5\r\n\r\n{}")),
    "a redirect to itself": Scene(body(b"", 308, headers=b"Location: /v1/chat/completions\r\n"), 2, "mend base_url"),
    "a redirect elsewhere": Scene(body(b"", 302, headers=b"Location: http://192.0.2.1/\r\n"), 2, "mend base_url"),
    "a wait without end": Scene(error("busy", 429), told="429", attempts=1),
    "a wait of words": Scene(retry_after(b"soon \x1b[31m"), 0, attempts=2),
    "a wait below zero": Scene(retry_after(b"-5"), 0, attempts=2),
    "a wait of a year": Scene(
        body(b"{}", 429, headers=b"Retry-After: 31536000\r\n"), told="would pass the deadline", attempts=3
    ),
}


@pytest.mark.parametrize("name", SCENES)
def test_whatever_a_server_sends_the_run_ends_well(whet: Whet, name: str) -> None:
    scene = SCENES[name]
    sets = (f"control.target.attempts={scene.attempts}", f"control.target.timeout={scene.timeout}")
    began = time.monotonic()
    with hostile(scene.behave) as server:
        words = ("-m", "openai:m", "--base-url", server.base_url, "-n", str(scene.tasks), "--run", "r")
        said = whet("eval", SUMS, *words, *(word for pair in sets for word in ("--set", pair)))
    assert time.monotonic() - began < scene.attempts * scene.timeout + LATE
    harmless(said)
    assert said.code == scene.code, said
    assert scene.told in f"{said.out} {said.err}"
    if said.code == 2:
        assert len(said.err.strip().splitlines()) == 1
        return
    acts = any(word in name for word in ("escapes", "markup", "bidi", "zero"))
    more = (("runs",), ("rebuild", "r"), ("export", "chat", "r")) if acts else ()
    for again in (("runs", "show", "r"), *((("verify", "r"),) if said.code == 0 else ()), *more):
        harmless(read := whet(*again))
        assert read.code == 0, (again, read)
    for result in orjson.loads(Path("runs/r/results.json").read_bytes())["results"]:
        harmless(whet("runs", "show", "r", "--task", result["id"]))
