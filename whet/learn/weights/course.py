"""A weight learner at work in a run: segment after segment, each an effect; checkpoints come before the gate.

A segment's key is its number and its parent's digest. One that is remembered is not trained again; one that is not is
begun from its parent's checkpoint. The judge keeps a checkpoint as it keeps a playbook: by evidence on select tasks.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from whet.errors import BudgetReached, WhetError
from whet.files import write_json
from whet.keys import digest
from whet.learn.candidate import Candidate
from whet.learn.judge import Judge, Judgement
from whet.learn.learner import Assignment, Training
from whet.learn.outcome_files import write_lines
from whet.learn.weights.checkpoint import FOLDER, Shelf, model_address
from whet.learn.weights.config import TuneSection
from whet.learn.workshop import Spent, Workshop
from whet.models.base import Model, Request
from whet.models.hf.address import read_address, split
from whet.models.hf.chat_form import ChatForm
from whet.models.hf.folder import Folder
from whet.models.hf.model import SCHEME, LocalModel
from whet.rollout.cast import open_model
from whet.rollout.session import Halted
from whet.types import Policy, Reply, Rollout, Usage

if TYPE_CHECKING:
    from whet.learn.weights.segment import SegmentOrder, SegmentResult

SEGMENT = "segment"
"""The kind of effect that a segment is."""
QUIET = 15.0
"""Seconds between two lines on the steps of a segment, at least."""


class SegmentTrainer(Protocol):
    """Trains one segment: the part in which learners of weights differ."""

    def __call__(self, order: Any, course: WeightsCourse, folder: Folder, form: ChatForm) -> Any: ...


@dataclass(frozen=True, slots=True)
class SegmentRecord:
    """A segment as it is remembered. `fingerprint` is that of the model it made."""

    number: int
    checkpoint: str
    fingerprint: str
    log: Sequence[dict[str, Any]]
    trains: str
    told: Sequence[str]
    rollouts: int
    seconds: float
    step: int = 0
    """The last step that it took; 0 in old records: all that were planned."""
    used: dict[str, int] = field(default_factory=dict)
    """Calls and tokens of its rollouts."""
    over: str = ""
    """Why the training ends with it, whatever was planned."""

    @classmethod
    def read(cls, body: dict[str, Any]) -> SegmentRecord:
        return cls(**{name: body[name] for name in cls.__dataclass_fields__ if name in body})

    def as_data(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


class CheckpointModel(Model):
    """The weights of a checkpoint behind the fingerprint that the ledger has for them; opened at the first call."""

    def __init__(self, fingerprint: str, address: str, open_it: Callable[[], Model], width: int | None) -> None:
        self.name = address
        self.fingerprint = fingerprint
        self.width = width
        self._open = open_it
        self._model: Model | None = None

    async def complete(self, request: Request) -> Reply:
        if self._model is None:
            model = self._open()
            if model.fingerprint != self.fingerprint:
                raise WhetError(f"{self.name} is no longer what was trained: its content has another fingerprint")
            self._model = model
        return await self._model.complete(request)

    async def close(self) -> None:
        await self.rest()

    async def rest(self) -> None:
        """Let go of the weights; the next call opens them again."""
        model, self._model = self._model, None
        if model is not None:
            await model.close()


@dataclass(slots=True)
class WeightsCourse(Training):
    """A training of weights. Everything it holds is made anew from the ledger when the run is started again."""

    shop: Workshop
    judge: Judge
    config: Any
    tasks: tuple[int, ...]
    train_segment: SegmentTrainer
    moved: Callable[[], None] = lambda: None
    batch: int = 0
    """Rollouts that a batch of attempts takes at least."""
    stride: int = 1
    """Steps that are taken from one batch of attempts."""
    segments: list[SegmentRecord] = field(default_factory=list)
    judgements: dict[int, Judgement] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    steps_done: int = 0
    spent: str = ""
    beside: Any = None
    """Who answers for the judge while a segment is trained, where the run has one."""
    _models: dict[str, CheckpointModel] = field(default_factory=dict)
    _told: float = 0.0

    @classmethod
    def begin(
        cls, assignment: Assignment, train_segment: SegmentTrainer, batch: int = 0, stride: int = 1
    ) -> WeightsCourse:
        address = assignment.config.target.model
        if not address.startswith(SCHEME):
            raise WhetError(
                f"learner = {assignment.config.learner!r} trains weights, and {address} are none of this machine; set "
                "target.model to hf:DIR or hf:FILE.gguf"
            )
        if not assignment.tasks:
            raise WhetError(f"{assignment.shop.env.name}: there are no train tasks to learn from")
        place = assignment.shop, assignment.judge, assignment.config, assignment.tasks
        return cls(*place, train_segment, assignment.moved, batch, stride)

    @property
    def tune(self) -> TuneSection:
        tune: TuneSection = self.config.tune
        return tune

    @property
    def shelf(self) -> Shelf:
        return Shelf((self.shop.session.folder / FOLDER).resolve())

    async def run(self) -> None:
        parent: SegmentRecord | None = None
        for number in range(1, self.tune.segments + 1):
            parent = await self._segment(number, parent)
            self._tell(parent)
            self.segments.append(parent)
            session = self.shop.session
            session.purse.spent += Usage(**parent.used)
            self._seat(parent)
            self.moved()
            if self.tune.judge == "every" or self._is_last(parent):
                await self._judge(parent)
            self._prune()
            self.steps_done = number
            self.moved()
            if self._is_last(parent) and self._last(parent) < self.tune.steps:
                raise Spent(parent.over or self._why_over())
        await self.judge.validate()
        self.moved()

    # ------------------------------------------------------------------------------------------- a segment

    async def _segment(self, number: int, parent: SegmentRecord | None) -> SegmentRecord:
        ledger = self.shop.ledger
        purpose = f"{SEGMENT}/s{number:04d}"
        start = parent.fingerprint if parent else self.judge.initial.model
        key = digest(SEGMENT, number, start)
        known = ledger.effect(key, start, purpose)
        if known is not None:
            return SegmentRecord.read(known)
        self._refuse_beyond_limit()
        record = await self._train(number, parent)
        ledger.add_effect(key, SEGMENT, purpose, start, record.as_data())
        return record

    def _refuse_beyond_limit(self) -> None:
        """A segment of which not even the first step fits into the rollouts that learning was given is not begun."""
        most = self.shop.max_rollouts
        if most is not None and self._taken + self.batch > most:
            raise Spent(f"{self._taken} of {most} rollouts taken, the next segment does not fit")

    def _why_over(self) -> str:
        """Why a training ends before its last step."""
        if self._seconds_left is not None and self._seconds_left <= 0:
            return f"the {self.tune.seconds:g} seconds of training are over"
        return f"{self._taken} of {self.shop.max_rollouts} rollouts taken, the next step does not fit"

    @property
    def _seconds_left(self) -> float | None:
        """Seconds that training may still take; None: as many as it needs."""
        given = self.tune.seconds
        return None if given is None else given - sum(record.seconds for record in self.segments)

    @property
    def _taken(self) -> int:
        return self.shop.planned + sum(record.rollouts for record in self.segments)

    def _limit(self, used: Usage) -> str:
        """Why the run must end, where its segment has used so much; asked from the thread that trains."""
        purse = self.shop.session.purse
        limits, spent = purse.limits, purse.spent + used
        known = (
            ("calls", limits.calls, spent.calls),
            ("tokens", limits.tokens, spent.tokens),
            ("seconds", limits.seconds, round(purse.seconds, 1)),
        )
        reached = (BudgetReached(what, most, now) for what, most, now in known if most is not None and now >= most)
        return str(next(reached, ""))

    async def _train(self, number: int, parent: SegmentRecord | None) -> SegmentRecord:
        """Train the segment in a thread of its own: the loop stays free to hear that the run is to end."""
        if not isinstance(self.shop.session.players.seat(self.judge.initial).player.model, LocalModel):
            raise Halted("the ledger ends here")  # a run that is rebuilt from its ledger trains nothing
        from whet.learn.weights.segment import SegmentHalt

        before = self.shelf.place(parent.number) if parent else None
        if before is not None and not before.is_dir():
            raise WhetError(f"{before}: the checkpoint to go on from is gone; put it back, or start another run")
        order = self._order(number, before, asyncio.get_running_loop())
        for model in self._models.values():
            await model.rest()
        speaker = self._opened(self.config.target.model)
        folder = replace(read_address(self.config.target.model.removeprefix(SCHEME)), context=speaker.context)
        work = asyncio.create_task(asyncio.to_thread(self.train_segment, order, self, folder, speaker.form))
        try:
            result = await asyncio.shield(work)
        except asyncio.CancelledError:
            order.stop.set()
            await asyncio.wait([work])
            raise
        except SegmentHalt as halt:
            raise Halted(str(halt)) from None
        finally:
            await speaker.close()
        return await self._recorded(number, result)

    def _order(self, number: int, before: Path | None, loop: asyncio.AbstractEventLoop) -> SegmentOrder:
        """What the trainer's thread is asked to do; what it remembers, it remembers on the run's loop."""
        from whet.learn.weights.segment import SegmentOrder

        self.beside = self._judge_beside(loop)

        async def put_on_record(policies: Sequence[Policy], rollouts: Sequence[Rollout]) -> None:
            self._remember(policies, rollouts)

        def remember(policies: Sequence[Policy], rollouts: Sequence[Rollout]) -> None:
            asyncio.run_coroutine_threadsafe(put_on_record(policies, rollouts), loop).result()

        return SegmentOrder(
            number,
            min(number * self.tune.segment, self.tune.steps),
            before,
            self.shelf,
            self.tune,
            self.config.train.seed,
            limit=self._limit,
            remember=remember,
            most=None if self.shop.max_rollouts is None else self.shop.max_rollouts - self._taken,
            batch=self.batch,
            stride=self.stride,
            seconds=self._seconds_left,
            tell=lambda row: loop.call_soon_threadsafe(self._hear, row),
        )

    async def _recorded(self, number: int, result: SegmentResult) -> SegmentRecord:
        """A segment that is trained, as it will be remembered; its attempts are on record then."""
        played = result.played
        self._remember(played.policies, played.new)
        made = self._opened(self._address(result.checkpoint))
        await made.close()
        return SegmentRecord(
            number,
            str(result.checkpoint.relative_to(self.shelf.folder.parent)),
            made.fingerprint,
            list(result.log),
            result.trains,
            list(result.told),
            played.rollouts,
            round(result.seconds, 3),
            result.step,
            {name: getattr(played.used, name) for name in ("calls", "prompt_tokens", "completion_tokens")},
            result.over,
        )

    def _judge_beside(self, loop: asyncio.AbstractEventLoop) -> Any:
        """The run's judge as plays in a trainer's thread ask it: on the loop of the run, paid from its purse."""
        from whet.learn.weights.plays import BesidePlayer

        session = self.shop.session
        seat = session.judge
        if seat is None:
            return None
        return BesidePlayer(
            "judge", seat, lambda request: asyncio.run_coroutine_threadsafe(session.ask(seat, request), loop)
        )

    def _remember(self, policies: Sequence[Policy], rollouts: Sequence[Rollout]) -> None:
        """The attempts of a segment into the ledger, with the version of the weights that made each."""
        ledger = self.shop.ledger
        for policy in policies:
            ledger.add_policy(policy)
        new = [rollout for rollout in rollouts if not ledger.has_rollout(rollout.key, rollout.request, "segment")]
        ledger.add_rollouts(new)

    # ------------------------------------------------------------------------------------------- its model

    def _address(self, checkpoint: Path) -> str:
        base, _ = split(self.config.target.model.removeprefix(SCHEME))
        return model_address(base, checkpoint)

    def _opened(self, address: str) -> LocalModel:
        role = self.config.target.model_copy(update={"model": address})
        model = open_model(role, self.config.control.target, self.shop.env)
        assert isinstance(model, LocalModel)
        return model

    def _seat(self, record: SegmentRecord) -> None:
        """Have the checkpoint answer for every policy of its fingerprint."""
        address = self._address(self.shelf.folder.parent / record.checkpoint)
        control = self.config.control.target
        model = CheckpointModel(record.fingerprint, address, lambda: self._opened(address), control.slots)
        self._models[record.fingerprint] = model
        self.shop.session.players.add(model, control.width)

    async def _judge(self, record: SegmentRecord) -> None:
        policy = replace(self.judge.current.policy, model=record.fingerprint)
        title = f"weights after step {self._last(record)}: {record.checkpoint}"
        candidate = Candidate(policy, origin=f"segment_{record.number}", step=record.number, title=title)
        self.judgements[record.number] = await self.judge.bring(f"s{record.number:04d}/decision", candidate)

    def _prune(self) -> None:
        wanted = {self.judge.best.policy.model, self.judge.current.policy.model}
        kept = [self.shelf.place(record.number) for record in self.segments if record.fingerprint in wanted]
        self.shelf.prune(self.segments[-1].number, self.tune.keep, kept)

    def _last(self, record: SegmentRecord) -> int:
        return record.step or min(record.number * self.tune.segment, self.tune.steps)

    def _is_last(self, record: SegmentRecord) -> bool:
        """Whether no segment comes after it: the plan is worked off, or it ended before that."""
        planned = min(record.number * self.tune.segment, self.tune.steps)
        over = self._seconds_left is not None and self._seconds_left <= 0
        return record.number == self.tune.segments or self._last(record) < planned or over or bool(record.over)

    # ------------------------------------------------------------------------------------------- what others see

    def _tell(self, record: SegmentRecord) -> None:
        first, last = record.log[0], record.log[-1]
        shown = [f"loss {first['loss']:.3g} to {last['loss']:.3g}"]
        if "solved" in last:
            shown += [f"{name} {first[name]:.2f} to {last[name]:.2f}" for name in ("solved", "signal")]
        if not self.segments:
            self.notes += record.trains.splitlines()
        self.notes.append(f"segment {record.number}/{self.tune.segments}: {', '.join(shown)}, {record.checkpoint}")
        self.notes += [f"  {line}" for line in record.told[:3]]
        self.notes += [f"  {record.over}"] if record.over else []

    def _hear(self, row: dict[str, Any]) -> None:
        """A step of the segment under way: a line, unless there was one just now."""
        if time.monotonic() - self._told >= QUIET:
            self._told = time.monotonic()
            shown = ", ".join(f"{name} {row[name]:.3g}" for name in ("loss", "solved", "signal") if name in row)
            self.notes.append(f"  step {row['step']}/{self.tune.steps}: {shown}")
            self.moved()

    def news(self) -> Sequence[str]:
        told, self.notes = self.notes, []
        return told

    def write(self, folder: Path) -> None:
        """`training_log.jsonl`, a row for each step, and `weights.json`: where the best and the last weights lie."""
        write_lines(folder / "training_log.jsonl", [row for record in self.segments for row in record.log])
        places = {record.fingerprint: record.checkpoint for record in self.segments}
        addresses = {
            name: self._named(standing.policy.model, places)
            for name, standing in (("best", self.judge.best), ("current", self.judge.current))
        }
        last = self._named(self.segments[-1].fingerprint if self.segments else "", places)
        write_json(folder / "weights.json", {"base": self.config.target.model, **addresses, "last": last})

    def _named(self, fingerprint: str, places: dict[str, str]) -> str:
        if fingerprint not in places:
            return str(self.config.target.model)
        return self._address(self.shelf.folder.parent / places[fingerprint])

    def summary(self) -> dict[str, Any]:
        return {
            "segments": len(self.segments),
            "trained_steps": self._last(self.segments[-1]) if self.segments else 0,
            "train_rollouts": sum(record.rollouts for record in self.segments),
            "train_seconds": round(sum(record.seconds for record in self.segments), 1),
        }
