"""What a user's program says of a folder: its exit code, or a last line that is JSON with a score.

Code of the policy may have run beside it and written to the same output. So a score counts only with exit code 0, only
in the last line, and only where no other line claims one.
"""

from __future__ import annotations

import math
from typing import Any

import orjson

from whet.types import Score, failed, solved

TOLD = 1500
"""Characters of what the program said that are kept: the last ones."""
MOST_PARTS = 50


def verdict(code: int, stdout: str, stderr: str) -> Score:
    """The score of a program that ended."""
    lines = [line.strip() for line in stdout.splitlines() if line.strip()]
    claims = [place for place, line in enumerate(lines) if _claim(line) is not None]
    told = (stderr.strip() or stdout.strip())[-TOLD:]
    if code != 0:
        said = _claim(lines[-1]) if lines else None
        feedback = str(said.get("feedback", ""))[-TOLD:] if said else ""
        return failed("wrong", f"exit code {code}: {feedback or told}", exit_code=code)
    if not claims and lines and "score" in stdout and (lines[-1].startswith("{") or lines[-1].endswith("}")):
        return failed(
            "bad_verdict", f"the output ends in a score that is not JSON in one line: {stdout[-200:].strip()}"
        )
    if not claims:
        return solved(exit_code=0.0)
    if len(claims) > 1 or claims[0] != len(lines) - 1:
        where = "more than one line" if len(claims) > 1 else "a line that is not the last"
        return failed("two_verdicts", f"a score stands in {where} of the output, so none can be believed")
    return _scored(_claim(lines[-1]) or {})


def _claim(line: str) -> dict[str, Any] | None:
    """A line that is an object with a score."""
    if not line.startswith("{") or "score" not in line:
        return None
    try:
        found = orjson.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and "score" in found else None


def _scored(said: dict[str, Any]) -> Score:
    value, parts = said["score"], said.get("parts", {})
    numbers = [value, *(parts.values() if isinstance(parts, dict) else [None])]
    sound = all(isinstance(number, int | float) and math.isfinite(number) for number in numbers)
    if not sound or not 0.0 <= value <= 1.0 or len(numbers) > MOST_PARTS:
        return failed("bad_verdict", f"a score is a number from 0 to 1, with parts that are numbers: {said!r:.200}")
    soft, feedback = float(value), str(said.get("feedback", ""))[-TOLD:]
    hard = int(soft >= 1.0)
    reason = "correct" if hard else "partial" if soft > 0.0 else "wrong"
    return Score(hard, soft, soft, {str(name): float(part) for name, part in parts.items()}, reason, feedback)
