"""Text of held-out tasks in what a learner proposes: found, dropped and recorded, without showing anybody the tasks.

A candidate leaks when it holds

* eight words in a row of the prompt of a select or test task, or of its truth, that stand in no train task;
* the whole of a truth of four to seven words that is the truth of no train task and stands in no train prompt;
* for shorter truths, which are words like any other (yes, no, a label, a number): five words in a row of a prompt that
  stand in no train task (all of it, where it has two to four), and that task's truth within the twenty-four words
  behind them.

In scripts without spaces two characters count as a word. A leak that the incumbent holds already, as a whole, is not
held against a candidate; a half of it that was there before excuses nothing. Spelling in another case or with other
punctuation does not hide a leak; other words do.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from whet.envs.base import Environment
from whet.envs.near import UNSPACED, WORD
from whet.types import Playbook, Split

PROMPT_RUN, TRUTH_RUN, CLUE_RUN = 8, 4, 5
BEHIND = 24

MOST_TASKS = 2000
"""Tasks of a split that are looked at, those of the run first to last."""

MOST_WORDS = 2_000_000
"""Words of a split that are looked at, over all its tasks."""

_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
"""Soft hyphens, joiners and marks of direction or of byte order."""

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Leak:
    """The part of a candidate that stands in a held-out task; which task it is stays untold."""

    span: str


@dataclass(slots=True)
class _HeldOut:
    """Held-out tasks as hashes of runs of words: enough to know one again, not enough to read."""

    runs: set[int] = field(default_factory=set)
    truths: dict[int, set[int]] = field(default_factory=dict)
    """Whole truths of several words, by their length."""
    clues: dict[int, set[tuple[int, int]]] = field(default_factory=dict)
    """Runs of a prompt, and length and hash of the short truths of their tasks."""
    clue_lengths: set[int] = field(default_factory=set)


class LeakWatch:
    """Compares proposed text with the held-out tasks of a run. It is built when it is first asked.

    A learner that holds it can ask whether a text leaks and where in that text, and nothing else.
    """

    def __init__(self, env: Environment, tasks: Mapping[Split, Sequence[int]]) -> None:
        def build() -> _HeldOut:
            return _held_out(env, tasks)

        self._build: Callable[[], _HeldOut] | None = build
        self._held = _HeldOut()

    def find(self, candidate: Playbook, incumbent: Playbook = Playbook()) -> Leak | None:
        """The first leak of `candidate` that `incumbent` does not have."""
        before = [_joined(_words(part)) for part in _parts(incumbent)]
        for part in _parts(candidate):
            for span in self._leaks(_words(part)):
                if not any(_joined(span) in said for said in before):
                    return Leak(" ".join(span))
        return None

    def _leaks(self, words: Words) -> Iterator[Words]:
        if self._build is not None:
            self._held, self._build = self._build(), None
        held = self._held
        lengths, clue_lengths = sorted(held.truths), sorted(held.clue_lengths)
        for at in range(len(words)):
            run = _run(words, at, PROMPT_RUN)
            if run is not None and hash(run) in held.runs:
                yield run
            for length in lengths:
                if at + length <= len(words) and hash(words[at : at + length]) in held.truths[length]:
                    yield words[at : at + length]
            for clue_length in clue_lengths:
                behind = at + clue_length
                for length, truth in held.clues.get(hash(words[at:behind]), ()) if behind <= len(words) else ():
                    for start in range(behind, min(behind + BEHIND, len(words) - length + 1)):
                        if hash(words[start : start + length]) == truth:
                            yield words[at : start + length]


def _held_out(env: Environment, tasks: Mapping[Split, Sequence[int]]) -> _HeldOut:
    """What select and test say, less what train tasks say too, which are read one by one and not kept."""
    held = _HeldOut()
    for split in ("select", "test"):
        for prompt, truths in _texts(env, split, tasks.get(split, ())):
            for text in (prompt, *truths):
                held.runs.update(map(hash, _runs(text, PROMPT_RUN)))
            short = {(len(truth), hash(truth)) for truth in truths if 0 < _size(truth) < TRUTH_RUN}
            for truth in truths:
                if TRUTH_RUN <= _size(truth) < PROMPT_RUN:
                    held.truths.setdefault(len(truth), set()).add(hash(truth))
            for clue in _clues(prompt) if short else ():
                held.clue_lengths.add(len(clue))
                held.clues.setdefault(hash(clue), set()).update(short)
    for prompt, truths in _texts(env, "train", tasks.get("train", ())):
        for text in (prompt, *truths):
            held.runs.difference_update(map(hash, _runs(text, PROMPT_RUN)))
            for length, whole in held.truths.items():
                whole.difference_update(hash(text[at : at + length]) for at in range(len(text) - length + 1))
            for length in held.clue_lengths:
                for at in range(len(text) - length + 1):
                    held.clues.pop(hash(text[at : at + length]), None)
    return held


def _clues(prompt: Words) -> Iterator[Words]:
    """What a prompt is known again by: its runs of words, or all of it where it is shorter; one word is too little."""
    runs = list(_runs(prompt, CLUE_RUN))
    yield from runs or ([prompt] if len(prompt) > 1 else [])


def _texts(env: Environment, split: Split, tasks: Sequence[int]) -> Iterator[tuple[Words, list[Words]]]:
    """Prompt and truths of tasks, in words, as far as the caps reach."""
    left = MOST_WORDS
    for index in tasks[:MOST_TASKS]:
        task = env.task(split, index)
        prompt = _words("\n".join(message.text for message in task.messages))
        left -= len(prompt)
        if left < 0:
            return
        yield prompt, [_words(text) for text in _leaves(task.truth)]


def _leaves(truth: Any) -> Iterator[str]:
    """The texts and numbers in a truth."""
    if isinstance(truth, Mapping):
        for value in truth.values():
            yield from _leaves(value)
    elif isinstance(truth, list | tuple | set | frozenset):
        for value in truth:
            yield from _leaves(value)
    elif truth is not None and not isinstance(truth, bool):
        yield str(truth)


def _parts(playbook: Playbook) -> Iterator[str]:
    """What a playbook says, an example with its answer behind its question."""
    yield playbook.text
    for example in (*playbook.examples, *playbook.bank):
        yield f"{example.question}\n{example.told}"
    yield from playbook.files.values()
    yield from (rule.text for rule in playbook.rules)


def _words(text: str) -> Words:
    """Words in one case, without what cannot be seen; in scripts without spaces, characters."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return tuple(WORD.findall(_UNSEEN.sub("", plain)))


def _size(words: Words) -> float:
    """How many words it is; in a script without spaces a word is some two characters."""
    return len(words) - sum(map(_unspaced, words)) / 2


def _unspaced(word: str) -> bool:
    return UNSPACED.match(word) is not None


def _run(words: Words, at: int, length: int) -> Words | None:
    """So many words from a place on, twice as many where most are characters of a script without spaces."""
    run = words[at : at + length]
    if sum(map(_unspaced, run)) > length // 2:
        length *= 2
        run = words[at : at + length]
    return run if len(run) == length else None


def _runs(words: Words, length: int) -> Iterator[Words]:
    for at in range(len(words)):
        run = _run(words, at, length)
        if run is not None:
            yield run


def _joined(words: Words) -> str:
    return f" {' '.join(words)} "
