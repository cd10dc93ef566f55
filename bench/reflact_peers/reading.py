"""What a prompt of an optimiser role says: which skill, which tasks failed or were solved, what is asked for.

One reader for each form that a system uses; the law of proposing sees only a `Reflection`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

from reflact_peers.world import World

Json = dict[str, Any]
Role = Literal["gepa", "reflector", "curator", "analyst", "merge", "rank", "rate", "slow", "meta", "mend", "unknown"]


@dataclass(frozen=True, slots=True)
class Reflection:
    """One look at attempts: the skill they were made with, kinds of failed and of solved tasks, the whole prompt."""

    skill: str
    failed: tuple[str, ...]
    solved: tuple[str, ...]
    text: str
    most: int = 99

    @classmethod
    def of_gepa(cls, user: str, world: World) -> Reflection:
        """The instruction stands between the first fences, each example under its own heading with feedback."""
        skill = user.split("```", 2)[1].strip("\n")
        failed, solved = [], []
        for example in re.split(r"(?m)^# Example \d+$", user)[1:]:
            kinds = world.kinds_shown(example.partition("\n```")[0])[:1]
            wrong = "response is incorrect" in example or "Not solved" in example
            (failed if wrong else solved).extend(kinds)
        return cls(skill, tuple(failed), tuple(solved), user)

    @classmethod
    def of_reflector(cls, user: str, world: World) -> Reflection:
        """The form of ACE: bullets, then attempts under their names with their grade."""
        failed, solved = [], []
        for attempt in re.split(r"(?m)^### ", tagged(user, "attempts"))[1:]:
            (solved if "\nGraded: solved" in attempt else failed).extend(world.kinds_shown(attempt)[:1])
        skill = f"{tagged(user, 'playbook')}\n{tagged(user, 'bullets')}"
        return cls(skill, tuple(failed), tuple(solved), user)

    @classmethod
    def of_analyst(cls, system: str, user: str, world: World) -> Reflection:
        """The form of a skill trainer: the skill, a budget, then failed or solved attempts."""
        if tagged(user, "playbook"):
            kinds = tuple(world.kinds_shown(tagged(user, "attempts")))
            failed, solved = (kinds, ()) if "FAILED" in system else ((), kinds)
            return cls(playbook(user), failed, solved, user, _number(r"At most (\d+) ", system))
        failed = tuple(world.kinds_shown(section(user, "Failed Trajectories")))
        solved = tuple(world.kinds_shown(section(user, "Successful Trajectories")))
        return cls(section(user, "Current Skill"), failed, solved, user, _number(r"at most L=(\d+)", user))

    @classmethod
    def of_comparison(cls, user: str, world: World) -> Reflection:
        """The form of a slow update: two skills, and the same tasks under both."""
        if tagged(user, "playbook"):
            parts = re.split(r"(?m)^## (?=\S+: (?:regressed|persistent_fail|improved|stable_success)$)", user)[1:]
            bad = [part for part in parts if re.match(r"\S+: (?:regressed|persistent_fail)", part)]
            failed, solved = "".join(bad), "".join(part for part in parts if part not in bad)
            return cls(playbook(user), tuple(world.kinds_shown(failed)), tuple(world.kinds_shown(solved)), user)
        compared = section(user, "Longitudinal Comparison (same")
        failed, _, solved = compared.partition("### Improvements")
        skill = section(user, "Current Epoch's Skill")
        return cls(skill, tuple(world.kinds_shown(failed)), tuple(world.kinds_shown(solved)), user)


def guidance_before(user: str) -> str:
    """What the last slow update wrote."""
    return tagged(user, "guidance") or section(user, "Previous Slow Update Guidance")


def playbook(user: str) -> str:
    """All parts of a playbook that reach the target as text."""
    return "\n".join(tagged(user, part) for part in ("playbook", "guidance", "reminders"))


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    return int(found[1]) if found else 99


def tagged(text: str, name: str) -> str:
    """What stands between the first pair of tags of that name, each on a line of its own."""
    found = re.search(rf"(?ms)^<{name}>\n(.*?)\n</{name}>$", text)
    return found[1] if found else ""


def section(text: str, title: str) -> str:
    """What stands under the second-level heading that starts with `title`, up to the next such heading."""
    found = re.search(rf"(?m)^## {re.escape(title)}[^\n]*\n", text)
    if found is None:
        return ""
    rest = text[found.end() :]
    if title.startswith("Longitudinal"):
        return rest
    end = re.search(r"(?m)^## (?=[A-Z])", rest)
    return rest[: end.start()] if end else rest


def reads_as(system: str, user: str) -> Role:
    """Which role is asked, by what its prompt contains."""
    if user.startswith("I provided an assistant with the following instructions"):
        return "gepa"
    for role, mark in (
        ("reflector", "bullet_tags"),
        ("curator", "You curate"),
        ("meta", "meta_skill_content"),
        ("slow", "slow_update_content"),
        ("rank", "selected_indices"),
        ("rate", "learning_rate"),
        ("analyst", "batch_size"),
        ("mend", "could not be applied"),
        ("merge", "merge"),
    ):
        if mark in system:
            return role  # type: ignore[return-value]
    return "unknown"


def bullets(user: str) -> dict[str, str]:
    """The bullets of a prompt of ACE, their ids by their texts."""
    return {found[2]: found[1] for found in re.finditer(r"(?m)^\[(b\d+)\] \(.*?\) (.+)$", tagged(user, "bullets"))}


def patches_in(user: str) -> list[Json]:
    """The patches of a merge prompt: objects with edits, or plain lists of edits, in arrays that begin a line."""
    decoder, found, end = json.JSONDecoder(), [], 0
    for begin in re.finditer(r"(?m)^\[", user):
        if begin.start() < end:
            continue
        try:
            value, end = decoder.raw_decode(user, begin.start())
        except json.JSONDecodeError:
            continue
        edits = [one for one in value if isinstance(one, dict) and "op" in one]
        found.extend([{"edits": edits}] if edits else [one for one in value if isinstance(one, dict)])
    return found


def numbered(user: str) -> list[str]:
    """The items of a ranking prompt, which are numbered from 0: `[0] ...` or `0. ...`."""
    return [found[1] for found in re.finditer(r"(?m)^(?:\[\d+\]|\d+\.) (.*)$", user)]


def support(item: str) -> int:
    """How many tasks are said to speak for an item."""
    found = re.search(r"support=(\d+)|, (\d+) attempts\)", item)
    return int(found[1] or found[2]) if found else 1


def fenced(text: str) -> str:
    return f"```\n{text}\n```"
