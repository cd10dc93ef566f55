"""What to do about replies that were cut off, calls that were malformed, and attempts that faults took away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from whet.types import MalformedKind, Outcome

FREQUENT = 0.02
"""A trouble in fewer of the rollouts than this is not worth a word."""

REMEDIES: Mapping[MalformedKind, str] = {
    "cut_off": "the token limit ended a call before it was complete",
    "raw_code": "code stood where JSON was expected; show one whole call in the playbook",
    "bad_escape": "strings were escaped wrongly; ask for short code in the playbook, or use a larger model",
    "bad_json": "arguments were not JSON; try the other of target.tools = native, fenced",
    "prose": "the model talked instead of calling; say in the playbook that every answer is a call",
    "unknown_tool": "a tool was called that does not exist; name the tools in the playbook",
    "bad_arguments": "arguments did not fit the tool; show one whole call in the playbook",
}


def advise(scored: Sequence[Outcome], faults: int, max_tokens: int | None) -> tuple[str, ...]:
    """One line for each trouble that is frequent enough to matter, the costliest first."""
    lines = []
    if faults:
        planned = len(scored) + faults
        lines.append(f"{_share(faults, planned)} ended in a fault and are not counted: redo them with --retry-faults")
    if scored:
        lines += _about_limit(scored, max_tokens)
        lines += _about_calls(scored)
    return tuple(lines)


def _about_limit(scored: Sequence[Outcome], max_tokens: int | None) -> list[str]:
    cut = sum(outcome.truncated or "cut_off" in outcome.malformed for outcome in scored)
    if cut < FREQUENT * len(scored) or not cut:
        return []
    said = f"{_share(cut, len(scored))} were cut off by the token limit"
    if max_tokens is None:
        return [f"{said}: raise max_tokens"]
    said += f" of {max_tokens}"
    finished = sorted(_longest(outcome) for outcome in scored if not outcome.truncated)
    usual = finished[int(0.95 * (len(finished) - 1))] if finished else max_tokens
    if 4 * usual <= max_tokens:
        return [
            f"{said}, while 95 % of the others took at most {usual:.0f} tokens a turn: look for loops before raising it"
        ]
    return [f"{said}: try max_tokens = {_roomier(max_tokens, cut / len(scored))}"]


def _longest(outcome: Outcome) -> float:
    """Completion tokens a turn, about what a reply took: an outcome does not know its single turns."""
    return outcome.usage.completion_tokens / max(outcome.turns, 1)


def _roomier(max_tokens: int, cut: float) -> int:
    """The power of two at or above twice the limit, four times where a tenth or more was cut."""
    wanted = max_tokens * (4 if cut >= 0.1 else 2)
    return 1 << (wanted - 1).bit_length()


def _about_calls(scored: Sequence[Outcome]) -> list[str]:
    lines = []
    for kind, remedy in REMEDIES.items():
        hurt = sum(kind in outcome.malformed for outcome in scored)
        if kind != "cut_off" and hurt and hurt >= FREQUENT * len(scored):
            lines.append(f"{_share(hurt, len(scored))} had a malformed call ({kind}): {remedy}")
    return lines


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} rollouts ({100 * part / whole:.1f} %)"
