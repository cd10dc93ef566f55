"""The part of `bench/scale.py` about Ray: what it costs, what two workers bring, and what is left after kills.

CPU time is that of this process and of all that Ray runs here, from the first finished rollouts to the last, so that
starting up (told on its own) is in neither side. Two workers are measured by CPU time as well as by the wall: on a
machine that others use, the wall tells of them. By CPU time a plan takes what its busiest process takes, or half of all
of it where that is more, which is what two free cores would need.
"""

from __future__ import annotations

import os
import random
import signal
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rows import Row

from whet.config.load import load_config
from whet.config.schema import EvalConfig
from whet.ledger.store import Ledger
from whet.rollout.progress import Quiet
from whet.run.evaluate import EvalResult, run_evaluation
from whet.types import Rollout

TICK = os.sysconf("SC_CLK_TCK")
ENV, POLICY = "ordebug/tiny_near", "greedy"

SUMS = """
from whet.envs.base import Environment, ask
from whet.types import Label, Task, failed, solved, user


class Sums(Environment):
    name = "sums"

    def size(self, split):
        return 100_000

    def label(self, split, index):
        return Label("even" if index % 2 == 0 else "odd", "easy")

    def task(self, split, index):
        return Task(split, index, self.label(split, index), (user(f"What is {index} + {index}?"),), str(2 * index))

    def play(self, task):
        reply = yield from ask(task.messages)
        return solved() if reply.text == task.truth else failed("wrong")


def answer(request):
    number = int(request.messages[-1].text.split()[2])
    return str(2 * number + (number % 7 == 0))
"""


def processes() -> dict[int, tuple[int, str, float]]:
    """Every process here: its parent, its title, and the CPU seconds of it and of its children that have ended."""
    found = {}
    for place in Path("/proc").iterdir():
        if not place.name.isdigit():
            continue
        try:
            stat = (place / "stat").read_text().rpartition(") ")[2].split()
            title = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        found[int(place.name)] = (int(stat[1]), title, sum(map(int, stat[11:15])) / TICK)
    return found


def stations(of: int | None = None) -> dict[int, float]:
    """The actors below this process, with their CPU seconds."""
    return {pid: cpu for pid, (title, cpu) in below(of).items() if "RayStation" in title}


def below(of: int | None = None) -> dict[int, tuple[str, float]]:
    """All processes that this one has begotten, itself included."""
    every = processes()
    family = {of or os.getpid()}
    while grown := {pid for pid, (parent, *_) in every.items() if parent in family and pid not in family}:
        family |= grown
    return {pid: every[pid][1:] for pid in family if pid in every}


Look = tuple[float, dict[int, tuple[str, float]]]
"""A moment, and the processes below this one then."""


@dataclass
class Watch(Quiet):
    """Looks at the clocks when the first rollouts are in, and at the end."""

    warm: int
    count: int = 0
    first: Look = (0.0, {})
    last: Look = (0.0, {})

    def finished(self, rollout: Rollout) -> None:
        self.count += 1
        if self.count == self.warm:
            self.first = time.monotonic(), below()

    def ended(self) -> None:
        self.last = time.monotonic(), below()

    @property
    def wall(self) -> float:
        return (self.last[0] - self.first[0]) / (self.count - self.warm)

    def cpu(self, *, own: bool) -> dict[int, float]:
        """CPU seconds for a rollout, by process: of this one and the actors, or of those that Ray runs beside them."""
        before = {pid: cpu for pid, (_, cpu) in self.first[1].items()}
        return {
            pid: (cpu - before.get(pid, 0.0)) / (self.count - self.warm)
            for pid, (title, cpu) in self.last[1].items()
            if (pid == os.getpid() or "RayStation" in title) == own
        }

    @property
    def beside(self) -> float:
        """What Ray's own processes take for each second that passes, whatever is played."""
        return sum(self.cpu(own=False).values()) / self.wall

    @property
    def ideal(self) -> float:
        """Seconds for a rollout on two cores that nobody else uses: those of the busiest, or half of all."""
        own = self.cpu(own=True).values()
        return max(*own, sum(own) / (2 - self.beside)) if self.beside < 1 else max(own)

    @property
    def cost(self) -> float:
        """CPU seconds for a rollout, with those of Ray's own processes while it takes as long as it needs."""
        return self.alone + self.beside * self.ideal

    @property
    def alone(self) -> float:
        """CPU seconds for a rollout without those of Ray's own processes, where it is not used."""
        return sum(self.cpu(own=True).values())

    @property
    def as_run(self) -> float:
        """The same with Ray's own processes as long as it took here, waiting for others included."""
        return self.alone + sum(self.cpu(own=False).values())


