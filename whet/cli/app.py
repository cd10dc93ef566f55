"""Whet's own commands, by name. Each command's module is imported when it is called, so `--help` stays quick."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from whet.cli.audit import app as audit
from whet.cli.codes import listed
from whet.cli.configs import app as configs
from whet.cli.envs import app as envs
from whet.cli.export import app as export
from whet.cli.gate import app as gate
from whet.cli.installed import CommandList
from whet.cli.models import app as models
from whet.cli.release import app as release
from whet.cli.review import app as review
from whet.cli.runs import app as runs

app = typer.Typer(
    name="whet",
    cls=CommandList,
    help="Make a language-model agent measurably better at a task that a program can check.",
    epilog=listed(),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(audit)
app.add_typer(configs)
app.add_typer(envs)
app.add_typer(export)
app.add_typer(gate)
app.add_typer(models)
app.add_typer(release)
app.add_typer(review)
app.add_typer(runs)

RunsFolder = Annotated[Path, typer.Option("--runs", help="Folder that runs are kept in.")]


@app.command("demo")
def demo(
    folder: Annotated[Path, typer.Argument(help="Folder for its data, config and run.")] = Path("whet-demo"),
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="Another model than the embedded one. [embedded:smollm2]")
    ] = None,
    overrides: Annotated[
        list[str] | None, typer.Option("--set", help="Any key of its config, such as train.seed=1.")
    ] = None,
) -> None:
    """Train a playbook for a small model in this process: no key, a few minutes, a report to open at the end."""
    from whet.cli.demo import demo_command

    demo_command(folder, model, tuple(overrides or ()))


@app.command("init", no_args_is_help=True)
def init(
    name: Annotated[str, typer.Argument(help="Folder to make.")],
    source: Annotated[
        Path | None, typer.Option("--from", help="Your examples: CSV, JSONL, JSON, Parquet or a folder.")
    ] = None,
    env: Annotated[bool, typer.Option("--env", help="Scaffold a new environment package instead.")] = False,
    encoding: Annotated[str, typer.Option(help="Encoding of the file.")] = "utf-8",
    answer: Annotated[
        str, typer.Option(help="Column with the right answer; a part of an object is annotation.label.")
    ] = "",
    prompt: Annotated[str, typer.Option(help="What is asked: a column, or a template such as '{title}: {body}'.")] = "",
    check: Annotated[
        str, typer.Option(help="How an answer is checked: choice, set, number, em, json …; with --skill, a command.")
    ] = "",
    identity: Annotated[str, typer.Option("--id", help="Column with a name for each row.")] = "",
    group: Annotated[str, typer.Option(help="Column whose rows stay on one side of the splits.")] = "",
    skip_missing: Annotated[bool, typer.Option("--skip-missing", help="Leave out rows without an answer.")] = False,
    skill: Annotated[Path | None, typer.Option(help="Folder with SKILL.md, to be measured and made better.")] = None,
    trial: Annotated[
        str, typer.Option("--try", help="Model that tries the first playbook on train tasks, or 'none'. [embedded]")
    ] = "auto",
    tasks: Annotated[Path | None, typer.Option(help="With --skill: its tasks, a prompt and files in each row.")] = None,
) -> None:
    """Make a ready project from a file of examples. The same command with other options makes it anew."""
    from whet.cli.init import init_command
    from whet.envs.data.proposal import Wishes

    wishes = Wishes(answer, prompt, identity, group, check, skip_missing)
    init_command(name, source=source, env=env, encoding=encoding, wishes=wishes, skill=skill, tasks=tasks, trial=trial)


@app.command("eval", no_args_is_help=True)
def evaluate(
    env: Annotated[str | None, typer.Argument(help="Environment, as 'whet envs' lists them.")] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="scheme:identifier, such as embedded:smollm2 or openai:gpt-4.1-mini."),
    ] = None,
    n: Annotated[
        str | None, typer.Option("-n", help="Tasks: a stratified sample of this size, or 'all'. [100]")
    ] = None,
    repeats: Annotated[int | None, typer.Option("--repeats", "-r", help="Draws of each task. [1]")] = None,
    split: Annotated[str | None, typer.Option(help="train, select or test. [select]")] = None,
    playbook: Annotated[
        str | None, typer.Option("--playbook", "-p", help="Markdown or JSON file, folder with SKILL.md, or 'blank'.")
    ] = None,
    arg: Annotated[
        list[str] | None, typer.Option("--arg", "-a", help="Argument of the environment, KEY=VALUE.")
    ] = None,
    config: Annotated[Path | None, typer.Option("--config", "-c", help="TOML file; options go over it.")] = None,
    overrides: Annotated[
        list[str] | None, typer.Option("--set", help="Any key of the config, such as target.sampling.max_tokens=256.")
    ] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Tokens of one reply. [1024]")] = None,
    temperature: Annotated[float | None, typer.Option(help="Sampling temperature. [the model's own]")] = None,
    seed: Annotated[int | None, typer.Option(help="Another seed is another sample and another run. [0]")] = None,
    base_url: Annotated[
        str | None, typer.Option(help="OpenAI-compatible endpoint (vLLM, SGLang, llama.cpp …).")
    ] = None,
    concurrency: Annotated[int | None, typer.Option(help="Attempts at once. [64, or what the model serves]")] = None,
    engine: Annotated[str | None, typer.Option(help="Where attempts are made: local, or ray. [local]")] = None,
    workers: Annotated[int | None, typer.Option(help="Actors, with ray. [one for each processor]")] = None,
    max_usd: Annotated[float | None, typer.Option(help="Hard budget in dollars.")] = None,
    run: Annotated[str | None, typer.Option("--run", help="Name of the run. [made from its identity]")] = None,
    runs: RunsFolder = Path("runs"),
    json: Annotated[Path | None, typer.Option("--json", help="Also write results.json here.")] = None,
    retry_faults: Annotated[bool, typer.Option("--retry-faults", help="Redo what the service failed on.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print config, plan and cost; call nothing.")] = False,
) -> None:
    """Measure a model on an environment."""
    from whet.cli.evaluate import Command, evaluate_command

    base = {
        "env": {"name": env, "args": arg or []},
        "target": {"model": model, "sampling": {"max_tokens": max_tokens, "temperature": temperature}},
        "eval": {"split": split, "n": n, "repeats": repeats, "seed": seed, "playbook": playbook},
        "control": {
            "concurrency": concurrency,
            "engine": engine,
            "ray": {"workers": workers},
            "budget": {"usd": max_usd},
            "target": {"base_url": base_url},
        },
    }
    evaluate_command(Command(base, config, tuple(overrides or ()), runs, run, json, retry_faults, dry_run))


@app.command("train", no_args_is_help=True)
def train(
    config: Annotated[
        Path | None, typer.Argument(help="TOML file: env, target, train, and an optimizer or none.")
    ] = None,
    overrides: Annotated[
        list[str] | None, typer.Option("--set", help="Any key of the config, such as train.epochs=2.")
    ] = None,
    continues: Annotated[
        str | None,
        typer.Option("--continue", help="Go on from where this run ended, with its config or with CONFIG."),
    ] = None,
    playbook: Annotated[
        str | None, typer.Option("--playbook", "-p", help="Where to start: a file, a folder with SKILL.md, or 'blank'.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Another seed is another run. [0]")] = None,
    engine: Annotated[str | None, typer.Option(help="Where attempts are made: local, or ray. [local]")] = None,
    workers: Annotated[int | None, typer.Option(help="Actors, with ray. [one for each processor]")] = None,
    run: Annotated[str | None, typer.Option("--run", help="Name of the run. [made from its identity]")] = None,
    runs: RunsFolder = Path("runs"),
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Print config and plan; call nothing but weights that would be trained."),
    ] = False,
) -> None:
    """Train a playbook: propose changes from train tasks, keep what the gate accepts, claim on the sealed test."""
    from whet.cli.train import train_command

    control = {"engine": engine, "ray": {"workers": workers}}
    base = {"train": {"playbook": playbook, "seed": seed}, "control": control}
    train_command(config, tuple(overrides or ()), base=base, runs=runs, run=run, dry_run=dry_run, continues=continues)


@app.command("ablate", no_args_is_help=True)
def ablate(
    config: Annotated[Path, typer.Argument(help="TOML file of a training with learner grpo.")],
    presets: Annotated[
        str, typer.Option(help="Presets to compare, in this order.")
    ] = "baseline,no_kl,asym_clip,dynamic,token_loss",
    seeds: Annotated[int, typer.Option(min=1, help="Trainings of each preset.")] = 3,
    overrides: Annotated[list[str] | None, typer.Option("--set", help="Any key of the config.")] = None,
    run: Annotated[str | None, typer.Option("--run", help="Name of the ablation. [ablate-CONFIG]")] = None,
    runs: RunsFolder = Path("runs"),
) -> None:
    """Compare presets of GRPO on select tasks; the same command again goes on arm by arm."""
    from whet.cli.ablate import ablate_command

    names = tuple(name.strip() for name in presets.split(",") if name.strip())
    ablate_command(config, names, seeds, tuple(overrides or ()), runs=runs, run=run)


@app.command("cross", no_args_is_help=True)
def cross(
    weights: Annotated[str, typer.Argument(help="Run that trained weights: a name or a folder.")],
    playbook: Annotated[str, typer.Argument(help="Run that evolved a playbook on these tasks, or its file.")],
    tasks: Annotated[int | None, typer.Option("-n", help="Sealed tasks. [as the first run has it]")] = None,
    overrides: Annotated[
        list[str] | None, typer.Option("--set", help="Any key, such as cross.weights=embedded:FILE.")
    ] = None,
    run: Annotated[str | None, typer.Option("--run", help="Name of the run. [made from its identity]")] = None,
    runs: RunsFolder = Path("runs"),
) -> None:
    """Two by two on sealed tasks: base or trained weights, each with the plain and with the evolved playbook."""
    from whet.cli.cross import cross_command

    cross_command(weights, playbook, tuple(overrides or ()), tasks=tasks, runs=runs, run=run)


@app.command("compare", no_args_is_help=True)
def compare(
    a: Annotated[str, typer.Argument(help="Run to compare with: a name or a folder.")],
    b: Annotated[str, typer.Argument(help="Run that may be better.")],
    metric: Annotated[
        str, typer.Option(help="What is compared: hard, soft, reward, mixed(w), or a part of the score.")
    ] = "hard",
    json: Annotated[Path | None, typer.Option("--json", help="Also write the comparison here.")] = None,
    runs: RunsFolder = Path("runs"),
) -> None:
    """Compare two runs task by task."""
    from whet.cli.compare import compare_command

    compare_command(a, b, metric=metric, json=json, runs=runs)


@app.command("report", no_args_is_help=True)
def report(
    names: Annotated[list[str], typer.Argument(help="Runs: names or folders. Others are compared with the first.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File: .html, .md or .json. [RUN/report.html]")
    ] = None,
    runs: RunsFolder = Path("runs"),
) -> None:
    """Write what happened in a run, and what it is worth, as one file."""
    from whet.cli.report import report_command

    report_command(names, out, runs=runs)


@app.command("figures", no_args_is_help=True)
def figures(
    names: Annotated[list[str], typer.Argument(help="Runs, or files of results (results/*.json).")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the figures.")] = Path("figures"),
    form: Annotated[str, typer.Option("--format", "-f", help="png, svg, pdf, or several: png,svg.")] = "png",
    runs: RunsFolder = Path("runs"),
) -> None:
    """Draw the figures of a paper from runs or results."""
    from whet.cli.figures import figures_command

    figures_command(names, out, form, runs=runs)


@app.command("decide", no_args_is_help=True)
def decide(
    name: Annotated[str, typer.Argument(help="Champion, NAME or NAME@v2.")],
    source: Annotated[Path | None, typer.Option("--in", help="New work, a JSON object a line.")] = None,
    out: Annotated[Path, typer.Option("--out", help="Decisions, a line each.")] = Path("decisions.jsonl"),
    labelled: Annotated[
        Path | None, typer.Option("--calibrate", help="Choose the threshold on this labelled work of other sites.")
    ] = None,
    allowed: Annotated[
        float, typer.Option("--max-false-release", help="With --calibrate: the share of failing work that may pass.")
    ] = 0.02,
    confidence: Annotated[float, typer.Option(help="With --calibrate: how surely.")] = 0.95,
    audit: Annotated[float, typer.Option(help="With --calibrate: share of automatic passes to audit.")] = 0.05,
    double: Annotated[float, typer.Option(help="With --calibrate: share of cases with two reviewers.")] = 0.2,
    check: Annotated[
        int, typer.Option(help="With --calibrate: new work on which the bound shall hold again; 0: none.")
    ] = 5000,
    concurrency: Annotated[int | None, typer.Option(help="Attempts at once. [64, or what the model serves]")] = None,
    max_usd: Annotated[float | None, typer.Option(help="Hard budget in dollars.")] = None,
    releases: Annotated[Path, typer.Option("--releases", help="Folder that releases are kept in.")] = Path("releases"),
) -> None:
    """Decide on new work by a champion: release, block, or leave it to a person."""
    from whet.cli.decide import calibrate_command, decide_command
    from whet.errors import WhetError

    if (source is None) == (labelled is None):
        raise WhetError("say what to decide on (--in FILE), or what to choose the threshold on (--calibrate FILE)")
    if labelled is not None:
        shares = {"allowed": allowed, "confidence": confidence, "audit": audit, "double": double}
        calibrate_command(name, labelled, releases, check, **shares)
    elif source is not None:
        given = {"concurrency": concurrency, "budget": {"usd": max_usd} if max_usd is not None else None}
        decide_command(name, source, out, releases, {key: value for key, value in given.items() if value is not None})


@app.command("view")
def view(
    folder: Annotated[Path, typer.Argument(help="Folder of runs, or one run.")] = Path("runs"),
    host: Annotated[
        str, typer.Option(help="Address to listen on; beyond this machine a token is asked for.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one.")] = 8420,
    review: Annotated[bool, typer.Option("--review", help="Let whoever has the token decide cases.")] = False,
    releases: Annotated[
        Path | None, typer.Option("--releases", help="Folder that releases are kept in. [beside the runs]")
    ] = None,
) -> None:
    """Look at runs in a browser, those under way too; with --review, work the queue of cases."""
    from whet.cli.view import view_command

    view_command(folder, host, port, reviewing=review, releases=releases)


@app.command("serve", no_args_is_help=True)
def serve(
    name: Annotated[str, typer.Argument(help="Champion, as 'whet release list' lists them.")],
    host: Annotated[
        str, typer.Option(help="Address to listen on; beyond this machine a token is asked for.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one.")] = 8421,
    token_env: Annotated[
        str, typer.Option("--token-env", help="Environment variable with the token that whoever asks must have.")
    ] = "",
    base_url: Annotated[str, typer.Option(help="Where the champion's model is served now. [as at its run]")] = "",
    max_usd: Annotated[float | None, typer.Option(help="Hard budget in dollars, over restarts.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Hard budget in tokens, over restarts.")] = None,
    max_calls: Annotated[int | None, typer.Option(help="Hard budget in calls, over restarts.")] = None,
    releases: Annotated[Path, typer.Option("--releases", help="Folder that champions are kept in.")] = Path("releases"),
) -> None:
    """Serve a champion behind an OpenAI-compatible endpoint; it follows promotions and rollbacks."""
    from whet.cli.serve import serve_command

    budget = {"usd": max_usd, "tokens": max_tokens, "calls": max_calls}
    serve_command(name, host=host, port=port, token_env=token_env, base_url=base_url, budget=budget, releases=releases)


@app.command("serve-model", no_args_is_help=True)
def serve_model(
    model: Annotated[str, typer.Argument(help="Model, as the server names it: a hub name, a folder or a file.")],
    backend: Annotated[str, typer.Option("--backend", "-b", help="vllm, sglang or llama.")] = "vllm",
    host: Annotated[str, typer.Option(help="Address to listen on; these servers ask for no key.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port.")] = 8000,
    name: Annotated[str, typer.Option("--name", help="Name that the model answers to. [as the server calls it]")] = "",
    adapter: Annotated[list[str] | None, typer.Option("--adapter", help="An adapter, NAME=FOLDER; repeat it.")] = None,
    prefix: Annotated[
        str, typer.Option("--prefix", help="Playbook that conversations begin with: the server is warmed with it.")
    ] = "",
    gpus: Annotated[int, typer.Option(help="GPUs that the model is spread over.")] = 1,
    context: Annotated[int | None, typer.Option(help="Context length in tokens. [the model's own]")] = None,
    program: Annotated[str, typer.Option(help="The server's program, where it is not on the PATH.")] = "",
    more: Annotated[list[str] | None, typer.Option("--more", help="A further argument, as it is; repeat it.")] = None,
    wait: Annotated[float, typer.Option(help="Seconds until it must be ready.")] = 1800.0,
    log: Annotated[Path | None, typer.Option("--log", help="File for what the server says. [a new one]")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the command line; start nothing.")] = False,
) -> None:
    """Start vLLM, SGLang or llama.cpp for a model, wait until it is ready, warm it, and stop it cleanly."""
    from whet.apps.serving.order import ServeOrder
    from whet.cli.serve_model import serve_model_command

    told = (gpus, context, program, tuple(more or ()))
    order = ServeOrder(model, backend, host, port, name, (), *told)
    serve_model_command(order, tuple(adapter or ()), prefix, wait=wait, log=log, dry_run=dry_run)


@app.command("watch", no_args_is_help=True)
def watch(
    run: Annotated[str, typer.Argument(help="Run to follow: a name or a folder.")],
    every: Annotated[float, typer.Option(help="Seconds between two looks.")] = 1.0,
    once: Annotated[bool, typer.Option("--once", help="Look once and end.")] = False,
    runs: RunsFolder = Path("runs"),
) -> None:
    """Follow a run from another terminal."""
    from whet.cli.watch import watch_command

    watch_command(run, every, once=once, runs=runs)


@app.command("resume", no_args_is_help=True)
def resume(
    run: Annotated[str, typer.Argument(help="Run to continue: a name or a folder.")],
    overrides: Annotated[
        list[str] | None, typer.Option("--set", help="A key of [control], such as control.budget.usd=5.")
    ] = None,
    retry_faults: Annotated[bool, typer.Option("--retry-faults", help="Redo what the service failed on.")] = False,
    runs: RunsFolder = Path("runs"),
) -> None:
    """Continue a run where it stopped."""
    from whet.cli.evaluate import resume_command

    resume_command(run, tuple(overrides or ()), retry_faults=retry_faults, runs=runs)


@app.command("rebuild", no_args_is_help=True)
def rebuild(
    run: Annotated[str, typer.Argument(help="Run whose readable files to write again: a name or a folder.")],
    runs: RunsFolder = Path("runs"),
) -> None:
    """Write a run's readable files again from its ledger."""
    from whet.cli.evaluate import rebuild_command

    rebuild_command(run, runs=runs)


