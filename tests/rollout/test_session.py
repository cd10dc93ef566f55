"""A session is the same for every kind of run: one purse, one clock over all sittings, a judge that was measured."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from builders import Doubles, FromFunction, doubled
from reflact_world import Kinds, config, trained
from reflact_world import target as kinds_target

from whet.config.schema import EvalConfig
from whet.envs.base import Environment, Play, ask
from whet.errors import FaultError, WhetError
from whet.ledger.store import Ledger
from whet.ledger.writer import LedgerWriter
from whet.models.base import Request
from whet.rollout.claim import Identity, RunStart
from whet.rollout.player import Player, Players, Seat
from whet.rollout.progress import Quiet
from whet.rollout.session import DONE, ENDED, SESSION, Session
from whet.rollout.works import Works
from whet.run.api import decide, evaluate
from whet.types import Fault, Playbook, Policy, Reply, Task, Ticket, Work, failed, solved, user

BETTER = Playbook("Count twice.")


# --------------------------------------------------------------------------------------------- who answers


def test_a_policy_is_never_answered_by_another_model() -> None:
    """Two checkpoints brought to the gate must not be one model against itself."""
    model = FromFunction(doubled)
    with pytest.raises(WhetError, match="cannot answer for a policy of the model checkpoint-B"):
        Seat(Policy("checkpoint-B"), Player(model))
    players = Players()
    players.add(model)
    with pytest.raises(WhetError, match="no model with the fingerprint checkpoint-B is at work here"):
        players.seat(Policy("checkpoint-B"))


def named(fingerprint: str, answer: Any) -> FromFunction:
    model = FromFunction(answer)
    model.fingerprint = fingerprint
    model.name = f"test:{fingerprint}"
    return model


def test_two_checkpoints_are_compared_each_by_its_own_answers(tmp_path: Path) -> None:
    weak, strong = named("checkpoint-A", lambda _: "?"), named("checkpoint-B", doubled)
    result = evaluate(Doubles(), weak, n=40, runs=tmp_path)
    judged = decide(result, candidate_model=strong, env=Doubles(), model=weak)
    assert judged.decision.accepted
    assert strong.requests
    with Ledger.read(judged.folder) as ledger:
        models = {ledger.policy(rollout.policy).model for rollout in ledger.rollouts("gate")}
    assert models == {"checkpoint-B"}, "the evaluation has drawn the incumbent already"
    assert judged.decision.incumbent_score == 0.0


def test_a_candidate_that_is_neither_text_nor_model_is_refused(tmp_path: Path) -> None:
    model = FromFunction(doubled)
    result = evaluate(Doubles(), model, n=20, runs=tmp_path)
    with pytest.raises(WhetError, match="another playbook, another model, or both"):
        decide(result, env=Doubles(), model=model)


# --------------------------------------------------------------------------------------------- the clock


def slow_half(request: Request) -> Any:
    async def answered() -> str:
        await asyncio.sleep(0.02)
        taught = request.messages[0].author == "system"
        return doubled(request) if taught else "?"

    return answered()


def test_a_gate_remembers_the_seconds_of_earlier_sessions(tmp_path: Path) -> None:
    """A limit on seconds once stopped a gate the first time and not the second."""
    model = FromFunction(slow_half)
    result = evaluate(Doubles(), model, n=40, runs=tmp_path, overrides=["control.concurrency=1"])
    short = result.folder / "config.toml"
    short.write_text(short.read_text().replace("[control.budget]", "[control.budget]\nseconds = 0.3"))
    stops = []
    for _ in range(3):
        with pytest.raises(WhetError, match="no decision yet") as stopped:
            decide(result.folder, BETTER, env=Doubles(), model=model)
        stops.append(str(stopped.value))
    [child] = (result.folder / "gates").iterdir()
    with Ledger.read(child) as ledger:
        assert len(ledger.events(SESSION)) == len(ledger.events(ENDED)) == 3
        seconds = [event.body["seconds"] for event in ledger.events(ENDED)]
        rollouts = ledger.counts()["rollouts"]
    assert all("budget of 0.3 seconds reached" in stop for stop in stops)
    assert sum(seconds) < 3 * 0.3, "the second and third session had no time left"
    assert rollouts < 40


# --------------------------------------------------------------------------------------------- the judge


class Rubric(Doubles):
    """Asks a judge; agreement was measured for one judge alone."""

    judge = "test:measured"

    def play(self, task: Task) -> Play:
        reply = yield from ask(task.messages)
        verdict = yield from ask([user(f"Is {reply.text} right?")], role="judge")
        return solved() if verdict.text == "yes" else failed("judged")


def eval_config(**sections: Any) -> EvalConfig:
    base = {"env": {"name": "doubles"}, "target": {"model": "test:function"}}
    return EvalConfig.model_validate({**base, **sections})


def start(folder: Path, env: Environment, settings: EvalConfig) -> RunStart:
    model = FromFunction(doubled)
    identity = Identity(settings.identity(), env.fingerprint, model.fingerprint, "")
    return RunStart("eval", folder, settings, identity, env, model)


async def opened(begin: RunStart) -> None:
    async with Session.open(begin, Quiet()):
        pass


def test_a_judge_that_was_not_measured_is_refused_whoever_asks(tmp_path: Path) -> None:
    """An evaluation refused it and training took it."""
    judged = {"judge": {"model": "scripted:builders:doubled"}}
    with pytest.raises(WhetError, match="agreement was measured for the judge test:measured"):
        asyncio.run(opened(start(tmp_path / "run", Rubric(), eval_config(**judged))))

    class MeasuredKinds(Kinds):
        judge = "test:measured"

    with pytest.raises(WhetError, match="agreement was measured for the judge test:measured"):
        trained(tmp_path / "trained", config(**judged), env=MeasuredKinds(), target=kinds_target)
    assert not (tmp_path / "trained").exists()


class Closing(FromFunction):
    """Counts how often it was closed."""

    closed = 0

    async def close(self) -> None:
        type(self).closed += 1


def test_the_gate_closes_the_judge_it_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Judged(Rubric):
        judge = ""

    def judging(request: Request) -> str:
        return "yes" if "right?" in request.messages[-1].text else doubled(request)

    monkeypatch.setattr("whet.rollout.session.open_model", lambda *_: Closing(judging))
    model = FromFunction(lambda request: "?" if len(request.messages) == 1 else doubled(request))
    settings = ["judge.model=scripted:builders:doubled"]
    result = evaluate(Judged(), model, n=20, runs=tmp_path, overrides=settings)
    assert Closing.closed == 1
    decide(result, BETTER, env=Judged(), model=model)
    assert Closing.closed == 2


# --------------------------------------------------------------------------------------------- claiming a folder


def test_how_a_session_ended_is_recorded_whatever_ended_it(tmp_path: Path) -> None:
    async def fails() -> None:
        async with Session.open(start(tmp_path / "run", Doubles(), eval_config()), Quiet()):
            raise RuntimeError("the power went")

    with pytest.raises(RuntimeError):
        asyncio.run(fails())
    asyncio.run(opened(start(tmp_path / "run", Doubles(), eval_config())))
    with Ledger.read(tmp_path / "run") as ledger:
        assert [event.body["why"] for event in ledger.events(ENDED)] == ["RuntimeError", DONE]
        assert ledger.meta()["kind"] == "eval"


def test_a_folder_that_holds_another_kind_of_run_is_refused(tmp_path: Path) -> None:
    asyncio.run(opened(start(tmp_path / "run", Doubles(), eval_config())))
    with pytest.raises(WhetError, match="holds another run \\(it is of another kind: eval\\)"):
        trained(tmp_path / "run")


def test_a_ledger_of_an_older_whet_is_refused_with_one_clear_line(tmp_path: Path) -> None:
    LedgerWriter.create(tmp_path / "old").close()
    with sqlite3.connect(tmp_path / "old" / "ledger.sqlite") as db:
        db.execute("PRAGMA user_version = 1")
    for opening in (Ledger.read, LedgerWriter.open):
        with pytest.raises(WhetError, match=r"written by an older Whet .*another --run makes it again") as refused:
            opening(tmp_path / "old")
        assert "\n" not in str(refused.value)


def test_models_are_closed_also_where_a_run_cannot_be_claimed(tmp_path: Path) -> None:
    asyncio.run(opened(start(tmp_path / "run", Doubles(), eval_config())))
    model = Closing(doubled)
    before = Closing.closed
    settings = eval_config(limits={"turns": 3})
    identity = Identity(settings.identity(), "other", model.fingerprint, "")
    with pytest.raises(WhetError, match=r"limits\.turns = 64 there, 3 here"):
        asyncio.run(opened(RunStart("eval", tmp_path / "run", settings, identity, Doubles(), model)))
    assert Closing.closed == before + 1


def test_one_reply_outside_of_a_play_is_paid_from_the_purse(tmp_path: Path) -> None:
    settings = eval_config(control={"budget": {"calls": 1}})

    async def asks() -> tuple[Reply, str]:
        async with Session.open(start(tmp_path / "run", Doubles(), settings), Quiet()) as session:
            seat = session.players.seat(session.policy)
            reply = await session.ask(seat, Request((user("Say twice 4, the number alone."),)))
            tally = await session.work_off(session.policy, [Ticket("eval", "train", 0)], "rollouts")
            return reply, tally.stopped

    reply, stopped = asyncio.run(asks())
    assert reply.text == "8"
    assert "budget of 1 calls reached" in stopped


# --------------------------------------------------------------------------------------------- closing


class Closable(FromFunction):
    def __init__(self, name: str, *, fails: bool = False) -> None:
        super().__init__(doubled)
        self.name, self.fingerprint, self.fails = f"test:{name}", name, fails
        self.closed = 0

    async def close(self) -> None:
        self.closed += 1
        if self.fails:
            raise OSError(f"{self.name} does not close")


def test_a_model_that_fails_to_close_keeps_no_other_open() -> None:
    players = Players()
    models = [Closable("a", fails=True), Closable("b"), Closable("c")]
    for model in models:
        players.beside(model)
    with pytest.raises(OSError, match="test:a does not close"):
        asyncio.run(players.close())
    assert [model.closed for model in models] == [1, 1, 1]


@pytest.mark.parametrize("overrides", [[], ["name=nope"]])
def test_a_challenger_is_closed_also_where_nothing_is_compared(tmp_path: Path, overrides: list[str]) -> None:
    """The same model as the incumbent's is refused before any rollout, a wrong gate before that."""
    result = evaluate(Doubles(), Closable("a"), n=20, runs=tmp_path)
    challenger = Closable("a")
    try:
        decide(result, candidate_model=challenger, env=Doubles(), model=Closable("a"), overrides=overrides)
    except WhetError:
        assert overrides
    assert challenger.closed


