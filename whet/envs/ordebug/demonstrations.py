"""Worked attempts for supervised training: the oracle's repairs, told in varied ways in the play's own protocol.

A demonstration looks before it edits, says why, and sometimes tries a wrong edit and takes it back. It is drawn from
a seed, so that the same instance may be shown in several ways.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whet.envs.ordebug.actions import SHOWN_AT_ONCE, Action, editing
from whet.envs.ordebug.algebra import column_text, row_text
from whet.envs.ordebug.edits import Edit, Relax, SetBounds, SetType
from whet.envs.ordebug.instance import Instance, PlantedFault
from whet.envs.ordebug.play import OrDebugSettings

_LOOK = (
    "First I look at what contradicts what.",
    "The model is infeasible; which constraints and bounds clash?",
    "A smallest contradiction tells me where to read.",
    "I start with an irreducible subsystem.",
)
_READ = (
    "I compare these with the specification.",
    "What do they say exactly?",
    "I read the elements that matter before changing anything.",
)
_DOUBT = (
    "Loosening {name} would make room; I see what that does.",
    "Perhaps {name} is too tight. I try.",
)
_BACK = (
    "That only hides the contradiction: the specification asks for what {name} said. Back.",
    "{name} agrees with the specification, so that was not it. I take it back.",
)
_BLAME = (
    "Compared with the specification: {text}.",
    "Here it is: {text}.",
    "This does not agree with the specification: {text}.",
)
_MEND = ("I put it right: {text}.", "So {text}.", "The specification settles it: {text}.")
_DONE = (
    "The model is feasible again and says what the specification says. I submit it.",
    "Every difference from the specification is undone.",
    "The solver finds an optimum and nothing else was touched.",
)


@dataclass(frozen=True, slots=True)
class DemonstrationStep:
    """One reply of a demonstration: why, then what."""

    thought: str
    action: Action


def demonstration(instance: Instance, settings: OrDebugSettings, seed: int) -> list[DemonstrationStep]:
    """A whole attempt that ends in the repair; always within the step limit."""
    rng = random.Random(seed)
    needed = [*_blame(rng, instance), *_repairs(rng, instance), DemonstrationStep(rng.choice(_DONE), Action("submit"))]
    optional = list(_looking(rng, instance, must_read=settings.reveal == "query"))
    room = settings.max_steps - len(needed)
    if room < len(optional):
        optional = optional[:room] if room > 0 else []
        if optional and optional[-1].action.edit is not None:
            optional.pop()  # a try that there is no step left to take back
    if room < 0:
        needed = needed[1:]  # the diagnosis is the only step that a repair can do without
    return [*optional, *needed]


def _looking(rng: random.Random, instance: Instance, must_read: bool) -> Iterator[DemonstrationStep]:
    subsystem = instance.certificate.subsystem
    if rng.random() < 0.85:
        yield DemonstrationStep(rng.choice(_LOOK), Action("get_iis"))
    if must_read or rng.random() < 0.4:
        wrong = [element.partition(":")[2] for element in sorted(instance.elements)]
        near = [*subsystem.row_names, *subsystem.column_names]
        rng.shuffle(near)
        names = list(dict.fromkeys([*wrong, *near]))[
            : max(min(len(wrong), SHOWN_AT_ONCE), rng.randint(2, SHOWN_AT_ONCE))
        ]
        rng.shuffle(names)
        yield DemonstrationStep(rng.choice(_READ), Action("show", names=tuple(names)))
    sound = [name for name in subsystem.row_names if f"row:{name}" not in instance.elements]
    if sound and rng.random() < 0.2:
        name = rng.choice(sound)
        amount = float(max(1, round(abs(instance.sabotaged.row(name).rhs) / 10)))
        yield DemonstrationStep(rng.choice(_DOUBT).format(name=name), editing(Relax(name, amount)))
        yield DemonstrationStep(rng.choice(_BACK).format(name=name), Action("undo"))
    elif sound and rng.random() < 0.2:
        yield DemonstrationStep("How far is it from holding?", Action("check_slack", names=(rng.choice(sound),)))


def _blame(rng: random.Random, instance: Instance) -> Iterator[DemonstrationStep]:
    told = "; ".join(fault.text for fault in instance.faults)
    names = [element.partition(":")[2] for element in sorted(instance.elements)]
    rng.shuffle(names)
    yield DemonstrationStep(rng.choice(_BLAME).format(text=told), Action("diagnose", names=tuple(names)))


def _repairs(rng: random.Random, instance: Instance) -> Iterator[DemonstrationStep]:
    """Every fault undone, in any order of the faults."""
    faults: Sequence[PlantedFault] = rng.sample(instance.faults, len(instance.faults))
    model = instance.sabotaged
    for fault in faults:
        for edit in fault.repair:
            model = edit.apply(model)
            yield DemonstrationStep(rng.choice(_MEND).format(text=_after(edit, instance)), editing(edit))


def _after(edit: Edit, instance: Instance) -> str:
    """What the element reads like in the original."""
    original = instance.original
    if isinstance(edit, SetBounds | SetType):
        return f"it reads {column_text(original.column(edit.column))}"
    if edit.row in original.row_index:
        return f"it reads {row_text(original.row(edit.row))}"
    return f"{edit.row} goes"
