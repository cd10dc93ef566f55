"""What goes wrong outside: services that give out, optimisers that answer oddly, gates that cannot decide."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import FromFunction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reflact_world import HARM, NULLS, RULES, Kinds, config, optimiser, rules_in, target, trained

from whet.config.load import validate
from whet.errors import FaultError, WhetError
from whet.learn.reflact.config import ReflactConfig
from whet.learn.reflact.rollout import held_out
from whet.models.base import Request
from whet.run.api import resume
from whet.run.compose import Given
from whet.run.train_runs import replay
from whet.types import Example, Fault, Playbook, Reply

DOWN = FaultError(Fault("connection", "target.example", "refused"))


def failing(
    when: Callable[[int, Request], bool], answer: Callable[[Request], str] = target
) -> Callable[[Request], str]:
    """A service that is down for the calls that `when` names by number."""
    count = [0]

    def answered(request: Request) -> str:
        count[0] += 1
        if when(count[0], request):
            raise DOWN
        return answer(request)

    return answered


def test_a_target_that_is_down_halts_the_run_and_a_healthy_one_continues_it(tmp_path: Path) -> None:
    whole = trained(tmp_path / "whole")
    down = trained(tmp_path / "run", target=failing(lambda number, _: True))
    assert "12 of 12 rollouts met a fault" in down.stopped
    assert "refused" in down.stopped
    assert json.loads((down.folder / "history.json").read_bytes()) == []
    healthy = trained(tmp_path / "run")
    assert not healthy.stopped
    assert healthy.best == whole.best


def test_an_outage_during_a_decision_is_made_good_by_a_resume(tmp_path: Path) -> None:
    whole = trained(tmp_path / "whole")
    cut = trained(tmp_path / "run", target=failing(lambda number, request: "select-" in request.messages[-1].text))
    assert "fault" in cut.stopped
    assert trained(tmp_path / "run").best == whole.best


@pytest.mark.parametrize("pace", ["steady", "patient"])
def test_a_select_task_that_always_faults_stops_no_training(tmp_path: Path, pace: str) -> None:
    broken = failing(lambda number, request: "select-3:" in request.messages[-1].text)
    result = trained(tmp_path / "run", config(gate={"pace": pace, "alpha": 0.1}), target=broken)
    assert not result.stopped
    assert result.judge.judgements
    assert all(judgement.decision.left_out for judgement in result.judge.judgements)
    assert any(judgement.accepted for judgement in result.judge.judgements)


def test_a_single_fault_in_a_batch_is_left_out_and_stays_left_out(tmp_path: Path) -> None:
    once = failing(lambda number, request: "train-3:" in request.messages[-1].text and number < 30)
    first = trained(tmp_path / "run", config(train={"epochs": 1, "batch_size": 24}), target=once)
    assert not first.stopped
    assert first.training.steps[0].evidence is not None
    assert len(first.training.steps[0].evidence.rollouts) == 23
    again = trained(tmp_path / "run", config(train={"epochs": 1, "batch_size": 24}))
    assert again.training.steps[0].evidence is not None
    assert len(again.training.steps[0].evidence.rollouts) == 23


def test_a_test_with_too_much_missing_is_not_claimed(tmp_path: Path) -> None:
    lost = failing(lambda number, request: "test-" in request.messages[-1].text and "-1" in request.messages[-1].text)
    cut = trained(tmp_path / "run", target=lost)
    assert "test, no playbook" in cut.stopped
    assert cut.summary["test_hard"] is None


def test_a_run_with_a_published_gate_can_be_resumed_and_rebuilt(tmp_path: Path) -> None:
    proposer = FromFunction(optimiser)
    proposer.fingerprint = "optimiser-1"
    objects = {"env": Kinds(), "model": FromFunction(target), "optimizer": proposer}
    first = trained(tmp_path / "run", config(preset="skillopt", train={"epochs": 2, "batch_size": 12}))
    assert resume(first.folder, **objects).best == first.best
    assert replay(first.folder, Given(**objects)).best == first.best


ODD = [
    {
        "batch_size": 4,
        "failure_summary": [{"failure_type": "x", "tasks": [{"id": "train/1"}, 3]}],
        "patch": {"edits": []},
    },
    {"batch_size": 10**30, "patch": {"edits": [{"op": "append", "content": NULLS[0], "support_count": 10**30}]}},
    {"edits": [{"op": "append", "content": "\ud800", "support_count": -1}], "patch": {"edits": []}},
    {"selected_indices": [10**40, -1, True, "0", 0]},
    {"learning_rate": 1e300, "confidence": 10**400, "risk_notes": ["\udfff", 3]},
    {"new_skill": "x", "change_summary": ["\ud800", 3]},
    {"slow_update_content": None, "meta_skill_content": None},
    {"appendix_notes": [None, {"note": 3}]},
]


@pytest.mark.parametrize("mode", ["patch", "rewrite_from_suggestions", "full_rewrite_minibatch"])
@pytest.mark.parametrize("number", range(len(ODD)))
def test_odd_json_ends_in_a_record_not_in_a_crash(tmp_path: Path, number: int, mode: str) -> None:
    said = json.dumps(ODD[number])
    settled = config(update={"mode": mode, "scheduler": "autonomous"}, slow={"idle": True}, reflect={"lapses": True})
    result = trained(tmp_path / "run", settled, optimiser=lambda request: said)
    assert len(json.loads((result.folder / "history.json").read_bytes())) == 4


def test_a_number_of_thousands_of_digits_is_unreadable(tmp_path: Path) -> None:
    said = '{"batch_size": 1, "patch": {"edits": [], "n": ' + "9" * 5000 + "}}"
    result = trained(tmp_path / "run", config(train={"epochs": 1}), optimiser=lambda request: said)
    assert any("cannot be parsed" in line for line in result.training.steps[0].proposal.trouble)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    [
        "batch_size",
        "failure_summary",
        "patch",
        "edits",
        "appendix_notes",
        "selected_indices",
        "reasoning",
        "tasks",
        "learning_rate",
        "new_skill",
        "change_summary",
        "slow_update_content",
        "meta_skill_content",
        "op",
        "content",
    ]
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(FIELDS, JSON | st.dictionaries(FIELDS, st.lists(st.dictionaries(FIELDS, JSON)), max_size=2)))
def test_any_object_in_any_role_ends_in_a_record(
    tmp_path_factory: pytest.TempPathFactory, said: dict[str, Any]
) -> None:
    text = json.dumps(said)
    small = config(train={"epochs": 2, "batch_size": 6, "test": 0}, slow={"idle": True}, reflect={"lapses": True})
    folder = tmp_path_factory.mktemp("odd") / "run"
    result = trained(folder, small, optimiser=lambda request: text, env=Kinds(train=6, select=6))
    assert len(json.loads((result.folder / "history.json").read_bytes())) == 2


def test_a_reply_beyond_the_optimisers_context_is_trouble_not_a_crash(tmp_path: Path) -> None:
    result = trained(
        tmp_path / "run", config(train={"epochs": 1}), optimiser=lambda request: Reply("", finish="length")
    )
    assert any("cut off by the token limit" in line for line in result.training.steps[0].proposal.trouble)


def test_a_gate_on_a_metric_that_nobody_reports_stops_the_run(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="the gate can never decide"):
        trained(tmp_path / "run", config(gate={"metric": "bogus"}))


def all_and_harm(request: Request) -> str:
    """An optimiser that always proposes every rule and the one that harms."""
    edits = [{"op": "append", "content": one} for one in (*RULES.values(), HARM)]
    text = request.messages[0].text
    if text.startswith("You choose which"):
        return '{"selected_indices": [0, 1, 2, 3, 4]}'
    return json.dumps({"edits": edits} if text.startswith("You merge") else {"patch": {"edits": edits}})


def test_leaving_out_what_harms_is_remembered_as_that(tmp_path: Path) -> None:
    def mild(request: Request) -> str:
        answered = target(request)
        return answered.lower() if int(request.sampling.seed or 0) % 3 else answered

    settled = config(
        update={"scheduler": "constant", "edits": 5, "bring": "bundle", "credit": True}, train={"epochs": 1}
    )
    result = trained(tmp_path / "run", settled, optimiser=all_and_harm, target=mild, env=Kinds(select=96))
    removed = next(one for one in result.judge.judgements if one.candidate.without and one.accepted)
    assert removed.candidate.words() == (f"- append: {HARM}",)
    assert "leaving out append: Always" in str(result.training.steps[0].entry())
    entry = result.training.steps[0].entry().as_data()
    assert not any(edit["content"] in RULES.values() for edit in entry.get("rejected_edits", []))
    assert f"- append: {HARM}" in [change for one in result.summary["accepted"] for change in one["changes"]]


def test_credit_after_halves_keeps_every_accepted_part(tmp_path: Path) -> None:
    settled = config(
        update={"scheduler": "constant", "edits": 5, "credit": True}, train={"epochs": 1, "batch_size": 24}
    )
    result = trained(tmp_path / "run", settled, optimiser=all_and_harm, env=Kinds(select=60))
    step = result.training.steps[0]
    brought = [(judgement, judgement.candidate) for judgement in step.judgements]
    kept = {str(item) for made, new in brought if made.accepted and not new.without for item in new.changes}
    for _, candidate in brought:
        if candidate.without:
            assert set(rules_in(candidate.policy.playbook.body)) == {text.removeprefix("append: ") for text in kept} - {
                str(item).removeprefix("append: ") for item in candidate.changes
            }


@pytest.mark.parametrize("evidence", [False, True])
def test_a_gate_that_accepts_everything_promotes_only_what_measured_better(tmp_path: Path, evidence: bool) -> None:
    """The current playbook of an ungated run may be worse than its best; with evidence, harm is not even brought."""

    def proposing(request: Request) -> str:
        early = "<earlier steps>" not in request.messages[1].text
        edit = {"op": "append", "content": "\n".join(RULES.values()) if early else HARM}
        if request.messages[0].text.startswith("You merge"):
            return json.dumps({"edits": [edit]})
        return json.dumps({"batch_size": 4, "patch": {"edits": [edit]}})

    settled = config(gate={"name": "none"}, slow={"use": False}, meta={"use": False}, update={"evidence": evidence})
    result = trained(tmp_path / "run", settled, optimiser=proposing)
    brought = any(HARM in judgement.candidate.policy.playbook.body for judgement in result.judge.judgements)
    assert brought is not evidence
    assert (HARM in result.judge.current.playbook.body) is not evidence
    assert HARM not in result.best.body
    assert set(rules_in(result.best.body)) == set(RULES.values())


def test_a_rejection_does_not_lower_the_score_on_record(tmp_path: Path) -> None:
    """A candidate dropped early was compared on tasks that the incumbent fails: no measure of the incumbent."""
    result = trained(tmp_path / "run", config(train={"epochs": 3}))
    accepted = [one for one in result.judge.judgements if one.accepted]
    assert accepted
    score = result.judge.best.score
    assert score is not None
    assert score > 0.7


def test_a_step_that_was_cut_off_is_not_in_the_history(tmp_path: Path) -> None:
    cut = trained(tmp_path / "run", config(control={"budget": {"calls": 60}}))
    assert cut.stopped
    assert json.loads((cut.folder / "history.json").read_bytes()) == []
    assert json.loads((cut.folder / "runtime_state.json").read_bytes())["last_completed_step"] == 0
    assert cut.summary["total_skips"] == 0


def test_condensed_notes_are_judged_also_without_edits(tmp_path: Path) -> None:
    start = Playbook(reminders=tuple(f"remember number {n}" for n in range(6)))
    rules = " ".join(RULES.values())

    def condensing(request: Request) -> str:
        if request.messages[0].text.startswith("These reminders"):
            return json.dumps({"appendix_notes": [rules]})
        return json.dumps({"batch_size": 4, "patch": {"edits": []}, "appendix_notes": []})

    settled = config(reflect={"lapses": True, "consolidate_above": 3}, train={"epochs": 1, "batch_size": 24})
    result = trained(tmp_path / "run", settled, optimiser=condensing, playbook=start)
    assert result.best.reminders == (rules,)


def test_a_task_is_not_played_with_its_own_worked_example(tmp_path: Path) -> None:
    env = Kinds()
    shown = env.task("train", 5).messages[-1].text
    assert held_out(env, range(8), Playbook(examples=(Example(shown, "a"),))) == [0, 1, 2, 3, 4, 6, 7]
    seen: list[Request] = []

    def watching(request: Request) -> str:
        seen.append(request)
        return target(request)

    settled = config(train={"proposer": "examples", "epochs": 3}, examples={"most": 6, "take": 4})
    trained(tmp_path / "run", settled, target=watching)
    assert any(len(request.messages) > 1 for request in seen)
    assert not any(request.messages[-1].text in {message.text for message in request.messages[:-1]} for request in seen)


def test_the_gate_of_a_learner_fits_how_many_proposals_it_makes() -> None:
    base = {"env": {"name": "kinds"}, "target": {"model": "m"}}
    analyst = validate(ReflactConfig, {**base, "optimizer": {"model": "m"}}, "test").gate
    assert (analyst.pace, analyst.alpha) == ("steady", 0.1)
    few = validate(ReflactConfig, {**base, "train": {"proposer": "examples"}}, "test").gate
    assert (few.pace, few.alpha) == ("patient", 0.05)
    published = validate(ReflactConfig, {**base, "optimizer": {"model": "m"}, "gate": {"name": "strict"}}, "test").gate
    assert published.model_fields_set == {"name"}


@pytest.mark.parametrize(
    ("section", "where"),
    [
        ({"target": {"model": "m", "extra": {"api_key": "sk-1"}}}, "api_key"),
        ({"control": {"optimizer": {"base_url": "https://me:pass@host/v1"}}}, "name or password"),
        ({"control": {"target": {"token": "sk-1"}}}, "keys are never written"),
    ],
)
def test_a_key_written_into_a_config_is_refused(section: dict[str, Any], where: str) -> None:
    with pytest.raises(WhetError, match=where):
        config(**section)


def test_an_unknown_mode_is_refused() -> None:
    """Unknown modes silently became `patch`."""
    with pytest.raises(WhetError, match=r"update\.mode = 'patches'"):
        config(update={"mode": "patches"})


def test_a_skipped_step_moves_the_schedule_on_and_a_resume_does_not(tmp_path: Path) -> None:
    """Skipped steps did not advance the schedule, but a resume set it to the step's number."""

    def budgets(folder: Path) -> list[Any]:
        return [one["edit_budget"] for one in json.loads((folder / "history.json").read_bytes())]

    def sometimes(request: Request) -> str:
        early = "### train/" in request.messages[1].text and "earlier steps" not in request.messages[1].text
        return json.dumps({"batch_size": 4, "patch": {"edits": []}}) if early else optimiser(request)

    update = {"scheduler": "linear", "edits": 4, "min_edits": 1}
    whole = trained(tmp_path / "whole", config(update=update), optimiser=sometimes)
    cut = trained(tmp_path / "cut", config(update=update, control={"budget": {"calls": 100}}), optimiser=sometimes)
    assert cut.stopped
    resumed = trained(tmp_path / "cut", config(update=update), optimiser=sometimes)
    assert budgets(resumed.folder) == budgets(whole.folder) == [4, 3, 2, 1]
