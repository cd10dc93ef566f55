"""A run as frozen records: what happened, was it real, what did it cost, what changed, which cases are wrong.

One fold for the report, the figures, the viewer and the terminal, so that all of them say the same. It reads a ledger
that may be under way, the readable files beside it where they are there, and notes what it could not read.
"""

from __future__ import annotations

import errno
import math
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from whet import wire
from whet.errors import WhetError, typed
from whet.evals.estimate import LEVEL, Estimate, Interval, mean_estimate
from whet.evals.summary import in_scale
from whet.gate.decide import DECISION
from whet.learn.outcome_files import SUMMARY
from whet.learn.usage import stage_of
from whet.ledger.proof import under_way
from whet.ledger.store import CONSULTED, glance
from whet.report import query
from whet.report.query import RolloutCounts, RolloutFilter, RolloutLine, RunSum, TaskRate
from whet.rollout.claim import CONFIG, PLAYBOOK
from whet.rollout.session import DONE, ENDED, SESSION
from whet.rollout.votes import VOTE
from whet.run.caveats import CAVEATS, Caveats
from whet.types import SPLITS, Playbook

SEGMENT = "segment"
"""The kind of effect that a segment of weight training is."""

HEADLINE = {"eval": "eval", "train": "test", "gate": "gate"}
"""The purpose of the rollouts that a kind of run is judged by."""

NAMES = ("no playbook", "initial", "best, which is the initial", "best", "final")

CHAMPION = ("best", "best, which is the initial", "initial")
"""Whose score a training is shown by: the best policy, or the initial one before another is tested."""


@dataclass(frozen=True, slots=True)
class StageCost:
    """What a stage of a run has used."""

    stage: str
    calls: int = 0
    tokens: int = 0
    usd: float | None = 0.0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class EditItem:
    """One edit of a candidate: who proposed it and how many of its kind stood behind it."""

    op: str
    content: str
    source: str = ""
    support: int = 0
    target: str = ""


@dataclass(frozen=True, slots=True)
class DecisionFacts:
    """A decision of the gate with its evidence."""

    number: int
    purpose: str
    verdict: str
    action: str
    reason: str
    says: str
    metric: str
    incumbent: Estimate | None
    candidate: Estimate | None
    effect: float | None
    better: int
    worse: int
    seen: int
    tasks: int
    alpha: float | None
    statistic: float | None
    threshold: float | None
    rollouts: Mapping[str, int]
    edits: tuple[EditItem, ...] = ()
    without: bool = False
    looks: tuple[Mapping[str, Any], ...] = ()
    draws: tuple[tuple[str, int, int, float | None], ...] = ()
    """Arm, task among the gate's, draw, and what it read on the metric."""

    @property
    def accepted(self) -> bool:
        return self.verdict == "accept"

    @property
    def step(self) -> str:
        return self.purpose.partition("/decision")[0] or self.purpose


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One step of a learner: how its train rollouts did."""

    name: str
    train: Estimate | None
    rollouts: int


@dataclass(frozen=True, slots=True)
class PolicyScore:
    """A policy on a split, by the name that a reader knows it by."""

    name: str
    policy: str
    rate: Estimate
    rollouts: int
    beside: bool = False
    """Whether it is a policy without skill or a rule, which stands beside."""


@dataclass(frozen=True, slots=True)
class GroupScore:
    """A kind or a difficulty of task."""

    name: str
    rate: Estimate
    rollouts: int


@dataclass(frozen=True, slots=True)
class PlaybookVersion:
    """A playbook after a step, or one that was proposed there."""

    name: str
    text: str
    before: str
    accepted: bool
    says: str = ""
    edits: tuple[EditItem, ...] = ()


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run for whoever looks at it. `trouble` says why nothing more could be read; `notes` what to know."""

    name: str
    folder: Path
    kind: str = ""
    env: str = ""
    model: str = ""
    state: str = ""
    live: bool = False
    changed: float = 0.0
    seconds: float = 0.0
    planned: int = 0
    rollouts: int = 0
    headline: RolloutFilter = RolloutFilter()
    score: Estimate | None = None
    on: str = ""
    """Which split `score` was measured on, and what to know about it."""
    claim: str = ""
    metric: str = "hard"
    trouble: str = ""
    notes: tuple[str, ...] = ()
    tests: tuple[PolicyScore, ...] = ()
    steps: tuple[StepRecord, ...] = ()
    decisions: tuple[DecisionFacts, ...] = ()
    playbooks: tuple[PlaybookVersion, ...] = ()
    costs: tuple[StageCost, ...] = ()
    kinds: tuple[GroupScore, ...] = ()
    difficulties: tuple[GroupScore, ...] = ()
    grid: Mapping[tuple[str, str], GroupScore] = field(default_factory=dict)
    reasons: Mapping[str, int] = field(default_factory=dict)
    faults: Mapping[str, int] = field(default_factory=dict)
    truncated: int = 0
    malformed: int = 0
    cases: tuple[RolloutLine, ...] = ()
    weights: tuple[Mapping[str, Any], ...] = ()
    """A row for each step of weight training, in the trainer's words."""
    config: str = ""
    lineage: Mapping[str, str] = field(default_factory=dict)

    @property
    def usd(self) -> float | None:
        prices = [cost.usd for cost in self.costs]
        return None if any(price is None for price in prices) else sum(price for price in prices if price is not None)

    @property
    def tokens(self) -> int:
        return sum(cost.tokens for cost in self.costs)


