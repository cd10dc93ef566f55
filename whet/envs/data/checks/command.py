"""The check by a program: it runs in a sandboxed workspace that holds the reply, and exit code 0 means solved."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from whet.envs.arguments import Argument
from whet.envs.base import work
from whet.envs.data.checks.base import AnswerCheck, Grading
from whet.envs.data.columns import known
from whet.envs.data.template import Template, cell
from whet.errors import FaultError, WhetError
from whet.keys import digest
from whet.sandbox.jobs import MIB, Limits, name_problem, run_command
from whet.types import Fault, Task, failed, solved

_NOT_FOUND = frozenset(os.strerror(code) for code in (errno.ENOENT, errno.EACCES, errno.ENOEXEC))
"""What the sandbox writes behind the name of a program that it cannot start."""


TOLD = 800
"""Last characters of what a failed command wrote: the assertion that failed is among them."""


COMMAND = Argument("command", list[str], [], "program and its arguments; {column} is filled from the row")
SECONDS = Argument("seconds", float, 10.0, "how long the command may take")
MEMORY = Argument("memory", int, 512, "how many MiB it may use")


def command_words(own: Mapping[str, Any], columns: Sequence[str]) -> list[Template]:
    """The words of the command, each a template over the row."""
    if not own["command"] or not all(own["command"]):
        raise WhetError('command: name a program, as in -a command=\'["python", "check.py"]\'')
    return [Template.parse(word, columns, "command", alone=False) for word in own["command"]]


def command_limits(own: Mapping[str, Any]) -> Limits:
    """What the command may use."""
    seconds = float(own["seconds"])
    return Limits(wall=seconds, cpu=seconds, memory=int(own["memory"]) * MIB)


class CommandCheck(AnswerCheck):
    """The reply lies in `reply_file`, beside the files of a folder and, by name, cells of the row."""

    takes = (
        COMMAND,
        Argument("reply_file", str, "reply.txt", "file in the workspace that the answer is written to"),
        Argument("workspace", str, "", "folder whose files lie in the workspace"),
        Argument("row_files", dict, {}, "further files from the row, as {'test_it.py' = 'tests'}: name to column"),
        SECONDS,
        MEMORY,
    )
    needs_answer = False

    def __init__(self, answer: str | None, columns: Sequence[str], own: Mapping[str, Any]) -> None:
        super().__init__(answer, columns, own)
        self.words = command_words(self.own, columns)
        self.files = folder_files(self.own["workspace"], "workspace") if self.own["workspace"] else {}
        self.row_files: Mapping[str, str] = self.own["row_files"]
        for name in (self.own["reply_file"], *self.row_files):
            problem = name_problem(name)
            if problem:
                raise WhetError(f"command: {name!r} cannot be a file of the workspace: {problem}")
        for name, column in self.row_files.items():
            known(column, columns, f"row_files: {name}")
        self.limits = command_limits(self.own)

    @property
    def hidden(self) -> frozenset[str]:
        return super().hidden | frozenset(self.row_files.values())

    @property
    def made_of(self) -> Any:
        return digest(self.files)

    def truth(self, row: Mapping[str, Any], place: str) -> Any:
        return {
            "argv": [word.fill(row) for word in self.words],
            "files": {name: cell(row.get(column)) for name, column in self.row_files.items()},
            "answer": None if self.answer is None else cell(row.get(self.answer)),
        }

    def oracle(self, truth: Any) -> str | None:
        return None if truth["answer"] is None else str(truth["answer"])

    def expected(self, truth: Any) -> str:
        return self.oracle(truth) or f"a reply for which this succeeds: {' '.join(truth['argv'])}"

    def grade(self, task: Task, said: str) -> Grading:
        if not said.strip():
            return failed("no_answer", "nothing to read in the reply")
        files = {**self.files, **task.truth["files"], self.own["reply_file"]: said}
        result = yield from work(run_command(task.truth["argv"], files=files, limits=self.limits))
        if result.error == "no_performer":
            raise FaultError(Fault("no_performer", "command", result.detail or "no sandbox performs the command"))
        if result.error:
            return failed(result.error, result.detail)
        code, told = result.value["exit_code"], str(result.value["stderr"] or result.value["stdout"]).strip()
        refuse_missing(task.truth["argv"][0], code, told)
        return (
            solved(exit_code=0.0) if code == 0 else failed("wrong", f"exit code {code}: {told[-TOLD:]}", exit_code=code)
        )


def refuse_missing(program: str, code: int, told: str) -> None:
    """Raise where the sandbox could not start a program: that is the user's to mend, and no score."""
    if code in (126, 127) and told.removeprefix(f"{program}: ") in _NOT_FOUND:
        raise WhetError(f"command: {program!r} cannot be run in the sandbox: {told[-200:]}")


def folder_files(where: str, argument: str) -> dict[str, str]:
    """The files of a folder as text, by their names in it."""
    folder = Path(where)
    if not folder.is_dir():
        raise WhetError(f"{argument}: {where} is not a folder")
    try:
        return {
            str(file.relative_to(folder)): file.read_text(encoding="utf-8")
            for file in sorted(folder.rglob("*"))
            if file.is_file() and "__pycache__" not in file.parts
        }
    except (OSError, UnicodeDecodeError) as error:
        raise WhetError(f"{argument}: {where} cannot be read as text files: {error}") from None
