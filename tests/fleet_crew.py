"""A fleet without a cluster: stations on the loop of the test, over links that can be cut, and that can go silent."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from builders import Doubles, FromFunction, doubled

from whet.config.load import load_config
from whet.config.schema import EvalConfig
from whet.envs.base import Environment
from whet.models.base import Model
from whet.rollout.claim import RunStart
from whet.rollout.fleet.fleet import Fleet, FleetSize
from whet.rollout.fleet.messages import Lack, LinkLost, PlayOrder, StationAssignment, StationKit, packed, unpacked
from whet.rollout.fleet.station import FleetStation
from whet.run.compose import Given
from whet.run.evaluate import EvalResult, run_evaluation


class LoopLink:
    """The way to a station on this loop. What travels is pickled, as it would be."""

    def __init__(self, kit: StationKit, crew: Crew) -> None:
        self.station = FleetStation(kit)
        self.crew = crew
        self.dead = asyncio.Event()
        self.silent = False

    async def assign(self, assignment: StationAssignment) -> Sequence[Lack]:
        lacks: Sequence[Lack] = unpacked(packed(await self.station.assign(unpacked(packed(assignment)))))
        return lacks

    def post(self, messages: Sequence[Any]) -> None:
        orders = [message for message in messages if isinstance(message, PlayOrder)]
        self.crew.given(self, orders)
        if not self.dead.is_set():
            self.posting = asyncio.ensure_future(self.station.post(unpacked(packed(list(messages)))))

    async def collect(self) -> Sequence[Any]:
        collecting = asyncio.ensure_future(self.station.collect())
        dying = asyncio.ensure_future(self.dead.wait())
        await asyncio.wait({collecting, dying}, return_when=asyncio.FIRST_COMPLETED)
        if self.silent:
            await asyncio.Event().wait()
        if self.dead.is_set():
            collecting.cancel()
            raise LinkLost("killed")
        dying.cancel()
        return unpacked(packed(list(await collecting)))  # type: ignore[no-any-return]

    def kill(self) -> None:
        self.dead.set()
        self.crew.killed += 1
        for task in self.station._under_way:
            task.cancel()


@dataclass
class Crew:
    """Hires stations, and does to them what a test wants when it sees the orders that they are given."""

    workers: int = 2
    silence: float = 30.0
    on_orders: Callable[[LoopLink, list[int]], None] = lambda link, tasks: None
    hired: list[LoopLink] = field(default_factory=list)
    killed: int = 0
    orders: int = 0
    """Tickets given out, those given again included."""

    def open_fleet(self, start: RunStart) -> Fleet:
        folder = str(start.folder.absolute())
        kit = StationKit(version("whet"), start.config, folder, str(Path.cwd()), tuple(sys.path), beat=0.05)

        async def hire() -> LoopLink:
            self.hired.append(LoopLink(kit, self))
            return self.hired[-1]

        width = start.config.control.target.width
        widths = {} if width is None else {"target": width}
        return Fleet(hire, FleetSize(self.workers, self.silence), start.env, widths)

    def given(self, link: LoopLink, orders: list[PlayOrder]) -> None:
        self.orders += len(orders)
        if orders:
            self.on_orders(link, [order.ticket.index for order in orders])


def evaluate(
    runs: Path,
    name: str,
    crew: Crew | None = None,
    *,
    n: int = 60,
    env: Environment | None = None,
    model: Model | None = None,
    overrides: Sequence[str] = (),
    retry_faults: bool = False,
    address: str = "doubles",
) -> EvalResult:
    """An evaluation on this loop, by a crew where there is one."""
    given = Given(env=env or Doubles(), model=model or FromFunction(doubled))
    told = {"env": {"name": address}, "target": {"model": "test:function"}, "eval": {"n": n, "floor": False}}
    extra = ["control.engine=ray"] if crew is not None else []
    config = load_config(EvalConfig, None, told, [*extra, *overrides])
    with pytest.MonkeyPatch.context() as patch:
        if crew is not None:
            patch.setattr("whet.rollout.fleet.on_ray.open_fleet", crew.open_fleet)
        return run_evaluation(config, given, runs=runs, name=name, retry_faults=retry_faults)


def artifact(result: EvalResult) -> bytes:
    """What a run says of itself, clocks apart."""
    return (result.folder / "results.json").read_bytes()
