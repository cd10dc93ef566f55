"""`whet groupqc audit`: vote on every ticket, print the figures, and exit with what became of the tickets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from whet.apps.groupqc.options import (
    BaseUrlOption,
    ConcurrencyOption,
    DecodesOption,
    JsonOption,
    JudgeModelOption,
    MaxTokensOption,
    MaxUsdOption,
    MissionsOption,
    OverridesOption,
    PacksOption,
    PlaybookOption,
    ReleasesOption,
    RetryFaultsOption,
    SamplesOption,
    SequentialOption,
    control_section,
)
from whet.errors import WhetError

if TYPE_CHECKING:
    from whet.apps.groupqc.audit.run import AuditSettings
    from whet.types import Split

GENERATED = "generated"
"""The source that is no file: tickets of the generator."""


def audit(
    source: Annotated[str, typer.Argument(help="Stage-A file or folder, or 'generated'.")],
    model: JudgeModelOption = "baseline:rules",
    mission: MissionsOption = None,
    pack: PacksOption = None,
    playbook: PlaybookOption = None,
    decode: DecodesOption = None,
    samples: SamplesOption = 1,
    sequential: SequentialOption = False,
    split: Annotated[Literal["all", "train", "select", "test"], typer.Option(help="Which tickets.")] = "all",
    n: Annotated[int | None, typer.Option("-n", help="Tickets of each split. [all; 100 where generated]")] = None,
    exclude: Annotated[Path | None, typer.Option(help="File with ticket keys to leave out.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse a file with a line that is no ticket.")] = False,
    arg: Annotated[list[str] | None, typer.Option("--arg", "-a", help="Argument of the environment.")] = None,
    releases: ReleasesOption = 0.05,
    every: Annotated[int, typer.Option(min=1, help="Tickets between two rows of the steps file.")] = 256,
    base_url: BaseUrlOption = None,
    max_tokens: MaxTokensOption = None,
    max_usd: MaxUsdOption = None,
    concurrency: ConcurrencyOption = None,
    overrides: OverridesOption = None,
    run: Annotated[str | None, typer.Option("--run", help="Name of the run. [made from its identity]")] = None,
    runs: Annotated[Path, typer.Option("--runs", help="Folder that runs are kept in.")] = Path("runs"),
    retry_faults: RetryFaultsOption = False,
    json: JsonOption = None,
) -> None:
    """Vote on every ticket of a Stage-A file and write what came of it; nothing is learned."""
    from whet.apps.groupqc.audit.run import run_audit
    from whet.config.load import load_config
    from whet.config.schema import EvalConfig
    from whet.envs.groupqc.environment import GroupQc
    from whet.files import write_json
    from whet.run.compose import Given
    from whet.terminal import TerminalProgress, console, interruptible, print_page

    file = "" if source == GENERATED else source
    args = _env_args(arg or (), pack, mission, exclude, strict if file else None)
    base = {
        "env": {"name": f"groupqc:{file}" if file else "groupqc", "args": args},
        "target": {"model": model, "sampling": {"max_tokens": max_tokens}},
        "eval": {"n": n or ("all" if file else 100), "playbook": playbook},
        "control": control_section(base_url, max_usd, concurrency),
    }
    config = load_config(EvalConfig, None, base, overrides or ())
    settings = audit_settings(decode or (), samples, sequential, releases, split, every)
    given = Given(env=GroupQc(config.env.name.removeprefix("groupqc").removeprefix(":"), config.env.args))
    with interruptible():
        result = run_audit(
            config, settings, given, runs=runs, name=run, progress=TerminalProgress(), retry_faults=retry_faults
        )
    if json is not None:
        write_json(json, dict(result.metrics))
    print_page(result.page(), console())


def _env_args(
    given: Sequence[str],
    packs: Sequence[str] | None,
    missions: Sequence[str] | None,
    exclude: Path | None,
    strict: bool | None,
) -> dict[str, Any]:
    """The environment's arguments. `strict` is None where there is no file; one given with `--arg` goes before it."""
    from whet.envs.arguments import parse_args

    args = parse_args(given)
    if packs:
        args["pack"] = list(packs)
    if missions:
        args["mission"] = list(missions)
    if exclude is not None:
        args["exclude"] = str(exclude)
    if strict is not None:
        args.setdefault("strict", strict)
    return args


def audit_settings(
    decodes: Sequence[str],
    samples: int,
    sequential: bool,
    releases: float,
    split: Split | Literal["all"] = "all",
    every: int = 256,
) -> AuditSettings:
    """How tickets are voted on, from what was typed."""
    from whet.apps.groupqc.audit.run import AuditSettings
    from whet.envs.groupqc.verdict.votes import Ballot, DecodeSettings

    if not 0.0 <= releases <= 1.0:
        raise WhetError(
            f"{releases:g} is no bound of false releases: a share of the failing tickets lies between 0 and 1"
        )
    grid = tuple(DecodeSettings.parse(text) for text in decodes) or (DecodeSettings(),)
    if len(set(grid)) < len(grid):
        raise WhetError("--decode: a decode is given twice; draw it more often with --samples")
    return AuditSettings(Ballot(grid, samples), sequential, split, releases, every)
