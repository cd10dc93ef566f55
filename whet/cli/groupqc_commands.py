"""What the commands of `whet groupqc` do: call one function, print, and exit with what it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from whet.cli.terminal import TerminalProgress, console, interruptible
from whet.config.load import load_config, merge
from whet.config.schema import EvalConfig
from whet.envs.groupqc.environment import GroupQc, chosen_missions, chosen_noise
from whet.envs.groupqc.pack import load_packs
from whet.envs.groupqc.voting import Ballot, Decode
from whet.envs.registry import parse_args
from whet.errors import WhetError
from whet.ledger.projection import write_json
from whet.run.compose import Given
from whet.run.groupqc.audit import AuditResult, Settings, run_audit
from whet.run.groupqc.audit_report import cut_line, figure_lines, summary_lines
from whet.types import Split


@dataclass(frozen=True, slots=True)
class Audit:
    """What the user typed for an audit."""

    base: dict[str, Any]
    overrides: tuple[str, ...]
    voting: Mapping[str, Any]
    split: Split | Literal["all"]
    releases: float
    every: int
    runs: Path
    run: str | None
    retry_faults: bool
    json: Path | None


def env_args(
    given: Sequence[str],
    packs: Sequence[str] | None,
    missions: Sequence[str] | None,
    exclude: Path | None,
    *,
    strict: bool,
    generated: bool,
) -> dict[str, Any]:
    """The environment's arguments. Lines of a file that are no tickets are set aside unless `strict`."""
    args = parse_args(given)
    if packs:
        args["pack"] = list(packs)
    if missions:
        args["mission"] = list(missions)
    if exclude is not None:
        args["exclude"] = str(exclude)
    if not generated:
        args.setdefault("strict", strict)
    return args


def audit_command(command: Audit) -> None:
    config = load_config(EvalConfig, None, command.base, command.overrides)
    source = config.env.name.removeprefix("groupqc").removeprefix(":")
    env = GroupQc(source, config.env.args)
    settings = _settings(command.voting, command.releases, command.split, command.every)
    with interruptible():
        result = run_audit(
            config,
            settings,
            Given(env=env),
            runs=command.runs,
            name=command.run,
            progress=TerminalProgress(),
            retry_faults=command.retry_faults,
        )
    if command.json is not None:
        write_json(command.json, dict(result.metrics))
    _show(result)
    raise SystemExit(_audit_code(result))


def _settings(
    voting: Mapping[str, Any], releases: float, split: Split | Literal["all"] = "all", every: int = 256
) -> Settings:
    if not 0.0 <= releases <= 1.0:
        raise WhetError(f"--releases {releases:g}: a share of the failing tickets lies between 0 and 1")
    grid = tuple(Decode.parse(text) for text in voting["decode"]) or (Decode(),)
    if len(set(grid)) < len(grid):
        raise WhetError("--decode: a decode is given twice; draw it more often with --samples")
    return Settings(Ballot(grid, voting["samples"]), voting["sequential"], split, releases, every)


def _audit_code(result: AuditResult) -> int:
    """3 when it was stopped, 1 when tickets are left without a vote, else 0."""
    if result.tally.stopped:
        return 3
    return 1 if result.metrics["n_unfinished"] else 0


def _show(result: AuditResult) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    out, metrics = console(), result.metrics
    matrix = Table(box=SIMPLE_HEAD)
    for heading in ("label", "verdict pass", "verdict fail", "invalid"):
        matrix.add_column(heading, justify="left" if heading == "label" else "right")
    for label, row in metrics["confusion"].items():
        matrix.add_row(label, *(str(row[call]) for call in ("pass", "fail", "invalid")))
    out.print(matrix)
    table = Table(box=SIMPLE_HEAD, show_header=False)
    for name, value in figure_lines(metrics):
        table.add_row(Text(name), Text(value))
    out.print(table)
    lines = summary_lines(metrics)
    if metrics["risk_coverage"] is not None:
        lines.append(cut_line(metrics["risk_coverage"]))
    if result.tally.stopped:
        lines.append(f"stopped: {result.tally.stopped}; start the same command again to go on")
    for line in (*lines, f"report: {result.folder}/report.md"):
        out.print(line, highlight=False, markup=False, soft_wrap=True)


