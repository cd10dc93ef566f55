"""The same play under every driver: the engine, lock step, side by side and `drive` see one transcript, one outcome."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from builders import GATE, Doubles, FromFunction
from driving import outcomes, play_out

from whet.envs.base import Environment, Play, ask, call, work
from whet.envs.registry import load_environment
from whet.errors import FaultError, LimitReached, WhetError
from whet.ledger.store import Ledger
from whet.models.base import Request
from whet.rollout.continuous import BatchGenerator, play_side_by_side
from whet.rollout.conversation import AttemptLimits, Conversation
from whet.rollout.drive import drive, drive_through
from whet.rollout.lockstep import play_in_lockstep
from whet.rollout.player import Player, Seat
from whet.rollout.workbench import Workbench
from whet.rollout.works import Works
from whet.source import module_from
from whet.types import (
    Ask,
    Fault,
    Label,
    Message,
    Playbook,
    Policy,
    Reply,
    Score,
    Split,
    Task,
    Ticket,
    Turn,
    Usage,
    Work,
    failed,
    solved,
    user,
)

SUMS = f"{Path(__file__).parents[2] / 'examples' / 'sums.py'}:Sums"

Respond = Callable[[Request], Reply | str]
Ending = tuple[list[Turn], Score | Fault]


# --------------------------------------------------------------------------------------------- the drivers


def reply_of(answered: Reply | str) -> Reply:
    return Reply(answered, usage=Usage(1, 10, 5)) if isinstance(answered, str) else answered


@dataclass(frozen=True, slots=True)
class Attempt:
    """What is played: one task, by a policy whose replies are a function of the request."""

    env: Environment
    task: Task
    respond: Respond
    playbook: Playbook = Playbook()
    limits: AttemptLimits = AttemptLimits()

    def seats(self) -> dict[Any, Seat]:
        model = FromFunction(self.respond)
        target = Seat(Policy(model.fingerprint, playbook=self.playbook), Player(model))
        return {"target": target, "judge": Seat(Policy(model.fingerprint), Player(model))}

    def conversation(self, key: str) -> Conversation:
        play = self.env.play(self.task)
        return Conversation(self.task, play, self.seats(), key, limits=self.limits, blob=self.env.blob)

    def replied(self, request: Request) -> Reply | LimitReached | Fault:
        try:
            return reply_of(self.respond(request))
        except LimitReached as limit:
            return limit
        except FaultError as error:
            return error.fault


class OneTask(Doubles):
    """An environment that plays one given task, so that the engine can be handed it by a ticket."""

    def __init__(self, attempt: Attempt) -> None:
        self.attempt = attempt
        self.name, self.fingerprint = "one-task", "one-task-1"

    def task(self, split: Split, index: int) -> Task:
        return self.attempt.task

    def label(self, split: Split, index: int) -> Label:
        return self.attempt.task.label

    def play(self, task: Task) -> Play:
        return self.attempt.env.play(task)

    def blob(self, sha256: str) -> bytes:
        return self.attempt.env.blob(sha256)


def by_engine(attempt: Attempt, folder: Path) -> tuple[Ending, str]:
    model = FromFunction(lambda request: reply_of(attempt.respond(request)))
    ticket = Ticket("eval", "train", 0)
    seats = {"judge": Seat(Policy(model.fingerprint), Player(model))}
    asyncio.run(
        play_out(
            folder, model, [ticket], env=OneTask(attempt), playbook=attempt.playbook, limits=attempt.limits, seats=seats
        )
    )
    with Ledger.read(folder) as ledger:
        rollouts = list(ledger.rollouts("eval"))
        fault = ledger.open_fault("eval")
        [key] = [outcome.key for outcome in ledger.outcomes()]
    if rollouts:
        return (list(rollouts[0].turns), rollouts[0].outcome), key
    assert fault is not None
    return ([], fault), key


def by_lockstep(attempt: Attempt, key: str) -> Ending:
    talk = attempt.conversation(key)

    def generate(requests: Sequence[Request]) -> list[Reply | LimitReached | Fault]:
        return [attempt.replied(request) for request in requests]

    with Workbench() as bench:
        [outcome] = play_in_lockstep([talk], generate, bench, beside=generate)
    return list(talk.turns), outcome


def by_side(attempt: Attempt, key: str) -> Ending:
    talk = attempt.conversation(key)

    def generate(requests: Sequence[Request]) -> list[Reply | LimitReached | Fault]:
        return [attempt.replied(request) for request in requests]

    with Workbench() as bench:
        [outcome] = play_side_by_side([talk], BatchGenerator(generate), bench, beside=generate)
    return list(talk.turns), outcome


def by_drive(attempt: Attempt, key: str) -> Ending:
    talk = attempt.conversation(key)

    def respond(said: tuple[Message, ...], asked: Ask) -> Reply:
        request = talk.next()
        assert isinstance(request, Request)
        return reply_of(attempt.respond(request))

    with Workbench() as bench:
        outcome = drive_through(talk, respond, bench)
    return list(talk.turns), outcome


def endings(attempt: Attempt, folder: Path) -> list[Ending]:
    engine, key = by_engine(attempt, folder / "run")
    return [engine, by_lockstep(attempt, key), by_side(attempt, key), by_drive(attempt, key)]


def agreed(attempt: Attempt, folder: Path) -> Ending:
    """The one ending of all drivers; what a clock says in a detail is left out."""
    engine, *others = endings(attempt, folder)
    for other in others:
        assert _timeless(other[1]) == _timeless(engine[1])
        if not isinstance(engine[1], Fault):
            assert other[0] == engine[0]
    return engine


def _timeless(outcome: Score | Fault) -> Score | Fault:
    return replace(outcome, detail="") if isinstance(outcome, Score) and outcome.reason == "deadline" else outcome


# --------------------------------------------------------------------------------------------- every environment


ORDERS = {"id": "id", "split": "split", "prompt": "One line: {message}", "answer": "order", "check": "exact"}

ENVIRONMENTS = {
    "sums": (SUMS, {}),
    "data": (f"data:{Path(__file__).parents[2] / 'examples' / 'orders.csv'}", ORDERS),
    "reasoning-gym": ("reasoning-gym/leg_counting", {}),
    "soup": ("soup", {}),
    "ordebug": ("ordebug", {}),
    "groupqc": ("groupqc", {}),
    "groupqc/photo": ("groupqc/photo", {}),
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
@pytest.mark.parametrize("policy", ["oracle", "prose"])
def test_every_environment_ends_the_same_under_every_driver(tmp_path: Path, name: str, policy: str) -> None:
    address, arguments = ENVIRONMENTS[name]
    env = load_environment(address, arguments)
    task = env.task("train", 3)
    oracle = env.baselines().get("oracle")
    assert oracle is not None

    def respond(request: Request) -> Reply | str:
        return oracle(task, request.messages) if policy == "oracle" else "I am not sure; perhaps 7?"

    turns, outcome = agreed(Attempt(env, task, respond, Playbook("Take your time.")), tmp_path)
    assert isinstance(outcome, Score), outcome
    assert turns
    assert outcome.hard == (1 if policy == "oracle" else outcome.hard)


# --------------------------------------------------------------------------------------------- works that fail


HERE = "test_drivers_works"

SOURCE = """
import os
import threading
import time


