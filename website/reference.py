"""The reference pages, written from the code when the site is built: commands, config keys, checks, environments, API.

`python website/reference.py` prints them; nothing of it is committed, so nothing of it can be out of date.
"""

from __future__ import annotations

import inspect
import re
import sys
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from types import UnionType
from typing import Any

import typer.main
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

import whet
from whet.cli.app import app
from whet.cli.codes import CODES
from whet.config.cross import CrossConfig
from whet.config.schema import EvalConfig
from whet.envs.data.arguments import OWN_ARGUMENTS
from whet.envs.data.checks import CHECKS
from whet.envs.registry import abouts
from whet.learn.learner import LEARNERS

Command = Any
"""A command as click has it."""


def commands_page() -> str:
    """Every command with its arguments and options, and the exit codes."""
    root = typer.main.get_command(app)
    parts = ["# Commands", "Each command prints this with `--help`.", "## Exit codes", "| code | means |\n|---|---|"]
    parts[-1] += "".join(f"\n| {code} | {cell(meaning)} |" for code, meaning in CODES.items())
    for name, command in walk(root, "whet"):
        if name == "whet" or command.hidden:
            continue
        parts.append(f"## {name}")
        parts.append((command.help or command.get_short_help_str(400)).strip())
        rows = [row for param in command.params if (row := _param(param))]
        if rows:
            parts.append("| | means | default |\n|---|---|---|" + "".join(rows))
    return page(parts)


def walk(command: Command, name: str) -> Iterator[tuple[str, Command]]:
    """A command and all below it, by their full names; apps of installed packages too."""
    inside = command.commands_inside() if hasattr(command, "commands_inside") else command
    if inside is not command:
        inside.help = inside.help or command.get_short_help_str(400)
    yield name, inside
    if hasattr(inside, "list_commands"):
        with inside.make_context(name, [], resilient_parsing=True) as context:
            for below in inside.list_commands(context):
                yield from walk(inside.get_command(context, below), f"{name} {below}")


def _param(param: Any) -> str:
    if getattr(param, "hidden", False) or param.name == "help":
        return ""
    names = ", ".join(f"`{name}`" for name in (*param.opts, *param.secondary_opts))
    if param.param_type_name == "argument":
        names = f"`{(param.metavar or param.name).upper()}`"
    default = param.default
    plain = default in (None, "") or callable(default) or isinstance(default, bool)
    shown = "" if plain else f"`{default}`"
    return f"\n| {names} | {cell(getattr(param, 'help', '') or '')} | {shown} |"


# --------------------------------------------------------------------------------------------- configs


def config_page() -> str:
    """Every key of every config, by section."""
    parts = [
        "# Config keys",
        "A config is TOML. Every key can be set on the command line with `--set section.key=value`. Keys under "
        "`control` say how a run is worked off and may change when it is resumed; all others say what it is.",
    ]
    for title, kind in config_kinds().items():
        parts.append(f"## {title}")
        parts.append(inspect.getdoc(kind) or "")
        rows = [
            f"\n| `{key}` | `{cell(kind_words)}` | {default} | {about} |"
            for key, kind_words, default, about in keys_of(kind)
        ]
        parts.append("| key | type | default | means |\n|---|---|---|---|" + "".join(rows))
    return page(parts)


def config_kinds() -> dict[str, type[BaseModel]]:
    """The configs by what they are for; one for each learner that is installed."""
    learners = {f"whet train, learner {name}": LEARNERS.load(name).config for name in LEARNERS.names()}
    return {"whet eval": EvalConfig, **learners, "whet cross": CrossConfig}


def keys_of(kind: type[BaseModel], before: str = "") -> Iterator[tuple[str, str, str, str]]:
    """Every key of a config: its dotted name, type, default and meaning."""
    for name, field in kind.model_fields.items():
        inner = section(field.annotation)
        if inner is not None:
            yield from keys_of(inner, f"{before}{name}.")
            continue
        default = field.default
        if default is PydanticUndefined:
            shown = "required" if field.default_factory is None else "`{}`"
        else:
            shown = "" if default is None else f"`{cell(str(default))}`"
        yield (
            f"{before}{name}",
            type_words(field.annotation),
            shown,
            cell(field.description or (before and _first_line(kind))),
        )


def _first_line(kind: type) -> str:
    """What a section says of itself, for a key that says nothing."""
    return (kind.__doc__ or "").partition("\n")[0]


