"""What a learner is told of an attempt at a site: what its pages hold or why they do not, and the last tool output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whet.envs.feedback import last_words, reason, tool_output, written
from whet.types import Feedback, Rollout, Task

SHOWN = 2
"""Unseen pages whose right output is told."""


def site_feedback(task: Task, unseen: Sequence[Any], rollout: Rollout) -> Feedback:
    """The program of the oracle stays out of it: it solves one site and teaches no other."""
    limit = task.truth["limit"]
    if limit is not None:
        expected = (
            f"status 'limit' for the reason {limit['reason']!r}, with a piece of the page that holds {limit['mark']!r}"
        )
    else:
        others = "".join(f"; on an unseen page {written(answer)}" for answer in unseen)
        expected = f"on the explored page {written(task.truth['answer'])}{others}"
    output = tool_output(rollout)
    return Feedback(expected, last_words(rollout), reason(rollout), f"the last tool output: {output}" if output else "")
