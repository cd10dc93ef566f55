"""The environment `soup@1`: pages that are not shown, two tools that reach them, a question with one right answer."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import asdict

from whet.envs.base import Baseline, Environment, Play, ask, complaints, work
from whet.envs.fingerprint import fingerprint
from whet.envs.soup1 import content, prompt
from whet.envs.soup1.archetype import Archetype
from whet.envs.soup1.archetypes import archetypes
from whet.envs.soup1.baselines import baselines
from whet.envs.soup1.bench import deal
from whet.envs.soup1.feedback import page_feedback
from whet.envs.soup1.reply import FinalAnswer, MissingAnswer, read
from whet.envs.soup1.score import grade
from whet.envs.soup1.settings import FirstSoupSettings
from whet.envs.soup1.tools import TOOLS, FirstSoupAttempt, navigate, program, sandbox_limits, told
from whet.errors import WhetError
from whet.types import Feedback, Label, Message, Rollout, Score, Split, Task, ToolCall, Work, WorkResult, tool_result

TRAINING = 570
"""Training tasks from which the most frequent answers are learned."""


class FirstSoup(Environment):
    """Extract data from HTML with code: 57 archetypes in twelve families."""

    name = "soup@1"
    about = "extract data from HTML with BeautifulSoup, 57 archetypes, single pages and small sites"

    def __init__(self, settings: FirstSoupSettings = FirstSoupSettings()) -> None:
        self.settings = settings
        self._every = archetypes()
        self._deck = settings.choice.deck(self._every)
        chosen = {archetype.name for archetype in settings.choice.members(self._every)}
        self._bench = tuple(
            (archetype, ordinal) for archetype, ordinal in deal(self._every) if archetype.name in chosen
        )
        self._limits = sandbox_limits(settings.timeout, settings.output)
        self.epoch = settings.epoch
        self.fingerprint = fingerprint("soup@1", self, arguments=asdict(settings))

    def __reduce__(self) -> tuple[type[FirstSoup], tuple[FirstSoupSettings]]:
        return FirstSoup, (self.settings,)

    def size(self, split: Split) -> int | None:
        return {"train": self.settings.train, "select": self.settings.eval, "test": len(self._bench)}[split]

    def label(self, split: Split, index: int) -> Label:
        archetype, _ = self._at(split, index)
        return Label(archetype.name, archetype.difficulty)

    def task(self, split: Split, index: int) -> Task:
        archetype, ordinal = self._at(split, index)
        seed = 0 if split == "test" else self.settings.seed
        draft = content.draw(archetype, split, ordinal, seed)
        html, pages = content.pages(archetype, draft, split, ordinal, seed)
        data = {
            "html": html,
            "query": draft.query,
            "pages": pages,
            "visits": draft.visits,
            "secrets": list(draft.secrets),
        }
        said = prompt.messages(archetype, draft.query, self.settings.turns, self.settings.rewards.calls)
        return Task(split, index, Label(archetype.name, archetype.difficulty), said, content.truth(draft), data)

    def play(self, task: Task) -> Play:
        attempt = FirstSoupAttempt(task)
        messages: tuple[Message, ...] = task.messages
        for _ in range(self.settings.turns):
            reply = yield from ask(messages, tools=TOOLS, corrections=0)
            if reply.malformed:
                messages = complaints(reply)
            elif not reply.calls:
                return self._grade(attempt, read(reply.text))
            else:
                answers: list[Message] = []
                for call in reply.calls:
                    answers.append(tool_result(call, (yield from self._done(attempt, call))))
                messages = tuple(answers)
        return self._grade(attempt, MissingAnswer("turn_limit", f"no answer after {self.settings.turns} replies"))

    def feedback(self, task: Task, rollout: Rollout) -> Feedback:
        return page_feedback(task, rollout)

    def baselines(self) -> Mapping[str, Baseline]:
        count = min(TRAINING, self.settings.train or TRAINING)
        return baselines(lambda: [self.task("train", index) for index in range(count)])

    def _at(self, split: Split, index: int) -> tuple[Archetype, int]:
        size = self.size(split)
        if index < 0 or (size is not None and index >= size):
            raise WhetError(f"soup@1: there is no task {split}/{index}; the split has {size if size else 'no'} tasks")
        return self._bench[index] if split == "test" else self._deck.at(index)

    def _done(self, attempt: FirstSoupAttempt, call: ToolCall) -> Generator[Work, WorkResult, str]:
        """Carries out one call; what comes back is what the policy is told."""
        word = call.arguments.get({"run_python": "code", "navigate": "href"}.get(call.name, ""))
        if attempt.calls >= self.settings.rewards.calls:
            attempt.other += 1
            return f"Error: not run, there were {self.settings.rewards.calls} calls already. Answer now."
        if not isinstance(word, str) or not word.strip():
            attempt.other += 1
            return "Error: call run_python(code) or navigate(href), each with one text that is not empty."
        if call.name == "navigate":
            attempt.moved += 1
            return navigate(attempt, word)
        attempt.ran += 1
        result = yield from work(program(attempt, word, self._limits))
        return told(attempt, result, self._limits)

    def _grade(self, attempt: FirstSoupAttempt, said: FinalAnswer | MissingAnswer) -> Score:
        return grade(attempt, said, self._every[attempt.task.label.kind].answer, self.settings.rewards)
