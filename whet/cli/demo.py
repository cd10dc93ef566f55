"""`whet demo`: trains a playbook for a real embedded model, from an empty folder to a report to open."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from whet.cli.train import Narrator, planned
from whet.errors import WhetError
from whet.report.write import write_report
from whet.rollout.claim import OtherRun
from whet.run.demo import DATA, RUN, lay_out, refuse_absent
from whet.run.train import load_train_config, plan_training, run_training
from whet.terminal import TerminalProgress, console, interruptible, print_lines, print_page


def demo_command(folder: Path, model: str | None, overrides: tuple[str, ...]) -> None:
    if model is None and not any(override.startswith("target.") for override in overrides):
        refuse_absent()
    config = lay_out(folder)
    base = {"env": {"name": f"data:{folder / DATA}"}, "target": {"model": model}}
    settled = load_train_config(config, base, overrides)
    out = console()
    print_lines(
        "A small model reads orders: 'ten soup bowls, Dublin, Mon' is to become '10 | soup bowls | Dublin | Monday'.",
        f"Data and config: {folder}/. Worked examples are chosen on train tasks, judged by the gate, and claimed on",
        "sealed tasks. With the embedded model this takes a few minutes of one core; Ctrl-C and again continues it.\n",
    )
    out.print(planned(plan_training(settled)))
    runs = folder / "runs"
    try:
        with interruptible():
            result = run_training(settled, runs=runs, name=RUN, progress=TerminalProgress(), watch=Narrator(out))
    except OtherRun:
        raise WhetError(
            f"{runs / RUN}: holds a demo with another model or config; name another folder: whet demo FOLDER"
        ) from None
    report, page = write_report([result.folder]), result.page()
    last = (
        f"\nOpen the report in a browser: {report.resolve().as_uri()}\n"
        "Your own examples next: whet init NAME --from FILE.csv"
    )
    print_page(replace(page, parts=[*page.parts, last]), out)
