"""From what happened in a play to a score: the facts, two rewards, and the parts that metrics are made of.

A model is *repaired* when it is equivalent to the hidden original and was submitted. Feasibility alone earns nothing:
removing a requirement reaches it without understanding anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from whet.envs.ordebug.works import RepairJudgement
from whet.types import Score

RewardName = Literal["repair", "composite"]

FREE_STEPS = 4
"""Steps besides the edits that cost nothing: look, look again, diagnose, submit."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What happened, in numbers. `ended`: why the play ended, 'submitted' or a limit's code."""

    ended: str
    judged: RepairJudgement
    steps: int
    max_steps: int
    malformed: int
    refused: int
    edits: int
    drops: int
    queries: int
    edit_cost: int
    min_edits: int
    blamed: frozenset[str]
    """Elements that the policy holds to be wrong: its last diagnosis, else what its edits changed."""
    faults: frozenset[str]
    touched_rows: frozenset[str]
    iis_rows: frozenset[str]
    original_objective: float
    first_optimal: int
    """The step after which the solver first said optimal; 0: never."""
    specified: bool = True
    """Whether the problem has a specification. Without one nobody can know the original: see `kept`."""

    @property
    def submitted(self) -> bool:
        return self.ended == "submitted"

    @property
    def feasible(self) -> bool:
        return self.submitted and self.judged.final.status == "optimal"

    @property
    def repaired(self) -> bool:
        return self.submitted and self.judged.repaired

    @property
    def kept(self) -> bool:
        """Without a specification: handed in feasible, within 1 % of the original's objective, in as few edits."""
        return self.feasible and self.objective_kept >= 0.99 and self.edit_cost <= self.min_edits

    @property
    def solved(self) -> bool:
        return self.repaired if self.specified else self.kept

    @property
    def minimal(self) -> bool:
        return self.repaired and self.edit_cost <= self.min_edits

    @property
    def precision(self) -> float:
        return len(self.blamed & self.faults) / len(self.blamed) if self.blamed else 0.0

    @property
    def recall(self) -> float:
        return len(self.blamed & self.faults) / len(self.faults) if self.faults else 0.0

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2.0 * self.precision * self.recall / both if both else 0.0

    @property
    def malformed_share(self) -> float:
        return self.malformed / self.steps if self.steps else 0.0

    @property
    def objective_kept(self) -> float:
        """The published OP: 1 when the objective is the original's, less by the relative difference, at least 0."""
        final, original = self.judged.final.objective, self.original_objective
        if final is None:
            return 0.0
        if original == 0.0:
            return float(final == 0.0)
        return max(0.0, 1.0 - abs(final - original) / abs(original))


def repair_reward(facts: Facts) -> float:
    """In [0, 1]. A repair earns 0.7, up to 0.2 for few edits and 0.1 for few steps; an honest failure at most 0.2.

    Nothing is paid for a step, for feasibility, or without a submission, so stalling, flailing and dropping earn
    nothing; what a failure gets is for naming the fault, and naming everything has little precision.
    """
    if not facts.submitted:
        return 0.0
    if facts.solved:
        waste = 1.0 - min(1.0, facts.min_edits / max(1, facts.edit_cost))
        credit = 1.0 - 0.2 * waste - 0.1 * (1.0 - _economy(facts))
    else:
        credit = 0.02 + 0.18 * facts.f1
    return credit * (1.0 - 0.5 * facts.malformed_share)


def composite_reward(facts: Facts) -> float:
    """Half the outcome (100 or -50), 0.3 of the diagnosis (20 x recall), 0.2 of the efficiency (10, 5, or -2 a step).

    The composite of the task list that this environment came from, with three departures: the outcome is the repair of
    the model, not its feasibility; recall is of the elements that are wrong, not of the subsystem's; and malformed
    replies cost up to 10.
    """
    outcome = 100.0 if facts.solved else -50.0
    diagnosis = 20.0 * facts.recall
    efficiency = 10.0 if facts.steps <= 2 else 5.0 if facts.steps <= 5 else -2.0 * (facts.steps - 5)
    return 0.5 * outcome + 0.3 * diagnosis + 0.2 * efficiency - 10.0 * facts.malformed_share


REWARDS: Mapping[str, Callable[[Facts], float]] = {"repair": repair_reward, "composite": composite_reward}


def _economy(facts: Facts) -> float:
    """1 within the steps that a repair needs, falling to 0 at the limit."""
    needed = facts.min_edits + FREE_STEPS
    if facts.steps <= needed:
        return 1.0
    return max(0.0, 1.0 - (facts.steps - needed) / max(1, facts.max_steps - needed))


def score(facts: Facts, reward: RewardName) -> Score:
    soft = repair_reward(facts)
    return Score(int(facts.solved), soft, REWARDS[reward](facts), parts(facts), _reason(facts), _detail(facts))


def parts(facts: Facts) -> dict[str, float]:
    """Every component by name: `metrics` adds them up."""
    return {
        "submitted": float(facts.submitted),
        "feasible": float(facts.feasible),
        "repaired": float(facts.repaired),
        "minimal": float(facts.minimal),
        "specified": float(facts.specified),
        "kept": float(facts.kept),
        "precision": facts.precision,
        "recall": facts.recall,
        "steps": float(facts.steps),
        "max_steps": float(facts.max_steps),
        "malformed": float(facts.malformed),
        "refused": float(facts.refused),
        "edits": float(facts.edits),
        "drops": float(facts.drops),
        "queries": float(facts.queries),
        "edit_cost": float(facts.edit_cost),
        "min_edits": float(facts.min_edits),
        "collateral": float(len(facts.blamed - facts.faults)),
        "first_optimal": float(facts.first_optimal),
        "repaired_at": float(facts.judged.repaired_at),
        "da_hits": float(len(facts.touched_rows & facts.iis_rows)),
        "da_rows": float(len(facts.iis_rows)),
        "op": facts.objective_kept,
        "reward_repair": repair_reward(facts),
        "reward_composite": composite_reward(facts),
    }


def _reason(facts: Facts) -> str:
    if not facts.submitted:
        return "only_malformed" if facts.malformed == facts.steps > 0 else facts.ended
    if facts.solved:
        return "repaired" if facts.specified else "kept"
    return "feasible_only" if facts.feasible else f"still_{facts.judged.final.status}"


def _detail(facts: Facts) -> str:
    blamed = " ".join(sorted(facts.blamed)) or "nothing"
    why = f", {facts.judged.why}" if facts.judged.why and not facts.judged.repaired else ""
    return f"{facts.steps} steps, {facts.edit_cost} elements changed, blamed {blamed[:200]}{why}"