def evaluate(runs: Path, name: str, base: dict[str, Any], watch: Any, **control: Any) -> EvalResult:
    told = {**base, "control": control}
    return run_evaluation(load_config(EvalConfig, None, told, []), runs=runs, name=name, progress=watch)


def ray_control(workers: int, **more: Any) -> dict[str, Any]:
    return {"engine": "ray", "ray": {"workers": workers, **more}}


def rows(quick: bool, only: str | None = None) -> Iterator[Row]:
    import ray

    began, before = time.monotonic(), sum(cpu for _, cpu in below().values())
    for _ in range(5):  # it gives up after 30 s, which is too soon where others are at work
        try:
            ray.init(address="local", num_cpus=4, include_dashboard=False, log_to_driver=False, logging_level=40)
            break
        except Exception as error:  # noqa: BLE001 - a bare one
            print(f"Ray did not start ({error}); once more")
            ray.shutdown()
    cpu = sum(cpu for _, cpu in below().values()) - before
    told = f"CPU seconds until Ray is there, once a run; {time.monotonic() - began:.0f} s by the wall"
    yield Row("ray_start", cpu, "s", condition=told)
    with tempfile.TemporaryDirectory() as folder:
        if only in (None, "cost", "overhead"):
            yield from cost(Path(folder), 80 if quick else 150, 1 if quick else 4, two=only != "overhead")
        if only in (None, "smallest"):
            yield from smallest(Path(folder), 2000 if quick else 10_000)
        if only in (None, "kills"):
            yield from kills(Path(folder), 1000 if quick else 10_000, 250 if quick else 500)
    ray.shutdown()


# --------------------------------------------------------------------------------------------- what it costs


def cost(folder: Path, n: int, rounds: int, *, two: bool) -> Iterator[Row]:
    """One worker against the local engine, and two against one, in turns."""
    base = {"env": {"name": ENV}, "target": {"model": f"baseline:{POLICY}"}, "eval": {"n": n, "floor": False}}
    controls: dict[str, dict[str, Any]] = {"local": {}, "one": ray_control(1)}
    if two:
        controls["two"] = ray_control(2)
    seen: dict[str, list[Watch]] = {name: [] for name in controls}
    said = {}
    evaluate(folder, "first", base, Quiet(), concurrency=8)  # problems are made once, and then read from their cache
    for turn in range(rounds):
        for name, control in controls.items():
            watch = Watch(warm=20)
            result = evaluate(folder, f"{name}-{turn}", base, watch, concurrency=8, **control)
            seen[name].append(watch)
            said[name] = (result.folder / "results.json").read_bytes()
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; {n} plays of {ENV} by {POLICY}, {rounds} rounds"
    yield from overhead(seen["local"], seen["one"], load)
    if two:
        yield from gain(seen["one"], seen["two"], load)
    same = len(set(said.values())) == 1
    yield Row("ray_same_results", float(same), "identical", 1.0, same, condition=f"results.json of {', '.join(said)}")


def overhead(local: list[Watch], one: list[Watch], load: str) -> Iterator[Row]:
    """Of both the best round: what else runs here only ever adds. The local engine needs none of Ray's processes."""
    alone, spread = min(watch.alone for watch in local), min(watch.cost for watch in one)
    pairs = statistics.median(after.cost / before.alone - 1 for before, after in zip(local, one, strict=True))
    driver = min(watch.cpu(own=True)[os.getpid()] for watch in one)
    beside = min(watch.beside for watch in one)
    told = f"CPU {spread * 1e3:.1f} ms a rollout, {driver * 1e3:.2f} of it the driver's, against {alone * 1e3:.1f} ms"
    told += f" of the local engine; Ray's own processes ({beside * 100:.1f} % of a core) for as long as the work needs;"
    told += f" median of the rounds {pairs:.3f}; {load}"
    over = spread / alone - 1
    yield Row("ray_overhead_one_worker", over, "share", 0.15, over <= 0.15, condition=told)
    slow = min(watch.as_run for watch in one) / alone - 1
    yield Row("ray_overhead_as_run", slow, "share", condition="Ray's own processes for as long as it took here")


