"""What Stage-B is asked: the pack's words around one ticket, whose summaries are fenced off and escaped.

Summaries are untrusted: a label in a photo may hold an instruction. Each becomes one line between marks that cannot
occur inside it. Neither label nor group id is shown.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from whet.envs.groupqc.pack.schema import Mission, Pack
from whet.envs.groupqc.summaries.counts import SummaryReading, read_summary, without_stations
from whet.envs.groupqc.summaries.text import clean_summary
from whet.envs.groupqc.verdict.rules import judge
from whet.types import Message, Rule, RuleSlot, RuleSort, system, user

PromptRules = Literal["seed", "none"]
"""Whether a prompt has the rules that a mission starts from, or leaves rules to the playbook."""

OPEN, CLOSE = "⟦", "⟧"
"""The marks around a summary."""

_ESCAPED = str.maketrans(
    {OPEN: "〔", CLOSE: "〕", "\r": " ", "\n": "⏎", "\t": " ", "\x85": " ", "\u2028": " ", "\u2029": " "}
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")
_TOKEN_MARKS = re.compile(r"<(?=\|)|(?<=\|)>")
_ODD = re.compile(rf"[{OPEN}{CLOSE}\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff\u202a-\u202e\u2066-\u2069]|<\||\|>")
"""Whatever is replaced or taken out: most summaries have nothing of it."""
_FIELD = re.compile(r"\{(\w+)\}")


class SummarisedTicket(Protocol):
    """Whatever has summaries: a ticket with or without a label."""

    @property
    def summaries(self) -> Sequence[str]: ...


def evidence(pack: Pack, mission: Mission, ticket: SummarisedTicket) -> tuple[str, ...]:
    """The summaries as Stage-B sees them: headers gone, and station distances too where the mission has no stations."""
    cleaned = (clean_summary(pack, text) or text for text in ticket.summaries)
    return tuple(text if mission.per_station else without_stations(pack, text) or text for text in cleaned)


def messages(
    pack: Pack,
    mission: Mission,
    summaries: Sequence[str],
    rules: PromptRules = "seed",
    site: str = "",
    submitted: str = "",
) -> tuple[Message, ...]:
    """The conversation that asks for a verdict on `summaries`, of a ticket of that site and date."""
    readings = [read_summary(pack, text) for text in summaries]
    prompts = pack.prompts
    asked = _filled(
        prompts.ticket_request,
        {
            **_head(mission, rules, context(pack, site, submitted)),
            "count": str(len(summaries)),
            "overview": ", ".join(f"Image{n}(obj={reading.objects()})" for n, reading in enumerate(readings, start=1)),
            "stations": stations(pack, mission, readings),
            "summaries": "\n".join(f"Image{n}: {fenced(text)}" for n, text in enumerate(summaries, start=1)),
        },
    )
    return system("\n".join((prompts.ticket_role, *prompts.ticket_rules))), user(asked)


def rule_slots(
    pack: Pack, mission: Mission, rules: PromptRules = "seed", site: str = "", submitted: str = ""
) -> tuple[RuleSlot, ...]:
    """Where the request has focus, structure and rules: there a rule book stands in the place of the mission's own.

    All three come before anything that is not trusted, so their places do not depend on it.
    """
    return _slots(pack, mission, rules, context(pack, site, submitted))


@functools.lru_cache(maxsize=1024)
def _slots(pack: Pack, mission: Mission, rules: PromptRules, told: str) -> tuple[RuleSlot, ...]:
    spans: dict[str, tuple[int, int, str, str]] = {}
    _filled(pack.prompts.ticket_request, _head(mission, rules, told), spans)
    sorts: tuple[tuple[RuleSort, str], ...] = (("G0", "focus"), ("S", "structure"), ("G", "rules"))
    return tuple(RuleSlot(sort, *spans[field]) for sort, field in sorts if field in spans)


def seed_rules(mission: Mission) -> tuple[Rule, ...]:
    """The mission's own rules as a book: its structure, its focus as the checklist, and the rules it starts from."""
    frozen = [Rule(f"S{number}", text, mission.name) for number, text in enumerate(mission.structure, start=1)]
    learnt = [Rule(f"G{number}", text, mission.name) for number, text in enumerate((mission.focus, *mission.rules))]
    return (*frozen, *learnt)


