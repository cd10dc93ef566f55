"""What a learner is told of an attempt at a page: the right answer or why there is none, and the last tool output."""

from __future__ import annotations

from whet.envs.feedback import last_words, reason, tool_output, written
from whet.types import Feedback, Rollout, Task


def page_feedback(task: Task, rollout: Rollout) -> Feedback:
    """The programs of the oracle stay out of it: they solve one page and teach no other."""
    limit = task.truth.get("limit")
    expected = written(task.truth.get("answer"))
    if limit is not None:
        expected = f"status 'limit' with one of the reasons {', '.join(map(str, limit['reasons']))}"
    output = tool_output(rollout)
    return Feedback(expected, last_words(rollout), reason(rollout), f"the last tool output: {output}" if output else "")