def section(annotation: Any) -> type[BaseModel] | None:
    """The section that a key holds; None for a plain value or a list of sections."""
    options = (
        typing.get_args(annotation) if typing.get_origin(annotation) in (typing.Union, UnionType) else (annotation,)
    )
    return next((option for option in options if inspect.isclass(option) and issubclass(option, BaseModel)), None)


def type_words(annotation: Any) -> str:
    if inspect.isclass(annotation) and not typing.get_args(annotation):
        return annotation.__name__
    return str(annotation).replace("typing.", "").replace("whet.config.schema.", "").replace("NoneType", "None")


# --------------------------------------------------------------------------------------------- data


def checks_page() -> str:
    """Every check of the data environment with its arguments, and the arguments of the environment itself."""
    parts = [
        "# Checks",
        "How an answer to a row of your own data is graded: `check = NAME` under `[env.args]`, `-a check=NAME`, or "
        "`whet init --check NAME`. [Bring your own](../bring-your-own.md) says when to take which.",
    ]
    for name, check in CHECKS.items():
        parts += [f"## {name}", inspect.getdoc(check) or "", _arguments(check.takes)]
    parts += ["## Arguments of every data environment", _arguments(OWN_ARGUMENTS)]
    parts += ["## Environments", "| address | what it is |\n|---|---|"]
    parts[-1] += "".join(f"\n| `{name}` | {cell(about)} |" for name, about in abouts().items())
    return page(parts)


def _arguments(arguments: Any) -> str:
    if not arguments:
        return "It takes no arguments of its own."
    rows = (
        f"\n| `{argument.name}` | {'required' if argument.required else f'`{cell(repr(argument.default))}`'} "
        f"| {cell(argument.help)} |"
        for argument in arguments
    )
    return "| argument | default | means |\n|---|---|---|" + "".join(rows)


# --------------------------------------------------------------------------------------------- Python


def api_page() -> str:
    """Everything that `import whet` offers."""
    parts = [
        "# Python API",
        "What a command does is one function. Those that take their time have a twin to await, with an `a` before the "
        "name: `await whet.aevaluate(...)` takes what `whet.evaluate` takes.",
    ]
    for name in sorted(whet.__all__, key=lambda name: (inspect.isclass(getattr(whet, name)), name)):
        thing = getattr(whet, name)
        parts.append(f"## whet.{name}")
        if hasattr(whet, f"a{name}") and not inspect.isclass(thing):
            parts.append(f"Also to await: `await whet.a{name}(...)`.")
        parts.append(fenced(signature(name, thing)))
        parts.append(inspect.getdoc(thing) or "")
        if inspect.isclass(thing):
            parts += [line for line in _members(thing) if line]
    return page(parts)


def signature(name: str, thing: Any) -> str:
    """How it is called, a parameter a line where they are many."""
    try:
        told = inspect.signature(thing)
    except (TypeError, ValueError):
        return name
    text = _unquoted(f"{name}{told}")
    if len(text) <= 100:
        return text
    lines: list[str] = []
    for param in told.parameters.values():
        if param.kind is param.KEYWORD_ONLY and "*" not in lines:
            lines.append("*")
        lines.append(_unquoted(str(param)))
    inner = "".join(f"\n    {line}," for line in lines)
    ending = "" if told.return_annotation is inspect.Signature.empty else f" -> {told.return_annotation}"
    return _unquoted(f"{name}({inner}\n){ending}")


def _unquoted(text: str) -> str:
    """A signature whose types are not in quotes."""
    return re.sub(r"((?:: |-> ))'([^']+)'", r"\1\2", text).replace("PosixPath(", "Path(")


def _members(kind: type) -> Iterator[str]:
    rows = []
    for name, member in vars(kind).items():
        if name.startswith("_") or not (inspect.isfunction(member) or isinstance(member, property | classmethod)):
            continue
        about = (inspect.getdoc(member) or "").partition("\n")[0]
        rows.append(f"\n| `{name}` | {cell(about)} |")
    yield "| member | |\n|---|---|" + "".join(rows) if rows else ""


# --------------------------------------------------------------------------------------------- text


def page(parts: list[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


def cell(text: str) -> str:
    """A text in one cell of a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def fenced(code: str) -> str:
    return f"```python\n{code}\n```"


PAGES: dict[str, Callable[[], str]] = {
    "reference/commands.md": commands_page,
    "reference/config.md": config_page,
    "reference/checks.md": checks_page,
    "reference/api.md": api_page,
}
"""By the place in the site."""


if __name__ == "__main__":
    for place, write in PAGES.items():
        sys.stdout.write(f"<!-- {Path(place)} -->\n{write()}\n")
