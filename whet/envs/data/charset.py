"""Bytes to text. A file in one encoding is read; one that mixes two is refused at the first cell that shows it."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Mapping
from typing import Any

from whet.errors import WhetError

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_FOREIGN = re.compile("[\udc80-\udcff]")
"""What `surrogateescape` makes of a byte that the encoding does not know."""


def decode(name: str, content: bytes, encoding: str) -> tuple[str, bool]:
    """The text, and whether all of it is in `encoding`; where it is not, the foreign bytes stand as surrogates."""
    marked = next((named for bom, named in _BOMS if content.startswith(bom)), encoding)
    try:
        text, sound = content.decode(marked), True
    except UnicodeDecodeError as error:
        if marked.startswith("utf-16"):
            raise WhetError(f"{name}: is not valid {marked}: {error.reason} at byte {error.start}") from None
        text, sound = content.decode(marked, "surrogateescape"), False
    except LookupError:
        raise WhetError(f"{name}: there is no encoding {encoding!r}; use utf-8, cp1252, latin-1 or utf-16") from None
    if "\0" in text:
        row = text.count("\n", 0, text.index("\0"))
        raise WhetError(f"{name}: a zero byte stands in line {row + 1}; is it UTF-16? Give encoding='utf-16'")
    return text, sound


def refuse_foreign_bytes(name: str, rows: Iterable[Mapping[str, Any]], encoding: str, content: bytes) -> None:
    """Raise for the first cell whose bytes are not in `encoding`."""
    for number, row in enumerate(rows, 1):
        for column, value in row.items():
            found = _FOREIGN.search(_text(value))
            if found is not None:
                byte = ord(found[0]) - 0xDC00
                raise WhetError(
                    f"{name}: row {number}, column {column!r}: byte 0x{byte:02x} is not {encoding}. {_remedy(content)}"
                )
    raise WhetError(f"{name}: the header is not {encoding}. {_remedy(content)}")


def _remedy(content: bytes) -> str:
    """A file with bytes of both kinds mixes two encodings; one without valid UTF-8 beside them is in another."""
    text = content.decode("utf-8", "surrogateescape")
    if any(ord(letter) > 127 and not _FOREIGN.match(letter) for letter in text):
        return "The file mixes encodings: save it as UTF-8"
    return "Give encoding='cp1252', or save the file as UTF-8"


def _text(value: Any) -> str:
    """Every text inside a value, joined."""
    if isinstance(value, Mapping):
        return "".join(_text(key) + _text(item) for key, item in value.items())
    if isinstance(value, list):
        return "".join(_text(item) for item in value)
    return value if isinstance(value, str) else ""
