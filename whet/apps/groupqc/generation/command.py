"""`whet groupqc generate`: synthetic work with its truth beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from whet.apps.groupqc.options import MissionsOption, PacksOption


def generate(
    out: Annotated[Path, typer.Argument(help="A file F.jsonl for summaries, or a folder for photos.")],
    n: Annotated[int, typer.Option("-n", help="Groups.")] = 60,
    mission: MissionsOption = None,
    pack: PacksOption = None,
    noise: Annotated[
        list[str] | None, typer.Option("--noise", help="'realistic', or CHANNEL=RATE; again for more channels.")
    ] = None,
    spoiled: Annotated[float, typer.Option(help="Share of groups with each kind of damaged photos.")] = 0.0,
    seed: Annotated[int, typer.Option(help="Another seed draws other sites.")] = 0,
    split: Annotated[Literal["train", "select", "test"], typer.Option(help="Whose sites.")] = "train",
    conventions: Annotated[
        str | None, typer.Option(help="Seed of the reviewers' unwritten conventions, or none. [0; for photos none]")
    ] = None,
    truth: Annotated[bool, typer.Option("--truth", help="Also print the planted conventions.")] = False,
) -> None:
    """Make synthetic work: a Stage-A file, or a tree of drawn photos; the truth goes beside it."""
    from whet.apps.groupqc.generation.conventions import convention_lines, write_conventions
    from whet.apps.groupqc.generation.files import generate_groups, write_photos, write_tickets
    from whet.envs.arguments import parse_args
    from whet.envs.groupqc.environment import chosen_conventions, chosen_missions, chosen_noise
    from whet.envs.groupqc.pack.file import load_packs
    from whet.terminal import print_lines

    missions = chosen_missions(load_packs(pack or ()), mission or ())
    rates = chosen_noise(noise[0] if noise and "=" not in noise[0] else parse_args(noise or ()))
    filed = out.suffix == ".jsonl"
    habits = chosen_conventions(conventions if conventions is not None else 0 if filed else "none")
    groups = generate_groups(missions, n, noise=rates, seed=seed, split=split, conventions=habits)
    made = write_tickets(out, groups) if filed else write_photos(out, groups, spoiled, seed)
    print_lines(f"{made.groups} groups with {made.photos} photos in {made.out}, their truth in {made.truth}")
    planted = write_conventions(made.truth, missions, habits)
    if planted is not None:
        print_lines(f"the unwritten conventions by which their labels go are in {planted}")
    if truth:
        print_lines(*convention_lines(missions, habits))
