"""The boundary of outside text: nothing that came from elsewhere acts on a terminal, and no key gets into a file.

Outside text is what a server, a model, a task, a file name, an environment or another package wrote. Two things are
done to it, at two places:

* `shown` is for whatever a person sees. Characters that steer a terminal or turn a line around (control characters,
  escapes, bidi marks, other invisible ones) become their visible spelling, such as `\\x1b`, and known keys `***`.
* `KEYS.hide` is for whatever is kept. A reply is data: it stays as it is to the byte, an escape included, so that it
  can be replayed and trained on. Only keys are taken out.

A key is known from the moment it is read (`whet.models.secrets.sealed`) to the end of the process, also when another
took its place meanwhile. It is found in any case of its letters, plain, reversed, as JSON and URLs spell it, in
hexadecimal and in base64 at all three alignments. It is not found where a text tells it in pieces, compressed, or
encoded twice; from what is quoted in a message longer pieces of it are taken too (`KEYS.hide_pieces`). Placeholders of
fewer than `LEAST` characters, which servers without keys are given, are no secret: any text holds them by chance.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from itertools import groupby
from urllib.parse import quote

import orjson

from whet import wire
from whet.types import Reply

HIDDEN = "***"

LEAST = 8
"""Characters from which a key is one."""

PIECE = 8
"""Characters of a key in a row that are taken out of a message."""

_ACTS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\ud800-\udfff\ufe00-\ufe0e\ufeff\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""What steers a terminal, turns text around or cannot be seen: all of Unicode's controls and format characters but line
ends, tabs and the selector of coloured emoji."""


def shown(text: str) -> str:
    """`text` for a person: nothing in it acts, and no known key stands in it."""
    return harmless(KEYS.hide(text))


def shown_line(text: str, limit: int = 2000) -> str:
    """The same on one line, not too long: an error is one line whatever it quotes."""
    # Keys go first: half of a key that the cut left over would not be found.
    line = " ".join(KEYS.hide(text).split())
    return harmless(line if len(line) <= limit else f"{line[:limit]}...")


def harmless(text: str) -> str:
    """`text` with the visible spelling of every character that would act."""
    return _ACTS.sub(_spelled, text) if _ACTS.search(text) else text


def shown_json(written: bytes) -> str:
    """JSON for a person or a pipe: the same value, and what would act is spelled as JSON spells it."""
    return _ACTS.sub(lambda found: json.dumps(found[0])[1:-1], KEYS.hide_bytes(written).decode("utf-8", "replace"))


def _spelled(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


class Keychain:
    """The keys that this process has read, and their spellings. There is one, `KEYS`: a print knows no run."""

    def __init__(self) -> None:
        self._values: set[str] = set()
        self._spellings: tuple[str, ...] = ()
        self._encoded: tuple[bytes, ...] = ()
        self._pattern = re.compile("(?!)")
        self._pattern_encoded = re.compile(b"(?!)")

    def add(self, value: str) -> None:
        """From now on `value` is a secret."""
        if len(value) < LEAST or value in self._values:
            return
        self._values.add(value)
        found = {spelling.lower() for known in self._values for spelling in spellings(known)}
        self._spellings = tuple(sorted(found, key=lambda spelling: (-len(spelling), spelling)))
        self._encoded = tuple(spelling.encode() for spelling in self._spellings)
        either = "|".join(map(_as_pattern, self._spellings))
        self._pattern = re.compile(either, re.IGNORECASE)
        self._pattern_encoded = re.compile(either.encode(), re.IGNORECASE)

    def forget(self) -> None:
        """Start anew: for tests, which make up keys."""
        self.__init__()  # type: ignore[misc]

    def hide(self, text: str) -> str:
        """`text` without any spelling of any key."""
        if not self._spellings:
            return text
        small = text.lower()
        return self._pattern.sub(HIDDEN, text) if any(known in small for known in self._spellings) else text

    def hide_bytes(self, data: bytes) -> bytes:
        """The same for bytes, which are returned themselves where no key is in them."""
        if not self._encoded:
            return data
        small = data.lower()
        found = any(known in small for known in self._encoded)
        return self._pattern_encoded.sub(HIDDEN.encode(), data) if found else data

    def hide_pieces(self, text: str) -> str:
        """`text` also without any `PIECE` characters in a row of a key: for messages, where a cut may have fallen."""
        text = self.hide(text)
        for value in self._values:
            text = _without_pieces(text, value)
        return text

    def hide_in_json(self, data: object, body: bytes) -> object:
        """What `body` was decoded to, where JSON's own escapes may have kept a key from being seen in it."""
        if not self._encoded or not (b"\\u" in body or b"\\/" in body):
            return data
        plain = orjson.dumps(data)
        hidden = self.hide_bytes(plain)
        return data if hidden is plain else orjson.loads(hidden)

    def hide_in_reply(self, reply: Reply) -> Reply:
        """A reply without keys, whoever gave it; the same object where there are none."""
        if not self._encoded:
            return reply
        written = wire.dumps(wire.reply_out(reply))
        hidden = self.hide_bytes(written)
        return reply if hidden is written else wire.reply_in(orjson.loads(hidden))


def spellings(value: str) -> Iterator[str]:
    """How a text may spell a key."""
    raw = value.encode()
    yield value
    yield value[::-1]
    yield json.dumps(value)[1:-1]
    yield quote(value, safe="")
    yield quote(value)
    yield "".join(f"%{byte:02x}" for byte in raw)
    yield "".join(f"\\u{byte:04x}" for byte in raw)
    yield raw.hex()
    for before in range(3):
        # Of the groups of four characters, those that hold nothing but the key are the same whatever stands around it.
        padded = base64.b64encode(b"\0" * before + raw).decode().rstrip("=")
        inner = padded[(8 * before + 5) // 6 : (8 * (before + len(raw))) // 6]
        yield inner
        yield inner.replace("+", "-").replace("/", "_")


def _as_pattern(spelling: str) -> str:
    """One of digits alone is no part of a longer number: a time or a log-probability holds it by chance."""
    return rf"(?<![0-9.]){spelling}(?![0-9])" if spelling.isdigit() else re.escape(spelling)


def _without_pieces(text: str, value: str) -> str:
    pieces = {value[at : at + PIECE].lower() for at in range(len(value) - PIECE + 1)}
    small = text.lower()
    if len(small) != len(text):  # a letter whose small form is longer: places would not agree
        text = small
    mask = bytearray(len(small))
    for at in range(len(small) - PIECE + 1):
        if small[at : at + PIECE] in pieces:
            mask[at : at + PIECE] = b"\1" * PIECE
    runs = groupby(zip(text, mask, strict=True), key=lambda pair: pair[1])
    return "".join(HIDDEN if secret else "".join(letter for letter, _ in run) for secret, run in runs)


KEYS = Keychain()
