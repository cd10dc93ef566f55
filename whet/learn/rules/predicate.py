"""Which tasks a rule fires on, and a language of words for environments that have none of their own.

A predicate of that language names a choice and the words that a prompt must have for it:

    {"effect": "choose", "choice": "refund", "words": ["charged", "twice"]}
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from whet.envs.base import Environment
from whet.envs.language import Feature, Predicate, RuleLanguage, RulePlace, WrittenRule
from whet.types import Rule, Task

WORD = "word"

MOST_WORDS = 400
"""Words that are looked at, the most frequent first."""

RAREST, COMMONEST = 4, 0.5
"""In how many prompts a word must stand, and in which share of them at most: one that stands in most tells nothing."""

_TOKEN = re.compile(r"[^\W\d_]{2,}|\d+")


def language_of(env: Environment, tasks: Sequence[Task], choices: Sequence[str]) -> RuleLanguage:
    """The language of these tasks: the environment's own, or else that of the words in their prompts."""
    own = env.rule_language(tasks[0]) if tasks else None
    return own if own is not None else WordLanguage(choices)


def verdict_of(language: RuleLanguage, rule: Rule, task: Task) -> str | None:
    """What a rule says of a task; None where it is silent, or has no predicate that runs."""
    if rule.predicate is None:
        return None
    try:
        return language.says(rule.predicate, task)
    except ValueError:
        return None


def verdict_by(language: RuleLanguage, rules: Iterable[Rule], task: Task, safe: str) -> str | None:
    """What rules give together where they are followed to the letter: the safe verdict if one says so, else what one
    says, else what is decided without any."""
    said = {verdict_of(language, rule, task) for rule in rules} - {None}
    if not said:
        return language.unruled(task)
    return safe if safe in said else min(word for word in said if word is not None)


class WordLanguage:
    """Rules on the words of a prompt: where all of these stand in it, the answer is that choice."""

    def __init__(self, choices: Sequence[str]) -> None:
        self._choices = tuple(dict.fromkeys(choices))
        self._seen: dict[str, frozenset[str]] = {}

    def openings(self, tasks: Sequence[Task]) -> tuple[RulePlace, ...]:
        texts = [self._words(task) for task in tasks]
        counts = Counter(word for words in texts for word in words)
        rare, common = RAREST, COMMONEST * len(texts)
        told = sorted(
            (word for word in counts if rare <= counts[word] <= common), key=lambda word: (-counts[word], word)
        )
        features = tuple(Feature(WORD, _bits(word in words for words in texts), word) for word in told[:MOST_WORDS])
        every = (1 << len(tasks)) - 1
        return tuple(
            RulePlace("choose", choice, every, "all", features, {WORD: 2}, WORD, choice) for choice in self._choices
        )

    def write(self, opening: RulePlace, features: Sequence[Feature]) -> WrittenRule:
        words = sorted(feature.what for feature in features)
        named = " and ".join(f'"{word}"' for word in words)
        what = "the word" if len(words) == 1 else "the words"
        text = f"If {what} {named} occur{'s' * (len(words) == 1)} in it, answer {opening.verdict}."
        return WrittenRule(text, {"effect": "choose", "choice": opening.verdict, "words": words})

    def says(self, predicate: Predicate, task: Task) -> str | None:
        words, choice = predicate.get("words"), predicate.get("choice")
        if (
            predicate.get("effect") != "choose"
            or not isinstance(choice, str)
            or not isinstance(words, list)
            or not words
        ):
            raise ValueError(f"a rule on words names a choice and the words that lead to it, not {dict(predicate)!r}")
        return choice if self._words(task).issuperset(words) else None

    def unruled(self, task: Task) -> str | None:
        return None

    def _words(self, task: Task) -> frozenset[str]:
        """The words of what is asked, as the policy reads it; system text is the same for all."""
        text = "\n".join(message.text for message in task.messages if message.author != "system")
        known = self._seen.get(text)
        if known is None:
            known = self._seen[text] = frozenset(found.casefold() for found in _TOKEN.findall(text))
        return known


def _bits(flags: Iterator[bool]) -> int:
    return sum(1 << place for place, flag in enumerate(flags) if flag)
