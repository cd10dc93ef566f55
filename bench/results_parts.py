"""What the sections of the page of results are made of: bars, values by place, tables, and what was needed for them."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seeds import ResultsError, SeedMean, Seeds, Values, mean_of

SEEDS = 3
WORDS = {
    "base": "the base",
    "sft": "imitation",
    "grpo": "reinforcement",
    "sft_equal_time": "imitation for the same time",
    "rejection_sft": "imitation of its own solved plays for the same time",
    "grpo_one_step": "reinforcement with one step",
    "base_playbook": "the base with a playbook",
    "rules": "rule search with the miner",
}


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of the project: whether it holds; None where what it needs is missing. `why` has the figure or the lack."""

    name: str
    holds: bool | None
    why: str
    cause: str = ""
    """The most likely cause, where it is missed."""

    def __str__(self) -> str:
        word = {True: "**holds**", False: "**is missed**", None: "is **open**"}[self.holds]
        cause = "" if self.holds is not False else f" Most likely cause: {self.cause or 'not found yet.'}"
        return f"* {self.name}: {word}. {self.why}{cause}"


def values_at(data: Mapping[str, Any], *path: str) -> list[float]:
    """The values at a place; none where it is not there."""
    here: Any = data
    for step in path:
        if not isinstance(here, Mapping) or step not in here:
            return []
        here = here[step]
    if here is None:
        return []
    if not isinstance(here, list) or not all(isinstance(value, int | float) for value in here):
        raise ResultsError(f"{'.'.join(path)}: give a list with one number for each seed")
    return [float(value) for value in here]


def seeds_of(data: Mapping[str, Any], arm: str) -> Seeds:
    """The seeds under which an arm was made; none where they are not told."""
    return tuple(data["arms"][arm].get("seeds", ()))


def few_seeds(data: Mapping[str, Any], rungs: Sequence[str]) -> list[str]:
    """Which arms have one seed, of which no interval over seeds can be told, and what problems alone leave open."""
    alone = {name: arm["seeds"][0] for name, arm in data.get("arms", {}).items() if len(arm.get("seeds", ())) == 1}
    made = {(told.get("arm"), told.get("seed")): told.get("rungs", {}) for told in data.get("made", ())}
    said = []
    for rung in rungs:
        shown = [
            f"{WORDS[name]} {cell['repaired_at_10']:.2f} [{cell['interval'][0]:.2f}, {cell['interval'][1]:.2f}]"
            for name, seed in alone.items()
            if (cell := made.get((name, seed), {}).get(rung))
        ]
        said += [f"{rung} {', '.join(shown)}"] if shown else []
    if not said:
        return []
    lead = "Arms of **one seed** have no interval over seeds, and nothing is claimed of them."
    return [f"{lead} Their 95 % over the problems alone: {'; '.join(said)}.", ""]


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [
        "| " + " | ".join(heads) + " |",
        "|" + "---|" * len(heads),
        *("| " + " | ".join(row) + " |" for row in rows),
        "",
    ]


def cell(values: Values) -> str:
    return str(mean_of(values)) if values else "missing"


def means(columns: Sequence[Values]) -> list[SeedMean | None]:
    return [mean_of(values) if values else None for values in columns]


def lacking(needed: Mapping[str, Values], seeds: int = SEEDS) -> str:
    """Which arms are missing or have too few seeds; '' where all are there."""
    absent = [name for name, values in needed.items() if not values]
    few = [f"{name} ({len(values)} of {seeds} seeds)" for name, values in needed.items() if 0 < len(values) < seeds]
    told = [f"missing: {', '.join(absent)}"] if absent else []
    return "; ".join(told + ([f"too few seeds: {', '.join(few)}"] if few else []))


def made_with(data: Mapping[str, Any]) -> list[str]:
    """On what it was made, by which recipes, with which versions, in how many seconds; else what its arms say."""
    made = [told for told in data.get("made", []) if isinstance(told, Mapping)]
    devices = {data["device"]} if data.get("device") else {str(told["device"]) for told in made if told.get("device")}
    configs = data.get("configs") or {
        told["config"]: told["config_hash"] for told in made if told.get("config") and told.get("config_hash")
    }
    versions = data.get("versions") or next((told["versions"] for told in made if told.get("versions")), {})
    seconds = data.get("seconds") or {
        name: arm["gpu_seconds"] for name, arm in data.get("arms", {}).items() if any(arm.get("gpu_seconds", ()))
    }
    said = []
    if devices:
        said.append(f"On {', '.join(sorted(devices))}.")
    if configs:
        said.append("Recipes " + ", ".join(f"`{name}` ({mark})" for name, mark in sorted(configs.items())) + ".")
    if versions:
        said.append("With " + ", ".join(f"{name} {number}" for name, number in sorted(versions.items())) + ".")
    if data.get("left_out"):
        said.append(f"Made earlier and not comparable, so left out: {'; '.join(data['left_out'])}.")
    times = ", ".join(f"{name} {statistics.fmean(spent):.0f}" for name, spent in seconds.items() if any(spent))
    if times:
        said.append(f"Seconds of training, a mean over seeds: {times}.")
    shared = [told for told in made if told.get("shared") and told.get("seconds")]
    for about, own in (
        ("are of a clock, beside other arms on the same GPU", [told for told in shared if not told.get("alone")]),
        ("are steps times what a step takes alone", [told for told in made if told.get("alone")]),
    ):
        if times and own:
            said.append(f"Those of {', '.join(sorted({told['arm'] for told in own}))} {about}.")
    return [" ".join(said), ""] if said else []
