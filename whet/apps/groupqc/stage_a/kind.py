"""Stage-A among the runs: its line in the list, its page, continuing and rebuilding it. Its folder is `F.run`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from whet.apps.groupqc.stage_a.config import StageAConfig
from whet.apps.groupqc.stage_a.plan import plan_stage_a
from whet.apps.groupqc.stage_a.run import (
    KIND,
    PhotoAnswers,
    StageAResult,
    run_stage_a,
    stage_a_identity,
    stage_a_photos,
    stage_a_policy,
    write_stage_a,
)
from whet.config.load import load_config
from whet.envs.groupqc.photos.folder import index_of
from whet.errors import WhetError, typed
from whet.ledger.store import Ledger
from whet.rollout.claim import CONFIG
from whet.rollout.session import DONE, SESSION
from whet.run.compose import Given
from whet.run.kinds import Continuation, RunEntry
from whet.run.workspace import last_end

if TYPE_CHECKING:
    from rich.console import RenderableType


class StageARuns:
    """The kind of run that `whet groupqc stage-a` makes."""

    name = KIND

    def entry(self, folder: Path, changed: float) -> RunEntry:
        """Its photos, and the share of answers that can be used."""
        config = _config(folder)
        with Ledger.read(folder) as ledger:
            outcomes = list(ledger.outcomes(KIND))
            complete = last_end(ledger) == DONE
            planned = ([0] + [event.body["planned"] for event in ledger.events(SESSION)])[-1]
        usable = [outcome.hard for outcome in outcomes if not outcome.fault]
        return RunEntry(
            folder.name,
            changed,
            self.name,
            config.env.name,
            config.target.model,
            "complete" if complete else f"{len(usable)} answers, {planned} photos",
            sum(usable) / len(usable) if usable else None,
            len(outcomes) - len(usable),
        )

    def show(self, folder: Path) -> RenderableType:
        from rich.text import Text

        config = _config(folder)
        files, manifest = config.photos.files, _manifest(config)
        if not manifest:
            return Text(f"{folder}: nothing is written yet; continue with: whet resume {typed(folder)}")
        lines = [
            f"{config.target.model} on {manifest['mission']}: {manifest['distinct_photos']} photos",
            f"{manifest['lines']} lines written to {files.out}",
        ]
        lines += [f"{count} refused: {reason}, see {files.errors}" for reason, count in manifest["refused"].items()]
        if manifest["pending"]:
            lines.append(f"{manifest['pending']} groups left; continue with: whet resume {typed(folder)}")
        return Text("\n".join(lines))

    def resume(self, folder: Path, continuation: Continuation) -> StageAResult:
        config = _beside(continuation.config(StageAConfig, folder), folder)
        return run_stage_a(
            config,
            model=continuation.given.model,
            progress=continuation.progress,
            retry_faults=continuation.retry_faults,
        )

    def rebuild(self, folder: Path, given: Given) -> str:
        """The photos are found again and their answers looked up; no model is opened."""
        config = _config(folder)
        plan = plan_stage_a(config.photos)
        env = stage_a_photos(config, plan)
        with Ledger.read(folder) as ledger:
            held = ledger.meta()
            if stage_a_identity(config, env, held["model"]).digest != held["identity"]:
                raise WhetError(f"{folder}: its pack has changed since it was made; its files stay as they are")
            answers = PhotoAnswers(config, env, stage_a_policy(config, held["model"]), ledger)
            answers.read_all([index_of(photo) for photo in plan.photos])
            output, _ = write_stage_a(config, plan, answers)
        return f"rebuilt {len(output.lines)} lines from the answers on {len(answers.known)} photos"


def _config(folder: Path) -> StageAConfig:
    return _beside(load_config(StageAConfig, folder / CONFIG), folder)


def _beside(config: StageAConfig, folder: Path) -> StageAConfig:
    """The config with its file where its run lies, whatever folder it is looked at from."""
    out = str(folder.parent / Path(config.photos.out).name)
    return config.model_copy(update={"photos": config.photos.model_copy(update={"out": out})})


def _manifest(config: StageAConfig) -> dict[str, Any]:
    """What the files were made from; empty while none is written."""
    file = config.photos.files.manifest
    return dict(orjson.loads(file.read_bytes())) if file.is_file() else {}


RUNS_KIND = StageARuns()
