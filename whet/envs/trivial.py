"""Policies without any skill, for any environment: the floor that a model's row is read against.

Where one of them scores well, the scorer is lenient or the answers are lopsided, and a model's score means less.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter

from whet.envs.base import Baseline, Environment, Messages
from whet.errors import WhetError
from whet.keys import question_digest
from whet.types import Reply, Task

CONSTANT = "1"

NEIGHBOURS = 400
"""Training tasks among which the nearest is looked for, where a split has so many; of an endless one, fewer."""

ABOUT = {
    "empty": "says nothing",
    "echo": "repeats the question",
    "constant": f"always answers {CONSTANT!r}",
    "nearest": "gives the answer of the training task that is most like this one",
    "frequent": "always gives the most frequent answer of the training tasks",
}


def empty(task: Task, said: Messages) -> str:
    return ""


def echo(task: Task, said: Messages) -> str:
    """The last message of a user, word for word."""
    return next((message.text for message in reversed(said) if message.author == "user"), "")


def trivial_baselines(env: Environment, train_sample: int = 100) -> dict[str, Baseline]:
    """The trivial policies; with an oracle, also one that answers what it answers most often on training tasks.

    The most frequent answer is taken for each kind of task. `constant` stands in the place of the answer inside the
    oracle's replies: where they differ. Training tasks are built when a policy that needs them is first asked.
    """
    policies: dict[str, Baseline] = {"empty": empty, "echo": echo}
    oracle = env.baselines().get("oracle")
    if oracle is None:
        return {**policies, "constant": lambda task, said: CONSTANT}

    @functools.cache
    def learned() -> tuple[str, dict[str, Reply | str]]:
        replies = [(task.label.kind, reply) for task, reply in _oracle_replies(env, oracle, train_sample)]
        return _in_form([_text(reply) for _, reply in replies]), _most_frequent(replies)

    @functools.cache
    def neighbourhood() -> _Neighbourhood:
        sample = train_sample if env.size("train") is None else max(train_sample, NEIGHBOURS)
        return _Neighbourhood(_oracle_replies(env, oracle, sample))

    def constant(task: Task, said: Messages) -> str:
        return learned()[0]

    def frequent(task: Task, said: Messages) -> Reply | str:
        return learned()[1].get(task.label.kind, learned()[0])

    def nearest(task: Task, said: Messages) -> Reply | str:
        return neighbourhood().answer(task, learned()[0])

    return {**policies, "constant": constant, "frequent": frequent, "nearest": nearest}


class _Neighbourhood:
    """The answers of training tasks, by what they are answers to."""

    def __init__(self, replies: list[tuple[Task, Reply | str]]) -> None:
        from whet.envs.neighbours import Neighbours

        questions = [echo(task, task.messages) for task, _ in replies]
        self._replies = [reply for _, reply in replies]
        self._asked = [question_digest(question) for question in questions]
        self._index = Neighbours(questions)

    def answer(self, task: Task, otherwise: str) -> Reply | str:
        """The reply to the nearest other question."""
        question = echo(task, task.messages)
        asked = question_digest(question)
        same = [at for at, other in enumerate(self._asked) if other == asked] if task.split == "train" else []
        found = self._index.nearest(question, 1, same)
        return self._replies[found[0]] if found else otherwise


def _oracle_replies(env: Environment, oracle: Baseline, sample: int) -> list[tuple[Task, Reply | str]]:
    """The oracle's first reply for training tasks, as far as there are any."""
    size = env.size("train")
    count = sample if size is None else min(sample, size)
    try:
        tasks = [env.task("train", index) for index in range(count)]
    except WhetError:
        return []  # an environment that cannot fill its train split has no training answers
    return [(task, oracle(task, task.messages)) for task in tasks]


def _most_frequent(replies: list[tuple[str, Reply | str]]) -> dict[str, Reply | str]:
    """For each kind the reply given most often; the first seen of several."""
    counts: dict[str, Counter[str]] = {}
    first: dict[tuple[str, str], Reply | str] = {}
    for kind, reply in replies:
        text = _text(reply) + (repr(reply.calls) if isinstance(reply, Reply) else "")
        counts.setdefault(kind, Counter())[text] += 1
        first.setdefault((kind, text), reply)
    return {kind: first[kind, counter.most_common(1)[0][0]] for kind, counter in counts.items()}


def _in_form(texts: list[str]) -> str:
    """The constant between what all texts begin with and what all end with."""
    if len(set(texts)) < 2:
        return CONSTANT
    prefix = _shared_start(texts)
    suffix = _shared_start([text[len(prefix) :][::-1] for text in texts])[::-1]
    return prefix + CONSTANT + suffix


def _shared_start(texts: list[str]) -> str:
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(min(texts), max(texts), strict=False))
    return "".join(letter for letter, _ in same)


def _text(reply: Reply | str) -> str:
    return reply if isinstance(reply, str) else reply.text
