"""The check of a folder: a policy works on files, and a program says what the folder that it left is worth.

A coding agent gets the files in its own folder and works on them with its own tools; a chat model gets tools that read
and write them. The program runs afterwards, in a sandbox of its own. It stands among its own files, and a copy of what
was left lies beside them in `workspace/`: a policy's `check.py` is not what runs, and its `json.py` not what is loaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from whet.envs.arguments import Argument
from whet.envs.base import work
from whet.envs.data.checks.base import AnswerCheck, Grading
from whet.envs.data.checks.command import (
    COMMAND,
    MEMORY,
    SECONDS,
    TOLD,
    command_limits,
    command_words,
    folder_files,
    refuse_missing,
)
from whet.envs.data.checks.desk import FileDesk
from whet.envs.data.checks.verdict import verdict
from whet.envs.data.columns import known
from whet.envs.data.reply import Form
from whet.envs.feedback import reason
from whet.errors import FaultError, WhetError
from whet.keys import digest
from whet.sandbox.jobs import name_problem, run_command
from whet.tools import ask_with_tools
from whet.types import Fault, Feedback, Reply, Rollout, Score, Task, failed

ROW = "TASK.json"
"""The row, for the program alone."""

LEFT = "workspace"
"""The folder beside the program's files that holds what a policy left."""

OURS = ("SKILL.md", "TASK.md", ROW)
"""Names that a task's files cannot have: the playbook and the task lie there."""

LONGEST_LIST = 20
"""Files that feedback names."""


class WorkspaceCheck(AnswerCheck):
    """Solved when the program exits with 0; or, where its last line is JSON with a `score`, at 1.

    The answer column, where there is one, holds files that solve the task: the oracle's.
    """

    takes = (
        COMMAND,
        SECONDS,
        MEMORY,
        Argument(
            "files", str, "", "column with a task's files: an object of names and texts, or a folder beside the data"
        ),
        Argument(
            "checker",
            str,
            "",
            "folder with the program's own files, which no policy sees; it stands there, beside workspace/",
        ),
        Argument("turns", int, 24, "replies with tool calls that a chat model may give"),
    )
    needs_answer = False

    def __init__(self, answer: str | None, columns: Sequence[str], own: Mapping[str, Any]) -> None:
        super().__init__(answer, columns, own)
        self.words = command_words(self.own, columns)
        self.column = known(self.own["files"], columns, "files") if self.own["files"] else ""
        self.checker = folder_files(self.own["checker"], "checker") if self.own["checker"] else {}
        if any(name.partition("/")[0] in (LEFT, ROW) for name in self.checker):
            raise WhetError(f"checker: {self.own['checker']} holds {LEFT} or {ROW}, which are laid there; rename it")
        self.limits = command_limits(self.own)
        self._folders: dict[str, dict[str, str]] = {}

    @property
    def shows(self) -> tuple[str, ...]:
        return (self.column,) if self.column else ()

    @property
    def made_of(self) -> Any:
        return digest(self.checker, self._folders)

    def instruction(self) -> str:
        return "Work on the files. Reply when they are as they should be."

    def data(self, row: Mapping[str, Any], place: str) -> dict[str, Any]:
        return {"files": self._files(row, place)}

    def truth(self, row: Mapping[str, Any], place: str) -> Any:
        self._files(row, place)
        told = {column: value for column, value in row.items() if column not in (self.column, self.answer)}
        solution = self._named(row.get(self.answer), place, self.answer) if self.answer is not None else None
        return {"argv": [word.fill(row) for word in self.words], "row": told, "solution": solution}

    def _files(self, row: Mapping[str, Any], place: str) -> dict[str, str]:
        """The files of a row's workspace, by name."""
        value = row.get(self.column) if self.column else None
        if isinstance(value, str) and value.strip() and not value.lstrip().startswith("{"):
            if value not in self._folders:
                self._folders[value] = folder_files(str(self._beside(value, place)), f"{place}, column {self.column!r}")
            value = self._folders[value]
        return self._named(value or {}, place, self.column)

    def _beside(self, folder: str, place: str) -> Path:
        if name_problem(folder):
            raise WhetError(f"{place}, column {self.column!r}: {folder!r} {name_problem(folder).removeprefix('it ')}")
        return self.home / folder

    def _named(self, value: Any, place: str, column: str | None) -> dict[str, str]:
        """An object of names and texts, all of which can lie in a workspace."""
        try:
            found = orjson.loads(value) if isinstance(value, str) else value
        except ValueError:
            found = None
        if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
            raise WhetError(f"{place}, column {column!r}: must hold an object of file names and texts")
        for name in found:
            problem = name_problem(name) or ("that name is taken" if name in OURS else "")
            if problem:
                raise WhetError(f"{place}, column {column!r}: {name!r} cannot be a file of the workspace: {problem}")
        return dict(found)

    # ----------------------------------------------------------------------------------------- an attempt

    def play(self, task: Task) -> Grading:
        desk = FileDesk(task.data["files"])
        turns = int(self.own["turns"])
        reply: Reply = yield from ask_with_tools(task.messages, desk.tools(), turns=turns, files=task.data["files"])
        left_out = desk.take(reply)
        return (yield from self._graded(task, desk, left_out))

    def _graded(self, task: Task, desk: FileDesk, left_out: Sequence[str]) -> Grading:
        own = {**self.checker, ROW: orjson.dumps(task.truth["row"]).decode()}
        alike = sorted(set(desk.files) & set(own) - set(task.data["files"]))
        remarks = [
            f"{word}: {', '.join(names[:LONGEST_LIST])}"
            for word, names in (("left under names of the checker's files", alike), ("did not come back", left_out))
            if names
        ]
        files = {f"{LEFT}/{name}": text for name, text in desk.files.items()}
        job = run_command(task.truth["argv"], files={**files, **own}, limits=self.limits)
        result = yield from work(job)
        if result.error == "no_performer":
            raise FaultError(Fault("no_performer", "workspace", result.detail or "no sandbox performs the command"))
        if result.error:
            return _remarked(failed(result.error, result.detail), remarks)
        code, stdout, stderr = (result.value[name] for name in ("exit_code", "stdout", "stderr"))
        refuse_missing(task.truth["argv"][0], code, str(stderr or stdout).strip())
        return _remarked(verdict(code, str(stdout), str(stderr)), remarks)

    def oracle(self, truth: Any) -> str | None:
        return None if truth["solution"] is None else "done"

    def oracle_reply(self, truth: Any, form: Form) -> Reply | str:
        return Reply("done", files=truth["solution"] or {})

    def expected(self, truth: Any) -> str:
        return f"a folder for which this succeeds: {' '.join(truth['argv'])}"

    def feedback(self, task: Task, rollout: Rollout, said: str) -> Feedback:
        """What the policy wrote, and what the program says of it."""
        before = task.data["files"]
        desk = FileDesk(before)
        for turn in rollout.turns:
            desk.replay(turn.reply)
        written = [name for name, text in sorted(desk.files.items()) if before.get(name) != text]
        gone = [f"{name} (deleted)" for name in sorted(set(before) - set(desk.files))]
        changed = ", ".join([*written, *gone][:LONGEST_LIST]) or "no file"
        got = f"changed {changed}; said: {said[:TOLD]}"
        return Feedback(self.expected(task.truth), got, reason(rollout), rollout.score.detail if rollout.score else "")


def _remarked(score: Score, remarks: Sequence[str]) -> Score:
    detail = " | ".join(filter(None, (score.detail, *remarks)))
    return Score(score.hard, score.soft, score.reward, score.parts, score.reason, detail)