def raises():
    raise ValueError("no such row")


def sleeps():
    time.sleep(5)


def returns_what_cannot_be_sent():
    return lambda: 3


def dies():
    os._exit(3)


def fine(value):
    return 2 * value


def leaves():
    raise SystemExit(0)
"""

WORKS: dict[str, tuple[Work, str]] = {
    "returns": (call(f"{HERE}:fine", value=21), "ok 42"),
    "raises": (call(f"{HERE}:raises"), "raised ValueError: no such row"),
    "exits": (call(f"{HERE}:leaves"), "raised SystemExit"),
    "deadline": (call(f"{HERE}:sleeps", deadline=0.05), "deadline"),
    "no such module": (call("no.such.module:name"), "raised ModuleNotFoundError"),
    "no such function": (call(f"{HERE}:nobody"), "raised AttributeError"),
    "wrong arguments": (call(f"{HERE}:fine", values=3), "raised TypeError"),
    "unknown kind": (Work("telepathy", {}), "fault no_performer"),
    "result cannot be sent": (call(f"{HERE}:returns_what_cannot_be_sent", pool="process"), "fault work_lost"),
    "worker dies": (call(f"{HERE}:dies", pool="process"), "fault work_lost"),
    "sandboxed code crashes": (Work("sandbox", {"python": "raise SystemExit(3)"}, 60.0), "ok {'exit_code': 3"),
    "sandboxed code loops": (Work("sandbox", {"python": "while True: pass"}, 2.0), "deadline"),
}


class Working(Doubles):
    """Asks once, has one work done, and says in its score what came of it."""

    def __init__(self, job: Work) -> None:
        self.job = job

    def play(self, task: Task) -> Play:
        yield from ask(task.messages)
        result = yield from work(self.job)
        value = result.value
        if isinstance(value, dict):
            value = {name: part for name, part in value.items() if name != "seconds"}
        said = f"ok {value}" if result.ok else f"{result.error} {result.detail}"
        return replace(failed("told"), detail=said)


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The works' functions in a module that a process pool can import as well."""
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / f"{HERE}.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path / "modules"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "modules"), os.environ.get("PYTHONPATH", "")]))


