"""Jobs on a machine that is there for a while: each begins when those before it have ended and it will still fit.

python bench/sitting.py JOBS.toml... --seconds 1600 [--seeds 0 1] [--only 'sft_*' ...] [--at-once 2] [--gib 130]
                        [--share] [--logs DIR] [--dry-run]

    [env]
    RL_SLOTS = "640"                               # for all jobs, where the environment does not say otherwise

    [[job]]
    name = "sft_{seed}"                            # its output goes to LOGS/sft_0.txt; one job for each of --seeds
    run = "python bench/rl.py arm sft --seed {seed} --work W"
    takes = 240                                    # seconds: what will not end in time is not begun
    after = []                                     # names; a job after one that failed is not begun
    beside = false                                 # true: does not count among those at once (no GPU, say)
    gib = 30                                       # of the GPU at its peak; --gib says how much may be promised
    again = 1                                      # times that it is begun once more where it failed and time is left

What the list says to jobs by the environment may name other variables; what the environment says already counts before
it. A variable in capitals that is named and set nowhere ends the sitting before it begins. Jobs begin in the order in
which they stand, list by list and in a list seed by seed, as soon as they can. What runs when the time is over, or when
this is interrupted, is ended with all that it began. A table says at the end what became of each; the exit status is
the number of those that failed, or 130 after an interrupt. `--share` starts CUDA's MPS, under which small models share
a GPU by parts and not by turns, and has torch give back memory that it does not use; it is stopped again at the end.
Do not kill one of several jobs that share: under MPS a neighbour has failed with a process that was killed.
`--dry-run` says what would begin when, and what would not, if each job takes what it says; it begins nothing, and ends
with the number of those that would not be done. The machine that is there for a while is the wrong place to find out.
`--only` works off the jobs whose names fit a pattern, those of the first pattern first; what the others would have made
is taken to be there.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

SEED = "{seed}"


@dataclass(slots=True)
class Job:
    name: str
    run: str
    takes: float
    after: Sequence[str] = ()
    beside: bool = False
    gib: float = 0.0
    again: int = 0
    process: subprocess.Popen[bytes] | None = None
    begun: bool = False
    began: float = 0.0
    ended: float = 0.0
    became: str = ""
    """Empty until it is known."""


@dataclass(slots=True)
class Sitting:
    """`seconds` from its making. `look` is called again and again until it says that nothing is left to do."""

    jobs: list[Job]
    seconds: float
    logs: Path
    at_once: int = 1
    gib: float = math.inf
    start: float = field(default_factory=time.monotonic)

    @property
    def now(self) -> float:
        return time.monotonic() - self.start

    def look(self) -> bool:
        """Take note of what has ended, begin what can; False when all is known."""
        for job in self.jobs:
            if job.process is not None and not job.became and job.process.poll() is not None:
                self._finished(job, job.process.returncode)
            elif job.process is not None and not job.became and self.now >= self.seconds:
                self._end(job, "cut off")
        known = {job.name: job.became for job in self.jobs}
        for job in self.jobs:
            if job.process is None and not job.became:
                self._consider(job, known)
        return any(not job.became for job in self.jobs)

    def end(self) -> None:
        """End what runs, and begin nothing more."""
        for job in self.jobs:
            if job.process is None and not job.became:
                self._close(job, "not begun: interrupted")
            elif job.process is not None and not job.became:
                self._end(job, "interrupted")

    def _finished(self, job: Job, status: int) -> None:
        """Once more where it failed and the list says so: it takes what is left of its time, and goes on by itself."""
        if status == 0 or not job.again:
            self._close(job, "done" if status == 0 else f"failed ({status})")
            return
        self._say(job, f"failed ({status}), and is begun again")
        job.again, job.process = job.again - 1, None
        job.takes = max(0.0, job.takes - (self.now - job.began))

    def _end(self, job: Job, became: str) -> None:
        assert job.process is not None
        with suppress(ProcessLookupError):
            os.killpg(job.process.pid, signal.SIGKILL)
        job.process.wait()
        self._close(job, became)

    def _consider(self, job: Job, known: dict[str, str]) -> None:
        if any(known[name] not in ("", "done") for name in job.after):
            self._close(job, "not begun: what it comes after did not end well")
        elif self.now + job.takes > self.seconds:
            self._close(job, f"not begun: {self.seconds - self.now:.0f} s were left")
        elif all(known[name] == "done" for name in job.after) and self._has_room(job):
            job.began = self.now
            self._begin(job)
            job.begun = True
            self._say(job, "began")

    def _begin(self, job: Job) -> None:
        with (self.logs / f"{job.name}.txt").open("ab" if job.begun else "wb") as log:
            job.process = subprocess.Popen(
                ["bash", "-c", job.run], stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )

    def _has_room(self, job: Job) -> bool:
        running = [other for other in self.jobs if other.process is not None and not other.became]
        if sum(other.gib for other in running) + job.gib > self.gib:
            return False
        return job.beside or sum(not other.beside for other in running) < self.at_once

    def _close(self, job: Job, became: str) -> None:
        job.became, job.ended = became, self.now
        self._say(job, became)

    def _say(self, job: Job, what: str) -> None:
        print(f"{self.now:6.0f} s  {job.name}: {what}", flush=True)


class Plan(Sitting):
    """A sitting that begins nothing: each job takes what it says, by a clock that leaps from end to end."""

    clock: float = 0.0

    @property
    def now(self) -> float:
        return self.clock

    def run(self) -> None:
        while self.look():
            ends = [job.began + job.takes for job in self.jobs if job.process is not None and not job.became]
            self.clock = min([*ends, self.seconds])

    def _begin(self, job: Job) -> None:
        job.process = PlannedProcess(self, job.began + job.takes)  # type: ignore[assignment]

    def _say(self, job: Job, what: str) -> None:
        if what == "began":
            room = f", {job.gib:g} GiB" if job.gib else ""
            run = NAMED.sub(lambda at: os.environ.get(at[1] or at[2], at[0]), job.run)
            print(f"{self.now:6.0f} s  {job.name}: {job.takes:.0f} s{room}\n          {run}")
        elif what != "done":
            print(f"{self.now:6.0f} s  {job.name}: {what}")


@dataclass(frozen=True, slots=True)
class PlannedProcess:
    """Ends well when its time is over."""

    plan: Plan
    ends: float
    returncode = 0

    def poll(self) -> int | None:
        return 0 if self.plan.now >= self.ends else None


MPS = "nvidia-cuda-mps-control"
SHARED = {
    "CUDA_MPS_PIPE_DIRECTORY": "/tmp/whet-mps",
    "CUDA_MPS_LOG_DIRECTORY": "/tmp/whet-mps-log",
    "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True",
}


@contextmanager
def sharing(wanted: bool) -> Iterator[dict[str, str]]:
    """Meanwhile the daemon runs under which processes share a GPU; what they must be told. One that ran stays."""
    if not wanted:
        yield {}
        return
    began = share_gpu()
    try:
        yield SHARED
    finally:
        if began:
            subprocess.run(
                [MPS], input="quit\n", env=os.environ | SHARED, stdout=subprocess.DEVNULL, text=True, check=False
            )


def share_gpu() -> bool:
    """Start the daemon; False where it runs already."""
    for folder in (SHARED["CUDA_MPS_PIPE_DIRECTORY"], SHARED["CUDA_MPS_LOG_DIRECTORY"]):
        Path(folder).mkdir(exist_ok=True)
    try:
        made = subprocess.run([MPS, "-d"], env=os.environ | SHARED, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise SystemExit(f"--share: there is no {MPS} here; leave it out") from None
    if made.returncode and "already running" not in made.stdout + made.stderr:
        raise SystemExit(f"--share: {MPS} ended with {made.returncode}: {made.stderr.strip()}")
    return made.returncode == 0


def read_jobs(paths: Sequence[Path], seeds: Sequence[int] = (0, 1, 2)) -> tuple[list[Job], dict[str, str]]:
    """The jobs of several lists, and what all of them are told by the environment."""
    jobs: list[Job] = []
    told: dict[str, str] = {}
    for path in paths:
        try:
            found = tomllib.loads(path.read_text(encoding="utf-8"))
            jobs += [Job(**given) for given in _for_seeds(found["job"], seeds)]
            own = {name: str(value) for name, value in found.get("env", {}).items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
            raise SystemExit(f"{path} is no list of jobs: {problem}") from None
        for name in own.keys() & told.keys():
            if own[name] != told[name]:
                raise SystemExit(f"{path}: {name} is {own[name]} here and {told[name]} in a list before")
        told |= own
    listed = " ".join(map(str, paths))
    names = [job.name for job in jobs]
    unknown = {name for job in jobs for name in job.after} - set(names)
    if unknown or len(set(names)) < len(names):
        raise SystemExit(f"{listed}: names must differ, and there is no job {', '.join(sorted(unknown)) or 'twice'}")
    return jobs, told


NAMED = re.compile(r"\$(?:([A-Z_][A-Z0-9_]*)\b|\{([A-Z_][A-Z0-9_]*)\})")
"""A variable as a shell spells it."""


def settled(jobs: Sequence[Job], told: Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
    """What a list tells its jobs, with the variables that it names put in: a shell does not look into those for more.

    What is `known` counts before what the list says. All that is named must be there, or a job would run without it.
    """
    whole = dict(told) | dict(known)
    asked = {name for text in (*told.values(), *(job.run for job in jobs)) for name in named(text)}
    if missing := sorted(asked - whole.keys()):
        raise SystemExit(f"set {', '.join(missing)} first, to nothing where nothing is meant: jobs are told by them")

    def put_in(at: re.Match[str]) -> str:
        return whole[at[1] or at[2]]

    for _ in told:  # at most as many deep as there are
        whole |= {name: NAMED.sub(put_in, whole[name]) for name in told}
    return {name: whole[name] for name in told}


def named(text: str) -> set[str]:
    """The variables that a text names."""
    return {plain or braced for plain, braced in NAMED.findall(text)}


def chosen(jobs: Sequence[Job], patterns: Sequence[str]) -> list[Job]:
    """Those whose names fit, pattern by pattern, without their bonds to the others; all where no pattern is given."""
    if not patterns:
        return list(jobs)
    fit = {pattern: [job for job in jobs if fnmatchcase(job.name, pattern)] for pattern in patterns}
    if idle := [pattern for pattern, found in fit.items() if not found]:
        raise SystemExit(f"--only {idle[0]}: no job is called so; there are {', '.join(job.name for job in jobs)}")
    left = {job.name: job for found in fit.values() for job in found}
    return [replace(job, after=[name for name in job.after if name in left]) for job in left.values()]


def _for_seeds(listed: Sequence[Mapping[str, Any]], seeds: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Jobs whose name has a seed in it, once for each; others once, in their place among those of the first.

    What these come after is that of every seed.
    """
    for at, seed in enumerate(seeds):
        for given in listed:
            if SEED in given.get("name", ""):
                yield {key: _under(seed, value) for key, value in given.items()}
            elif at == 0:
                after = [name.replace(SEED, str(each)) for name in given.get("after", ()) for each in seeds]
                yield dict(given) | {"after": list(dict.fromkeys(after))}


