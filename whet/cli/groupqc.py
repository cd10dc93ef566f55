"""`whet groupqc`: photos to summaries, summaries to verdicts, and what the verdicts add up to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

app = typer.Typer(
    name="groupqc",
    no_args_is_help=True,
    help="Group quality control: from the photos of a site to one verdict.",
    rich_markup_mode=None,
)

Model = Annotated[str, typer.Option("--model", "-m", help="scheme:identifier; baseline:rules needs no model.")]
Eyes = Annotated[str, typer.Option("--model", "-m", help="Model that sees; baseline:reader needs none.")]
Missions = Annotated[list[str] | None, typer.Option("--mission", help="Only this mission; give it again for more.")]
Packs = Annotated[list[str] | None, typer.Option("--pack", help="Pack, by name or .toml file. [all that come along]")]
Playbook = Annotated[str | None, typer.Option("--playbook", "-p", help="Rules to judge by: Markdown or JSON file.")]
Decodes = Annotated[
    list[str] | None, typer.Option("--decode", help="TEMPERATURE or TEMPERATURE/TOP_P; again for a grid.")
]
Samples = Annotated[int, typer.Option("--samples", help="Draws of each decode.")]
Sequential = Annotated[bool, typer.Option("--sequential", help="Stop drawing when a majority is settled.")]
Releases = Annotated[float, typer.Option("--releases", help="False releases allowed, of the failing tickets.")]
BaseUrl = Annotated[str | None, typer.Option(help="OpenAI-compatible endpoint.")]
MaxTokens = Annotated[int | None, typer.Option(help="Tokens of one reply.")]
MaxUsd = Annotated[float | None, typer.Option(help="Hard budget in dollars.")]
Concurrency = Annotated[int | None, typer.Option(help="Calls at once.")]
Overrides = Annotated[list[str] | None, typer.Option("--set", help="Any key of the config.")]
RetryFaults = Annotated[bool, typer.Option("--retry-faults", help="Redo what the service failed on.")]
Json = Annotated[Path | None, typer.Option("--json", help="Also write the result here.")]


@app.command("audit", no_args_is_help=True)
def audit(
    source: Annotated[str, typer.Argument(help="Stage-A file or folder, or 'generated'.")],
    model: Model = "baseline:rules",
    mission: Missions = None,
    pack: Packs = None,
    playbook: Playbook = None,
    decode: Decodes = None,
    samples: Samples = 1,
    sequential: Sequential = False,
    split: Annotated[Literal["all", "train", "select", "test"], typer.Option(help="Which tickets.")] = "all",
    n: Annotated[int | None, typer.Option("-n", help="Tickets of each split. [all; 100 where generated]")] = None,
    exclude: Annotated[Path | None, typer.Option(help="File with ticket keys to leave out.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse a file with a line that is no ticket.")] = False,
    arg: Annotated[list[str] | None, typer.Option("--arg", "-a", help="Argument of the environment.")] = None,
    releases: Releases = 0.05,
    every: Annotated[int, typer.Option(min=1, help="Tickets between two rows of the steps file.")] = 256,
    base_url: BaseUrl = None,
    max_tokens: MaxTokens = None,
    max_usd: MaxUsd = None,
    concurrency: Concurrency = None,
    overrides: Overrides = None,
    run: Annotated[str | None, typer.Option("--run", help="Name of the run. [made from its identity]")] = None,
    runs: Annotated[Path, typer.Option("--runs", help="Folder that runs are kept in.")] = Path("runs"),
    retry_faults: RetryFaults = False,
    json: Json = None,
) -> None:
    """Vote on every ticket of a Stage-A file and write what came of it; nothing is learned."""
    from whet.cli.groupqc_commands import Audit, audit_command, env_args

    args = env_args(arg or (), pack, mission, exclude, strict=strict, generated=source == "generated")
    base = {
        "env": {"name": "groupqc" if source == "generated" else f"groupqc:{source}", "args": args},
        "target": {"model": model, "sampling": {"max_tokens": max_tokens}},
        "eval": {"n": n or (100 if source == "generated" else "all"), "playbook": playbook},
        "control": _control(base_url, max_usd, concurrency),
    }
    voting = {"decode": decode or [], "samples": samples, "sequential": sequential}
    audit_command(Audit(base, tuple(overrides or ()), voting, split, releases, every, runs, run, retry_faults, json))


@app.command("run", no_args_is_help=True)
def run(
    root: Annotated[Path, typer.Argument(help="Folder with a folder for each mission.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder that everything is written to.")],
    model: Eyes = "baseline:reader",
    verdict_model: Annotated[
        str, typer.Option("--verdict-model", "-v", help="Model that judges. [the same; the rules beside the reader]")
    ] = "",
    mission: Missions = None,
    pack: Packs = None,
    playbook: Playbook = None,
    decode: Decodes = None,
    samples: Samples = 1,
    sequential: Sequential = False,
    releases: Releases = 0.05,
    base_url: BaseUrl = None,
    max_usd: MaxUsd = None,
    concurrency: Concurrency = None,
    overrides: Overrides = None,
    retry_faults: RetryFaults = False,
) -> None:
    """Photos to summaries to verdicts to a report. Start it again, and it goes on."""
    from whet.cli.groupqc_commands import run_command

    control = _control(base_url, max_usd, concurrency)
    voting = {"decode": decode or [], "samples": samples, "sequential": sequential}
    sections: dict[str, Any] = {"control": control, "eval": {"playbook": playbook}}
    names = {"model": model, "verdict_model": verdict_model, "missions": mission or [], "packs": pack or []}
    run_command(root, out, names, voting, sections, releases, tuple(overrides or ()), retry_faults=retry_faults)


@app.command("stage-a", no_args_is_help=True)
def stage_a(
    root: Annotated[Path, typer.Argument(help="Folder with a folder for each mission.")],
    mission: Annotated[str, typer.Option("--mission", help="The mission whose photos to summarise.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Stage-A file to write, F.jsonl.")],
    model: Eyes = "baseline:reader",
    pack: Packs = None,
    keys: Annotated[Literal["pack", "图片_", "image_"], typer.Option(help="How keys of summaries begin.")] = "pack",
    shard: Annotated[str | None, typer.Option(help="i/n: the i-th of n shares, from 0.")] = None,
    shard_by: Annotated[Literal["group", "image"] | None, typer.Option(help="What a share is made of.")] = None,
    batch: Annotated[int | None, typer.Option(help="Photos at once, for a local model (hf:DIR).")] = None,
    check: Annotated[
        Literal["text", "form", "words"], typer.Option(help="What a summary must be: text, an object, known words.")
    ] = "form",
    draws: Annotated[int | None, typer.Option(help="How often a photo is asked until its answer is usable.")] = None,
    max_pixels: Annotated[int | None, typer.Option(help="Larger photos are made smaller.")] = None,
    pass_groups: Annotated[int | None, typer.Option(help="At most this many approved groups.")] = None,
    fail_groups: Annotated[int | None, typer.Option(help="At most this many rejected groups.")] = None,
    base_url: BaseUrl = None,
    max_tokens: MaxTokens = None,
    max_usd: MaxUsd = None,
    concurrency: Concurrency = None,
    overrides: Overrides = None,
    retry_faults: RetryFaults = False,
) -> None:
    """Summarise the photos of a mission, one line of JSON for each group."""
    from whet.cli.groupqc_commands import stage_a_command

    photos = {
        "packs": pack,
        "keys": keys,
        "check": check,
        "shard": shard,
        "shard_by": shard_by,
        "draws": draws,
        "max_pixels": max_pixels,
        "pass_groups": pass_groups,
        "fail_groups": fail_groups,
    }
    control = _control(base_url, max_usd, concurrency or batch)
    control["target"]["slots"] = batch
    base = {"photos": photos, "target": {"sampling": {"max_tokens": max_tokens}}, "control": control}
    stage_a_command(root, mission, model, out, base, tuple(overrides or ()), retry_faults=retry_faults)


@app.command("merge", no_args_is_help=True)
def merge(
    parts: Annotated[list[Path], typer.Argument(help="Files of all shares.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Stage-A file to write.")],
) -> None:
    """Put the shares of a Stage-A run together."""
    from whet.cli.groupqc_commands import merge_command

    merge_command(parts, out)


@app.command("lint", no_args_is_help=True)
def lint(
    file: Annotated[Path, typer.Argument(help="Stage-A file.")],
    pack: Packs = None,
) -> None:
    """Say what is wrong with a Stage-A file, and what is odd. Exits with 1 when a line cannot be used."""
    from whet.cli.groupqc_commands import lint_command

    lint_command(file, tuple(pack or ()))


@app.command("drift", no_args_is_help=True)
def drift(
    reference: Annotated[Path, typer.Argument(help="Stage-A file, or folder of an audit.")],
    new: Annotated[Path, typer.Argument(help="What may have drifted from it.")],
    psi: Annotated[float, typer.Option(help="Stability index from which something has moved.")] = 0.1,
    alpha: Annotated[float, typer.Option(help="How often chance alone may raise an alarm.")] = 0.01,
    pack: Packs = None,
    every: Annotated[bool, typer.Option("--all", help="Show what has not moved, too.")] = False,
    json: Json = None,
) -> None:
    """Compare new tickets or verdicts with a reference. Exits with 1 when something drifted."""
    from whet.cli.groupqc_commands import drift_command

    drift_command(reference, new, psi=psi, alpha=alpha, packs=tuple(pack or ()), every=every, json=json)


@app.command("generate", no_args_is_help=True)
def generate(
    out: Annotated[Path, typer.Argument(help="A file F.jsonl for summaries, or a folder for photos.")],
    n: Annotated[int, typer.Option("-n", help="Groups.")] = 60,
    mission: Missions = None,
    pack: Packs = None,
    noise: Annotated[
        list[str] | None, typer.Option("--noise", help="'realistic', or CHANNEL=RATE; again for more channels.")
    ] = None,
    spoiled: Annotated[float, typer.Option(help="Share of groups with each kind of damaged photos.")] = 0.0,
    seed: Annotated[int, typer.Option(help="Another seed draws other sites.")] = 0,
    split: Annotated[Literal["train", "select", "test"], typer.Option(help="Whose sites.")] = "train",
) -> None:
    """Make synthetic work: a Stage-A file, or a tree of drawn photos; the truth goes beside it."""
    from whet.cli.groupqc_commands import generate_command

    names = {"missions": tuple(mission or ()), "packs": tuple(pack or ())}
    generate_command(out, n, names, tuple(noise or ()), spoiled=spoiled, seed=seed, split=split)


@app.command("smoke")
def smoke(
    pack: Packs = None,
    photos: Annotated[bool, typer.Option("--photos/--no-photos", help="Also draw and read two groups.")] = True,
) -> None:
    """Try the whole path with no model. Exits with 1 when a step fails."""
    from whet.cli.groupqc_commands import smoke_command

    smoke_command(tuple(pack or ()), photos=photos)


def _control(base_url: str | None, max_usd: float | None, concurrency: int | None) -> dict[str, Any]:
    return {"concurrency": concurrency, "budget": {"usd": max_usd}, "target": {"base_url": base_url}}
