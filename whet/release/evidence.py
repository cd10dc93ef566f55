"""What a run proves about a policy: an accepted decision of the gate and a result on sealed tasks, from its ledger.

The run is verified first, so its readable files are what its ledger gives. Decision and result are bound to the policy
that is promoted: its rollouts are looked up under the keys that only this environment and this policy have.
What speaks against a promotion is an objection: it needs an override. What a reader has to know beside is a note.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from whet.config.load import load_config, validate
from whet.config.playbooks import read_playbook
from whet.config.schema import EndpointSection, EvalConfig, GateSection, PolicyConfig, RoleSection
from whet.envs.base import Environment
from whet.envs.registry import load_environment
from whet.errors import WhetError
from whet.evals.estimate import Estimate
from whet.evals.metric import HARD
from whet.evals.summary import summarize
from whet.gate.decide import DECISION
from whet.keys import policy_digest, rollout_key
from whet.learn.judge import FORCING
from whet.learn.workshop import LEAK
from whet.ledger.proof import under_way
from whet.ledger.store import Ledger, existing
from whet.models.hf.address import split
from whet.release.champion import Champion
from whet.rollout.cast import BASELINE, open_model, sampling_of
from whet.rollout.claim import CONFIG, PLAYBOOK
from whet.run.caveats import read_caveats, since_lines
from whet.run.compose import Given, build_environment
from whet.run.decide import CANDIDATE, LEAKS, without_excluded
from whet.run.decide import GATE as GATE_PURPOSE
from whet.run.evaluate import plan_evaluation
from whet.run.export_weights import FILE as WEIGHTS_FILE
from whet.run.sealed_test import TEST, TEST_FAULTS
from whet.run.train import load_train_config, plan_training
from whet.run.train_runs import summary_of
from whet.run.verify import ledger_head, verify_run
from whet.run.workspace import EVAL, RUNS, find_run, run_kind
from whet.types import Outcome, Policy, Ticket

HF = "hf:"

NO_DECISION = "it carries no decision of the gate; bring the playbook before it: whet gate RUN --candidate FILE"
NO_TEST = "nothing was measured on sealed tasks; measure it: whet eval … --split test, and name that run with --test"


@dataclass(frozen=True, slots=True)
class RunEvidence:
    """What a run proves, and what stands against promoting on it."""

    draft: Champion
    """The champion that it would make; it has no name and no version yet."""
    adapter: Path | None = None
    """The folder of trained weights, where the policy has some of its own."""
    objections: tuple[str, ...] = ()


@dataclass(slots=True)
class _Case:
    """Evidence as it is gathered."""

    decision: Mapping[str, Any] = field(default_factory=dict)
    claim: Mapping[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    objections: list[str] = field(default_factory=list)


def read_evidence(run: str | Path, runs: Path = RUNS, *, test: str = "", given: Given = Given()) -> RunEvidence:
    """The evidence of a run of any kind that names a policy; `test` is an evaluation of it on sealed tasks."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* has changed since .* began")  # told as an objection
        return _read(run, runs, test, given)


def _read(run: str | Path, runs: Path, test: str, given: Given) -> RunEvidence:
    folder = find_run(run, runs)
    head = _verified(folder, given)
    kind = run_kind(folder)
    if kind not in _READERS:
        known = "a training, a decision of the gate or an evaluation"
        raise WhetError(f"{folder}: is of the kind {kind}, which makes no policy; {known} can be promoted")
    given = replace(given, run=folder)
    config, env, policy, address, case = _READERS[kind](folder, given)
    if test:
        _add_test(find_run(test, runs), env, policy, case, given)
    if not case.claim:
        case.objections.append(NO_TEST)
    case.objections += _changed_environment(config, env, given)
    if address.startswith(BASELINE) or config.target.model.startswith(BASELINE):
        raise WhetError(f"{folder}: {address} is a reference policy that sees the truth; it cannot be released")
    base, adapter = _apart(address)
    located = _located(config.target.model_copy(update={"model": base}), adapter, config.control.target, env, policy)
    with Ledger.read(folder) as ledger:
        identity = ledger.meta().get("identity", "")
    if ledger_head(folder) != head:
        raise WhetError(f"{folder}: was written to while it was looked through; promote it when it is done")
    draft = Champion(
        name="",
        policy=policy,
        target={**config.target.model_dump(mode="json", exclude_none=True), "model": located},
        endpoint=config.control.target.model_dump(mode="json", exclude_defaults=True),
        environment=config.env.name,
        arguments=config.env.args,
        fingerprint=env.fingerprint,
        run=folder.name if folder.parent == runs else str(folder),
        decision=case.decision,
        claim=case.claim,
        about=env.about,
        identity=identity,
        head=head,
        lineage=lineage_of(config),
        notes=tuple(dict.fromkeys(case.notes)),
    )
    return RunEvidence(draft, adapter, tuple(dict.fromkeys(case.objections)))