@app.command("verify", no_args_is_help=True)
def verify(
    run: Annotated[str, typer.Argument(help="Run to look through: a name or a folder.")],
    head: Annotated[
        bool, typer.Option("--head", help="Print the head of its ledger: a line to keep elsewhere.")
    ] = False,
    expect: Annotated[str, typer.Option("--expect", help="A head that was kept: it must still be on the chain.")] = "",
    runs: RunsFolder = Path("runs"),
) -> None:
    """Say whether a run's ledger is what was written and its files are made of it."""
    from whet.cli.ledger import verify_command

    verify_command(run, head=head, expect=expect, runs=runs)


@app.command("backup", no_args_is_help=True)
def backup(
    run: Annotated[str, typer.Argument(help="Run whose ledger to copy, under way or not: a name or a folder.")],
    file: Annotated[Path, typer.Argument(help="File to make.")],
    runs: RunsFolder = Path("runs"),
) -> None:
    """Copy a run's ledger and prove the copy."""
    from whet.cli.ledger import backup_command

    backup_command(run, file, runs=runs)


@app.command("merge", no_args_is_help=True)
def merge(
    shards: Annotated[list[str], typer.Argument(help="Shards of one evaluation (control.shard): names or folders.")],
    out: Annotated[str, typer.Option("--out", "-o", help="Name of the whole run.")],
    runs: RunsFolder = Path("runs"),
) -> None:
    """Make the shards of an evaluation into one run, by key."""
    from whet.cli.ledger import merge_command

    merge_command(shards, out, runs=runs)


