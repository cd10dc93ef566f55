"""Checks that compare text: exact, contains, regex, EM and token F1, ANLS."""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar

from whet.envs.arguments import Argument
from whet.envs.base import killable, work
from whet.envs.data.checks import patterns
from whet.envs.data.checks.base import SEPARATOR, THRESHOLD, AnswerCheck, Grading, graded
from whet.envs.data.checks.distance import edits
from whet.envs.data.template import cell
from whet.errors import FaultError, WhetError
from whet.types import Fault, Score, Task, failed

IGNORE_CASE = Argument("ignore_case", bool, False, "whether upper and lower case are the same")

LONGEST = 100_000
"""A reply is searched no further than this."""

_SEARCH, _COMPILE = "whet.envs.data.checks.patterns:search", "whet.envs.data.checks.patterns:loads"

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


class ExactCheck(AnswerCheck):
    """The answer and nothing else; white space apart."""

    takes = (IGNORE_CASE, SEPARATOR)

    def instruction(self) -> str:
        return "Reply with the answer only."

    def score(self, truth: Any, said: str) -> Score:
        return graded(float(any(self._normal(said) == self._normal(accepted) for accepted in truth)), said)

    def _normal(self, text: str) -> str:
        text = " ".join(unicodedata.normalize("NFC", text).split())
        return text.casefold() if self.own["ignore_case"] else text


class ContainsCheck(ExactCheck):
    """The answer somewhere in the reply, as words of their own: 7 is not in 17."""

    def instruction(self) -> str:
        return ""

    def score(self, truth: Any, said: str) -> Score:
        text = self._normal(said[:LONGEST])
        return graded(float(any(_within(self._normal(accepted), text) for accepted in truth)), said)


def _within(words: str, text: str) -> bool:
    before = r"(?<!\w)" if words[0].isalnum() else ""
    after = r"(?!\w)" if words[-1].isalnum() else ""
    return re.search(before + re.escape(words) + after, text) is not None


class RegexCheck(AnswerCheck):
    """The answer column holds a pattern that is found in the reply.

    The linear engine looks for it where it can (`patterns`); otherwise Python's own, which may backtrack for ever,
    does so where it can be stopped. Where it is not done in time, the pattern was not found: `check_hung`.
    """

    takes = (IGNORE_CASE, Argument("seconds", float, 5.0, "how long one check may take"))

    def truth(self, row: Mapping[str, Any], place: str) -> Any:
        assert self.answer is not None
        pattern = cell(row.get(self.answer))
        try:
            patterns.compiled(pattern, self.own["ignore_case"])
        except (re.error, OverflowError, RecursionError) as error:
            raise WhetError(f"{place}, column {self.answer!r}: {pattern!r} is not a pattern: {error}") from None
        if self._matches_nothing(pattern):
            raise WhetError(f"{place}, column {self.answer!r}: {pattern!r} matches an empty reply")
        return pattern

    def _matches_nothing(self, pattern: str) -> bool:
        told = patterns.found(pattern, self.own["ignore_case"], "")
        return patterns.search(pattern, self.own["ignore_case"], "") if told is None else told

    def oracle(self, truth: Any) -> str | None:
        return None

    def expected(self, truth: Any) -> str:
        return f"a text in which this pattern is found: {truth}"

    def grade(self, task: Task, said: str) -> Grading:
        if not said.strip():
            return failed("no_answer", "nothing to read in the reply")
        asked = {"pattern": task.truth, "ignore_case": self.own["ignore_case"], "text": said[:LONGEST]}
        found = patterns.found(**asked)
        if found is None:
            result = yield from work(killable(_SEARCH, seconds=self.own["seconds"], prepare=(_COMPILE, {}), **asked))
            if result.error == "hung":
                return failed("check_hung", f"the pattern {task.truth[:60]!r} was {result.detail}")
            if result.error:
                raise FaultError(Fault("check_ended", "regex", f"{task.truth[:60]!r}: {result.detail}"))
            found = bool(result.value)
        return graded(float(found), said)


class ExactMatchCheck(AnswerCheck):
    """EM as question answering has it: without case, punctuation and articles."""

    takes: ClassVar[tuple[Argument, ...]] = (SEPARATOR,)

    def instruction(self) -> str:
        return "Reply with the answer only, as few words as it takes."

    def score(self, truth: Any, said: str) -> Score:
        return graded(float(any(plain(said) == plain(accepted) for accepted in truth)), said)


class TokenF1Check(ExactMatchCheck):
    """Overlap of words with the best of the answers, normalised as for EM."""

    takes = (SEPARATOR, THRESHOLD)

    def score(self, truth: Any, said: str) -> Score:
        words = plain(said[:LONGEST]).split()
        best = max(_f1(words, plain(accepted).split()) for accepted in truth)
        match = float(any(words == plain(accepted).split() for accepted in truth))
        return graded(best, said, self.own["threshold"], em=match, f1=best)


class AnlsCheck(ExactMatchCheck):
    """Normalised edit similarity to the best of the answers; below one half it counts as none."""

    takes = (SEPARATOR, THRESHOLD)

    def score(self, truth: Any, said: str) -> Score:
        best = max(_similarity(said.casefold().strip(), accepted.casefold()) for accepted in truth)
        return graded(best, said, self.own["threshold"], anls=best)


def plain(text: str) -> str:
    """Text as the SQuAD scorer sees it; where nothing would be left, as it is."""
    bare = " ".join(_ARTICLES.sub(" ", text.casefold().translate(_PUNCTUATION)).split())
    return bare or " ".join(text.casefold().split())


def _f1(said: list[str], right: list[str]) -> float:
    shared = (Counter(said) & Counter(right)).total()
    return 2.0 * shared / (len(said) + len(right)) if shared else 0.0


def _similarity(said: str, right: str) -> float:
    longest = max(len(said), len(right), 1)
    if abs(len(said) - len(right)) * 2 >= longest:
        return 0.0  # that many letters must be added or removed
    similarity = 1.0 - edits(said, right) / longest
    return similarity if similarity > 0.5 else 0.0
