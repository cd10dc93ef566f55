"""What GEPA calls a system, an example and a reflection model, as a workshop has them.

Every evaluation is rollouts of ours under a purpose of its own, every reflection a consultation: ledger, budgets,
faults, sandbox and resume are those of every run. GEPA draws all its chances from one seed, so started again it asks
the same in the same order and is answered from the ledger.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from whet.errors import WhetError
from whet.learn.gepa.bridge import ThreadBridge
from whet.learn.gepa.config import GepaSection
from whet.learn.transcripts import conversation, feedback_on, shortened
from whet.learn.workshop import TRAIN_FAULTS, Workshop
from whet.rollout.placement import question_of
from whet.types import Playbook, Policy, Rollout, user

BODY = "playbook"
"""The component that is the body; each file beside it is one of its own."""

FILE = "file "

Texts = dict[str, str]
"""A candidate of GEPA: its components by name."""


def texts_of(playbook: Playbook) -> Texts:
    return {BODY: playbook.body, **{f"{FILE}{name}": text for name, text in sorted(playbook.files.items())}}


def playbook_of(texts: Mapping[str, str], start: Playbook) -> Playbook:
    """What stands in no component (worked examples, rules) stays as it was."""
    files = {name.removeprefix(FILE): text for name, text in texts.items() if name.startswith(FILE)}
    return replace(start, body=texts[BODY], files=files)


@dataclass(slots=True)
class SearchAdapter:
    """`GEPAAdapter` of `gepa.core.adapter`, and the language model that it reflects with."""

    shop: Workshop
    bridge: ThreadBridge
    section: GepaSection
    start: Playbook
    spent: int = 0
    """Attempts that were planned so far."""
    propose_new_texts: None = None
    _asked: int = field(default=0, init=False)
    _reflected: int = field(default=0, init=False)

    def policy(self, texts: Mapping[str, str]) -> Policy:
        return self.shop.with_playbook(playbook_of(texts, self.start))

    # ------------------------------------------------------------------------------------------- evaluations

    def evaluate(self, batch: Sequence[int], candidate: Texts, capture_traces: bool = False) -> Any:
        """Attempts at train tasks. A text that is too long solves nothing, and is not tried."""
        from gepa.core.adapter import EvaluationBatch

        if sum(len(text.encode()) for text in candidate.values()) > self.section.max_bytes:
            nothing: list[Rollout | None] = [None] * len(batch)
            return EvaluationBatch(nothing, [0.0] * len(batch), nothing if capture_traces else None, None, 0)
        self._asked += 1
        tasks = tuple(dict.fromkeys(batch))  # GEPA fills up its last minibatch with tasks that it may hold already
        self.spent += len(tasks)
        purpose = f"train/gepa/{self._asked:04d}"
        few = max(TRAIN_FAULTS, 1.0 / len(tasks))  # one fault in a minibatch of three is no sick service
        rolled = self.bridge.ask(self.shop.roll(purpose, self.policy(candidate), tasks, faults=few))
        by_task = {rollout.ticket.index: rollout for rollout in rolled}
        attempts = [by_task.get(task) for task in batch]
        scores = self._scores(attempts)
        return EvaluationBatch(attempts, scores, attempts if capture_traces else None)

    def _scores(self, attempts: Sequence[Rollout | None]) -> list[float]:
        """The gate's metric. GEPA wants a number for each task: what met a fault gets the mean, which moves no mean."""
        metric = self.shop.gate.metric
        read = [metric.of(rollout.score) if rollout and rollout.score else None for rollout in attempts]
        known = [value for value in read if value is not None]
        if not known:
            raise WhetError(f"no attempt at a train task reports {metric}, which the gate decides on; mend gate.metric")
        mean = sum(known) / len(known)
        return [mean if value is None else value for value in read]

    # ------------------------------------------------------------------------------------------- reflection

    def make_reflective_dataset(
        self, candidate: Texts, eval_batch: Any, components_to_update: Sequence[str]
    ) -> dict[str, list[dict[str, str]]]:
        """What a reflection reads: the same attempts for every component, for all of them are in every prompt."""
        shown = [self._shown(rollout) for rollout in eval_batch.trajectories if rollout is not None]
        return dict.fromkeys(components_to_update, shown)

    def _shown(self, rollout: Rollout) -> dict[str, str]:
        limit = self.section.transcript_chars
        turns = [turn for turn in rollout.turns if turn.role == "target"]
        asked = question_of(turns[0].messages) if turns else ""
        said = turns[0].reply.text if len(turns) == 1 and not turns[0].reply.calls else conversation(rollout)
        return {
            "Inputs": shortened(asked, limit),
            "Generated Outputs": shortened(said, limit),
            "Feedback": self._feedback(rollout, limit // 3),
        }

    def _feedback(self, rollout: Rollout, limit: int) -> str:
        score = rollout.score
        if score is None or self.section.show == "nothing":
            return ""
        if score.hard:
            return "Solved."
        said = [f"Not solved: {score.reason} {score.detail}".rstrip()]
        told = feedback_on(rollout, self.shop.env) if self.section.show == "truth" else None
        if told is not None:
            named = (("Expected", told.expected), ("Why", told.why), ("Evidence", told.evidence))
            said += [f"{name}: {shortened(text.strip(), limit)}" for name, text in named if text.strip()]
        return "\n".join(said)

    def reflect(self, prompt: str) -> str:
        """GEPA's reflection model is the run's optimiser. No proposal is made of a reply that is empty or cut off."""
        self._reflected += 1
        reply = self.bridge.ask(self.shop.consult(f"gepa/{self._reflected:04d}/reflection", (user(prompt),)))
        if not reply.text.strip() or reply.truncated:
            raise ValueError("the reply is empty or was cut off")
        return reply.text
