"""`whet init`: a folder to start from."""

from __future__ import annotations

from pathlib import Path

from whet.errors import WhetError
from whet.run.init import NewProject, initialise
from whet.terminal import print_lines


def init_command(name: str, *, source: Path | None, env: bool, encoding: str = "utf-8") -> None:
    if env == (source is not None):
        raise WhetError("whet init: give a file of examples (--from FILE), or --env for a new environment")
    show(initialise(name, source=source, encoding=encoding))


def show(made: NewProject) -> None:
    """What was made and assumed, and what to type next."""
    print_lines(f"{made.folder}/: {', '.join(made.files)}")
    if made.assumed:
        sizes = ", ".join(f"{split} {size}" for split, size in made.sizes.items())
        print_lines(f"\n{made.environment}: {sizes}. Assumed, and changed in {made.folder}/config.toml:")
        for assumption in made.assumed:
            print_lines(f"  - {assumption}")
    print_lines("\nNext:")
    for command in made.commands:
        print_lines(f"  {command}")
