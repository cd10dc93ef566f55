"""An evaluation whose plays compute in processes comes to what one in threads comes to."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import FromFunction

import whet
from whet.ledger.store import Ledger
from whet.models.base import Request

pytest.importorskip("highspy")

LINES = ("Action: get_iis", "Action: relaxation", "no action at all", "Action: drop r1", "Action: submit")


def clumsy(request: Request) -> str:
    """Asks, errs, drops a row and hands in: the solver is asked in several ways."""
    said = sum(message.author == "assistant" for message in request.messages)
    return LINES[min(said, len(LINES) - 1)]


def test_processes_and_threads_come_to_the_same(tmp_path: Path) -> None:
    said = ["env.args.size=tiny", "env.args.spec=table", "eval.floor=false"]
    told = []
    for name, more in (("threads", []), ("processes", ["control.processes=2"])):
        made = whet.evaluate("ordebug", FromFunction(clumsy), n=4, runs=tmp_path, name=name, overrides=[*said, *more])
        with Ledger.read(Path(made.folder)) as ledger:
            rollouts = sorted(ledger.rollouts("eval"), key=lambda rollout: rollout.key)
        told.append([(rollout.key, rollout.outcome) for rollout in rollouts])
    assert len(told[0]) == 4
    assert told[0] == told[1]
