"""Decisions on new work: false releases within their budget, drift seen in time, nothing lost, forgotten or forged.

python bench/release.py [--quick] [--json FILE]

Truth is the observable one: what the needs give on clean summaries. Latency is what `POST /decide` adds to a reply of
the model that takes a second, at 64 requests at once that do not begin at one moment. By the clock on the wall, with
client, server and model in processes of their own, a busy machine measures its own queue; so it is measured also in one
process on one loop whose clock is the time of its processor and skips what is only waited for: as if it had one core to
itself, the client's and the model's work included.
"""

from __future__ import annotations

import asyncio
import copy
import json
import math
import multiprocessing
import os
import random
import selectors
import signal
import statistics
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web
from rows import Row, arguments, report

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from forged_trail import rewrite
from loopback import Behaviour, Json, Loopback, Response

from whet.config.schema import EndpointSection, RoleSection
from whet.envs.base import Messages
from whet.envs.groupqc.baselines import baselines
from whet.envs.groupqc.environment import GroupQc
from whet.envs.groupqc.summaries.counts import read_summary
from whet.envs.groupqc.verdict.lines import read_verdict, write_verdict
from whet.envs.groupqc.verdict.rules import judge, reason
from whet.envs.groupqc.world.noise import REALISTIC
from whet.evals.estimate import exact_upper
from whet.models.base import Model
from whet.models.scripted import reference
from whet.release.anchor import Anchor
from whet.release.batch import decide_lines
from whet.release.calibration import CHECK, calibrate
from whet.release.champion import Champion, Champions
from whet.release.decider import open_decider
from whet.release.decision import DECIDED, DecisionRule
from whet.release.endpoint import DecisionDoor, decide_app
from whet.release.intake import open_intake
from whet.release.threshold import ReleaseRule, ScoredTicket, choose
from whet.release.trail import Trail
from whet.rollout.cast import open_model
from whet.types import Playbook, Policy, Sampling, Task

BUDGET = 0.02
LATENCY = 1.0
AT_ONCE = 64
TURN = 256
NOISE = {name: getattr(REALISTIC, name) for name in ("omission", "flip", "jitter", "malformed", "ocr", "foreign")}
"""Noise of the reading of photos; labels are the observable truth."""


def lines(count: int, split: str, world: str, seed: int, noise: dict[str, float]) -> Iterator[tuple[bytes, str]]:
    """Tickets of all missions with their observable truth, each of a site of its own."""
    env = GroupQc("", {"conventions": _world(world), "noise": noise, "seed": seed})
    for index in range(count):
        _, group = env._source.group(split, index)  # type: ignore[attr-defined]
        line = {**group.ticket.as_line(), "label": group.truth.observable}
        line["group_id"] = f"{line['group_id']}-{split}-{seed}-{index}"
        yield json.dumps(line, ensure_ascii=False).encode(), group.truth.observable


def _world(world: str) -> int | str:
    return world if world == "none" else int(world)


# --------------------------------------------------------------------------------------------- policies


def policy(name: str, world: str) -> Model:
    """`careful` applies the checklist, `hasty` overlooks what is not shown, `ceiling` knows unwritten conventions."""
    env = GroupQc("", {"conventions": _world(world)})
    if name == "hasty":
        return reference(name, f"{name}-{world}", lambda task, said: _hasty(env, task, said))
    known = baselines(env.mission, env.conventions)
    return reference(name, f"{name}-{world}", known["rules" if name == "careful" else name])


def _hasty(env: GroupQc, task: Task, said: Messages) -> str:
    pack, mission = env.mission(task.data["mission"])
    readings = [read_summary(pack, text) for text in task.data["summaries"]]
    found = judge(pack, mission, readings, task.data["site"], task.data["submitted"])
    bad = any(finding.status == "defect" for finding in found.findings)
    return write_verdict("fail" if bad else "pass", reason(pack, found), pack.language)


