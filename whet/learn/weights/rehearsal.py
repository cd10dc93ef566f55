"""A dry run of a weight learner: the base plays a few train tasks, and every reward is written down part by part.

Whether rewards vary, what a reply looks like and what would train is seen here in a minute, before hours are spent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson

from whet.envs.base import Environment
from whet.errors import WhetError
from whet.files import atomic_file
from whet.learn.weights.base import open_base
from whet.learn.weights.config import RewardSection, SftSection
from whet.learn.weights.groups import Group
from whet.learn.weights.live import LiveGenerator
from whet.learn.weights.plays import PlayStage, play_groups
from whet.learn.weights.rewards import PRESETS, reward_of
from whet.learn.weights.traces import TokenScribe, gather_traces
from whet.learn.weights.trainable import set_trainable
from whet.models.hf.address import read_address
from whet.models.hf.chat_form import ChatForm
from whet.models.hf.model import SCHEME
from whet.rollout.chat import chat_message
from whet.rollout.conversation import AttemptLimits
from whet.rollout.session import works_of
from whet.rollout.workbench import Workbench
from whet.types import Policy, Score

FILE = "completions.jsonl"
TASKS = 4
VERSION = "dry/0"


def rehearse(
    config: Any,
    env: Environment,
    tasks: Sequence[int],
    policy: Policy,
    out: Path,
    draws: int,
    reward: RewardSection = RewardSection(),
    sft: SftSection | None = None,
) -> Iterator[str]:
    """Say what would train and be imitated, then have the base as it is play `draws` attempts at a few tasks.

    What is slow comes last, and is announced: what is wrong with a file is said before.
    """
    folder = read_address(config.target.model.removeprefix(SCHEME))
    base = open_base(folder, config.tune.device, full=config.tune.method == "full")
    form = ChatForm(config.target.model, folder.digest[:12], folder.sees)
    chosen = list(tasks[:TASKS])
    if sft is not None:
        place = TokenScribe(base, form), policy.playbook, folder.context
        found = gather_traces(sft, env, chosen, *place, works_of(config))
        few = f" (of {len(chosen)} tasks)" if sft.source == "oracle" else ""
        yield f"to imitate, from {sft.source}{few}: {found}"
    yield f"the base plays {len(chosen)} train tasks, {len(chosen) * draws} attempts; without a GPU that takes a while"
    temperature = policy.sampling.temperature if policy.sampling.temperature is not None else 1.0
    notes: list[str] = []
    limits = AttemptLimits(config.limits.turns, config.limits.tokens)
    speaking = LiveGenerator(base, form, temperature, TASKS * draws, notes.append)
    with Workbench(works_of(config)) as bench, closing(speaking) as live:
        stage = PlayStage(env, policy, limits, reward_of(reward), bench)
        with live.at(VERSION) as generator:
            groups = play_groups(stage, chosen, draws, "dry", 0, VERSION, generator)
    _, trains = set_trainable(base.module, config.tune, folder.adapter)
    written = _write(groups, reward, out / FILE)
    varied = sum(not group.flat for group in groups)
    told = f"{out / FILE}: {written} attempts at {len(groups)} tasks"
    told += f", rewards differ in {varied} of {len(groups)} groups" if draws > 1 else ""
    yield from (*str(trains).splitlines(), *notes, told)


def _write(groups: Sequence[Group], reward: RewardSection, file: Path) -> int:
    rows = list(_rows(groups, reward))
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(file) as out:
            for row in rows:
                out.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE, default=str))
    except OSError as problem:
        raise WhetError(f"{file}: cannot be written ({problem.strerror})") from None
    return len(rows)


def _rows(groups: Sequence[Group], reward: RewardSection) -> Iterator[dict[str, Any]]:
    weights = dict(reward.weights or PRESETS[reward.preset])
    for group in groups:
        for attempt in group.attempts:
            rollout = attempt.rollout
            score = rollout.outcome if isinstance(rollout.outcome, Score) else None
            said = [turn for turn in rollout.turns if turn.role == "target"]
            known = {} if score is None else {"hard": score.hard, "soft": score.soft, "reward": score.reward}
            yield {
                "task": f"train/{group.task}",
                "task_type": rollout.label.kind,
                "difficulty": rollout.label.difficulty,
                "draw": rollout.ticket.draw,
                "messages": [chat_message(message) for turn in said for message in turn.messages],
                "completions": [turn.reply.text for turn in said],
                "finish": [turn.reply.finish for turn in said],
                "reward": attempt.reward,
                "weights": weights,
                "parts": {**known, **(score.parts if score else {})},
                "reason": score.reason if score else str(rollout.outcome),
            }
