"""Options that several commands of `whet groupqc` take, and the section of a config that some of them make up."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

JudgeModelOption = Annotated[
    str, typer.Option("--model", "-m", help="scheme:identifier; baseline:rules needs no model.")
]
PhotoModelOption = Annotated[str, typer.Option("--model", "-m", help="Model that sees; baseline:reader needs none.")]
MissionsOption = Annotated[
    list[str] | None, typer.Option("--mission", help="Only this mission; give it again for more.")
]
PacksOption = Annotated[
    list[str] | None, typer.Option("--pack", help="Pack, by name or .toml file. [all that come along]")
]
PlaybookOption = Annotated[
    str | None, typer.Option("--playbook", "-p", help="Rules to judge by: Markdown or JSON file.")
]
DecodesOption = Annotated[
    list[str] | None, typer.Option("--decode", help="TEMPERATURE or TEMPERATURE/TOP_P; again for a grid.")
]
SamplesOption = Annotated[int, typer.Option("--samples", help="Draws of each decode.")]
SequentialOption = Annotated[bool, typer.Option("--sequential", help="Stop drawing when a majority is settled.")]
ReleasesOption = Annotated[float, typer.Option("--releases", help="False releases allowed, of the failing tickets.")]
ThresholdOption = Annotated[
    Path | None,
    typer.Option("--threshold", help="Threshold file of whet groupqc calibrate; without it none is released."),
]
BaseUrlOption = Annotated[str | None, typer.Option(help="OpenAI-compatible endpoint.")]
MaxTokensOption = Annotated[int | None, typer.Option(help="Tokens of one reply.")]
MaxPixelsOption = Annotated[int | None, typer.Option(help="Larger photos are made smaller. [16,000,000]")]
WholeGroupsOption = Annotated[
    bool, typer.Option("--whole-groups", help="Refuse a group with a photo that cannot be used.")
]
MaxUsdOption = Annotated[float | None, typer.Option(help="Hard budget in dollars.")]
ConcurrencyOption = Annotated[int | None, typer.Option(help="Calls at once.")]
OverridesOption = Annotated[list[str] | None, typer.Option("--set", help="Any key of the config.")]
RetryFaultsOption = Annotated[bool, typer.Option("--retry-faults", help="Redo what the service failed on.")]
JsonOption = Annotated[Path | None, typer.Option("--json", help="Also write the result here.")]


def control_section(base_url: str | None, max_usd: float | None, concurrency: int | None) -> dict[str, Any]:
    """`[control]` of a config from what was typed; what is None keeps its default."""
    return {"concurrency": concurrency, "budget": {"usd": max_usd}, "target": {"base_url": base_url}}
