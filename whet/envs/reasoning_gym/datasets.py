"""The datasets of reasoning-gym as pure functions of a number: their names, arguments, levels, entries and scores."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, get_type_hints

from whet.envs.arguments import Argument
from whet.envs.foreign import quarantine, silence
from whet.envs.reasoning_gym.remedies import remedied
from whet.envs.splits import NoItem
from whet.errors import WhetError, nearest
from whet.extras import install
from whet.keys import canonical, seed_for

REFUSED = {
    "codeio": "it executes 3,002 code snippets of unknown origin in this process, and what they return depends on "
    "the clock, on global random state and on hash order",
    "composite": "join datasets with '+' instead, as in reasoning-gym/leg_counting+chain_sum",
}

USES_GLOBAL_RANDOM = frozenset({"list_functions", "pool_matrix"})

WITHOUT_ANSWER = frozenset({"boxnet", "rush_hour"})
"""Datasets that can tell whether an answer is right but know none."""

_NOT_ARGUMENTS = frozenset({"seed", "size"})


class Dataset:
    """One dataset in one configuration: an entry for every number, and the dataset's own score for an answer."""

    def __init__(self, name: str, config: Any, level: str = "") -> None:
        self.name = name
        self.config = {
            key.name: getattr(config, key.name) for key in dataclasses.fields(config) if key.name not in _NOT_ARGUMENTS
        }
        with _complaints(name + level):
            self._dataset = remedied(name, _factory().DATASETS[name][0])(config)
        silence("reasoning_gym")

    def entry(self, number: int) -> dict[str, Any]:
        """The item of that number: question, answer, metadata. `NoItem` where the generator gives up."""
        seed = seed_for("global", self.name, number) if self.name in USES_GLOBAL_RANDOM else None
        with quarantine(seed):
            try:
                item: dict[str, Any] = self._dataset[number]
            except Exception as problem:  # generators give up with whatever error comes to hand
                raise NoItem(f"{type(problem).__name__}: {problem}") from problem
        if isinstance(item["answer"], str) and not item["answer"].strip():
            raise NoItem("the answer is blank, which cannot be told from no answer")
        return item

    def score(self, answer: str, entry: Mapping[str, Any]) -> float:
        """What the dataset's own scorer gives; what it raises goes through."""
        with quarantine():
            return float(self._dataset.score_answer(answer, entry))


def example_answer(name: str, truth: Mapping[str, Any]) -> str | None:
    """An answer that is right, where one is known: the entry's own, or for open questions an example."""
    if truth["answer"] is not None or name not in EXAMPLES:
        return None if truth["answer"] is None else str(truth["answer"])
    return EXAMPLES[name](truth["metadata"])


def _integral(metadata: Mapping[str, Any]) -> str:
    sympy = importlib.import_module("sympy")
    with quarantine():
        integrand = sympy.parse_expr(metadata["integrand"])
        return f"{sympy.integrate(integrand, sympy.Symbol(metadata['variable']))} + C"


EXAMPLES: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "graph_color": lambda metadata: json.dumps(metadata["possible_answer"]),
    "intermediate_integration": _integral,
    "propositional_logic": lambda metadata: str(metadata["example_answer"]),
    "rubiks_cube": lambda metadata: str(metadata["example_correct_answer"]),
    "simple_integration": _integral,
}
"""Datasets that accept many answers, and how to come by one of them."""


def truth_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What the scorer needs of an entry, as data that JSON can hold."""
    truth = {"answer": entry["answer"], "metadata": entry["metadata"]}
    try:
        canonical(truth)
    except TypeError:
        return {"answer": entry["answer"], "metadata": _plain(entry["metadata"])}
    return truth


def _plain(value: Any) -> Any:
    """`value` with fractions and the like as their text; no scorer reads those."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_plain(item) for item in value)
    return value if value is None or isinstance(value, str | int | float) else str(value)


