"""An environment with a tool: how many of an item can be sold. Try it with: whet envs check examples/stock.py:Stock

The tool tells what lies on the shelf and what is reserved. That reserved pieces cannot be sold, and that boxes hold a
dozen, stands nowhere in the question: it is for a playbook to say.
"""

from __future__ import annotations

import random

from whet.envs.base import Baseline, Environment, Messages, Play
from whet.envs.splits import draw
from whet.tools import Feedback, Tool, ToolSpec, ask_with_tools
from whet.types import Label, Reply, Rollout, Split, Task, ToolCall, failed, solved, user

ITEMS = ("bolts", "cables", "filters", "gaskets", "hinges", "lamps", "pumps", "valves")
DOZEN = 12


class Stock(Environment):
    """Look an item up, and say how many pieces can be sold."""

    name = "stock"
    about = "how many pieces of an item can be sold, with a tool that looks it up"

    def size(self, split: Split) -> int | None:
        return {"train": 200, "select": 60, "test": 60}[split]

    def label(self, split: Split, index: int) -> Label:
        return Label(("pieces", "boxes")[index % 2])

    def task(self, split: Split, index: int) -> Task:
        unit = self.label(split, index).kind

        def shelf(seed: int) -> dict[str, list[int]]:
            rng = random.Random(seed)
            return {item: [rng.randrange(3, 40), rng.randrange(3)] for item in rng.sample(ITEMS, 3)}

        found = draw(("stock", unit), split, index, shelf, content=str)
        item = sorted(found)[0]
        lies, reserved = found[item]
        truth = (lies - reserved) * (DOZEN if unit == "boxes" else 1)
        question = f"How many pieces of {item} can be sold? Look it up, then reply with the number only."
        return Task(split, index, Label(unit), (user(question),), str(truth), {"unit": unit, "shelf": found})

    def play(self, task: Task) -> Play:
        def look_up(arguments: dict[str, str]) -> str:
            found = task.data["shelf"].get(arguments["item"])
            if found is None:
                return f"There is no {arguments['item']}; there are {', '.join(sorted(task.data['shelf']))}."
            return f"{found[0]} {task.data['unit']} on the shelf, {found[1]} of them reserved"

        parameters = {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]}
        spec = ToolSpec("look_up", "Says what lies on the shelf of an item.", parameters)
        reply = yield from ask_with_tools(task.messages, [Tool(spec, look_up)])
        said = reply.text.strip().rstrip(".")
        return solved() if said == task.truth else failed("wrong" if said else "no_answer", f"said {said[:80]!r}")

    def feedback(self, task: Task, rollout: Rollout) -> Feedback:
        """The number, and what the tool said: the rule behind it is for the learner to find."""
        item = sorted(task.data["shelf"])[0]
        lies, reserved = task.data["shelf"][item]
        said = rollout.turns[-1].reply.text if rollout.turns else ""
        shelf = f"the shelf of {item}: {lies} {task.data['unit']}, {reserved} reserved"
        return Feedback(task.truth, said, "the number is wrong", shelf)

    def baselines(self) -> dict[str, Baseline]:
        def oracle(task: Task, said: Messages) -> Reply | str:
            item = sorted(task.data["shelf"])[0]
            return str(task.truth) if len(said) > 1 else Reply("", (ToolCall("1", "look_up", {"item": item}),))

        return {"oracle": oracle}
