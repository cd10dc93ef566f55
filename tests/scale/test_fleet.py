"""A fleet loses nothing, keeps each rollout once and pays from one purse, whatever becomes of its members."""

from __future__ import annotations

import asyncio
import pickle
import threading
from pathlib import Path

import pytest
from all_on import ALL_ON
from builders import Doubles, FromFunction, doubled
from fleet_crew import Crew, LoopLink, artifact, evaluate

from whet.envs.base import Play
from whet.errors import WhetError
from whet.ledger.account import AttemptReserve
from whet.ledger.store import Ledger
from whet.models.base import FREE, Price, Request
from whet.rollout.fleet.fleet import ACTOR_LOST
from whet.rollout.fleet.messages import AttemptDone, Grant, PlayEnd, PlayOrder, packed, unpacked
from whet.run.workspace import account_of
from whet.types import Fault, Reply, Split, Task, Ticket, Usage, user


def keys(folder: Path) -> list[str]:
    with Ledger.read(folder) as ledger:
        return [outcome.key for outcome in ledger.outcomes()]


def test_what_is_said_arrives_as_it_was_in_fewer_bytes_than_a_plain_pickle() -> None:
    said = [
        PlayOrder(7, Ticket("eval", "train", 3, 1), "key", known=False),
        Grant(1, 2),
        AttemptDone("key", "target", AttemptReserve(10, 20, None), "told", Usage(10, 5)),
        PlayEnd(7, Fault("timeout", "model", "late")),
        {"a": (1, [2.5, None]), "b": {b"c"}},
    ]
    assert unpacked(packed(said)) == said
    assert len(packed(said)) < len(pickle.dumps(said, protocol=5))


def test_a_fleet_leaves_the_artifacts_of_the_local_engine(tmp_path: Path) -> None:
    local = evaluate(tmp_path, "local")
    crew = Crew()
    spread = evaluate(tmp_path, "spread", crew)
    assert artifact(spread) == artifact(local)
    assert len(crew.hired) == 2
    assert (spread.tally.done, crew.orders) == (60, 60)


def test_a_second_session_plays_nothing_again(tmp_path: Path) -> None:
    evaluate(tmp_path, "r", Crew(), n=20)
    again = evaluate(tmp_path, "r", Crew(), n=20)
    assert (again.tally.replayed, again.tally.done) == (20, 0)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_members_that_are_killed_lose_no_rollout_and_double_none(tmp_path: Path, workers: int) -> None:
    local = evaluate(tmp_path, "local", n=200)
    seen = [0]

    def kill(link: LoopLink, tasks: list[int]) -> None:
        seen[0] += 1
        if seen[0] % 4 == 3:
            link.dead.set()

    crew = Crew(workers, on_orders=kill)
    spread = evaluate(tmp_path, "spread", crew, n=200, overrides=["control.concurrency=8"])
    assert len(crew.hired) > workers
    assert crew.orders > 200
    found = keys(spread.folder)
    assert (len(found), len(set(found))) == (200, 200)
    assert artifact(spread) == artifact(local)


def test_a_member_that_says_nothing_any_more_is_replaced_and_its_work_done_again(tmp_path: Path) -> None:
    local = evaluate(tmp_path, "local")
    hung: list[LoopLink] = []

    def hang(link: LoopLink, tasks: list[int]) -> None:
        if not hung:
            hung.append(link)
            link.silent = True

    crew = Crew(silence=0.3, on_orders=hang)
    spread = evaluate(tmp_path, "spread", crew)
    assert hung[0].dead.is_set()
    assert artifact(spread) == artifact(local)


def test_what_a_member_says_after_it_was_given_up_is_not_heard(tmp_path: Path) -> None:
    """The hung member's station goes on playing: some rollouts are made twice, and kept once."""
    first: list[LoopLink] = []

    def hang(link: LoopLink, tasks: list[int]) -> None:
        if not first:
            first.append(link)
            link.silent = True

    crew = Crew(silence=0.3, on_orders=hang)
    spread = evaluate(tmp_path, "r", crew, overrides=["control.concurrency=6"])
    assert spread.tally.done == 60
    assert len(set(keys(spread.folder))) == 60