@pytest.mark.parametrize("name", WORKS)
def test_every_way_a_work_can_fail_is_told_the_same(tmp_path: Path, name: str) -> None:
    job, expected = WORKS[name]
    env = Working(job)
    _, outcome = agreed(Attempt(env, env.task("train", 0), lambda request: "x"), tmp_path)
    said = f"fault {outcome.kind}" if isinstance(outcome, Fault) else outcome.detail
    assert said.startswith(expected)


def test_a_job_that_is_no_job_is_the_users_to_mend_under_every_driver(tmp_path: Path) -> None:
    env = Working(Work("sandbox", {"pyhton": "1"}))
    attempt = Attempt(env, env.task("train", 0), lambda request: "x")
    for driven in (
        lambda: by_engine(attempt, tmp_path / "run"),
        lambda: by_lockstep(attempt, "0" * 32),
        lambda: by_side(attempt, "0" * 32),
        lambda: by_drive(attempt, "0" * 32),
    ):
        with pytest.raises(WhetError, match="unknown key 'pyhton'"):
            driven()


# --------------------------------------------------------------------------------------------- plays that end


class Talking(Doubles):
    """Asks until it is stopped."""

    def play(self, task: Task) -> Play:
        while True:
            yield from ask([user("more")])


class Judging(Doubles):
    def play(self, task: Task) -> Play:
        reply = yield from ask(task.messages)
        verdict = yield from ask([user(f"Is {reply.text} right?")], role="judge")
        return solved() if verdict.text == "yes" else failed("judged")


class Broken(Doubles):
    def play(self, task: Task) -> Play:
        reply = yield from ask(task.messages)
        return solved() if int(reply.text) else failed("wrong")


class Instant(Doubles):
    def play(self, task: Task) -> Play:
        return solved()
        yield  # pragma: no cover


class Shrugging(Doubles):
    def play(self, task: Task) -> Any:
        yield from ask(task.messages)
        return "done"


def overflowing(request: Request) -> str:
    raise LimitReached("context_overflow", "9 tokens do not fit 8")


def failing(request: Request) -> str:
    raise FaultError(Fault("server_error", "there", "500", 6))


ENDS: dict[str, tuple[Environment, Respond, AttemptLimits, str]] = {
    "turn limit": (Talking(), lambda _: "x", AttemptLimits(turns=3), "turn_limit"),
    "token limit": (Talking(), lambda _: "x", AttemptLimits(tokens=12), "token_limit"),
    "context overflow": (Doubles(), overflowing, AttemptLimits(), "context_overflow"),
    "judge": (Judging(), lambda request: "yes" if "right?" in request.messages[-1].text else "4", AttemptLimits(), ""),
    "service fault": (Doubles(), failing, AttemptLimits(), "fault server_error"),
    "environment breaks": (Broken(), lambda _: "seven", AttemptLimits(), "fault environment_error"),
    "no question": (Instant(), lambda _: "x", AttemptLimits(), ""),
    "no score": (Shrugging(), lambda _: "x", AttemptLimits(), "fault environment_error"),
}


@pytest.mark.parametrize("name", ENDS)
def test_every_way_a_play_can_end_is_the_same(tmp_path: Path, name: str) -> None:
    env, respond, limits, expected = ENDS[name]
    _, outcome = agreed(Attempt(env, env.task("train", 0), respond, limits=limits), tmp_path)
    said = f"fault {outcome.kind}" if isinstance(outcome, Fault) else "" if outcome.hard else outcome.reason
    assert said == expected


# --------------------------------------------------------------------------------------------- lock step itself


