"""One step as its stages see it: where in the run it is, what it starts from, and what the run remembers."""

from __future__ import annotations

from dataclasses import dataclass

from whet.config.train import TrainConfig
from whet.learn.reflact.memory import Entry, reminder
from whet.learn.reflact.prompting import playbook_sections
from whet.learn.workshop import Workshop
from whet.types import Playbook


@dataclass(frozen=True, slots=True)
class Step:
    """`number` counts from 1 over the whole run, `in_epoch` within the epoch."""

    shop: Workshop
    config: TrainConfig
    epoch: int
    number: int
    in_epoch: int
    total: int
    playbook: Playbook
    memory: tuple[Entry, ...] = ()
    meta: str = ""

    @property
    def where(self) -> str:
        """The first part of every purpose in this step."""
        return f"e{self.epoch}/s{self.number:04d}"

    def background(self) -> list[tuple[str, str]]:
        """What every prompt of the optimiser begins with: the playbook, earlier steps, its own memo."""
        return [
            *playbook_sections(self.playbook),
            ("earlier steps", reminder(self.memory, self.config.reflect.memory)),
            ("your memo", self.meta),
        ]
