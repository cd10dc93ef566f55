"""A start: a folder with a config, a playbook and a README for a file of examples, or a new environment's package."""

from __future__ import annotations

import keyword
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import tomlkit

from whet.config.load import load_config
from whet.config.schema import EvalConfig
from whet.envs.base import Environment
from whet.envs.data.manifest import OtherRule, manifest_path
from whet.envs.data.proposal import DataProposal, Wishes, propose
from whet.envs.data.source import DataSource, read_source
from whet.envs.data.splits import TiedRows
from whet.envs.registry import load_environment
from whet.errors import WhetError, typed
from whet.evals.power import showable_gain, tasks_for
from whet.models.base import Model
from whet.run.anew import note_written, put_in_place, refuse_changed
from whet.run.first_playbook import first_playbook
from whet.run.sample import sample_of
from whet.run.skill import SkillRequest, bring_skill, propose_skill
from whet.run.train import load_train_config
from whet.types import SPLITS, Split

MOST_COPIED = 64 * 1024 * 1024
"""Larger data stays where it is."""

SUGGESTED = "suggested.md"
"""A first playbook that did not help, or that nobody has tried."""

RENDERED = 3
"""Tasks that are shown as they will be asked."""

WORTH_SHOWING = 0.1
"""A gain that most people would want to see."""


@dataclass(frozen=True, slots=True)
class NewProject:
    """What was written, what was assumed, and what to type next."""

    folder: Path
    files: tuple[str, ...]
    environment: str
    assumed: tuple[str, ...]
    sizes: Mapping[Split, int | None]
    commands: tuple[str, ...]
    unsure: tuple[str, ...] = ()
    """What could as well be otherwise, each with the option that says so."""
    rendered: tuple[tuple[str, str], ...] = ()
    """A few train tasks as the model will see them, each with its right answer."""
    outlook: str = ""
    """What so many rows can show."""
    playbook: str = ""
    """What the first playbook is, and why."""


Choose = Callable[[Sequence[str]], str]
"""Asks a person which of these columns holds the answer."""


def initialise(
    name: str | Path,
    *,
    source: str | Path | None = None,
    encoding: str = "utf-8",
    wishes: Wishes = Wishes(),
    choose: Choose | None = None,
    skill: SkillRequest | None = None,
    trial: str | Model = "",
) -> NewProject:
    """Make the folder `name`: from a file of examples, from a skill, or without either a package for an environment.

    Everything is written beside and moved into place at the end. A folder that was made here from a file is made anew
    where nobody has changed what was written; runs and whatever else lies in it stay. Any other is refused. `trial` is
    the model that tries the first playbook on train tasks; without one, the playbook is blank.
    """
    folder = Path(name)
    folder = folder.resolve() if folder.is_symlink() else folder  # files are moved into it from beside it
    if folder.exists() and source is None and skill is None:
        raise WhetError(f"{folder}: is there already; give another name or move it away")
    refuse_changed(folder)
    if not folder.name or not folder.parent.is_dir():
        raise WhetError(f"{folder}: there is no folder {folder.parent} to put it into")
    beside = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    try:
        beside.mkdir()
        if skill is not None:
            made = _from_skill(folder, beside, skill, wishes)
        elif source is not None:
            made = _from_data(folder, beside, Path(source), encoding, wishes, choose, trial)
        else:
            made = _package(folder, beside)
        if made.sizes["train"] is not None:
            note_written(beside, made.files)
        put_in_place(beside, folder)
    except OSError as error:
        raise WhetError(f"{folder}: cannot be written ({error.strerror})") from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return made


# --------------------------------------------------------------------------------------------- from data


