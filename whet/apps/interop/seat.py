"""A play with an empty seat: whoever runs the loop elsewhere brings each reply, and takes what is asked next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whet.envs.base import Environment, Messages
from whet.errors import FaultError
from whet.models.base import Request
from whet.models.chat.toolcalls import CallReader, ReplyCalls
from whet.rollout.conversation import Conversation
from whet.rollout.drive import SEATS
from whet.rollout.workbench import Workbench
from whet.types import Ask, Fault, Finish, Reply, Score, Task, Work

WiredCall = tuple[str, str, str]
"""Id, name and argument text of a tool call."""


class PlaySeat:
    """One attempt at a task. `asked` are the messages that wait for a reply; `score` is there when it has ended."""

    def __init__(self, env: Environment, task: Task, bench: Workbench) -> None:
        self._bench = bench
        self._conversation = Conversation(task, env.play(task), SEATS, blob=env.blob)
        self._request: Request | None = None
        self.score: Score | None = None
        self.asked: Messages = ()
        self._advance()

    @property
    def tools(self) -> list[dict[str, Any]]:
        offered = self._request.tools if self._request is not None else ()
        return [{"name": t.name, "description": t.description, "parameters": dict(t.parameters)} for t in offered]

    def hear(self, text: str, calls: Sequence[WiredCall] = (), cut: bool = False) -> Messages:
        """Hand over a reply; what is asked next. A fault of the attempt is raised."""
        request = self._request
        assert request is not None, "a play that has ended asks for nothing"
        wired = [{"id": at, "function": {"name": name, "arguments": raw}} for at, name, raw in calls]
        found = CallReader.of(request, cut).native(wired) if wired else ReplyCalls()
        finish: Finish = "length" if cut else "tool_calls" if found.calls else "stop"
        self._conversation.answer(Reply(text, found.calls, found.malformed, finish))
        self._advance()
        return self.asked

    def _advance(self) -> None:
        """Have works done until a reply is needed or the attempt has ended."""
        while isinstance(step := self._conversation.next(), Work):
            self._conversation.answer(self._bench(step))
        self._request, self.asked = None, ()
        if isinstance(step, Fault):
            raise FaultError(step)
        if isinstance(step, Score):
            self.score = step
            return
        asked = self._conversation.pending
        assert isinstance(asked, Ask)
        if asked.role != "target":
            raise FaultError(Fault("no_judge", "play", f"it asks a {asked.role}, and nobody here answers as one"))
        self._request, self.asked = step, asked.messages

    def close(self) -> None:
        self._conversation.close()
