"""A tool environment whose answer is a copy of what the tool says: whether a small model learns to call at all."""

from __future__ import annotations

import random

from whet.envs.base import Baseline, Environment, Messages, Play
from whet.envs.splits import draw
from whet.tools import Tool, ToolSpec, ask_with_tools
from whet.types import Label, Reply, Split, Task, ToolCall, failed, solved, user

COLOURS = ("red", "blue", "green", "white", "black", "brown", "yellow", "grey")
THINGS = ("lamps", "pumps", "valves", "hinges", "cables", "filters", "gaskets", "handles", "brackets", "springs")


class Bays(Environment):
    """Look a thing up, and say the bay that it lies in."""

    name = "bays"
    about = "the bay that a thing lies in, with a tool that looks it up"

    def size(self, split: Split) -> int | None:
        return {"train": 30, "select": 20, "test": 20}[split]

    def label(self, split: Split, index: int) -> Label:
        return Label("bay")

    def task(self, split: Split, index: int) -> Task:
        def thing(seed: int) -> str:
            rng = random.Random(seed)
            return f"{rng.choice(COLOURS)} {rng.choice(THINGS)}"

        item = draw(("bays",), split, index, thing, content=str)
        rng = random.Random(f"{split}/{index}")
        bay = f"{rng.choice('ABCDEF')}{rng.randrange(10, 99)}"
        question = f"Where are the {item}? Look it up, then reply with the bay only."
        return Task(split, index, Label("bay"), (user(question),), bay, {"item": item, "left": rng.randrange(2, 40)})

    def play(self, task: Task) -> Play:
        def look_up(arguments: dict[str, str]) -> str:
            if arguments["item"] != task.data["item"]:
                return f"There are no {arguments['item']}."
            return f"bay {task.truth}, {task.data['left']} left"

        parameters = {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]}
        spec = ToolSpec("look_up", "Says where an item lies.", parameters)
        reply = yield from ask_with_tools(task.messages, [Tool(spec, look_up)])
        said = reply.text.strip().rstrip(".")
        return solved() if said == task.truth else failed("wrong" if said else "no_answer", f"said {said[:80]!r}")

    def baselines(self) -> dict[str, Baseline]:
        def oracle(task: Task, said: Messages) -> Reply | str:
            call = ToolCall("1", "look_up", {"item": task.data["item"]})
            return str(task.truth) if len(said) > 1 else Reply("", (call,))

        return {"oracle": oracle}
