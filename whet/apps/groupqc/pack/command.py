"""`whet groupqc pack`: check a pack of one's own, or print the keys that one may have."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(
    name="pack", no_args_is_help=True, rich_markup_mode=None, help="Mission packs: check one, or its keys."
)


@app.command("check", no_args_is_help=True)
def check(file: Annotated[str, typer.Argument(help="A .toml file, or the name of a pack that comes along.")]) -> None:
    """Say all that is wrong with a pack, one line a mistake with what is allowed. Exits with 1 when something is."""
    from whet.envs.groupqc.pack.file import load_pack, pack_mistakes
    from whet.terminal import print_lines

    mistakes = pack_mistakes(file)
    if mistakes:
        print_lines(*mistakes, f"{len(mistakes)} mistakes")
        raise SystemExit(1)
    pack = load_pack(file)
    missions = ", ".join(mission.name for mission in pack.missions)
    print_lines(f"{file}: pack {pack.name!r} with {len(pack.missions)} missions: {missions}")


@app.command("keys")
def keys() -> None:
    """Print every key that a pack may have, as Markdown."""
    from whet.envs.groupqc.pack.keys import reference
    from whet.terminal import print_lines

    print_lines(*reference())