# --------------------------------------------------------------------------------------------- whose time is up


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(WhetError, match="cannot be written"):
        evaluate(Doubles(), FromFunction(doubled), n=5, runs=tmp_path / "runs")


def test_a_model_that_gives_up_by_itself_is_not_said_to_have_had_all_the_time(tmp_path: Path) -> None:
    def giving_up(request: Request) -> str:
        raise TimeoutError("its own socket")

    result = evaluate(Doubles(), FromFunction(giving_up), n=5, runs=tmp_path)
    assert result.report.fault is not None
    assert (result.report.fault.kind, result.report.fault.message) == ("timeout", "the model gave up (its own socket)")


def test_a_sandbox_that_does_not_open_in_time_is_no_doing_of_the_policys() -> None:
    """Its TimeoutError was taken for the deadline of the work, which is a score."""

    def opening() -> Any:
        raise TimeoutError("the machine does not answer")

    async def performed() -> Any:
        return await Works(opening).perform(Work("sandbox", {"python": "1"}, 30.0))

    with pytest.raises(FaultError, match="work_lost at sandbox: TimeoutError: the machine does not answer"):
        asyncio.run(performed())


def test_what_was_missing_from_a_settled_plan_stays_missing(tmp_path: Path) -> None:
    """A later plan may have the ticket answered; a decision that was made without it must come out the same again."""
    down = [True]

    def flaky(request: Request) -> str:
        if down[0] and "10003" in request.messages[-1].text:
            raise FaultError(Fault("server_error", "there", "500"))
        return doubled(request)

    model = FromFunction(flaky)
    settings = eval_config()
    identity = Identity(settings.identity(), "doubles-1", model.fingerprint, "")
    begin = RunStart("eval", tmp_path / "run", settings, identity, Doubles(), model)
    tickets = [Ticket("select", "train", index) for index in range(60)]

    async def rolled(plan: list[Ticket]) -> list[bool]:
        async with Session.open(begin, Quiet()) as session:
            return [rollout is None for rollout in await session.roll(session.policy, plan, "draws", 0.02)]

    assert asyncio.run(rolled(tickets)).count(True) == 1
    down[0] = False
    assert asyncio.run(rolled(tickets[:20])).count(True) == 0
    assert asyncio.run(rolled(tickets)).index(True) == 3


def test_a_model_that_returns_no_reply_is_named(tmp_path: Path) -> None:
    class Talking(FromFunction):
        async def complete(self, request: Request) -> Any:
            return "just text"

    with pytest.raises(WhetError, match="test:function answered with a str; a model must return a Reply"):
        evaluate(Doubles(), Talking(doubled), n=2, runs=tmp_path)
