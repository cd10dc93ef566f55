"""What the commands do, as functions: for a script, a test, or a notebook with a running loop."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whet.config.load import load_config
from whet.config.playbooks import read_playbook
from whet.config.schema import EvalConfig, GateSection
from whet.envs.base import Environment
from whet.errors import Interrupted, WhetError
from whet.evals.compare import Comparison
from whet.evals.compare import compare as compare_outcomes
from whet.evals.metric import HARD, Metric
from whet.ledger.store import Ledger
from whet.models.base import Model
from whet.rollout.engine import Progress, Quiet
from whet.run.compose import Given
from whet.run.evaluate import EvalResult, evaluate_plan, plan_evaluation
from whet.run.loop import finish
from whet.run.project import EvalReport, project
from whet.run.workspace import RUNS, Run, open_run
from whet.types import Playbook

if TYPE_CHECKING:
    from whet.run.gating import Gated


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
    progress: Progress | None = None,
    retry_faults: bool = False,
) -> EvalResult:
    """Measure `model` on `env`. The same call again continues its run, or replays it when it is complete.

    `overrides` are keys of the config as the command line takes them: `["target.sampling.max_tokens=64"]`.
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
    return run_evaluation(config, given, runs=Path(runs), progress=progress, retry_faults=retry_faults)


def run_evaluation(
    config: EvalConfig,
    given: Given = Given(),
    *,
    runs: Path = RUNS,
    name: str | None = None,
    progress: Progress | None = None,
    retry_faults: bool = False,
) -> EvalResult:
    """Plan and work off the evaluation that `config` describes. Ctrl-C raises `Interrupted`, which names the run."""
    plan = plan_evaluation(config, given)
    shown = progress or Quiet()
    try:
        return finish(lambda: evaluate_plan(plan, progress=shown, runs=runs, name=name, retry_faults=retry_faults))
    except KeyboardInterrupt:
        raise Interrupted(str(plan.folder(runs, name))) from None


def resume(
    run: str | Path | Run,
    *,
    overrides: Sequence[str] = (),
    runs: str | Path = RUNS,
    progress: Progress | None = None,
    retry_faults: bool = False,
) -> EvalResult:
    """Continue a run where it stopped. `overrides` may change its `control` part only."""
    run = run if isinstance(run, Run) else open_run(run, Path(runs))
    foreign = [one for one in overrides if not one.startswith("control.")]
    if foreign:
        raise WhetError(f"--set {foreign[0]}: a resumed run keeps its identity; only keys of control may change")
    config = load_config(EvalConfig, run.folder / "config.toml", None, overrides)
    given = Given(playbook=run.playbook)
    folder = run.folder
    return run_evaluation(
        config, given, runs=folder.parent, name=folder.name, progress=progress, retry_faults=retry_faults
    )


def compare(
    a: str | Path | Run | EvalResult,
    b: str | Path | Run | EvalResult,
    *,
    metric: Metric | str = HARD,
    runs: str | Path = RUNS,
) -> Comparison:
    """How much better `b` is than `a`, task by task, on the tasks that both have."""
    first, second = (_run(one, Path(runs)) for one in (a, b))
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
    return compare_outcomes(a_side, b_side, metric=metric, tasks=meant)


def decide(
    run: str | Path | Run | EvalResult,
    candidate: str | Path | Playbook,
    *,
    overrides: Sequence[str] = (),
    env: Environment | None = None,
    model: Model | None = None,
    runs: str | Path = RUNS,
    progress: Progress | None = None,
) -> Gated:
    """Bring a candidate playbook to the gate, against the playbook of `run` on its tasks.

    A person's candidate is given all tasks (the pace `patient`), where a learner with many proposals drops it early.
    `overrides` are keys of the gate (`["alpha=0.1", "metric=soft"]`); `env` and `model` are needed only where the run
    was made with objects that no address names.
    """
    from whet.run.gating import bring  # numpy comes with it, which an evaluation does not need

    section: GateSection = load_config(GateSection, None, {}, overrides)
    if section.name == "paired" and "pace" not in section.model_fields_set:
        section = section.model_copy(update={"pace": "patient"})
    playbook = candidate if isinstance(candidate, Playbook) else read_playbook(str(candidate))
    parent, shown = _run(run, Path(runs)), progress or Quiet()
    return finish(lambda: bring(parent, playbook, section, progress=shown, given=Given(env, model)))


def rebuild(run: str | Path | Run, *, runs: str | Path = RUNS) -> EvalReport:
    """Write a run's readable files again from its ledger."""
    run = run if isinstance(run, Run) else open_run(run, Path(runs))
    with Ledger.read(run.folder) as ledger:
        return project(run.folder, run.config, ledger)


def _run(one: str | Path | Run | EvalResult, runs: Path) -> Run:
    if isinstance(one, Run):
        return one
    return open_run(one.folder if isinstance(one, EvalResult) else one, runs)
