"""An environment of ours as both lines of verifiers see it, made from what an exported package holds.

    EXHIBIT = Exhibit.read(Path(__file__).parent)
    EXHIBIT.environment("train", 100)     # v0: a vf.MultiTurnEnv
    EXHIBIT.taskset()                     # v1: a class of tasksets

Both drive our own play, so a score over there is the play's. verifiers is imported when a face is made, not before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from whet.apps.interop.seat import PlaySeat
from whet.envs.base import Environment
from whet.envs.registry import load_environment
from whet.errors import FaultError, WhetError
from whet.rollout.chat import chat_message
from whet.rollout.workbench import Workbench
from whet.types import Image, Score, Split, Task

RECORD = "environment.json"
"""The file of a package that says which environment it holds."""

SHOWN: tuple[Split, ...] = ("train", "select")
"""A test that a trainer can load is not sealed."""

NOWHERE = ("", "I do not know.")
"""Replies after which a play that asks more than once asks again."""

MOST = 1000
"""Tasks of an unbounded split that are shown where no number is asked for."""


@dataclass(frozen=True)
class Exhibit:
    """What a package holds: an address with its arguments, where `{here}` is the package's own folder."""

    folder: Path
    address: str
    args: Mapping[str, Any]
    fingerprint: str

    @classmethod
    def read(cls, folder: Path) -> Exhibit:
        record = orjson.loads((folder / RECORD).read_bytes())
        return cls(folder, record["address"], record["args"], record["fingerprint"])

    @classmethod
    def of(cls, address: str, args: Mapping[str, Any] | None = None) -> Exhibit:
        """The environment at an address, as it is on this machine."""
        return cls(Path(), address, dict(args or {}), load_environment(address, args or {}).fingerprint)

    @cached_property
    def env(self) -> Environment:
        """The environment; refused where it is another one than the package was made of."""
        env = load_environment(self._placed(self.address), {name: self._placed(v) for name, v in self.args.items()})
        if env.fingerprint != self.fingerprint:
            raise WhetError(
                f"{env.name} is {env.fingerprint} here, and this package was made of {self.fingerprint}: "
                "install the version of Whet and of its extras that its pyproject names, or export it again"
            )
        return env

    def _placed(self, value: Any) -> Any:
        return value.replace("{here}", str(self.folder)) if isinstance(value, str) else value

    @cached_property
    def bench(self) -> Workbench:
        return Workbench()

    def tickets(self, split: str, most: int) -> Iterable[tuple[Split, int]]:
        """Which tasks are shown."""
        if split not in SHOWN:
            raise WhetError(f"split takes {' or '.join(SHOWN)}, not {split!r}: a test that can be loaded is not sealed")
        size = self.env.size(split)
        count = most if most > 0 else MOST if size is None else size
        return ((split, index) for index in range(count if size is None else min(count, size)))

    def begin(self, task: Task) -> PlaySeat:
        return PlaySeat(self.env, task, self.bench)

    # ------------------------------------------------------------------------------------------- the v0 line

    def environment(self, split: str = "train", n: int = -1) -> Any:
        """A `MultiTurnEnv` of verifiers up to 0.3: each reply goes to the play, and what it asks next comes back."""
        import verifiers as vf
        from datasets import Dataset
        from verifiers.types import Tool

        exhibit = self
        seats: dict[str, PlaySeat] = {}

        class WhetPlays(vf.MultiTurnEnv):
            async def setup_state(self, state: Any) -> Any:
                info = state["info"]
                task = exhibit.env.task(info["split"], info["index"])
                seat = seats[state["trajectory_id"]] = await asyncio.to_thread(exhibit.begin, task)
                state["tool_defs"] = [Tool(**tool) for tool in seat.tools] or None
                state["score"] = _numbers(seat.score)
                return state

            async def env_response(self, messages: Any, state: Any, **_: Any) -> Any:
                seat = seats[state["trajectory_id"]]
                last = messages[-1]
                calls = [(call.id, call.name, call.arguments) for call in last.tool_calls or ()]
                cut = bool(state["trajectory"][-1]["is_truncated"])
                try:
                    asked = await asyncio.to_thread(seat.hear, str(last.content or ""), calls, cut)
                except FaultError as error:
                    raise vf.Error(str(error)) from error
                state["tool_defs"] = [Tool(**tool) for tool in seat.tools] or None
                if seat.score is not None:
                    state["score"] = _numbers(seat.score)
                    state["final_env_response"] = []
                    return []
                return [chat_message(message) for message in asked]

            @vf.cleanup
            async def let_go(self, state: Any) -> None:
                seat = seats.pop(state["trajectory_id"], None)
                if seat is not None:
                    seat.close()

        def reward(state: Any) -> float:
            return float(state["score"]["reward"])

        def hard(state: Any) -> float:
            return float(state["score"]["hard"])

        def soft(state: Any) -> float:
            return float(state["score"]["soft"])

        rows = []
        for side, index in self.tickets(split, n):
            seat = self.begin(self.env.task(side, index))
            prompt = [chat_message(message) for message in seat.asked]
            seat.close()
            rows.append({"prompt": prompt, "answer": "", "info": {"split": side, "index": index}})
        rubric = vf.Rubric(funcs=[reward, hard, soft], weights=[1.0, 0.0, 0.0])
        return WhetPlays(dataset=Dataset.from_list(rows), rubric=rubric, max_turns=-1, env_id=self.env.name)

    # ------------------------------------------------------------------------------------------- the v1 line

    def taskset(self) -> type:
        """A class of tasksets of verifiers 0.4, for plays that ask once and offer no tools."""
        import verifiers.v1 as vf

        exhibit = self

        class WhetData(vf.TaskData):
            split: str
            index: int

        class WhetTask(vf.Task[WhetData]):
            @property
            def key(self) -> str:
                return f"{exhibit.fingerprint}:{self.data.split}/{self.data.index}"

            @vf.metric
            async def whet(self, trace: Any) -> dict[str, float]:
                """The play's score. Metrics come before rewards, so the play is driven once."""
                score = await asyncio.to_thread(exhibit.once, self.data, trace)
                trace.info["whet"] = {**_numbers(score), "reason": score.reason, "detail": score.detail}
                return {"hard": float(score.hard), "soft": score.soft}

            @vf.reward
            async def reward(self, trace: Any) -> float:
                return float(trace.info["whet"]["reward"])

        class WhetConfig(vf.TasksetConfig):
            split: str = "train"
            n: int = -1

        class WhetTaskset(vf.Taskset[WhetTask, WhetConfig]):
            def load(self) -> Iterable[Any]:
                for side, index in exhibit.tickets(self.config.split, self.config.n):
                    yield WhetTask(WhetData(**exhibit.row(side, index)), self.config.task)

        return WhetTaskset

    def row(self, split: Split, index: int) -> dict[str, Any]:
        """A task as the v1 line holds it, without its truth: a trace carries it along."""
        seat = self.begin(self.env.task(split, index))
        asked, tools = [chat_message(message) for message in seat.asked], seat.tools
        seat.close()
        if tools or seat.score is not None:
            raise WhetError(
                f"{self.env.name} offers tools, which a taskset of verifiers 0.4 cannot pass on: "
                "use it with verifiers 0.3 (load_environment)"
            )
        system = str(asked.pop(0)["content"]) if asked and asked[0]["role"] == "system" else None
        one_text = len(asked) == 1 and asked[0]["role"] == "user"
        prompt = asked[0]["content"] if one_text else asked
        named = {"id": f"{split}/{index}", "prompt": prompt, "system_prompt": system}
        return {**named, "split": split, "index": index}

    def fits(self, split: Split, index: int) -> bool:
        """Whether the v1 line can play a task: no tools, and no second question after a reply that leads nowhere.

        Refuses what neither line can: images, and questions to a judge.
        """
        task = self.env.task(split, index)
        for reply in NOWHERE:
            try:
                seat = self.begin(task)
            except FaultError as error:
                raise WhetError(f"{self.env.name} cannot be played elsewhere: {error.fault.message}") from None
            if any(isinstance(part, Image) for message in seat.asked for part in message.content):
                seat.close()
                raise WhetError(f"{self.env.name} shows images, and only text can be passed on to verifiers")
            try:
                if seat.tools or seat.score is not None:
                    return False
                seat.hear(reply)
                if seat.score is None:
                    return False
            except FaultError:
                continue  # a fault over there as here, whichever the line
            finally:
                seat.close()
        return True

    def once(self, data: Any, trace: Any) -> Score:
        """The score of a trace with one reply; raises where the play would go on, so that it is never a score."""
        seat = self.begin(self.env.task(data.split, data.index))
        try:
            cut = bool(trace.calls) and trace.calls[-1].finish_reason == "length"
            seat.hear(trace.last_reply or "", (), cut)
            if seat.score is None:
                raise WhetError(f"{self.env.name} asks again, which a taskset of verifiers 0.4 cannot pass on")
            return seat.score
        finally:
            seat.close()


def _numbers(score: Score | None) -> dict[str, float]:
    """A score as plain numbers; nothing yet is no credit, for attempts that end before their play does."""
    return {} if score is None else {"reward": score.reward, "hard": score.hard, "soft": score.soft}