def test_a_task_that_takes_every_member_with_it_is_a_fault_and_the_others_are_done(tmp_path: Path) -> None:
    poison: list[int] = []

    def die(link: LoopLink, tasks: list[int]) -> None:
        if not poison:
            poison.append(tasks[1])
        if poison[0] in tasks:
            link.dead.set()

    crew = Crew(on_orders=die)
    spread = evaluate(tmp_path, "r", crew, overrides=["control.concurrency=8"])
    assert (spread.tally.done, spread.tally.faults, spread.tally.stopped) == (59, 1, "")
    fault = spread.report.fault
    assert fault is not None
    assert fault.kind == ACTOR_LOST
    again = evaluate(tmp_path, "r", Crew(), retry_faults=True, overrides=["control.concurrency=8"])
    assert (again.tally.replayed, again.tally.done, again.tally.faults) == (59, 1, 0)
    assert artifact(again) == artifact(evaluate(tmp_path, "local"))


def test_a_fleet_whose_members_all_die_gives_up_and_says_why(tmp_path: Path) -> None:
    def die(link: LoopLink, tasks: list[int]) -> None:
        link.dead.set()

    result = evaluate(tmp_path, "r", Crew(on_orders=die), overrides=["control.concurrency=200"])
    assert result.tally.failed
    assert result.tally.stopped == "6 actors lost in a row, the last: killed"


class Paid(FromFunction):
    price = Price(1.0, 1.0)

    def __init__(self, seconds: float = 0.002) -> None:
        super().__init__(doubled)
        self.seconds = seconds

    async def complete(self, request: Request) -> Reply:
        await asyncio.sleep(self.seconds)
        return await super().complete(request)


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_two_members_cannot_spend_what_one_could_not(tmp_path: Path, workers: int) -> None:
    told = ["control.budget.calls=23", "control.concurrency=16"]
    result = evaluate(tmp_path, "r", Crew(workers), model=Paid(), overrides=told)
    with Ledger.read(result.folder) as ledger:
        account = ledger.account()
    assert account.spent.calls == 23
    assert result.tally.done == 23
    assert result.tally.stopped == "budget of 23 calls reached (23 spent)"
    more = evaluate(tmp_path, "r", Crew(workers), model=Paid(), overrides=["control.budget.calls=100"])
    assert (more.tally.replayed, more.tally.done, more.tally.stopped) == (23, 37, "")


def test_what_a_lost_member_had_under_way_counts_in_full(tmp_path: Path) -> None:
    killed: list[LoopLink] = []

    def kill(link: LoopLink, tasks: list[int]) -> None:
        if not killed:
            killed.append(link)
            asyncio.get_running_loop().call_later(0.15, link.dead.set)

    crew = Crew(on_orders=kill)
    result = evaluate(tmp_path, "r", crew, n=8, model=Paid(0.4), overrides=["control.concurrency=4"])
    with Ledger.read(result.folder) as ledger:
        account = ledger.account()
    assert result.tally.done == 8
    assert account.told.calls == 8
    assert account.lost.calls == 2
    assert account.under_way.calls == 0


def test_calls_that_cost_nothing_are_in_the_account_as_they_are_locally(tmp_path: Path) -> None:
    local, spread = evaluate(tmp_path, "local"), evaluate(tmp_path, "spread", Crew())
    assert account_of(spread.folder) == account_of(local.folder)
    assert account_of(spread.folder).told.calls == 60


def test_a_width_holds_over_all_members(tmp_path: Path) -> None:
    told = ["control.target.width=3", "control.concurrency=12"]
    Crowded.most = 0
    evaluate(tmp_path, "r", Crew(3), n=40, model=Crowded(), overrides=told)
    assert Crowded.most == 3


class Crowded(Paid):
    """Costs nothing, and has a width all the same. Counts over all its copies, which are in one process here."""

    price = FREE
    at_once = most = 0

    async def complete(self, request: Request) -> Reply:
        Crowded.at_once += 1
        Crowded.most = max(Crowded.most, Crowded.at_once)
        try:
            return await super().complete(request)
        finally:
            Crowded.at_once -= 1


