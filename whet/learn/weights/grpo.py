"""GRPO on the environment's own plays: TRL's trainer with our rollouts.

What is added to TRL, through its `rollout_func`: plays of many turns, each of which goes on as soon as it can;
tokens that others said are masked exactly; groups that teach nothing are replaced (`groups`); every attempt carries the
version of the weights that drew it, and the loss refuses one that is older than the config allows. Advantages, clip, KL
and the kinds of loss are TRL's own; `reference_loss` says on a page what they must come to.

One process: TRL calls a rollout function in each process with that process's part of a batch, and a group must not be
torn apart. Several GPUs are for one run each, or for a vLLM server that generates beside it (`vllm_live`).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from datasets import Dataset
from transformers import set_seed
from trl import GRPOConfig as TrlGrpoConfig

from whet.envs.base import Environment
from whet.errors import WhetError
from whet.learn.weights.base import Base, open_base
from whet.learn.weights.config import GeneratorSection, GrpoConfig, GrpoSection
from whet.learn.weights.flush import read_causally
from whet.learn.weights.groups import Group, GroupBatch, fill
from whet.learn.weights.light import lighten
from whet.learn.weights.live import LiveGenerator
from whet.learn.weights.mix import SftMix
from whet.learn.weights.play_trainer import PlayTrainer
from whet.learn.weights.plays import BesidePlayer, PlayStage, play_groups
from whet.learn.weights.rewards import reward_of
from whet.learn.weights.segment import (
    SegmentClock,
    SegmentOrder,
    SegmentParts,
    SegmentPlays,
    SegmentResult,
    common_arguments,
    resumed_state,
    work_off,
)
from whet.learn.weights.sft import rows_of
from whet.learn.weights.supply import TaskSupply, stages_of
from whet.learn.weights.traces import TokenScribe, gather_traces
from whet.learn.weights.trainable import set_trainable
from whet.learn.weights.vllm_live import VllmGenerator
from whet.learn.weights.vllm_server import ask_server, check_vocabulary
from whet.models.hf.chat_form import ChatForm
from whet.models.hf.folder import Folder
from whet.models.hf.limits import cache_bytes
from whet.rollout.conversation import AttemptLimits
from whet.rollout.session import works_of
from whet.rollout.workbench import Workbench
from whet.types import Policy, Rollout, Score, Usage

MOST_HELPERS = 12


def version_name(segment: int, step: int) -> str:
    return f"s{segment:04d}/{step}"


@dataclass(slots=True)
class GroupRollouts:
    """TRL's rollout function: from a step of training to rows of tokens with their rewards."""

    stage: PlayStage
    supply: TaskSupply
    grpo: GrpoSection
    segment: int
    live: LiveGenerator
    most: int | None = None
    """Rollouts that may be taken; groups are not replaced beyond it."""
    batches: list[tuple[int, GroupBatch]] = field(default_factory=list)
    figures: dict[int, dict[str, Any]] = field(default_factory=dict)
    """What is told of each batch: gathered when it was played, as it is asked for at every step."""
    rollouts: list[Rollout] = field(default_factory=list)
    policies: list[Policy] = field(default_factory=list)
    used: Usage = Usage()
    silent: int = 0
    """Batches in a row, up to the last one, of which nothing could be learnt; earlier segments' among them."""

    def __call__(self, prompts: Sequence[Any], trainer: Any) -> dict[str, Any]:
        """`prompts` only say how many attempts are wanted; which tasks these are is the supply's to say."""
        step = int(trainer.state.global_step)
        draws = self.grpo.generations
        wanted, torn = divmod(len(prompts), draws)
        if torn or trainer.accelerator.num_processes > 1:
            raise WhetError("GRPO's plays run in one process: a group of attempts must not be divided among several")
        version = version_name(self.segment, step)
        played = 0

        def play(tasks: Sequence[int]) -> list[Group]:
            nonlocal played
            groups = play_groups(self.stage, tasks, draws, f"train/{version}", played, version, generator)
            played += len(tasks)
            return groups

        dynamic = bool(self.grpo.dynamic)
        groups = None if self.most is None else (self.most - len(self.rollouts)) // draws
        with self.live.at(version) as generator:
            batch = fill(wanted, self.supply.draw(step), play, dynamic=dynamic, rounds=self.grpo.refill, most=groups)
        self.supply.went(sum(group.solved for group in batch.attempted) / len(batch.attempted), batch.flat_by_task)
        self.take(step + 1, batch)
        return token_rows(batch, told=bool(trainer.args.use_vllm))

    def take(self, step: int, batch: GroupBatch) -> None:
        """A batch is played, from which `step` is the first to learn: count it, once."""
        made = [attempt.rollout for group in batch.attempted for attempt in group.attempts]
        # A judge is paid from the run's purse as it answers: what it used is counted there, once.
        own = (turn.reply.usage for rollout in made for turn in rollout.turns if turn.role == "target")
        self.used = sum(own, self.used)
        self.rollouts += made
        self.policies.append(self.stage.policy_at(version_name(self.segment, step - 1)))
        self.figures |= figures_of([(step, batch)])
        if batch.signal:
            self.silent = 0
        elif not batch.faulty:  # where a service gave out, equal rewards say nothing of the policy
            self.silent += 1
        self.batches.append((step, batch))

    def played(self) -> SegmentPlays:
        return SegmentPlays(len(self.rollouts), self.used, tuple(self.rollouts), tuple(self.policies))

    def over(self) -> str:
        """Weights that nothing moves draw as before: after so many batches it is held that none will teach anything."""
        if not self.grpo.silent or self.silent < self.grpo.silent:
            return ""
        solved = self.figures[max(self.figures)]["solved"]
        return (
            f"{self.silent} batches of attempts in a row taught nothing: at each task all attempts earned the same "
            f"({solved:.0%} solved). Either all is learnt, or one answer has won: a lower tune.lr, a higher "
            "grpo.temperature or another [reward] may keep another run from that"
        )

    def rows(self, log: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The rows of a log with what is told of each step's groups."""
        return [{**row, **self.figures.get(row["step"], {})} for row in log]


def token_rows(batch: GroupBatch, *, told: bool = False) -> dict[str, Any]:
    """The attempts of a batch as TRL takes them: up to the first drawn token it is prompt, then all else, masked.

    A silent group's mask is empty: it fills its place in the batch and is not learnt from. `told`: with the
    log-probabilities that tokens were drawn with, where it was not the trainer's own model that drew them.
    """
    rows: dict[str, Any] = {name: [] for name in ("prompt_ids", "completion_ids", "env_mask", "reward", "logprobs")}
    loud = len(batch.groups) - batch.silent
    for number, group in enumerate(batch.groups):
        for attempt in group.attempts:
            sequence = attempt.sequence
            assert sequence is not None, "a group that cannot be trained on is replaced"
            first = sequence.mask.index(1)
            mask = sequence.mask[first:] if number < loud else (0,) * (len(sequence.mask) - first)
            rows["prompt_ids"].append(list(sequence.ids[:first]))
            rows["completion_ids"].append(list(sequence.ids[first:]))
            rows["env_mask"].append(list(mask))
            rows["reward"].append(attempt.reward)
            if told:
                drawn = iter(sequence.logprobs or (None,) * sum(sequence.mask))
                rows["logprobs"].append([next(drawn) if mark else 0.0 for mark in sequence.mask[first:]])
    return {**rows, "logprobs": rows["logprobs"] if told else None}


def earned(reward: Sequence[float], **_: Any) -> list[float]:
    """TRL's reward function: what the plays earned is known already."""
    return list(reward)


def grpo_arguments(config: GrpoConfig, order: SegmentOrder, work: Path, device: str) -> TrlGrpoConfig:
    """The config in TRL's words."""
    grpo = config.grpo.settled()
    common = common_arguments(order, work, device, grpo.rows_a_step)
    return TrlGrpoConfig(
        **common,
        num_generations=grpo.generations,
        steps_per_generation=common["gradient_accumulation_steps"] * grpo.updates,
        num_iterations=grpo.iterations,
        temperature=grpo.temperature,
        max_completion_length=config.target.sampling.max_tokens,
        beta=grpo.beta,
        epsilon=grpo.epsilon,
        epsilon_high=grpo.epsilon_high,
        loss_type=grpo.loss,
        scale_rewards=grpo.scale,
        use_bias_correction_kl=False,
        entropy_coef=grpo.entropy,
        mask_truncated_completions=grpo.mask_truncated,
        shuffle_dataset=False,
        remove_unused_columns=False,
        **_vllm_arguments(config.generator),
    )


def _vllm_arguments(section: GeneratorSection) -> dict[str, Any]:
    """TRL holds vLLM, sends it the weights and weighs rows by how far its numbers are from the trainer's."""
    if section.kind == "local":
        return {}
    return {
        "use_vllm": True,
        "vllm_mode": section.mode,
        "vllm_server_base_url": section.url.rstrip("/"),
        "vllm_server_timeout": section.patience,
        "vllm_group_port": section.port,
        "vllm_gpu_memory_utilization": section.memory,
    }


def trainer_of(
    config: GrpoConfig,
    order: SegmentOrder,
    base: Base,
    module: Any,
    rollouts: Callable[..., dict[str, Any]],
    work: Path,
    clock: SegmentClock,
) -> PlayTrainer:
    grpo = config.grpo
    read_causally(module)
    if base.device.startswith("cuda"):
        lighten(module)
    trainer = PlayTrainer(
        model=module,
        reward_funcs=[earned],
        args=grpo_arguments(config, order, work, base.device),
        train_dataset=Dataset.from_dict({"prompt": [str(at) for at in range(grpo.groups * grpo.updates)]}),
        processing_class=base.tokenizer,
        rollout_func=rollouts,
        callbacks=[clock],
    )
    trainer.most_age = grpo.updates * grpo.iterations
    if base.device.startswith("cuda") and not config.tune.dropout and not config.tune.recompute:
        trainer.lines = None
    return trainer


def grpo_segment(
    order: SegmentOrder,
    config: GrpoConfig,
    env: Environment,
    tasks: Sequence[int],
    policy: Policy,
    limits: AttemptLimits,
    folder: Folder,
    form: ChatForm,
    beside: BesidePlayer | None = None,
) -> SegmentResult:
    """One segment of GRPO. `beside` answers whom plays ask besides the target: a judge."""
    grpo, section = config.grpo.settled(), config.generator
    facts = ask_server(section, str(folder.path)) if (section.kind, section.mode) == ("vllm", "server") else None
    base = open_base(folder, config.tune.device, full=config.tune.method == "full")
    if facts is not None:
        check_vocabulary(facts, base.tokenizer)
    mix = _mix_of(config, env, tasks, policy, base, form)
    set_seed(order.seed)
    module, trains = set_trainable(base.module, config.tune, folder.adapter)
    live = replace(base, module=module)
    before = resumed_state(order)
    supply = supply_of(config, env, tasks)
    if before:
        supply.restore(before["supply"])
    sampling = replace(policy.sampling, temperature=grpo.temperature, top_p=1.0, logprobs=None)
    notes: list[str] = []
    seat = live, form, grpo.temperature, grpo.rows, notes.append
    kept = cache_bytes(config.control.target.cache)
    speaking = (
        LiveGenerator(*seat, kept) if section.kind == "local" else VllmGenerator(*seat, section=section, facts=facts)
    )
    with Workbench(works_of(config, helpers_for(base.device))) as bench, closing(speaking) as generator:
        stage = PlayStage(env, replace(policy, sampling=sampling), limits, reward_of(config.reward), bench, beside)
        taken = int(order.snapshots.state().get("rollouts", 0))
        rollouts = GroupRollouts(
            stage, supply, grpo, order.number, generator, None if order.most is None else order.most - taken
        )
        rollouts.silent = int(before.get("silent", 0))

        def build(work: Path, clock: SegmentClock) -> PlayTrainer:
            trainer: PlayTrainer = speaking.joined(
                lambda: trainer_of(config, order, live, module, rollouts, work, clock)
            )
            trainer.mix = mix
            return trainer

        def state() -> dict[str, Any]:
            return {"supply": supply.state(), "silent": rollouts.silent}

        parts = SegmentParts(build, state, rollouts.rows, rollouts.played, rollouts.over)
        done = work_off(order, folder, parts)
    silent = [row["step"] for row in done.log if row.get("signal") == 0]
    warnings = cut_off([batch for _, batch in rollouts.batches], config, base.folder.context)
    warnings += [f"step {step}: no group's rewards differ, so nothing was learnt" for step in silent]
    return replace(done, trains=str(trains), told=(*done.told, *notes, *warnings))


MANY = 0.05
"""Share of a segment's attempts from which it is told that a limit cut them off."""


def helpers_for(device: str) -> int:
    """Processes for the works of plays. Beside a GPU the thread that drives it must not wait for the interpreter, which
    works in threads hold as often as it does; on a processor, training itself takes the cores."""
    return min(MOST_HELPERS, (os.cpu_count() or 1) - 1) if device.startswith("cuda") else 0


def supply_of(config: GrpoConfig, env: Environment, tasks: Sequence[int]) -> TaskSupply:
    labels = {index: env.label("train", index) for index in tasks}
    section = config.curriculum
    return TaskSupply(
        labels,
        section,
        seed=config.train.seed,
        steps=config.tune.steps,
        balance=config.grpo.balance,
        stages=stages_of(env) if section.kind == "env" else None,
    )


def _mix_of(
    config: GrpoConfig, env: Environment, tasks: Sequence[int], policy: Policy, base: Base, form: ChatForm
) -> SftMix | None:
    section = config.mix
    if not section.weight:
        return None
    place = TokenScribe(base, form), policy.playbook, base.folder.context
    gathered = gather_traces(section, env, tasks, *place, works_of(config))
    pad = base.tokenizer.pad_token_id
    return SftMix(rows_of(gathered.traces), section.weight, section.batch, pad, config.train.seed)


def cut_off(batches: Sequence[GroupBatch], config: GrpoConfig, context: int | None) -> list[str]:
    """Settings that ended many attempts: from those nothing is learnt that comes later than they got."""
    settings = {
        "context_overflow": ("control.target.context", context),
        "token_limit": ("limits.tokens", config.limits.tokens),
        "turn_limit": ("limits.turns", config.limits.turns),
    }
    counts: Counter[str] = sum((batch.cut for batch in batches), Counter())
    made = sum(batch.count for batch in batches)
    return [
        f"{counts[reason] / made:.0%} of the attempts were cut off by {name} = {value}"
        for reason, (name, value) in settings.items()
        if counts[reason] and counts[reason] >= MANY * made
    ]


def figures_of(batches: Sequence[tuple[int, GroupBatch]]) -> dict[int, dict[str, Any]]:
    """What is told of each batch of attempts, by the step that first learnt from it."""
    return {
        step: {
            "signal": round(batch.signal, 4),
            "generated_per_trained": round(batch.generated_per_trained, 4),
            "rounds": batch.rounds,
            "torn": round(batch.torn, 4),
            "cut": round(batch.cut.total() / batch.count, 4),
            "solved": round(sum(group.solved for group in batch.attempted) / len(batch.attempted), 4),
            "parts": _parts(batch),
        }
        for step, batch in batches
    }


def _parts(batch: GroupBatch) -> dict[str, float]:
    """The mean of every part of the scores."""
    scores = [attempt.rollout.outcome for group in batch.attempted for attempt in group.attempts]
    known = [score for score in scores if isinstance(score, Score)]
    names = sorted({name for score in known for name in score.parts})
    return {name: round(sum(score.parts.get(name, 0.0) for score in known) / len(known), 4) for name in names}
