"""One step as its stages see it: where in the run it is, what it starts from, and what the run remembers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from whet.learn.prompt_text import OptimizerPrompts, playbook_sections
from whet.learn.reflact.config import ReflactConfig
from whet.learn.reflact.effects import EditBook, EditEffects
from whet.learn.reflact.memory import StepMemory, reminder, weighed_reminder
from whet.learn.workshop import Workshop
from whet.types import Playbook, Policy, Rollout


@dataclass(frozen=True, slots=True)
class Step:
    """`number` counts from 1 over the whole run, `in_epoch` within the epoch."""

    shop: Workshop
    config: ReflactConfig
    epoch: int
    number: int
    in_epoch: int
    total: int
    policy: Policy
    memory: tuple[StepMemory, ...] = ()
    meta: str = ""
    book: EditBook | None = None
    """All attempts so far by the edits of their playbooks, where the config wants them weighed."""
    effects: EditEffects = EditEffects()
    """What the book says when the step begins."""
    tasks: tuple[int, ...] = ()
    """All train tasks of the run."""
    judged: tuple[Policy, ...] = ()
    """What the gate has compared with this very policy before."""
    solved: frozenset[int] = frozenset()
    """Train tasks that some policy of the run has solved."""
    known: Mapping[int, Sequence[Rollout]] = field(default_factory=dict)
    """Attempts at train tasks that this very policy has made before."""

    @property
    def playbook(self) -> Playbook:
        """What the step starts from."""
        return self.policy.playbook

    def with_playbook(self, playbook: Playbook) -> Policy:
        """The policy of the step with another playbook."""
        return replace(self.policy, playbook=playbook)

    @property
    def where(self) -> str:
        """The first part of every purpose in this step."""
        return f"e{self.epoch}/s{self.number:04d}"

    @property
    def prompts(self) -> OptimizerPrompts:
        return prompts_of(self.shop, self.config)

    def background(self) -> list[tuple[str, str]]:
        """What every prompt of the optimiser begins with: the playbook, earlier steps, its own memo."""
        return [
            *playbook_sections(self.playbook),
            ("earlier steps", self._remembered()),
            ("your memo", self.meta),
            ("the tasks", self.shop.env.about),
        ]

    def _remembered(self) -> str:
        most = self.config.reflect.memory
        if self.book is None:
            return reminder(self.memory, most)
        return weighed_reminder(self.memory, most, self.effects, self.playbook)


def prompts_of(shop: Workshop, config: ReflactConfig) -> OptimizerPrompts:
    """The prompts of a run: the config's before the environment's, both before those that come along."""
    return OptimizerPrompts({**shop.env.prompts(), **config.reflect.prompts})
