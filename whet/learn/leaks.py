"""Text of held-out tasks in what a learner proposes: found, dropped and recorded, without showing anybody the tasks.

A candidate leaks when it holds

* eight words in a row of the prompt of a select or test task, or of its truth, that stand in no train task;
* the whole of a truth of four to seven words that is the truth of no train task and stands in no train prompt;
* for shorter truths, which are words like any other (yes, no, a label, a number): five words in a row of a prompt that
  stand in no train task, and that task's truth within the twenty-four words behind them.

What the incumbent says already is not held against a candidate. Spelling in another case or with other punctuation does
not hide a leak; other words do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from whet.envs.base import Environment
from whet.types import Playbook, Split, Task

PROMPT_RUN, TRUTH_RUN, CLUE_RUN = 8, 4, 5
BEHIND = 24

MOST_TASKS = 2000
"""Tasks of a split that are looked at, those of the run first to last."""

MOST_WORDS = 2_000_000
"""Words of a split that are looked at, over all its tasks."""

_WORD = re.compile(r"[^\W_]+")

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
        before = {" ".join(run) for part in _parts(incumbent) for run in _runs(_words(part), CLUE_RUN)}
        for part in _parts(candidate):
            words = _words(part)
            span = self._leak(words, before)
            if span is not None:
                return Leak(" ".join(span))
        return None

    def _leak(self, words: Words, before: set[str]) -> Words | None:
        if self._build is not None:
            self._held, self._build = self._build(), None
        held = self._held
        lengths = sorted(held.truths)
        for at in range(len(words)):
            if " ".join(words[at : at + CLUE_RUN]) in before:
                continue
            if hash(words[at : at + PROMPT_RUN]) in held.runs and at + PROMPT_RUN <= len(words):
                return words[at : at + PROMPT_RUN]
            for length in lengths:
                if at + length <= len(words) and hash(words[at : at + length]) in held.truths[length]:
                    return words[at : at + length]
            clues = held.clues.get(hash(words[at : at + CLUE_RUN]), ())
            for length, truth in clues:
                for behind in range(at + CLUE_RUN, min(at + CLUE_RUN + BEHIND, len(words) - length + 1)):
                    if hash(words[behind : behind + length]) == truth:
                        return words[at : behind + length]
        return None


def _held_out(env: Environment, tasks: Mapping[Split, Sequence[int]]) -> _HeldOut:
    known = {length: set[int]() for length in range(TRUTH_RUN, PROMPT_RUN + 1)}
    for _, prompt, truths in _texts(env, "train", tasks.get("train", ())):
        for text in (prompt, *truths):
            for length, seen in known.items():
                seen.update(map(hash, _runs(text, length)))
    held = _HeldOut()
    for split in ("select", "test"):
        for _, prompt, truths in _texts(env, split, tasks.get(split, ())):
            for text in (prompt, *truths):
                held.runs.update(run for run in map(hash, _runs(text, PROMPT_RUN)) if run not in known[PROMPT_RUN])
            short = {(len(truth), hash(truth)) for truth in truths if 0 < len(truth) < TRUTH_RUN}
            for truth in truths:
                if TRUTH_RUN <= len(truth) < PROMPT_RUN and hash(truth) not in known[len(truth)]:
                    held.truths.setdefault(len(truth), set()).add(hash(truth))
            for run in map(hash, _runs(prompt, CLUE_RUN)) if short else ():
                if run not in known[CLUE_RUN]:
                    held.clues.setdefault(run, set()).update(short)
    return held


def _texts(env: Environment, split: Split, tasks: Sequence[int]) -> Iterator[tuple[Task, Words, list[Words]]]:
    """Prompt and truths of tasks, in words, as far as the caps reach."""
    left = MOST_WORDS
    for index in tasks[:MOST_TASKS]:
        task = env.task(split, index)
        prompt = _words("\n".join(message.text for message in task.messages))
        left -= len(prompt)
        if left < 0:
            return
        yield task, prompt, [_words(text) for text in _leaves(task.truth)]


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
    for example in playbook.examples:
        yield f"{example.question}\n{example.answer}"
    yield from playbook.files.values()


def _words(text: str) -> Words:
    return tuple(_WORD.findall(text.casefold()))


def _runs(words: Words, length: int) -> Iterator[Words]:
    for at in range(len(words) - length + 1):
        yield words[at : at + length]
