"""SFT and GRPO as the entry point `whet.learners` finds them. What needs torch is imported when a segment begins."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from whet.envs.base import Environment
from whet.errors import WhetError
from whet.extras import install
from whet.learn.learner import Assignment, Learner
from whet.learn.weights.config import GrpoConfig, SftConfig
from whet.learn.weights.course import WeightsCourse
from whet.learn.weights.vllm_server import require_vllm
from whet.models.hf.chat_form import ChatForm
from whet.models.hf.folder import Folder
from whet.rollout.session import works_of
from whet.types import Policy

SOLVED = (1.0,) * 99
"""Segments in which all was solved: by then a schedule has come to its end."""


class SftLearner(Learner):
    """Supervised training on conversations: an oracle's, a run's or a file's."""

    name = "sft"
    about = "weights, by imitation: of the environment's oracle, of a run's solved rollouts, or of a file"
    config = SftConfig

    def steps(self, config: SftConfig, tasks: int) -> int:
        return config.tune.segments

    def describe(self, config: SftConfig, tasks: int) -> str:
        return f"{_plan(config)}, {config.sft.batch} conversations each, from {config.sft.source}"

    def begin(self, assignment: Assignment) -> WeightsCourse:
        _refuse_launcher()
        return WeightsCourse.begin(assignment, _imitate)

    def rehearse(
        self, config: SftConfig, env: Environment, tasks: Sequence[int], initial: Policy, out: Path
    ) -> Iterable[str]:
        _require()
        from whet.learn.weights.rehearsal import rehearse

        return rehearse(config, env, tasks, initial, out, draws=1, sft=config.sft)


class GrpoLearner(Learner):
    """Reinforcement on the environment's own plays."""

    name = "grpo"
    about = "weights, by reinforcement on the environment's own plays (GRPO, with DAPO's changes as presets)"
    config = GrpoConfig

    def steps(self, config: GrpoConfig, tasks: int) -> int:
        return config.tune.segments

    def rollouts(self, config: GrpoConfig, tasks: int) -> int:
        """Without those that replace groups of equal rewards."""
        return config.grpo.rows_a_step * config.tune.steps // config.grpo.iterations

    def describe(self, config: GrpoConfig, tasks: int) -> str:
        grpo = config.grpo
        return f"{_plan(config)}, {grpo.groups} groups of {grpo.generations} each, preset {grpo.preset}"

    def begin(self, assignment: Assignment) -> WeightsCourse:
        _refuse_launcher()
        config: GrpoConfig = assignment.config
        grpo = config.grpo
        env = assignment.shop.env
        if (
            grpo.silent
            and hasattr(env, "next_environment")
            and env.next_environment(SOLVED).fingerprint != env.fingerprint
        ):
            raise WhetError(f"{env.name} has a schedule of its own: its tasks change, so leave grpo.silent out")
        batch, stride = grpo.rows_a_step * grpo.updates, grpo.updates * grpo.iterations
        course = WeightsCourse.begin(assignment, _reinforce, batch, stride)
        if config.reward.check:
            from whet.learn.weights.rewards import check_rewards, reward_of

            place = assignment.shop.env, assignment.tasks, reward_of(config.reward)
            course.notes.append(str(check_rewards(*place, works_of(config))))
        return course

    def rehearse(
        self, config: GrpoConfig, env: Environment, tasks: Sequence[int], initial: Policy, out: Path
    ) -> Iterable[str]:
        _require()
        from whet.learn.weights.rehearsal import rehearse
        from whet.learn.weights.rewards import check_rewards, reward_of

        earned = reward_of(config.reward)
        checked = str(check_rewards(env, tasks, earned, works_of(config))) if config.reward.check else ""
        sampling = replace(initial.sampling, temperature=config.grpo.temperature, top_p=1.0)
        yield from checked.splitlines()
        drawing = replace(initial, sampling=sampling)
        yield from rehearse(config, env, tasks, drawing, out, config.grpo.generations, config.reward)
        if config.generator.kind != "local":
            yield "vLLM is not asked in a dry run: the base in memory played"


def _plan(config: SftConfig | GrpoConfig) -> str:
    tune = config.tune
    what = f"LoRA of rank {tune.rank}" if tune.method == "lora" else "all weights"
    where = "all blocks" if tune.blocks == "all" else f"the last {tune.blocks} blocks"
    return f"{what} in {where}, {tune.steps} steps in {tune.segments} segments"


def _imitate(order: Any, course: WeightsCourse, folder: Folder, form: ChatForm) -> Any:
    _require()
    from whet.learn.weights.sft import sft_segment

    playbook = course.judge.initial.playbook
    return sft_segment(order, course.config, course.shop.env, course.tasks, playbook, folder, form)


def _reinforce(order: Any, course: WeightsCourse, folder: Folder, form: ChatForm) -> Any:
    _require()
    if course.config.generator.kind == "vllm":
        require_vllm()
    from whet.learn.weights.grpo import grpo_segment

    limits, policy = course.shop.session.limits, course.judge.initial
    place = staged(course), course.tasks, policy, limits, folder, form
    return grpo_segment(order, course.config, *place, course.beside)


def staged(course: WeightsCourse) -> Environment:
    """The environment as far as a schedule of its own has come, by what each segment solved at its end."""
    env = course.shop.env
    if not hasattr(env, "next_environment"):
        return env
    told = ([row["solved"] for row in record.log if "solved" in row] for record in course.segments)
    rates = [solved[-1] for solved in told if solved]  # of several steps from one batch only the first tells it
    after: Environment = env.next_environment(rates)
    return after


def _require() -> None:
    """A missing package is one line, before anything is loaded."""
    from importlib.util import find_spec

    absent = [name for name in ("torch", "transformers", "trl", "peft", "datasets") if find_spec(name) is None]
    if absent:
        raise WhetError(f"training weights needs {' and '.join(absent)}; run: {install('train')}")


def _refuse_launcher() -> None:
    """One of several processes would wait for the others, which are refused the run, for as long as its patience is."""
    count = os.environ.get("WORLD_SIZE", "")
    if count.isdigit() and int(count) > 1:
        raise WhetError(
            f"a launcher says that this is one of {count} processes (WORLD_SIZE); weights are trained in one: "
            "start whet train without accelerate launch or torchrun"
        )


SFT, GRPO = SftLearner(), GrpoLearner()
