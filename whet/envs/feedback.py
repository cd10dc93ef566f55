"""What can be said of an attempt without knowing its environment: the truth as it is written, and who spoke last."""

from __future__ import annotations

import json
from typing import Any

from whet.types import Feedback, Rollout, Task


def plain_feedback(task: Task, rollout: Rollout) -> Feedback:
    """The feedback of an environment that has none of its own."""
    return Feedback(written(task.truth), last_words(rollout), reason(rollout), judged(rollout))


def written(truth: Any) -> str:
    """A truth as text: several right answers side by side, a structure as JSON."""
    if truth is None:
        return ""
    if isinstance(truth, list | tuple) and truth and all(isinstance(answer, str) for answer in truth):
        return " or ".join(truth)
    return truth if isinstance(truth, str) else json.dumps(truth, ensure_ascii=False, default=str)


def last_words(rollout: Rollout) -> str:
    """The last reply of the policy."""
    return next((turn.reply.text for turn in reversed(rollout.turns) if turn.role == "target"), "")


def reason(rollout: Rollout) -> str:
    """The score's reason, with its detail."""
    score = rollout.score
    return f"{score.reason}: {score.detail}".strip(": ") if score is not None else ""


def judged(rollout: Rollout) -> str:
    """The last thing that a judge said, where one was asked."""
    said = next((turn.reply.text for turn in reversed(rollout.turns) if turn.role == "judge"), "")
    return f"the judge: {said.strip()}" if said.strip() else ""


def tool_output(rollout: Rollout) -> str:
    """What the last tool call of an attempt gave back; '' where none was made."""
    told = [message.text for turn in rollout.turns for message in turn.messages if message.author == "tool"]
    return told[-1] if told else ""