def promoted(releases: Path, model: Model, world: str, target: str = "scripted:x.py:y", **endpoint: Any) -> Champion:
    draft = Champion(
        name="bench",
        policy=Policy(model.fingerprint, Sampling(), Playbook("Look at every photo.")),
        target={"model": target},
        endpoint=endpoint,
        environment="groupqc",
        arguments={"conventions": _world(world)},
        fingerprint="bench",
        run="bench",
        decision={},
        claim={},
    )
    return Champions(releases).promote(draft)


# --------------------------------------------------------------------------------------------- false releases


@dataclass(frozen=True, slots=True)
class Released:
    """What a calibrated champion did with held-out tickets."""

    name: str
    failing: int
    false: int
    released: int
    tickets: int
    passing: int
    right: int
    threshold: float | None
    unguarded: float
    """The share of failing tickets that the policy alone would have let pass."""


def held_out(case: tuple[str, str, int, int]) -> Released:
    """Calibrate on select tickets, decide test tickets, both through the whole machinery."""
    name, world, chosen_on, decided = case
    model = policy(name, world)
    with tempfile.TemporaryDirectory() as place:
        releases = Path(place)
        champion = promoted(releases, model, world)
        labelled = [line for line, _ in lines(chosen_on, "select", world, 0, NOISE)]
        rule = asyncio.run(calibrate(champion, labelled, BUDGET, releases, model=model, audit=0.0))
        new = list(lines(decided, "test", world, 1, NOISE))

        async def work() -> Any:
            async with open_decider(champion, releases, model=model) as decider:
                decider.docket.watch = None  # drift has its own row
                return await decide_lines(decider, list(enumerate(line for line, _ in new)))

        found = asyncio.run(work()).decisions
    failing = [number for number, (_, truth) in enumerate(new) if truth == "fail"]
    released = {number for number, decision in found.items() if decision.verdict == "pass"}
    proposed = {number for number, decision in found.items() if decision.proposed == "pass"}
    return Released(
        f"{name}, {'checklist' if world == 'none' else 'conventions'}",
        len(failing),
        len(released & set(failing)),
        len(released),
        len(new),
        len(new) - len(failing),
        len(released - set(failing)),
        rule.threshold,
        len(proposed & set(failing)) / len(failing),
    )


def false_releases(quick: bool, pool: ProcessPoolExecutor) -> Iterator[Row]:
    chosen_on, decided = (1000, 500) if quick else (2500, 5000)
    cases = [("careful", "none"), ("hasty", "none"), ("ceiling", "1"), ("careful", "1")]
    for found in pool.map(held_out, [(*case, chosen_on, decided) for case in cases]):
        upper = exact_upper(found.false, found.failing, 0.95)
        told = (
            f"{found.false} of {found.failing} failing tickets released, upper bound; the policy alone would let "
            f"{100 * found.unguarded:.1f} % pass; threshold {found.threshold}"
        )
        holds = None if quick else upper <= BUDGET
        yield Row(f"false release ({found.name})", 100 * upper, "%", 2.0, holds, condition=told)
        told = f"{found.released} of {found.tickets} tickets, {found.right} of {found.passing} that pass"
        yield Row(f"coverage ({found.name})", 100 * found.released / found.tickets, "%", condition=told)


# --------------------------------------------------------------------------------------------- many streams


def scored(case: tuple[str, str, int, int]) -> dict[str, list[ScoredTicket]]:
    """Tickets as each policy would have them scored, without the machinery around: thousands in seconds."""
    world, split, seed, count = case
    intake, env = open_intake("groupqc", {"conventions": _world(world)}), GroupQc("", {"conventions": _world(world)})
    names = ("careful", "hasty") if world == "none" else ("careful", "ceiling")
    known = baselines(env.mission, env.conventions)
    found: dict[str, list[ScoredTicket]] = {name: [] for name in names}
    for line, truth in lines(count, split, world, seed, NOISE):
        work = intake.read(line)
        for name in names:
            said = (
                _hasty(env, work.task, work.task.messages)
                if name == "hasty"
                else known["rules" if name == "careful" else name](work.task, work.task.messages)
            )
            passes = read_verdict(str(said)).call == "pass" and not work.weigh().suspect
            found[name].append(ScoredTicket(work.name, passes, round(1.0 - work.gap, 6), truth == "fail"))
    return found


