"""What the propose pool teaches: attempts with their truths, and of these the cases that a proposer is shown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest
from typing import Literal

from whet.envs.base import Environment
from whet.envs.feedback import last_words
from whet.learn.rules.types import CaseKind, HardCase, PoolAttempt
from whet.learn.workshop import Workshop
from whet.types import Policy, Rollout

SURE = 0.99
"""The share of votes from which a verdict is called confident."""

ALIKE = 0.8
"""The share of telling words from which two tickets are called alike."""

LOOKED_AT = 64
"""Wrong attempts whose likes are looked for."""


def attempts_of(shop: Workshop, policy: Policy, rollouts: Iterable[Rollout]) -> tuple[PoolAttempt, ...]:
    """What rollouts on train tasks say, in their order; the truth of a train task may be known to a learner."""
    return tuple(_attempt(shop, policy, rollout) for rollout in rollouts)


def _attempt(shop: Workshop, policy: Policy, rollout: Rollout) -> PoolAttempt:
    env: Environment = shop.env
    task = env.task(rollout.ticket.split, rollout.ticket.index)
    verdict, truth = env.verdict(task, rollout), env.right(task)
    reason = rollout.score.reason if rollout.score is not None else ""
    error = "" if verdict == truth else "invalid" if verdict is None else reason or "wrong"
    votes = shop.session.calls(policy, rollout.ticket)
    return PoolAttempt(task, truth, verdict, votes, last_words(rollout), error, rollout)


def hard_cases(
    attempts: Sequence[PoolAttempt], most: int, order: Literal["hard_first", "easy_first"] = "hard_first"
) -> tuple[HardCase, ...]:
    """Cases by what they teach: sure and wrong, confused with a ticket of another truth, split votes; in turns.

    Within each sort both truths come in turns too, so that neither error hides the other.
    """
    wrong = [attempt for attempt in attempts if not attempt.right]
    wrong.sort(key=lambda attempt: -attempt.confidence if order == "hard_first" else attempt.confidence)
    likes = _likes(wrong[:LOOKED_AT], attempts)
    sorts: dict[CaseKind, list[HardCase]] = {"confident": [], "conflict": [], "split": [], "wrong": []}
    for attempt in wrong:
        beside = likes.get(attempt.task.id)
        sure = attempt.confidence >= SURE
        kind: CaseKind = "conflict" if beside else "confident" if sure else "wrong"
        sorts[kind].append(HardCase(attempt, kind, beside))
    narrow = [attempt for attempt in attempts if attempt.right and attempt.confidence < SURE]
    narrow.sort(key=lambda attempt: attempt.confidence)
    sorts["split"] = [HardCase(attempt, "split") for attempt in narrow]
    queues = [_by_truth(sorts[kind]) for kind in ("confident", "conflict", "wrong", "split")]
    return tuple(in_turns(queues))[:most]


def _by_truth(cases: Sequence[HardCase]) -> list[HardCase]:
    truths = dict.fromkeys(case.attempt.truth for case in cases)
    return list(in_turns([[case for case in cases if case.attempt.truth == truth] for truth in truths]))


def in_turns(queues: Sequence[Sequence[HardCase]]) -> Iterable[HardCase]:
    return (case for case in chain.from_iterable(zip_longest(*queues)) if case is not None)


def _likes(wrong: Sequence[PoolAttempt], attempts: Sequence[PoolAttempt]) -> dict[str, PoolAttempt]:
    """For a wrong attempt: the one of another truth that got the same verdict and looks most like it, if any does."""
    words = {attempt.task.id: _words(attempt) for attempt in attempts}
    common = Counter(word for said in words.values() for word in said)
    telling = {task: {word for word in said if common[word] < len(words)} for task, said in words.items()}
    found: dict[str, PoolAttempt] = {}
    for attempt in wrong:
        own = telling[attempt.task.id]
        rivals = [other for other in attempts if other.verdict == attempt.verdict and other.truth != attempt.truth]
        scored = [(_overlap(own, telling[rival.task.id]), rival) for rival in rivals]
        best = max(scored, key=lambda pair: pair[0], default=None)
        if best is not None and best[0] >= ALIKE:
            found[attempt.task.id] = best[1]
    return found


def _words(attempt: PoolAttempt) -> set[str]:
    return set(re.findall(r"\w+", " ".join(message.text for message in attempt.task.messages)))


def _overlap(one: set[str], other: set[str]) -> float:
    return len(one & other) / len(one | other) if one or other else 0.0