def _from_data(
    folder: Path,
    beside: Path,
    path: Path,
    encoding: str,
    wishes: Wishes,
    choose: Choose | None,
    trial: str | Model,
) -> NewProject:
    sample = sample_of(path, beside, encoding)
    found = read_source(sample or path, encoding)
    proposal = propose(found, wishes)
    if sample is not None:
        proposal.assumed.insert(0, f"{path.name} is large: {len(found.rows)} of its rows, spread over it, are taken")
    if proposal.rivals and choose is not None:
        proposal = propose(found, replace(wishes, answer=choose(proposal.rivals)))
    if encoding != "utf-8":
        proposal.assume(f"the file is in {encoding}", encoding=encoding)
    address = path.name if sample is not None else _bring(found, proposal, folder, beside)
    env = _opened(found, proposal, beside, address, grouped=bool(wishes.group))
    first = first_playbook(env, folder.name, proposal.args, trial, proposal.answer_length)
    words = _words(folder, beside, found, proposal, address, env)
    for name in ("config.toml", "train.toml", "README.md"):
        (beside / name).write_text(_filled(f"data/{name}.tmpl", words), encoding="utf-8")
    (beside / "playbook.md").write_text(first.body, encoding="utf-8")
    if first.suggested:
        (beside / SUGGESTED).write_text(first.suggested, encoding="utf-8")
    return replace(_made(folder, beside, address, proposal, env), playbook=first.told)


def _from_skill(folder: Path, beside: Path, skill: SkillRequest, wishes: Wishes) -> NewProject:
    found, proposal = propose_skill(skill, wishes)
    bring_skill(skill, found, proposal, beside)
    address = _bring(found, proposal, folder, beside)
    env = _opened(found, proposal, beside, address)
    words = {**_words(folder, beside, found, proposal, address, env), "command": skill.command}
    for name in ("config.toml", "train.toml", "README.md"):
        (beside / name).write_text(_filled(f"skill/{name}.tmpl", words), encoding="utf-8")
    return _made(folder, beside, address, proposal, env)


def _opened(
    found: DataSource, proposal: DataProposal, beside: Path, address: str, grouped: bool = False
) -> Environment:
    """The environment of the new project. Splits that lie beside the data are kept where their rule is the same.

    A group that nobody asked for is given up, aloud, where it ties nearly all rows together.
    """
    args = _args_from(beside, proposal.args)
    try:
        return load_environment(f"data:{beside / address}", args)
    except TiedRows:
        if not args.get("group") or grouped:
            raise
        group = proposal.args.pop("group")
        proposal.assumed = [line for line in proposal.assumed if not line.startswith(f"rows with the same {group!r}")]
        proposal.unsure.append(
            f"rows of one {group!r} come on several sides: equal questions tie nearly all of them together; ask what "
            "tells them apart with --prompt, beside --group"
        )
        return _opened(found, proposal, beside, address)
    except OtherRule:
        brought = manifest_path(beside / address, "")
        brought.unlink()
        proposal.unsure.append(
            f"the splits in {manifest_path(found.path, '')} were drawn by another rule and are not taken over: what "
            "was trained on with them may be tested on here"
        )
        return load_environment(f"data:{beside / address}", args)


def _made(folder: Path, beside: Path, address: str, proposal: DataProposal, env: Environment) -> NewProject:
    """What was written and assumed; the configs are read once, so that none is left that cannot be."""
    sizes: dict[Split, int | None] = {split: env.size(split) for split in SPLITS}
    load_config(EvalConfig, beside / "config.toml")
    load_train_config(beside / "train.toml")
    commands = (
        f"cd {typed(folder)}",
        "whet eval -c config.toml --playbook blank --run before",
        "whet eval -c config.toml --run after",
        "whet compare before after",
        "whet train train.toml",
    )
    written = tuple(sorted(str(file.relative_to(beside)) for file in beside.rglob("*") if file.is_file()))
    return NewProject(
        folder,
        written,
        f"data:{address}",
        tuple(proposal.assumed),
        sizes,
        commands,
        tuple(proposal.unsure),
        tuple(_rendered(env)),
        _outlook(env),
    )


def _rendered(env: Environment) -> Iterator[tuple[str, str]]:
    """The first train tasks as they will be asked, with the right answer where the check knows one."""
    oracle = env.baselines().get("oracle")
    for index in range(min(RENDERED, env.size("train") or 0)):
        task = env.task("train", index)
        answer = oracle(task, task.messages) if oracle is not None else ""
        yield task.messages[-1].text, answer if isinstance(answer, str) else ""


