"""`soup/real`: single questions about real pages of this machine, to show whether skill carries over."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from typing import Any

from whet.envs.fingerprint import fingerprint
from whet.envs.soup.environment import Soup
from whet.envs.soup.kinds import AnswerForm, ListForm, TextForm
from whet.envs.soup.prompt import messages
from whet.envs.soup.real import HOW, RealSplit
from whet.envs.soup.settings import SoupSettings
from whet.errors import WhetError
from whet.types import Label, Split, Task

FORMS: dict[str, AnswerForm] = {
    "text": TextForm(),
    "texts": ListForm(TextForm()),
    "set": ListForm(TextForm(), ordered=False),
}
_PROGRAM = 'def extract(html):\n    soup = BeautifulSoup(html, "html.parser")\n{body}\n    return answer\n'


class RealSoup(Soup):
    """Documentation pages that packages installed here; the answers come from another source than the page."""

    name = "soup/real"
    about = "questions about documentation pages installed on this machine, answers from their indices"

    def __init__(self, settings: SoupSettings = SoupSettings(rung="answer")) -> None:
        if settings.rung != "answer":
            raise WhetError("soup/real has single answers alone: leave out 'rung'")
        super().__init__(settings)
        self._real = RealSplit()
        self.fingerprint = fingerprint("soup/real", self, arguments=asdict(settings), data=self._real.digest())

    def __reduce__(self) -> tuple[type[RealSoup], tuple[SoupSettings]]:
        return RealSoup, (self.settings,)

    def size(self, split: Split) -> int | None:
        return self._real.size() if split == "test" else 0

    def label(self, split: Split, index: int) -> Label:
        self._item(split, index)
        return Label(*self._real.label(index))

    def warning(self, split: Split) -> str:
        sources = self._real.sources()
        return HOW if len(sources) < 2 else ""

    def task(self, split: Split, index: int) -> Task:
        item = self._item(split, index)
        form, config = FORMS[item.kind], self.settings
        answer = item.answer if isinstance(item.answer, str) else list(item.answer)
        program = _PROGRAM.format(body=textwrap.indent(item.oracle, "    "))
        said = messages(config.rung, item.query, form, config.turns, config.rewards.calls, config.output)
        data = {"html": item.text(), "links": {}, "query": item.query, "schema": form.schema(), "kind": item.kind}
        truth = {"answer": answer, "limit": None, "program": program}
        return Task(split, index, Label(*self._real.label(index)), said, truth, {**data, "secrets": []})

    def _unseen(self, task: Task) -> list[Any]:
        return []

    def _form(self, task: Task) -> AnswerForm:
        return FORMS[task.data["kind"]]

    def _item(self, split: Split, index: int) -> Any:
        if split != "test" or not 0 <= index < self._real.size():
            raise WhetError(f"soup/real: there is no task {split}/{index}; it has {self._real.size()} test tasks")
        return self._real.item(index)
