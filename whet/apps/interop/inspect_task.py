"""An environment of ours as a task of Inspect: its samples are our tasks, its solver plays our play, its score is ours.

    from inspect_ai import task
    from whet.apps.interop.inspect_task import inspect_task

    @task
    def orders(playbook="blank"):
        return inspect_task("data:orders.csv", playbook=playbook)

    inspect eval orders.py --model openai/gpt-4.1-mini -T playbook=candidate.md
    whet gate RUN --candidate candidate.md

Train and select tasks are shown; the test stays sealed. A play may ask several times; tools are refused. A fault of the
play is an error of the sample, never a score. inspect_ai is imported when a task is made.
"""

from __future__ import annotations

import asyncio
from typing import Any

from whet.apps.interop.exhibit import Exhibit
from whet.config.playbooks import read_playbook
from whet.errors import WhetError
from whet.rollout.placement import place
from whet.types import Message

KEPT = "whet"
"""Where a sample's score lies between solver and scorer."""


def inspect_task(address: str, split: str = "select", n: int = -1, playbook: str = "blank", **args: Any) -> Any:
    """A `Task` of Inspect over the tasks of an environment, each with the playbook before it."""
    import inspect_ai
    from inspect_ai.dataset import Sample

    shown, text = Exhibit.of(address, args), read_playbook(playbook)
    samples = []
    for side, index in shown.tickets(split, n):
        seat = shown.begin(shown.env.task(side, index))
        asked, tools = seat.asked, seat.tools
        seat.close()
        if tools:
            raise WhetError(f"{shown.env.name}: offers tools, which a task of Inspect made of it cannot pass on")
        place_of = {"split": side, "index": index}
        samples.append(Sample(id=f"{side}/{index}", input=_messages(place(text, asked)), metadata=place_of))
    return inspect_ai.Task(dataset=samples, solver=_solver(shown), scorer=_scorer(), name=shown.env.name)


def _messages(messages: tuple[Message, ...]) -> list[Any]:
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
    return [kinds[message.author](content=message.text) for message in messages]


def _solver(shown: Exhibit) -> Any:
    from inspect_ai.solver import solver

    @solver
    def whet_play() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            task = shown.env.task(state.metadata["split"], state.metadata["index"])
            seat = await asyncio.to_thread(shown.begin, task)
            try:
                while seat.score is None:
                    state = await generate(state)
                    cut = state.output.stop_reason == "max_tokens"
                    asked = await asyncio.to_thread(seat.hear, state.output.completion, (), cut)
                    state.messages += _messages(asked)
            finally:
                seat.close()
            score = seat.score
            parts = {"soft": score.soft, "reward": score.reward, **dict(score.parts)}
            state.metadata[KEPT] = {"hard": score.hard, "reason": f"{score.reason} {score.detail}".strip(), **parts}
            return state

        return solve

    return whet_play()


def _scorer() -> Any:
    from inspect_ai.scorer import Score, accuracy, scorer, stderr

    @scorer(metrics=[accuracy(), stderr()])
    def whet_score() -> Any:
        async def score(state: Any, target: Any) -> Any:
            kept = state.metadata[KEPT]
            return Score(value=float(kept["hard"]), explanation=kept["reason"], metadata=kept)

        return score

    return whet_score()