def gain(one: list[Watch], two: list[Watch], load: str) -> Iterator[Row]:
    ideal = [min(watch.ideal for watch in watches) for watches in (one, two)]
    of_best = min(two, key=lambda watch: watch.ideal).cpu(own=True)
    shares = " and ".join(f"{cpu * 1e3:.1f}" for pid, cpu in of_best.items() if pid != os.getpid())
    told = (
        f"by CPU time, as two free cores would need; actors {shares} ms, all {sum(of_best.values()) * 1e3:.1f}; {load}"
    )
    more = ideal[0] / ideal[1]
    yield Row("ray_two_workers", more, "x one worker", 1.6, more >= 1.6, condition=told)
    wall = min(watch.wall for watch in one) / min(watch.wall for watch in two)
    yield Row("ray_two_workers_wall", wall, "x one worker", condition=f"by the wall; {load}")


def smallest(folder: Path, n: int) -> Iterator[Row]:
    """Plays that cost next to nothing: what is left is what a rollout costs by itself, and who is busy with it."""
    base = sums(folder, n)
    local, spread = Watch(warm=n // 10), Watch(warm=n // 10)
    evaluate(folder, "small-local", base, local, concurrency=64)
    evaluate(folder, "small-ray", base, spread, concurrency=64, **ray_control(2))
    own = spread.cpu(own=True)
    driver = own[os.getpid()]
    alone, all_of_it = local.alone, sum(own.values())
    told = f"{n} plays of one line, driver and actors; the local engine {alone * 1e3:.2f} ms"
    yield Row("ray_smallest_play", all_of_it * 1e3, "ms CPU", condition=told)
    told = f"rollouts for each CPU second of the driver, which alone writes: {driver * 1e3:.2f} ms each"
    yield Row("ray_one_writer", 1 / driver, "rollouts/s", condition=told)


# --------------------------------------------------------------------------------------------- kills


@dataclass
class Killer(Quiet):
    """Ends an actor every so many rollouts, and stops one for good, which is a hang."""

    every: int
    hang_at: int
    count: int = 0
    killed: int = 0
    hung: int = 0

    def finished(self, rollout: Rollout) -> None:
        self.count += 1
        if self.count >= self.hang_at and not self.hung:  # as soon as there is an actor: they may all be on their way
            self.hung += self.strike(signal.SIGSTOP)
        elif self.count % self.every == 0:
            self.killed += self.strike(signal.SIGKILL)

    def strike(self, how: signal.Signals) -> int:
        alive = sorted(stations())
        if alive:
            os.kill(random.Random(self.count).choice(alive), how)
        return len(alive[:1])


def sums(folder: Path, n: int) -> dict[str, Any]:
    code = folder / "sums.py"
    code.write_text(SUMS)
    env = {"name": f"{code}:Sums"}
    return {"env": env, "target": {"model": f"scripted:{code}:answer"}, "eval": {"n": n, "floor": False}}


def kills(folder: Path, n: int, every: int) -> Iterator[Row]:
    base = sums(folder, n)
    local = evaluate(folder, "kills-local", base, Quiet(), concurrency=32)
    killer = Killer(every, hang_at=n // 2 + 7)
    began = time.monotonic()
    spread = evaluate(folder, "kills-ray", base, killer, concurrency=32, **ray_control(2, silence=10.0))
    wall = time.monotonic() - began
    with Ledger.read(spread.folder) as ledger:
        keys = [outcome.key for outcome in ledger.outcomes()]
        faults = ledger.counts()["faults"]
    once = len(keys) == len(set(keys)) == n and not faults and bool(killer.hung and killer.killed)
    files = [(result.folder / "results.json").read_bytes() for result in (local, spread)]
    told = f"of {n}; {killer.killed} actors killed, {killer.hung} stopped for good; {faults} faults; {wall:.0f} s"
    yield Row("ray_kills_each_once", len(set(keys)), "rollouts", n, once, condition=told)
    yield Row("ray_kills_same_results", float(files[0] == files[1]), "identical", 1.0, files[0] == files[1])
