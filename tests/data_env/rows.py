"""Builders for tests of the `data` environment: files of rows, and a play answered with one text."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from whet.envs.base import Environment
from whet.envs.registry import load_environment
from whet.rollout.drive import drive
from whet.types import Score

QUEUES = ("billing", "delivery", "account")


def tickets(n: int = 24) -> list[dict[str, str]]:
    return [
        {"id": f"T{i}", "customer": f"C{i // 2}", "text": f"Ticket number {i} says hello", "queue": QUEUES[i % 3]}
        for i in range(n)
    ]


def as_csv(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    page = io.StringIO()
    writer = csv.DictWriter(page, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(page.getvalue())
    return path


def as_lines(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def environment(path: Path, **args: Any) -> Environment:
    return load_environment(f"data:{path}", args)


def ticket_environment(folder: Path, rows: Sequence[dict[str, Any]] | None = None, **args: Any) -> Environment:
    """Tickets to be sorted into queues."""
    path = as_csv(folder / "tickets.csv", rows or tickets())
    return environment(path, **{"check": "choice", "choices": list(QUEUES), "answer": "queue", **args})


def one_row(folder: Path, truth: Any, **args: Any) -> Environment:
    """A question with this answer, alone in train."""
    path = as_lines(folder / "one.jsonl", [{"question": "What is it?", "answer": truth}])
    return environment(path, **{"split": [1.0, 0.0, 0.0], **args})


def scored(env: Environment, reply: str) -> Score:
    """The score of `reply` to the first training task."""
    return drive(env.play(env.task("train", 0)), lambda said, asked: reply).score