def run_command(
    root: Path,
    out: Path,
    names: Mapping[str, Any],
    voting: Mapping[str, Any],
    sections: dict[str, Any],
    releases: float,
    overrides: tuple[str, ...],
    *,
    retry_faults: bool,
) -> None:
    from whet.run.groupqc.run import Wish, run_all

    given: dict[str, Any] = {}
    merge(given, sections)
    wish = Wish(
        root,
        out,
        names["model"],
        names["verdict_model"],
        tuple(names["missions"]),
        tuple(names["packs"]),
        {"control": given.get("control", {})},
        given,
        overrides,
        _settings(voting, releases),
    )
    with interruptible():
        ran = run_all(wish, progress=TerminalProgress(), retry_faults=retry_faults)
    for mission, stage in ran.stages.items():
        _print(f"{mission}:", *(f"  {line}" for line in stage.lines()))
    if ran.audit is not None:
        _show(ran.audit)
    if ran.report is not None:
        _print(f"everything: {ran.report}")
    raise SystemExit(ran.exit_code)


def stage_a_command(
    root: Path,
    mission: str,
    model: str,
    out: Path,
    base: Mapping[str, Any],
    overrides: tuple[str, ...],
    *,
    retry_faults: bool,
) -> None:
    from whet.run.groupqc.stage_a import run_stage_a
    from whet.run.groupqc.stage_a_config import stage_a_config

    config = stage_a_config(root, mission, model, out, base=base, overrides=overrides)
    with interruptible():
        result = run_stage_a(config, progress=TerminalProgress(), retry_faults=retry_faults)
    _print(*result.lines())
    raise SystemExit(result.exit_code)


def merge_command(parts: Sequence[Path], out: Path) -> None:
    from whet.run.groupqc.stage_a_merge import merge_shards

    result = merge_shards(parts, out)
    _print(*result.lines())
    raise SystemExit(result.exit_code)


def lint_command(file: Path, packs: tuple[str, ...]) -> None:
    from whet.envs.groupqc.lint import lint_file

    report = lint_file(file, load_packs(packs))
    _print(*report.lines())
    raise SystemExit(0 if report.clean else 1)


def drift_command(
    reference: Path, new: Path, *, psi: float, alpha: float, packs: tuple[str, ...], every: bool, json: Path | None
) -> None:
    from whet.run.groupqc.drift import find_drift

    report = find_drift(reference, new, packs=packs, psi=psi, alpha=alpha)
    if json is not None:
        write_json(json, report.as_data())
    moved = [one for one in report.moved if one.status != "ok"]
    if moved or every:
        console().print(report.renderable(every))
    _print(f"{len(report.moved)} things compared, {len(report.drifted)} drifted (PSI from {psi:g}, p up to {alpha:g})")
    raise SystemExit(report.exit_code)


def generate_command(
    out: Path,
    n: int,
    names: Mapping[str, tuple[str, ...]],
    noise: tuple[str, ...],
    *,
    spoiled: float,
    seed: int,
    split: Split,
) -> None:
    from whet.run.groupqc.run_generate import generate_groups, write_photos, write_tickets

    missions = chosen_missions(load_packs(names["packs"]), names["missions"])
    rates = chosen_noise(noise[0] if noise and "=" not in noise[0] else parse_args(noise))
    groups = generate_groups(missions, n, noise=rates, seed=seed, split=split)
    made = write_tickets(out, groups) if out.suffix == ".jsonl" else write_photos(out, groups, spoiled, seed)
    _print(f"{made.groups} groups with {made.photos} photos in {made.out}, their truth in {made.truth}")


def smoke_command(packs: tuple[str, ...], *, photos: bool) -> None:
    from whet.run.groupqc.smoke import run_smoke

    steps = run_smoke(packs, photos=photos)
    _print(*(f"{'ok  ' if one.ok else 'fail'}  {one.name:<9} {one.said} ({one.seconds:.1f} s)" for one in steps))
    raise SystemExit(0 if all(one.ok for one in steps) else 1)


def _print(*lines: str) -> None:
    out = console()
    for line in lines:
        out.print(line, highlight=False, markup=False, soft_wrap=True)
