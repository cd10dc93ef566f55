"""Groups of attempts at one task, and filling a batch with groups that teach something.

GRPO compares the attempts of a group with one another: where all earn the same there is nothing to learn, and the group
only dilutes the rest. With `dynamic`, such groups are replaced by new ones, exactly as many as are missing, in at most
`rounds` rounds; those that earned their place are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from whet.errors import WhetError
from whet.rollout.tokens import TokenSequence, token_sequences
from whet.types import Fault, Rollout, Score

CUT = ("context_overflow", "token_limit", "turn_limit")
"""Reasons of attempts that a setting ended, not the policy and not the environment."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a task by the policy in training: its rollout, its tokens, and what it earned.

    `version` says by which weights it was drawn; the reward is None where the attempt met a fault.
    """

    rollout: Rollout
    version: str
    reward: float | None

    @property
    def sequence(self) -> TokenSequence | None:
        """Its tokens; None where nothing was drawn.

        Where the model said something that its own template writes in another way afterwards (a stray special token,
        say), no single sequence is all that it saw: the one with most drawn tokens is taken, and the rest not learnt.
        """
        sequences = token_sequences(self.rollout.turns)
        if len(sequences) == 1:
            return sequences[0]
        return max(sequences, key=lambda sequence: sum(sequence.mask), default=None)

    @property
    def torn(self) -> bool:
        """Whether it is more than one sequence."""
        return len(token_sequences(self.rollout.turns)) > 1

    @property
    def could_tear(self) -> bool:
        """Whether it has turns that a template could have rewritten."""
        return sum(turn.role == "target" for turn in self.rollout.turns) > 1

    @property
    def problem(self) -> str:
        """Why it cannot be trained on; '' where it can."""
        if isinstance(self.rollout.outcome, Fault):
            return f"fault: {self.rollout.outcome}"
        if self.sequence is None:
            return f"nothing was drawn ({self.rollout.outcome.reason or 'no reply was asked for'})"
        return ""


@dataclass(frozen=True, slots=True)
class Group:
    """The attempts at one task that are compared with one another."""

    task: int
    attempts: tuple[Attempt, ...]

    @property
    def problem(self) -> str:
        return next((attempt.problem for attempt in self.attempts if attempt.problem), "")

    @property
    def flat(self) -> bool:
        """Whether all rewards are equal: exactly, because a difference however small is one."""
        return len({attempt.reward for attempt in self.attempts}) == 1

    @property
    def solved(self) -> float:
        scores = [attempt.rollout.outcome for attempt in self.attempts]
        return sum(score.hard for score in scores if isinstance(score, Score)) / len(scores)


@dataclass(slots=True)
class GroupBatch:
    """Groups to train on; `silent` of them, at the end, fill their places and are not learnt from: groups of equal
    rewards, or, where there are too few of those, the first group once more."""

    groups: list[Group] = field(default_factory=list)
    silent: int = 0
    attempted: list[Group] = field(default_factory=list)
    """All groups that were played for it, those that were replaced among them."""
    rounds: int = 0

    @property
    def generated_per_trained(self) -> float:
        """Groups that were played for each that teaches something."""
        return len(self.attempted) / max(1, len(self.groups) - self.silent)

    @property
    def torn(self) -> float:
        """Share of the attempts of several turns that are no single sequence."""
        many = [attempt for group in self.attempted for attempt in group.attempts if attempt.could_tear]
        return sum(attempt.torn for attempt in many) / len(many) if many else 0.0

    @property
    def cut(self) -> Counter[str]:
        """How many attempts were cut off, by reason: what they would have come to nobody knows."""
        scores = (attempt.rollout.score for group in self.attempted for attempt in group.attempts)
        return Counter(score.reason for score in scores if score is not None and score.reason in CUT)

    @property
    def faulty(self) -> bool:
        """Whether groups were played for it that cannot be trained on."""
        return any(group.problem for group in self.attempted)

    @property
    def count(self) -> int:
        """How many attempts were made for it."""
        return sum(len(group.attempts) for group in self.attempted)

    @property
    def flat_by_task(self) -> dict[int, bool]:
        """Whether all attempts at a task earned the same, those of its further groups too. Groups that cannot be
        trained on say nothing of theirs."""
        earned: dict[int, set[float | None]] = {}
        for group in self.attempted:
            if not group.problem:
                earned.setdefault(group.task, set()).update(attempt.reward for attempt in group.attempts)
        return {task: len(rewards) == 1 for task, rewards in earned.items()}

    @property
    def signal(self) -> float:
        """Share of the trained groups whose rewards differ."""
        loud = self.groups[: len(self.groups) - self.silent]
        return sum(not group.flat for group in loud) / len(self.groups)


Play = Callable[[Sequence[int]], Sequence[Group]]
"""Plays one group for each task, in their order."""


def fill(
    wanted: int, supply: Iterator[int], play: Play, *, dynamic: bool, rounds: int, most: int | None = None
) -> GroupBatch:
    """A batch of `wanted` groups. Groups that cannot be trained on are replaced in any case, flat ones with `dynamic`.

    What is still missing after the last round, or when `most` groups were played, is made up of flat groups, and where
    faults left too few of those of the first group again; such places are silent.
    """
    batch = GroupBatch()
    flat: list[Group] = []
    problem = ""
    while len(batch.groups) < wanted and batch.rounds < rounds + (not dynamic):
        missing = wanted - len(batch.groups)
        if most is not None:
            missing = min(missing, most - len(batch.attempted))
        if missing <= 0:
            break
        played = list(play([next(supply) for _ in range(missing)]))
        batch.rounds += 1
        batch.attempted += played
        for group in played:
            if group.problem:
                problem = group.problem
            elif dynamic and group.flat:
                flat.append(group)
            else:
                batch.groups.append(group)
    if not batch.groups and not flat:
        spent = most is not None and len(batch.attempted) >= most
        remedy = " (train.max_rollouts leaves no more; raise it to go on)" if spent else ""
        raise WhetError(
            f"0 of {wanted} groups can be trained on after {batch.rounds} rounds{remedy}; "
            f"the last that could not: {problem}"
        )
    batch.silent = wanted - len(batch.groups)
    first = [*batch.groups, *flat][:1]
    batch.groups += (flat + first * batch.silent)[: batch.silent]
    if batch.torn == 1.0:
        raise WhetError(
            "every play of several turns is torn: the chat template rewrites earlier turns (drops their thinking, "
            "say), so no single sequence is what the model saw; use a template that leaves the past as it is"
        )
    return batch
