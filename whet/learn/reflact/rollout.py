"""Stage 1, rollout: what the current playbook does on the next train tasks."""

from __future__ import annotations

import random
from collections.abc import Sequence

from whet.envs.base import Environment
from whet.keys import question_digest, seed_for
from whet.learn.reflact.records import Batch, Evidence
from whet.learn.reflact.step import Step
from whet.rollout.placement import question_of
from whet.types import Playbook


def plan_epoch(tasks: Sequence[int], epoch: int, seed: int, per_step: int) -> list[tuple[int, ...]]:
    """One pass over the train tasks in an order of the epoch's own, cut into steps; the last may be short."""
    order = list(tasks)
    random.Random(seed_for("reflact", "epoch", seed, epoch)).shuffle(order)
    return [tuple(order[at : at + per_step]) for at in range(0, len(order), per_step)]


def held_out(env: Environment, tasks: Sequence[int], *playbooks: Playbook) -> list[int]:
    """The train tasks that are no worked example of any of `playbooks`: their answers would stand in the prompt.

    Nor do tasks of an example's group. A bank needs no such care: placing leaves out what a task must not see.
    """
    examples = [example for playbook in playbooks for example in playbook.examples]
    if not examples:
        return list(tasks)
    shown, kin = {example.question for example in examples}, {name for example in examples for name in example.kin}

    def apart(task: int) -> bool:
        messages = env.task("train", task).messages
        return not {message.text for message in messages} & shown and question_digest(question_of(messages)) not in kin

    return [task for task in tasks if apart(task)]


async def roll_out(step: Step, tasks: Sequence[int]) -> Evidence:
    """Attempts at the tasks of a step, batch by batch, all with the playbook that the step starts from.

    A task that this very policy has attempted before is not attempted again: what it did there is known.
    """
    size, draws = step.config.train.batch_size, step.config.reflect.draws
    tasks = held_out(step.shop.env, tasks, step.playbook)
    batches = []
    for index, at in enumerate(range(0, len(tasks), size), 1):
        part = tasks[at : at + size]
        again = {task: known[:draws] for task in part if len(known := step.known.get(task, ())) >= draws}
        fresh = [task for task in part if task not in again]
        purpose = f"train/{step.where}/b{index}"
        coach = step.config.train.eval_feedback
        rolled = await step.shop.roll(purpose, step.policy, fresh, draws=draws, coach=coach) if fresh else ()
        rollouts = (*rolled, *(rollout for attempts in again.values() for rollout in attempts))
        seed = seed_for("reflact", "batch", step.config.train.seed, step.where, index)
        batches.append(Batch(index, seed, rollouts, len(part) * draws))
    return Evidence(tuple(batches))
