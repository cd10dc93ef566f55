"""Presets of GRPO against one another: the same training with each, under several seeds, judged on select tasks.

Every arm is a run of its own, so an ablation that was interrupted is started again and goes on arm by arm. The test
split stays closed: the best preset is chosen here, and what it is worth is for the training that `best.toml` describes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from whet.config.load import load_config, read_toml, write_config
from whet.config.schema import EvalConfig
from whet.errors import WhetError, nearest
from whet.evals.summary import Summary, summarize
from whet.files import write_atomically, write_json
from whet.learn.weights.presets import GRPO_PRESETS
from whet.ledger.store import Ledger
from whet.run.compose import Given
from whet.run.evaluate import run_evaluation
from whet.run.export_weights import FILE
from whet.run.train import load_train_config, run_training
from whet.run.workspace import RUNS
from whet.types import Outcome

WINDOW = 5
"""Steps over which the solve rate is averaged for the number called stability."""


@dataclass(frozen=True, slots=True)
class ArmResult:
    """One training: its last weights on the select tasks, and how the training went."""

    preset: str
    seed: int
    outcomes: tuple[Outcome, ...]
    signal: float
    """Share of trained groups whose rewards differ, over all steps."""
    stability: float
    rollouts: int
    seconds: float


@dataclass(frozen=True, slots=True)
class PresetResult:
    """A preset over its seeds. The interval is over tasks; `seeds` are the scores of each training by itself."""

    preset: str
    summary: Summary
    seeds: tuple[float, ...]
    signal: float
    stability: float
    rollouts: int
    seconds: float

    @property
    def score(self) -> float:
        return sum(self.seeds) / len(self.seeds)

    def as_data(self) -> dict[str, Any]:
        rate = self.summary.overall.pass_rate
        return {
            "preset": self.preset,
            "select_hard": self.score,
            "interval": None if rate is None else [rate.interval.low, rate.interval.high],
            "seeds": list(self.seeds),
            "signal": self.signal,
            "stability": self.stability,
            "rollouts": self.rollouts,
            "seconds": self.seconds,
        }


@dataclass(frozen=True, slots=True)
class AblationResult:
    folder: Path
    presets: tuple[PresetResult, ...]

    @property
    def best(self) -> PresetResult:
        """The highest score on select; of equals the plainest, which comes first."""
        return max(self.presets, key=lambda result: result.score)

    def lines(self) -> Iterator[str]:
        yield "preset       select [95 % over tasks]    seeds        signal  stability  rollouts"
        for result in self.presets:
            told = result.as_data()
            low, high = told["interval"] or (float("nan"), float("nan"))
            spread = f"{min(result.seeds):.2f} to {max(result.seeds):.2f}"
            yield (
                f"{result.preset:<12} {result.score:.3f} [{low:.3f}, {high:.3f}]      {spread} "
                f"{result.signal:>7.2f} {result.stability:>9.2f} {result.rollouts:>10}"
            )
        yield f"best on select: {self.best.preset}; {self.folder}/best.toml trains with it"


def stability(solved: Sequence[float]) -> float:
    """How much of its best solve rate a training still has at its end, both over windows of a few steps.

    1: it ended at its best, or never solved anything. 0: it lost all it had learnt.
    """
    width = min(WINDOW, len(solved))
    means = [sum(solved[at : at + width]) / width for at in range(len(solved) - width + 1)]
    return means[-1] / max(means) if means and max(means) > 0 else 1.0


def run_ablation(
    file: Path,
    presets: Sequence[str],
    seeds: int,
    *,
    overrides: Sequence[str] = (),
    given: Given = Given(),
    runs: Path = RUNS,
    name: str | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> AblationResult:
    """Train and evaluate every preset under every seed, then write `ablation.json` and `best.toml`."""
    data = read_toml(file)
    if data.get("learner") != "grpo":
        raise WhetError(f'{file}: an ablation compares presets of GRPO; set learner = "grpo"')
    for preset in presets:
        if preset not in GRPO_PRESETS:
            raise WhetError(f"no preset {preset!r}.{nearest(preset, GRPO_PRESETS)} Known: {', '.join(GRPO_PRESETS)}.")
    presets = _different(file, presets, overrides, tell)
    folder = runs / (name or f"ablate-{file.stem}")
    arms = []
    for preset in presets:
        for seed in range(seeds):
            laid = (*overrides, f"grpo.preset={preset}", f"train.seed={seed}", "train.test=0", "tune.judge=last")
            arms.append(_arm(file, preset, seed, laid, given, folder))
            tell(f"{preset}, seed {seed}: {_score(arms[-1]):.3f} on select")
    result = AblationResult(folder, tuple(_folded([arm for arm in arms if arm.preset == preset]) for preset in presets))
    write_json(folder / "ablation.json", [preset.as_data() for preset in result.presets])
    best = load_train_config(file, None, (*overrides, f"grpo.preset={result.best.preset}"))
    write_atomically(folder / "best.toml", write_config(best))
    return result


def _different(
    file: Path, presets: Sequence[str], overrides: Sequence[str], tell: Callable[[str], None]
) -> tuple[str, ...]:
    """The presets without those that would train exactly as one before them; said before anything is trained."""
    effects: dict[str, dict[str, Any]] = {}
    for preset in presets:
        config: Any = load_train_config(file, None, (*overrides, f"grpo.preset={preset}"))
        effect = config.grpo.effect()
        twin = next((name for name, known in effects.items() if known == effect), None)
        if twin is None:
            effects[preset] = effect
        else:
            tell(
                f"{preset} is left out: with this config it trains exactly as {twin} does; a clip makes a difference "
                "from grpo.updates = 2 or grpo.iterations = 2 on"
            )
    return tuple(effects)


def _arm(file: Path, preset: str, seed: int, overrides: Sequence[str], given: Given, folder: Path) -> ArmResult:
    config = load_train_config(file, None, overrides)
    trained = run_training(config, given, runs=folder, name=f"{preset}-{seed}")
    if trained.stopped:
        raise WhetError(f"{preset}, seed {seed}: stopped ({trained.stopped}); the same command goes on from there")
    address = orjson.loads((trained.folder / FILE).read_bytes())["last"]
    asked = {
        "env": config.env.model_dump(),
        "target": {**config.target.model_dump(exclude_none=True), "model": address},
        "limits": config.limits.model_dump(exclude_none=True),
        "eval": {"split": "select", "n": config.train.select, "floor": False, "playbook": config.train.playbook},
        "control": config.control.model_dump(exclude_none=True),
    }
    evaluation = load_config(EvalConfig, None, asked)
    result = run_evaluation(evaluation, replace(given, model=None), runs=folder, name=f"{preset}-{seed}-select")
    with Ledger.read(result.folder) as ledger:
        outcomes = tuple(replace(o, ticket=replace(o.ticket, draw=seed)) for o in ledger.outcomes("eval"))
    rows = [orjson.loads(line) for line in (trained.folder / "training_log.jsonl").read_bytes().splitlines()]
    told = [row for row in rows if "signal" in row]
    return ArmResult(
        preset,
        seed,
        outcomes,
        sum(row["signal"] for row in told) / len(told),
        stability([row["solved"] for row in told]),
        trained.summary["train_rollouts"],
        trained.summary["train_seconds"],
    )


def _folded(arms: Sequence[ArmResult]) -> PresetResult:
    count = len(arms)
    return PresetResult(
        arms[0].preset,
        summarize([outcome for arm in arms for outcome in arm.outcomes]),
        tuple(_score(arm) for arm in arms),
        sum(arm.signal for arm in arms) / count,
        sum(arm.stability for arm in arms) / count,
        sum(arm.rollouts for arm in arms),
        sum(arm.seconds for arm in arms),
    )


def _score(arm: ArmResult) -> float:
    return sum(outcome.hard for outcome in arm.outcomes) / max(1, len(arm.outcomes))
