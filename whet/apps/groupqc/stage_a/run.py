"""Stage-A: the photos of a mission become one-line summaries, group by group, through any model that sees.

    whet groupqc stage-a ROOT --mission M -m MODEL --out F.jsonl

Every answer is remembered in `F.run/` under the content of its photo, so that the same command goes on where it
stopped, and a folder that grew costs only what is new. A photo that cannot be used is named in `F.errors.jsonl` with
its reason, and in the line of its group, which goes on without it. A group with an answer that is no summary stands
in `F.errors.jsonl` alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whet.apps.groupqc.stage_a.config import StageAConfig, StageAFiles
from whet.apps.groupqc.stage_a.marks import loud_warnings, photo_rows
from whet.apps.groupqc.stage_a.output import (
    LineStream,
    PhotoOutcome,
    StageALines,
    StageAOutput,
    write_files,
)
from whet.apps.groupqc.stage_a.plan import StageAPlan, plan_stage_a
from whet.envs.groupqc.photos.folder import StageAPhotos, index_of
from whet.errors import Interrupted, WhetError, typed
from whet.keys import digest, policy_digest, rollout_key
from whet.ledger.store import FILE, Ledger
from whet.models.base import Model
from whet.rollout.cast import open_model, sampling_of
from whet.rollout.claim import Identity, RunStart
from whet.rollout.loop import finish
from whet.rollout.progress import Progress, Quiet, Tally
from whet.rollout.session import DONE, Session
from whet.run.kinds import RunPage
from whet.types import Playbook, Policy, Rollout, Split, Ticket

KIND = "stage_a"
"""The kind of run that Stage-A is, and the purpose of its rollouts."""

STOPPED = 3
"""Exit code of a run that was ended by a budget or by too many faults; start it again to go on."""


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
    photos: int = 0
    """Photos that were refused while their groups went on."""

    @property
    def out(self) -> Path:
        return self.files.out

    @property
    def folder(self) -> Path:
        return self.files.run

    @property
    def errors(self) -> Path:
        return self.files.errors

    @property
    def exit_code(self) -> int:
        if self.tally.stopped:
            return STOPPED
        return 1 if self.refused or self.photos or self.pending else 0

    def lines(self) -> list[str]:
        """What to print, one fact a line."""
        told = [f"{self.written} written to {self.out}"]
        if self.refused:
            told.append(f"{self.refused} refused, with reasons in {self.errors}")
        if self.photos:
            told.append(f"{self.photos} photos left out of their groups, each named with its reason in {self.errors}")
        if self.copies:
            told.append(f"{self.copies} pairs of photos look alike across groups: {self.files.copies}")
        if self.fault:
            told.append(f"last fault: {self.fault}; redo faults with --retry-faults")
        if self.tally.stopped:
            told.append(
                f"stopped: {self.tally.stopped}; {self.pending} groups left, start it again to go on, "
                f"or continue with: whet resume {typed(self.folder)}"
            )
        return [*self.warnings, *told]

    def page(self) -> RunPage:
        """What was written and what was not. Exit code 1 when a group was refused, 3 when the run was stopped."""
        return RunPage(self.lines(), self.exit_code)


def run_stage_a(
    config: StageAConfig, *, model: Model | None = None, progress: Progress | None = None, retry_faults: bool = False
) -> StageAResult:
    """Summarise the photos of a mission. `model` may be handed over instead of being named in the config."""
    files = config.photos.files
    if files.out.exists() and not (files.run / FILE).exists():
        raise WhetError(
            f"{files.out} exists and is not of a run that can be continued; remove it, or give another --out"
        )
    plan = plan_stage_a(config.photos)
    env = stage_a_photos(config, plan)
    opened = model or open_model(config.target, config.control.target, env)
    try:
        return finish(lambda: _run(config, plan, env, opened, progress or Quiet(), retry_faults))
    except KeyboardInterrupt:
        raise Interrupted(str(files.run)) from None


def stage_a_photos(config: StageAConfig, plan: StageAPlan) -> StageAPhotos:
    """The photos of a plan as tasks."""
    section = config.photos
    return StageAPhotos(plan.pack, plan.mission, plan.photos, section.max_pixels, section.check)


def stage_a_identity(config: StageAConfig, env: StageAPhotos, model: str) -> Identity:
    """What an answer depends on besides its photo: so a folder that grew is the same run."""
    section = config.photos
    named = {
        "mission": section.mission,
        "check": section.check,
        "max_pixels": section.max_pixels,
        "sampling": config.target.sampling.model_dump(mode="json"),
        "limits": config.limits.model_dump(mode="json"),
    }
    return Identity(named, env.fingerprint, model, digest(Playbook()))


async def _run(
    config: StageAConfig, plan: StageAPlan, env: StageAPhotos, model: Model, progress: Progress, retry_faults: bool
) -> StageAResult:
    files = config.photos.files
    start = RunStart(
        KIND,
        files.run,
        config,
        stage_a_identity(config, env, model.fingerprint),
        env,
        model,
        planned=len(plan.photos),
        elsewhere="give another --out",
        takes_over=True,
    )
    async with Session.open(start, progress) as session:
        stream = LineStream(plan, StageALines(plan, config.photos), files.out)
        answers = PhotoAnswers(config, env, session.policy, session.ledger, stream.settle)
        tally = await _ask(session, answers, [index_of(photo) for photo in plan.photos], retry_faults)
        session.end(tally.stopped or DONE)
        output, warnings = write_stage_a(config, plan, answers)
        fault = session.ledger.open_fault(KIND)
    photos = sum(bool(row.get("photo")) for row in output.errors)
    return StageAResult(
        *(files, len(output.lines), len(output.errors) - photos, output.pending, len(plan.copies), tally, warnings),
        photos=photos,
        fault=str(fault) if fault else "",
    )


async def _ask(session: Session, answers: PhotoAnswers, indices: list[int], retry_faults: bool) -> Tally:
    """Ask about every photo; what has no usable answer is asked again, up to the number of draws."""
    total = Tally(0)
    for draw in range(answers.draws):
        if not indices or total.stopped:
            break
        tickets = [answers.ticket(index, draw) for index in indices]
        watch = _AnswerWatch(session.progress, answers.settle)
        total.add(await session.work_off(session.policy, tickets, "photos", retry_faults=retry_faults, progress=watch))
        indices = answers.read(indices, draw)
    answers.read_faults()
    return total


class PhotoAnswers:
    """What became of each photo, as a ledger has it. `settled` hears of each photo that is answered for good."""

    def __init__(
        self,
        config: StageAConfig,
        env: StageAPhotos,
        policy: Policy,
        ledger: Ledger,
        settled: Callable[[int, dict[int, PhotoOutcome]], None] = lambda index, known: None,
    ) -> None:
        self.env = env
        self.policy = policy
        self.draws = config.photos.draws
        self.known: dict[int, PhotoOutcome] = {}
        self._ledger = ledger
        self._settled = settled
        self._policy = policy_digest(policy)

    def ticket(self, index: int, draw: int) -> Ticket:
        return Ticket(KIND, self.env.split, index, draw)

    def settle(self, ticket: Ticket) -> None:
        """Keep what a photo's answer settles. Called when it comes in, and once more for all when the round is over."""
        if ticket.index in self.known:
            return
        rollout = self._rollout(ticket)
        if rollout is None:
            return
        score = rollout.score
        if _usable(rollout):
            self.known[ticket.index] = PhotoOutcome(self.env.summary(rollout.turns[-1].reply))
        elif ticket.draw + 1 == self.draws and score is not None:
            self.known[ticket.index] = PhotoOutcome("", score.reason, score.detail)
        else:
            return
        self._settled(ticket.index, self.known)

    def read(self, indices: list[int], draw: int) -> list[int]:
        """Settle a round; returns the photos that have an answer which cannot be used."""
        for index in indices:
            self.settle(self.ticket(index, draw))
        found = ((index, self._rollout(self.ticket(index, draw))) for index in indices)
        return [index for index, rollout in found if rollout is not None and not _usable(rollout)]

    def read_faults(self) -> None:
        """Photos that no answer came for: the group is refused until the fault is redone."""
        for outcome in self._ledger.outcomes(KIND):
            index = outcome.ticket.index
            if outcome.fault and outcome.key == self._key(outcome.ticket) and index not in self.known:
                self.known[index] = PhotoOutcome("", outcome.fault, "no answer came; ask again with --retry-faults")

    def read_all(self, indices: list[int]) -> None:
        """Everything that the ledger has, round after round."""
        for draw in range(self.draws):
            indices = self.read(indices, draw)
        self.read_faults()

    def _rollout(self, ticket: Ticket) -> Rollout | None:
        return self._ledger.rollout(self._key(ticket))

    def _key(self, ticket: Ticket) -> str:
        return rollout_key(ticket, self.env.fingerprint, self._policy)


