"""The host's share of a round of plays: 512 attempts at `ordebug` side by side, by a model that takes no time.

python bench/host.py [--quick] [--json FILE] [--before FOLDER] [--profile]

All is as in training beside a GPU: rows, pages, strides, templates, tokens, plays, works in a process, groups and their
rows of tokens. Only what a GPU would compute is not: a pass hands out the tokens of worked attempts, with replies among
them that say nothing, and works were done before and are looked up. What the stand-ins take is not counted.

Seconds are those of a processor, of the thread that drives and of the thread that has works done. `--before` names
another checkout, which is measured in the same run, in turns: what is drawn, scored and kept must be the same. The
first round of each process warms up. It needs the extra `train` and the weights that `hf:smollm2` unpacks, for the
tokenizer.
"""

from __future__ import annotations

import argparse
import cProfile
import hashlib
import io
import json
import os
import pickle
import pstats
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import host_works
import numpy as np
import torch
import transformers
from rows import Row, report

from whet.envs.ordebug.demonstrations import demonstration
from whet.envs.ordebug.environment import OrDebug
from whet.envs.ordebug.family import FAMILY
from whet.envs.ordebug.protocol import say
from whet.keys import canonical
from whet.models.base import Request
from whet.models.hf.address import read_address
from whet.rollout.conversation import AttemptLimits
from whet.rollout.workbench import Workbench
from whet.rollout.works import Works, call_function
from whet.types import Policy, Sampling, Work, WorkResult

GROUPS, DRAWS, VARIANTS, TURNS = 64, 8, 4, 10
NEW, TOKENS, CONTEXT = 384, 800, 3072
BABBLE = 0.15
"""Share of the replies that say no action."""
PASS = 0.002
"""Seconds for which the host waits for a pass where works go on meanwhile."""


# ---------------------------------------------------------------------------------------------- what is said


class Script:
    """What the model says: for each turn of an attempt the reply of a worked attempt, or words without an action."""

    def __init__(self, env: OrDebug, tokenizer: Any, tasks: Sequence[int]) -> None:
        end = tokenizer.eos_token_id
        self.texts: dict[str, list[list[str]]] = {}
        """By the text of a task: for each worked attempt its replies."""
        for task in tasks:
            instance, opening = env.instance("train", task), env.task("train", task).messages[0].text
            shown = [demonstration(instance, env.settings, seed) for seed in range(VARIANTS)]
            self.texts[opening] = [[say(step.action, "text", step.thought).text for step in steps] for steps in shown]
        chance, words = random.Random(0), " ".join(next(iter(self.texts))).split()
        self.babble = [" ".join(chance.choices(words, k=chance.randint(20, 150))) for _ in range(32)]
        said = {text for attempts in self.texts.values() for texts in attempts for text in texts} | set(self.babble)
        self.lines = {text: at for at, text in enumerate(sorted(said))}
        self.book = np.full((len(said), NEW), end, dtype=np.int32)
        for text, at in self.lines.items():
            ids = tokenizer(text, add_special_tokens=False)["input_ids"][:NEW]
            self.book[at, : len(ids)] = ids

    def reply(self, opening: str, key: str, turn: int) -> str:
        chance = random.Random(f"{key} {turn}")
        if chance.random() < BABBLE:
            return chance.choice(self.babble)
        steps = self.texts[opening][int(key[:8], 16) % VARIANTS]
        return steps[min(turn, len(steps) - 1)]


@dataclass(slots=True)
class StandIn:
    """In the place of a GPU: which row says what, and what the stand-ins have taken."""

    script: Script
    lines: dict[int, int] = field(default_factory=dict)
    """By the seed of a row the line of the book that it says."""
    waits: bool = False
    seconds: float = 0.0
    passes: int = 0
    drawn: int = 0

    def expect(self, request: Request) -> None:
        began = time.thread_time()
        turn = sum(message.author == "assistant" for message in request.messages)
        text = self.script.reply(request.messages[0].text, request.attempt, turn)
        self.lines[request.sampling.seed or 0] = self.script.lines[text]
        self.seconds += time.thread_time() - began

    def start(self, graph: Any) -> None:
        """A pass: every row draws the token of its line at its step."""
        began = time.thread_time()
        seeds, steps = graph._seeds.numpy().view(np.uint64), graph._steps.numpy()
        lines = [self.lines.get(seed, 0) for seed in seeds.tolist()]
        drawn = self.script.book[lines, np.minimum(steps, NEW - 1)]
        graph.tokens = torch.from_numpy(drawn)
        graph.logprobs = torch.from_numpy(-((drawn % 97) / 64.0).astype(np.float32))
        graph.logits = torch.zeros(len(steps), 1)
        if graph.single:
            graph._steps.add_(1)
        self.drawn += len(steps)
        self.seconds += time.thread_time() - began
        if self.waits:
            time.sleep(PASS)