def freed(ticket: ScoredTicket, threshold: float | None) -> bool:
    return threshold is not None and ticket.passes and ticket.score >= threshold


def streams(quick: bool, pool: ProcessPoolExecutor) -> Iterator[Row]:
    """20 thresholds, each chosen on tickets of its own, on each of some blocks of 5,000 held-out tickets."""
    chosen_on, blocks = (3, 1) if quick else (20, 8)
    for world, size, fewer in (("none", 2500, 1), ("1", 1250, 2)):
        labelled = list(pool.map(scored, [(world, "select", 201 + number, size) for number in range(chosen_on)]))
        held = [(world, "test", 301 + number, 1000 if quick else 5000) for number in range(max(1, blocks // fewer))]
        new = list(pool.map(scored, held))
        for name in labelled[0]:
            rules = [choose(tickets[name], BUDGET, check=CHECK) for tickets in labelled]
            yield stream_row(f"{name}, {'checklist' if world == 'none' else 'conventions'}", rules, new, name, quick)


def stream_row(title: str, rules: list[ReleaseRule], new: list[Any], name: str, quick: bool) -> Row:
    outside, uppers, shares = 0, [0.0], []
    thresholds = [rule.threshold for rule in rules if rule.threshold is not None]
    for threshold in thresholds:
        for tickets in new:
            failing = [ticket for ticket in tickets[name] if ticket.failing]
            uppers.append(exact_upper(sum(freed(ticket, threshold) for ticket in failing), len(failing), 0.95))
            outside += uppers[-1] > BUDGET
            shares.append(sum(freed(ticket, threshold) for ticket in tickets[name]) / len(tickets[name]))
    pairs = len(thresholds) * len(new)
    told = (
        f"{len(thresholds)} of {len(rules)} files gave a threshold; each on {len(new)} blocks; greatest upper bound "
        f"{100 * max(uppers):.2f} %; coverage {100 * statistics.median(shares or [0.0]):.0f} % in the median"
    )
    holds = None if quick else outside <= 0.05 * pairs
    return Row(f"outside the budget ({title})", outside, f"of {pairs}", 0.05 * pairs, holds, condition=told)


# --------------------------------------------------------------------------------------------- drift


@dataclass(frozen=True, slots=True)
class Stream:
    """Where in a stream of drifted work the alarm was raised, and where its budget was broken, had nobody heard it."""

    alarm: int | None
    broken: int | None
    """The first ticket at which more failing tickets than allowed were released among the last `WINDOW`."""
    shown: int | None
    """The first at which the releases since the drift are evidence of a rate above the budget (95 %, at any look)."""
    false_before: int
    rate: float
    """The share of failing tickets that would have been released since the drift."""


WINDOW = 5000
"""Tickets over which the budget is counted."""

RATES = tuple(BUDGET * 1.25**step for step in range(1, 17))
"""Rates that are bet on against the budget."""


def evidence(false: int, failing: int) -> float:
    """How much likelier the releases are at a rate above the budget than at the budget itself: 20 is reached by chance
    in one of 20 streams, however often one looks (Ville)."""
    odds = (
        math.exp(false * math.log(rate / BUDGET) + (failing - false) * math.log((1 - rate) / (1 - BUDGET)))
        for rate in RATES
    )
    return sum(odds) / len(RATES)


class BudgetCount:
    """The budget as an operator counts it, over the last `WINDOW` tickets; `before` came before the drift."""

    def __init__(self, before: Sequence[tuple[bool, bool]]) -> None:
        self._window = deque(before, maxlen=WINDOW)
        self._failing = sum(failing for failing, _ in before)
        self._false = sum(failing and released for failing, released in before)
        self.since = self.false_since = 0

    def add(self, failing: bool, released: bool) -> None:
        if len(self._window) == WINDOW:
            gone, let = self._window[0]
            self._failing -= gone
            self._false -= gone and let
        self._window.append((failing, released))
        self._failing += failing
        self._false += failing and released
        self.since += failing
        self.false_since += failing and released

    @property
    def broken(self) -> bool:
        return self._false > BUDGET * self._failing

    @property
    def rate(self) -> float:
        return self.false_since / max(1, self.since)

    @property
    def shown(self) -> bool:
        return evidence(self.false_since, self.since) >= 20


def drifted(case: tuple[float, Sequence[int], int, int]) -> list[Stream]:
    """Streams of tickets of which so many values are misread, as a careful policy decides and the watch sees them."""
    flip, seeds, reference_size, longest = case
    intake, env = open_intake("groupqc", {"conventions": "none"}), GroupQc("", {"conventions": "none"})
    labelled = [line for line, _ in lines(reference_size, "select", "none", 0, NOISE)]
    threshold = choose(scored(("none", "select", 0, reference_size))["careful"], BUDGET, check=CHECK).threshold
    opened = intake.watch(labelled, DecisionRule().alpha)
    quiet = scored(("none", "test", 0, min(WINDOW, 10 * longest)))["careful"]
    before = [(ticket.failing, freed(ticket, threshold)) for ticket in quiet]
    checklist = baselines(env.mission, env.conventions)["rules"]

    def follow(seed: int) -> Stream:
        alarm = broken = shown = None
        budget, watch, false_before = BudgetCount(before), copy.deepcopy(opened), 0
        assert watch is not None
        stream = lines(longest, "test", "none", seed, {**NOISE, "flip": flip})
        for number, (line, truth) in enumerate(stream, start=1):
            work = intake.read(line)
            passes = (
                read_verdict(str(checklist(work.task, work.task.messages))).call == "pass" and not work.weigh().suspect
            )
            ticket = ScoredTicket(work.name, passes, round(1.0 - work.gap, 6), truth == "fail")
            if alarm is None:
                alarm, false_before = (number if watch.take(work) else None), budget.false_since
            # What would be released if nobody heard the alarm: from this very ticket on, nothing is.
            budget.add(ticket.failing, freed(ticket, threshold))
            broken = broken or (number if budget.broken else None)
            shown = shown or (number if budget.shown else None)
        return Stream(alarm, broken, shown, budget.false_since if alarm is None else false_before, budget.rate)

    return [follow(seed) for seed in seeds]


def drift(quick: bool, pool: ProcessPoolExecutor) -> Iterator[Row]:
    flips, seeds = ((0.5,), 1) if quick else ((0.1, 0.2, 0.4), 16)
    size, longest = (1000, 200) if quick else (2500, 1200)
    halves = [range(401, 401 + seeds)[half::2] for half in range(2)]
    for flip in flips:
        found = [s for half in pool.map(drifted, [(flip, half, size, longest) for half in halves]) for s in half]
        alarms = sorted(s.alarm for s in found if s.alarm is not None)
        told = (
            f"{len(found)} streams; of failing tickets {100 * statistics.mean(s.rate for s in found):.1f} % would be "
            f"released from then on; alarm at ticket {alarms}; false releases before it "
            f"{[s.false_before for s in found]}; had nobody heard it, broken at {[s.broken for s in found]}, shown at "
            f"{[s.shown for s in found]}"
        )
        late = sum(
            any(at is not None and (s.alarm is None or s.alarm > at) for at in (s.broken, s.shown)) for s in found
        )
        yield Row(f"alarm after the breach, {100 * flip:g} % misread", late, "streams", 0, late == 0, condition=told)


# --------------------------------------------------------------------------------------------- the endpoint


class Verdicts(Loopback):
    """A model that finds every ticket wanting, after a while."""

    def respond(self, method: str, path: str, headers: bytes, body: bytes) -> Response:
        if not path.endswith("/chat/completions"):
            return super().respond(method, path, headers, body)
        self.requests += 1
        message: Json = {"role": "assistant", "content": "Verdict: fail\nReason: Image1: not in order"}
        usage = {"prompt_tokens": 500, "completion_tokens": 12, "total_tokens": 512}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        told = {"id": "x", "object": "chat.completion", "model": "any", "choices": [choice], "usage": usage}
        return Response(200, json.dumps(told).encode())


def model_process(port: Any, latency: float) -> None:
    async def work() -> None:
        server = Verdicts(Behaviour(latency=latency, remember=False))
        await server.start()
        port.put(server.port)
        await asyncio.Event().wait()

    asyncio.run(work())


def decide_process(releases: str, port: Any) -> None:
    async def work() -> None:
        champions = Champions(Path(releases))
        champion = champions.get("bench")
        runner = web.AppRunner(decide_app(DecisionDoor(lambda: champion, Path(releases))), access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, backlog=4096).start()
        port.put(runner.addresses[0][1])
        await asyncio.Event().wait()

    asyncio.run(work())


class Running:
    """A process that listens, and where."""

    def __init__(self, work: Callable[..., None], *given: Any) -> None:
        context = multiprocessing.get_context("spawn")
        told = context.Queue()
        order = (told, *given) if work is model_process else (*given, told)
        self.process = context.Process(target=work, args=order, daemon=True)
        self.process.start()
        self.port: int = told.get(timeout=120)

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        if self.process.pid is not None:
            os.kill(self.process.pid, signal.SIGKILL)
        self.process.join()


Answers = list[tuple[float, int, Json]]
"""Seconds, status and body of each."""


async def asked(
    address: str,
    bodies: Sequence[bytes],
    found: Answers | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Answers:
    """Every answer, asked for `AT_ONCE` at a time; fewer where the server is killed on the way."""
    found, left = [] if found is None else found, iter(bodies)

    async def ask(http: aiohttp.ClientSession, body: bytes) -> None:
        began = clock()
        try:
            async with http.post(address, data=body, headers={"content-type": "application/json"}) as answer:
                told = await answer.json()
                found.append((clock() - began, answer.status, told))
        except aiohttp.ClientError:
            return

    async def client(http: aiohttp.ClientSession, number: int) -> None:
        await asyncio.sleep(number * LATENCY / AT_ONCE)  # clients that begin at one moment stay in step for ever
        for body in left:
            await ask(http, body)

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=AT_ONCE)) as http:
        await asyncio.gather(*(client(http, number) for number in range(AT_ONCE)))
    return found


async def requests_seen(port: int) -> int:
    async with aiohttp.ClientSession() as http, http.get(f"http://127.0.0.1:{port}/_seen") as answer:
        return int((await answer.json())["requests"])


class OwnCore(asyncio.SelectorEventLoop):
    """A loop for which time passes only while it works or while nothing is left to do but wait."""

    def __init__(self) -> None:
        self.skipped = 0.0
        super().__init__(_SkippingSelector(self))

    def time(self) -> float:
        return time.process_time() + self.skipped


class _SkippingSelector(selectors.DefaultSelector):
    def __init__(self, loop: OwnCore) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None:
            return super().select(0.05)  # a thread will wake it
        self._loop.skipped += timeout
        return []


def own_core(quick: bool) -> Iterator[Row]:
    """Client, endpoint and model in one process, by the processor's clock."""
    count = 200 if quick else 1000
    bodies = [line for line, _ in lines(count + AT_ONCE, "test", "none", 2, NOISE)]

    async def work(releases: Path) -> tuple[Answers, Answers, float]:
        clock = asyncio.get_running_loop().time
        async with Verdicts(Behaviour(latency=LATENCY, remember=False)) as model:
            champion = await watched(releases, model.base_url)
            runner = web.AppRunner(decide_app(DecisionDoor(lambda: champion, releases)), access_log=None)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0, backlog=4096).start()
            place = f"http://127.0.0.1:{runner.addresses[0][1]}/decide"
            body = json.dumps({"model": "any", "messages": [{"role": "user", "content": "x" * 3000}]}).encode()
            await asked(place, bodies[:AT_ONCE], clock=clock)
            direct = await asked(f"{model.base_url}/chat/completions", [body] * count, clock=clock)
            began = time.process_time()
            through = await asked(place, bodies[AT_ONCE:], clock=clock)
            spent = time.process_time() - began
            assert len(through) == count
            await runner.cleanup()
        return direct, through, spent

    with tempfile.TemporaryDirectory() as place, asyncio.Runner(loop_factory=OwnCore) as runner:
        direct, through, spent = runner.run(work(Path(place)))
    alone, beside = (1000 * statistics.median(seconds for seconds, _, _ in found) for found in (direct, through))
    added = beside - alone
    told = (
        f"{count} at {AT_ONCE}, a reply takes {LATENCY:g} s; medians {alone:.1f} and {beside:.1f} ms; "
        f"{1000 * spent / count:.1f} ms of processor time a ticket, client and model included"
    )
    yield Row("added latency, median, on a core of its own", added, "ms", 5.0, added < 5.0, condition=told)


def endpoint(quick: bool) -> Iterator[Row]:
    count, load = TURN if quick else 4 * TURN, os.getloadavg()[0]
    bodies = [line for line, _ in lines(count, "test", "none", 2, NOISE)]
    model = Running(model_process, LATENCY)
    base = f"http://127.0.0.1:{model.port}/v1"
    with tempfile.TemporaryDirectory() as place:
        releases = Path(place)
        asyncio.run(watched(releases, base))
        server = Running(decide_process, str(releases))
        address = f"http://127.0.0.1:{server.port}/decide"
        body = json.dumps({"model": "any", "messages": [{"role": "user", "content": "x" * 3000}]}).encode()
        asyncio.run(asked(address, [line for line, _ in lines(AT_ONCE, "train", "none", 2, NOISE)]))
        direct, through, spent, seen = Answers(), Answers(), 0.0, 0
        for first in range(0, count, TURN):  # in turns, so that both meet the same machine
            before, worked = asyncio.run(requests_seen(model.port)), server.cpu_seconds()
            asyncio.run(asked(address, bodies[first : first + TURN], through))
            spent += server.cpu_seconds() - worked
            seen += asyncio.run(requests_seen(model.port)) - before
            asyncio.run(asked(f"{base}/chat/completions", [body] * TURN, direct))
        server.kill()
        added = 1000 * (statistics.median(t for t, _, _ in through) - statistics.median(t for t, _, _ in direct))
        answers = [told for _, status, told in through if status == 200]
        entries = {told["entry"] for told in answers}
        trail = Trail(releases / "trail.sqlite")
        held = len(trail.entries(DECIDED)) - AT_ONCE
        machine = f"{os.cpu_count()} cores, load {load:.1f} before"
        told = f"{count} requests at {AT_ONCE}, a reply takes {LATENCY:g} s; {machine}"
        yield Row("lost", count - len(answers), "requests", 0, len(answers) == count, condition=told)
        twice = held - len(entries) + (seen - count)
        yield Row("decided or asked twice", twice, "requests", 0, twice == 0 and len(entries) == count, condition=told)
        holds = added < 5.0 if load < (os.cpu_count() or 1) / 2 else None  # else it is the other programs' queue
        yield Row("added latency, median, by the wall", added, "ms", 5.0, holds, condition=told)
        yield Row("processor time of the server", 1000 * spent / count, "ms/ticket", condition=told)
        findings = trail.verify()
        yield Row("findings after a kill at rest", len(findings), "lines", 0, not findings)
    with tempfile.TemporaryDirectory() as place:
        yield from killed(Path(place), base, bodies)
    model.kill()


async def watched(releases: Path, base: str) -> Champion:
    """A champion of a model at an address, with a reference that its work is watched against."""
    answering = open_model(RoleSection(model="openai:any"), EndpointSection(base_url=base), GroupQc("", {}))
    champion = promoted(releases, answering, "none", "openai:any", base_url=base)
    await answering.close()
    labelled = [line for line, _ in lines(10 * AT_ONCE, "select", "none", 0, NOISE)]
    await calibrate(champion, labelled, BUDGET, releases)
    return champion


def killed(releases: Path, base: str, bodies: Sequence[bytes]) -> Iterator[Row]:
    """The server is killed with requests under way, started again, and asked for everything once more."""
    answering = open_model(RoleSection(model="openai:any"), EndpointSection(base_url=base), GroupQc("", {}))
    promoted(releases, answering, "none", "openai:any", base_url=base)
    asyncio.run(answering.close())
    server = Running(decide_process, str(releases))

    async def until_killed() -> Answers:
        found: Answers = []
        asking = asyncio.create_task(asked(f"http://127.0.0.1:{server.port}/decide", bodies, found))
        while len(found) < len(bodies) // 3:
            await asyncio.sleep(0.01)
        await asyncio.to_thread(server.kill)
        return await asking

    first = [told for _, status, told in asyncio.run(until_killed()) if status == 200]
    again = Running(decide_process, str(releases))
    second = asyncio.run(asked(f"http://127.0.0.1:{again.port}/decide", bodies))
    again.kill()
    now = {told["ticket"]: told for _, _, told in second}
    forgotten = sum(now[told["ticket"]]["entry"] != told["entry"] for told in first)
    trail = Trail(releases / "trail.sqlite")
    missing = len(bodies) - len({told["ticket"] for told in now.values()})
    told = f"{len(first)} of {len(bodies)} answered when it was killed; then all of them"
    held = len(trail.entries(DECIDED)) == len(bodies) and not trail.verify()
    yield Row(
        "forgotten after a kill", forgotten + missing, "decisions", 0, forgotten + missing == 0 and held, condition=told
    )


# --------------------------------------------------------------------------------------------- the trail


def small_trail(folder: Path, anchor: Anchor | None = None) -> Path:
    with Trail(folder / "trail.sqlite", anchor) as trail:
        for number in range(40):
            record = {"champion": "bench", "verdict": "pass", "site": "s", "number": number}
            with trail.turn() as turn:
                made = turn.append("decided", record, subject=f"t{number}", private={"name": f"QC-{number}"})
                turn.db.execute("INSERT INTO decisions VALUES ('bench', ?, ?, 's')", (made.subject, made.seq))
    return trail.path


def tampering(quick: bool) -> Iterator[Row]:
    chance, tried = random.Random(0), 200 if quick else 2000
    with tempfile.TemporaryDirectory() as place:
        path = small_trail(Path(place))
        files = {file: file.read_bytes() for file in (path, path.with_suffix(".head"))}
        missed = 0
        for _ in range(tried):
            file = chance.choice(list(files))
            body = bytearray(files[file])
            body[chance.randrange(len(body))] ^= chance.randrange(1, 256)
            file.write_bytes(body)
            missed += not Trail(path).verify()
            file.write_bytes(files[file])
        told = f"{tried} changes of one byte, in the trail and in its head, of a closed trail"
        yield Row("changed bytes that are not found", missed, "changes", 0, missed == 0, condition=told)
    found = 0
    for at in range(1, 41):
        with tempfile.TemporaryDirectory() as place:
            anchor = Anchor(str(Path(place) / "elsewhere.txt"))
            path = small_trail(Path(place) / "releases", anchor)
            rewrite(path, at)
            found += bool(Trail(path).verify(anchor)) and not Trail(path).verify()
    told = "each of 40 decisions turned around, everything behind it rehashed, head and digest of the file made anew"
    yield Row("rewritten trails that are not found", 40 - found, "trails", 0, found == 40, condition=told)


def all_rows(quick: bool) -> Iterator[Row]:
    with ProcessPoolExecutor(min(12, os.cpu_count() or 1), multiprocessing.get_context("spawn")) as pool:
        yield from own_core(quick)
        yield from endpoint(quick)
        yield from tampering(quick)
        yield from false_releases(quick, pool)
        yield from streams(quick, pool)
        yield from drift(quick, pool)


if __name__ == "__main__":
    given = arguments(__doc__)
    report(all_rows(given.quick), given.json)
