"""`whet groupqc run`: photos to summaries to verdicts to a report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from whet.apps.groupqc.audit.command import audit_settings
from whet.apps.groupqc.options import (
    BaseUrlOption,
    ConcurrencyOption,
    DecodesOption,
    MaxPixelsOption,
    MaxUsdOption,
    MissionsOption,
    OverridesOption,
    PacksOption,
    PhotoModelOption,
    PlaybookOption,
    ReleasesOption,
    RetryFaultsOption,
    SamplesOption,
    SequentialOption,
    ThresholdOption,
    WholeGroupsOption,
    control_section,
)


def run(
    root: Annotated[Path, typer.Argument(help="Folder with a folder for each mission.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder that everything is written to.")],
    model: PhotoModelOption = "baseline:reader",
    verdict_model: Annotated[
        str, typer.Option("--verdict-model", "-v", help="Model that judges. [the same; the rules beside the reader]")
    ] = "",
    mission: MissionsOption = None,
    pack: PacksOption = None,
    playbook: PlaybookOption = None,
    releases: ReleasesOption = 0.05,
    threshold: ThresholdOption = None,
    max_pixels: MaxPixelsOption = None,
    whole_groups: WholeGroupsOption = False,
    decode: DecodesOption = None,
    samples: SamplesOption = 1,
    sequential: SequentialOption = False,
    base_url: BaseUrlOption = None,
    max_usd: MaxUsdOption = None,
    concurrency: ConcurrencyOption = None,
    overrides: OverridesOption = None,
    retry_faults: RetryFaultsOption = False,
) -> None:
    """Photos to summaries to verdicts to a report. Start it again, and it goes on."""
    from dataclasses import replace

    from whet.apps.groupqc.pipeline.run import PipelinePlan, run_all
    from whet.config.load import merge
    from whet.run.kinds import RunPage
    from whet.terminal import TerminalProgress, console, interruptible, print_lines, print_page

    given: dict[str, Any] = {}
    photos = {"max_pixels": max_pixels, "whole_groups": whole_groups or None}
    merge(given, {"control": control_section(base_url, max_usd, concurrency), "eval": {"playbook": playbook}})
    plan = PipelinePlan(
        root,
        out,
        model,
        verdict_model,
        tuple(mission or ()),
        tuple(pack or ()),
        {
            "control": given.get("control", {}),
            "photos": {name: told for name, told in photos.items() if told is not None},
        },
        given,
        tuple(overrides or ()),
        replace(audit_settings(decode or (), samples, sequential, releases), threshold=str(threshold or "")),
    )
    with interruptible():
        result = run_all(plan, progress=TerminalProgress(), retry_faults=retry_faults)
    for name, stage in result.stages.items():
        print_lines(f"{name}:", *(f"  {line}" for line in stage.lines()))
    if result.audit is not None:
        print_page(RunPage(result.audit.page().parts), console())
    if result.report is not None:
        print_lines(f"everything: {result.report}")
    raise SystemExit(result.exit_code)
