"""Keys by their shape: a config that holds one is refused wherever it is read, before anything of it is written down.

What is refused: a name or password in an address, a key in its path or query, a key under a name that says so at any
depth, anything that begins as the keys of known services do, and a command that carries its key along. Names of
environment variables, files and commands are what a config holds instead.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from whet.errors import WhetError

_NAMES = (
    r"api_?key|key|token|access_?token|auth_?token|id_?token|secret|client_?secret|password|passwd|pwd|"
    r"authorization|proxy_authorization|auth|bearer|credentials?|cookie|set_cookie|signature|sig|x_api_key"
)
_SECRET = re.compile(_NAMES)
_SECRET_ENDING = re.compile(rf"(?:.*_)?(?:{_NAMES})")

_PLACES = {"key_env", "key_file", "key_command"}
"""Where a config says where a key is."""

_KNOWN = re.compile(
    r"(?:sk|pk|rk|gsk|xai|ghp|gho|ghs|hf|key)[-_](?=[A-Za-z0-9_-]*[0-9])[A-Za-z0-9_-]{12,}|sk-[A-Za-z0-9_-]{16,}|"
    r"github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abp]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{20,}|eyJ[\w-]{10,}[\w.-]*"
)
_RANDOM = re.compile(r"(?=(?:\D*\d){4})[A-Za-z0-9_+=-]{24,}")
_VALUE = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w.~+/=-]{12,}")
_AUTH = ("bearer", "api-key", "x-api-key")
"""Headers that carry a key, by which an option called auth names one."""
_WORD_PART = re.compile(r"[A-Za-z]{1,14}|\d{1,8}|[A-Za-z]{0,2}\d{1,3}[A-Za-z]{0,2}")
_FEW_NUMBERS = 3
"""As many as a date has."""
_REFERENCE = re.compile(r"\$\w+|\$\{\w+\}|env:\w+", re.IGNORECASE)
_WORD = re.compile(r"[^\s\"'`,;:=&?#<>(){}\[\]|@]+")

INSTEAD = "keys are never written into a config; name their place with key_env or key_file"


def looks_like_key(text: str) -> bool:
    """Whether a name is rather a key itself: a known beginning, or long and full of digits."""
    return not _is_name(text) and bool(
        re.fullmatch(r"(?:sk|pk|gsk|xai|ghp|hf|key)[-_][A-Za-z0-9_-]{12,}|(?:eyJ|AIza)[^/]{12,}", text)
        or _RANDOM.fullmatch(text)
    )


def _is_name(text: str) -> bool:
    """Whether a text is words and a few numbers with marks between them, as names have and nothing random does."""
    parts = re.split(r"[-_.]", text)
    numbers = sum(any(letter.isdigit() for letter in part) for part in parts)
    return len(parts) > 2 and numbers <= _FEW_NUMBERS and all(map(_WORD_PART.fullmatch, parts))


def hide_shapes(text: str) -> str:
    """`text` without what has the shape of a key."""
    return _WORD.sub(lambda word: "***" if looks_like_key(word[0]) or _KNOWN.search(word[0]) else word[0], text)


def refuse_keys(data: Mapping[str, Any], where: str) -> None:
    """Raise for the first key in a config. The message tells its place and never the key."""
    for path, what in _found(data, ()):
        raise WhetError(f"{where}: {'.'.join(path)} {what}; {INSTEAD}")


def _found(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from _found(part, (*path, str(name)))
    elif isinstance(value, list | tuple):
        for place, part in enumerate(value):
            yield from _found(part, (*path, str(place)))
    elif isinstance(value, str) and path and (what := _wrong(value, path)):
        yield path, what


def _wrong(text: str, path: tuple[str, ...]) -> str:
    name = re.sub(r"[^a-z0-9]+", "_", path[-1].lower()).strip("_")
    if name == "key_command":
        return _command(text)
    if name in _PLACES:
        return "holds what looks like a key itself" if looks_like_key(text) else ""
    if not text or _REFERENCE.fullmatch(text.strip()):
        return ""
    if "://" in text and (what := _address(text)):
        return what
    if name == "auth" and text.lower() in _AUTH:
        return ""
    free = path[0] in ("env", "gate")  # whose arguments are named by others: a column may be called key
    if _SECRET.fullmatch(name) and not free:
        return "has the name of a key"
    value = text.removeprefix("Bearer ").strip()
    if _SECRET_ENDING.fullmatch(name) and _VALUE.fullmatch(value) and not _is_name(value):
        return "looks like a key"
    return "looks like a key" if _holds_known(text) else ""


def _holds_known(text: str) -> bool:
    parts = (part for word in _WORD.findall(text) for part in word.split("/") if len(part) > 12)
    return any(_KNOWN.fullmatch(part) and not _is_name(part) for part in parts)


def _address(text: str) -> str:
    try:
        url = urlsplit(text)
        user = url.username or url.password
    except ValueError:  # no address: whoever opens it says so
        return ""
    if user or "@" in url.netloc:
        return "holds a name or password"
    for name, value in (*parse_qsl(url.query), *parse_qsl(url.fragment)):
        small = re.sub(r"[^a-z0-9]+", "_", name.lower())
        if value and (_SECRET_ENDING.fullmatch(small) or small == "code" or looks_like_key(value)):
            return "has a key in its query"
    return "has a key in its path" if _holds_known(unquote(url.path)) else ""


def _command(text: str) -> str:
    """What is wrong with a command: one that carries the key along is the key written down."""
    try:
        words = shlex.split(text)
    except ValueError:  # an open quote: whoever runs it says so
        words = text.split()
    what = "carries what looks like a key along"
    for at, word in enumerate(words):
        if word.rpartition("/")[2] in ("echo", "printf") and any("$" not in said for said in words[at + 1 : at + 2]):
            return what
        if " " in word and _command(word):  # what a shell is given
            return what
        name, equals, value = word.lstrip("-").partition("=")
        named = equals and _SECRET_ENDING.fullmatch(re.sub(r"[^a-z0-9]+", "_", name.lower()))
        if (
            (named and _VALUE.fullmatch(value) and "-" not in value)
            or looks_like_key(value or word)
            or _holds_known(word)
        ):
            return what
        if word.lower() == "bearer" and any(_VALUE.fullmatch(said) for said in words[at + 1 : at + 2]):
            return what
        if "://" in word and _address(word):
            return what
    return ""
