"""A world to try gates in: how a population of tasks is drawn, and what kinds of candidates are proposed.

select = 40                                   # tasks of the gate: the first of the population
budget = 6000                                 # target calls of a run
proposal = 0                                  # target calls that a proposal costs before it is judged
[tasks]
population = 2000
mix = [[0.4, 0.97], [0.4, 0.03], [0.2, 0.5]]  # share, solve probability
[[candidates]]
share = 0.25                                  # of the proposals
up = 0.08                                     # fraction of the population raised to 0.97, from tasks under 0.6
down = 0.0                                    # fraction of the population lowered to 0.03, from tasks over 0.4
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from whet.errors import WhetError, nearest

ProposalKind = Literal["good", "null", "bad"]
Chances = NDArray[np.float64]

RAISED, LOWERED = 0.97, 0.03
RAISABLE_UNDER, LOWERABLE_OVER = 0.6, 0.4


@dataclass(frozen=True, slots=True)
class SimulatedProposal:
    """A kind of candidate: its share of the proposals, and the fractions of the population it raises and lowers."""

    share: float
    up: float = 0.0
    down: float = 0.0

    @property
    def kind(self) -> ProposalKind:
        """`null` when it helps as many tasks as it hurts, none or some."""
        return "good" if self.up > self.down else "bad" if self.up < self.down else "null"


@dataclass(frozen=True, slots=True)
class SimulatedWorld:
    """What a simulation needs to know."""

    select: int
    budget: int
    mix: tuple[tuple[float, float], ...]
    candidates: tuple[SimulatedProposal, ...]
    population: int = 2000
    name: str = "world"
    proposal: int = 0
    """Target calls that a proposal costs before it is judged: a learner draws a train batch for each."""

    def population_drawn(self, rng: np.random.Generator) -> Chances:
        """Solve probabilities of the starting incumbent; the first `select` tasks are the gate's."""
        shares, chances = (np.array(column) for column in zip(*self.mix, strict=True))
        drawn: Chances = chances[rng.choice(len(chances), size=self.population, p=shares / shares.sum())]
        return drawn

    def proposed(self, incumbent: Chances, proposal: SimulatedProposal, rng: np.random.Generator) -> Chances:
        """Solve probabilities of a candidate made from the incumbent. No task is both raised and lowered."""
        candidate = incumbent.copy()
        raised = _some(np.flatnonzero(incumbent < RAISABLE_UNDER), proposal.up * self.population, rng)
        open_to_harm = incumbent > LOWERABLE_OVER
        open_to_harm[raised] = False
        lowered = _some(np.flatnonzero(open_to_harm), proposal.down * self.population, rng)
        candidate[raised] = RAISED
        candidate[lowered] = LOWERED
        return candidate


def _some(pool: NDArray[np.intp], many: float, rng: np.random.Generator) -> NDArray[np.intp]:
    """`many` of the pool at random, rounded; all of it when it holds no more."""
    count = round(many)
    if count == 0 or count >= pool.size:
        return pool[: 0 if count == 0 else pool.size]
    return rng.choice(pool, size=count, replace=False, shuffle=False)


def load_world(path: str | Path) -> SimulatedWorld:
    """A world from a TOML file."""
    path = Path(path)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise WhetError(f"world {path}: cannot be read ({problem.strerror}); give the path of a TOML file") from problem
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise WhetError(f"world {path}: not valid TOML ({problem})") from problem
    return world_from(data, path.stem)


def world_from(data: Mapping[str, Any], name: str = "world") -> SimulatedWorld:
    """A world from the content of its file; refuses what is unknown, missing or out of range, by name."""
    _known(data, ("select", "budget", "proposal", "tasks", "candidates"), name, "")
    tasks = _table(data.get("tasks"), name, "tasks")
    _known(tasks, ("population", "mix"), name, "tasks.")
    population = _whole(tasks.get("population", 2000), name, "tasks.population", 1)
    select = _whole(data.get("select"), name, "select", 1)
    if select > population:
        raise WhetError(f"world {name}: select is {select}, more than tasks.population ({population})")
    return SimulatedWorld(
        select=select,
        budget=_whole(data.get("budget"), name, "budget", 1),
        mix=_mix(tasks.get("mix"), name),
        candidates=_proposals(data.get("candidates"), name),
        population=population,
        name=name,
        proposal=_whole(data.get("proposal", 0), name, "proposal", 0),
    )


def _mix(value: Any, name: str) -> tuple[tuple[float, float], ...]:
    if not isinstance(value, list) or not value:
        raise WhetError(f"world {name}: tasks.mix is a list of [share, solve probability] pairs")
    pairs = []
    for position, row in enumerate(value):
        if not isinstance(row, list) or len(row) != 2:
            raise WhetError(f"world {name}: tasks.mix[{position}] is a pair [share, solve probability], not {row!r}")
        pairs.append(tuple(_fraction(number, name, f"tasks.mix[{position}]") for number in row))
    _whole_share([share for share, _ in pairs], name, "the shares of tasks.mix")
    return tuple((share, chance) for share, chance in pairs)


def _proposals(value: Any, name: str) -> tuple[SimulatedProposal, ...]:
    if not isinstance(value, list) or not value:
        raise WhetError(f"world {name}: needs at least one [[candidates]] table with share, up and down")
    made = []
    for position, row in enumerate(value):
        where = f"candidates[{position}]"
        table = _table(row, name, where)
        _known(table, ("share", "up", "down"), name, f"{where}.")
        if "share" not in table:
            raise WhetError(f"world {name}: {where} lacks share")
        fractions = {key: _fraction(number, name, f"{where}.{key}") for key, number in table.items()}
        made.append(SimulatedProposal(**fractions))
    _whole_share([proposal.share for proposal in made], name, "the shares of the candidates")
    return tuple(made)


def _known(data: Mapping[str, Any], names: tuple[str, ...], name: str, prefix: str) -> None:
    for key in data:
        if key not in names:
            raise WhetError(f"world {name}: unknown key {prefix}{key}.{nearest(key, names)} Known: {', '.join(names)}.")


def _table(value: Any, name: str, key: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise WhetError(f"world {name}: {key} must be a table")
    return value


def _whole(value: Any, name: str, key: str, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise WhetError(f"world {name}: {key} must be a whole number of at least {least}, not {value!r}")
    return value


def _fraction(value: Any, name: str, key: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0.0 <= value <= 1.0:
        raise WhetError(f"world {name}: {key} must be a number between 0 and 1, not {value!r}")
    return float(value)


def _whole_share(shares: list[float], name: str, what: str) -> None:
    if abs(sum(shares) - 1.0) > 1e-6:
        raise WhetError(f"world {name}: {what} must add up to 1, not {sum(shares):g}")
