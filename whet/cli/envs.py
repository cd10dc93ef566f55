"""`whet envs`: which environments there are, what is in one, and whether one keeps its contract."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from whet.envs.description import Description
    from whet.run.contract.check import CheckReport
    from whet.types import Split, Task

app = typer.Typer(name="envs", invoke_without_command=True, rich_markup_mode=None)

Address = Annotated[str, typer.Argument(help="NAME, NAME/VARIANT, NAME:SOURCE or path/to/file.py:Name.")]
Args = Annotated[list[str] | None, typer.Option("--arg", "-a", help="Argument of the environment, KEY=VALUE.")]


@app.callback()
def envs(context: typer.Context) -> None:
    """List the environments, or show, sample or check one."""
    if context.invoked_subcommand is None:
        from whet.envs.registry import abouts

        _print(_table(("environment", "what it is"), list(abouts().items())))
        _say("A file of your own: whet envs show path/to/file.py:Name")


@app.command("show", no_args_is_help=True)
def show(address: Address, arg: Args = None) -> None:
    """Arguments, splits, kinds and an example; or the variants of a family."""
    from whet.envs.description import describe
    from whet.envs.registry import parse_args, stands_alone, variants_at

    variants = variants_at(address)
    if variants:
        _print_columns(variants)
        count = "1 variant" if len(variants) == 1 else f"{len(variants)} variants"
        _say(f"{count}. See one with: whet envs show {address}/{variants[0]}")
    if not variants or stands_alone(address):
        _print_description(describe(address, parse_args(arg or ())))


@app.command("sample", no_args_is_help=True)
def sample(
    address: Address,
    split: Annotated[str, typer.Option("--split", "-s", help="train, select or test.")] = "train",
    n: Annotated[int, typer.Option("-n", help="How many tasks.", min=1)] = 3,
    truth: Annotated[bool, typer.Option("--truth", help="Also what the grader knows.")] = False,
    arg: Args = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Print the first tasks of a split."""
    from whet.envs.description import sample as first_tasks
    from whet.envs.registry import parse_args

    for task in first_tasks(address, _split(split), n, parse_args(arg or ())):
        _print_task_json(task, truth) if json else _say(_task_text(task, truth))


@app.command("check", no_args_is_help=True)
def check(
    address: Address,
    n: Annotated[int, typer.Option("-n", help="How many tasks to try it on.", min=1)] = 40,
    arg: Args = None,
    seed: Annotated[int, typer.Option(help="Another seed is another sample.")] = 0,
) -> None:
    """Whether an environment keeps its contract; exit code 1 when it does not."""
    from whet.envs.registry import load_environment, parse_args
    from whet.run.contract.check import check as examine

    args = parse_args(arg or ())
    report = examine(load_environment(address, args), samples=n, seed=seed, address=address, args=args)
    _print_report(report)
    if not report.passed:
        raise typer.Exit(1)


# --------------------------------------------------------------------------------------------- printing


def _split(text: str) -> Split:
    from whet.errors import WhetError, nearest
    from whet.types import SPLITS

    found = next((split for split in SPLITS if split == text), None)
    if found is None:
        raise WhetError(f"there is no split {text!r}.{nearest(text, SPLITS)} The splits are {', '.join(SPLITS)}.")
    return found


def _say(text: str) -> None:
    from whet.terminal import print_lines

    print_lines(text)


def _print(renderable: Any) -> None:
    from whet.terminal import console

    console().print(renderable)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(*head, box=None, header_style="bold", pad_edge=False)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _print_columns(names: Sequence[str]) -> None:
    from rich.columns import Columns

    _print(Columns(names, column_first=True, padding=(0, 3)))


def _print_description(seen: Description) -> None:
    from whet.envs.arguments import type_name

    _say(f"{seen.address}: {seen.about}" if seen.about else seen.address)
    _say(f"fingerprint  {seen.fingerprint}")
    sizes = ", ".join(f"{split} {'unbounded' if size is None else size}" for split, size in seen.sizes.items())
    _say(f"splits       {sizes}")
    labels = (f"{label.kind} ({label.difficulty})" if label.difficulty else label.kind for label in seen.labels)
    _say(f"kinds        {', '.join(labels)}")
    _say(f"baselines    {', '.join(seen.baselines)}")
    if seen.standing:
        _say(f"references   {seen.standing}")
    if seen.arguments:
        _say("")
        rows = [
            (argument.name, type_name(argument.type), _default(argument), argument.help) for argument in seen.arguments
        ]
        _print(_table(("argument", "type", "default", ""), rows))
    _say(f"\nFor example, {_task_text(seen.example, truth=False)}".rstrip())


def _default(argument: Any) -> str:
    text = "required" if argument.required else repr(argument.default)
    return text if len(text) <= 40 else text[:37] + "..."


def _task_text(task: Task, truth: bool) -> str:
    label = f"{task.label.kind}, {task.label.difficulty}" if task.label.difficulty else task.label.kind
    said = "\n".join(f"  {message.author}: {message.text}".replace("\n", "\n  ") for message in task.messages)
    return f"{task.id} ({label})\n{said}\n" + (f"  truth: {task.truth!r}\n" if truth else "")


def _print_task_json(task: Task, truth: bool) -> None:
    from whet import wire
    from whet.terminal import print_json

    shown = {"id": task.id, "label": task.label, "messages": [wire.message_out(message) for message in task.messages]}
    print_json(wire.dumps({**shown, "truth": task.truth} if truth else shown))


def _print_report(report: CheckReport) -> None:
    rows = [(finding.status, finding.name, finding.summary) for finding in report.findings]
    _say(f"{report.environment} ({report.fingerprint})")
    _print(_table(("", "property", ""), rows))
    for finding in report.findings:
        if finding.detail and finding.status != "ok":
            _say(f"{finding.name}: {finding.detail}")
