"""What a run holds in a form that others read: its conversations as chat records, one a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import orjson

from whet.errors import WhetError, nearest
from whet.files import atomic_file
from whet.ledger.store import Ledger
from whet.rollout.chat import ChatRecord, chat_record
from whet.rollout.votes import VOTE
from whet.run.floor import FLOOR, REFERENCE
from whet.run.workspace import RUNS, find_run, records_of
from whet.types import SPLITS, Playbook, Rollout

CHAT = "chat.jsonl"
"""The file that a run's conversations go to where no other is named."""


@dataclass(frozen=True, slots=True)
class ChatFilter:
    """Which rollouts of a run are wanted. A purpose stands for those below it too: `train` for `train/e1/s2`.

    Those of reference policies (`floor/...`, `reference/...`) and the draws of votes (`vote/...`) are left out unless
    their purpose is named.
    """

    purpose: str = ""
    split: str = ""
    solved: bool = False
    """Only those that solved their task."""

    def purposes(self, known: Sequence[str]) -> list[str]:
        """Those of the known purposes that are wanted; one that none of them is under is refused."""
        if not self.purpose:
            return [purpose for purpose in known if not purpose.startswith((FLOOR, REFERENCE, VOTE))]
        wanted = self.purpose.rstrip("/")
        found = [purpose for purpose in known if purpose == wanted or purpose.startswith(f"{wanted}/")]
        if not found:
            raise _unknown("purpose", self.purpose, known)
        return found

    def takes(self, rollout: Rollout) -> bool:
        if self.split and rollout.ticket.split != self.split:
            return False
        return not self.solved or (rollout.score is not None and rollout.score.hard == 1)


@dataclass(frozen=True, slots=True)
class ChatExport:
    """What was written, and what was skipped."""

    path: Path
    written: int
    faults: int
    """Rollouts that the service or the host failed on: there is no whole conversation."""
    silent: int = 0
    """Rollouts in which the policy was asked nothing."""
    floor: bool = False
    """Whether there are rollouts of reference policies, which were left out."""

    def __str__(self) -> str:
        said = f"{self.path}: {self.written} conversations written, {self.faults} faults skipped"
        if self.silent:
            said += f", {self.silent} skipped in which nothing was asked"
        return f"{said}; without reference policies (--purpose floor)" if self.floor else said


def export_chat(
    run: str | Path, out: Path | None = None, chosen: ChatFilter = ChatFilter(), runs: Path = RUNS
) -> ChatExport:
    """Write the conversations of a run of any kind as JSON lines, by purpose, task and draw."""
    if chosen.split and chosen.split not in SPLITS:
        raise _unknown("split", chosen.split, SPLITS)
    folder = find_run(run, runs)
    path = out or folder / CHAT
    written = silent = 0
    with records_of(folder), Ledger.read(folder) as ledger:
        known = ledger.purposes()
        purposes = chosen.purposes(known)
        floor = not chosen.purpose and len(purposes) < len(known)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_file(path) as file:
                for record in chat_records(ledger, purposes, chosen):
                    if record["messages"]:
                        file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
                        written += 1
                    else:
                        silent += 1
        except OSError as error:
            raise WhetError(f"{path}: cannot be written ({error.strerror})") from None
        return ChatExport(path, written, _faults(ledger, purposes, chosen), silent, floor)


def chat_records(ledger: Ledger, purposes: Sequence[str], chosen: ChatFilter = ChatFilter()) -> Iterator[ChatRecord]:
    """One record after the other, each with where it came from and how it was graded."""

    @lru_cache(maxsize=64)
    def playbook(policy: str) -> Playbook:
        return ledger.policy(policy).playbook

    for purpose in purposes:
        for rollout in ledger.rollouts(purpose):
            if chosen.takes(rollout):
                yield rollout_record(playbook(rollout.policy), rollout)


def rollout_record(playbook: Playbook, rollout: Rollout) -> ChatRecord:
    """The conversation of a graded rollout."""
    ticket, label, score = rollout.ticket, rollout.label, rollout.score
    assert score is not None, "a ledger keeps faults apart"
    return chat_record(
        playbook,
        rollout.turns,
        task=f"{ticket.split}/{ticket.index}",
        draw=ticket.draw,
        purpose=ticket.purpose,
        kind=label.kind,
        difficulty=label.difficulty,
        hard=score.hard,
        reward=score.reward,
        reason=score.reason,
        policy=rollout.policy,
    )


def _unknown(what: str, given: str, known: Sequence[str]) -> WhetError:
    listed = ", ".join(known) or "none, there is no rollout yet"
    return WhetError(f"there is no {what} {given!r}.{nearest(given, known)} Known: {listed}.")


def _faults(ledger: Ledger, purposes: Sequence[str], chosen: ChatFilter) -> int:
    outcomes = (outcome for purpose in purposes for outcome in ledger.outcomes(purpose))
    return sum(bool(outcome.fault) and chosen.split in ("", outcome.ticket.split) for outcome in outcomes)
