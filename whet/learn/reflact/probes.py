"""Between update and evaluate: playbooks made of pending edits are tried on a few train tasks, and what all attempts so
far make promising goes to the gate together.

A bundle of one step is small and half of it is useless, so the gate rarely shows a gain and each decision costs
rollouts that teach little. A probe costs a few train rollouts and teaches something of every edit in it. Which edits a
probe holds is drawn from the posterior of their effects (Thompson's rule): what may help is tried, what was seen to
harm is not. Edits of rejected bundles stay pending, and an edit of the playbook that seems to harm is left out again.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from whet.keys import seed_for
from whet.learn.reflact.edits import apply_item, apply_items
from whet.learn.reflact.effects import EditBook, EditEffects, adds, item_key
from whet.learn.reflact.records import Edit, Item, Revision
from whet.learn.reflact.rollout import held_out
from whet.learn.reflact.step import Step
from whet.types import Policy, Rollout

PROMISING = 0.9
"""How probably a bundle must gain to be brought to the gate; in the last step of a run, more probably than not."""

DOUBT = 0.2
"""How probably an edit helps, or does not help, while it is in doubt."""

AT_ONCE = 6
"""Pending edits in one probe at most."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A playbook that was tried on train tasks: `changes` make it of the playbook of its step."""

    policy: Policy
    changes: tuple[Item, ...]
    rollouts: tuple[Rollout, ...]


@dataclass(frozen=True, slots=True)
class WeighedBundle:
    """What came of the probes of a step. `promise` is how probably the bundle gains."""

    probes: tuple[Probe, ...]
    effects: EditEffects
    revision: Revision
    promise: float

    @property
    def promising(self) -> bool:
        return bool(self.revision.items)


async def weigh(step: Step, book: EditBook, made: list[Probe]) -> WeighedBundle:
    """Probes of a step, put into `made` one by one, then the bundle that all attempts so far speak for."""
    section = step.config.update
    for number in range(section.probes):
        seed = seed_for("reflact", "probe", step.config.train.seed, step.where, number)
        rng = random.Random(seed)
        policy, changes = _revised(step, *_drawn(step, book, step.effects, rng))
        tasks = _spread(step, rng)
        if not changes or not tasks:
            continue
        rolled = await step.shop.roll(f"train/{step.where}/probe{number}", policy, tasks)
        made.append(Probe(policy, changes, rolled))
        book.enter_changes(step.policy, policy, changes)
        book.enter_rollouts(policy, rolled)
    effects = book.effects()
    return _bundled(step, book, effects, tuple(made))


def _pending(step: Step, book: EditBook) -> list[str]:
    """Edits that the playbook lacks and can take up."""
    held = book.of(step.policy)
    return [key for key, item in book.items.items() if key not in held and apply_item(step.playbook, item)[1].applied]


def in_doubt(step: Step, book: EditBook) -> list[str]:
    """Pending edits of which it is not known whether they help: while there are many, more proposals teach nothing."""
    return [key for key in _pending(step, book) if DOUBT < step.effects.helps(key) < 1.0 - DOUBT]


def _removable(step: Step, book: EditBook) -> dict[str, Edit]:
    """Edits that the playbook holds and can do without."""
    held = book.of(step.policy)
    return {key: item for key, item in book.items.items() if key in held and isinstance(item, Edit) and adds(item)}


def _drawn(step: Step, book: EditBook, effects: EditEffects, rng: random.Random) -> tuple[list[Item], list[Edit]]:
    """Edits to put in and to leave out, each by a draw from what its effect may be."""

    def draw(key: str) -> float:
        mean, spread = effects.of(key)
        return round(mean + spread * rng.gauss(0.0, 1.0), 6)

    added = {key: draw(key) for key in _pending(step, book)}
    held = _removable(step, book)
    removed = {key: draw(key) for key in held}
    best = sorted((key for key in added if added[key] > 0.0), key=lambda key: (-added[key], key))
    put_in = [book.items[key] for key in best[:AT_ONCE]]
    return put_in, [item for key, item in held.items() if removed[key] < 0.0]


def _revised(step: Step, put_in: Iterable[Item], leave_out: Iterable[Edit]) -> tuple[Policy, tuple[Item, ...]]:
    """The policy of the step with these edits in it and those out of it, and what of that could be done."""
    revision = _revision(step, put_in, leave_out)
    return step.with_playbook(revision.playbook), revision.items


def _revision(step: Step, put_in: Iterable[Item], leave_out: Iterable[Edit]) -> Revision:
    gone = (Edit("delete", target=item.content.strip(), where=item.where) for item in leave_out)
    playbook, rows = apply_items(step.playbook, (*gone, *put_in), step.config.update.max_bytes)
    return Revision(playbook, rows)


def _spread(step: Step, rng: random.Random) -> list[int]:
    """Train tasks for a probe: kinds in turn, by chance within a kind."""
    env, tasks = step.shop.env, held_out(step.shop.env, step.tasks, step.playbook)
    queues: dict[str, list[int]] = {}
    for task in rng.sample(tasks, len(tasks)):
        queues.setdefault(env.label("train", task).kind, []).append(task)
    turns = [
        queue[at] for at in range(max(map(len, queues.values()), default=0)) for queue in queues.values() if queue[at:]
    ]
    return turns[: step.config.update.probe_tasks]


def _bundled(step: Step, book: EditBook, effects: EditEffects, probes: tuple[Probe, ...]) -> WeighedBundle:
    """Every tried edit that seems to help, without every one that seems to harm; none where that is too unsure."""
    good = [key for key in _pending(step, book) if effects.of(key)[0] > 0.0]
    bad = {key: item for key, item in _removable(step, book).items() if effects.of(key)[0] < 0.0}
    promise = effects.promise(good, bad)
    least = PROMISING if step.number < step.total else 0.5
    good.sort(key=lambda key: (-effects.of(key)[0], key))
    if promise <= least:
        return WeighedBundle(probes, effects, Revision(step.playbook), promise)
    revision = _revision(step, [book.items[key] for key in good], bad.values())
    if step.with_playbook(revision.playbook) in step.judged:
        revision = Revision(step.playbook)  # the gate has seen this very playbook beside this one
    return WeighedBundle(probes, effects, revision, promise)


def summary_of(bundle: WeighedBundle, items: Sequence[Item]) -> dict[str, object]:
    """What is on file of the probes of a step."""
    effects = sorted(bundle.effects.known.values(), key=lambda effect: (-effect.mean, item_key(effect.item)))
    return {
        "promise": round(bundle.promise, 4),
        "proposed": [item.as_data() for item in items],
        "probes": [
            {
                "changes": [str(item) for item in probe.changes],
                "tasks": [rollout.ticket.index for rollout in probe.rollouts],
                "solved": sum(rollout.score is not None and rollout.score.hard for rollout in probe.rollouts),
            }
            for probe in bundle.probes
        ],
        "effects": [
            {
                "edit": str(effect.item),
                "mean": effect.mean,
                "spread": effect.spread,
                "helps": round(effect.helps, 4),
                "attempts": effect.attempts,
            }
            for effect in effects
        ],
    }