def stand_in(decoder: Any, own: StandIn) -> None:
    """Have a decoder on this processor go the way that it goes beside a GPU."""
    try:
        import triton  # noqa: F401
    except ImportError:
        kernels = ModuleType("kernels")
        kernels.tile = lambda heads, held, *, narrow: max(1, (16 if narrow else 64) // (heads // held))  # type: ignore[attr-defined]
        kernels.draw = None  # type: ignore[attr-defined]
        sys.modules.setdefault("whet.models.hf.kernels", kernels)
    from whet.models.hf import graphs
    from whet.models.hf.norms import FusedNorms

    class Graph(graphs.StepGraph):
        def __init__(self, *given: Any, **named: Any) -> None:
            zeros = torch.zeros
            torch.zeros = lambda *shape, pin_memory=False, **more: zeros(*shape, **more)
            try:
                super().__init__(*given, **named)
            finally:
                torch.zeros = zeros

        def record(self, memory: Any) -> None:
            """Whatever would be recorded here is not computed."""

        def start(self) -> None:
            own.start(self)

    class Graphs(graphs.StepGraphs):
        def run(self, *given: Any) -> Any:
            own.passes += 1
            return super().run(*given)

    graphs.StepGraph = Graph  # type: ignore[misc]
    decoder._fast, decoder._norms = True, FusedNorms(decoder._model)
    slots, heads = decoder._limits.slots, decoder._layout.heads
    decoder._graphs = Graphs(decoder._model, decoder._memory(), heads, slots, decoder._width, record=False)
    decoder._graphs._record = True


# ---------------------------------------------------------------------------------------------- what is done


class RecallingBench(Workbench):
    """Works that were done before: handed to a process as in training, or answered at once, and done where new."""

    def __init__(self, file: Path, processes: int) -> None:
        super().__init__(Works(processes=processes))
        self._file, self._processes, self.seconds = file, processes, 0.0
        self._known: dict[str, Any] = pickle.loads(file.read_bytes()) if file.exists() else {}

    def start(self, job: Work) -> Future[WorkResult]:
        if self._processes:
            return super().start(self._instead(job))
        began = time.thread_time()
        asked = {name: job.payload[name] for name in ("function", "arguments")}
        mark = host_works.mark(**asked)
        if mark not in self._known:
            self._known[mark] = call_function(**asked).value
        done: Future[WorkResult] = Future()
        done.set_result(WorkResult(self._known[mark]))
        self.seconds += time.thread_time() - began
        return done

    def _instead(self, job: Work) -> Work:
        began = time.thread_time()
        arguments = {"file": str(self._file), **{name: job.payload[name] for name in ("function", "arguments")}}
        payload = {**job.payload, "function": "host_works:recall", "arguments": arguments}
        self.seconds += time.thread_time() - began
        return replace(job, payload=payload)

    def start_all(self, jobs: Sequence[Work]) -> list[Future[WorkResult]]:
        return super().start_all([self._instead(job) for job in jobs]) if self._processes else [*map(self.start, jobs)]

    def keep(self) -> None:
        self._file.write_bytes(pickle.dumps(self._known))

    def thread_seconds(self) -> float:
        """Of a processor, that the thread of works has taken so far."""

        async def spent() -> float:
            return time.thread_time()

        return self.submit(spent()).result()


# ---------------------------------------------------------------------------------------------- one round


@dataclass(slots=True)
class Round:
    """What one round took, in seconds of a processor, and what came of it."""

    driver: float
    works: float
    passes: int
    drawn: int
    came: str
    """A digest of all rollouts and rows of tokens."""


class Rounds:
    """Rounds of plays in this process."""

    def __init__(self) -> None:
        from whet.learn.weights.base import Base
        from whet.learn.weights.config import TuneSection
        from whet.learn.weights.live import LiveGenerator
        from whet.learn.weights.trainable import set_trainable
        from whet.models.hf.chat_form import ChatForm

        torch.set_num_threads(1)
        made = FAMILY.build("", "", {"spec": "table", "subtlety": "near", "up_to": "small", "max_steps": TURNS})
        assert isinstance(made, OrDebug)
        self.env, self.tasks = made, range(GROUPS)
        self.env.fingerprint = "host"  # attempts draw by it, in any checkout the same
        folder = replace(read_address("smollm2"), context=CONTEXT)
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder.path)
        self.tokenizer.clean_up_tokenization_spaces = False
        shape = transformers.AutoConfig.from_pretrained(folder.path)
        shape.hidden_size, shape.intermediate_size, shape.head_dim = 18, 24, 2
        module, _ = set_trainable(
            transformers.LlamaForCausalLM(shape).to(torch.bfloat16), TuneSection(blocks="all", rank=16, alpha=32), None
        )
        base = Base(folder, module, self.tokenizer, "cpu")
        self.own = own = StandIn(Script(self.env, self.tokenizer, self.tasks))

        class Told(LiveGenerator):
            def submit(self, request: Request) -> int:
                own.expect(request)
                return super().submit(request)

        self.live = Told(base, ChatForm("host", ""), 1.0, GROUPS * DRAWS)
        with self.live.at(""):
            stand_in(self.live._inner.decoder, own)

    def play(self, bench: RecallingBench, profile: cProfile.Profile | None = None) -> Round:
        from whet.learn.weights.groups import fill
        from whet.learn.weights.grpo import token_rows
        from whet.learn.weights.plays import PlayStage, play_groups

        own = self.own
        policy = Policy("host", Sampling(max_tokens=NEW, temperature=1.0, top_p=1.0))
        limits = AttemptLimits(tokens=TOKENS)
        stage = PlayStage(self.env, policy, limits, lambda score: score.parts.get("repaired", 0.0), bench)
        own.seconds, own.passes, own.drawn, bench.seconds = 0.0, 0, 0, 0.0
        for kept in ("_tokenised", "_written"):  # in training, the tasks of a round are others than before
            if hasattr(self.live._inner._renderer, kept):
                getattr(self.live._inner._renderer, kept).cache_clear()
        version = "s0000/0"
        works, began = bench.thread_seconds(), time.thread_time()
        if profile is not None:
            profile.enable()
        with self.live.at(version) as generator:
            batch = fill(
                GROUPS,
                iter(self.tasks),
                lambda tasks: play_groups(stage, tasks, DRAWS, f"train/{version}", 0, version, generator),
                dynamic=True,
                rounds=1,
            )
        told = token_rows(batch)
        if profile is not None:
            profile.disable()
        driver, works = time.thread_time() - began - own.seconds - bench.seconds, bench.thread_seconds() - works
        rollouts = [attempt.rollout for group in batch.attempted for attempt in group.attempts]
        came = hashlib.blake2b(canonical(rollouts) + canonical(told), digest_size=16).hexdigest()
        return Round(driver, works, own.passes, own.drawn, came)