def _under(seed: int, value: Any) -> Any:
    if isinstance(value, list):
        return [_under(seed, each) for each in value]
    return value.replace(SEED, str(seed)) if isinstance(value, str) else value


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobs", type=Path, nargs="+")
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], help="of jobs that stand for several")
    parser.add_argument("--only", nargs="+", default=[], metavar="PATTERN", help="these jobs alone, such as 'sft_*'")
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--gib", type=float, default=math.inf, help="of the GPU's memory, for all jobs that say theirs")
    parser.add_argument("--share", action="store_true", help="start CUDA's MPS for the jobs")
    parser.add_argument("--logs", type=Path, default=Path("logs"))
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and begin nothing")
    given = parser.parse_args()
    jobs, told = read_jobs(given.jobs, given.seeds)
    jobs = chosen(jobs, given.only)
    larger = [job.name for job in jobs if job.gib > given.gib]
    if larger:
        parser.error(f"--gib {given.gib:g}: {larger[0]} alone takes more")
    os.environ.update(settled(jobs, told, os.environ))
    if given.dry_run:
        plan = Plan(jobs, given.seconds, given.logs, given.at_once, given.gib)
        plan.run()
        return sum(job.became != "done" for job in jobs)
    given.logs.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with sharing(given.share) as shared:
        os.environ.update(shared)
        sitting = Sitting(jobs, given.seconds, given.logs, given.at_once, given.gib)
        interrupted = not _worked(sitting)
    for job in sitting.jobs:
        print(f"{job.name:24} {job.ended - job.began if job.process else 0:6.0f} s  {job.became}")
    return 130 if interrupted else sum(job.became.startswith("failed") for job in sitting.jobs)


def _worked(sitting: Sitting) -> bool:
    """Work all jobs off; False where that was interrupted."""
    try:
        while sitting.look():
            time.sleep(0.5)
    except KeyboardInterrupt:
        return False
    finally:
        sitting.end()
    return True


if __name__ == "__main__":
    sys.exit(main())
