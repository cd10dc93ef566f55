"""A key that a server sends back, in whatever spelling, is in no file of the run, on no stream and in no export."""

from __future__ import annotations

import base64
import json
import os
import re
import stat
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson
import pytest
from command_line import Said, Whet
from hostile import SUMS, Talk, completion, harmless, hostile, right
from hypothesis import given, settings
from hypothesis import strategies as st

from whet import outside
from whet.config.load import write_config
from whet.config.schema import EndpointSection
from whet.errors import WhetError
from whet.files import owner_only
from whet.key_shapes import hide_shapes, refuse_keys
from whet.outside import HIDDEN, KEYS, Keychain, shown, shown_json, shown_line
from whet.outside import harmless as harmless_text
from whet.types import Reply
from whet.wire import reply_in

KEY = "sk-canary/0123+abcdef=9876zyxwv"

SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": lambda key: key,
    "bearer": lambda key: f"Authorization: Bearer {key}",
    "upper": str.upper,
    "reversed": lambda key: key[::-1],
    "hex": lambda key: key.encode().hex(),
    "HEX": lambda key: key.encode().hex().upper(),
    "url": lambda key: quote(key, safe=""),
    "url, lower case": lambda key: quote(key, safe="").lower(),
    "url, every letter": lambda key: "".join(f"%{letter:02X}" for letter in key.encode()),
    "json": lambda key: json.dumps(key),
    "json, every letter": lambda key: "".join(f"\\u{ord(letter):04x}" for letter in key),
    **{
        f"base64 after {before}": lambda key, before=before: base64.b64encode(
            b"x" * before + key.encode() + b"tail"
        ).decode()
        for before in range(4)
    },
    "base64 for URLs": lambda key: base64.urlsafe_b64encode(b"ab" + key.encode()).decode(),
}


