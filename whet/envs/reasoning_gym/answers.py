"""From a reply to the answer in it, and what must be true of an answer before a scorer of reasoning-gym sees it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Literal

from whet.envs.reasoning_gym import expressions

Form = Literal["line", "tag", "raw"]
"""How a policy is asked to answer: after `Answer:`, inside `<answer></answer>`, or with nothing but the answer."""

INSTRUCTIONS: Mapping[Form, str] = {
    "line": "Give only the final answer, in this form:\nAnswer:",
    "tag": "Put the final answer inside <answer></answer>.",
    "raw": "Reply with the final answer only.",
}
"""Each reads as no answer when a policy merely repeats it, `raw` apart."""

_LINE = re.compile(r"answer\s*\**\s*:\s*\**", re.IGNORECASE)
_TAG = re.compile(r"<answer>(.*?)(?:</answer>|\Z)", re.IGNORECASE | re.DOTALL)
_NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?")
_WRAPPED = re.compile(
    r"```[a-z]*\n?(?P<fence>.*?)\n?```|\\boxed\{(?P<boxed>.*)\}|(?P<mark>\*\*|`|\$|\"|')(?P<inner>.*)(?P=mark)",
    re.DOTALL,
)


def wrap(answer: str, form: Form) -> str:
    """An answer as the instruction asks for it."""
    if form == "line":
        return f"Answer: {answer}"
    return f"<answer>{answer}</answer>" if form == "tag" else answer


def candidates(reply: str, form: Form, truth: str | None) -> list[str]:
    """What may be read as the answer in a reply, the literal reading first; nothing when there is none.

    `line`: the text after the last `Answer:` (its first line, where the true answer is one line); without one, the
    whole reply, or the last number in it where the true answer is a number. `tag`: the last `<answer>`. `raw`: the
    whole reply. Each also without the marks around it (quotes, backticks, bold, `\\boxed`) and a final full stop.
    """
    body, marked = _body(reply, form)
    if marked and truth is not None and "\n" not in truth:
        body = next((line for line in body.splitlines() if line.strip()), "")
    read = [body.strip(" \n"), body.strip(), _bare(body)]
    if form == "line" and not marked and truth is not None and _NUMBER.fullmatch(truth):
        read += [found.replace(",", "") for found in _NUMBER.findall(body)[-1:]]
    return list(dict.fromkeys(text for text in read if text.strip()))


def _body(reply: str, form: Form) -> tuple[str, bool]:
    """Where the answer is, and whether the reply marked it."""
    if form == "raw":
        return reply, False
    if form == "tag":
        tagged = _TAG.findall(reply)
        return (tagged[-1] if tagged else ""), True
    ends = [found.end() for found in _LINE.finditer(reply)]
    return (reply[ends[-1] :], True) if ends else (reply, False)


def _bare(text: str) -> str:
    text = text.strip().removesuffix(".")
    wrapped = _WRAPPED.fullmatch(text)
    if wrapped is not None:
        text = next(part for part in wrapped.group("fence", "boxed", "inner") if part is not None)
    return text.strip().removesuffix(".")


# --------------------------------------------------------------------------------------------- before the scorer


def objection(dataset: str, answer: str, truth: str | None) -> str:
    """Why the dataset's scorer must not see this answer; '' when it may.

    Scorers were written for honest text: some would evaluate it as Python, count to any number in it, or take NaN for
    a match. An answer many times longer than the true one is refused before a quadratic comparison of it.
    """
    most = 4000 + 8 * len(truth or "")
    if len(answer) > most:
        return f"an answer of {len(answer)} characters, where {most} are more than enough"
    return GUARDS[dataset](answer) if dataset in GUARDS else ""


def _small_exponent(answer: str) -> str:
    """`Fraction('1e99999999')` would be computed digit by digit."""
    return "an exponent out of all proportion" if re.search(r"[eE][-+]?\d{4,}", answer) else ""


def _small_counts(answer: str) -> str:
    """Moves are repeated as often as the number behind them says."""
    return "a move repeated out of all proportion" if re.search(r"\d{4,}", answer) else ""


def _finite(answer: str) -> str:
    """No distance is larger than a tolerance when it is NaN."""
    return "not a finite number" if re.search(r"nan|inf", answer, re.IGNORECASE) else ""


GUARDS: Mapping[str, Callable[[str], str]] = {
    "coin_flip": _small_exponent,
    "complex_arithmetic": _finite,
    "countdown": expressions.objection,
    "intermediate_integration": expressions.objection,
    "number_sorting": _finite,
    "polynomial_multiplication": expressions.objection,
    "puzzle24": expressions.objection,
    "rubiks_cube": _small_counts,
    "rush_hour": _small_counts,
    "simple_integration": expressions.objection,
}
