"""An app as `whet` knows it before any of its code is imported."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typer import Typer


@dataclass(frozen=True, slots=True)
class App:
    """A group of commands under `whet NAME`. An entry point of the group `whet.commands` names one:

        [project.entry-points."whet.commands"]
        mine = "my_package:APP"                            # APP = App("What it is for.", "my_package.commands:app")

    The module that it points to is imported for every `whet --help`, so it holds nothing but this.
    """

    about: str
    """One line, shown in the list of commands."""
    where: str
    """`module:name` of its `typer.Typer`, imported when one of its commands is called."""

    def load(self) -> Typer:
        """The commands. Raises whatever importing them raises."""
        module, _, name = self.where.partition(":")
        commands: Typer = getattr(importlib.import_module(module), name)
        return commands
