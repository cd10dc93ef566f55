"""Keys do not show themselves, and come from where they were named."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.errors import WhetError
from whet.key_shapes import looks_like_key
from whet.models.options import ModelOptions
from whet.models.secrets import CommandKey, EnvKey, FileKey, Key, NoKey, Secret, key_for, quoted

VALUE = "sk-live-4242424242424242"


@dataclass(frozen=True, slots=True)
class Holder:
    secret: Secret


def got(key: Key) -> str | None:
    secret = asyncio.run(key.secret())
    return None if secret is None else secret.reveal()


def python(program: str) -> str:
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(program)}"


# --------------------------------------------------------------------------------------------- the type


@pytest.mark.parametrize("show", [repr, str, "{}".format, "{:>20}".format, lambda s: f"{s}", lambda s: f"{s!r:.40}"])
def test_a_secret_never_shows_its_value(show) -> None:
    shown = show(Secret(VALUE))
    assert VALUE not in shown
    assert "***" in shown


def test_a_secret_inside_a_record_does_not_show_in_its_repr() -> None:
    assert repr(Holder(Secret(VALUE))) == "Holder(secret=Secret(***))"


@pytest.mark.parametrize(
    "write", [pickle.dumps, json.dumps, orjson.dumps, lambda s: orjson.dumps(Holder(s)), lambda s: json.dumps({"k": s})]
)
def test_a_secret_refuses_to_be_written_down(write) -> None:
    with pytest.raises(TypeError) as refused:
        write(Secret(VALUE))
    assert VALUE not in str(refused.value)


def test_secrets_are_equal_by_value_and_never_to_plain_text() -> None:
    assert Secret(VALUE) == Secret(VALUE)
    assert Secret(VALUE) != Secret(VALUE + "x")
    assert Secret(VALUE) != VALUE


def test_a_copy_of_a_secret_is_itself() -> None:
    secret = Secret(VALUE)
    assert copy.deepcopy({"k": secret})["k"] is secret


@given(st.text(), st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=6), st.text())
def test_scrubbing_leaves_no_spelling_of_the_value(before: str, value: str, after: str) -> None:
    for spelling in (value, json.dumps(value)[1:-1], quote(value, safe="")):
        assert value not in Secret(value).scrub(before + spelling + after).replace("***", " ")


def test_a_quoted_text_is_scrubbed_before_it_is_cut() -> None:
    told = quoted("x" * 290 + VALUE, Secret(VALUE))
    assert "sk-" not in told
    assert told == "x" * 290 + "***"


# --------------------------------------------------------------------------------------------- sources


def test_a_missing_key_names_the_variable_and_the_other_ways() -> None:
    with pytest.raises(WhetError, match=r"OPENAI_API_KEY is not set.*key_env, key_file or key_command"):
        got(EnvKey("OPENAI_API_KEY"))


def test_a_variable_that_is_not_needed_may_be_missing() -> None:
    assert got(EnvKey("OPENAI_API_KEY", needed=False)) is None


def test_a_key_is_read_from_its_variable_without_blanks_around_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", f" {VALUE}\n")
    assert got(key_for(ModelOptions(key_env="SOME_KEY"), "OPENAI_API_KEY", own=True, needed=True)) == VALUE


def test_a_value_that_no_header_can_carry_is_refused_without_showing_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-a\r\nX-Injected: 1")
    with pytest.raises(WhetError, match="SOME_KEY has blanks") as refused:
        got(EnvKey("SOME_KEY"))
    assert "Injected" not in str(refused.value)


@pytest.mark.parametrize(
    "pasted",
    [
        "sk-proj-abcdefghijklmnop",
        "sk_live_1234567890abcdef",
        "AIzaSyA1234567890abcdef",
        "0a1b2c3d4e5f60718293a4b5c6d7e8f9",
    ],
)
@pytest.mark.parametrize("field", ["key_env", "key_file"])
def test_a_key_pasted_in_place_of_its_name_is_refused_without_showing_it(field: str, pasted: str) -> None:
    with pytest.raises(WhetError, match=f"{field} holds what looks like a key itself") as refused:
        key_for(ModelOptions(**{field: pasted}), "OPENAI_API_KEY", own=True, needed=True)
    assert pasted not in str(refused.value)


@pytest.mark.parametrize(
    "name", ["OPENAI_API_KEY", "HF_TOKEN", "hf_token", "KEY_2", "KEY_OF_THE_SECOND_AZURE_RESOURCE"]
)
def test_names_of_variables_do_not_look_like_keys(name: str) -> None:
    assert not looks_like_key(name)


@pytest.mark.parametrize("path", ["~/.keys/openai-2024.txt", "secrets/sk-production-openai.key", "key.txt"])
def test_paths_do_not_look_like_keys(path: str) -> None:
    assert not looks_like_key(path)


def test_two_sources_are_one_too_many() -> None:
    with pytest.raises(WhetError, match="key_env and key_file"):
        key_for(ModelOptions(key_env="A", key_file="b"), "OPENAI_API_KEY", own=True, needed=True)


def test_an_empty_key_env_means_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", VALUE)
    assert got(key_for(ModelOptions(key_env=""), "OPENAI_API_KEY", own=True, needed=True)) is None


def test_a_key_of_the_scheme_is_not_taken_to_a_foreign_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", VALUE)
    assert isinstance(key_for(ModelOptions(), "OPENAI_API_KEY", own=False, needed=True), NoKey)


def key_file(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / "key"
    path.write_text(text)
    path.chmod(mode)
    return path


def test_a_key_file_is_read_without_blanks_around_the_key(tmp_path: Path) -> None:
    assert got(FileKey(str(key_file(tmp_path, f"{VALUE}\n")))) == VALUE


def test_an_empty_key_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="is empty"):
        got(FileKey(str(key_file(tmp_path, " \n"))))


def test_a_missing_key_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match=r"absent cannot be read: No such file"):
        got(FileKey(str(tmp_path / "absent")))


def test_a_key_file_that_everybody_can_read_gives_a_warning(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="chmod 600"):
        assert got(FileKey(str(key_file(tmp_path, VALUE, 0o644)))) == VALUE


def test_a_refused_key_file_is_read_again(tmp_path: Path) -> None:
    path = key_file(tmp_path, "first-key")
    key = FileKey(str(path))
    first = asyncio.run(key.secret())
    path.write_text("second-key")
    assert got(key) == "first-key"
    assert key.renew(first)
    assert got(key) == "second-key"


# --------------------------------------------------------------------------------------------- commands


def counting(tmp_path: Path, ending: str) -> str:
    """A command that prints how often it ran, in what `ending` makes of `n`."""
    counter = tmp_path / "count"
    return python(
        f"p={str(counter)!r}\nopen(p,'a').write('x')\nn=len(open(p).read())\nimport json,time\nprint({ending})"
    )


def test_a_command_prints_the_key() -> None:
    assert got(CommandKey(python(f"print('{VALUE}')"))) == VALUE


def test_a_command_runs_once_for_all_who_wait(tmp_path: Path) -> None:
    key = CommandKey(counting(tmp_path, "f'token-{n}'"))

    async def many() -> set[str]:
        return {secret.reveal() for secret in await asyncio.gather(*(key.secret() for _ in range(20))) if secret}

    assert asyncio.run(many()) == {"token-1"}


@pytest.mark.parametrize("expiry", ["'expires_on': 4000", "'expiresOn': '1970-01-01T01:06:40+00:00'"])
def test_a_token_is_fetched_anew_before_it_expires(tmp_path: Path, expiry: str) -> None:
    now = [1000.0]
    key = CommandKey(
        counting(tmp_path, f"json.dumps({{'accessToken': f'token-{{n}}', {expiry}}})"), clock=lambda: now[0]
    )
    assert got(key) == "token-1"
    now[0] = 3600.0
    assert got(key) == "token-1"
    now[0] = 3701.0
    assert got(key) == "token-2"


def test_a_refused_token_is_fetched_anew_once_however_many_were_refused(tmp_path: Path) -> None:
    key = CommandKey(counting(tmp_path, "f'token-{n}'"))
    first = asyncio.run(key.secret())
    assert key.renew(first)
    assert got(key) == "token-2"
    assert key.renew(first)
    assert got(key) == "token-2"


def test_a_command_serves_several_loops(tmp_path: Path) -> None:
    key = CommandKey(counting(tmp_path, "f'token-{n}'"))
    assert [got(key), got(key)] == ["token-1", "token-1"]


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("import sys; sys.exit('not logged in')", "ended with status 1: not logged in"),
        ("print('two words')", "must print the key alone"),
        ("print('{broken')", "JSON that cannot be read"),
        ("print('{}')", "without accessToken"),
        ('print(\'{"accessToken": "t", "expiresOn": "soon"}\')', "an expiry that cannot be read: 'soon'"),
    ],
)
def test_a_command_that_gives_no_key_is_explained(program: str, told: str) -> None:
    with pytest.raises(WhetError) as refused:
        got(CommandKey(python(program)))
    assert told in str(refused.value)


def test_a_command_that_does_not_exist_is_named() -> None:
    with pytest.raises(WhetError, match="there is no program 'no-such-program'"):
        got(CommandKey("no-such-program --now"))