def _head(mission: Mission, rules: PromptRules, told: str) -> dict[str, str]:
    """The fields of a request that come before the evidence; `told` stands on the ticket itself."""
    return {
        "mission": mission.name,
        "context": told,
        "focus": mission.focus,
        "structure": _numbered(mission.structure),
        "rules": _numbered(mission.rules) if rules == "seed" else "",
    }


def context(pack: Pack, site: str, submitted: str) -> str:
    """What stands on the ticket itself: the kind of site and the date it was handed in, as far as they are told."""
    if pack.sites is None:
        return ""
    known = site if site in pack.sites.names else ""
    told = ((pack.sites.word, known), (pack.sites.date, _plain(submitted)))
    return "; ".join(f"{word}: {value}" for word, value in told if value)


def fenced(text: str) -> str:
    """Untrusted text as one line between marks; what could be a mark, a line break or a chat token is replaced."""
    text = text.strip()
    if not _ODD.search(text):
        return f"{OPEN}{text}{CLOSE}"
    one_line = _CONTROL.sub("", text.translate(_ESCAPED))
    return f"{OPEN}{_TOKEN_MARKS.sub(lambda found: '‹' if found[0] == '<' else '›', one_line)}{CLOSE}"


def stations(pack: Pack, mission: Mission, readings: Sequence[SummaryReading]) -> str:
    """For missions that are judged by station: which photos belong to each, and which needs they show."""
    if not mission.per_station or pack.stations is None:
        return ""
    seen: dict[str, list[int]] = {}
    for number, reading in enumerate(readings, start=1):
        station = reading.station(pack)
        if station is not None:
            seen.setdefault(station, []).append(number)
    shown: dict[str, list[str]] = {station: [] for station in seen}
    for finding in judge(pack, mission, readings).findings:
        if finding.images and finding.station in shown:
            shown[finding.station].append(finding.need.category)
    lines = (
        f"{pack.stations.category} {_plain(station)}: {', '.join(f'Image{n}' for n in numbers)}"
        + (f" ({', '.join(dict.fromkeys(shown[station]))})" if shown[station] else "")
        for station, numbers in seen.items()
    )
    return "\n".join(lines)


def _plain(station: str) -> str:
    """A station's number as it was read off; anything else than letters and digits has no business here."""
    return "".join(letter for letter in station if letter.isalnum() or letter in ".-")[:16]


def _numbered(rules: Sequence[str]) -> str:
    return "\n".join(f"{number}. {rule}" for number, rule in enumerate(rules, start=1))


def _filled(template: str, values: Mapping[str, str], spans: dict[str, tuple[int, int, str, str]] | None = None) -> str:
    """The template with its fields. A field that is alone on its line and empty goes, with a heading right above it.

    `spans` is told where each field came to stand, its heading included: start, end, and what is written before and
    after another text that is put there.
    """
    lines: list[str] = []
    end = 0
    told: dict[str, tuple[int, int, str, str]] = {} if spans is None else spans
    for line, alone, field in _template_lines(template):
        start = end
        heading = lines[-1] if alone and lines and lines[-1].rstrip().endswith((":", "：")) else None
        if alone and heading is not None:
            start -= len(heading) + 1
        if alone and not values.get(alone[1], line):
            if heading is not None:
                lines.pop()
                end = start
            told[alone[1]] = (start, start, "" if heading is None else f"{heading}\n", "\n")
            continue
        written = line if field is None else _FIELD.sub(lambda found: values.get(found[1], found[0]), line)
        if alone:
            before = "" if heading is None else f"{heading}\n"
            told[alone[1]] = (start, start + len(before) + len(written) + 1, before, "\n")
        elif field is not None and field[1] in values:
            told[field[1]] = (start + field.start(), start + field.start() + len(values[field[1]]), "", "")
        lines.append(written)
        end += len(written) + 1
    return "\n".join(lines)


@functools.cache
def _template_lines(template: str) -> tuple[tuple[str, re.Match[str] | None, re.Match[str] | None], ...]:
    """The lines of a template: each with the field that is alone on it, and the first that it has."""
    return tuple((line, _FIELD.fullmatch(line.strip()), _FIELD.search(line)) for line in template.split("\n"))


def estimated_tokens(asked: Sequence[Message]) -> int:
    """About how many tokens a conversation has: one for each letter outside ASCII, one for three letters inside it."""
    text = "".join(message.text for message in asked)
    ascii_letters = sum(letter < "\x80" for letter in text)
    return len(text) - ascii_letters + (ascii_letters + 2) // 3
