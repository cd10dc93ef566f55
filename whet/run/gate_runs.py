"""Decisions of the gate among the runs: child runs of the evaluation whose playbook is the incumbent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from whet.config.load import validate
from whet.config.playbooks import read_playbook
from whet.config.schema import EvalConfig, GateSection
from whet.errors import WhetError, typed
from whet.files import write_json
from whet.gate.decide import DECISION
from whet.learn.workshop import LEAK
from whet.ledger.store import Ledger
from whet.models.base import Model
from whet.run.compose import Given
from whet.run.decide import CANDIDATE, DECISION_FILE, KIND, LEAKS, Challenge, GateResult, bring_to_gate, open_challenger
from whet.run.kinds import Continuation, RunEntry, entry_of
from whet.run.workspace import Run, open_run

if TYPE_CHECKING:
    from rich.console import RenderableType


class GateRuns:
    """The kind of run that `whet gate RUN --candidate FILE` makes, under `RUN/gates/`."""

    name = KIND

    def entry(self, folder: Path, changed: float) -> RunEntry:
        run = open_run(folder)
        decision = _decision(folder)
        outcomes = run.outcomes(KIND)
        faults = sum(bool(outcome.fault) for outcome in outcomes)
        under_way = f"undecided, {len(outcomes) - faults} rollouts"
        state = decision["verdict"].replace("_", " ") if decision else under_way
        return entry_of(run, self.name, changed, state, None, faults)

    def show(self, folder: Path) -> RenderableType:
        from rich.text import Text

        decision = _decision(folder)
        if decision is None:
            return Text(f"{folder}: no decision yet; continue with: whet resume {typed(folder)}")
        with Ledger.read(folder) as ledger:
            warned = "".join(f"warning: {LEAKS}: {body['span']!r}\n" for _, body in ledger.effects(LEAK))
        return Text(f"{decision['says']}\n{warned}evidence: {folder / DECISION_FILE}")

    def resume(self, folder: Path, continuation: Continuation) -> GateResult:
        continuation.refuse_retry()
        config = continuation.config(EvalConfig, folder)
        with Ledger.read(folder) as ledger:
            meta = ledger.meta()
        section = validate(GateSection, orjson.loads(meta["gate"]), str(folder))
        parent = open_run(folder.parent.parent)
        run = Run(parent.folder, config, parent.playbook)
        address, given = meta["candidate_model"], continuation.given
        model: Model | None = open_challenger(address, config, given) if address else None
        challenge = Challenge(read_playbook(str(folder / CANDIDATE)), model, address)
        return bring_to_gate(run, challenge, section, progress=continuation.progress, given=given, child=folder)

    def rebuild(self, folder: Path, given: Given) -> str:
        decision = _decision(folder)
        if decision is None:
            raise WhetError(f"{folder}: no decision yet; continue with: whet resume {typed(folder)}")
        write_json(folder / DECISION_FILE, decision)
        return f"rebuilt from a decision on {len(decision['draws'])} draws"


def _decision(folder: Path) -> dict[str, Any] | None:
    with Ledger.read(folder) as ledger:
        return next((body for _, body in ledger.effects(DECISION)), None)


RUNS_KIND = GateRuns()
