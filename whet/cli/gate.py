"""`whet gate`: bring a candidate to the gate, or try gates out in a simulated world."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

DECIDE = "decide"


class _DecideByDefault(TyperGroup):
    """`whet gate RUN ...` means `whet gate decide RUN ...`."""

    standard = DECIDE

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = [self.standard, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    name="gate",
    cls=_DecideByDefault,
    no_args_is_help=True,
    help="Accept a candidate playbook, or not.",
    rich_markup_mode=None,
)


@app.command(DECIDE)
def decide(
    run: Annotated[str, typer.Argument(help="Run whose playbook is the incumbent: a name or a folder.")],
    candidate: Annotated[str | None, typer.Option("--candidate", help="Playbook that may replace it.")] = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="Model that may replace the run's, reached the same way.")
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", help="A key of the gate: name, alpha, pace, metric, min_effect, max_rollouts, exclude."),
    ] = None,
    runs: Annotated[Path, typer.Option("--runs", help="Folder that runs are kept in.")] = Path("runs"),
) -> None:
    """Bring a candidate to the gate as a child run (the default: 'whet gate RUN --candidate FILE')."""
    from whet.run import api
    from whet.terminal import TerminalProgress, console, interruptible, print_page

    with interruptible():
        result = api.decide(
            run,
            candidate,
            candidate_model=model,
            overrides=overrides or (),
            runs=runs,
            progress=TerminalProgress(),
        )
    print_page(result.page(), console())


@app.command("simulate")
def simulate(
    world: Annotated[Path, typer.Option("--world", help="TOML file that describes the world.")],
    gates: Annotated[
        list[str] | None,
        typer.Option("--gate", help="paired, strict, none, gepa or rule_search; give it again for more."),
    ] = None,
    paces: Annotated[
        list[str] | None,
        typer.Option("--pace", help="Pace of the paired gate: eager, steady, patient or brief; again for more."),
    ] = None,
    alpha: Annotated[float | None, typer.Option(help="Alpha of the paired gate. [the pace's own]")] = None,
    runs: Annotated[int, typer.Option("--runs", help="Simulated runs for each gate.")] = 200,
    seed: Annotated[int, typer.Option(help="Seed of the simulation.")] = 0,
    json: Annotated[Path | None, typer.Option("--json", help="Also write the figures here.")] = None,
) -> None:
    """Try gates out in a world whose truth is known: gain, false accepts, cost."""
    from whet.cli.simulate import simulate_command

    chosen = tuple(gates or ("paired", "strict"))
    simulate_command(world, chosen, tuple(paces or ("eager",)), alpha, runs=runs, seed=seed, json=json)
