"""From a reply to the answer in it."""

from __future__ import annotations

import re
from typing import Literal

Form = Literal["reply", "line", "tag", "code"]
"""Where the answer stands: the whole reply, after the last `Answer:`, in `<answer>`, or in the last fenced block."""

_LINE = re.compile(r"answer\s*\**\s*:\s*\**", re.IGNORECASE)
_TAG = re.compile(r"<answer>(.*?)(?:</answer>|\Z)", re.IGNORECASE | re.DOTALL)
_FENCE = re.compile(r"^```[^\n`]*\n(.*?)(?:^```|\Z)", re.MULTILINE | re.DOTALL)

INSTRUCTIONS = {
    "reply": "",
    "line": "End with one line in this form:\nAnswer:",
    "tag": "Put the final answer inside <answer></answer>.",
    "code": "Put it into one fenced code block.",
}


def read_answer(reply: str, form: Form) -> str:
    """The answer in a reply; '' when there is none. Without an `Answer:` or a fence, the whole reply is read."""
    if form == "tag":
        tagged: list[str] = _TAG.findall(reply)
        return tagged[-1].strip() if tagged else ""
    if form == "code":
        fenced: list[str] = _FENCE.findall(reply)
        return fenced[-1] if fenced else reply
    if form == "line":
        ends = [found.end() for found in _LINE.finditer(reply)]
        reply = reply[ends[-1] :] if ends else reply
        return next((line for line in reply.splitlines() if line.strip()), "").strip() if ends else reply.strip()
    return reply.strip()


def write_answer(answer: str, form: Form) -> str:
    """An answer in the form asked for: what an oracle replies."""
    if form == "line":
        return f"Answer: {answer}"
    if form == "code":
        return f"```\n{answer}\n```"
    return f"<answer>{answer}</answer>" if form == "tag" else answer