def fold_run(folder: Path, counts: RolloutCounts | None = None) -> RunFacts:
    """The record of the run in a folder. What cannot be read is a note; `counts` is what an earlier look counted."""
    try:
        with closing(glance(folder)) as db:
            db.execute("BEGIN")  # one moment of a ledger that grows meanwhile
            return RunFold(folder, db, counts or RolloutCounts()).record()
    except WhetError as problem:
        return RunFacts(folder.name, folder, state="unreadable", trouble=_without_place(problem, folder))
    except (sqlite3.Error, OSError, LookupError, ValueError, TypeError) as problem:
        told = f"{type(problem).__name__}: {problem}"
        return RunFacts(folder.name, folder, state="unreadable", trouble=f"cannot be read ({told})")


def _without_place(problem: WhetError, folder: Path) -> str:
    place, _, what = str(problem).partition(": ")
    return what if place.startswith(str(folder)) else str(problem)


@dataclass(slots=True)
class RunFold:
    """The fold at work on an open ledger."""

    folder: Path
    db: sqlite3.Connection
    counts: RolloutCounts
    notes: list[str] = field(default_factory=list)

    def record(self) -> RunFacts:
        self.counts.update(self.db)
        meta = dict(self.db.execute("SELECT name, value FROM meta ORDER BY seq"))
        caveats = self.caveats()
        told = self._file(SUMMARY)
        summary = told if isinstance(told, dict) else {}
        entry = self.entry(meta, caveats)
        tests = self._tests(entry, caveats)
        best = min(
            (test for test in tests if test.name in CHAMPION),
            key=lambda test: CHAMPION.index(test.name),
            default=None,
        )
        headline = entry.headline
        if entry.kind == "train" and best is not None:
            headline = RolloutFilter(purpose="test", policy=best.policy)
        # The rollouts of a gate are of two policies: a rate of both together is of neither.
        tasks = [] if entry.kind == "gate" else query.task_rates(self.db, headline)
        history = self._file("history.json")
        decisions = tuple(self._decisions(history if isinstance(history, list) else []))
        filled = {
            "headline": headline,
            "score": best.rate if best else entry.score,
            "claim": str(summary.get("test_delta_says") or ""),
            "metric": str(summary.get("metric") or "hard"),
            "tests": tests,
            "steps": tuple(self._steps()),
            "decisions": decisions,
            "playbooks": tuple(self._playbooks(decisions)),
            "costs": tuple(self._costs()),
            "kinds": _groups(tasks, lambda task: (task.kind,), caveats.level),
            "difficulties": _groups(tasks, lambda task: (task.difficulty,), caveats.level),
            "grid": {
                (task.kind, task.difficulty): group
                for task, group in _cells(tasks, lambda task: (task.kind, task.difficulty), caveats.level)
            },
            "reasons": query.reasons_of(self.db, headline),
            "faults": query.faults_by_kind(self.db),
            "truncated": query.rollout_count(self.db, replace(headline, truncated=True)),
            "malformed": query.rollout_count(self.db, replace(headline, malformed=True)),
            "cases": tuple(query.hardest(self.db, headline)),
            "weights": tuple(self._weights()),
            "config": self._config_text(),
            "lineage": self._lineage(meta),
        }
        notes = (*caveats.notes, *map(str, summary.get("test_notes", ())), *self.notes)
        kept = {name: getattr(entry, name) for name in entry.__dataclass_fields__ if name not in filled}
        return RunFacts(**{**kept, **filled, "notes": tuple(dict.fromkeys((*entry.notes, *notes)))})

    # ------------------------------------------------------------------------------------------- the line in a list

    def entry(self, meta: Mapping[str, str], caveats: Caveats) -> RunFacts:
        """What a list of runs shows: little is read for it, however long the run."""
        used = query.run_sum(self.db)
        kind = meta.get("kind", "")
        config = self._config(meta)
        moments = self._moments()
        live = under_way(self.folder / "ledger.sqlite")
        state = self._state(moments, live)
        headline = RolloutFilter(purpose=HEADLINE.get(kind, ""))
        told = _at(config, "eval", "split") if kind == "eval" else "test" if kind == "train" else None
        split = str(told or self._splits(headline))
        score = None
        if kind == "train":
            score = self._best_rate(caveats.level)
        elif kind != "gate":
            score = query.solve_rate(self.db, headline, caveats.level, alone=kind == "eval")
        if not kind:
            self.notes.append("it was ended before it began: its ledger names no kind of run")
        return RunFacts(
            self.folder.name,
            self.folder,
            kind,
            str(_at(config, "env", "name") or ""),
            str(_at(config, "target", "model") or ""),
            state,
            live,
            changed=_changed(self.folder),
            seconds=_seconds(moments, self._last_commit),
            planned=max((body.get("planned", 0) for _, name, body in moments if name == SESSION), default=0),
            rollouts=used.rollouts,
            headline=headline,
            costs=(self._total(used),),
            score=score,
            on=", ".join(filter(None, (split, caveats.mark))) if score is not None else "",
        )

    def _splits(self, headline: RolloutFilter) -> str:
        """Which splits were played, whatever the config says: an audit takes them all."""
        where, bound = headline.clause()
        found = {split for (split,) in self.db.execute(f"SELECT DISTINCT split FROM rollouts WHERE {where}", bound)}
        return " + ".join(split for split in SPLITS if split in found)

    def _best_rate(self, level: float) -> Estimate | None:
        """What the best policy solved in the sealed test, as far as it is played."""
        names = self._policy_names()
        ranked = sorted((CHAMPION.index(name), digest) for digest, name in names.items() if name in CHAMPION)
        best = ranked[0][1] if ranked else None
        chosen = RolloutFilter(purpose="test", policy=best or "")
        return None if best is None else query.solve_rate(self.db, chosen, level, alone=True)

    def _state(self, moments: Sequence[tuple[float, str, dict[str, Any]]], live: bool) -> str:
        if live:
            return "running"
        ends = [(name, body) for _, name, body in moments if name in (SESSION, ENDED)]
        if not ends:
            return "never began"
        name, body = ends[-1]
        if name == SESSION:
            return "killed"
        return "complete" if body.get("why") == DONE else f"stopped: {body.get('why', '')}"

    def _moments(self) -> list[tuple[float, str, dict[str, Any]]]:
        rows = self.db.execute("SELECT at, name, body FROM events WHERE name <> 'beat' ORDER BY seq")
        return [(at, name, body if isinstance(body := orjson.loads(raw), dict) else {}) for at, name, raw in rows]

    def _last_commit(self, before: float = math.inf) -> float:
        return float(self.db.execute("SELECT coalesce(max(at), 0) FROM chain WHERE at < ?", (before,)).fetchone()[0])

    # ------------------------------------------------------------------------------------------- files beside it

    def _bytes(self, name: str) -> bytes:
        """A file of the run. A folder may come from elsewhere: a link that leads out of it is not followed."""
        place = self.folder / name
        if not place.resolve().is_relative_to(self.folder.resolve()):
            raise OSError(errno.EPERM, "it leads out of the run's folder")
        if place.exists() and not place.is_file():
            raise OSError(errno.EPERM, "it is no file")
        return place.read_bytes()

    def _file(self, name: str) -> Any:
        """A readable file of the run; one that is not whole is noted."""
        try:
            return orjson.loads(self._bytes(name))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as problem:
            self.notes.append(
                f"{name} cannot be read ({problem}); make it anew with: whet rebuild {typed(self.folder)}"
            )
            return None

    def _config_text(self) -> str:
        try:
            return self._bytes(CONFIG).decode("utf-8", "replace")
        except OSError as problem:
            self.notes.append(f"{CONFIG} cannot be read ({problem.strerror})")
            return ""

    def _config(self, meta: Mapping[str, str]) -> dict[str, Any]:
        try:
            held = orjson.loads(meta.get("depends_on", "{}"))
        except ValueError:
            return {}
        return held if isinstance(held, dict) else {}

    def caveats(self) -> Caveats:
        held = next((body for _, body in query.effects(self.db, CAVEATS)), None)
        return Caveats() if held is None else Caveats(**{**held, "before": tuple(held["before"])})

    def _lineage(self, meta: Mapping[str, str]) -> dict[str, str]:
        """Where the run comes from: what it depends on, by digest, and the runs it is part of."""
        known = {name: meta[name] for name in ("identity", "model", "playbook", "candidate_model") if meta.get(name)}
        if self.folder.parent.name == "gates":
            known["parent run"] = self.folder.parent.parent.name
        gates = self.folder / "gates"
        if gates.is_dir():
            known["gates held"] = ", ".join(sorted(place.name for place in gates.iterdir() if place.is_dir()))
        return known

    # ------------------------------------------------------------------------------------------- policies

    def _policy_names(self) -> dict[str, str]:
        """The policies of the sealed test by the names that a reader knows them by."""
        played = [d for (d,) in self.db.execute("SELECT DISTINCT policy FROM rollouts WHERE purpose = 'test'")]
        if not played:
            return {}
        files = {name: self._playbook(file) for name, file in _PLAYBOOK_FILES.items()}
        weights = self._file("weights.json")
        checkpoints = {body["fingerprint"]: body["checkpoint"] for _, body in query.effects(self.db, SEGMENT)}
        names: dict[str, str] = {}
        for policy in played:
            row = self.db.execute("SELECT body FROM policies WHERE digest = ?", (policy,)).fetchone()
            if row is None:
                continue
            body = orjson.loads(row[0])
            playbook, checkpoint = wire.playbook_in(body["playbook"]), checkpoints.get(body["model"])
            if isinstance(weights, dict):
                names[policy] = _weights_name(weights, checkpoint)
            elif playbook == files["best"]:
                names[policy] = NAMES[2] if playbook == files["initial"] else "best"
            elif playbook == files["initial"]:
                names[policy] = "initial"
            elif playbook == files["final"]:
                names[policy] = "final"
            else:
                names[policy] = "no playbook" if playbook.blank else policy[:8]
        return names

    def _playbook(self, file: str) -> Playbook | None:
        held = self._file(file)
        return wire.playbook_in(held) if isinstance(held, dict) else None

    def _tests(self, entry: RunFacts, caveats: Caveats) -> tuple[PolicyScore, ...]:
        """Every policy on the tasks that the run is judged by, those without skill beside them."""
        level = caveats.level
        found: list[PolicyScore] = []
        if entry.kind == "train":
            names = self._policy_names()
            rates = query.rates_by(self.db, RolloutFilter(purpose="test"), "policy", level=level)
            rows = [PolicyScore(names.get(policy, policy[:8]), policy, *rate) for (policy,), rate in rates.items()]
            found += sorted(rows, key=lambda row: NAMES.index(row.name) if row.name in NAMES else len(NAMES))
        elif entry.score is not None:
            found.append(PolicyScore("this run", "", entry.score, self._headline_rollouts(entry.headline.purpose)))
        for prefix in ("floor", "reference"):
            rates = query.rates_by(self.db, RolloutFilter(purpose=prefix), "purpose", level=level)
            ranked = sorted(rates.items(), key=lambda item: -item[1][0].value)[:3]
            found += [PolicyScore(purpose.replace("/", ": ", 1), "", *rate, True) for (purpose,), rate in ranked]
        return tuple(found)

    def _headline_rollouts(self, purpose: str) -> int:
        by_purpose = self.counts.by("purpose")
        return sum(held.rollouts for (name,), held in by_purpose.items() if _under(name, purpose))

    # ------------------------------------------------------------------------------------------- what was learnt

    def _steps(self) -> Iterator[StepRecord]:
        steps: dict[str, RolloutCounts] = {}
        for cell, held in self.counts.cells.items():
            found = _STEP.match(cell.purpose)
            if found:
                steps.setdefault(found[1], RolloutCounts()).cells[cell] = held
        for name in sorted(steps, key=_in_order):
            rate = query.solve_rate(self.db, RolloutFilter(purpose=f"train/{name}"))
            yield StepRecord(name, rate, steps[name].rollouts)

    def _weights(self) -> Iterator[Mapping[str, Any]]:
        """A row for each step, with how many rollouts its segment made in a second."""
        for _, body in query.effects(self.db, SEGMENT):
            seconds, rollouts = body.get("seconds") or 0.0, body.get("rollouts") or 0
            pace = {"rollouts_per_second": rollouts / seconds} if seconds and rollouts else {}
            for row in body.get("log", ()):
                yield {**row, **pace}

    def _decisions(self, history: Sequence[Mapping[str, Any]]) -> Iterator[DecisionFacts]:
        told = {held["purpose"]: held for step in history for held in step.get("decisions", ())}
        for number, (purpose, body) in enumerate(query.effects(self.db, DECISION)):
            yield decision_record(number, purpose, body, told.get(purpose, {}))

    def _playbooks(self, decisions: Sequence[DecisionFacts]) -> Iterator[PlaybookVersion]:
        """What each step proposed against what stood before it; without such files, the first and the best."""
        places = sorted((self.folder / "steps").glob("step_*"))
        told: dict[str, list[DecisionFacts]] = {}
        for decision in decisions:
            told.setdefault(_step_number(decision.purpose), []).append(decision)
        first = self._text("skills/skill_v0000.md")
        yield PlaybookVersion("initial", first or self._text_of(PLAYBOOK), "", True)
        for place in places:
            number = place.name.removeprefix("step_")
            before = self._text(f"skills/skill_v{int(number) - 1:04d}.md") if number.isdecimal() else ""
            after = self._text(f"skills/skill_v{number}.md")
            candidate = self._text(f"steps/{place.name}/candidate_skill.md")
            decided = told.get(number, [])
            says = "\n".join(decision.says for decision in decided)
            edits = tuple(edit for decision in decided for edit in decision.edits)
            accepted = after != before
            if candidate or accepted:
                shown = after if accepted else candidate
                yield PlaybookVersion(f"step {int(number)}", shown, before, accepted, says, edits)
        if not places:
            best, initial = self._text_of("best_playbook.json"), self._text_of(PLAYBOOK)
            if best and best != initial:
                yield PlaybookVersion("best", best, initial, True)

    def _text(self, name: str) -> str:
        try:
            return self._bytes(name).decode("utf-8", "replace")
        except OSError:
            return ""

    def _text_of(self, file: str) -> str:
        playbook = self._playbook(file)
        if playbook is None:
            return ""
        worked = (*playbook.examples, *playbook.bank)
        examples = "\n\n".join(f"Q: {example.question}\nA: {example.told}" for example in worked)
        return "\n\n".join(filter(None, (playbook.text, examples)))

    def _total(self, used: RunSum) -> StageCost:
        """What the whole run has used, without a look at its stages."""
        usage = [body["reply"].get("usage", {}) for _, body in query.effects(self.db, CONSULTED)]
        asked = sum(told.get("prompt_tokens", 0) + told.get("completion_tokens", 0) for told in usage)
        unpriced = used.unpriced or any(told.get("usd") is None for told in usage)
        usd = None if unpriced else used.usd + sum(told["usd"] for told in usage)
        calls = used.calls + sum(told.get("calls", 0) for told in usage)
        return StageCost("all", calls, used.tokens + asked, usd, used.seconds)

    def _costs(self) -> Iterator[StageCost]:
        sums: dict[str, list[StageCost]] = {}
        for (purpose,), held in self.counts.by("purpose", own=False).items():
            if purpose.startswith(VOTE):  # what draws cost is in the votes that were made of them
                continue
            tokens = held.prompt_tokens + held.completion_tokens
            usd = None if held.unpriced else held.usd
            stage = "floor" if purpose.startswith(query.BESIDE) else stage_of(purpose)
            sums.setdefault(stage, []).append(StageCost(stage, held.calls, tokens, usd, held.seconds))
        for purpose, body in query.effects(self.db, CONSULTED):
            used = body["reply"].get("usage", {})
            tokens = used.get("prompt_tokens", 0) + used.get("completion_tokens", 0)
            stage = stage_of(purpose)
            sums.setdefault(stage, []).append(StageCost(stage, used.get("calls", 0), tokens, used.get("usd")))
        for stage, costs in sums.items():
            prices = [cost.usd for cost in costs]
            usd = None if any(price is None for price in prices) else sum(price or 0.0 for price in prices)
            calls, tokens = sum(cost.calls for cost in costs), sum(cost.tokens for cost in costs)
            yield StageCost(stage, calls, tokens, usd, sum(cost.seconds for cost in costs))


