"""A project whose playbook is a skill folder, and whose check is a program that looks at the folder a policy left.

`whet init NAME --skill DIR --tasks FILE --check 'COMMAND'` makes it.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from whet.config.playbooks import read_playbook
from whet.envs.data import columns as names
from whet.envs.data.checks.workspace import OURS
from whet.envs.data.columns import known, obvious
from whet.envs.data.profile import profile
from whet.envs.data.proposal import DataProposal, Wishes
from whet.envs.data.source import DataSource, read_source
from whet.errors import WhetError
from whet.sandbox.jobs import name_problem

SKILL, CHECKER = "skill", "checker"
"""Folders of the project: the playbook, and the program's files."""

FILES = ("files", "workspace", "folder")
"""What a column with a task's files is called."""

LONGEST_REPLY = 1024

MOST_FILES, LARGEST = 200, 8 * 1024 * 1024
"""Files that a check may bring, and their bytes together."""

_SYSTEM = ("/usr/", "/bin/", "/sbin/", "/lib")


@dataclass(frozen=True, slots=True)
class SkillRequest:
    """A skill, the tasks it is for, and the command that says whether one was done."""

    skill: Path
    tasks: Path
    command: str


def propose_skill(request: SkillRequest, wishes: Wishes) -> tuple[DataSource, DataProposal]:
    """What to make of the tasks, and of the command; nothing is guessed that a name does not say."""
    found = read_source(request.tasks)
    proposal = DataProposal(answer_length=LONGEST_REPLY)
    files = obvious(found.columns, FILES)
    prompt = wishes.prompt or obvious(found.columns, names.QUESTIONS, {files or ""})
    if not prompt:
        raise WhetError(f"{found.name}: say what is asked with --prompt; the columns are {', '.join(found.columns)}")
    proposal.assume(f"what is asked is {prompt!r}", prompt=prompt if "{" in prompt else f"{{{prompt}}}")
    proposal.assume(
        f"the folder that is left is checked by: {request.command}", check="workspace", command=_words(request)
    )
    if files is not None:
        proposal.assume(f"column {files!r} holds the files of a task", files=files)
    if wishes.answer:
        known(wishes.answer, found.columns, "--answer")
        proposal.assume(f"column {wishes.answer!r} holds files that solve a task", answer=wishes.answer)
    identity = wishes.id or obvious(found.columns, names.IDS)
    if identity and (wishes.id or profile(found, identity).unique):
        proposal.assume(f"column {identity!r} names the tasks", id=known(identity, found.columns, "--id"))
    if wishes.group:
        group = known(wishes.group, found.columns, "--group")
        proposal.assume(f"tasks with the same {group!r} stay on one side of the splits", group=group)
    if found.sides is None and "split" not in found.columns:
        told = "half of the tasks are for training, a quarter each for select and test"
        proposal.assume(told, split=[0.5, 0.25, 0.25])
    return found, proposal


def bring_skill(request: SkillRequest, found: DataSource, proposal: DataProposal, beside: Path) -> None:
    """Copy the skill, the program's files, and folders of the tasks into the project."""
    playbook = read_playbook(str(request.skill))
    taken = sorted({*playbook.files} & {*OURS})
    if taken:
        raise WhetError(f"{request.skill}: {taken[0]!r} cannot be a file of a skill: the task lies there")
    shutil.copytree(request.skill, beside / SKILL, ignore=shutil.ignore_patterns("__pycache__"))
    brought = _checker_files(request)
    for name, path in brought.items():
        (beside / CHECKER / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, beside / CHECKER / name)
    if brought:
        proposal.assume(
            f"the check's own files are {', '.join(sorted(brought)[:8])}; no policy sees them", checker=CHECKER
        )
    column = proposal.args.get("files", "")
    folders = {str(row[column]) for row in found.rows if isinstance(row.get(column), str)} if column else set()
    for folder in sorted(folder for folder in folders if not folder.lstrip().startswith("{")):
        if name_problem(folder) or not (found.path.parent / folder).is_dir():
            raise WhetError(f"{found.name}, column {column!r}: {folder!r} is no folder beside the tasks")
        shutil.copytree(found.path.parent / folder, beside / folder, dirs_exist_ok=True)


def _words(request: SkillRequest) -> list[str]:
    try:
        words = shlex.split(request.command)
    except ValueError as error:
        raise WhetError(f"--check: the command cannot be read: {error}") from None
    if not words:
        raise WhetError("--check: name the command that looks at the folder, as in --check 'python check.py'")
    return [_inside(word) for word in words]


def _inside(word: str) -> str:
    """A word of the command as it is where the program's files lie: a path from here becomes its name there."""
    return Path(word).name if _is_ours(word) else word


def _is_ours(word: str) -> bool:
    """Whether a word names a file of the user's, and not a program of the system's."""
    return Path(word).is_file() and not word.startswith(_SYSTEM)


def _checker_files(request: SkillRequest) -> Mapping[str, Path]:
    """Files that the command names, by their names in the workspace; with one in a folder come those beside it."""
    found: dict[str, Path] = {}
    for word in filter(_is_ours, shlex.split(request.command)):
        path = Path(word)
        found.update({path.name: path} if path.parent == Path() else _below(path.parent))
    if len(found) > MOST_FILES or sum(path.stat().st_size for path in found.values()) > LARGEST:
        raise WhetError(f"--check: {request.command!r} names a file in a large folder; give it a folder of its own")
    return found


def _below(folder: Path) -> Mapping[str, Path]:
    files = [file for file in sorted(folder.rglob("*")) if file.is_file() and not file.is_symlink()]
    return {str(file.relative_to(folder)): file for file in files if "__pycache__" not in file.parts}