# --------------------------------------------------------------------------------------------- what travels


class Hostile(Doubles):
    """An environment whose object does not travel: it holds a lock."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


def test_an_environment_that_does_not_travel_is_made_there_from_its_name(tmp_path: Path) -> None:
    home = tmp_path / "hostile.py"
    home.write_text(
        "import threading\nfrom builders import Doubles\n\n\nclass Locked(Doubles):\n"
        "    def __init__(self):\n        self.lock = threading.Lock()\n"
    )
    from whet.envs.registry import load_environment

    address = f"{home}:Locked"
    env = load_environment(address, {})
    result = evaluate(tmp_path, "r", Crew(), n=10, env=env, address=address)
    assert result.tally.done == 10


def test_an_object_that_does_not_travel_and_has_no_name_is_refused_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match=r"cannot be sent to another process.*set control.engine = 'local'") as told:
        evaluate(tmp_path, "r", Crew(), env=Hostile())
    assert "\n" not in str(told.value)


def test_what_the_user_must_mend_stops_the_run_as_it_does_locally(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="the folder of photos is gone; put it back"):
        evaluate(tmp_path, "r", Crew(), env=Barred())


class Barred(Doubles):
    def task(self, split: Split, index: int) -> Task:
        raise WhetError("the folder of photos is gone; put it back")


def test_a_changed_prompt_stops_the_run_and_says_where(tmp_path: Path) -> None:
    evaluate(tmp_path, "r", n=5)
    with pytest.raises(WhetError, match="select/"):
        evaluate(tmp_path, "r", Crew(), n=5, env=Reworded())


class Reworded(Doubles):
    """The same name and fingerprint, other words."""

    def task(self, split: Split, index: int) -> Task:
        task = super().task(split, index)
        return Task(split, index, task.label, (user(task.messages[0].text + " Please."),), task.truth)


def test_an_environment_that_breaks_is_a_fault_as_it_is_locally(tmp_path: Path) -> None:
    told = ["control.patience=0"]
    local = evaluate(tmp_path, "local", n=10, env=Breaking(), overrides=told)
    spread = evaluate(tmp_path, "spread", Crew(), n=10, env=Breaking(), overrides=told)
    assert artifact(spread) == artifact(local)
    assert spread.tally.faults == local.tally.faults > 0


class Breaking(Doubles):
    def play(self, task: Task) -> Play:
        if task.index % 2:
            raise KeyError("missing")
        return super().play(task)


# --------------------------------------------------------------------------------------------- interrupts


def test_what_is_done_is_kept_when_the_driver_is_interrupted(tmp_path: Path) -> None:
    done = [0]

    class Stop(BaseException):
        pass

    def stop(link: LoopLink, tasks: list[int]) -> None:
        done[0] += 1
        if done[0] == 4:
            raise Stop

    crew = Crew(on_orders=stop)
    with pytest.raises(Stop):
        evaluate(tmp_path, "r", crew, overrides=["control.concurrency=8"])
    assert crew.killed == len(crew.hired) == 2
    kept = len(keys(tmp_path / "r"))
    assert 0 < kept < 60
    again = evaluate(tmp_path, "r", Crew(), overrides=["control.concurrency=8"])
    assert (again.tally.replayed, again.tally.done) == (kept, 60 - kept)
    assert artifact(again) == artifact(evaluate(tmp_path, "local"))


# --------------------------------------------------------------------------------------------- training


def test_a_training_with_every_option_on_leaves_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sealed and coached views, votes, probes and a gate, with members that are lost on the way."""
    local = ALL_ON["analyst"](tmp_path / "local" / "run")
    seen = [0]

    def kill(link: LoopLink, tasks: list[int]) -> None:
        seen[0] += 1
        if seen[0] % 25 == 9:
            link.dead.set()

    crew = Crew(on_orders=kill)
    monkeypatch.setattr("whet.rollout.session._fleet", crew.open_fleet)
    spread = ALL_ON["analyst"](tmp_path / "spread" / "run")
    assert len(crew.hired) > 2
    assert spread == local
