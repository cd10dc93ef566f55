"""What the commands do, as functions: for a script, a test, or a notebook with a running loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whet.config.load import load_config
from whet.config.playbooks import read_playbook
from whet.config.schema import EvalConfig, GateSection
from whet.envs.base import Environment
from whet.errors import WhetError
from whet.evals.compare import Comparison
from whet.evals.compare import compare as compare_outcomes
from whet.evals.metric import HARD, Metric
from whet.models.base import Model
from whet.rollout.progress import Progress, Quiet
from whet.run.caveats import Caveats, read_caveats
from whet.run.compose import Given
from whet.run.evaluate import EvalResult, run_evaluation
from whet.run.kinds import Continuation, rebuild_run, resume_run
from whet.run.workspace import RUNS, Run, open_run
from whet.types import Playbook

if TYPE_CHECKING:
    from whet.config.train import TrainConfig
    from whet.run.decide import GateResult
    from whet.run.train import TrainResult, Watch


def evaluate(
    env: str | Environment,
    model: str | Model,
    *,
    n: int | str | None = None,
    repeats: int = 1,
    split: str = "select",
    playbook: str | Path | Playbook = "blank",
    overrides: Sequence[str] = (),
    runs: str | Path = RUNS,
    name: str | None = None,
    progress: Progress | None = None,
    retry_faults: bool = False,
) -> EvalResult:
    """Measure `model` on `env`. The same call again continues its run, or replays it when it is complete.

    `name` is the run's, under `runs`; by default one that is made from what it depends on. `overrides` are keys of the
    config as the command line takes them: `["target.sampling.max_tokens=64"]`.
    """
    given = Given(
        env if isinstance(env, Environment) else None,
        model if isinstance(model, Model) else None,
        playbook if isinstance(playbook, Playbook) else None,
    )
    base: dict[str, Any] = {
        "env": {"name": env if isinstance(env, str) else env.name},
        "target": {"model": model if isinstance(model, str) else model.name},
        "eval": {"n": n, "repeats": repeats, "split": split},
    }
    if not isinstance(playbook, Playbook):
        base["eval"]["playbook"] = str(playbook)
    config = load_config(EvalConfig, None, base, overrides)
    return run_evaluation(config, given, runs=Path(runs), name=name, progress=progress, retry_faults=retry_faults)


def train(
    config: str | Path | TrainConfig | None = None,
    *,
    continues: str | Path | None = None,
    env: Environment | None = None,
    model: Model | None = None,
    optimizer: Model | None = None,
    playbook: Playbook | None = None,
    overrides: Sequence[str] = (),
    runs: str | Path = RUNS,
    name: str | None = None,
    progress: Progress | None = None,
    watch: Watch = lambda _: None,
) -> TrainResult:
    """Train a policy. The same call again continues its run, or replays it when it is complete.

    `env`, `model`, `optimizer` and `playbook` are objects instead of what the config names. `continues` names a run
    that has ended: this one goes on from there, with its config, or that of the file `config`, and the overrides.
    """
    from whet.config.train import TrainConfig
    from whet.run.continuation import continued
    from whet.run.train import load_train_config, run_training

    if continues is not None:
        if isinstance(config, TrainConfig) or playbook is not None:
            raise WhetError("a run that is continued takes a config file or overrides, and goes on from its playbook")
        going_on = continued(continues, Path(config) if config else None, None, overrides, Path(runs))
        config, playbook, runs = going_on.config, going_on.initial, going_on.folder.parent
    elif config is None:
        raise WhetError("train needs a config, or a run to continue")
    elif not isinstance(config, TrainConfig):
        config = load_train_config(Path(config), None, overrides)
    given = Given(env, model, playbook, optimizer)
    return run_training(config, given, runs=Path(runs), name=name, progress=progress, watch=watch)


def resume(
    run: str | Path | Run,
    *,
    overrides: Sequence[str] = (),
    runs: str | Path = RUNS,
    progress: Progress | None = None,
    retry_faults: bool = False,
    env: Environment | None = None,
    model: Model | None = None,
    optimizer: Model | None = None,
) -> Any:
    """Continue a run of any kind where it stopped. `overrides` may change its `control` part only.

    `env`, `model` and `optimizer` are needed only where the run was made with objects that no address names.
    """
    folder = run.folder if isinstance(run, Run) else run
    given = Given(env, model, optimizer=optimizer)
    continuation = Continuation(overrides, retry_faults, progress or Quiet(), given=given)
    return resume_run(folder, continuation, Path(runs))


def compare(
    a: str | Path | Run | EvalResult,
    b: str | Path | Run | EvalResult,
    *,
    metric: Metric | str = HARD,
    runs: str | Path = RUNS,
) -> Comparison:
    """How much better `b` is than `a`, task by task, on the tasks that both have."""
    first, second = (_run(run, Path(runs)) for run in (a, b))
    if first.config.env != second.config.env or first.config.eval.split != second.config.eval.split:
        raise WhetError(
            f"{first.name} and {second.name} are not about the same tasks: {first.config.env.name} "
            f"{first.config.eval.split} and {second.config.env.name} {second.config.eval.split}"
        )
    split = first.config.eval.split
    both = sorted({*first.tasks()} & {*second.tasks()})
    if not both:
        raise WhetError(f"{first.name} and {second.name} have no task in common; evaluate both with the same --seed")
    meant = {(split, task) for task in both}
    a_side, b_side = ([o for o in run.outcomes() if (split, o.ticket.index) in meant] for run in (first, second))
    caveats = [_caveats(run) for run in (first, second)]
    level = max(known.level for known in caveats)
    notes = [f"{run.name}: {note}" for run, known in zip((first, second), caveats, strict=True) for note in known.notes]
    return replace(
        compare_outcomes(a_side, b_side, metric=metric, tasks=meant, level=level), notes=tuple(dict.fromkeys(notes))
    )


def _caveats(run: Run) -> Caveats:
    with run.ledger() as ledger:
        return read_caveats(ledger)


def decide(
    run: str | Path | Run | EvalResult,
    candidate: str | Path | Playbook | None = None,
    *,
    candidate_model: str | Model | None = None,
    overrides: Sequence[str] = (),
    env: Environment | None = None,
    model: Model | None = None,
    runs: str | Path = RUNS,
    progress: Progress | None = None,
) -> GateResult:
    """Bring a candidate, another playbook, another model or both, to the gate against the policy of `run`.

    A person's candidate is given all tasks (the pace `patient`), where a learner with many proposals drops it early.
    `overrides` are keys of the gate (`["alpha=0.1", "metric=soft"]`); `env` and `model` are needed only where the run
    was made with objects that no address names.
    """
    from whet.run.decide import Challenge, bring_to_gate, open_challenger  # numpy comes with it

    if candidate is None and candidate_model is None:
        raise WhetError("a candidate is another playbook, another model, or both: give one of them")
    section: GateSection = load_config(GateSection, None, {}, overrides)
    if section.name == "paired" and "pace" not in section.model_fields_set:
        section = section.model_copy(update={"pace": "patient"})
    parent = _run(run, Path(runs))
    playbook = read_playbook(str(candidate)) if isinstance(candidate, str | Path) else candidate
    given = Given(env, model, run=parent.folder)
    if isinstance(candidate_model, str):
        challenge = Challenge(playbook, open_challenger(candidate_model, parent.config, given), candidate_model)
    else:
        challenge = Challenge(playbook, candidate_model)
    return bring_to_gate(parent, challenge, section, progress=progress, given=given)


def rebuild(run: str | Path | Run, *, runs: str | Path = RUNS) -> str:
    """Write a run's readable files again from its ledger; says from how much."""
    return rebuild_run(run.folder if isinstance(run, Run) else run, Path(runs))


def _run(run: str | Path | Run | EvalResult, runs: Path) -> Run:
    if isinstance(run, Run):
        return run
    return open_run(run.folder if isinstance(run, EvalResult) else run, runs)
