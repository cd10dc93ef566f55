"""Tables of two by two among the runs: their line in the list, their page, continuing and rebuilding them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from whet.config.cross import CrossConfig
from whet.errors import WhetError
from whet.files import write_json
from whet.keys import policy_digest
from whet.ledger.store import Ledger
from whet.rollout.claim import CONFIG
from whet.run.caveats import read_caveats
from whet.run.compose import Given
from whet.run.cross import (
    CELLS,
    EVOLVED,
    FILE,
    KIND,
    CrossResult,
    folded,
    plan_cross,
    read_cross,
    run_cross,
    stored_config,
)
from whet.run.kinds import Continuation, RunEntry

if TYPE_CHECKING:
    from rich.console import RenderableType


class CrossRuns:
    """The kind of run that `whet cross` makes."""

    name = KIND

    def entry(self, folder: Path, changed: float) -> RunEntry:
        config = stored_config(folder)
        found = read_cross(folder)
        with Ledger.read(folder) as ledger:
            outcomes = list(ledger.outcomes(KIND))
            mark = read_caveats(ledger).mark
        best = found["cells"][CELLS[-1]] if found else None
        faults = sum(bool(outcome.fault) for outcome in outcomes)
        state = "complete" if found else f"{len(outcomes) - faults} rollouts"
        model = config.cross.weights
        solved = best["value"] if best else None
        return RunEntry(folder.name, changed, KIND, config.env.name, model, state, solved, faults, on=f"test, {mark}")

    def show(self, folder: Path) -> RenderableType:
        from rich.text import Text

        return Text("\n".join(self._fold(folder, Given(run=folder)).lines()))

    def resume(self, folder: Path, continuation: Continuation) -> CrossResult:
        continuation.refuse_retry()
        config: CrossConfig = continuation.config(CrossConfig, folder)
        kept = config.cross.model_copy(update={"playbook": str(folder / EVOLVED)})
        config = config.model_copy(update={"cross": kept})
        given, progress = continuation.given, continuation.progress
        return run_cross(config, given, runs=folder.parent, name=folder.name, progress=progress)

    def rebuild(self, folder: Path, given: Given) -> str:
        made = self._fold(folder, given)
        write_json(folder / FILE, made.as_data())
        return f"rebuilt {folder / FILE}"

    def _fold(self, folder: Path, given: Given) -> CrossResult:
        """From the ledger; the weights are looked at, not asked."""
        if not (folder / CONFIG).is_file():
            raise WhetError(f"{folder}: holds no config; it cannot be shown")
        plan = plan_cross(stored_config(folder), given)
        digests = {policy_digest(policy): name for name, policy in plan.policies.items()}
        with Ledger.read(folder) as ledger:
            rollouts = {outcome.key: outcome for outcome in ledger.outcomes(KIND)}
            by_policy: dict[str, list[str]] = {name: [] for name in CELLS}
            for rollout in ledger.rollouts(KIND):
                by_policy[digests[rollout.policy]].append(rollout.key)
            caveats = read_caveats(ledger)
        cells = {name: tuple(rollouts[key] for key in keys) for name, keys in by_policy.items() if keys}
        return folded(folder, cells, caveats)


RUNS_KIND = CrossRuns()
