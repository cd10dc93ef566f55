"""`whet doctor`: what works here and what does not, one line each with the fix."""

from __future__ import annotations

from pathlib import Path

import typer

_MARKS = {"ok": "ok  ", "warn": "warn", "fail": "FAIL", "skip": "-   "}


def doctor_command(config: Path | None, overrides: tuple[str, ...], *, runs: Path, ask: bool) -> None:
    """Print the findings; exit code 1 when something that a run needs is broken."""
    from whet.config.kinds import EVAL, config_class, config_kind
    from whet.config.load import load_config, read_toml
    from whet.run.doctor import broken, diagnose
    from whet.terminal import console

    kind = config_kind(read_toml(config)) if config else EVAL
    chosen = load_config(config_class(kind), config, None, overrides) if config or overrides else None
    findings = diagnose(chosen, runs=runs, ask=ask)
    out = console()
    width = max(len(one.name) for one in findings)
    for one in findings:
        fix = f" -> {one.fix}" if one.fix else ""
        line = f"{_MARKS[one.status]}  {one.name:<{width}}  {one.told}{fix}"
        out.print(line, markup=False, highlight=False, soft_wrap=True)
    if broken(findings):
        raise typer.Exit(1)