def lineage_of(config: PolicyConfig) -> dict[str, Any]:
    """The header of a config, where it has one."""
    return {} if config.config is None else config.config.model_dump(mode="json", exclude_defaults=True)


def _verified(folder: Path, given: Given) -> str:
    """The head of a ledger that is whole and at rest, and whose files are what it gives."""
    if under_way(existing(folder)):
        raise WhetError(f"{folder}: is under way; promote it when it is done")
    head = ledger_head(folder)
    wrong = verify_run(folder, given=given)
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise WhetError(f"{folder}: is not what its ledger says: {wrong[0]}{more}; nothing was promoted")
    return head


# --------------------------------------------------------------------------------------------- by kind of run

_Told = tuple[PolicyConfig, Environment, Policy, str, _Case]
"""Config, environment, policy, the address of its model, and what was found out."""


def _of_training(folder: Path, given: Given) -> _Told:
    config = load_train_config(folder / CONFIG)
    plan = plan_training(config, replace(given, playbook=read_playbook(str(folder / PLAYBOOK))))
    with Ledger.read(folder) as ledger:
        if ledger.meta().get("identity") != plan.identity.digest:
            raise WhetError(f"{folder}: its evidence is of another environment, model or playbook than it names now")
    summary, case = summary_of(folder), _Case()
    address = _best_weights(folder) or config.target.model
    role = config.target.model_copy(update={"model": address})
    own = address == config.target.model
    model = plan.model if own else open_model(role, config.control.target, plan.env, given.sources)
    policy = Policy(model.fingerprint, plan.policy.sampling, read_playbook(str(folder / "best_playbook.json")))
    _add_decision(folder, summary, case)
    if config.gate.exclude:
        case.notes.append(f"{len(config.gate.exclude)} tasks were excluded from the gate, for both sides")
    tickets = [Ticket(TEST, TEST, task, draw) for draw in range(config.train.repeats) for task in plan.test]
    found = _outcomes(folder, tickets, plan.env, policy)
    if summary.get("test_hard") is not None and found:
        case.claim = _claim(summary, found)
        case.notes += [*summary["test_notes"], *since_lines(folder, summary["test_opening"] or 0)]
        floor, value = summary.get("floor_test_metric"), summary.get("test_metric")
        if floor is not None and value is not None and floor >= value:
            case.notes.append(f"a policy without any skill ({summary['floor_policy']}) does as well on the sealed test")
        if 1 - len(found) / len(tickets) > max(TEST_FAULTS, 1 / len(plan.test)):
            case.objections.append(f"{len(tickets) - len(found)} of {len(tickets)} test rollouts are missing")
        _judge_gain(case)
    return config, plan.env, policy, address, case


