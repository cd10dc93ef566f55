"""Stage-A: the photos of a mission become one-line summaries, group by group, through any model that sees.

    whet groupqc stage-a ROOT --mission M -m MODEL --out F.jsonl

Every answer is remembered in `F.run/` under the content of its photo, so that the same command goes on where it
stopped, and a folder that grew costs only what is new. A group with a photo that could not be shown or was not answered
well stands in `F.errors.jsonl` with its reason, never half in `F.jsonl`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whet.apps.groupqc.stage_a.config import StageAConfig, StageAFiles
from whet.apps.groupqc.stage_a.output import (
    LineStream,
    PhotoOutcome,
    StageALines,
    StageAOutput,
    write_files,
)
from whet.apps.groupqc.stage_a.plan import StageAPlan, plan_stage_a
from whet.envs.groupqc.photos.folder import StageAPhotos, index_of
from whet.errors import Interrupted, WhetError
from whet.keys import digest
from whet.ledger.store import FILE, Ledger
from whet.models.base import Model
from whet.rollout.attempt import Player
from whet.rollout.budget import Budget
from whet.rollout.engine import Engine, Progress, Quiet, Tally
from whet.run.compose import (
    build_bounds,
    build_limits,
    build_model,
    build_player,
    build_sampling,
    concurrency,
)
from whet.run.loop import finish
from whet.types import Policy, Role, Rollout, Split, Ticket

PURPOSE = "stage_a"
STOPPED = 3
"""Exit code of a run that was ended by a budget or by too many faults; start it again to go on."""


class StageAInterrupted(Interrupted):
    """Ctrl-C ended the run; the same command goes on."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.args = (f"interrupted; what is done is kept in {folder}, start the same command again to go on",)


@dataclass(frozen=True, slots=True)
class StageAResult:
    """What a run wrote. `pending` groups were not reached."""

    files: StageAFiles
    written: int
    refused: int
    pending: int = 0
    copies: int = 0
    tally: Tally = field(default_factory=lambda: Tally(0))
    warnings: tuple[str, ...] = ()
    fault: str = ""

    @property
    def out(self) -> Path:
        return self.files.out

    @property
    def errors(self) -> Path:
        return self.files.errors

    @property
    def exit_code(self) -> int:
        if self.tally.stopped:
            return STOPPED
        return 1 if self.refused or self.pending else 0

    def lines(self) -> list[str]:
        """What to print, one fact a line."""
        told = [f"{self.written} written to {self.out}"]
        if self.refused:
            told.append(f"{self.refused} refused, with reasons in {self.errors}")
        if self.copies:
            told.append(f"{self.copies} pairs of photos look alike across groups: {self.files.copies}")
        if self.fault:
            told.append(f"last fault: {self.fault}; redo faults with --retry-faults")
        if self.tally.stopped:
            told.append(f"stopped: {self.tally.stopped}; {self.pending} groups left, start it again to go on")
        return [*self.warnings, *told]


def run_stage_a(
    config: StageAConfig, *, model: Model | None = None, progress: Progress | None = None, retry_faults: bool = False
) -> StageAResult:
    """Summarise the photos of a mission. `model` may be handed over instead of being named in the config."""
    plan = plan_stage_a(config.photos)
    try:
        return finish(lambda: _run(config, plan, model, progress or Quiet(), retry_faults))
    except KeyboardInterrupt:
        raise StageAInterrupted(str(config.photos.files.run)) from None


async def _run(
    config: StageAConfig, plan: StageAPlan, given: Model | None, progress: Progress, retry_faults: bool
) -> StageAResult:
    section, files = config.photos, config.photos.files
    env = StageAPhotos(plan.pack, plan.mission, plan.photos, section.max_pixels, section.check)
    model = given or build_model(config.target, config.control.target, env)
    policy = Policy(model.fingerprint, build_sampling(config.target.sampling))
    began = time.monotonic()
    try:
        with _claimed(files, digest(env.fingerprint, policy)) as ledger:
            session = _PhotoRounds(config, env, _engine(config, env, policy, model, ledger), plan)
            try:
                tally = await session.play(progress, retry_faults)
            finally:
                await session.engine.works.close()
                ledger.add_event("ended", seconds=time.monotonic() - began)
            output = session.lines.output(session.answers)
            write_files(plan, files, output, _manifest(config, plan, env, policy, output))
            fault = ledger.open_fault(PURPOSE)
    finally:
        await model.close()
    return StageAResult(
        *(files, len(output.lines), len(output.errors), output.pending, len(plan.copies), tally, plan.warnings),
        fault=str(fault) if fault else "",
    )


def _engine(config: StageAConfig, env: StageAPhotos, policy: Policy, model: Model, ledger: Ledger) -> Engine:
    players: dict[Role, Player] = {"target": build_player(model, config.target.sampling, config.control.target)}
    earlier = sum(event.body["seconds"] for event in ledger.events("ended"))
    return Engine(
        env,
        policy,
        players,
        ledger,
        Budget(build_limits(config.control), ledger.spent(), earlier),
        bounds=build_bounds(config),
        concurrency=concurrency(config, players),
        patience=config.control.patience,
    )