@app.command("salvage", no_args_is_help=True)
def salvage(
    run: Annotated[str, typer.Argument(help="Run whose ledger is damaged: a name or a folder.")],
    out: Annotated[Path, typer.Argument(help="Folder to make, from which the run can be continued.")],
    runs: RunsFolder = Path("runs"),
) -> None:
    """Keep what is sound of a damaged ledger."""
    from whet.cli.ledger import salvage_command

    salvage_command(run, out, runs=runs)


@app.command("doctor")
def doctor(
    config: Annotated[
        Path | None, typer.Argument(help="Config whose models and limits to look at; or prime-rl, and its FILE.")
    ] = None,
    file: Annotated[Path | None, typer.Argument(help="TOML of prime-rl to check.")] = None,
    overrides: Annotated[list[str] | None, typer.Option("--set", help="Any key of the config.")] = None,
    ask: Annotated[bool, typer.Option("--ask/--no-ask", help="Send one tiny request to each model.")] = True,
    runs: RunsFolder = Path("runs"),
) -> None:
    """Say what is installed, who answers, which walls stand."""
    from whet.cli.doctor import doctor_command, prime_rl_command

    if file is not None:
        prime_rl_command(config, file)
    else:
        doctor_command(config, tuple(overrides or ()), runs=runs, ask=ask)


@app.command("completion", no_args_is_help=True)
def completion(shell: Annotated[str, typer.Argument(help="bash, zsh or fish.")]) -> None:
    """Print the script that lets a shell complete commands, environments, models and runs."""
    from whet.cli.completion import script
    from whet.terminal import print_plain

    print_plain(script(shell))


@app.command(
    "complete",
    hidden=True,
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []},
)
def complete(context: typer.Context) -> None:
    """What may stand in place of the last word; the scripts of 'whet completion' ask."""
    from whet.cli.completion import candidates
    from whet.terminal import print_lines

    print_lines(*candidates(context.find_root().command, context.args))


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        from whet.terminal import print_lines

        print_lines(f"whet {version('whet')}")
        raise typer.Exit


@app.callback()
def whet(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Make a language-model agent measurably better at a task that a program can check."""
