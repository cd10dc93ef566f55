"""Commands that installed packages bring: found by the entry point group `whet.commands`, imported when one is called.

Packages are looked through only for a list of all commands and for a name that is none of Whet's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from whet.apps.app import App
from whet.errors import WhetError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "whet.commands"

Loaded = TypeVar("Loaded")


class CommandList(TyperGroup):
    """Whet's own commands in their order, then those of installed packages by name. Whet's own come first."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        self._add_installed()
        return super().list_commands(ctx)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]
        if cmd_name not in self.commands:
            self._add_installed()
        return super().get_command(ctx, cmd_name)

    def _add_installed(self) -> None:
        # Imported here: it takes as long as all of Whet's own commands together.
        from importlib.metadata import entry_points

        entries: dict[str, list[EntryPoint]] = {}
        for entry in entry_points(group=GROUP):
            entries.setdefault(entry.name, []).append(entry)
        for name in sorted(entries):
            self.commands.setdefault(name, AppCommand(name, entries[name]))


class AppCommand(TyperCommand):
    """One app under its name. What cannot be loaded says so in its line of the list, and in one line when called."""

    def __init__(self, name: str, entries: Sequence[EntryPoint]) -> None:
        super().__init__(name)
        self._entries = entries

    def get_short_help_str(self, limit: int = 45) -> str:
        try:
            self.help = self._app().about
        except WhetError as problem:
            return str(problem)
        return super().get_short_help_str(limit)

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context of the app's own group of commands: nothing of this class takes part in what follows."""
        app = self._app()
        commands = self._loaded(lambda: typer.main.get_group(app.load()))
        return commands.make_context(info_name, args, parent=parent, **extra)

    def _app(self) -> App:
        if len({entry.value for entry in self._entries}) > 1:
            packages = " and ".join(_package(entry) for entry in self._entries)
            raise WhetError(f"the command {self.name!r} is brought by {packages}: remove one of them")
        app: Any = self._loaded(self._entries[0].load)
        if not isinstance(app, App):
            raise self._refusal(f"{self._entries[0].value} is no whet.apps.app.App")
        return app

    def _loaded(self, load: Callable[[], Loaded]) -> Loaded:
        """What `load` gives. An installed package may raise anything when it is imported."""
        try:
            return load()
        except Exception as problem:
            raise self._refusal(f"{type(problem).__name__}: {problem}") from problem

    def _refusal(self, why: str) -> WhetError:
        said = " ".join(why.split())
        return WhetError(f"the command {self.name!r} of {_package(self._entries[0])} cannot be loaded: {said}")


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.value
