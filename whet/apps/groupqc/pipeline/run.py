"""Both stages in one command: photos to summaries to verdicts to a report. Started again, it continues.

OUT/MISSION_stage_a.jsonl, .errors.jsonl   Stage-A's files for each mission
OUT/audits/audit-…/                        the audit of all of them: its ledger and its files
OUT/verdicts.jsonl                         instead of an audit, where a group has no label
OUT/report.md, OUT/run.json                what came of it, and where it lies
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whet.apps.groupqc.audit.report import REPORT
from whet.apps.groupqc.audit.run import AuditResult, AuditSettings, run_audit
from whet.apps.groupqc.decision.run import decide, decision_base
from whet.apps.groupqc.decision.verdicts import VERDICTS, decision_parts
from whet.apps.groupqc.stage_a.config import stage_a_config
from whet.apps.groupqc.stage_a.run import StageAResult, run_stage_a
from whet.config.load import load_config, merge
from whet.config.schema import EvalConfig
from whet.envs.groupqc.environment import GroupQc
from whet.envs.groupqc.pack.file import load_packs
from whet.envs.groupqc.tickets.file import ENDING
from whet.envs.groupqc.tickets.open import read_open
from whet.errors import Interrupted, WhetError, nearest
from whet.files import write_atomically, write_json
from whet.models.base import Model
from whet.rollout.progress import Progress
from whet.run.compose import Given

READER = "baseline:reader"
RULES = "baseline:rules"

AUDITS = "audits"
SUMMARY = "run.json"
FIGURES = ("n_used", "acc", "np", "ng", "invalid", "verdicts", "review", "threshold", "false_releases_at_most")


@dataclass(frozen=True, slots=True)
class PipelinePlan:
    """Both stages as the user wants them. Without a verdict model, the model of the photos judges too; after the
    embedded reader, the mission's rules do."""

    root: Path
    out: Path
    model: str
    verdict_model: str = ""
    missions: tuple[str, ...] = ()
    packs: tuple[str, ...] = ()
    stage_a: Mapping[str, Any] = field(default_factory=dict)
    """Further options of Stage-A, by section of its config."""
    stage_b: Mapping[str, Any] = field(default_factory=dict)
    overrides: tuple[str, ...] = ()
    """`a.b=c` texts for the audit's config."""
    settings: AuditSettings = AuditSettings()

    @property
    def judging(self) -> str:
        return self.verdict_model or (RULES if self.model == READER else self.model)


@dataclass(frozen=True, slots=True)
class PipelineResult:
    """What both stages gave. There is no audit where Stage-A was stopped, or no group came through."""

    stages: Mapping[str, StageAResult]
    audit: AuditResult | None
    report: Path | None

    @property
    def exit_code(self) -> int:
        """0: everything came through. 1: some groups did not, or lines or tickets were left out. 3: stopped."""
        codes = [stage.exit_code for stage in self.stages.values()]
        if 3 in codes or (self.audit is not None and self.audit.tally.stopped):
            return 3
        unfinished = self.audit is None or self.audit.metrics["n_unfinished"] or self.audit.metrics["n_rejected"]
        return 1 if any(codes) or unfinished else 0


