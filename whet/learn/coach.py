"""Train attempts whose policy is told its grade and tries once more: `use_eval_feedback` of the published recipe.

What an analyst reads of them shows how a mistake is mended. What is measured stays what it was: the score is that of
the first try, and the part `after_feedback` says whether the second was right. No other attempt is told anything.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any

from whet.envs.base import Environment, Play
from whet.errors import LimitReached
from whet.learn.sealed import SealedEnvironment
from whet.types import Ask, Feedback, Message, Rollout, Score, Task, Ticket, Turn, Work, user

AFTER = "after_feedback"


class CoachedEnvironment(SealedEnvironment):
    """An environment as a policy in training plays it; select tasks are played as ever."""

    def play(self, task: Task) -> Play:
        return coached(self._env, task) if task.split == "train" else super().play(task)


def coached(env: Environment, task: Task) -> Play:
    """The play, and where it was not solved a second one that opens with the environment's feedback on the first."""
    turns: list[Turn] = []
    score = yield from _noted(env.play(task), turns)
    if score.hard:
        return score
    attempt = Rollout(Ticket("train", task.split, task.index), task.label, "", "", "", tuple(turns), score)
    told = _told(env.feedback(task, attempt))
    try:
        second = yield from _noted(env.play(task), [], (user(told),))
    except LimitReached:
        return replace(score, parts={**score.parts, AFTER: 0.0})
    return replace(score, parts={**score.parts, AFTER: float(second.hard)})


def _noted(play: Play, turns: list[Turn], opening: tuple[Message, ...] = ()) -> Generator[Ask | Work, Any, Score]:
    """A play as it is, with its turns noted; it asks `opening` instead of what it would ask first."""
    move: Any = play.__next__
    came: tuple[Any, ...] = ()
    while True:
        try:
            step = move(*came)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        if opening and isinstance(step, Ask):
            step, opening = replace(step, messages=opening), ()
        try:
            answer = yield step
        except LimitReached as limit:
            move, came = play.throw, (limit,)
            continue
        if isinstance(step, Ask):
            turns.append(Turn(step.role, step.messages, answer, step.tools))
        move, came = play.send, (answer,)


def _told(feedback: Feedback) -> str:
    """What the policy hears before its second try."""
    said = [("Why", feedback.why), ("Expected", feedback.expected), ("Evidence", feedback.evidence)]
    lines = [f"{name}: {text}" for name, text in said if text]
    return "\n".join(("That was graded as not solved.", *lines, "Try once more, in the form that was asked for."))
