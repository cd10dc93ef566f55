"""The books of a run by step, from its snapshots: what each told, how two differ, and a book that goes back to one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import orjson

from whet.config.playbooks import read_playbook, write_playbook
from whet.errors import WhetError, typed
from whet.files import write_atomically
from whet.learn.rules.approval import PersonsWord, write_approval
from whet.learn.rules.artifacts import CANDIDATES, SNAPSHOTS, snapshot_name
from whet.learn.rules.book import RuleBook, checked, retired
from whet.run.workspace import RUNS, find_run
from whet.types import Rule


def steps_of(folder: Path) -> list[int]:
    """The steps of which there is a snapshot, the first first."""
    names = sorted((folder / SNAPSHOTS).glob("guidance-step-*.json"))
    if not names:
        raise WhetError(
            f"{folder}: there is no {SNAPSHOTS}/ in it; is it a run of rule search? whet runs show {folder}"
        )
    return [int(file.stem.rpartition("-")[2]) for file in names]


def book_at(run: str | Path, step: int | None = None, runs: Path = RUNS) -> tuple[Path, int, RuleBook]:
    """The folder of a run, and the book after so many edits, by default the last."""
    folder = find_run(run, runs)
    known = steps_of(folder)
    wanted = known[-1] if step is None else step
    if wanted not in known:
        raise WhetError(f"{folder}: there is no step {wanted} of its book; there are {known[0]} to {known[-1]}")
    file = folder / SNAPSHOTS / snapshot_name(wanted)
    return folder, wanted, checked(read_playbook(str(file)).rules, str(file))


def book_lines(book: RuleBook, every: bool = False) -> list[str]:
    """Rules that are told; with `every` those that are not, too."""
    shown = book.rules if every else book.active
    return [_line(rule) for rule in shown]


def _line(rule: Rule) -> str:
    state = "" if rule.status == "active" else f" [{rule.status}]"
    born = f" (step {rule.created})" if rule.created else ""
    return f"{rule.id}{state}: {rule.text}{born}"


def diff_lines(before: RuleBook, after: RuleBook) -> list[str]:
    """What the policy is told no more, anew, and in other words."""
    old, new = ({rule.id: rule.text for rule in book.active} for book in (before, after))
    lines = [f"- {rule}: {text}" for rule, text in old.items() if rule not in new]
    lines += [f"+ {rule}: {text}" for rule, text in new.items() if rule not in old]
    worded = [rule for rule in old if rule in new and old[rule] != new[rule]]
    return [*lines, *(line for rule in worded for line in (f"- {rule}: {old[rule]}", f"+ {rule}: {new[rule]}"))]


def rolled_back(latest: RuleBook, then: RuleBook, step: int) -> RuleBook:
    """A book that tells what `then` told and keeps all that came since as retired: no id is used again."""
    rules = tuple(
        then.find(rule.id) or (rule if rule.status == "retired" else retired(rule, step)) for rule in latest.rules
    )
    return replace(latest, rules=rules)


def roll_back(run: str | Path, step: int, out: Path | None, runs: Path = RUNS) -> Path:
    """Write the playbook whose book is that of an earlier step; the run itself stays what it is."""
    folder, last, latest = book_at(run, None, runs)
    _, _, then = book_at(run, step, runs)
    target = out or folder / f"rolled_back_to_{step:04d}.json"
    best = read_playbook(str(folder / "current_playbook.json"))
    book = rolled_back(latest, then, last + 1)
    write_atomically(target, write_playbook(book.within(replace(best, rules=()))))
    return target


def awaiting(folder: Path) -> dict[str, str]:
    """The changes that wait for a person, by their purpose."""
    file = folder / CANDIDATES
    rows = [orjson.loads(line) for line in file.read_bytes().splitlines()] if file.is_file() else []
    waiting = [row for row in rows if row["decision"] == "awaiting"]
    names = [f"s{row['iteration']:04d}/{row['branch']}/c{row['candidate_index']}" for row in waiting]
    told = [" ".join(filter(None, (row["op"], row["target"], row["text"]))) for row in waiting]
    return dict(zip(names, told, strict=True))


def approve(run: str | Path, purpose: str, said: PersonsWord, runs: Path = RUNS) -> str:
    """A person's word on a change that waits for it; `purpose` may be left out where only one does."""
    folder = find_run(run, runs)
    steps_of(folder)  # says what is wrong where this is no run of rule search
    waiting = awaiting(folder)
    if not waiting:
        raise WhetError(f"{folder}: no change waits for a person")
    chosen = purpose or next(iter(waiting))
    if chosen not in waiting or (not purpose and len(waiting) > 1):
        raise WhetError(f"{folder}: {purpose or 'which change'}? These wait: {', '.join(waiting)}")
    before = write_approval(folder, chosen, said)
    instead = f", in the place of '{before.words}'" if before is not None else ""
    return f"{chosen}: {said.words}{instead}; continue with: whet resume {typed(folder)}"
