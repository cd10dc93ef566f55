"""Worked attempts for supervised training, made of evidence: look, quote, compute, compare, edit, verify, submit.

A demonstration knows the repair, but does not act on anything before the play has shown it. It asks for a subsystem,
reads its members one after the other against the passages of the specification that they rest on, and stops where they
differ. What a passage says is written as the model would write it before it is judged, and each difference is named
before it is put right: whoever imitates a verdict that comes first learns to guess. Where all agree, or the model stays
infeasible, it asks again. Some follow a wrong scent first, or misread a requirement, see what comes of it and take it
back. It is drawn from a seed, so that the same instance may be shown in several ways: read off the prompt, or with what
is asked of each member looked up first.

A wrong step stands there for what comes after it: whoever learns from a demonstration reads it and does not imitate it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from whet.envs.ordebug.actions import SHOWN_AT_ONCE, Action, editing
from whet.envs.ordebug.algebra import column_text, row_text
from whet.envs.ordebug.edits import AddRow, Edit, Relax, SetCoef, SetRhs, SetSense, apply_all, element
from whet.envs.ordebug.iis import Iis, another_iis, find_iis
from whet.envs.ordebug.instance import Instance, shown_elements
from whet.envs.ordebug.ladder import MISSING
from whet.envs.ordebug.model import SENSES, LinearProgram, LinearRow
from whet.envs.ordebug.phrase import in_words
from whet.envs.ordebug.play import OrDebugSettings
from whet.envs.ordebug.prompt import found_text
from whet.envs.ordebug.solver import feasible
from whet.keys import seed_for

MOST_READ = 64
"""Rows that are read at most before one is added."""

_LOOK = (
    "Which constraints and bounds contradict each other?",
    "The model is infeasible. I look for a smallest contradiction.",
    "First the contradiction.",
)
_AGAIN = (
    "The model is still infeasible: something else is wrong. What contradicts now?",
    "Still infeasible, so there is another fault. I look again.",
)
_ELSEWHERE = ("All of these agree with the specification. Is there another contradiction?",)
_READ = ("I read them.", "What do they say exactly?", "I look at each of them before changing anything.")
_SAME = "The same."
_ASKED = ("What is asked of {name}?", "I look up what is asked of {name}.")
_NOT_THESE = "None of these is about {name}."
_DOUBT = ("{name} looks tight. I try whether room there helps.", "Perhaps {name} is the one; I loosen it to see.")
_BACK = (
    "Loosening hides the contradiction, it does not explain it: the specification asks for {name} as it was. Back.",
    "{name} is what the specification asks for. I take that back and read on.",
)
_STILL = (
    "Still infeasible, and {name} was right before: {asked}: {states}. I take that back.",
    "That did not help. Asked: {asked}: {states}, which is what {name} said. Back.",
)
_HIDDEN = (
    "Feasible now, but {name} no longer says what is asked: {asked}: {states}. I take that back.",
    "Feasible, yet I misread: {asked} means {states}. {name} was right. Back.",
)
_RELAXED, _MISREAD = 0.1, 0.35
"""Shares of the attempts that begin with a row that is loosened, or (up to the second) misread."""
_DONE = (
    "The solver finds an optimum, and only what differed was changed. Done.",
    "Feasible, and every constraint says what the specification says. I hand it in.",
)


@dataclass(frozen=True, slots=True)
class DemonstrationStep:
    """One reply of a demonstration: why, then what. A slip is read and not learnt."""

    thought: str
    action: Action
    slip: bool = False


@dataclass(frozen=True, slots=True)
class Manner:
    """How an attempt is told."""

    detours: bool = False
    looks_up: bool = False
    """Has the lines of the specification found that may be about a member, before it says what is asked of it."""


def demonstration(
    instance: Instance, settings: OrDebugSettings, seed: int, looked_up: float = 0.0
) -> list[DemonstrationStep]:
    """A whole attempt that ends in the repair; without detours where the step limit leaves no room for them.

    `looked_up` is the share of the attempts in which requirements are looked up, as far as the limit allows.
    """
    looks = random.Random(seed_for("looked up", seed)).random() < looked_up
    for manner in dict.fromkeys((Manner(True, looks), Manner(False, looks), Manner())):
        steps = list(_told(random.Random(seed), instance, settings, manner))
        if len(steps) <= settings.max_steps:
            break
    return steps


def _told(
    rng: random.Random, instance: Instance, settings: OrDebugSettings, manner: Manner
) -> Iterator[DemonstrationStep]:
    """The story, fault after fault as the subsystems bring them up."""
    if instance.kind == MISSING:
        yield from _supplied(rng, instance, settings)
        return
    left = dict(_repairs(instance).items())
    model, seen, first = instance.sabotaged, set[str](), True
    searched: set[tuple[str, ...]] = set()
    while left:
        yield DemonstrationStep(rng.choice(_LOOK if first else _AGAIN), Action("get_iis"))
        shown = find_iis(model)
        if shown is not None and not set(left) & _elements(shown, model):
            shown = another_iis(model, shown)
            yield DemonstrationStep(rng.choice(_ELSEWHERE), Action("another_iis"))
        if shown is None or not set(left) & _elements(shown, model):
            shown = Iis((), ())
        names = _suspected(rng, shown, model, left)
        fresh = [name for name in names if name not in seen]
        if settings.reveal == "query" or shown.integral or not shown.size:
            for start in range(0, len(fresh), SHOWN_AT_ONCE):
                asked = tuple(name.partition(":")[2] for name in fresh[start : start + SHOWN_AT_ONCE])
                yield DemonstrationStep(rng.choice(_READ), Action("show", names=asked))
        seen |= set(names)
        if manner.detours and first:
            scent = rng.random()
            if scent < _RELAXED:
                yield from _loosened(rng, names, left, model)
            elif scent < _MISREAD:
                yield from _misread(rng, instance, settings, model, names, left)
        culprit = next(name for name in names if name in left)
        lines: list[str] = []
        for name, line in _comparisons(instance, settings, model, names, culprit):
            if manner.looks_up:
                for thought, words in _searches(rng, instance, settings, model, name):
                    if words not in searched:
                        yield DemonstrationStep("\n".join([*lines, thought]), Action("find", names=words))
                        searched.add(words)
                        lines = []
            lines.append(line)
        said = "\n".join(lines)
        if manner.detours and first and rng.random() < 0.15:
            yield DemonstrationStep(said, Action("diagnose", names=(culprit.partition(":")[2],)))
            said = ""
        for edit in left.pop(culprit):
            model = edit.apply(model)
            yield DemonstrationStep(said or f"Now: {in_words(edit)}.", editing(edit))
            said = ""
        first = False
    yield DemonstrationStep(rng.choice(_DONE), Action("submit"))


def _supplied(rng: random.Random, instance: Instance, settings: OrDebugSettings) -> Iterator[DemonstrationStep]:
    """A row that is missing: nothing contradicts, so the model is read beside the specification."""
    yield DemonstrationStep("Does anything contradict?", Action("get_iis"))
    model, (edit,) = instance.sabotaged, instance.repair
    if settings.reveal == "query":
        names = [row.name for row in model.rows]
        for start in range(0, min(len(names), MOST_READ), SHOWN_AT_ONCE):
            asked = tuple(names[start : start + SHOWN_AT_ONCE])
            yield DemonstrationStep(rng.choice(_READ), Action("show", names=asked))
    asked_for = _quoted(instance, settings, element(edit))
    sound = edit.apply(model)
    said = f"Asked: {asked_for}. No constraint says so. One is to be added: {_reads(sound, element(edit))}."
    yield DemonstrationStep(said, editing(edit))
    yield DemonstrationStep(rng.choice(_DONE), Action("submit"))


def _repairs(instance: Instance) -> dict[str, list[Edit]]:
    """The edits of the reference repair by the element that they are about."""
    found: dict[str, list[Edit]] = {}
    for edit in instance.repair:
        found.setdefault(element(edit), []).append(edit)
    return found


def _elements(shown: Iis, model: LinearProgram) -> frozenset[str]:
    """What a subsystem points at; where whole numbers contradict, the columns of its rows too."""
    columns: set[str] = set()
    if shown.integral:
        columns = {f"column:{name}" for row in shown.row_names for name, _ in model.row(row).terms}
    return shown_elements(shown) | columns


def _suspected(rng: random.Random, shown: Iis, model: LinearProgram, left: dict[str, list[Edit]]) -> list[str]:
    """What is read, in order: the members of the subsystem as they are listed, or the whole model where none helps."""
    listed = [f"row:{name}" for name in shown.row_names] + [f"column:{name}" for name in shown.column_names]
    if shown.integral:
        listed += sorted(_elements(shown, model) - set(listed))
    if not set(listed) & set(left):
        listed = [f"row:{row.name}" for row in model.rows] + [f"column:{column.name}" for column in model.columns]
    return listed


def _comparisons(
    instance: Instance,
    settings: OrDebugSettings,
    model: LinearProgram,
    names: list[str],
    culprit: str,
) -> Iterator[tuple[str, str]]:
    """Members with what each says beside what is asked for, up to the one that differs."""
    before = list(names[: names.index(culprit)])
    for name in before[-4:]:
        said = _quoted(instance, settings, name)
        yield name, f"{_reads(model, name)}. Asked: {said}: {_states(model, name)}. {_SAME}"
    asked = _quoted(instance, settings, culprit)
    if asked == _NOTHING:
        yield culprit, f"{_reads(model, culprit)}. Nothing in the specification asks for this: it goes."
    else:
        edits = _repairs(instance)[culprit]
        sound = _states(apply_all(model, edits), culprit)
        wrong = ", ".join(in_words(edit) for edit in edits)
        yield culprit, f"{_reads(model, culprit)}. Asked: {asked}: {sound}. Not the same: {wrong}."


def _searches(
    rng: random.Random, instance: Instance, settings: OrDebugSettings, model: LinearProgram, name: str
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Why and for which words the specification is searched, until what an element rests on has been found.

    The words are those that the model itself says: whoever searches does not know yet what is wrong. Where none of them
    finds it, there is no search: what is asked is then read in the whole text.
    """
    text, passages = _spoken(instance, settings, name)
    sort, _, bare = name.partition(":")
    if sort == "column":
        tried: list[tuple[str, ...]] = [(f"{bare}:",)]
    else:
        variables = [column for column, _ in model.row(bare).terms]
        tried = list(dict.fromkeys((tuple(variables[-2:]), tuple(variables[:2]))))
    shown = [all(passage in found_text(text, words) for passage in passages) for words in tried]
    if not any(shown):
        return
    for words in tried[: shown.index(True) + 1]:
        yield (_NOT_THESE if words != tried[0] else rng.choice(_ASKED)).format(name=bare), words


