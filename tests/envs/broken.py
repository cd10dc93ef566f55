"""Environments that each break one promise, for `check` to find; loaded by address, also from another process."""

from __future__ import annotations

import random
from typing import Any

from whet.envs.base import Baseline, Environment, Play, ask
from whet.types import Label, Score, Split, Task, failed, solved, user


class Sound(Environment):
    """Keeps every promise; each of the others changes one thing."""

    name = "sound"
    fingerprint = "sound-1"
    about = "keeps every promise"

    def size(self, split: Split) -> int | None:
        return 60

    def label(self, split: Split, index: int) -> Label:
        return Label("number")

    def task(self, split: Split, index: int) -> Task:
        number = {"train": 1000, "select": 2000, "test": 3000}[split] + index
        return Task(split, index, Label("number"), (user(f"Say twice {number}."),), str(2 * number))

    def play(self, task: Task) -> Play:
        reply = yield from ask(task.messages)
        return solved() if reply.text == task.truth else failed("wrong")

    def baselines(self) -> dict[str, Baseline]:
        return {"oracle": lambda task, said: str(task.truth)}


class LeaksTruth(Sound):
    def play(self, task: Task) -> Play:
        reply = yield from ask((*task.messages, user(f"(hint: {task.truth})")))
        return solved() if reply.text == task.truth else failed("wrong")


class LeaksTruthLater(Sound):
    """Tells the truth to whoever was wrong, and asks again."""

    def play(self, task: Task) -> Play:
        reply = yield from ask(task.messages)
        if reply.text != task.truth:
            reply = yield from ask((user(f"No, it is {task.truth}. Say it."),))
        return solved() if reply.text == task.truth else failed("wrong")


class DependsOnHashOrder(Sound):
    def task(self, split: Split, index: int) -> Task:
        letters = "".join(set("abcdefghijklmnop"))
        return Task(split, index, Label("number"), (user(f"{split} {index} {letters}"),), letters)


class DependsOnOrder(Sound):
    def __init__(self) -> None:
        self.count = 0

    def task(self, split: Split, index: int) -> Task:
        self.count += 1
        return Task(split, index, Label("number"), (user(f"{split} {index} {self.count}"),), "x")


class OverlappingSplits(Sound):
    def task(self, split: Split, index: int) -> Task:
        return Task(split, index, Label("number"), (user(f"Say twice {index}."),), str(2 * index))


class GraderRaises(Sound):
    def play(self, task: Task) -> Play:
        reply = yield from ask(task.messages)
        return solved() if int(reply.text) == int(task.truth) else failed("wrong")


class ScoresTooMuch(Sound):
    def play(self, task: Task) -> Play:
        reply = yield from ask(task.messages)
        return Score(1, 1.0, 1.0, {}, "correct") if reply.text == task.truth else Score(0, 1.5, 1.5, {}, "close")


class GivesNoReason(Sound):
    def play(self, task: Task) -> Play:
        reply = yield from ask(task.messages)
        return solved() if reply.text == task.truth else Score(0, 0.0, 0.0)


class WrongLabels(Sound):
    def label(self, split: Split, index: int) -> Label:
        return Label("something else")


class OracleFails(Sound):
    def baselines(self) -> dict[str, Baseline]:
        return {"oracle": lambda task, said: "no idea"}


class UsesGlobalRandom(Sound):
    def play(self, task: Task) -> Play:
        random.random()
        return super().play(task)


class TaskRaises(Sound):
    def task(self, split: Split, index: int) -> Task:
        raise KeyError("no such row")


class AcceptsAnything(Sound):
    def play(self, task: Task) -> Play:
        reply = yield from ask(task.messages)
        return solved() if reply.text else failed("no_answer")


class TruthIsNotData(Sound):
    def task(self, split: Split, index: int) -> Task:
        return Task(split, index, Label("number"), (user(f"{split} {index}"),), {1, 2})


def make(number: int, *, flag: bool = False) -> Any:
    """A function that makes an environment."""
    made = Sound()
    made.about = f"{number} {flag}"
    return made


def nothing() -> Any:
    return object()


VALUE = 3
