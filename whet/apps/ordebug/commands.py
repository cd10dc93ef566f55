"""`whet ordebug`: generate the benchmark, write traces, take the gradient, show a run's own figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="ordebug",
    no_args_is_help=True,
    help="Broken optimisation models: generate, traces, gradient, metrics.",
    rich_markup_mode=None,
)

RunsOption = Annotated[Path, typer.Option("--runs", help="Folder that runs are kept in.")]
ArgsOption = Annotated[list[str] | None, typer.Option("--arg", "-a", help="Argument of the environment: key=value.")]


def _ticker(what: str) -> Callable[[int, int], None]:
    """A line on standard error now and then."""
    from whet.screen import screen_for

    def tick(done: int, total: int) -> None:
        if done == total or done % max(1, total // 20) == 0:
            screen_for("stderr").print(f"{done} of {total} {what}")

    return tick


@app.command("generate")
def generate(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write the cells into.")],
    every: Annotated[bool, typer.Option("--all", help="All twelve cells.")] = False,
    cells: Annotated[
        list[str] | None, typer.Option("--cell", help="A cell such as type_A_easy; give it again for more.")
    ] = None,
    n: Annotated[int, typer.Option("--n", "-n", min=1, help="Problems in each cell.")] = 200,
    seed: Annotated[int, typer.Option(help="Seed of the problems.")] = 2026,
    processes: Annotated[int, typer.Option("--processes", "-j", min=1, help="Processes that work side by side.")] = 2,
) -> None:
    """Write certified problems as MPS models with dataset.json: the same bytes every time."""
    from whet.apps.ordebug.generation import generate_cells
    from whet.terminal import console

    summary = generate_cells(
        out, n=n, seed=seed, processes=processes, cells=tuple(cells or ()), every=every, tick=_ticker("problems")
    )
    console().print(summary, soft_wrap=True)


@app.command("traces")
def traces(
    out: Annotated[Path, typer.Option("--out", "-o", help="JSON lines file to write.")],
    n: Annotated[int, typer.Option("--n", "-n", min=1, help="Trajectories.")] = 600,
    seed: Annotated[int, typer.Option(help="Seed of the way they are told.")] = 0,
    args: ArgsOption = None,
    processes: Annotated[int, typer.Option("--processes", "-j", min=1, help="Processes that work side by side.")] = 1,
    looked_up: Annotated[
        float, typer.Option(min=0, max=1, help="Share that looks requirements up with find, where tables tell them.")
    ] = 0.0,
) -> None:
    """Write oracle trajectories of training problems for SFT, in the protocol of the play."""
    from whet.apps.ordebug.traces import write_traces
    from whet.envs.arguments import parse_args
    from whet.terminal import console

    given = parse_args(args or ())
    ticker = _ticker("trajectories")
    written = write_traces(out, n=n, seed=seed, args=given, processes=processes, looked_up=looked_up, tick=ticker)
    line = f"{written.path}: {written.count} trajectories, {written.replies:.1f} replies each"
    console().print(line, soft_wrap=True)


@app.command("gradient")
def gradient(
    model: Annotated[str, typer.Option("--model", "-m", help="scheme:identifier, or baseline:search.")],
    n: Annotated[int, typer.Option("--n", "-n", min=1, help="Problems in each cell.")] = 50,
    turns: Annotated[int, typer.Option(min=1, help="Steps in one attempt.")] = 10,
    split: Annotated[str, typer.Option(help="train, select or test.")] = "select",
    seed: Annotated[int, typer.Option(help="Seed of the sample.")] = 0,
    playbook: Annotated[str, typer.Option("--playbook", "-p", help="Playbook, or 'blank'.")] = "blank",
    cells: Annotated[list[str] | None, typer.Option("--cell", help="Only this cell; give it again for more.")] = None,
    floor: Annotated[bool, typer.Option("--floor/--no-floor", help="Also play the reference policies.")] = True,
    args: ArgsOption = None,
    overrides: Annotated[list[str] | None, typer.Option("--set", help="Any key of the config.")] = None,
    json: Annotated[Path | None, typer.Option("--json", help="Also write the figures here.")] = None,
    runs: RunsOption = Path("runs"),
) -> None:
    """Evaluate the twelve cells and hold repaired@10 against the expected bands; started again, it continues."""
    from whet.apps.ordebug import gradient as room
    from whet.apps.ordebug.generation import cells_named
    from whet.envs.arguments import parse_args
    from whet.files import write_json
    from whet.terminal import TerminalProgress, console

    given = tuple(parse_args(args or ()).items())
    plan = room.GradientPlan(model, n, turns, split, seed, playbook, floor, given, tuple(overrides or ()))
    chosen = cells_named(cells or ())
    rows = room.gradient(plan, runs=runs, progress=TerminalProgress(), cells=chosen)
    if json is not None:
        write_json(json, room.to_data(plan, rows))
    for table in room.tables(plan, rows):
        console().print(table)
    means = ", ".join(f"{name} {100 * value:.0f} %" for name, value in room.steps(rows).items())
    console().print(f"{room.BAND_METRIC}: {means}")


@app.command("inspect")
def inspect(
    folder: Annotated[Path, typer.Argument(help="Folder of MPS models with dataset.json.")],
    gurobi: Annotated[bool, typer.Option("--gurobi", help="Have Gurobi check every problem too.")] = False,
) -> None:
    """Say which problems of a folder ordebug:FOLDER takes, and which it refuses and why."""
    from whet.apps.ordebug.generation import inspect as inspected
    from whet.terminal import console

    console().print(inspected(folder, gurobi=gurobi), soft_wrap=True)


@app.command("metrics")
def metrics(
    run: Annotated[str, typer.Argument(help="Run of an ordebug environment: a name or a folder.")],
    runs: RunsOption = Path("runs"),
    json: Annotated[Path | None, typer.Option("--json", help="Also write the figures here.")] = None,
) -> None:
    """Print a run's own figures: repaired@k, feasible@k, localisation, the published RR@k, DA and OP."""
    from whet.apps.ordebug.figures import measure, table
    from whet.files import write_json
    from whet.run.workspace import open_run
    from whet.terminal import console

    opened = open_run(run, runs)
    found = measure(opened)
    if json is not None:
        write_json(json, {figures.who: figures.to_data() for figures in found})
    console().print(table(found, opened.name))