def test_lock_step_asks_in_the_order_of_the_plays_whatever_work_ends_first() -> None:
    class Napping(Doubles):
        def play(self, task: Task) -> Play:
            yield from work(call("time:sleep", secs=0.0))
            yield from work(call(f"{HERE}:fine", value=task.index))
            reply = yield from ask(task.messages)
            return solved() if reply.text.strip() == task.truth else failed("wrong")

    env = Napping()
    model = FromFunction(lambda _: "")
    seat = Seat(Policy(model.fingerprint), Player(model))
    talks = [Conversation(task, env.play(task), {"target": seat}, "0" * 32) for task in map(_train_task, range(8))]
    batches: list[list[str]] = []

    def generate(requests: Sequence[Request]) -> list[Reply]:
        batches.append([request.messages[-1].text for request in requests])
        return [Reply(str(2 * int(request.messages[-1].text.split()[2].strip(",")))) for request in requests]

    with Workbench() as bench:
        ended = play_in_lockstep(talks, generate, bench)
    assert [outcome.hard for outcome in ended if isinstance(outcome, Score)] == [1] * 8
    assert batches == [[_train_task(index).messages[0].text for index in range(8)]]


def test_works_of_many_plays_run_at_once_in_lock_step() -> None:
    class Waiting(Doubles):
        def play(self, task: Task) -> Play:
            result = yield from work(call("builders:meet", parties=6, deadline=15.0))
            return solved() if result.ok else failed("alone", result.detail)

    env = Waiting()
    model = FromFunction(lambda _: "")
    seat = Seat(Policy(model.fingerprint), Player(model))
    talks = [Conversation(task, env.play(task), {"target": seat}) for task in map(_train_task, range(6))]
    with Workbench(Works(width=6)) as bench:
        ended = play_in_lockstep(talks, lambda _: [], bench)
    assert [outcome for outcome in ended if isinstance(outcome, Fault) or not outcome.hard] == []


KILLABLE = """
import os
from whet.envs.base import killable, work
from whet.types import failed, solved

def twice(number):
    return 2 * number

def leave():
    os._exit(3)

def play():
    told = yield from work(killable(f"{__name__}:twice", seconds=20, number=21))
    gone = yield from work(killable(f"{__name__}:leave", seconds=20))
    return solved() if (told.value, gone.error) == (42, "ended") else failed("lost", told.detail)
"""