@functools.cache
def _factory() -> Any:
    """The package's own registry of datasets, with all of them in it."""
    try:
        with quarantine():
            importlib.import_module("reasoning_gym")
            return importlib.import_module("reasoning_gym.factory")
    except ModuleNotFoundError as missing:
        if missing.name != "reasoning_gym":
            raise
        raise WhetError(f"reasoning-gym is not installed: {install('interop')}") from None


@contextlib.contextmanager
def _complaints(name: str) -> Iterator[None]:
    """The package checks a configuration with assertions; here they are the user's mistake, in one line."""
    try:
        with quarantine():
            yield
    except (AssertionError, ValueError, TypeError, IndexError, KeyError, RuntimeError) as problem:
        said = " ".join(str(problem).split()) or f"{type(problem).__name__} in its own check of the arguments"
        raise WhetError(f"reasoning-gym/{name}: {said}") from problem


# --------------------------------------------------------------------------------------------- names and arguments


def names() -> list[str]:
    """The datasets that can be used."""
    return sorted(set(_factory().DATASETS) - set(REFUSED))


def known(name: str) -> str:
    """`name`, or an error that says why not and what is near."""
    if name in REFUSED:
        raise WhetError(f"reasoning-gym/{name} is not offered: {REFUSED[name]}")
    if name not in _factory().DATASETS:
        hint = nearest(name, names())
        raise WhetError(f"reasoning-gym has no dataset {name!r}.{hint} List them with: whet envs show reasoning-gym")
    return name


def arguments(name: str) -> tuple[Argument, ...]:
    """The fields of the dataset's configuration."""
    config = _factory().DATASETS[known(name)][1]
    hints = get_type_hints(config)
    return tuple(
        Argument(key.name, hints[key.name], _default(key))
        for key in dataclasses.fields(config)
        if key.name not in _NOT_ARGUMENTS
    )


def _default(key: dataclasses.Field[Any]) -> Any:
    if key.default_factory is not dataclasses.MISSING:
        return key.default_factory()
    return key.default


# --------------------------------------------------------------------------------------------- configurations


def at_default(name: str, args: Mapping[str, Any]) -> Dataset:
    """The dataset with its defaults and `args`."""
    with _complaints(name):
        config = _factory().DATASETS[name][1](seed=0, **args)
    return Dataset(name, config)


def at_levels(name: str, levels: int, args: Mapping[str, Any]) -> Sequence[Dataset]:
    """The dataset at each of the first `levels` levels of its curriculum; `args` set what the curriculum leaves."""
    curricula = _factory().CURRICULA
    if name not in curricula:
        raise WhetError(f"reasoning-gym/{name} has no curriculum: leave out the argument 'levels'")
    with _complaints(name):
        curriculum = curricula[name]()
    most = max((len(attribute.levels) for attribute in curriculum.attributes.values()), default=0)
    if not 1 <= levels <= most:
        raise WhetError(f"reasoning-gym/{name} has {most} levels: 'levels' takes 1 to {most}, not {levels}")
    ruled = _ruled_by(curriculum) & set(args)
    if ruled:
        raise WhetError(f"reasoning-gym/{name}: {min(ruled)!r} is set by the level; give it or 'levels', not both")
    return [_at_level(name, curriculum, level, args) for level in range(levels)]


def _at_level(name: str, curriculum: Any, level: int, args: Mapping[str, Any]) -> Dataset:
    where = f" at level {level}"
    with _complaints(name + where):
        curriculum.set_global_level(level)
        config = curriculum.generate_configuration(defaults={**args, "seed": 0})
    return Dataset(name, config, where)


def _ruled_by(curriculum: Any) -> set[str]:
    """The fields that a level decides: a range decides two, a scalar one."""
    fields = ("field_name", "lower_field_name", "upper_field_name")
    return {
        getattr(attribute, field)
        for attribute in curriculum.attributes.values()
        for field in fields
        if hasattr(attribute, field)
    }
