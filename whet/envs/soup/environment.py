"""The environment `soup`: a page that is not shown, a question, and an extractor that must hold on unseen pages."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from whet.envs.base import Baseline, Environment, Play, ask, complaints, work
from whet.envs.fingerprint import fingerprint
from whet.envs.soup import stages
from whet.envs.soup.archetype import TaskKind
from whet.envs.soup.archetypes import kinds
from whet.envs.soup.baselines import baselines
from whet.envs.soup.draw import SiteDraft, draw
from whet.envs.soup.feedback import SHOWN, site_feedback
from whet.envs.soup.kinds import AnswerForm
from whet.envs.soup.prompt import messages
from whet.envs.soup.reply import FormError, LimitClaim, last_words
from whet.envs.soup.safety import leak
from whet.envs.soup.score import failure, grade_answer, grade_extractor, grade_limit, unsafe
from whet.envs.soup.settings import SoupSettings, chosen
from whet.envs.soup.tools import ARGUMENT, LOOK, SUBMIT, WebPage, limits_of, look, outputs, submission, told
from whet.errors import WhetError
from whet.types import Feedback, Label, Message, Rollout, Score, Split, Task, ToolCall, Work, WorkResult, tool_result

EACH = 21
"""Test tasks of an archetype."""

SEED = 0
"""The seed of the test tasks, whatever the settings say."""


class Soup(Environment):
    """Write extractors for generated sites; they are graded on pages that were not seen."""

    name = "soup"
    about = "write programs that extract data from web pages, graded on unseen pages of the same site"

    def __init__(self, settings: SoupSettings = SoupSettings()) -> None:
        self.settings = settings
        self._kinds = chosen(kinds(), settings)
        self._limits = limits_of(settings.timeout, settings.output)
        self._tools = (LOOK, SUBMIT) if settings.rung == "extractor" else (LOOK,)
        self.epoch = settings.epoch
        self.fingerprint = fingerprint("soup", self, arguments=asdict(settings))

    def __reduce__(self) -> tuple[type[Soup], tuple[SoupSettings]]:
        return Soup, (self.settings,)

    def size(self, split: Split) -> int | None:
        sizes = {"train": self.settings.train, "select": self.settings.eval, "test": EACH * len(self._kinds)}
        return sizes[split]

    def label(self, split: Split, index: int) -> Label:
        made, _ = self._at(split, index)
        return Label(made.name, made.difficulty)

    def task(self, split: Split, index: int) -> Task:
        """The explored page is built; the unseen ones are built from the same draw when a program is handed in."""
        drawn = self._draft(split, index)
        page, draft = drawn.page(0)
        limit = draft.limit
        data = {
            "html": page.html,
            "links": dict(page.links),
            "query": drawn.query,
            "schema": drawn.plan.form.schema(),
            "address": drawn.address,
            "size": drawn.size,
            "secrets": list(draft.secrets),
        }
        told = {"reason": limit.reason, "mark": limit.mark} if limit is not None else None
        truth = {"answer": drawn.matter(0)[1], "limit": told, "program": drawn.plan.program}
        config = self.settings
        said = messages(config.rung, drawn.query, drawn.plan.form, config.turns, config.rewards.calls, config.output)
        return Task(split, index, Label(drawn.kind.name, drawn.kind.difficulty), said, truth, data)

    def content(self, split: Split, index: int) -> Any:
        """The question and the page, whatever is graded and however it is worded around them."""
        data = self.task(split, index).data
        return data["query"], data["html"]

    def play(self, task: Task) -> Play:
        attempt = SoupAttempt(task)
        asked: tuple[Message, ...] = task.messages
        for _ in range(self.settings.turns):
            reply = yield from ask(asked, tools=self._tools, corrections=0)
            if reply.malformed:
                asked = complaints(reply)
                continue
            if not reply.calls:
                return self._last(attempt, reply.text)
            results: list[Message] = []
            for call in reply.calls:
                if problem := self._problem(attempt, call):
                    attempt.calls += 1
                    results.append(tool_result(call, problem))
                elif call.name == SUBMIT.name:
                    return (yield from self._submitted(attempt, call.arguments["program"]))
                else:
                    results.append(tool_result(call, (yield from self._looked(attempt, call.arguments["code"]))))
            asked = tuple(results)
        return failure("turn_limit", f"nothing was handed in after {self.settings.turns} replies")

    def feedback(self, task: Task, rollout: Rollout) -> Feedback:
        return site_feedback(task, self._unseen(task), rollout)

    def baselines(self) -> Mapping[str, Baseline]:
        return baselines(self.settings.rung, lambda count: [self._draft("train", index) for index in range(count)])

    def next_environment(self, pass_rates: Sequence[float]) -> Soup:
        """The environment after these pass rates on this one and its successors: itself until a mark is reached."""
        now = self.settings
        if not now.schedule:
            return self
        stage = stages.next_stage(now.schedule, now.stage, pass_rates)
        if stage == now.stage:
            return self
        base = SoupSettings()
        free = {"rung": base.rung, "difficulty": base.difficulty, **stages.stage_at(now.schedule, stage).args}
        return Soup(dataclasses.replace(now, stage=stage, **free))

    # ------------------------------------------------------------------------------------------- inside

    def _at(self, split: Split, index: int) -> tuple[TaskKind, int]:
        size = self.size(split)
        if index < 0 or (size is not None and index >= size):
            raise WhetError(f"soup: there is no task {split}/{index}; the split has {size if size else 'no'} tasks")
        ordinal, place = divmod(index, len(self._kinds))
        return self._kinds[place], ordinal

    def _draft(self, split: Split, index: int) -> SiteDraft:
        made, ordinal = self._at(split, index)
        seed = SEED if split == "test" else self.settings.seed
        address = "" if self.settings.address == "mixed" else self.settings.address
        return draw(made, split, ordinal, seed, self.settings.limits, address)

    def _unseen(self, task: Task) -> list[Any]:
        """The true answers of the first unseen pages."""
        drawn = self._draft(task.split, task.index)
        return [drawn.matter(number)[1] for number in range(1, len(drawn.pages))[:SHOWN]]

    def _form(self, task: Task) -> AnswerForm:
        return self._draft(task.split, task.index).plan.form

    def _problem(self, attempt: SoupAttempt, call: ToolCall) -> str:
        """Why a call is not carried out, or ''."""
        names = [tool.name for tool in self._tools]
        if call.name not in names:
            return f"Error: there is no tool {call.name[:40]!r}; there is {' and '.join(names)}."
        text = call.arguments.get(ARGUMENT[call.name])
        if not isinstance(text, str) or not text.strip():
            return f"Error: {call.name} takes {ARGUMENT[call.name]}, a text that is not empty."
        most = self.settings.rewards.calls
        if call.name == LOOK.name and attempt.calls >= most:
            return f"Error: not run, there were {most} calls already. {self._finish()}"
        return ""

    def _finish(self) -> str:
        return "Hand in your program now." if self.settings.rung == "extractor" else "Answer now."

    def _looked(self, attempt: SoupAttempt, code: str) -> Generator[Work, WorkResult, str]:
        attempt.calls += 1
        attempt.ran += 1
        data = attempt.task.data
        page = WebPage(data["html"], data["links"])
        result = yield from work(look(code, page, data["query"], data["schema"], self._limits))
        return told(result, self._limits)

    def _submitted(self, attempt: SoupAttempt, program: str) -> Generator[Work, WorkResult, Score]:
        """Runs the program on the explored page and on the unseen ones, and grades what came out."""
        task = attempt.task
        if task.truth["limit"] is not None:
            return failure("missed_limit", "the page does not hold what is asked")
        drawn = self._draft(task.split, task.index)
        pages, secrets = [WebPage(task.data["html"], task.data["links"])], list(task.data["secrets"])
        for number in range(1, len(drawn.pages)):
            page, draft = drawn.page(number)
            pages.append(page)
            secrets += draft.secrets
        result = yield from work(submission(program, pages, task.data["query"], task.data["schema"], self._limits))
        found = outputs(result, len(pages), self._limits)
        return grade_extractor(found, drawn.truths, drawn.plan.form, secrets, self.settings.rewards)

    def _last(self, attempt: SoupAttempt, text: str) -> Score:
        """The score of a last reply: a claim of a limit, or, on the rung `answer`, the answer."""
        task, rewards = attempt.task, self.settings.rewards
        said = last_words(text)
        if what := leak(task.data["secrets"], text):
            return unsafe(rewards, what)
        if isinstance(said, FormError):
            return failure(said.reason, said.detail)
        limit = task.truth["limit"]
        if isinstance(said, LimitClaim):
            return grade_limit(said, task.data["html"], limit, attempt.ran, rewards)
        if self.settings.rung == "extractor":
            return failure("not_submitted", "an answer was given, and no program handed in")
        if limit is not None:
            return failure("missed_limit", "the page does not hold what is asked")
        if what := leak(task.data["secrets"], said.value):
            return unsafe(rewards, what)
        return grade_answer(said.value, task.truth["answer"], self._form(task), attempt.ran, attempt.calls, rewards)


@dataclasses.dataclass(slots=True)
class SoupAttempt:
    """Where an attempt stands: the calls it made, and how many of them ran."""

    task: Task
    calls: int = 0
    ran: int = 0
