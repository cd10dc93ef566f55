"""`whet groupqc decide` and `whet groupqc calibrate`: verdicts without labels, and the threshold of a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from whet.apps.groupqc.audit.command import audit_settings
from whet.apps.groupqc.options import (
    BaseUrlOption,
    ConcurrencyOption,
    DecodesOption,
    JudgeModelOption,
    MaxUsdOption,
    MissionsOption,
    OverridesOption,
    PacksOption,
    PlaybookOption,
    RetryFaultsOption,
    SamplesOption,
    SequentialOption,
    ThresholdOption,
    control_section,
)


def decide(
    source: Annotated[Path, typer.Argument(help="Stage-A file or folder; labels are not asked for.")],
    model: JudgeModelOption = "baseline:rules",
    threshold: ThresholdOption = None,
    pack: PacksOption = None,
    mission: MissionsOption = None,
    decode: DecodesOption = None,
    sequential: SequentialOption = False,
    samples: SamplesOption = 1,
    playbook: PlaybookOption = None,
    concurrency: ConcurrencyOption = None,
    base_url: BaseUrlOption = None,
    overrides: OverridesOption = None,
    max_usd: MaxUsdOption = None,
    run: Annotated[str | None, typer.Option("--run", help="Name of the run. [made from its identity]")] = None,
    runs: Annotated[Path, typer.Option("--runs", help="Folder that runs are kept in.")] = Path("runs"),
    retry_faults: RetryFaultsOption = False,
) -> None:
    """Give every ticket a verdict: released, blocked, or for a person. Exits with 1 when a ticket has no vote."""
    from dataclasses import replace

    from whet.apps.groupqc.decision.run import decide as decide_tickets
    from whet.terminal import TerminalProgress, console, interruptible, print_page

    config = _config(source, model, mission, pack, playbook, control_section(base_url, max_usd, concurrency), overrides)
    settings = replace(audit_settings(decode or (), samples, sequential, 0.05), threshold=str(threshold or ""))
    with interruptible():
        result = decide_tickets(
            config, settings, runs=runs, name=run, progress=TerminalProgress(), retry_faults=retry_faults
        )
    print_page(result.page(), console())


def calibrate(
    source: Annotated[Path, typer.Argument(help="Stage-A file with labels, of sites that will not be decided.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Threshold file to write.")],
    max_false_release: Annotated[float, typer.Option(help="Share of failing tickets that may be released.")] = 0.05,
    confidence: Annotated[float, typer.Option(help="Confidence of the upper bound.")] = 0.95,
    model: JudgeModelOption = "baseline:rules",
    playbook: PlaybookOption = None,
    sequential: SequentialOption = False,
    decode: DecodesOption = None,
    pack: PacksOption = None,
    samples: SamplesOption = 1,
    mission: MissionsOption = None,
    max_usd: MaxUsdOption = None,
    overrides: OverridesOption = None,
    concurrency: ConcurrencyOption = None,
    base_url: BaseUrlOption = None,
    runs: Annotated[Path, typer.Option("--runs", help="Folder that runs are kept in.")] = Path("runs"),
) -> None:
    """Choose from which score on a ticket is released. Exits with 1 when no threshold keeps the bound."""
    from whet.apps.groupqc.decision.run import calibrate as choose_threshold
    from whet.terminal import TerminalProgress, interruptible, print_lines

    config = _config(source, model, mission, pack, playbook, control_section(base_url, max_usd, concurrency), overrides)
    settings = audit_settings(decode or (), samples, sequential, max_false_release)
    with interruptible():
        made = choose_threshold(
            config, settings, max_false_release, out, confidence=confidence, runs=runs, progress=TerminalProgress()
        )
    print_lines(*made.lines(out))
    raise SystemExit(0 if made.rule.threshold is not None else 1)


def _config(
    source: Path,
    model: str,
    missions: list[str] | None,
    packs: list[str] | None,
    playbook: str | None,
    control: dict[str, Any],
    overrides: list[str] | None,
) -> Any:
    from whet.apps.groupqc.decision.run import decision_base
    from whet.config.load import load_config
    from whet.config.schema import EvalConfig

    args: dict[str, Any] = {}
    if packs:
        args["pack"] = list(packs)
    if missions:
        args["mission"] = list(missions)
    base = decision_base(source, model, args)
    base["eval"]["playbook"] = playbook
    return load_config(EvalConfig, None, {**base, "control": control}, overrides or ())
