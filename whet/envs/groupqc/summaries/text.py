"""The one-line summary of a photo: written in canonical form, or cleaned from what a model answered.

A summary is a JSON object on one line: for each category that was seen, how often each value of each attribute was;
then notes, then how many objects each pair has. A photo that is not of the site has the irrelevant token instead.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from whet.envs.groupqc.pack.schema import Pack, Words
from whet.envs.groupqc.records import PhotoObject

ValueCounts = dict[str, dict[str, dict[str, int]]]
"""Category to attribute to value to count."""

_HEADER = re.compile(r"^\s*<DOMAIN=[^<>\n]*>\s*,?\s*<TASK=[^<>\n]*>\s*$", re.MULTILINE)
_FIRST_KEYS = ("图片_1", "image_1")
_LAST = 10_000


@functools.cache
def _ranks(pack: Pack) -> dict[str, tuple[int, dict[str, tuple[int, dict[str, int]]]]]:
    """Where each category, attribute and value of a pack stands in a canonical summary."""
    return {
        category.name: (
            place,
            {
                attribute.name: (number, {value: at for at, value in enumerate(attribute.values)})
                for number, attribute in enumerate(category.attributes)
            },
        )
        for place, category in enumerate(pack.categories)
    }


@functools.cache
def _pair_attributes(pack: Pack) -> frozenset[str]:
    return frozenset(
        attribute.name for category in pack.categories for attribute in category.attributes if attribute.kind == "pair"
    )


def tally(items: Iterable[PhotoObject]) -> ValueCounts:
    """How often each value was seen."""
    counts: ValueCounts = {}
    for item in items:
        seen = counts.setdefault(item.category, {})
        for attribute, value in item.states:
            values = seen.setdefault(attribute, {})
            values[value] = values.get(value, 0) + 1
    return counts


def summarise(pack: Pack, items: Sequence[PhotoObject], notes: Sequence[str] = ()) -> dict[str, Any]:
    """The object of a summary, its keys in canonical order whatever the order of the items."""
    words, ranks = pack.words, _ranks(pack)
    counts = tally(items)
    entries = []
    for category in sorted(counts, key=lambda name: ranks[name][0] if name in ranks else _LAST):
        places = ranks[category][1] if category in ranks else {}
        entry: dict[str, Any] = {words.category: category}
        seen = counts[category]
        for attribute in sorted(seen, key=lambda name: places[name][0] if name in places else _LAST):
            order = places[attribute][1] if attribute in places else {}
            values = seen[attribute]
            if len(values) == 1:
                entry[attribute] = values
            else:
                entry[attribute] = {
                    value: values[value] for value in sorted(values, key=lambda v: (order.get(v, _LAST), v))
                }
        entries.append(entry)
    summary: dict[str, Any] = {words.statistics: entries}
    if notes:
        summary[words.notes] = list(notes)
    pairs = _pairs(pack, items)
    if pairs:
        summary[words.groups] = pairs
    return summary


def _pairs(pack: Pack, items: Iterable[PhotoObject]) -> dict[str, int]:
    names = _pair_attributes(pack)
    if not names:
        return {}
    pairs: dict[str, int] = {}
    for item in items:
        for attribute, value in item.states:
            if attribute in names:
                pairs[value] = pairs.get(value, 0) + 1
    return dict(sorted(pairs.items()))


def canonical(words: Words, summary: Mapping[str, Any]) -> str:
    """A summary object as one line: statistics, notes, groups, then whatever else it has as it came."""
    first = (words.statistics, words.notes, words.groups)
    ordered = {key: summary[key] for key in first if key in summary}
    ordered.update((key, value) for key, value in summary.items() if key not in ordered)
    return json.dumps(ordered, ensure_ascii=False)


def render_summary(pack: Pack, items: Sequence[PhotoObject], notes: Sequence[str] = ()) -> str:
    """The canonical line for what a photo shows; the irrelevant token where it shows nothing of the site."""
    return json.dumps(summarise(pack, items, notes), ensure_ascii=False) if items else pack.words.irrelevant


def with_header(pack: Pack, summary: str) -> str:
    """What a model answers: a header line before the summary, nothing before the irrelevant token."""
    if summary == pack.words.irrelevant:
        return summary
    return f"<DOMAIN={pack.words.domain}>, <TASK=SUMMARY>\n{summary}"


def plain_text(pack: Pack, items: Sequence[PhotoObject]) -> str:
    """The older flat form: `category/value,value×count`, joined."""
    if not items:
        return pack.words.irrelevant
    counts: dict[str, int] = {}
    for item in items:
        values = ",".join(value for _, value in item.states)
        chain = f"{item.category}/{values}" if values else item.category
        counts[chain] = counts.get(chain, 0) + 1
    return pack.words.joiner.join(f"{chain}×{count}" for chain, count in counts.items())


def clean_summary(pack: Pack, text: str) -> str:
    """One answer of a model as it is stored. Blank stays blank; what cannot be recognised stays as it is."""
    words, trimmed = pack.words, text.strip()
    if not trimmed or trimmed.startswith(words.irrelevant):
        return words.irrelevant if trimmed else ""
    body = _HEADER.sub("", trimmed).strip()
    found = find_summary(words, body)
    if found is not None:
        return canonical(words, found)
    whole = _object(body)
    if whole:
        named = next((whole[key] for key in _FIRST_KEYS if isinstance(whole.get(key), str)), None)
        texts = [value.strip() for value in whole.values() if isinstance(value, str) and value.strip()]
        if named and named.strip():
            return str(named).strip()
        if texts:
            return words.joiner.join(texts)
    return body or trimmed


def find_summary(words: Words, text: str) -> dict[str, Any] | None:
    """The summary object inside a text: the whole, else the last line that is one, else the widest braces, else
    assignments such as `统计=[…]`."""
    has = words.statistics
    whole = _object(text)
    if whole is not None and has in whole:
        return whole
    for line in reversed(text.splitlines()):
        found = _object(line)
        if found is not None and has in found:
            return found
    start, end = text.find("{"), text.rfind("}")
    if 0 <= start < end:
        found = _object(text[start : end + 1])
        if found is not None and has in found:
            return found
    return _assigned(words, text)


def _assigned(words: Words, text: str) -> dict[str, Any] | None:
    """`统计=[…]` and the like: a key, a sign, and brackets that balance."""
    found: dict[str, Any] = {}
    for key in (words.statistics, words.notes, words.groups):
        match = re.search(rf"""{re.escape(key)}["']?\s*[=:：]\s*(?=[\[{{])""", text)
        span = _balanced(text, match.end()) if match else ""
        value = _json(span) if span else None
        if value is not None:
            found[key] = value
    return found if isinstance(found.get(words.statistics), list) else None


def _balanced(text: str, start: int) -> str:
    """The bracket at `start` with everything up to its partner, '' where it has none. Brackets in strings are text."""
    depth, quoted, escaped = 0, False, False
    for place in range(start, len(text)):
        sign = text[place]
        if quoted:
            if escaped:
                escaped = False
            elif sign == "\\":
                escaped = True
            elif sign == '"':
                quoted = False
        elif sign == '"':
            quoted = True
        elif sign in "[{":
            depth += 1
        elif sign in "]}":
            depth -= 1
            if depth == 0:
                return text[start : place + 1]
    return ""


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _object(text: str) -> dict[str, Any] | None:
    stripped = text.strip()
    if not stripped.startswith("{"):
        return None
    value = _json(stripped)
    return value if isinstance(value, dict) else None
