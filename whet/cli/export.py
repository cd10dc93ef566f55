"""`whet export`: what a run holds, in forms that others read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="export",
    no_args_is_help=True,
    help="Write what a run holds in a form that others read.",
    rich_markup_mode=None,
)


@app.callback()
def export() -> None:
    """Write what a run holds in a form that others read."""


@app.command("chat", no_args_is_help=True)
def chat(
    run: Annotated[str, typer.Argument(help="Run of any kind: a name or a folder.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File to write. [RUN/chat.jsonl]")] = None,
    purpose: Annotated[
        str, typer.Option(help="Only rollouts made for this, such as eval or train. [all but those of the floor]")
    ] = "",
    solved: Annotated[bool, typer.Option("--solved", help="Only rollouts that solved their task.")] = False,
    split: Annotated[str, typer.Option(help="Only tasks of train, select or test. [all]")] = "",
    runs: Annotated[Path, typer.Option("--runs", help="Folder that runs are kept in.")] = Path("runs"),
) -> None:
    """Write the conversations of a run as chat messages, one JSON object a line."""
    from whet.run.export import ChatFilter, export_chat
    from whet.terminal import print_lines

    print_lines(str(export_chat(run, out, ChatFilter(purpose, split, solved), runs)))


@app.command("rows", no_args_is_help=True)
def rows(
    run: Annotated[str, typer.Argument(help="Run of any kind: a name or a folder.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File (.jsonl, .parquet) or folder. [RUN/rollouts.jsonl]")
    ] = None,
    form: Annotated[str, typer.Option("--form", help="jsonl, parquet or hf. [what the file ends in]")] = "",
    runs: Annotated[Path, typer.Option("--runs", help="Folder that runs are kept in.")] = Path("runs"),
) -> None:
    """Write a row for each rollout: scores, reasons, tokens, parts."""
    from whet.run.export_rows import export_rows
    from whet.terminal import print_lines

    place, many = export_rows(run, out, form, runs)
    print_lines(f"{place}: {many:,} rollouts")


_WEIGHTS = "Run of a weight learner (its best weights), or an address hf:BASE+ADAPTER."


@app.command("adapter", no_args_is_help=True)
def adapter(
    weights: Annotated[str, typer.Argument(help=_WEIGHTS)],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write.")],
    runs: Annotated[Path, typer.Option("--runs", help="Folder that runs are kept in.")] = Path("runs"),
) -> None:
    """Write trained weights as an adapter, in the layout of peft."""
    from whet.learn.weights.export import write_adapter
    from whet.run.export_weights import best_address
    from whet.terminal import print_lines

    print_lines(f"{write_adapter(best_address(weights, runs), out)}: an adapter; use it as hf:BASE+{out}")


@app.command("merged", no_args_is_help=True)
def merged(
    weights: Annotated[str, typer.Argument(help=_WEIGHTS)],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write.")],
    runs: Annotated[Path, typer.Option("--runs", help="Folder that runs are kept in.")] = Path("runs"),
) -> None:
    """Write trained weights as a whole model, in the layout of transformers."""
    from whet.learn.weights.export import write_merged
    from whet.run.export_weights import best_address
    from whet.terminal import print_lines

    print_lines(f"{write_merged(best_address(weights, runs), out)}: a whole model; use it as hf:{out}")


@app.command("gguf", no_args_is_help=True)
def gguf(
    weights: Annotated[str, typer.Argument(help="Run of a weight learner, a model folder, or an address hf:....")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File to write. [model.gguf in the run]")] = None,
    kind: Annotated[str, typer.Option("--type", help="Number type: f32, f16 or q8_0.")] = "f16",
    runs: Annotated[Path, typer.Option("--runs", help="Folder that runs are kept in.")] = Path("runs"),
) -> None:
    """Write trained weights as one GGUF file, which the embedded model and llama.cpp load."""
    from whet.run.export_weights import export_gguf
    from whet.terminal import print_lines

    file = export_gguf(weights, out, kind, runs)
    print_lines(f"{file}: a whole model; use it as embedded:{file}")


@app.command("dataset", no_args_is_help=True)
def dataset(
    config: Annotated[Path, typer.Argument(help="Config of a training.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write.")],
    overrides: Annotated[list[str] | None, typer.Option("--set", help="section.key=value over the config.")] = None,
) -> None:
    """Write the train tasks of a config as JSON lines for another trainer: messages, kind, truth."""
    from whet.run.export_weights import export_dataset
    from whet.terminal import print_lines

    print_lines(f"{out}: {export_dataset(config, out, tuple(overrides or ()))} tasks")


@app.command("verifiers", no_args_is_help=True)
def verifiers(
    env: Annotated[str, typer.Argument(help="NAME, NAME/VARIANT, NAME:SOURCE or path/to/file.py:Name.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="New folder to write.")],
    arg: Annotated[
        list[str] | None, typer.Option("--arg", "-a", help="Argument of the environment, KEY=VALUE.")
    ] = None,
    name: Annotated[str, typer.Option("--name", help="Name of the package. [whet_ and the environment's]")] = "",
) -> None:
    """Write an environment as a package for verifiers 0.3 and 0.4, its data inside."""
    from whet.apps.interop.package import export_verifiers
    from whet.envs.registry import parse_args
    from whet.terminal import print_lines

    print_lines(str(export_verifiers(env, out, parse_args(arg or ()), name)))


@app.command("results", no_args_is_help=True)
def results(
    run: Annotated[str, typer.Argument(help="Run of any kind: a name or a folder.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write.")],
    line: Annotated[
        str, typer.Option("--line", help="v0: results.jsonl of verifiers 0.3; v1: traces.jsonl of 0.4.")
    ] = "v1",
    runs: Annotated[Path, typer.Option("--runs", help="Folder that runs are kept in.")] = Path("runs"),
) -> None:
    """Write the rollouts of a run as results of verifiers."""
    from whet.apps.interop.results import export_results
    from whet.terminal import print_lines

    print_lines(f"{out}: {export_results(run, out, line, runs):,} rollouts")


@app.command("from-verifiers", no_args_is_help=True)
def from_verifiers(
    folder: Annotated[Path, typer.Argument(help="Folder with results.jsonl or traces.jsonl.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="File of JSON lines to write.")],
) -> None:
    """Write results of verifiers, of either line, as chat records of ours."""
    from whet.apps.interop.results import convert_results
    from whet.terminal import print_lines

    print_lines(convert_results(folder, out))


@app.command("prime-rl", no_args_is_help=True)
def prime_rl(
    config: Annotated[Path, typer.Argument(help="Config of a training, with a model hf:OWNER/NAME.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="New folder to write.")],
    profile: Annotated[str, typer.Option(help="baseline, fast or single-gpu.")] = "baseline",
    version: Annotated[str, typer.Option(help="Version of prime-rl.")] = "0.8.0",
) -> None:
    """Write a config for prime-rl, with the environment as a package, a setup script and a runbook."""
    from whet.apps.interop.prime_rl.export import export_prime_rl
    from whet.terminal import print_lines

    print_lines(f"{export_prime_rl(config, out, profile, version)}: rl.toml, environment, setup.sh, RUNBOOK.md")


@app.command("hermit", no_args_is_help=True)
def hermit(
    source: Annotated[str, typer.Argument(help="Training run (its best playbook), or a playbook.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="New folder to write.")],
    template: Annotated[
        Path | None, typer.Option("--template", help="Adapter whose manifest it keeps, such as the one it came from.")
    ] = None,
    runs: Annotated[Path, typer.Option("--runs", help="Folder that runs are kept in.")] = Path("runs"),
) -> None:
    """Write a playbook as an adapter folder of Hermit."""
    from whet.apps.interop.hermit import export_hermit
    from whet.terminal import print_lines

    print_lines(export_hermit(source, out, template, runs))
