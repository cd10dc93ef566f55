"""What a learner is told of a repair: what was wrong with the model, how it is undone, and how the attempt ended."""

from __future__ import annotations

from whet.envs.feedback import last_words, reason, tool_output
from whet.envs.ordebug.instance import Instance
from whet.types import Feedback, Rollout


def repair_feedback(instance: Instance, rollout: Rollout) -> Feedback:
    """The faults in a person's words and the elements they are in; the certificate is for the grader alone."""
    faults = "; ".join(f"{fault.text} ({', '.join(sorted(fault.elements))})" for fault in instance.faults)
    output = tool_output(rollout)
    evidence = f"the last result: {output}" if output else ""
    return Feedback(f"undo this: {faults}", last_words(rollout), reason(rollout), evidence)
