"""Commands that installed packages bring: found by the entry point group `whet.commands`, imported when one is called.

Packages are looked through only for a list of all commands and for a name that is none of Whet's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

from whet.apps.app import App
from whet.errors import WhetError

if TYPE_CHECKING:
    from whet.plugins import PluginGroup


def _commands() -> PluginGroup:
    # Imported here: it takes as long as all of Whet's own commands together.
    from whet.plugins import PluginGroup

    return PluginGroup("whet.commands", "command")


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
        for name in _commands().names():
            self.commands.setdefault(name, AppCommand(name))


class AppCommand(TyperCommand):
    """One app under its name. What cannot be loaded says so in its line of the list, and in one line when called."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._name = name

    def get_short_help_str(self, limit: int = 45) -> str:
        try:
            self.help = self._app().about
        except WhetError as problem:
            return str(problem)
        return super().get_short_help_str(limit)

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context of the app's own group of commands: nothing of this class takes part in what follows."""
        return self.commands_inside().make_context(info_name, args, parent=parent, **extra)

    def commands_inside(self) -> Any:
        """The app's own group of commands."""
        group, app = _commands(), self._app()
        return group.guarded(group.entry(self._name), lambda: typer.main.get_group(app.load()))

    def _app(self) -> App:
        group = _commands()
        app: Any = group.load(self._name)
        if not isinstance(app, App):
            raise group.refusal(group.entry(self._name), "is no whet.apps.app.App")
        return app