# ---------------------------------------------------------------------------------------------- what is told


def once(file: Path, rounds: int, profiled: bool) -> dict[str, Any]:
    """In this process: rounds with works at hand, and as many with works in a process."""
    made = Rounds()
    told: dict[str, Any] = {}
    with closing(made.live):
        for name, processes in (("at hand", 0), ("process", 1)):
            made.own.waits = bool(processes)
            with RecallingBench(file, processes) as bench:
                made.play(bench)
                if not processes:
                    bench.keep()
                told[name] = [asdict(made.play(bench)) for _ in range(rounds)]
                if profiled:
                    profile, text = cProfile.Profile(), io.StringIO()
                    made.play(bench, profile)
                    pstats.Stats(profile, stream=text).sort_stats("tottime").print_stats(30)
                    told[f"profile, works {name}"] = text.getvalue()
    return told


def apart(tree: Path, file: Path, rounds: int, profiled: bool) -> dict[str, Any]:
    """The same by the code of a checkout, in a process of its own."""
    command = [sys.executable, __file__, "--once", str(file), "--rounds", str(rounds)]
    here = os.pathsep.join((str(tree), str(Path(__file__).parent)))
    ran = subprocess.run(
        [*command, *(["--profile"] if profiled else [])],
        env={**os.environ, "PYTHONPATH": here},
        stdout=subprocess.PIPE,
        check=True,
    )
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found


def measured(given: argparse.Namespace) -> Iterator[Row]:
    here = Path(__file__).parents[1]
    trees = {"now": here} | ({"before": given.before.resolve()} if given.before else {})
    taken: dict[tuple[str, str], list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory() as place:
        for _ in range(1 if given.quick else 3):
            for tree, folder in trees.items():
                told = apart(folder, Path(place) / "works.pickle", given.rounds, given.profile)
                for way in ("at hand", "process"):
                    taken.setdefault((tree, way), []).extend(told[way])
                if given.profile:
                    print(*(f"{tree}: {name}\n{text}" for name, text in told.items() if "profile" in name))
    for name, way, part in (
        ("host_driver", "at hand", "driver"),
        ("host_driver_beside_works", "process", "driver"),
        ("host_works", "process", "works"),
    ):
        middle = {tree: statistics.median(one[part] for one in taken[tree, way]) for tree in trees}
        first = taken["now", way][0]
        condition = f"{GROUPS * DRAWS} plays, {first['passes']} passes, works {way}"
        before = middle.get("before")
        ratio = None if before is None else before / middle["now"]
        peer = None if before is None else "before"
        yield Row(name, middle["now"], "own s/round", peer=peer, peer_value=before, ratio=ratio, condition=condition)
    came = {one["came"] for tree in trees for one in taken[tree, "at hand"]}
    yield Row("host_rounds_alike", float(len(came) == 1), "", 1.0, len(came) == 1, condition="tokens, scores, records")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="each checkout in one process")
    parser.add_argument("--json", type=Path, help="also write the rows here")
    parser.add_argument("--before", type=Path, help="another checkout, to compare with")
    parser.add_argument("--profile", action="store_true", help="also print where the time of a round goes")
    parser.add_argument("--rounds", type=int, default=3, help="in each process, after the first")
    parser.add_argument("--once", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.once:
        print(json.dumps(once(given.once, given.rounds, given.profile)))
    else:
        report(measured(given), given.json)


if __name__ == "__main__":
    main()
