"""`whet eval`, `whet resume`, `whet rebuild`: run, then print the table and where everything lies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.config.load import load_config, parse_value, write_config
from whet.config.schema import EvalConfig
from whet.envs.registry import parse_args
from whet.files import write_json
from whet.run.estimate import describe
from whet.run.evaluate import plan_evaluation, run_evaluation
from whet.run.kinds import Continuation, rebuild_run, resume_run
from whet.terminal import TerminalProgress, console, interruptible, print_page


@dataclass(frozen=True, slots=True)
class Command:
    """What the user typed."""

    base: dict[str, Any]
    config: Path | None
    overrides: tuple[str, ...]
    runs: Path
    run: str | None
    json: Path | None
    retry_faults: bool
    dry_run: bool

    def resolve(self) -> EvalConfig:
        base = self.base
        base["env"]["args"] = parse_args(base["env"]["args"])
        if base["eval"]["n"] is not None:
            base["eval"]["n"] = parse_value(base["eval"]["n"])
        return load_config(EvalConfig, self.config, base, self.overrides)


def evaluate_command(command: Command) -> None:
    config = command.resolve()
    if command.dry_run:
        out = console()
        out.print(write_config(config).decode())
        out.print(describe(plan_evaluation(config)))
        return
    with interruptible():
        result = run_evaluation(
            config,
            runs=command.runs,
            name=command.run,
            progress=TerminalProgress(),
            retry_faults=command.retry_faults,
        )
    if command.json is not None:
        write_json(command.json, {**result.report.results, "seconds": result.seconds})
    print_page(result.page(), console())


def resume_command(run: str, overrides: tuple[str, ...], *, retry_faults: bool, runs: Path) -> None:
    out = console()

    def tell(line: str) -> None:
        out.print(line, soft_wrap=True)

    with interruptible():
        result = resume_run(run, Continuation(overrides, retry_faults, TerminalProgress(), tell), runs)
    print_page(result.page(), out)


def rebuild_command(run: str, *, runs: Path) -> None:
    console().print(rebuild_run(run, runs))
