"""The two-line verdict: `Verdict: 通过|不通过` (or `pass|fail`) and `Reason: …`, read strictly and written.

Nothing is repaired. A reply that is not exactly these two lines is invalid, with a code that says why; invalid is a
class of its own and never counts as either verdict.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from whet.envs.groupqc.pack.schema import VERDICTS, TicketVerdict

VerdictCode = Literal[
    "ok",
    "empty",
    "too_few_lines",
    "too_many_lines",
    "no_verdict",
    "no_reason",
    "bad_verdict",
    "empty_reason",
    "cut_off",
]
"""Why a reply could not be read. `cut_off`: the token limit ended it before it was whole."""

WORDS: Mapping[str, TicketVerdict] = {
    **dict.fromkeys(("通过", "通过。", "pass"), "pass"),
    **dict.fromkeys(("不通过", "不通过。", "未通过", "fail"), "fail"),
}

SPOKEN: Mapping[str, Mapping[TicketVerdict, str]] = {
    "zh": {"pass": "通过", "fail": "不通过"},
    "en": {"pass": "pass", "fail": "fail"},
}

_SIMPLIFIED = str.maketrans("過", "过")
_ROLE = re.compile(r"\s*(?:<\|im_start\|>)?assistant(?:\s*[:：]|[^\S\n]*\n)", re.IGNORECASE)
_COLON = re.compile(r"[:：]")


@dataclass(frozen=True, slots=True)
class VerdictReading:
    """What was read: a call with its reason, or neither and the code of what was wrong."""

    call: TicketVerdict | None
    reason: str = ""
    code: VerdictCode = "ok"

    @property
    def valid(self) -> bool:
        return self.call is not None


def read_verdict(text: str, *, cut_off: bool = False) -> VerdictReading:
    """Read a reply. `cut_off` says that the token limit ended it, which then explains whatever is wrong with it."""
    role = _ROLE.match(text)
    reading = _read(text[role.end() :] if role else text, "verdict", "reason")
    return VerdictReading(None, code="cut_off") if cut_off and not reading.valid else reading


def read_as_published(text: str) -> VerdictReading:
    """Read a reply as the published pipeline did, for records of older runs: its keywords are mere prefixes.

    It also drops everything up to the last "assistant", and with it any reply whose reason has that word.
    """
    return _read(text.rpartition("assistant")[2], "verdict", "reason", loose=True)


def _read(text: str, first: str, second: str, *, loose: bool = False) -> VerdictReading:
    lines = [line for line in text.splitlines() if line and not line.isspace()]
    if len(lines) != 2:
        return VerdictReading(
            None, code="empty" if not lines else "too_few_lines" if len(lines) < 2 else "too_many_lines"
        )
    verdict, reason = _value(lines[0], first, loose), _value(lines[1], second, loose)
    if verdict is None:
        return VerdictReading(None, code="no_verdict")
    if reason is None:
        return VerdictReading(None, code="no_reason")
    call = WORDS.get("".join(verdict.split()).lower().translate(_SIMPLIFIED))
    if call is None:
        return VerdictReading(None, code="bad_verdict")
    return VerdictReading(call, reason) if reason else VerdictReading(None, code="empty_reason")


def _value(line: str, keyword: str, loose: bool) -> str | None:
    """What stands after the first colon of a line that names `keyword` before it; None where it does not."""
    parts = _COLON.split(line, maxsplit=1)
    name = parts[0].strip().lower()
    if len(parts) < 2 or not (name.startswith(keyword) if loose else name == keyword):
        return None
    return parts[1].strip()


def write_verdict(call: TicketVerdict, reason: str, language: str = "zh") -> str:
    """The two lines, as a policy should write them; a reason of several lines is joined into one."""
    return f"Verdict: {SPOKEN[language][call]}\nReason: {' '.join(reason.split())}"


def verdict_grammar(language: str = "zh") -> str:
    """A GBNF grammar of the two lines, for a decoder that can be held to one; the reason has at most 240 letters."""
    words = " | ".join(f'"{SPOKEN[language][call]}"' for call in VERDICTS)
    return f'root ::= "Verdict: " ({words}) "\\nReason: " [^ \\t\\r\\n] [^\\r\\n]{{0,239}}'
