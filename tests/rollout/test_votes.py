"""A verdict is the majority of a policy's draws: each is a rollout like any other, and all read the same vote."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from builders import Doubles, FromFunction

from whet.apps.groupqc.audit.run import AuditSettings, run_audit
from whet.config.schema import EvalConfig
from whet.envs.base import Environment, Play, ask
from whet.envs.data import DataEnvironment
from whet.envs.groupqc.environment import GroupQc
from whet.envs.groupqc.verdict.votes import Ballot
from whet.errors import FaultError, ReplayMismatch, WhetError
from whet.learn.sealed import SealedEnvironment
from whet.ledger.store import Ledger
from whet.models.base import Request
from whet.rollout.votes import UNSETTLED, VOTE, majority, vote_draws
from whet.run.api import decide, evaluate
from whet.run.compose import Given
from whet.types import Fault, Label, Playbook, Rollout, Split, Task, Ticket, failed, solved, user

THREE = ["target.sampling.votes=3"]


class Doors(Environment):
    """Left or right: behind even doors it is left."""

    name = "doors"
    fingerprint = "doors-1"
    chooses = True

    def size(self, split: Split) -> int | None:
        return 60

    def label(self, split: Split, index: int) -> Label:
        return Label("door")

    def task(self, split: Split, index: int) -> Task:
        return Task(split, index, Label("door"), (user(f"Door {index} of {split}?"),), "right" if index % 2 else "left")

    def play(self, task: Task) -> Play:
        reply = yield from ask(task.messages)
        return solved() if reply.text == task.truth else failed("wrong")

    def verdict(self, task: Task, rollout: Rollout) -> str | None:
        said = rollout.turns[-1].reply.text
        return said if said in ("left", "right") else None

    def right(self, task: Task) -> str:
        return str(task.truth)


def door(request: Request) -> int:
    return int(request.messages[-1].text.split()[1])


def in_turn(*says: Callable[[int], str]) -> Callable[[Request], str]:
    """The first draw of a door is answered by the first of `says`, the next by the next, over and over."""
    asked: Counter[str] = Counter()

    def answer(request: Request) -> str:
        text = request.messages[-1].text
        asked[text] += 1
        return says[(asked[text] - 1) % len(says)](door(request))

    return answer


def knows(index: int) -> str:
    return "right" if index % 2 else "left"


def errs(index: int) -> str:
    return "left" if index % 2 else "right"


def mute(index: int) -> str:
    return "no idea"


def gone(index: int) -> str:
    raise FaultError(Fault("http_500", "test", "the server gave out"))


# --------------------------------------------------------------------------------------------- counting


@pytest.mark.parametrize(
    ("calls", "tie", "verdict", "winner"),
    [
        (("a", "b", "b"), "", "b", 1),
        (("b", "a"), "", "b", 0),
        (("b", "a"), "a", "a", 1),
        (("b", "a", "c", "c", "b"), "a", "b", 0),
        ((None, "a", None), "", "a", 1),
        ((None, None, None), "fail", None, 0),
    ],
)
def test_the_majority_of_the_valid_draws_and_the_rule_for_ties(
    calls: tuple[str | None, ...], tie: str, verdict: str | None, winner: int
) -> None:
    found = majority(calls, tie)
    assert (found.verdict, found.winner) == (verdict, winner)
    assert found.votes == sum(call is not None for call in calls)


def test_a_missing_draw_matters_only_where_it_could_turn_the_vote() -> None:
    assert majority(("a", "a"), missing=1).settled
    assert not majority(("a", "b"), missing=1).settled
    assert not majority(("a",), missing=1).settled, "the missing one could have tied it"
    assert not majority((), missing=3).settled
    assert majority((None, None, None)).settled


def test_no_two_votes_share_a_draw() -> None:
    draws = [draw for number in range(4) for draw in vote_draws(Ticket("eval", "select", 7, number), 3)]
    assert len(set(draws)) == 12
    assert {draw.purpose for draw in draws} == {"vote/eval"}


# --------------------------------------------------------------------------------------------- a run that votes


def test_two_right_draws_of_three_solve_a_task_and_each_is_on_record(tmp_path: Path) -> None:
    alone = evaluate(Doors(), FromFunction(in_turn(errs, knows, knows)), n=20, runs=tmp_path)
    model = FromFunction(in_turn(errs, knows, knows))
    voted = evaluate(Doors(), model, n=20, runs=tmp_path, overrides=THREE)
    assert (alone.pass_rate, voted.pass_rate) == (0.0, 1.0)
    assert len(model.requests) == 60
    with Ledger.read(voted.folder) as ledger:
        votes, draws = list(ledger.rollouts("eval")), list(ledger.rollouts(f"{VOTE}eval"))
        assert ledger.account().spent.calls == 60
        assert [ledger.policy(rollout.policy).sampling.votes for rollout in (votes[0], draws[0])] == [3, 1]
    assert (len(votes), len(draws)) == (20, 60)
    assert sum(rollout.score.hard for rollout in draws if rollout.score) == 40
    first = votes[0]
    assert first.score is not None
    assert first.score.parts == {"votes": 3.0, "agreement": pytest.approx(2 / 3)}
    assert first.usage.calls == 3, "a verdict costs what its draws cost"
    assert first.turns[-1].reply.text == knows(first.ticket.index)


def test_the_same_run_again_asks_nothing_and_gives_the_same_bytes(tmp_path: Path) -> None:
    def run(model: FromFunction) -> bytes:
        done = evaluate(Doors(), model, n=10, runs=tmp_path, overrides=THREE)
        return (done.folder / "results.json").read_bytes()

    before = run(FromFunction(in_turn(knows, errs, knows)))
    silent = FromFunction(errs_at_everything)
    assert run(silent) == before
    assert not silent.requests


def errs_at_everything(request: Request) -> str:
    raise AssertionError("nothing was to be asked")


def test_a_budget_ends_a_vote_between_its_draws_and_the_next_session_goes_on(tmp_path: Path) -> None:
    def run(calls: int | None, runs: Path) -> bytes:
        limit = [] if calls is None else [f"control.budget.calls={calls}"]
        one_by_one = ["control.concurrency=1"]
        done = evaluate(Doors(), model, n=10, runs=runs, overrides=[*THREE, *limit, *one_by_one])
        return (done.folder / "results.json").read_bytes()

    model = FromFunction(in_turn(errs, knows, knows))
    run(10, tmp_path / "cut")
    with Ledger.read(next((tmp_path / "cut").iterdir())) as ledger:
        assert len(list(ledger.rollouts(f"{VOTE}eval"))) == 10
        assert len(list(ledger.rollouts("eval"))) == 3, "the fourth vote has one draw of three"
    whole = run(None, tmp_path / "cut")
    assert len(model.requests) == 30
    model = FromFunction(in_turn(errs, knows, knows))
    assert run(None, tmp_path / "straight") == whole


def test_a_fault_in_one_draw_leaves_a_vote_that_the_others_have_settled(tmp_path: Path) -> None:
    voted = evaluate(Doors(), FromFunction(in_turn(knows, gone, knows)), n=10, runs=tmp_path, overrides=THREE)
    assert voted.pass_rate == 1.0
    with Ledger.read(voted.folder) as ledger:
        assert {rollout.score.parts["votes"] for rollout in ledger.rollouts("eval") if rollout.score} == {2.0}


def test_a_fault_that_could_turn_a_vote_is_a_fault_until_its_draw_is_taken_again(tmp_path: Path) -> None:
    model = FromFunction(in_turn(knows, errs, gone, knows))
    settings = [*THREE, "control.concurrency=1", "control.patience=0"]
    first = evaluate(Doors(), model, n=10, runs=tmp_path, overrides=settings)
    assert first.report.summary.overall.faults == 10
    with Ledger.read(first.folder) as ledger:
        fault = ledger.open_fault("eval")
    assert fault is not None
    assert fault.kind == UNSETTLED
    assert "1 of 3 draws met a fault" in fault.message
    assert "the server gave out" in fault.message
    again = evaluate(Doors(), model, n=10, runs=tmp_path, overrides=settings, retry_faults=True)
    assert again.pass_rate == 1.0
    assert len(model.requests) == 40, "thirty draws, and the ten that were missing"


def test_draws_without_a_verdict_are_no_votes(tmp_path: Path) -> None:
    voted = evaluate(Doors(), FromFunction(in_turn(mute, mute, knows)), n=10, runs=tmp_path, overrides=THREE)
    assert voted.pass_rate == 1.0
    none = evaluate(Doors(), FromFunction(in_turn(mute)), n=10, runs=tmp_path, overrides=[*THREE, "eval.seed=1"])
    assert none.pass_rate == 0.0
    assert none.report.summary.overall.faults == 0, "to say nothing is the policy's doing"


def test_a_settled_vote_draws_no_more_and_says_the_same(tmp_path: Path) -> None:
    """Two that agree settle three; where they differ, the third decides."""

    def answers() -> FromFunction:
        first, second = in_turn(knows, knows, errs), in_turn(knows, errs, errs)
        return FromFunction(lambda request: (first if door(request) % 3 else second)(request))

    patient, hasty = answers(), answers()
    whole = evaluate(Doors(), patient, n=30, runs=tmp_path, overrides=THREE)
    until = [*THREE, "target.sampling.until_settled=true"]
    short = evaluate(Doors(), hasty, n=30, runs=tmp_path, overrides=until)
    assert whole.pass_rate == short.pass_rate == pytest.approx(2 / 3, abs=0.1)
    assert len(patient.requests) == 90
    assert len(hasty.requests) == 60 + round(30 * (1 - (short.pass_rate or 0)))
    again = FromFunction(errs_at_everything)
    assert evaluate(Doors(), again, n=30, runs=tmp_path, overrides=until).pass_rate == short.pass_rate


def test_a_prompt_that_changed_under_a_vote_is_noticed(tmp_path: Path) -> None:
    class Reworded(Doors):
        def task(self, split: Split, index: int) -> Task:
            told = super().task(split, index)
            return replace(told, messages=(user(f"Behind door {index}?"),))

    evaluate(Doors(), FromFunction(in_turn(knows)), n=5, runs=tmp_path, overrides=THREE)
    with pytest.raises(ReplayMismatch, match="answered to another request"):
        evaluate(Reworded(), FromFunction(in_turn(knows)), n=5, runs=tmp_path, overrides=THREE)


def test_the_gate_reads_the_verdict_that_an_evaluation_reads(tmp_path: Path) -> None:
    """A candidate whose single draws are as good, but whose draws agree, wins by its votes."""
    scattered = in_turn(errs, errs, knows)
    steady = in_turn(knows, knows, errs)

    def answer(request: Request) -> str:
        return (steady if request.messages[0].author == "system" else scattered)(request)

    model = FromFunction(answer)
    result = evaluate(Doors(), model, n=40, runs=tmp_path, overrides=THREE)
    judged = decide(result, candidate=Playbook("Look twice."), env=Doors(), model=model)
    assert judged.decision.accepted
    assert (judged.decision.incumbent_score, judged.decision.candidate_score) == (0.0, 1.0)


# --------------------------------------------------------------------------------------------- who may vote


def test_an_environment_whose_answers_are_no_choice_refuses_votes(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match=r"sampling.votes is 3, and an answer to doubles is no choice .*; leave it out"):
        evaluate(Doubles(), FromFunction(lambda _: "1"), n=5, runs=tmp_path, overrides=THREE)
    assert not list(tmp_path.rglob("ledger.sqlite"))


def test_only_the_target_votes(tmp_path: Path) -> None:
    given = [*THREE, "judge.model=scripted:x.py:f", "judge.sampling.votes=3"]
    with pytest.raises(WhetError, match=r"judge.sampling.votes is 3: only the target votes"):
        evaluate(Doors(), FromFunction(lambda _: "left"), n=5, runs=tmp_path, overrides=given)


def test_a_tied_ticket_fails(tmp_path: Path) -> None:
    """Half of the draws release it: that is no release."""
    asked: Counter[str] = Counter()

    def halves(request: Request) -> str:
        text = request.messages[-1].text
        asked[text] += 1
        return f"Verdict: {'pass' if asked[text] % 2 else 'fail'}\nReason: Overall: so it seems"

    env = GroupQc("", {"pack": "firesafety", "mission": "Escape route check"})
    voted = evaluate(env, FromFunction(halves), n=12, runs=tmp_path, overrides=["target.sampling.votes=2"])
    with Ledger.read(voted.folder) as ledger:
        said = {env.verdict(env.task("select", vote.ticket.index), vote) for vote in ledger.rollouts("eval")}
    assert said == {"fail"}


def test_an_audit_reads_the_votes_of_the_policy_one_by_one(tmp_path: Path) -> None:
    asked: Counter[str] = Counter()

    def answer(request: Request) -> str:
        text = request.messages[-1].text
        asked[text] += 1
        return f"Verdict: {'fail' if asked[text] == 1 else 'pass'}\nReason: Overall: so it seems"

    env = GroupQc("", {"pack": "firesafety", "mission": "Escape route check"})
    config = EvalConfig.model_validate(
        {
            "env": {"name": "groupqc"},
            "target": {"model": "test:function", "sampling": {"votes": 3}},
            "eval": {"n": 6},
        }
    )
    given = Given(env=env, model=FromFunction(answer))
    done = run_audit(config, AuditSettings(split="select"), given, runs=tmp_path)
    rows = [json.loads(line) for line in (done.folder / "baseline_ticket_stats.jsonl").read_text().splitlines()]
    assert [(row["majority_pred"], row["pass_count"], row["fail_count"]) for row in rows] == [("pass", 2, 1)] * 6
    with pytest.raises(WhetError, match="a vote on votes"):
        run_audit(config, AuditSettings(Ballot(samples=3), split="select"), given, runs=tmp_path)


def test_a_multiple_choice_reads_which_option_was_named(tmp_path: Path) -> None:
    file = tmp_path / "colours.csv"
    file.write_text(
        "text,label\n" + "".join(f"thing {n} of {n * 7919},{'red' if n % 2 else 'blue'}\n" for n in range(40))
    )
    env = DataEnvironment(str(file), {"check": "choice", "choices": ["red", "blue"], "answer": "label"})
    assert env.chooses
    task = env.task("select", 0)
    model = FromFunction(lambda _: "I say Red.")
    done = evaluate(env, model, n=5, runs=tmp_path, overrides=THREE)
    with Ledger.read(done.folder) as ledger:
        said = {env.verdict(task, vote) for vote in ledger.rollouts("eval")}
    assert said == {"red"}
    assert env.right(task) in ("red", "blue")
    written = DataEnvironment(str(file), {"check": "exact", "answer": "label"})
    assert not written.chooses


def test_what_is_right_is_open_on_train_tasks_alone() -> None:
    sealed = SealedEnvironment(Doors())
    assert sealed.chooses
    assert sealed.right(Doors().task("train", 1)) == "right"
    with pytest.raises(WhetError, match="train tasks alone"):
        sealed.right(Doors().task("select", 1))
