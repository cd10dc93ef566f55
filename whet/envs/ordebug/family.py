"""What the registry knows about `ordebug` without importing a solver: its variants and arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from whet.envs.arguments import Argument, accept
from whet.envs.base import Environment
from whet.errors import WhetError, nearest

KINDS = ("A", "B", "C", "D")
DIFFICULTIES = ("easy", "medium", "hard")
CELL_NAMES = tuple(f"type_{kind}_{difficulty}" for kind in KINDS for difficulty in DIFFICULTIES)

_PLAYED = (
    Argument("reveal", Literal["full", "query"], "full", "show the algebra at once, or let `show` cost a step"),
    Argument("protocol", Literal["text", "tools"], "text", "an 'Action:' line at the end of a reply, or tool calls"),
    Argument("max_steps", int, 20, "actions in one attempt, malformed ones included"),
    Argument("reward", Literal["repair", "composite"], "repair", "in [0, 1], or the sum of outcome, recall and speed"),
    Argument("time_limit", float, 10.0, "seconds for one solve"),
)

_GENERATED = (
    Argument("cell", Literal[CELL_NAMES] | None, None, "one of the twelve cells, such as type_A_easy"),
    Argument("type", Literal["A", "B", "C", "D"] | None, None, "only faults of this type"),
    Argument("difficulty", Literal["easy", "medium", "hard"] | None, None, "only problems of this difficulty"),
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
    """`ordebug`, `ordebug/CELL` (generated and certified), `ordebug:DIR` (a folder of MPS models and dataset.json)."""

    name = "ordebug"
    about = "repair an infeasible optimisation model: generated, certified, in twelve cells; or ordebug:DIR"

    def variants(self) -> Sequence[str]:
        return CELL_NAMES

    def arguments(self, variant: str) -> Sequence[Argument]:
        return (*_PLAYED, *(() if variant else _GENERATED), *_IMPORTED)

    def build(self, variant: str, source: str, args: Mapping[str, Any]) -> Environment:
        from whet.envs.ordebug.environment import OrDebug
        from whet.envs.ordebug.play import OrDebugSettings

        if variant and variant not in CELL_NAMES:
            raise WhetError(
                f"ordebug has no cell {variant!r}.{nearest(variant, CELL_NAMES)} See: whet envs show ordebug"
            )
        if variant and source:
            raise WhetError(f"ordebug:{source} takes no cell: the folder says what is in it")
        where = f"ordebug/{variant}" if variant else f"ordebug:{source}" if source else "ordebug"
        takes = _IMPORTED if source else () if variant else _GENERATED
        given = {argument.name: argument.default for argument in (*_PLAYED, *takes)} | accept(
            where, (*_PLAYED, *takes), args
        )
        if given["max_steps"] < 1 or given["time_limit"] <= 0:
            raise WhetError(f"{where}: max_steps and time_limit must be above 0")
        played = {argument.name: given[argument.name] for argument in _PLAYED}
        return OrDebug(
            where, OrDebugSettings(**played), source, _cells(where, variant, given), given.get("split", "select")
        )


def _cells(where: str, variant: str, given: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the cells that are wanted, in their order."""
    cell = variant or given.get("cell")
    kind, difficulty = given.get("type"), given.get("difficulty")
    if cell and (kind or difficulty):
        raise WhetError(f"{where}: a cell says type and difficulty; give the one or the other")
    found = [
        name
        for name in CELL_NAMES
        if cell in (None, "", name) and (kind is None or f"_{kind}_" in name) and name.endswith(difficulty or "")
    ]
    return tuple(found)


FAMILY = OrDebugFamily()
