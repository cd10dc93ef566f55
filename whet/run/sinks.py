"""Figures of a run for the programs that people watch runs with: JSON lines, TensorBoard, W&B, MLflow.

    [control.sinks.tensorboard]
    folder = "tb"

A sink is fed from the ledger: whatever is committed is told once, by whoever works on the run. So a sink never decides,
and one that fails is left out with a note; the run goes on.
"""

from __future__ import annotations

import sqlite3
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import orjson

from whet.config.schema import PolicyConfig
from whet.errors import WhetError
from whet.files import own_folder, write_atomically
from whet.gate.decide import DECISION
from whet.ledger.store import FILE, glance
from whet.outside import shown_line
from whet.plugins import PluginGroup
from whet.rollout.progress import Progress
from whet.types import Rollout, Split, Ticket

SINKS = PluginGroup("whet.sinks", "sink")

PAUSE = 2.0
"""Seconds between two looks at the ledger."""

SEGMENT = "segment"


class Sink(Protocol):
    """Whoever is told figures. A name has a path: `eval/solved`, `gate/candidate`, `weights/entropy`."""

    def scalars(self, step: int, figures: Mapping[str, float]) -> None: ...

    def close(self) -> None: ...


SinkMaker = Callable[[Path, Mapping[str, Any]], Sink]
"""Makes a sink for the run in a folder from its options."""


# --------------------------------------------------------------------------------------------- the sinks


@dataclass(slots=True)
class JsonlSink:
    """`metrics.jsonl` beside the ledger, or where `file` says: a line for each time something was told."""

    place: Path
    lines: list[bytes] = field(default_factory=list)

    @classmethod
    def open(cls, folder: Path, options: Mapping[str, Any]) -> JsonlSink:
        place = Path(str(options.get("file") or folder / "metrics.jsonl"))
        with suppress(OSError):
            return cls(place, place.read_bytes().splitlines())
        return cls(place)

    def scalars(self, step: int, figures: Mapping[str, float]) -> None:
        self.lines.append(orjson.dumps({"at": round(time.time(), 3), "step": step, **figures}))

    def close(self) -> None:
        write_atomically(self.place, b"".join(line + b"\n" for line in self.lines))


class TensorBoardSink:
    """Event files that TensorBoard reads, in the run's folder or where `folder` says."""

    def __init__(self, folder: Path, options: Mapping[str, Any]) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise WhetError("the sink tensorboard needs torch and tensorboard: pip install torch tensorboard") from None
        self._writer: Any = SummaryWriter(str(Path(str(options.get("folder") or folder / "tensorboard")) / folder.name))

    def scalars(self, step: int, figures: Mapping[str, float]) -> None:
        for name, value in figures.items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        self._writer.close()


class WandbSink:
    """A run of Weights & Biases; the options go to `wandb.init`."""

    def __init__(self, folder: Path, options: Mapping[str, Any]) -> None:
        try:
            import wandb
        except ImportError:
            raise WhetError("the sink wandb needs its package: pip install wandb") from None
        self._run: Any = wandb.init(**{"project": "whet", "name": folder.name, "dir": str(folder), **options})

    def scalars(self, step: int, figures: Mapping[str, float]) -> None:
        self._run.log({**figures, "whet_step": step})

    def close(self) -> None:
        self._run.finish()


class MlflowSink:
    """A run of MLflow; `uri` and `experiment` say where."""

    def __init__(self, folder: Path, options: Mapping[str, Any]) -> None:
        try:
            import mlflow
        except ImportError:
            raise WhetError("the sink mlflow needs its package: pip install mlflow") from None
        self._mlflow: Any = mlflow
        if options.get("uri"):
            mlflow.set_tracking_uri(str(options["uri"]))
        mlflow.set_experiment(str(options.get("experiment") or "whet"))
        mlflow.start_run(run_name=folder.name)

    def scalars(self, step: int, figures: Mapping[str, float]) -> None:
        self._mlflow.log_metrics({name.replace("@", "_at_"): value for name, value in figures.items()}, step=step)

    def close(self) -> None:
        self._mlflow.end_run()


# --------------------------------------------------------------------------------------------- what they are told