class _PhotoRounds:
    """One session of a run: asks about each photo until its answer is usable or its draws are spent."""

    def __init__(self, config: StageAConfig, env: StageAPhotos, engine: Engine, plan: StageAPlan) -> None:
        self.engine = engine
        self.lines = StageALines(plan, config.photos)
        self.answers: dict[int, PhotoOutcome] = {}
        self._env = env
        self._draws = config.photos.draws
        self._indices = [index_of(photo) for photo in plan.photos]
        self._stream = LineStream(plan, self.lines, config.photos.files.out)

    async def play(self, progress: Progress, retry_faults: bool) -> Tally:
        """Ask about every photo; what has no usable answer is asked again, up to the number of draws."""
        total = Tally(len(self._indices))
        asked = self._indices
        for draw in range(self._draws):
            if not asked or total.stopped:
                break
            tickets = [Ticket(PURPOSE, self._env.split, index, draw) for index in asked]
            watched = _AnswerWatch(progress, self._settle)
            tally = await self.engine.run(tickets, progress=watched, what="photos", retry_faults=retry_faults)
            total.replayed += tally.replayed
            total.done += tally.done
            total.faults += tally.faults
            total.stopped = tally.stopped
            for ticket in tickets:
                self._settle(ticket)
            asked = [index for index in asked if (rollout := self._rollout(index, draw)) and not _usable(rollout)]
        self._keep_faults()
        return total

    def _settle(self, ticket: Ticket) -> None:
        """Keep what a photo's answer settles. Called when it comes in, and once more for all when the round is over."""
        if ticket.index in self.answers:
            return
        rollout = self._rollout(ticket.index, ticket.draw)
        if rollout is None:
            return
        score = rollout.score
        if _usable(rollout):
            self.answers[ticket.index] = PhotoOutcome(self._env.summary(rollout.turns[-1].reply))
        elif ticket.draw + 1 == self._draws and score is not None:
            self.answers[ticket.index] = PhotoOutcome("", score.reason, score.detail)
        else:
            return
        self._stream.settle(ticket.index, self.answers)

    def _keep_faults(self) -> None:
        """Photos that no answer came for: the group is refused until the fault is redone."""
        for outcome in self.engine.ledger.outcomes(PURPOSE):
            index = outcome.ticket.index
            mine = outcome.key == self.engine.key(outcome.ticket)
            if outcome.fault and mine and index not in self.answers:
                self.answers[index] = PhotoOutcome("", outcome.fault, "no answer came; ask again with --retry-faults")

    def _rollout(self, index: int, draw: int) -> Rollout | None:
        return self.engine.ledger.rollout(self.engine.key(Ticket(PURPOSE, self._env.split, index, draw)))


def _usable(rollout: Rollout) -> bool:
    return rollout.score is not None and rollout.score.hard == 1


class _AnswerWatch:
    """Passes progress on, and calls `settled` for every photo once its answer is in the ledger."""

    def __init__(self, inner: Progress, settled: Callable[[Ticket], None]) -> None:
        self._inner = inner
        self._settled = settled

    def expect(self, ahead: Mapping[Split, int]) -> None:
        self._inner.expect(ahead)

    def began(self, total: int, what: str) -> None:
        self._inner.began(total, what)

    def replayed(self, ticket: Ticket) -> None:
        self._inner.replayed(ticket)
        self._settled(ticket)

    def finished(self, rollout: Rollout) -> None:
        self._inner.finished(rollout)
        # The engine commits at the end of this turn of the loop: nothing may depend on the answer before.
        asyncio.get_running_loop().call_soon(self._settled, rollout.ticket)

    def ended(self) -> None:
        self._inner.ended()


def _claimed(files: StageAFiles, identity: str) -> Ledger:
    """The run's ledger; refused where the file or the ledger belongs to something else."""
    new = not (files.run / FILE).exists()
    if new and files.out.exists():
        raise WhetError(
            f"{files.out} exists and is not of a run that can be continued; remove it, or give another --out"
        )
    ledger = Ledger.create(files.run) if new else Ledger.open(files.run)
    try:
        if ledger.counts()["rollouts"] and ledger.meta().get("identity", identity) != identity:
            raise WhetError(
                f"{files.run} holds another run: its mission, pack, model or sampling differs; give another --out"
            )
        ledger.set_meta(identity=identity)
    except BaseException:
        ledger.close()
        raise
    return ledger


def _manifest(
    config: StageAConfig, plan: StageAPlan, env: StageAPhotos, policy: Policy, output: StageAOutput
) -> dict[str, Any]:
    """What the files were made from and by: no clock, so that the same run gives the same bytes."""
    reasons: dict[str, int] = {}
    for row in output.errors:
        reasons[str(row["reason"])] = reasons.get(str(row["reason"]), 0) + 1
    return {
        "mission": plan.mission.name,
        "pack": {"name": plan.pack.name, "digest": plan.pack.digest},
        "model": {"address": config.target.model, "fingerprint": policy.model},
        "sampling": config.target.sampling.model_dump(mode="json", exclude_none=True),
        "prompt": env.fingerprint,
        "shard": {"share": config.photos.shard, "by": config.photos.shard_by},
        "lines": len(output.lines),
        "refused": dict(sorted(reasons.items())),
        "pending": output.pending,
        "photos": sum(len(group.own) for group in plan.groups),
        "distinct_photos": len(plan.photos),
        "inputs": digest([photo.image.sha256 for photo in plan.photos]),
        "copies": len(plan.copies),
        "warnings": list(plan.warnings),
    }
