"""The server that all systems talk to: a target whose success follows from the world, and the simulated optimiser.

The model's name tells the two apart. The k-th attempt at a task with the same edits in the skill ends the same way
whoever makes it, and otherwise than the next: attempts are as noisy as sampling, and paired between systems. Target
calls on train and select tasks are counted against the budget; after it the server refuses with 402.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import orjson
from loopback import Behaviour, Loopback, Response, share

from reflact_peers.optimizer import Optimizer
from reflact_peers.world import Task, World

Json = dict[str, Any]
Answer = Callable[[Task, list[Json], Json], str]

TARGET, OPTIMIZER = "target", "optimizer"


@dataclass
class Count:
    """Calls and tokens of one role; a token is four characters, for every system alike."""

    calls: int = 0
    prompt: int = 0
    completion: int = 0

    def add(self, prompt: str, completion: str) -> Json:
        spent = {"prompt_tokens": len(prompt) // 4 + 1, "completion_tokens": len(completion) // 4 + 1}
        self.calls += 1
        self.prompt += spent["prompt_tokens"]
        self.completion += spent["completion_tokens"]
        return {**spent, "total_tokens": sum(spent.values())}

    @property
    def tokens(self) -> int:
        return self.prompt + self.completion


@dataclass
class Book:
    """What one system has used."""

    target: Count = field(default_factory=Count)
    test: Count = field(default_factory=Count)
    optimizer: Count = field(default_factory=Count)
    refused: int = 0


class Desk(Loopback):
    """Both models behind one address, with the book of who used how much."""

    def __init__(self, world: World, seed: int, budget: int, answer: Answer | None = None) -> None:
        super().__init__(Behaviour(remember=False))
        self.world = world
        self.seed = seed
        self.budget = budget
        self.book = Book()
        self.tasks = {task.question: (split, task) for split, some in world.tasks(seed).items() for task in some}
        self.optimizer = Optimizer(world, seed)
        self.answer = answer or self.simulated
        self.draws: Counter[tuple[str, str]] = Counter()

    def respond(self, method: str, path: str, headers: bytes, body: bytes) -> Response:
        if not path.endswith("/chat/completions"):
            return super().respond(method, path, headers, body)
        fields = orjson.loads(body)
        try:
            if fields["model"] == OPTIMIZER:
                return self._optimizer(fields)
            return self._target(fields)
        except ValueError as problem:
            return refusal(400, str(problem))

    def _optimizer(self, fields: Json) -> Response:
        messages = fields["messages"]
        system, user = said(messages, "system"), said(messages, "user")
        text = self.optimizer.reply(system, user)
        return completed(fields["model"], text, self.book.optimizer.add(system + user, text))

    def _target(self, fields: Json) -> Response:
        messages = fields["messages"]
        split, task = self._task(said(messages, "user"))
        count = self.book.test if split == "test" else self.book.target
        if split != "test" and count.calls >= self.budget:
            self.book.refused += 1
            return refusal(402, f"the budget of {self.budget} target calls is spent")
        text = self.answer(task, messages, fields)
        return completed(fields["model"], text, count.add("".join(text_of(one) for one in messages), text))

    def _task(self, user: str) -> tuple[str, Task]:
        for line in user.splitlines():
            if line.strip() in self.tasks:
                return self.tasks[line.strip()]
        raise ValueError(f"no task of this world is asked in: {user[:200]}")

    def simulated(self, task: Task, messages: list[Json], _: Json) -> str:
        """The right number as often as the edits in the system message make it, otherwise another one."""
        present = self.world.present(said(messages, "system"))
        key = (task.id, ",".join(sorted(present)))
        self.draws[key] += 1
        if share(self.seed, *key, self.draws[key]) < self.world.chance(present, task.kind, task.z):
            return task.answer
        return str(1000 + (int(task.answer) - 1000 + 1 + self.draws[key] % 7) % 9000)


def said(messages: list[Json], role: str) -> str:
    return "\n".join(text_of(one) for one in messages if one["role"] == role)


def text_of(message: Json) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def completed(model: str, text: str, usage: Json) -> Response:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    whole = {"id": "chat-1", "object": "chat.completion", "model": model, "choices": [choice], "usage": usage}
    return Response(200, orjson.dumps(whole))


def refusal(status: int, message: str) -> Response:
    return Response(status, orjson.dumps({"error": {"message": message, "type": "refused", "code": "budget"}}))