@dataclass(slots=True)
class LedgerTail:
    """What was committed to a ledger since the last look, as figures."""

    folder: Path
    rollouts: int = 0
    effects: int = 0

    @classmethod
    def at_end(cls, folder: Path) -> LedgerTail:
        """From now on: what earlier sessions committed, they have told."""
        tail = cls(folder)
        for _ in tail.news():
            pass
        return tail

    def news(self) -> Iterator[tuple[int, dict[str, float]]]:
        """The figures of what is new, each with the number of the row that it stands at."""
        if not (self.folder / FILE).is_file():
            return
        with closing(glance(self.folder)) as db:
            sql = """SELECT purpose, count(*), avg(hard), avg(reward), avg(truncated),
                sum(prompt_tokens + completion_tokens), coalesce(sum(usd), 0.0), max(seq)
                FROM rollouts WHERE seq > ? GROUP BY purpose"""
            rows = db.execute(sql, (self.rollouts,)).fetchall()
            events = "SELECT seq, kind, body FROM effects WHERE seq > ? ORDER BY seq"
            found = db.execute(events, (self.effects,)).fetchall()
        for purpose, many, hard, reward, truncated, tokens, usd, last in rows:
            stage = purpose.split("/")[0]
            told = {"solved": hard, "reward": reward, "truncated": truncated, "tokens": tokens, "usd": usd}
            yield last, {f"{stage}/{name}": float(value) for name, value in {**told, "rollouts": many}.items()}
            self.rollouts = max(self.rollouts, last)
        for seq, kind, body in found:
            self.effects = max(self.effects, seq)
            yield from _figures(seq, kind, body)


def _figures(seq: int, kind: str, body: bytes) -> Iterator[tuple[int, dict[str, float]]]:
    if kind == DECISION:
        held = orjson.loads(body)
        told = {"accepted": float(held["verdict"] == "accept"), "effect": held.get("effect")}
        told |= {"incumbent": held.get("incumbent_score"), "candidate": held.get("candidate_score")}
        yield seq, {f"gate/{name}": float(value) for name, value in told.items() if value is not None}
    elif kind == SEGMENT:
        for row in orjson.loads(body).get("log", ()):
            parts = {f"parts/{name}": value for name, value in row.get("parts", {}).items()}
            flat = {name: value for name, value in {**row, **parts}.items() if isinstance(value, int | float)}
            yield int(row["step"]), {f"weights/{name}": float(value) for name, value in flat.items() if name != "step"}


@dataclass(slots=True)
class SinkTeller:
    """Tells sinks what is new, now and then while rollouts come in, and at the end. It stands before a progress."""

    shown: Progress
    tail: LedgerTail
    sinks: list[Sink]
    tell: Callable[[str], None]
    looked: float = field(default_factory=time.monotonic)
    said: set[str] = field(default_factory=set)

    def expect(self, ahead: Mapping[Split, int]) -> None:
        self.shown.expect(ahead)

    def began(self, total: int, what: str) -> None:
        self.shown.began(total, what)

    def replayed(self, ticket: Ticket) -> None:
        self.shown.replayed(ticket)

    def finished(self, rollout: Rollout) -> None:
        self.shown.finished(rollout)
        if time.monotonic() - self.looked > PAUSE:
            self.feed()

    def ended(self) -> None:
        self.shown.ended()
        self.feed()

    def feed(self) -> None:
        self.looked = time.monotonic()
        if not self.sinks:
            return
        try:
            news = list(self.tail.news())
        except (WhetError, sqlite3.Error, OSError, LookupError, ValueError, TypeError) as problem:
            self._say_once(f"sinks are told nothing for now, the ledger cannot be looked at: {problem}")
            return
        for step, figures in news:
            for sink in list(self.sinks):
                self._guarded(sink, lambda sink=sink, step=step, told=figures: sink.scalars(step, told))  # type: ignore[misc]

    def close(self) -> None:
        self.feed()
        for sink in list(self.sinks):
            self._guarded(sink, sink.close)

    def _guarded(self, sink: Sink, act: Callable[[], None]) -> None:
        try:
            act()
        except Exception as problem:  # noqa: BLE001 - another package's code may raise anything; the run goes on
            self.sinks.remove(sink)
            told = f"{type(problem).__name__}: {problem}"
            self._say_once(f"the sink {type(sink).__name__} is left out from here on, the run goes on: {told}")

    def _say_once(self, line: str) -> None:
        if line not in self.said:
            self.said.add(line)
            self.tell(shown_line(line))


@contextmanager
def fed_sinks(
    config: PolicyConfig, folder: Path, shown: Progress, tell: Callable[[str], None] = warnings.warn
) -> Iterator[Progress]:
    """The progress of a run, with the sinks that its config names told along the way."""
    named = config.control.sinks
    if not named:
        yield shown
        return
    makers: Sequence[tuple[SinkMaker, Mapping[str, Any]]] = [(SINKS.load(name), told) for name, told in named.items()]
    own_folder(folder)
    feed = SinkTeller(shown, LedgerTail.at_end(folder), [make(folder, told) for make, told in makers], tell)
    try:
        yield feed
    finally:
        feed.close()