def _spoken(instance: Instance, settings: OrDebugSettings, name: str) -> tuple[str, tuple[str, ...]]:
    """The specification, and the passages of it that an element rests on."""
    specification = instance.specification(settings.spec)
    return specification.text, tuple(specification.sources.get(name, ()))


_NOTHING = "nothing"


def _quoted(instance: Instance, settings: OrDebugSettings, name: str) -> str:
    """The passages that an element rests on, word for word."""
    _, said = _spoken(instance, settings, name)
    if not said:
        return _NOTHING if name.startswith("row:") else "amounts from 0 without limit"
    return " / ".join(f'"{passage}"' for passage in said)


def _reads(model: LinearProgram, name: str) -> str:
    sort, _, bare = name.partition(":")
    return row_text(model.row(bare)) if sort == "row" else column_text(model.column(bare))


def _states(model: LinearProgram, name: str) -> str:
    """What an element says, without its name in front."""
    return _reads(model, name).rpartition(": ")[2]


def _sound_rows(names: list[str], left: dict[str, list[Edit]]) -> list[str]:
    return [name.partition(":")[2] for name in names if name.startswith("row:") and name not in left]


def _loosened(
    rng: random.Random, names: list[str], left: dict[str, list[Edit]], model: LinearProgram
) -> Iterator[DemonstrationStep]:
    """A wrong scent: a sound row that was shown is loosened, and taken back."""
    sound = _sound_rows(names, left)
    if not sound:
        return
    name = rng.choice(sound)
    amount = float(max(1, round(abs(model.row(name).rhs) / 10)))
    yield DemonstrationStep(rng.choice(_DOUBT).format(name=name), editing(Relax(name, amount)), slip=True)
    yield DemonstrationStep(rng.choice(_BACK).format(name=name), Action("undo"))