def leaks(data: bytes, key: str = KEY) -> list[str]:
    """The spellings of `key` that stand in `data`, found in another way than the boundary finds them."""
    small = data.lower()
    needles = {
        name: make(key).strip('"').lower().encode() for name, make in SPELLINGS.items() if not name.startswith("base64")
    }
    found = [name for name, needle in needles.items() if needle.removeprefix(b"authorization: bearer ") in small]
    for run in re.findall(rb"[A-Za-z0-9+/_-]{16,}", data):
        for start in range(4):
            text = run[start:].translate(bytes.maketrans(b"-_", b"+/"))
            decoded = base64.b64decode(text[: len(text) // 4 * 4])
            if key.encode()[4:-4] in decoded:
                found.append("base64")
    return found


def everything(said: Said, folder: Path) -> bytes:
    files = [file.read_bytes() for file in folder.rglob("*") if file.is_file()]
    return b"\n".join([said.out.encode(), said.err.encode(), *files])


Echo = Callable[[Talk, str], None]
"""Sends a spelling of the key back in some place of an answer."""


def _error(status: int, body: Callable[[str], bytes], **more: Any) -> Echo:
    return lambda talk, said: talk.answer(body(said), status, **more)


def _message(said: str) -> bytes:
    return orjson.dumps({"error": {"message": f"bad key {said}", "code": said, said: said}})


def _events(said: str) -> bytes:
    chunks = [{"choices": [{"delta": {"content": said}}]}, {"choices": [{"delta": {"content": said[:9]}}]}]
    return b"".join(b"data: " + orjson.dumps(chunk) + b"\n\n" for chunk in chunks)


def _header(talk: Talk, said: str) -> None:
    echo = said.encode()
    talk.answer(b"{}", 400, headers=b"X-Echo: %s\r\nLocation: http://x/%s\r\n" % (echo, echo))


def _reply(talk: Talk, said: str) -> None:
    calls = [{"id": said, "function": {"name": said, "arguments": orjson.dumps({said: said}).decode()}}]
    whole = completion(f"{right(talk)} {said}", model=said, system_fingerprint=said)
    whole["choices"][0]["message"] |= {"tool_calls": calls, "reasoning_content": said}
    talk.answer(orjson.dumps(whole))


ECHOES: dict[str, Echo] = {
    "500": _error(500, _message),
    "418": _error(418, _message),
    "cut off": _error(400, lambda said: orjson.dumps({"error": "x" * 280 + said})),
    "HTML": _error(200, lambda said: f"<html>{said}</html>".encode(), media="text/html"),
    "events": _error(200, _events, media="text/event-stream"),
    "choices": _error(200, lambda said: orjson.dumps({"choices": said})),
    "header": _header,
    "reason": lambda talk, said: talk.answer(b"{}", 400, reason=said),
    "reply": _reply,
}

ENDS: dict[str, Echo] = {
    "401": _error(401, _message),
    "redirect": lambda talk, said: talk.answer(b"", 307, headers=b"Location: http://x/%s\r\n" % said.encode()),
}
"""Those that end a run at once."""


def asked(whet: Whet, base_url: str, n: int) -> Said:
    sets = ("control.target.key_env=CANARY", "control.target.attempts=1", "control.patience=0")
    words = ("-m", "openai:m", "--base-url", base_url, "-n", str(n), "--run", "r")
    said = whet("eval", SUMS, *words, *(word for pair in sets for word in ("--set", pair)))
    harmless(said)
    return said


@pytest.mark.parametrize("place", ECHOES)
def test_an_echoed_key_is_nowhere(whet: Whet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    """Every spelling, one after the other, in one place of the answer."""
    monkeypatch.setenv("CANARY", KEY)
    spells = list(SPELLINGS.values())
    with hostile(lambda talk: ECHOES[place](talk, spells[talk.number % len(spells)](talk.key))) as server:
        said = asked(whet, server.base_url, len(spells))
        assert server.requests == len(spells)
    assert leaks(everything(said, tmp_path)) == []
    for words in (("export", "chat", "r"), ("rebuild", "r"), ("runs", "show", "r"), ("verify", "r")):
        said = whet(*words)
        assert said.code == 0, said
        assert leaks(everything(said, tmp_path)) == []


@pytest.mark.parametrize("spelling", ["plain", "hex", "url", "base64 after 1"])
@pytest.mark.parametrize("place", ENDS)
def test_an_echoed_key_is_not_in_the_line_that_ends_a_run(
    whet: Whet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, spelling: str
) -> None:
    monkeypatch.setenv("CANARY", KEY)
    with hostile(lambda talk: ENDS[place](talk, SPELLINGS[spelling](talk.key))) as server:
        said = asked(whet, server.base_url, 1)
    assert said.code == 2
    assert leaks(everything(said, tmp_path)) == []


def test_leaks_would_be_found() -> None:
    for name, spell in SPELLINGS.items():
        assert leaks(b"some text " + spell(KEY).encode() + b" and more"), name


@settings(max_examples=50, deadline=None)
@given(
    st.binary(max_size=40),
    st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=60),
    st.binary(max_size=40),
)
def test_no_spelling_of_any_key_gets_past_the_keychain(before: bytes, key: str, after: bytes) -> None:
    chain = Keychain()
    chain.add(key)
    for spell in SPELLINGS.values():
        hidden = chain.hide_bytes(before + spell(key).encode() + after)
        # One of digits alone is no key inside a longer number, which may hold it by chance.
        if key not in HIDDEN * 20 and not key.isdigit():
            assert key.encode().lower() not in hidden.lower()
    encoded = base64.b64encode(before + key.encode() + after)
    assert HIDDEN.encode() in chain.hide_bytes(encoded)


def test_a_reply_without_a_key_is_the_same_object_and_one_with_it_is_not() -> None:
    KEYS.add(KEY)
    reply = reply_in({"text": "\x1b[31m\u202e as it is", "finish": "stop", "usage": {}})
    assert KEYS.hide_in_reply(reply) is reply
    told = reply_in({"text": f"x {KEY} y", "finish": "stop", "usage": {}, "files": {"a": KEY}})
    assert (KEYS.hide_in_reply(told).text, KEYS.hide_in_reply(told).files) == ("x *** y", {"a": "***"})


def test_an_escape_in_a_reply_is_data_to_the_byte(whet: Whet, tmp_path: Path) -> None:
    with hostile(lambda talk: talk.say("\x1b[31m[/bold]\u202e")) as server:
        whet("eval", SUMS, "-m", "openai:m", "--base-url", server.base_url, "-n", "1", "--run", "r")
    whet("export", "chat", "r")
    record = orjson.loads((tmp_path / "runs" / "r" / "chat.jsonl").read_bytes().splitlines()[0])
    assert record["messages"][-1]["content"] == "\x1b[31m[/bold]\u202e"


def test_placeholders_are_no_secrets() -> None:
    KEYS.add("EMPTY")
    assert KEYS.hide("EMPTY list") == "EMPTY list"


def test_a_message_holds_no_longer_piece_of_a_key() -> None:
    KEYS.add(KEY)
    assert (
        KEYS.hide_pieces(f"it begins with {KEY[:12]} and ends in {KEY[-10:]}") == "it begins with *** and ends in ***"
    )


# --------------------------------------------------------------------------------------------- what a person sees


def test_everything_that_acts_is_spelled_out() -> None:
    import unicodedata

    for code in range(sys.maxunicode + 1):
        letter = chr(code)
        if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") and letter not in "\n\t":
            assert harmless_text(letter) != letter, f"U+{code:04X}"


def test_text_of_any_script_is_left_alone() -> None:
    text = "plain, [brackets], tabs\tand\nlines, Grüße, 漢字, ไทย, हिन्दी, 👍🏽 ❤️"
    assert shown(text) == text


@settings(max_examples=50, deadline=None)
@given(st.text())
def test_what_is_shown_is_stable_and_on_one_line_where_it_must_be(text: str) -> None:
    assert shown(shown(text)) == shown(text)
    assert "\n" not in shown_line(text)


@settings(max_examples=50, deadline=None)
@given(
    st.recursive(
        st.none() | st.integers(-9, 9) | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_json_that_is_shown_is_the_same_json(value: object) -> None:
    try:
        written = orjson.dumps(value)
    except TypeError:  # half of a surrogate pair is no JSON
        return
    told = shown_json(written)
    assert orjson.loads(told) == value
    assert harmless_text(told) == told


# --------------------------------------------------------------------------------------------- configs by shape

REFUSED: dict[str, tuple[str, object]] = {
    "a password in an address": ("control.target.base_url", "https://me:pa55@host/v1"),
    "a name in an address": ("control.target.base_url", "https://token@host/v1"),
    "a key in a query": ("control.target.base_url", "https://host/v1?api_key=abc123"),
    "a key in a query by its shape": ("control.target.base_url", "https://host/v1?x=0a1b2c3d4e5f60718293a4b5"),
    "a signature": ("control.target.base_url", "https://host/v1?sig=abc&se=1"),
    "a key in a path": ("control.target.base_url", "https://host/sk-abcdefghijklmnop1234/v1"),
    "a key in extra": ("target.extra.api_key", "abc"),
    "a key deep in extra": ("target.extra.a.b", [{"Authorization": "Bearer abc"}]),
    "a header": ("target.extra.extra_headers", {"X-Api-Key": "abc123def456"}),
    "a cookie": ("target.extra.headers", {"Cookie": "session=1"}),
    "a key by its beginning": ("target.extra.note", "use sk-proj-abcdefghijklmnop1234 here"),
    "a token of a hub": ("env.args.source", "hf_abcdefghij1234567890abcdefghij"),
    "a key of an environment": ("env.args.openai_api_key", "abcdef0123456789"),
    "a key as a variable": ("control.target.key_env", "sk-abcdefghijklmnop1234"),
    "a key as a file": ("control.judge.key_file", "0a1b2c3d4e5f60718293a4b5c6d7e8f9"),
    "a key as a command": ("control.target.key_command", "echo sk-abcdefghijklmnop1234"),
    "words as a command": ("control.target.key_command", "echo hunter2"),
    "printf": ("control.target.key_command", "/usr/bin/printf %s hunter2"),
    "a shell": ("control.target.key_command", "sh -c 'echo hunter2'"),
    "an option of a command": ("control.target.key_command", "vault read --token=s3cr3t0123456789"),
    "a header of a command": (
        "control.target.key_command",
        "curl -H 'Authorization: Bearer abcdef0123456789' https://x",
    ),
    "an address of a command": ("control.target.key_command", "curl https://me:pa55@host/token"),
    "a key where the header is named": ("control.target.auth", "hunter2"),
    "a key with marks in it": ("target.extra.note", "sk-ant-api03-abcDEF012345_6789-ghi"),
    "a uuid as a token": ("target.extra.my_token", "550e8400-e29b-41d4-a716-446655440000"),
    "a pass for the judge": ("judge.extra.password", "x"),
    "a key of an optimiser": ("optimizer.extra.token", "x"),
}

FINE: dict[str, tuple[str, object]] = {
    "a plain address": ("control.target.base_url", "http://127.0.0.1:8000/v1"),
    "a version in a query": ("control.target.base_url", "https://host/openai?api-version=2024-10-21"),
    "a variable": ("control.target.key_env", "KEY_OF_THE_SECOND_AZURE_RESOURCE"),
    "a path": ("control.target.key_file", "~/.keys/sk-production.key"),
    "a login": ("control.target.key_command", "az account get-access-token --resource https://x.azure.com -o json"),
    "a variable in a shell": ("control.target.key_command", "sh -c 'echo $MY_TOKEN'"),
    "a secret's name": ("control.target.key_command", "gcloud secrets versions access latest --secret=openai-key-2024"),
    "a reference": ("target.extra.headers", {"Authorization": "$TOKEN", "X-Api-Key": "${KEY}"}),
    "numbers of tokens": ("target.extra.max_tokens", 512),
    "ids of tokens": ("target.extra", {"return_token_ids": True, "eos_token": "<|im_end|>", "stop_token": "</s>"}),
    "a column": ("env.args.key", "order_id"),
    "a model with a date": ("target.model", "openai:gpt-4o-mini-2024-07-18-preview-0001"),
    "a digest": ("env.args.sha256", "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9"),
    "a long prompt": ("env.args.prompt", "Ask the key question: which token ends the line? Answer with a word, 1234."),
    "the header of a key": ("control.target.auth", "bearer"),
    "the other header of a key": ("control.judge.auth", "api-key"),
    "a variable with a year": ("control.target.key_env", "AZURE_OPENAI_API_KEY_2024_PROD_EU"),
    "a name for a cache": ("target.extra.prompt_cache_key", "whet-run-2024-07"),
    "a folder of findings": ("env.args.source", "data/key_findings_2024"),
    "a folder of an export": ("env.args.source", "data/hf_export_20241115"),
    "a package in a prompt": ("env.args.prompt", "Is sk-learn-baseline-examples a package?"),
    "a folder of weights": ("target.model", "hf:/models/hf_mistral-7b-instruct-v0"),
    "a playbook": ("eval.playbook", "runs/sums-openai-gpt-4o-mini-2024-07-18-1f3a9c02/best_playbook.json"),
}


def nested(dotted: str, value: object) -> dict[str, object]:
    for part in reversed(dotted.split(".")):
        value = {part: value}
    assert isinstance(value, dict)
    return value


@pytest.mark.parametrize("case", REFUSED)
def test_a_config_that_holds_a_key_is_refused_without_showing_it(case: str) -> None:
    dotted, value = REFUSED[case]
    with pytest.raises(WhetError, match="key_env or key_file") as refused:
        refuse_keys(nested(dotted, value), "c.toml")
    assert str(refused.value).startswith(f"c.toml: {dotted.split('.')[0]}.")
    for secret in ("pa55", "abc", "hunter2", "s3cr3t", "0a1b2c3d"):
        assert secret not in str(refused.value)


@pytest.mark.parametrize("case", FINE)
def test_a_config_that_names_where_a_key_is_passes(case: str) -> None:
    dotted, value = FINE[case]
    refuse_keys(nested(dotted, value), "c.toml")


@pytest.mark.parametrize(
    "words",
    [
        ("--base-url", "http://127.0.0.1:9/v1?key=hunter2hunter2"),
        ("--set", "target.extra.a.b.api_key=hunter2"),
        ("--set", 'control.target.key_command="echo hunter2"'),
        ("--set", "control.targt.api_key=hunter2"),
    ],
)
def test_the_command_line_refuses_keys_and_writes_nothing(whet: Whet, tmp_path: Path, words: tuple[str, ...]) -> None:
    said = whet("eval", SUMS, "-m", "openai:m", "-n", "1", *words)
    assert said.code == 2
    assert "hunter2" not in said.out + said.err
    assert not list(tmp_path.iterdir())


def test_a_config_that_a_program_made_is_looked_through_before_it_is_written() -> None:
    section = EndpointSection(base_url="http://127.0.0.1:9/v1?api_key=hunter2")
    with pytest.raises(WhetError, match="base_url has a key in its query"):
        write_config(section)


# --------------------------------------------------------------------------------------------- commands, folders


def _with_key_command(whet: Whet, program: str) -> Said:
    Path("key.py").write_text(program)
    command = f"control.target.key_command={sys.executable} key.py"
    return whet("eval", SUMS, "-m", "openai:m", "--base-url", "http://127.0.0.1:9/v1", "-n", "1", "--set", command)


def test_what_a_key_command_complains_of_is_told_without_its_keys(whet: Whet) -> None:
    said = _with_key_command(
        whet, "import sys\nsys.exit('no login \\x1b[31m[/bold]\\u202e for sk-abcdefghijklmnop1234 ' + 'x' * 9999)"
    )
    harmless(said)
    assert said.code == 2
    assert "no login \\x1b[31m[/bold]\\u202e for ***" in said.err
    assert len(said.err) < 600


@pytest.mark.parametrize(
    "program", ["while True: print('y' * 9999)", "import sys\nwhile True: print('y' * 9999, file=sys.stderr)"]
)
def test_a_key_command_that_prints_without_end_is_stopped(whet: Whet, program: str) -> None:
    said = _with_key_command(whet, program)
    harmless(said)
    assert (said.code, "did not run" in said.err) == (2, True)


def test_a_key_file_that_is_no_file_is_not_waited_for(whet: Whet, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    (tmp_path / "folder").mkdir()
    (tmp_path / "long").write_bytes(b"x" * 100_000)
    (tmp_path / "long").chmod(0o600)
    for name, told in (("pipe", "is empty"), ("folder", "cannot be read"), ("long", "larger than any key")):
        sets = ("--set", f"control.target.key_file={name}")
        said = whet("eval", SUMS, "-m", "openai:m", "--base-url", "http://127.0.0.1:9/v1", "-n", "1", *sets)
        assert (said.code, told in said.err) == (2, True), said


def test_a_key_of_digits_is_no_part_of_a_number() -> None:
    """It once ended a run: a log-probability that held it was no number any more."""
    keys = Keychain()
    keys.add("12345678")
    reply = Reply("the key is 12345678.", logprobs=(-0.12345678, -1.0))
    assert keys.hide_in_reply(reply) == replace(reply, text="the key is ***.")
    assert keys.hide_bytes(b'{"created": 1712345678}') == b'{"created": 1712345678}'


def test_shapes_of_keys_are_hidden_in_text() -> None:
    assert hide_shapes("token=sk-abcdefghijklmnop1234 and 0a1b2c3d4e5f60718293a4b5") == "token=*** and ***"


def test_a_run_is_its_owners_alone(whet: Whet, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        whet("eval", SUMS, "-m", "baseline:oracle", "-n", "3", "--run", "r", "--json", "x.json")
        whet("export", "chat", "r")
    finally:
        os.umask(before)
    run = tmp_path / "runs" / "r"
    assert stat.S_IMODE(run.stat().st_mode) == 0o700
    loose = {file.name: oct(file.stat().st_mode) for file in run.rglob("*") if file.stat().st_mode & 0o077}
    assert loose == {}
    assert stat.S_IMODE((tmp_path / "x.json").stat().st_mode) == 0o600


def test_the_keychain_of_the_process_is_one() -> None:
    assert outside.KEYS is KEYS


def test_two_runs_that_begin_at_once_leave_the_mask_of_new_files_as_it_was() -> None:
    before = os.umask(0o022)
    try:
        first, second = owner_only(), owner_only()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        second.__exit__(None, None, None)
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)
