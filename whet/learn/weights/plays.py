"""The environment's plays by the weights in training: a group of attempts for each task, side by side."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace

from whet.envs.base import Environment
from whet.errors import WhetError
from whet.keys import digest, policy_digest, rollout_key
from whet.learn.weights.groups import Attempt, Group
from whet.models.base import Model, Request
from whet.rollout.continuous import Generator, play_side_by_side
from whet.rollout.conversation import AttemptLimits, Conversation
from whet.rollout.player import Player, Seat
from whet.rollout.workbench import Workbench
from whet.types import Fault, Policy, Reply, Role, Rollout, Score, Ticket

Reward = Callable[[Score], float]

SELDOM = (100_000, 50, 1_000)
"""After how many new objects the garbage collector comes, while plays run."""


@dataclass(frozen=True, slots=True)
class BesidePlayer:
    """Who answers what plays ask besides the target: a seat, and how a request reaches it while others go on."""

    role: Role
    seat: Seat
    ask: Callable[[Request], Future[Reply]]


class LiveVersion(Model):
    """Stands for the weights at one version in the seat of a play; the driver asks them directly."""

    def __init__(self, fingerprint: str) -> None:
        self.name = "weights in training"
        self.fingerprint = fingerprint

    async def complete(self, request: Request) -> Reply:
        raise NotImplementedError("weights in training are asked by the driver")


@dataclass(frozen=True, slots=True)
class PlayStage:
    """Where the plays of a training take place."""

    env: Environment
    policy: Policy
    """Sampling and playbook; its model is replaced by the version that plays."""
    limits: AttemptLimits
    reward: Reward
    bench: Workbench
    beside: BesidePlayer | None = None

    def policy_at(self, version: str) -> Policy:
        """The policy that plays at one version of the weights."""
        return replace(self.policy, model=digest("in training", self.policy.model, version))


@contextmanager
def at_rest() -> Iterator[None]:
    """Within this, the garbage collector comes seldom, and leaves alone what was there before.

    Libraries and weights are millions of objects, and it would walk through all of them now and then, while hundreds of
    plays wait. What plays leave behind is small, and let go of without it.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


@at_rest()
def play_groups(
    stage: PlayStage, tasks: Sequence[int], draws: int, purpose: str, first: int, version: str, generator: Generator
) -> list[Group]:
    """`draws` attempts at each task, all side by side. `first` is how many groups this purpose has had before.

    Every reply must come from the weights of `version`: one drawn by others would be learnt from as if it were theirs.
    """
    policy = stage.policy_at(version)
    seat = Seat(policy, Player(LiveVersion(policy.model)))
    own, env = policy_digest(policy), stage.env
    seats: dict[Role, Seat] = {"target": seat}
    if stage.beside is not None:
        seats[stage.beside.role] = stage.beside.seat
    planned = [
        (Ticket(f"{purpose}/{first + at}", "train", index, draw), task)
        for at, (index, task) in enumerate((index, env.task("train", index)) for index in tasks)
        for draw in range(draws)
    ]
    keys = [rollout_key(ticket, env.fingerprint, own) for ticket, _ in planned]
    talks = [
        Conversation(task, env.play(task), seats, key, limits=stage.limits, blob=env.blob)
        for key, (_, task) in zip(keys, planned, strict=True)
    ]
    requests = [talk.request_hash() for talk in talks]
    aside = None if stage.beside is None else stage.beside.ask
    outcomes = play_side_by_side(talks, generator, stage.bench, aside=aside)
    attempts = []
    for talk, key, asked, (ticket, task), outcome in zip(talks, keys, requests, planned, outcomes, strict=True):
        versions = {turn.reply.version for turn in talk.turns if turn.role == "target"}
        if versions - {version}:
            raise WhetError(f"an attempt for version {version} was answered by {', '.join(sorted(versions))}")
        rollout = Rollout(ticket, task.label, key, asked, own, tuple(talk.turns), outcome, talk.usage)
        earned = None if isinstance(outcome, Fault) else stage.reward(outcome)
        attempts.append(Attempt(rollout, version, earned))
    return [Group(task, tuple(attempts[at * draws : (at + 1) * draws])) for at, task in enumerate(tasks)]