_PLAYBOOK_FILES = {"initial": PLAYBOOK, "best": "best_playbook.json", "final": "current_playbook.json"}

_STEP = re.compile(r"train/((?:e\d+/)?s\d+)(?:/|$)")


def _in_order(step: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", step))


def _step_number(purpose: str) -> str:
    found = re.search(r"s(\d{4,})", purpose)
    return found[1] if found else ""


def _under(purpose: str, wanted: str) -> bool:
    return not wanted or purpose == wanted or purpose.startswith(f"{wanted}/")


def _cells(
    tasks: Sequence[TaskRate], name: Callable[[TaskRate], tuple[str, ...]], level: float
) -> Iterator[tuple[TaskRate, GroupScore]]:
    """Tasks of a kind together, each with one of them."""
    found: dict[tuple[str, ...], list[TaskRate]] = {}
    for task in tasks:
        found.setdefault(name(task), []).append(task)
    for words, held in found.items():
        rate = mean_estimate([task.mean for task in held], level=level)
        assert rate is not None
        yield held[0], GroupScore(" ".join(words), rate, sum(task.draws for task in held))


def _groups(
    tasks: Sequence[TaskRate], name: Callable[[TaskRate], tuple[str, ...]], level: float
) -> tuple[GroupScore, ...]:
    return tuple(sorted((group for _, group in _cells(tasks, name, level)), key=lambda group: in_scale(group.name)))


def _weights_name(weights: Mapping[str, Any], checkpoint: str | None) -> str:
    if checkpoint is None:
        return "initial"
    told = (("best", weights.get("best")), ("final", weights.get("current")))
    return next((name for name, place in told if str(place).endswith(checkpoint)), checkpoint)


def _at(data: Mapping[str, Any], *path: str) -> Any:
    for name in path:
        data = data.get(name) if isinstance(data, dict) else None  # type: ignore[assignment]
    return data


def _changed(folder: Path) -> float:
    try:
        return max((file.stat().st_mtime for file in folder.glob("ledger.sqlite*")), default=0.0)
    except OSError:  # it went away meanwhile, or may not be looked into
        return 0.0


def _seconds(moments: Sequence[tuple[float, str, dict[str, Any]]], last: Callable[[float], float]) -> float:
    """Seconds of all sessions; one without an end has taken until its last commit."""
    total, began = 0.0, 0.0
    for at, name, body in moments:
        if name == ENDED:
            total, began = total + float(body.get("seconds", 0.0)), 0.0
        elif name == SESSION:
            total += max(0.0, last(at) - began) if began else 0.0  # the one before was killed
            began = at
    return total + (max(0.0, last(math.inf) - began) if began else 0.0)


def decision_record(number: int, purpose: str, body: Mapping[str, Any], told: Mapping[str, Any] = {}) -> DecisionFacts:
    """A decision as the ledger has it; `told` is what the learner's history adds: the edits, and what became of it."""
    draws = tuple(
        (arm, task, draw, reading[0] if reading else None) for arm, task, draw, reading in body.get("draws", ())
    )
    items = (
        EditItem(
            str(item.get("op", "")),
            _said(item.get("content") or item.get("body") or item),
            str(item.get("source_type", "")),
            int(item.get("support_count") or 0),
            str(item.get("target", "")),
        )
        for item in told.get("items", ())
    )
    return DecisionFacts(
        number,
        purpose,
        body["verdict"],
        str(told.get("action") or body["verdict"]),
        body["reason"],
        body.get("says", ""),
        body.get("metric", "hard"),
        _arm(draws, "incumbent", body.get("incumbent_score")),
        _arm(draws, "candidate", body.get("candidate_score")),
        body.get("effect"),
        body.get("better", 0),
        body.get("worse", 0),
        body.get("seen", 0),
        body.get("tasks", 0),
        body.get("alpha"),
        body.get("statistic"),
        body.get("threshold"),
        body.get("rollouts", {}),
        tuple(items),
        bool(told.get("without")),
        tuple(body.get("looks", ())),
        draws,
    )


def _said(content: Any) -> str:
    """What an edit says: a text, or a worked example."""
    if isinstance(content, Mapping):
        if "answer" in content:
            return f"{content.get('question', '')} → {content['answer']}"
        return ", ".join(f"{name}: {value}" for name, value in content.items())
    return str(content)


ARMS = ("incumbent", "candidate")


def _arm(draws: Sequence[tuple[str, int, int, float | None]], arm: str, score: float | None) -> Estimate | None:
    """A side's score on record, with the interval of its draws on the tasks that the score is of: both sides' own."""
    by_task: dict[int, list[float]] = {}
    sides = ({task for side, task, _, reading in draws if side == name and reading is not None} for name in ARMS)
    both = set.intersection(*sides)
    for side, task, _, reading in draws:
        if side == arm and reading is not None:
            by_task.setdefault(task, []).append(reading)
    means = [sum(values) / len(values) for task, values in by_task.items() if score is None or task in both]
    low, high = min((0.0, *means)), max((1.0, *means))
    seen = mean_estimate(means, span=(low, high)) if means else None
    if score is None:
        return seen
    if seen is None:
        return Estimate(score, Interval(score, score, LEVEL), 0)
    interval = Interval(min(seen.interval.low, score), max(seen.interval.high, score), LEVEL)
    return Estimate(score, interval, seen.tasks)


# --------------------------------------------------------------------------------------------- lists


def list_records(root: Path) -> list[RunFacts]:
    """The runs under a folder, those below them too, newest first; of each what a list shows."""
    return sorted((list_record(folder) for folder in run_folders(root)), key=lambda run: -run.changed)


def list_record(folder: Path) -> RunFacts:
    """A run's line in a list."""
    try:
        with closing(glance(folder)) as db:
            db.execute("BEGIN")
            fold = RunFold(folder, db, RolloutCounts())
            meta = dict(db.execute("SELECT name, value FROM meta ORDER BY seq"))
            entry = fold.entry(meta, fold.caveats())
            return replace(entry, notes=tuple(fold.notes))
    except WhetError as problem:
        trouble = _without_place(problem, folder)
    except (sqlite3.Error, OSError, LookupError, ValueError, TypeError) as problem:
        trouble = f"cannot be read ({type(problem).__name__}: {problem})"
    return RunFacts(folder.name, folder, state="unreadable", changed=_changed(folder), trouble=trouble)


def run_folders(root: Path) -> list[Path]:
    """Folders that hold a run, or the beginning of one: a config without a ledger is a run that was never begun."""
    if _is_run(root):
        return [root]
    found = []
    for folder in sorted(place for place in root.glob("*") if place.is_dir()) if root.is_dir() else ():
        if _is_run(folder):
            found.append(folder)
            found += sorted(place for place in (folder / "gates").glob("*") if (place / "ledger.sqlite").is_file())
    return found


def _is_run(folder: Path) -> bool:
    try:
        return (folder / "ledger.sqlite").is_file() or (folder / CONFIG).is_file()
    except OSError:  # a folder of somebody else's
        return False
