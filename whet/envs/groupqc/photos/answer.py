"""One answer about one photo: whether it keeps the form, and how much of what the photo shows it tells."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from whet.envs.groupqc.pack.schema import Mission, Pack
from whet.envs.groupqc.photos.prompt import header
from whet.envs.groupqc.summaries.counts import SummaryReading, problems, read_summary
from whet.envs.groupqc.summaries.text import clean_summary
from whet.envs.groupqc.tickets.line import BadLine, parse_object
from whet.types import Reply, Score, failed

AnswerCheck = Literal["text", "form", "words"]
"""What an answer must be: any text; a summary object or the irrelevant token; one with no word that the pack lacks."""

UNKNOWN = "<UNKNOWN>"
"""How an answer begins that says: I cannot tell what this is. It does not claim that a photo is irrelevant."""

FOREIGN = "foreign_photo"
"""The reason of such an answer."""

PhotoFacts = Counter[tuple[str, str, str]]
"""(category, attribute, value) with its count; a category without attributes counts as one fact of its own."""

_HEADER = re.compile(r"\s*<\s*DOMAIN\s*=", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PhotoAnswer:
    """A model's answer about a photo, checked: `summary` is its one line; with a `problem` it is not used.

    `exact` says whether it kept the form to the letter: a header line and one line of JSON, or the irrelevant token.
    """

    summary: str
    problem: str = ""
    detail: str = ""
    exact: bool = False

    @property
    def usable(self) -> bool:
        return not self.problem


def check_answer(pack: Pack, mission: Mission, reply: Reply, check: AnswerCheck = "form") -> PhotoAnswer:
    """The summary in a reply, or why it is none. `check` says how much is demanded of it."""
    if reply.truncated:
        return PhotoAnswer("", "cut_off", "the token limit cut the answer off; raise target.sampling.max_tokens")
    if reply.text.lstrip().startswith(UNKNOWN):
        said = reply.text.strip().removeprefix(UNKNOWN).strip()
        return PhotoAnswer("", FOREIGN, said or "the model does not know what this is")
    summary = " ".join(clean_summary(pack, reply.text).splitlines())
    if not summary.strip():
        return PhotoAnswer("", "blank", "the answer holds no text")
    answer = PhotoAnswer(summary, exact=_exact(pack, reply.text))
    if check == "text":
        return answer
    reading = read_summary(pack, summary)
    if reading.form not in ("json", "irrelevant"):
        said = f"neither a summary object nor {pack.words.irrelevant!r}"
        return replace(answer, problem="not_a_summary", detail=said)
    twice = _double_key(reply.text) if reading.form == "json" else ""
    if twice:
        return replace(answer, problem="duplicate_key", detail=twice)
    odd = problems(pack, mission, reading) if check == "words" else ()
    return replace(answer, problem="odd_words", detail="; ".join(odd)[:300]) if odd else answer


def grade_answer(pack: Pack, mission: Mission, reply: Reply, truth: str | None) -> Score:
    """The score of a reply. Without a truth, only the form can be judged."""
    answer = check_answer(pack, mission, reply)
    form = {"format": float(answer.exact)}
    if not answer.usable:
        return failed(answer.problem, answer.detail, facts=0.0, recall=0.0, precision=0.0, **form)
    if truth is None:
        return Score(1, 1.0, 1.0, form, "not_verified", "the photo has no sidecar: only the form was judged")
    told, shown = read_summary(pack, answer.summary), read_summary(pack, truth)
    parts = {**_agreement(facts(told), facts(shown)), **form}
    same = facts(told) == facts(shown)
    soft = 1.0 if same else min(parts["facts"], 0.999)
    reward = soft + pack.rewards.format * parts["format"]
    reason, detail = _reason(told, shown, same, soft)
    return Score(int(same), soft, reward, parts, reason, detail)


def facts(reading: SummaryReading) -> PhotoFacts:
    """What a summary claims, counted. Notes and group numbers are not facts about objects."""
    found: PhotoFacts = Counter()
    for entry in reading.entries:
        if not entry.counts:
            found[entry.category, "", ""] += 1
        for attribute, values in entry.counts.items():
            for value, count in values.items():
                found[entry.category, attribute, "".join(str(value).split())] += count
    return found


def _agreement(told: PhotoFacts, shown: PhotoFacts) -> Mapping[str, float]:
    """Shares of the facts that agree: of those shown, of those told, and their harmonic mean."""
    both = (told & shown).total()
    recall = both / shown.total() if shown else float(not told)
    precision = both / told.total() if told else float(not shown)
    mean = 2 * both / (told.total() + shown.total()) if told or shown else 1.0
    return {"facts": mean, "recall": recall, "precision": precision}


def _reason(told: SummaryReading, shown: SummaryReading, same: bool, soft: float) -> tuple[str, str]:
    if same:
        return "exact", ""
    if shown.irrelevant:
        return "not_seen_as_irrelevant", "the photo is not of the site"
    if told.irrelevant:
        return "taken_for_irrelevant", "the photo is of the site"
    wrong = sorted((facts(told) - facts(shown)) | (facts(shown) - facts(told)))
    detail = "; ".join("/".join(part for part in fact if part) for fact in wrong)[:200]
    return ("partial" if soft > 0 else "wrong"), f"differs in {detail}"


def _exact(pack: Pack, text: str) -> bool:
    said = text.strip()
    if said == pack.words.irrelevant:
        return True
    lines = said.split("\n")
    return len(lines) == 2 and lines[0].strip() == header(pack) and lines[1].startswith("{") and lines[1].endswith("}")


def _double_key(text: str) -> str:
    """What a JSON reader would silently drop: a key that stands twice in one object."""
    lines = text.strip().splitlines()
    try:
        parse_object("\n".join(lines[1:] if _HEADER.match(lines[0]) else lines))
    except BadLine as bad:
        return bad.detail if bad.reason == "duplicate_key" else ""
    return ""
