"""What a reader of a run's scores must know, remembered in its ledger when it began: openings, choices, wording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from whet.errors import WhetError
from whet.evals.estimate import LEVEL
from whet.keys import digest, playbook_digest
from whet.ledger.store import FILE, Ledger
from whet.rollout.session import Session
from whet.run.register import Register, contents_of, level_of
from whet.run.workspace import run_kind
from whet.types import Playbook, Split

CAVEATS = "caveats"
"""The kind of effect that holds them."""

_KEY = digest(CAVEATS)


@dataclass(frozen=True, slots=True)
class Caveats:
    """Which opening of its test a run was (0: it opened none), and what else to know, a line each."""

    opening: int = 0
    before: tuple[str, ...] = ()
    chosen: str = ""
    """The run that chose the playbook on the tasks it is measured on here."""
    wording: str = ""

    @property
    def level(self) -> float:
        """At which intervals on the test are claimed."""
        return level_of(self.opening)

    @property
    def notes(self) -> tuple[str, ...]:
        said = []
        if self.opening > 1:
            others = ", ".join(self.before[-3:])
            said.append(
                f"opening {self.opening} of this test (before it: {others}); intervals and verdicts hold at "
                f"{100 * self.level:.4g} % instead of {100 * LEVEL:g} %"
            )
        if self.chosen:
            said.append(
                f"the playbook was chosen on these select tasks by {self.chosen}: its score here is inflated; "
                "for a claim measure it with --split test"
            )
        return (*said, self.wording) if self.wording else tuple(said)

    @property
    def mark(self) -> str:
        """In a word or two, for a list."""
        if self.opening:
            return f"opening {self.opening}"
        return "chosen on it" if self.chosen else ""


def read_caveats(ledger: Ledger) -> Caveats:
    """What a run's ledger remembers; nothing where it is older than this."""
    held = next((body for _, body in ledger.effects(CAVEATS)), None)
    return Caveats() if held is None else Caveats(**{**held, "before": tuple(held["before"])})


def note_caveats(
    session: Session, run: str, split: Split, tasks: Sequence[int], *, playbook: Playbook = Playbook(), source: str = ""
) -> Caveats:
    """Find out what a run's scores on `split` must be read with, and remember it, before anything is asked.

    On test this records the opening. Asked again, the run answers what it remembers.
    """
    if session.ledger.effect(_KEY, "", CAVEATS) is not None:
        return read_caveats(session.ledger)
    register = Register(session.folder.parent)
    chosen = _chooser(register, session, playbook, source) if split == "select" else ""
    found = Caveats(chosen=chosen, wording=session.env.warning(split))
    if split == "test":
        opening = register.open_test(
            _opener(run, session.folder), session.folder.name, contents_of(session.env, split, tasks)
        )
        found = Caveats(opening.number, opening.before, wording=found.wording)
    body = {"opening": found.opening, "before": found.before, "chosen": found.chosen, "wording": found.wording}
    session.ledger.add_effect(_KEY, CAVEATS, CAVEATS, "", body)
    return found


def _opener(run: str, folder: Path) -> str:
    """Who opens a test: a run by its identity and its folder. The same config in another folder draws anew."""
    return f"{run}/{folder.name}"


def was_opened(ledger: Ledger) -> bool:
    """Whether a run has opened its test."""
    return read_caveats(ledger).opening > 0 or any(True for _ in ledger.outcomes("test"))


def note_choice(session: Session, before: Playbook, chosen: Playbook) -> None:
    """Have it on record that a playbook was chosen on the select tasks, where it is another than before."""
    if chosen != before:
        Register(session.folder.parent).choose(playbook_digest(chosen), session.env.name, session.folder.name)


def _chooser(register: Register, session: Session, playbook: Playbook, source: str) -> str:
    """Who chose the playbook on select: a run of this folder, or the training run that its file lies in."""
    if playbook == Playbook():
        return ""
    known = register.chosen_by(playbook_digest(playbook), session.env.name)
    folder = Path(source).parent
    if known or not (folder / FILE).is_file() or folder.resolve() == session.folder.resolve():
        return known
    try:
        return folder.name if run_kind(folder) == "train" else ""
    except WhetError:
        return ""


def since_lines(folder: Path, opening: int) -> tuple[str, ...]:
    """Whether the test of a run has been opened again since, for whoever is shown its claim."""
    if not opening:
        return ()
    with Ledger.read(folder) as ledger:
        run = ledger.meta().get("identity", "")
    register = Register(folder.parent)
    now = register.openings_by(_opener(run, folder), opening)
    if now <= opening:
        return ()
    return (
        f"this test has been opened {now} times by now ({register.path}): a claim that is picked after seeing all of "
        f"them has to hold at {100 * (1.0 - (1.0 - LEVEL) / now):.4g} %",
    )