def _of_gate(folder: Path, given: Given) -> _Told:
    config = load_config(EvalConfig, folder / CONFIG)
    env = build_environment(config, given)
    with Ledger.read(folder) as ledger:
        meta = ledger.meta()
        decision = next((dict(body) for _, body in ledger.effects(DECISION)), None)
        leaks = [str(body["span"]) for _, body in ledger.effects(LEAK)]
    address = meta["candidate_model"] or config.target.model
    model = open_model(config.target.model_copy(update={"model": address}), config.control.target, env, given.sources)
    policy = Policy(model.fingerprint, sampling_of(config.target.sampling), read_playbook(str(folder / CANDIDATE)))
    case = _Case()
    case.objections += [f"{LEAKS}: {span[:80]!r}" for span in leaks]
    section = validate(GateSection, orjson.loads(meta["gate"]), str(folder))
    if section.exclude:
        case.notes.append(f"{len(section.exclude)} tasks were excluded from the gate, for both sides")
    if decision is None or decision["verdict"] != "accept" or decision["gate"] == FORCING:
        case.objections.append(f"the gate did not accept it ({decision['says'] if decision else 'no decision yet'})")
        return config, env, policy, address, case
    tasks = without_excluded(plan_evaluation(config, given).tasks, section)
    drawn = [(task, draw) for arm, task, draw, reading in decision["draws"] if arm == "candidate" and reading]
    tickets = [Ticket(GATE_PURPOSE, config.eval.split, tasks[task], draw) for task, draw in drawn]
    if len(_outcomes(folder, tickets, env, policy)) != len(tickets):
        raise WhetError(f"{folder}: its decision rests on rollouts of another environment or policy than it names now")
    case.decision = _without_draws(decision)
    return config, env, policy, address, case


def _of_evaluation(folder: Path, given: Given) -> _Told:
    config = load_config(EvalConfig, folder / CONFIG)
    plan = plan_evaluation(config, replace(given, playbook=read_playbook(str(folder / PLAYBOOK))))
    case = _Case(objections=[NO_DECISION])
    if config.eval.split == TEST:
        _add_test(folder, plan.env, plan.policy, case, given)
    return config, plan.env, plan.policy, config.target.model, case


_READERS = {"train": _of_training, "gate": _of_gate, "eval": _of_evaluation}

# --------------------------------------------------------------------------------------------- decision


def _add_decision(folder: Path, summary: Mapping[str, Any], case: _Case) -> None:
    """The decision that made the best policy of a training what it is."""
    final = folder / "final_selection_eval" / "decision.json"
    accepted = [*summary.get("accepted", ())]
    if final.is_file() and (told := orjson.loads(final.read_bytes()))["action"] == "accept_new_best":
        accepted.append(told)
    won = [told for told in accepted if told["action"] == "accept_new_best" and told["verdict"] == "accept"]
    if won:
        case.decision = {**won[-1], "accepted": len(won)}
    elif accepted:
        case.objections.append("what it learnt was accepted by a gate that accepts everything, or by none")
    else:
        case.objections.append("the gate accepted none of its candidates, so there is nothing new to promote")


def _without_draws(decision: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in decision.items() if name not in ("draws", "looks")}


# --------------------------------------------------------------------------------------------- test


def _outcomes(folder: Path, tickets: Iterable[Ticket], env: Environment, policy: Policy) -> list[Outcome]:
    """The rollouts of a policy in an environment: no other environment and no other policy has their keys."""
    played = policy_digest(policy)
    with Ledger.read(folder) as ledger:
        return ledger.outcomes_of(rollout_key(ticket, env.fingerprint, played) for ticket in tickets)


def _claim(summary: Mapping[str, Any], found: Sequence[Outcome]) -> dict[str, Any]:
    names = {
        "metric": "metric",
        "value": "test_metric",
        "interval": "test_metric_interval",
        "solved": "test_hard",
        "solved_interval": "test_hard_interval",
        "before": "baseline_test_metric",
        "gain": "test_delta_metric",
        "gain_interval": "test_delta_interval",
        "says": "test_delta_says",
        "opening": "test_opening",
        "level": "test_level",
    }
    told = {name: summary.get(key) for name, key in names.items()}
    return {**told, "tasks": len({outcome.ticket.index for outcome in found}), "rollouts": len(found)}


def _judge_gain(case: _Case) -> None:
    """A test that says the policy is worse speaks against it; one that cannot tell is said."""
    interval = case.claim.get("gain_interval")
    if interval and interval[1] < 0:
        case.objections.append(f"the sealed test says that it is worse: {case.claim['says']}")
    elif not interval or interval[0] <= 0:
        case.notes.append(f"the sealed test does not establish a gain: {case.claim['says']}")


