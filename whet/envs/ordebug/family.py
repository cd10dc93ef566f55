"""What the registry knows about `ordebug` without importing a solver: its variants and arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from whet.envs.arguments import Argument, accept
from whet.envs.base import Environment
from whet.envs.ordebug.ladder import CELLS, MISSING, OMISSIONS, RUNGS, SIZES
from whet.errors import WhetError, nearest

CELL_NAMES = tuple(cell.name for cell in CELLS)
"""The twelve cells of the benchmark."""

RUNG_NAMES = tuple(dict.fromkeys(rung.difficulty for rung in RUNGS))
"""Places on the two axes; fault types take turns on each."""

_PLAYED = (
    Argument("spec", Literal["prose", "table"], "prose", "how the specification is told; a table is the easy rung"),
    Argument("reveal", Literal["full", "query"], "full", "show the algebra at once, or let `show` cost a step"),
    Argument("protocol", Literal["text", "tools"], "text", "an 'Action:' line at the end of a reply, or tool calls"),
    Argument("max_steps", int, 20, "actions in one attempt, malformed ones included"),
    Argument("reward", Literal["repair", "composite"], "repair", "in [0, 1], or the sum of outcome, recall and speed"),
    Argument("time_limit", float, 10.0, "seconds for one solve"),
)

_GENERATED = (
    Argument("cell", Literal[CELL_NAMES] | None, None, "one of the twelve cells, such as type_A_easy"),
    Argument("type", Literal["A", "B", "C", "D", "mixed", "missing"] | None, None, "only faults of this type"),
    Argument("difficulty", Literal["easy", "medium", "hard"] | None, None, "only problems of this difficulty"),
    Argument("size", Literal["tiny", "small", "medium", "large", "huge"] | None, None, "a rung by the size of models"),
    Argument("subtlety", Literal["near", "mid", "far"] | None, None, "a rung by how far the fault is from view"),
    Argument(
        "up_to", Literal["tiny", "small", "medium", "large"] | None, None, "the rungs of this size and of smaller ones"
    ),
)

_FAMILIES = (
    Argument(
        "families",
        Literal["seen", "held_out", "all"],
        "seen",
        "trades of the problems; those held out are never in train",
    ),
)

_IMPORTED = (
    Argument(
        "split",
        Literal["train", "select", "test", "content"],
        "select",
        "where the problems of the folder stand; content: each by the hash of what it asks",
    ),
)


class OrDebugFamily:
    """`ordebug`, `ordebug/CELL`, `ordebug/SIZE_SUBTLETY` (generated), `ordebug:DIR` (MPS models and dataset.json)."""

    name = "ordebug"
    alone = True
    about = (
        "repair an infeasible optimisation model: generated, certified, in twelve cells and on two axes; or ordebug:DIR"
    )

    def variants(self) -> Sequence[str]:
        return (*CELL_NAMES, *RUNG_NAMES)

    def arguments(self, variant: str) -> Sequence[Argument]:
        return (*_PLAYED, *_FAMILIES, *_taken(variant), *_IMPORTED)

    def build(self, variant: str, source: str, args: Mapping[str, Any]) -> Environment:
        from whet.envs.ordebug.environment import OrDebug
        from whet.envs.ordebug.play import OrDebugSettings

        if variant and variant not in self.variants():
            raise WhetError(
                f"ordebug has no cell {variant!r}.{nearest(variant, self.variants())} See: whet envs show ordebug"
            )
        if variant and source:
            raise WhetError(f"ordebug:{source} takes no cell: the folder says what is in it")
        where = f"ordebug/{variant}" if variant else f"ordebug:{source}" if source else "ordebug"
        takes = _IMPORTED if source else (*_FAMILIES, *_taken(variant))
        given = {argument.name: argument.default for argument in (*_PLAYED, *takes)} | accept(
            where, (*_PLAYED, *takes), args
        )
        if given["max_steps"] < 1 or given["time_limit"] <= 0:
            raise WhetError(f"{where}: max_steps and time_limit must be above 0")
        played = {argument.name: given[argument.name] for argument in _PLAYED}
        cells = () if source else _cells(where, variant, given)
        if given["reveal"] == "full" and any(name.startswith("huge") for name in cells):
            raise WhetError(f"{where}: models of this size are too long to show at once; add -a reveal=query")
        return OrDebug(
            where,
            OrDebugSettings(**played),
            source,
            cells,
            given.get("split", "select"),
            given.get("families", "seen"),
        )


def _taken(variant: str) -> tuple[Argument, ...]:
    """The arguments that choose cells: all of them, on a rung the fault type, in a cell none."""
    if variant in CELL_NAMES:
        return ()
    return tuple(argument for argument in _GENERATED if argument.name == "type") if variant else _GENERATED


def _cells(where: str, variant: str, given: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the cells that are wanted, in their order."""
    kind, difficulty = given.get("type"), given.get("difficulty")
    size, subtlety, up_to = given.get("size"), given.get("subtlety"), given.get("up_to")
    if variant in RUNG_NAMES:
        size, _, subtlety = variant.partition("_")
    cell = "" if variant in RUNG_NAMES else variant or given.get("cell")
    if (cell and (kind or difficulty)) or ((size or subtlety or up_to) and (cell or difficulty)):
        raise WhetError(
            f"{where}: a cell says type and difficulty, a rung size and subtlety; give the one or the other"
        )
    if size and up_to:
        raise WhetError(f"{where}: size names one rung, up_to several; give the one or the other")
    if size or subtlety or up_to:
        rungs = OMISSIONS if kind == MISSING else RUNGS
        sizes = (size,) if size else SIZES[: SIZES.index(up_to or "large") + 1]
        there = [rung for rung in rungs if rung.sizes[0] in sizes and subtlety in (None, rung.subtlety)]
        found = [rung.name for rung in there if kind in (None, rung.kind)]
    else:
        found = [
            made.name
            for made in CELLS
            if cell in (None, "", made.name) and kind in (None, made.kind) and difficulty in (None, made.difficulty)
        ]
    if not found:
        raise WhetError(f"{where}: there are no problems of that type there. See: whet envs show ordebug")
    return tuple(found)


FAMILY = OrDebugFamily()
