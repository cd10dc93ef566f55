"""`whet doctor`: what works here and what does not, one line each with the fix."""

from __future__ import annotations

from pathlib import Path

import typer

_MARKS = {"ok": "ok  ", "warn": "warn", "fail": "FAIL", "skip": "-   "}


def doctor_command(config: Path | None, overrides: tuple[str, ...], *, runs: Path, ask: bool) -> None:
    """Print the findings; exit code 1 when something that a run needs is broken."""
    from whet.run.doctor import broken, diagnose
    from whet.run.kinds import load_any_config
    from whet.terminal import console

    chosen = load_any_config(config, overrides) if config or overrides else None
    findings = diagnose(chosen, runs=runs, ask=ask)
    out = console()
    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        fix = f" -> {finding.fix}" if finding.fix else ""
        line = f"{_MARKS[finding.status]}  {finding.name:<{width}}  {finding.told}{fix}"
        out.print(line, soft_wrap=True)
    if broken(findings):
        raise typer.Exit(1)


def prime_rl_command(tool: Path | None, file: Path) -> None:
    """Print what a version of prime-rl would refuse in a config; exit code 1 where there is something."""
    from whet.apps.interop.prime_rl.check import check_prime_rl
    from whet.apps.interop.prime_rl.tables import NEWEST
    from whet.errors import WhetError
    from whet.terminal import print_lines

    if str(tool) != "prime-rl":
        raise WhetError(f"whet doctor takes one config, or prime-rl and its file, not {tool} and {file}")
    findings = check_prime_rl(file)
    print_lines(*map(str, findings))
    wrong = sum(finding.status == "fail" for finding in findings)
    print_lines(f"{file}: {wrong} wrong for prime-rl {NEWEST}, {len(findings) - wrong} to look at")
    if wrong:
        raise typer.Exit(1)
