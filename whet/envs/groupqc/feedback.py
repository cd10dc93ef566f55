"""What a learner is told of a verdict on a ticket: which was right, and what kind of error the other one is."""

from __future__ import annotations

from whet.envs.feedback import last_words, reason
from whet.envs.groupqc.pack.schema import TicketVerdict
from whet.envs.groupqc.verdict.lines import read_verdict
from whet.types import Feedback, Rollout, Task

ERRORS = {
    ("pass", "fail"): "a false release: the site was not in order",
    ("fail", "pass"): "a false block: the site was in order",
}
"""What a call is where the label is another."""


def ticket_feedback(task: Task, rollout: Rollout) -> Feedback:
    """The label beside the call; a reply that could not be read is told in its own words."""
    label, reading = task.truth["label"], read_verdict(last_words(rollout), cut_off=rollout.truncated)
    if reading.call is None:
        return Feedback(label, "", f"the reply could not be read ({reading.code}); {reason(rollout)}")
    return Feedback(label, f"{reading.call}: {reading.reason}", ERRORS.get((reading.call, label), "the right verdict"))


def ticket_verdict(rollout: Rollout) -> TicketVerdict | None:
    """What an attempt called its ticket; None where its reply could not be read."""
    return read_verdict(last_words(rollout), cut_off=rollout.truncated).call