def _add_test(folder: Path, env: Environment, policy: Policy, case: _Case, given: Given) -> None:
    """What an evaluation on sealed tasks says of the policy; refused where it is of another one."""
    if run_kind(folder) != EVAL:
        raise WhetError(f"{folder}: is no evaluation; --test names one that was made with --split test")
    config = load_config(EvalConfig, folder / CONFIG)
    if config.eval.split != TEST:
        raise WhetError(f"{folder}: measures {config.eval.split} tasks; --test names an evaluation with --split test")
    _verified(folder, given)
    with Ledger.read(folder) as ledger:
        tasks, caveats = orjson.loads(ledger.meta()["tasks"]), read_caveats(ledger)
    tickets = [Ticket(EVAL, TEST, task, draw) for draw in range(config.eval.repeats) for task in tasks]
    found = _outcomes(folder, tickets, env, policy)
    if not found:
        raise WhetError(
            f"{folder}: its test is of another environment (fingerprint, data or arguments) or of another policy "
            "(model, sampling or playbook) than what is promoted; measure this one"
        )
    figures = summarize(found, metric=HARD, level=caveats.level).overall
    case.claim = {
        "metric": str(HARD),
        **_figure("value", figures.pass_rate),
        "opening": caveats.opening,
        "level": caveats.level,
        "tasks": figures.tasks,
        "rollouts": figures.rollouts,
        "run": folder.name,
        "says": f"solved {_shown(figures.pass_rate)} of {figures.tasks} sealed tasks",
    }
    case.notes += [*caveats.notes, *since_lines(folder, caveats.opening)]
    if len(found) < (1 - TEST_FAULTS) * len(tickets):
        case.objections.append(f"{len(tickets) - len(found)} of {len(tickets)} test rollouts are missing")


def _shown(estimate: Estimate | None) -> str:
    if estimate is None:
        return "none"
    return f"{estimate.value:.3f} [{estimate.interval.low:.3f}, {estimate.interval.high:.3f}]"


def _figure(name: str, estimate: Estimate | None) -> dict[str, Any]:
    if estimate is None:
        return {name: None, "interval": None}
    return {name: estimate.value, "interval": [estimate.interval.low, estimate.interval.high]}


# --------------------------------------------------------------------------------------------- where things are


def _changed_environment(config: PolicyConfig, env: Environment, given: Given) -> list[str]:
    """Whether the environment that the config names is still the one that the evidence is of."""
    if given.env is not None:
        return []
    try:
        now = load_environment(config.env.name, config.env.args).fingerprint
    except WhetError:
        return []  # moved or taken away: what was proved was proved on what the run keeps
    if now == env.fingerprint:
        return []
    return [
        f"{config.env.name} is another environment by now (fingerprint {now[:12]}; the evidence is of "
        f"{env.fingerprint[:12]})"
    ]


def _best_weights(folder: Path) -> str:
    """The address of the best weights of a run that trained some; '' where it trained none."""
    file = folder / WEIGHTS_FILE
    return str(orjson.loads(file.read_bytes())["best"]) if file.is_file() else ""


def _apart(address: str) -> tuple[str, Path | None]:
    """The address of a base, and the adapter over it, if any."""
    if not address.startswith(HF):
        return address, None
    base, adapter = split(address.removeprefix(HF))
    return HF + base, Path(adapter).expanduser().resolve() if adapter else None


def _located(
    role: RoleSection, adapter: Path | None, endpoint: EndpointSection, env: Environment, policy: Policy
) -> str:
    """The address of the base by which the policy's own model is found from any folder."""
    tried = dict.fromkeys((_absolute(role.model), role.model))
    for base in tried:
        address = f"{base}+{adapter}" if adapter is not None else base
        try:
            found = open_model(role.model_copy(update={"model": address}), endpoint, env)
        except WhetError:
            continue
        if found.fingerprint == policy.model:
            return base
    return role.model


def _absolute(address: str) -> str:
    """An address whose parts that are places here are told from the root."""
    scheme, colon, rest = address.partition(":")
    parts = rest.split(":")
    told = (str(Path(part).absolute()) if {"/", "."} & set(part) and Path(part).exists() else part for part in parts)
    return scheme + colon + ":".join(told)