def _misread(
    rng: random.Random,
    instance: Instance,
    settings: OrDebugSettings,
    model: LinearProgram,
    names: list[str],
    left: dict[str, list[Edit]],
) -> Iterator[DemonstrationStep]:
    """A sound row is held against a requirement as it does not stand there, changed, and changed back."""
    quotes = {name: _quoted(instance, settings, f"row:{name}") for name in _sound_rows(names, left)}
    sound = [name for name, asked in quotes.items() if asked != _NOTHING]
    if not sound:
        return
    name = rng.choice(sound)
    edit = _wrong(rng, model.row(name))
    changed, asked, whole = edit.apply(model), quotes[name], f"row:{name}"
    said = f"{_reads(model, whole)}. Asked: {asked}: {_states(changed, whole)}. Not the same: {in_words(edit)}."
    yield DemonstrationStep(said, editing(edit), slip=True)
    seen = _HIDDEN if feasible(changed) else _STILL
    back = rng.choice(seen).format(name=name, asked=asked, states=_states(model, whole))
    yield DemonstrationStep(back, Action("undo"))


def _wrong(rng: random.Random, row: LinearRow) -> Edit:
    """What a reader who slips makes of a row: another sense, another figure, another sign."""
    column, value = rng.choice(row.terms)
    return rng.choice(
        (
            SetSense(row.name, rng.choice([sense for sense in SENSES if sense != row.sense])),
            SetRhs(row.name, row.rhs + rng.choice((-1, 1)) * max(1.0, float(round(abs(row.rhs) / 4)))),
            SetCoef(row.name, column, -value),
        )
    )


def acted_on(action: Action) -> frozenset[str]:
    """The names that an action is about, rows and columns alike: what must have been shown before."""
    if action.edit is not None and not isinstance(action.edit, AddRow):
        named = (getattr(action.edit, part, None) for part in ("row", "column"))
        return frozenset(name for name in named if name)
    return frozenset(action.names) if action.name in ("show", "diagnose", "check_slack") else frozenset()