def write_stage_a(
    config: StageAConfig, plan: StageAPlan, answers: PhotoAnswers
) -> tuple[StageAOutput, tuple[str, ...]]:
    """All files of a run from what is known of its photos; returns what is in them, and what must be said about it."""
    lines = StageALines(plan, config.photos)
    output, photos = lines.output(answers.known), photo_rows(plan, lines, answers.known)
    warnings = (*loud_warnings(plan, photos, config.target.model), *plan.warnings)
    write_files(plan, config.photos.files, output, photos, _manifest(config, plan, answers, output, warnings))
    return output, warnings


def stage_a_policy(config: StageAConfig, model: str) -> Policy:
    """Who is asked, by the fingerprint of the model."""
    return Policy(model, sampling_of(config.target.sampling))


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
        # The journal commits at the end of the next turn of the loop: nothing may depend on the answer before.
        loop = asyncio.get_running_loop()
        loop.call_soon(loop.call_soon, self._settled, rollout.ticket)

    def ended(self) -> None:
        self._inner.ended()


def _manifest(
    config: StageAConfig, plan: StageAPlan, answers: PhotoAnswers, output: StageAOutput, warnings: Sequence[str]
) -> dict[str, Any]:
    """What the files were made from and by: no clock, so that the same run gives the same bytes."""
    reasons: dict[str, int] = {}
    for row in output.errors:
        reasons[str(row["reason"])] = reasons.get(str(row["reason"]), 0) + 1
    return {
        "mission": plan.mission.name,
        "pack": {"name": plan.pack.name, "digest": plan.pack.digest},
        "model": {"address": config.target.model, "fingerprint": answers.policy.model},
        "sampling": config.target.sampling.model_dump(mode="json", exclude_none=True),
        "prompt": answers.env.fingerprint,
        "shard": {"share": config.photos.shard, "by": config.photos.shard_by},
        "lines": len(output.lines),
        "refused": dict(sorted(reasons.items())),
        "pending": output.pending,
        "photos": sum(len(group.own) for group in plan.groups),
        "distinct_photos": len(plan.photos),
        "inputs": digest([photo.image.sha256 for photo in plan.photos]),
        "copies": len(plan.copies),
        "warnings": list(warnings),
    }