def _outlook(env: Environment) -> str:
    """What the select and test rows can show, and what to do where that is little."""
    select, test = (env.size(split) or 0 for split in ("select", "test"))
    told = (
        f"what this can show: with {select} select rows, a gain of about {showable_gain(select):.2f} or more; "
        f"on {test} test rows, of about {showable_gain(test):.2f}"
    )
    if min(select, test) >= tasks_for(WORTH_SHOWING):
        return told
    needed = tasks_for(WORTH_SHOWING)
    return f"{told}. Smaller gains need more rows: {needed} in each show {WORTH_SHOWING:.2f}, four times in five"


def _bring(found: DataSource, proposal: DataProposal, folder: Path, beside: Path) -> str:
    """Copy the data, or refer to it where it is large or names images beside it; the path from the new folder."""
    path = found.path
    size = sum(file.stat().st_size for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file())
    if size <= MOST_COPIED and "images" not in proposal.args:
        (shutil.copytree if path.is_dir() else shutil.copyfile)(path, beside / path.name)
        kept = manifest_path(path, "")
        if kept.is_file():
            shutil.copyfile(kept, beside / kept.name)
        return path.name
    proposal.assume("the data stays where it is; only its splits are kept here", manifest="splits.json")
    return os.path.relpath(path.resolve(), folder.resolve())


def _args_from(beside: Path, args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as they are from here, while the folder is still beside its place."""
    here = {name: str(beside / args[name]) for name in ("manifest", "checker") if name in args}
    return {**args, **here}


def _words(
    folder: Path, beside: Path, found: DataSource, proposal: DataProposal, address: str, env: Environment
) -> dict[str, str]:
    """What the templates say of the data and of what was assumed."""
    kept = [file.name for file in sorted(beside.iterdir()) if file.is_file()]
    explained = {
        name: "which rows are train, select and test; keep it" for name in kept if name.endswith("splits.json")
    }
    rows = "\n".join(f"| `{name}` | {explained.get(name, 'your examples')} |" for name in kept)
    words: dict[str, str] = {
        "title": folder.name,
        "folder": typed(folder),
        "address": _toml(f"data:{address}"),
        "args": "\n".join(f"{name} = {_toml(value)}" for name, value in proposal.args.items()),
        "max_tokens": str(max(32, min(1024, proposal.answer_length))),
        "rows": str(len(found.rows)),
        "data": address,
        "assumed": "\n".join(f"* {assumption}" for assumption in proposal.assumed),
        "files": rows,
        "outlook": f"W{_outlook(env)[1:]}",
    }
    words.update({split: str(env.size(split)) for split in SPLITS})
    words["batch"] = str(max(4, min(20, (env.size("train") or 0) // 2)))
    return words


def _toml(value: Any) -> str:
    item = tomlkit.string(value, multiline="\n" in value) if isinstance(value, str) else tomlkit.item(value)
    return str(item.as_string())


# --------------------------------------------------------------------------------------------- a package


def _package(folder: Path, beside: Path) -> NewProject:
    module = re.sub(r"\W+", "_", folder.name).strip("_").lower()
    if not module.isidentifier() or keyword.iskeyword(module) or not module.isascii():
        raise WhetError(f"{folder.name!r}: cannot be the name of a Python package; use letters, digits and dashes")
    words = {
        "module": module,
        "dashed": module.replace("_", "-"),
        "class_name": "".join(part.capitalize() for part in module.split("_")),
        "folder": typed(folder),
    }
    written = {
        "pyproject.toml": "pyproject.toml",
        "README.md": "README.md",
        f"{module}/__init__.py": "package.py",
        f"{module}/environment.py": "environment.py",
        f"tests/test_{module}.py": "test_environment.py",
    }
    for name, template in written.items():
        (beside / name).parent.mkdir(parents=True, exist_ok=True)
        (beside / name).write_text(_filled(f"env/{template}.tmpl", words), encoding="utf-8")
    address = f"{module}/environment.py:{words['class_name']}"
    commands = (f"cd {typed(folder)}", f"whet envs check {typed(address)}", "pytest")
    return NewProject(folder, tuple(sorted(written)), address, (), dict.fromkeys(SPLITS), commands)


def _filled(template: str, words: Mapping[str, str]) -> str:
    text = (files("whet.run") / "scaffold" / template).read_text(encoding="utf-8")
    return Template(text).substitute(words)
