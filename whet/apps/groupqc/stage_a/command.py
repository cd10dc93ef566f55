"""`whet groupqc stage-a` and `whet groupqc merge`: photos to a Stage-A file, and the shares of one put together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from whet.apps.groupqc.options import (
    BaseUrlOption,
    ConcurrencyOption,
    MaxPixelsOption,
    MaxTokensOption,
    MaxUsdOption,
    OverridesOption,
    PacksOption,
    PhotoModelOption,
    RetryFaultsOption,
    WholeGroupsOption,
    control_section,
)


def stage_a(
    root: Annotated[Path, typer.Argument(help="Folder with a folder for each mission.")],
    mission: Annotated[str, typer.Option("--mission", help="The mission whose photos to summarise.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Stage-A file to write, F.jsonl.")],
    model: PhotoModelOption = "baseline:reader",
    pack: PacksOption = None,
    keys: Annotated[Literal["pack", "图片_", "image_"], typer.Option(help="How keys of summaries begin.")] = "pack",
    shard: Annotated[str | None, typer.Option(help="i/n: the i-th of n shares, from 0.")] = None,
    shard_by: Annotated[Literal["group", "image"] | None, typer.Option(help="What a share is made of.")] = None,
    batch: Annotated[int | None, typer.Option(help="Photos at once, for a local model (hf:DIR).")] = None,
    check: Annotated[
        Literal["text", "form", "words"], typer.Option(help="What a summary must be: text, an object, known words.")
    ] = "form",
    draws: Annotated[int | None, typer.Option(help="How often a photo is asked until its answer is usable.")] = None,
    max_pixels: MaxPixelsOption = None,
    whole_groups: WholeGroupsOption = False,
    pass_groups: Annotated[int | None, typer.Option(help="At most this many approved groups.")] = None,
    fail_groups: Annotated[int | None, typer.Option(help="At most this many rejected groups.")] = None,
    base_url: BaseUrlOption = None,
    max_tokens: MaxTokensOption = None,
    max_usd: MaxUsdOption = None,
    concurrency: ConcurrencyOption = None,
    overrides: OverridesOption = None,
    retry_faults: RetryFaultsOption = False,
) -> None:
    """Summarise the photos of a mission, one line of JSON for each group."""
    from whet.apps.groupqc.stage_a.config import stage_a_config
    from whet.apps.groupqc.stage_a.run import run_stage_a
    from whet.terminal import TerminalProgress, console, interruptible, print_page

    photos = {
        "packs": pack,
        "keys": keys,
        "check": check,
        "shard": shard,
        "shard_by": shard_by,
        "draws": draws,
        "max_pixels": max_pixels,
        "whole_groups": whole_groups or None,
        "pass_groups": pass_groups,
        "fail_groups": fail_groups,
    }
    control = control_section(base_url, max_usd, concurrency or batch)
    control["target"]["slots"] = batch
    base = {"photos": photos, "target": {"sampling": {"max_tokens": max_tokens}}, "control": control}
    config = stage_a_config(root, mission, model, out, base=base, overrides=tuple(overrides or ()))
    with interruptible():
        result = run_stage_a(config, progress=TerminalProgress(), retry_faults=retry_faults)
    print_page(result.page(), console())


def merge(
    parts: Annotated[list[Path], typer.Argument(help="Files of all shares.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Stage-A file to write.")],
) -> None:
    """Put the shares of a Stage-A run together."""
    from whet.apps.groupqc.stage_a.merge import merge_shards
    from whet.terminal import print_lines

    result = merge_shards(parts, out)
    print_lines(*result.lines())
    raise SystemExit(result.exit_code)
