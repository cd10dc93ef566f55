"""A candidate at the gate of a real run: the decision follows from the plan, is remembered, and can be checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from builders import Doubles, FromFunction, doubled
from loopback import Behaviour, serving

from whet.errors import WhetError
from whet.ledger.store import Ledger
from whet.models.base import Request
from whet.run.api import decide, evaluate, resume
from whet.run.decide import GateResult
from whet.run.evaluate import EvalResult
from whet.run.workspace import EVAL, open_run
from whet.types import Playbook

SUMS = f"{Path(__file__).parents[2] / 'examples' / 'sums.py'}:Sums"
BETTER = Playbook("Count twice.")


def draws(gated: GateResult) -> list[Any]:
    return list(gated.decision.as_data()["draws"])


def incumbent(runs: Path, **changes: Any) -> EvalResult:
    """Solves half of the tasks, always the same; with the better playbook, all of them."""

    def answer(request: Request) -> str:
        taught = request.messages[0].author == "system" and "twice" in request.messages[0].text
        number = int(request.messages[-1].text.split()[2].strip(","))
        return doubled(request) if taught or number % 2 else "wrong"

    model = FromFunction(answer)
    result = evaluate(Doubles(), model, **{"n": 40, "runs": runs, **changes})
    models[result.folder] = model
    return result


models: dict[Path, FromFunction] = {}


def brought(result: EvalResult, candidate: Playbook, *overrides: str) -> GateResult:
    return decide(result, candidate, overrides=overrides, env=Doubles(), model=models[result.folder])


def test_a_better_candidate_is_accepted_and_the_decision_is_on_record(tmp_path: Path) -> None:
    gated = brought(incumbent(tmp_path), BETTER)
    assert gated.decision.accepted
    with Ledger.read(gated.folder) as ledger:
        assert ledger.counts()["effects"] == 1
    assert orjson.loads((gated.folder / "decision.json").read_bytes())["verdict"] == "accept"
    assert str(gated.decision).startswith("accepted by paired (gain_shown)")


def test_a_candidate_that_changes_nothing_is_rejected(tmp_path: Path) -> None:
    gated = brought(incumbent(tmp_path), Playbook("Be kind."))
    assert gated.decision.verdict == "reject"


def test_an_impatient_gate_drops_it_for_few_rollouts(tmp_path: Path) -> None:
    gated = brought(incumbent(tmp_path), Playbook("Be kind."), "pace=eager")
    assert gated.decision.verdict == "reject"
    assert gated.decision.rollouts("candidate") < 20


def test_a_persons_candidate_is_not_dropped_for_a_bad_start(tmp_path: Path) -> None:
    """A third of what the incumbent fails is gained: any four of those tasks may well show none of it."""

    def answer(request: Request) -> str:
        number = int(request.messages[-1].text.split()[2].strip(","))
        return doubled(request) if request.messages[0].author == "system" and number % 3 == 0 else "wrong"

    verdicts = []
    for n in range(30, 42):
        result = evaluate(Doubles(), FromFunction(answer), n=n, runs=tmp_path)
        verdicts.append(decide(result, BETTER, env=Doubles(), model=FromFunction(answer)).decision.verdict)
    assert set(verdicts) == {"accept"}


def test_what_the_incumbents_evaluation_drew_is_not_drawn_again(tmp_path: Path) -> None:
    gated = brought(incumbent(tmp_path, repeats=2), Playbook("Be kind."))
    assert gated.decision.rollouts("incumbent") == 0


def test_an_identical_candidate_is_refused_before_any_rollout(tmp_path: Path) -> None:
    result = incumbent(tmp_path, playbook=BETTER)
    asked = len(models[result.folder].requests)
    gated = brought(result, Playbook("Count twice.  \n"))
    assert (gated.decision.verdict, gated.decision.reason) == ("reject", "identical")
    assert len(models[result.folder].requests) == asked


def test_the_same_candidate_again_is_replayed(tmp_path: Path) -> None:
    result = incumbent(tmp_path)
    first = brought(result, BETTER)
    asked = len(models[result.folder].requests)
    again = brought(result, BETTER)
    assert again.replayed
    assert not first.replayed
    assert again.decision == first.decision
    assert len(models[result.folder].requests) == asked


def test_an_excluded_task_is_drawn_for_neither_arm_and_stands_in_the_evidence(tmp_path: Path) -> None:
    result = incumbent(tmp_path)
    some = sorted(rollout.ticket.index for rollout in open_run(result.folder).rollouts(EVAL))[3:5]
    gated = brought(result, BETTER, f"exclude={some}")
    data = orjson.loads((gated.folder / "decision.json").read_bytes())
    assert data["excluded"] == some
    assert gated.decision.tasks == 38


def test_a_task_that_is_not_there_cannot_be_excluded(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="exclude names task 999"):
        brought(incumbent(tmp_path), BETTER, "exclude=[999]")


def test_at_temperature_0_a_task_is_drawn_once_and_a_few_twice_to_check_it(tmp_path: Path) -> None:
    result = incumbent(tmp_path, overrides=["target.sampling.temperature=0"])
    gated = brought(result, Playbook("Be kind."))
    assert gated.decision.rollouts("candidate") <= 43
    noisy = brought(incumbent(tmp_path / "noisy"), Playbook("Be kind."))
    assert noisy.decision.rollouts("candidate") > 43


def test_a_model_that_declares_it_is_deterministic_is_drawn_once_too(tmp_path: Path) -> None:
    result = incumbent(tmp_path)
    models[result.folder].deterministic = True
    assert brought(result, Playbook("Be kind.")).decision.rollouts("candidate") <= 43


def test_another_alpha_is_another_decision(tmp_path: Path) -> None:
    result = incumbent(tmp_path)
    assert brought(result, BETTER).folder != brought(result, BETTER, "alpha=0.01").folder


def test_the_test_split_is_out_of_reach(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="no gate may look at"):
        brought(incumbent(tmp_path, split="test"), BETTER)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("alpha=0", "alpha"),
        ("alph=0.1", "alpha"),
        ("name=best", "paired"),
        ("metric=", "metric"),
        ("max_rollouts=0", "1"),
    ],
)
def test_a_wrong_gate_is_refused_before_anything_runs(tmp_path: Path, override: str, message: str) -> None:
    result = incumbent(tmp_path)
    asked = len(models[result.folder].requests)
    with pytest.raises(WhetError, match=message):
        brought(result, BETTER, override)
    assert len(models[result.folder].requests) == asked


def test_a_published_rule_has_no_alpha(tmp_path: Path) -> None:
    result = incumbent(tmp_path)
    assert brought(result, BETTER, "name=strict").decision.accepted
    with pytest.raises(WhetError, match="has no alpha"):
        brought(result, BETTER, "name=strict", "alpha=0.1")


def test_a_decision_is_the_same_at_any_concurrency_when_failures_are_slow(tmp_path: Path) -> None:
    behaviour = Behaviour(solves=0.5, taught={"Count twice": 0.75}, slow_failures=0.02)
    found = []
    with serving(behaviour) as server:
        for concurrency in (1, 8, 64):
            runs = tmp_path / str(concurrency)
            overrides = [f"control.target.base_url={server.base_url}", f"control.concurrency={concurrency}"]
            result = evaluate(SUMS, "openai:any", n=60, runs=runs, overrides=overrides)
            found.append(decide(result, BETTER))
    assert len({str(gated.decision) for gated in found}) == 1
    assert draws(found[0]) == draws(found[1]) == draws(found[2])
    assert found[0].decision.rollouts() > 20


# --------------------------------------------------------------------------------------------- continuing


def test_a_decision_on_an_object_is_not_continued_as_one_on_the_incumbents_model(tmp_path: Path) -> None:
    """Resumed without the model, the run once compared the playbook alone, in another folder, without a word."""
    result = incumbent(tmp_path)
    model = models[result.folder]
    strong = FromFunction(doubled)
    strong.fingerprint = "strong"
    gated = decide(result, BETTER, candidate_model=strong, env=Doubles(), model=model)
    with pytest.raises(WhetError, match=f"{gated.folder.name}: cannot be continued"):
        resume(gated.folder, env=Doubles(), model=model)
    assert [child.name for child in (result.folder / "gates").iterdir()] == [gated.folder.name]


def test_a_decision_is_not_continued_on_other_evidence_than_it_began_with(tmp_path: Path) -> None:
    result = incumbent(tmp_path, overrides=["control.budget.calls=20"])
    objects: dict[str, Any] = {"env": Doubles(), "model": models[result.folder]}
    with pytest.raises(WhetError, match="no decision yet, budget of 20 calls reached"):
        brought(result, BETTER)
    [child] = (result.folder / "gates").iterdir()
    resume(result.folder, **objects, overrides=["control.budget.calls=300"])
    with pytest.raises(WhetError, match="the evaluation has drawn more since"):
        resume(child, **objects, overrides=["control.budget.calls=300"])


def test_a_decision_that_a_budget_stopped_is_continued_as_the_message_says(tmp_path: Path) -> None:
    """The same command stops again: the budget stands in the config of the run."""
    result = incumbent(tmp_path, overrides=["control.budget.calls=20"])
    with pytest.raises(WhetError, match="continue with: whet resume") as stopped:
        brought(result, BETTER)
    child = str(stopped.value).split("whet resume ")[1].split(" --set")[0]
    raised = ["control.budget.calls=400"]
    continued = resume(child, env=Doubles(), model=models[result.folder], overrides=raised)
    assert (str(continued.folder), continued.decision.verdict) == (child, "accept")


def test_a_decision_in_a_folder_of_another_name_is_continued_there(tmp_path: Path) -> None:
    result = incumbent(tmp_path)
    gated = brought(result, BETTER)
    moved = gated.folder.rename(gated.folder.with_name("counting-twice"))
    again = resume(moved, env=Doubles(), model=models[result.folder])
    assert (again.folder, again.replayed) == (moved, True)


def test_a_challenger_by_address_needs_no_address_of_the_environment(tmp_path: Path) -> None:
    result = incumbent(tmp_path)
    good = tmp_path / "good.py"
    good.write_text("def answer(request):\n    return str(2 * int(request.messages[-1].text.split()[2].strip(',')))\n")
    address = f"scripted:{good}:answer"
    gated = decide(result, candidate_model=address, env=Doubles(), model=models[result.folder])
    assert gated.decision.accepted
    assert resume(gated.folder, env=Doubles(), model=models[result.folder]).replayed


def test_a_challenger_without_a_price_is_refused_before_anything_is_spent(tmp_path: Path) -> None:
    result = incumbent(tmp_path, overrides=["control.budget.usd=1"])
    asked = len(models[result.folder].requests)
    unpriced = FromFunction(doubled)
    unpriced.fingerprint, unpriced.price = "unpriced", None
    with pytest.raises(WhetError, match="no price is known"):
        decide(result, candidate_model=unpriced, env=Doubles(), model=models[result.folder])
    assert len(models[result.folder].requests) == asked
