"""What GRPO maximises, as a weighted sum of what a score is made of, and the check that it pays for the right thing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from whet.envs.base import Environment, Messages
from whet.errors import FaultError, WhetError, nearest
from whet.learn.weights.config import RewardSection
from whet.rollout.drive import drive
from whet.rollout.workbench import Workbench
from whet.rollout.works import Works
from whet.types import Reply, Score, Task

PRESETS: Mapping[str, Mapping[str, float]] = {
    "reward": {"reward": 1.0},
    "hard": {"hard": 1.0},
    "soft": {"soft": 1.0},
    "verdict": {"label": 1.0, "format": 0.2},
    "composite": {"reward_composite": 0.01},
}
"""`verdict` is a group verdict's label and form; `composite` is ordebug's half outcome, 0.3 diagnosis, 0.2 efficiency,
scaled to about one. `reward` is whatever the environment itself would have maximised."""

NONSENSE = ("", "%%% no such thing %%%")
"""Replies that no task asks for."""

SAMPLES = 4


def reward_of(section: RewardSection) -> Callable[[Score], float]:
    """The reward of a score. A part that the environment does not tell is refused by name."""
    weights = dict(section.weights or PRESETS[section.preset])

    def reward(score: Score) -> float:
        known = {"hard": float(score.hard), "soft": score.soft, "reward": score.reward, **score.parts}
        absent = sorted(set(weights) - set(known))
        if absent and score.parts:  # a limit's score has no parts, and earns nothing for them
            raise WhetError(
                f"reward: this environment's scores have no part {absent[0]!r}.{nearest(absent[0], known)} "
                f"They have: {', '.join(sorted(known))}."
            )
        return sum(weight * known.get(name, 0.0) for name, weight in weights.items())

    return reward


@dataclass(frozen=True, slots=True)
class RewardCheck:
    """Mean rewards of sample transcripts; None where none could be made. `notes` are for a person."""

    correct: float | None
    wrong: float | None
    malformed: float | None
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        shown = ((name, getattr(self, name)) for name in ("correct", "wrong", "malformed"))
        told = ", ".join(f"{name} {'?' if value is None else f'{value:.3g}'}" for name, value in shown)
        return "\n".join((f"rewards of sample transcripts: {told}", *(f"warning: {note}" for note in self.notes)))


def check_rewards(
    env: Environment, tasks: Sequence[int], reward: Callable[[Score], float], works: Works | None = None
) -> RewardCheck:
    """Play a few train tasks rightly, wrongly and senselessly; rewards by which wrong beats right are refused.

    Right is the environment's oracle, wrong the oracle's answer to another task, senseless a reply of no form at all.
    """
    oracle = env.baselines().get("oracle")
    chosen = [env.task("train", index) for index in tasks[: SAMPLES + 1]]
    with Workbench(works) as bench:

        def earned(task: Task, respond: Callable[[Messages], Reply | str]) -> Score | None:
            try:
                return drive(env.play(task), lambda said, _: respond(said), bench).score
            except FaultError:
                return None

        right = wrong = []
        if oracle is not None:
            right = [earned(task, lambda said, own=task: oracle(own, said)) for task in chosen[:SAMPLES]]  # type: ignore[misc]
            others = [*chosen[1:], chosen[0]]
            wrong = [
                earned(task, lambda said, other=other: oracle(other, said))  # type: ignore[misc]
                for task, other in zip(chosen[:SAMPLES], others, strict=False)
            ]
        senseless = [earned(task, lambda said, text=text: text) for task in chosen[:SAMPLES] for text in NONSENSE]  # type: ignore[misc]
    return judged(
        _mean(right, reward, 1), _mean(wrong, reward, 0), _mean(senseless, reward, 0), has_oracle=oracle is not None
    )


def judged(correct: float | None, wrong: float | None, malformed: float | None, *, has_oracle: bool) -> RewardCheck:
    notes = []
    if correct is not None and (wrong is not None or malformed is not None):
        worst = max(value for value in (wrong, malformed) if value is not None)
        if correct <= worst:
            raise WhetError(
                f"reward: a right transcript earns {correct:.3g}, a wrong one {worst:.3g}: training would unlearn the "
                "task; mend [reward], or set reward.check=false to train all the same"
            )
    if wrong is not None and malformed is not None and malformed > wrong:
        raise WhetError(
            f"reward: a senseless reply earns {malformed:.3g}, a wrong answer {wrong:.3g}: training would teach to "
            "break the form; mend [reward], or set reward.check=false to train all the same"
        )
    if wrong is not None and wrong == malformed:
        notes.append("a senseless reply earns as much as a wrong answer: the form is learnt from success alone")
    if not has_oracle:
        notes.append("the environment has no oracle, so it was not checked that a right answer earns most")
    known = {value for value in (correct, wrong, malformed) if value is not None}
    if len(known) == 1 and correct is not None:
        notes.append("all sample transcripts earn the same: rewards cannot vary, and nothing can be learnt")
    return RewardCheck(correct, wrong, malformed, tuple(notes))


def _mean(scores: Sequence[Score | None], reward: Callable[[Score], float], hard: int) -> float | None:
    """The mean reward of those that came out as meant: a wrong answer may be right by chance."""
    values = [reward(score) for score in scores if score is not None and score.hard == hard]
    return sum(values) / len(values) if values else None