class PipelineInterrupted(Interrupted):
    """Ctrl-C ended one of the stages; the same command goes on with all of them."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.args = (f"interrupted; what is done is kept in {folder}, start the same command again to go on",)


def run_all(
    plan: PipelinePlan,
    *,
    eyes: Model | None = None,
    judge: Model | None = None,
    progress: Progress | None = None,
    retry_faults: bool = False,
) -> PipelineResult:
    """Run both stages. `eyes` and `judge` may be handed over instead of being named."""
    try:
        return _run_all(plan, eyes, judge, progress, retry_faults)
    except Interrupted:
        raise PipelineInterrupted(str(plan.out)) from None


def _run_all(
    plan: PipelinePlan, eyes: Model | None, judge: Model | None, progress: Progress | None, retry_faults: bool
) -> PipelineResult:
    stages: dict[str, StageAResult] = {}
    for mission in _missions(plan):
        out = plan.out / f"{mission}{ENDING}"
        base: dict[str, Any] = {"photos": {"packs": list(plan.packs)}} if plan.packs else {}
        merge(base, plan.stage_a)
        config = stage_a_config(plan.root, mission, plan.model, out, base=base)
        stages[mission] = run_stage_a(config, model=eyes, progress=progress, retry_faults=retry_faults)
    stopped = any(stage.tally.stopped for stage in stages.values())
    if stopped or not any(stage.written for stage in stages.values()):
        return PipelineResult(stages, None, None)
    judged = all(line.label is not None for line in read_open(plan.out, _known(plan)).lines)
    audit = (_audit if judged else _decide)(plan, judge, progress, retry_faults)
    return PipelineResult(stages, audit, _report(plan, stages, audit))


def _missions(plan: PipelinePlan) -> Sequence[str]:
    """The missions asked for, or those that have a folder under the root."""
    if not plan.root.is_dir():
        raise WhetError(f"{plan.root}: no such folder; it holds a folder for each mission")
    known = [mission.name for pack in load_packs(plan.packs) for mission in pack.missions]
    if plan.missions:
        unknown = [mission for mission in plan.missions if mission not in known]
        if unknown:
            hint = nearest(unknown[0], known) or f" Known: {', '.join(known)}."
            raise WhetError(f"there is no mission {unknown[0]!r}.{hint}")
        return plan.missions
    found = [path.name for path in sorted(plan.root.iterdir()) if path.is_dir() and path.name in known]
    if not found:
        raise WhetError(f"{plan.root}: no folder in it is called like a mission: {', '.join(known)}")
    return found


def _audit(plan: PipelinePlan, judge: Model | None, progress: Progress | None, retry_faults: bool) -> AuditResult:
    args: dict[str, Any] = {"strict": False, "rejects": str(plan.out / "rejects.jsonl")}
    if plan.packs:
        args["pack"] = list(plan.packs)
    if plan.missions:
        args["mission"] = list(plan.missions)
    base = {
        "env": {"name": f"groupqc:{plan.out}", "args": args},
        "target": {"model": plan.judging},
        "eval": {"n": "all"},
    }
    config = load_config(EvalConfig, None, {**base, **_merged(base, plan.stage_b)}, plan.overrides)
    given = Given(env=GroupQc(str(plan.out), config.env.args), model=judge)
    return run_audit(config, plan.settings, given, runs=plan.out / AUDITS, progress=progress, retry_faults=retry_faults)


def _known(plan: PipelinePlan) -> list[str]:
    return [mission.name for pack in load_packs(plan.packs) for mission in pack.missions]


def _decide(plan: PipelinePlan, judge: Model | None, progress: Progress | None, retry_faults: bool) -> AuditResult:
    """Verdicts where a ticket has no label: of all tickets, by the same votes, and no label is looked at."""
    args: dict[str, Any] = {"pack": list(plan.packs)} if plan.packs else {}
    if plan.missions:
        args["mission"] = list(plan.missions)
    base = decision_base(plan.out, plan.judging, args)
    config = load_config(EvalConfig, None, {**base, **_merged(base, plan.stage_b)}, plan.overrides)
    result = decide(
        config, plan.settings, model=judge, runs=plan.out / AUDITS, progress=progress, retry_faults=retry_faults
    )
    write_atomically(plan.out / VERDICTS, (result.folder / VERDICTS).read_bytes())
    return result


def _merged(base: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Sections of `more` laid over those of `base`."""
    return {name: {**base.get(name, {}), **section} for name, section in more.items()}


def _report(plan: PipelinePlan, stages: Mapping[str, StageAResult], audit: AuditResult) -> Path:
    """The audit's report with what Stage-A could not use above it, and a summary for programs."""
    lines = ["# From photos to verdicts", ""]
    for mission, stage in stages.items():
        refused = f", {stage.refused} refused (see {stage.errors.name})" if stage.refused else ""
        copies = f", {stage.copies} pairs of photos alike across groups" if stage.copies else ""
        lines.append(f"* {mission}: {stage.written} groups summarised{refused}{copies}")
    lines += [f"* {said}" for stage in stages.values() for said in stage.warnings if said.startswith("WARNING")]
    if audit.metrics["mode"] == "decide":
        told = "\n".join(f"* {part}" for part in decision_parts(audit.folder, audit.metrics))
        text = "\n".join(lines) + "\n\n## Verdicts\n\n" + told + "\n"
    else:
        text = "\n".join(lines) + "\n\n#" + (audit.folder / REPORT).read_text(encoding="utf-8")
    report = plan.out / REPORT
    write_atomically(report, text.encode())
    summary = {
        "stages": {
            mission: {
                "written": stage.written,
                "refused": stage.refused,
                "photos_refused": stage.photos,
                "copies": stage.copies,
                "file": stage.out.name,
            }
            for mission, stage in stages.items()
        },
        "audit": str(audit.folder.relative_to(plan.out)),
        "model": plan.model,
        "verdict_model": plan.judging,
        "metrics": {name: audit.metrics[name] for name in FIGURES if name in audit.metrics},
    }
    write_json(plan.out / SUMMARY, summary)
    return report
