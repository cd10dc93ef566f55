"""Models that answer nothing: a run replayed with them goes as far as its ledger reaches."""

from __future__ import annotations

from dataclasses import replace

from whet.errors import BudgetReached
from whet.models.base import Model, Request
from whet.run.train import TrainPlan
from whet.types import Reply


class LedgerEnds(BudgetReached):
    """The replay has come to the first call that nothing remembers."""

    def __init__(self) -> None:
        super().__init__("calls", 0, 0)
        self.args = ("the ledger ends here",)


class Offline(Model):
    """Stands in for `model` under its name and fingerprint; the first call that is not remembered ends the replay."""

    unpaid = True

    def __init__(self, model: Model) -> None:
        self.name = model.name
        self.fingerprint = model.fingerprint
        self.price = model.price
        self.width = model.width
        self.context = model.context
        self.sees_task = model.sees_task
        self.places_playbook = model.places_playbook
        self._model = model

    async def complete(self, request: Request) -> Reply:
        raise LedgerEnds

    async def close(self) -> None:
        await self._model.close()

    @staticmethod
    def of(plan: TrainPlan) -> TrainPlan:
        """The same plan with nobody to call."""
        optimizer = None if plan.optimizer is None else Offline(plan.optimizer)
        return replace(plan, model=Offline(plan.model), optimizer=optimizer, replay=True)