def test_a_function_of_a_file_given_by_its_path_can_be_killed_under_every_driver(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(KILLABLE)

    class Mine(Doubles):
        def play(self, task: Task) -> Play:
            told: Play = module_from(file).play()
            return told

    model = FromFunction(lambda _: "")
    talk = Conversation(
        _train_task(0), Mine().play(_train_task(0)), {"target": Seat(Policy(model.fingerprint), Player(model))}
    )
    with Workbench() as bench:
        (outcome,) = play_in_lockstep([talk], lambda _: [], bench)
    driven = drive(Mine().play(_train_task(0)), lambda _said, _asked: "").score
    asyncio.run(play_out(tmp_path / "run", model, env=Mine(), plan=[Ticket("eval", "train", 0)]))
    (recorded,) = outcomes(tmp_path / "run")
    assert [score.hard for score in (outcome, driven, recorded)] == [1, 1, 1]


def test_side_by_side_a_play_that_waits_for_a_work_holds_up_nobody() -> None:
    """The first play waits at a gate that opens when the others have ended: in lock step that would be never."""
    GATE.clear()
    answered: list[int] = []

    class Waiting(Doubles):
        def play(self, task: Task) -> Play:
            if task.index == 0:
                result = yield from work(call("builders:wait_at_gate", deadline=20.0))
                return solved() if result.ok and len(answered) == 6 else failed("held up", result.detail)
            for _ in range(3):
                yield from ask(task.messages)
            return solved()

    env = Waiting()
    model = FromFunction(lambda _: "")
    seat = Seat(Policy(model.fingerprint), Player(model))
    talks = [Conversation(task, env.play(task), {"target": seat}) for task in map(_train_task, range(3))]

    def generate(requests: Sequence[Request]) -> list[Reply]:
        answered.extend(range(len(requests)))
        if len(answered) == 6:
            GATE.set()
        return [Reply("4") for _ in requests]

    try:
        with Workbench() as bench:
            outcomes = play_side_by_side(talks, BatchGenerator(generate), bench)
    finally:
        GATE.set()
    assert [outcome for outcome in outcomes if isinstance(outcome, Fault) or not outcome.hard] == []


def _train_task(index: int) -> Task:
    return Doubles().task("train", index)


# --------------------------------------------------------------------------------------------- plays that are none


class Yielding(Doubles):
    """Yields anything, after a question."""

    def __init__(self, step: Any) -> None:
        self.step = step

    def play(self, task: Task) -> Any:
        yield from ask(task.messages)
        yield self.step
        return solved()


class Returning(Doubles):
    def __init__(self, score: Any) -> None:
        self.score = score

    def play(self, task: Task) -> Any:
        yield from ask(task.messages)
        return self.score


class Raising(Doubles):
    def __init__(self, error: BaseException) -> None:
        self.error = error

    def play(self, task: Task) -> Play:
        yield from ask(task.messages)
        raise self.error


class WithoutYield(Doubles):
    def play(self, task: Task) -> Any:
        return solved()


DEFECTS: dict[str, tuple[Environment, str]] = {
    "yields None": (Yielding(None), "yielded NoneType"),
    "yields text": (Yielding("How many?"), "yielded str"),
    "asks with text": (Yielding(Ask("How many?")), "asked with str"),  # type: ignore[arg-type]
    "asks with nothing": (Yielding(Ask(None)), "TypeError"),  # type: ignore[arg-type]
    "narrows what is not there": (Yielding(Ask((user("x"),), narrow={"temprature": 1})), "temprature"),
    "is no generator": (WithoutYield(), "must be a generator, this one returned Score"),
    "scores nan": (Returning(Score(1, float("nan"), 1.0)), "soft is nan"),
    "scores text": (Returning(Score("yes", 1.0, 1.0)), "hard is 'yes'"),  # type: ignore[arg-type]
    "exits": (Raising(SystemExit(0)), "SystemExit"),
    "leaves as if closed": (Raising(GeneratorExit()), "GeneratorExit"),
    "raises StopIteration": (Raising(StopIteration()), "StopIteration"),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_a_play_that_breaks_the_contract_is_a_fault_and_ends_no_run(tmp_path: Path, name: str) -> None:
    env, expected = DEFECTS[name]
    _, outcome = agreed(Attempt(env, env.task("train", 0), lambda _: "x"), tmp_path)
    assert isinstance(outcome, Fault)
    assert outcome.kind == "environment_error"
    assert expected in outcome.message


def test_a_play_that_will_not_be_let_go_keeps_its_score(tmp_path: Path) -> None:
    class Clinging(Doubles):
        def play(self, task: Task) -> Play:
            while True:
                try:
                    yield from ask(task.messages)
                except LimitReached:
                    continue
                except GeneratorExit:
                    raise ValueError("not yet") from None

    env = Clinging()
    _, outcome = agreed(Attempt(env, env.task("train", 0), overflowing), tmp_path)
    assert isinstance(outcome, Score)
    assert outcome.reason == "context_overflow"


def test_a_check_may_reckon_in_numpy_numbers(tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    env = Returning(Score(numpy.bool_(True), numpy.float64(0.5), numpy.int64(1), {"share": numpy.float32(0.25)}))
    _, outcome = agreed(Attempt(env, env.task("train", 0), lambda _: "x"), tmp_path)
    assert outcome == Score(1, 0.5, 1.0, {"share": 0.25})


def test_a_batch_of_what_is_no_reply_is_not_blamed_on_the_environment() -> None:
    env = Doubles()
    talk = Attempt(env, env.task("train", 0), lambda _: "x").conversation("0" * 32)
    with Workbench() as bench, pytest.raises(TypeError, match="a driver brought str"):
        play_in_lockstep([talk], lambda requests: ["x" for _ in requests], bench)  # type: ignore[misc]


# --------------------------------------------------------------------------------------------- the bench


def benches() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "whet-works"}


def test_a_bench_used_from_many_threads_has_one_loop() -> None:
    before = benches()
    for _ in range(20):
        barrier = threading.Barrier(6)
        with Workbench() as bench:

            def use(bench: Workbench = bench, barrier: threading.Barrier = barrier) -> None:
                barrier.wait(timeout=20)
                bench(call("time:sleep", secs=0.0))

            threads = [threading.Thread(target=use) for _ in range(6)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(timeout=20)
            assert len(benches() - before) == 1
    assert benches() == before


def test_a_bench_whose_works_fail_to_close_leaves_no_thread() -> None:
    class Stuck(Works):
        async def close(self) -> None:
            raise OSError("stuck")

    before = benches()
    with pytest.raises(OSError, match="stuck"), Workbench(Stuck()) as bench:
        bench(call("time:sleep", secs=0.0))
    assert benches() == before


def test_whoever_waits_for_a_work_when_the_bench_is_closed_does_not_wait_for_ever() -> None:
    GATE.clear()
    try:
        with Workbench() as bench:
            waiting = bench.start(call("builders:wait_at_gate", deadline=60.0))
        with pytest.raises(CancelledError):
            waiting.result(timeout=20)
    finally:
        GATE.set()
