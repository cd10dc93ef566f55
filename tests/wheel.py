"""The first hour from a wheel: demo, init, eval, train, report, in a folder that is not the repository."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

SHORT = (
    *("--set", "train.tasks=6", "--set", "train.batch_size=6", "--set", "train.select=8", "--set", "train.test=6"),
    *("--set", "train.epochs=1", "--set", "examples.take=2", "--set", "examples.most=2"),
    *("--set", "examples.tries=1", "--set", "examples.probe=3"),
)
"""As few tasks as a training can be made of: what is tried is the way, not the gain."""


def story(model: str) -> list[tuple[str, tuple[str, ...]]]:
    """The commands, each with the folder it is typed in; `model` plays wherever the default does, '': the default."""
    plays = ("--set", f"target.model={model}") if model else ()
    return [
        (".", ("demo", *SHORT, *plays)),
        (".", ("init", "orders", "--from", "whet-demo/orders.csv", "--answer", "order", "--check", "exact")),
        ("orders", ("eval", "-c", "config.toml", "--playbook", "blank", "--run", "before", "-n", "6", *plays)),
        ("orders", ("train", "train.toml", "--run", "better", *SHORT, *plays)),
        ("orders", ("report", "before")),
        ("orders", ("report", "better")),
        (".", ("report", "whet-demo/runs/demo")),
        (".", ("completion", "bash")),
        (".", ("doctor",)),
    ]


def tell(python: Path, folder: Path, environ: Mapping[str, str], model: str = "") -> list[str]:
    """Type the story in a folder; what did not end well, a line each."""
    wrong = []
    for place, words in story(model):
        done = subprocess.run(
            [str(python), "-P", "-m", "whet", *words],
            cwd=folder / place,
            env=dict(environ),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            wrong.append(f"whet {' '.join(words)}: exit code {done.returncode}: {done.stderr[-600:]}")
    reports = [folder / "whet-demo/runs/demo", folder / "orders/runs/before", folder / "orders/runs/better"]
    return wrong + [f"{run}/report.html is not there" for run in reports if not (run / "report.html").is_file()]


def build(root: Path, out: Path, words: Sequence[str], environ: Mapping[str, str] | None = None) -> Path:
    """The wheel of a checkout, made by the command `words`."""
    subprocess.run([*words], cwd=root, env=None if environ is None else dict(environ), check=True, capture_output=True)
    (wheel,) = out.glob("whet-*.whl")
    return wheel
