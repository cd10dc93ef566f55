"""Rules of the house that no linter knows: nothing stands twice, a name has one sense, no room names a sibling."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import whet

PACKAGE = Path(whet.__file__).parent
MODULES = {file.relative_to(PACKAGE).as_posix(): file.read_text() for file in sorted(PACKAGE.rglob("*.py"))}

SAME = 6
"""So many lines that stand literally in two places are one thing built twice."""

_IMPORT = re.compile(r"(from [\w.]+ )?import |\)$|[\w*]+( as \w+)?,$")


def code_lines(source: str) -> Iterator[tuple[int, str]]:
    """Lines that say something, with their numbers: blank lines, comments and the imports at the top are left out."""
    body = ast.parse(source).body
    last_import = max(
        (node.end_lineno or 0 for node in body if isinstance(node, ast.Import | ast.ImportFrom)), default=0
    )
    for number, line in enumerate(source.splitlines(), 1):
        text = line.strip()
        if text and not text.startswith("#") and not (number <= last_import and _IMPORT.match(text)):
            yield number, text


def test_no_six_lines_stand_in_two_places() -> None:
    seen: dict[tuple[str, ...], str] = {}
    twice: list[str] = []
    for name, source in MODULES.items():
        lines = list(code_lines(source))
        for at in range(len(lines) - SAME + 1):
            run = tuple(text for _, text in lines[at : at + SAME])
            where = f"{name}:{lines[at][0]}"
            first = seen.setdefault(run, where)
            if first != where:
                twice.append(f"{where} repeats {first}: {run[0]}")
    assert twice == []


def classes() -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for name, source in MODULES.items():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(name)
    return found


def test_a_class_name_stands_for_one_thing() -> None:
    assert {name: homes for name, homes in classes().items() if len(homes) > 1} == {}


NOUNS = {"Sampling", "OptimizerSampling", "Finding", "Standing", "Training", "ReflactTraining", "Planting", "Need"}
EXCEPTIONS = {
    *("LimitReached", "BudgetReached", "Interrupted", "PipelineInterrupted"),
    *("Halted", "Spent", "CallStopped", "QueueClosed"),
}
"""What was raised may say what happened."""
PUBLIC = {"Scripted", "Given"}
"""A model of scripted replies, and objects given instead of named: known to users under these names."""


def test_a_class_is_a_noun_and_no_participle() -> None:
    allowed = NOUNS | EXCEPTIONS | PUBLIC
    endings = ("Finding", "Reading")
    participles = [
        name
        for name in classes()
        if re.search(r"(ed|ing)$", name) and name not in allowed and not name.endswith(endings)
    ]
    assert participles == []


def test_a_module_is_a_noun() -> None:
    nouns = {"covering", "blending", "training", "missing"}
    verbs = [name for name in MODULES if Path(name).stem.endswith("ing") and Path(name).stem not in nouns]
    assert verbs == []


def test_a_loop_variable_has_the_name_of_the_thing() -> None:
    """`one` beside `other` is a pair of alike things, which is what they are."""
    unnamed = []
    for name, source in MODULES.items():
        for node in ast.walk(ast.parse(source)):
            targets = [node.target] if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension) else []
            unnamed += [
                f"{name}:{target.lineno}" for target in targets if isinstance(target, ast.Name) and target.id == "one"
            ]
    assert unnamed == []


@pytest.mark.parametrize(
    ("rooms", "sibling"),
    [
        (("run", "cli", "config", "apps"), "whet.learn.reflact"),
        (("cli", "run", "learn", "gate", "evals", "rollout"), "whet.apps.groupqc"),
        (("cli", "run", "learn", "gate", "evals", "rollout"), "whet.apps.ordebug"),
        (("models/load.py", "models/base.py", "models/scheme.py"), "whet.models.openai"),
        (("envs/registry.py", "envs/base.py"), "whet.envs.soup"),
        (("gate/registry.py", "gate/base.py", "gate/decide.py"), "whet.gate.presets"),
    ],
)
def test_what_is_found_by_entry_point_is_named_by_nobody(rooms: tuple[str, ...], sibling: str) -> None:
    named = [name for name, source in MODULES.items() if name.startswith(rooms) and sibling in source]
    assert named == []


# --------------------------------------------------------------------------------------------- outside text

SCREENS = ("terminal.py", "screen.py", "cli/exits.py")
"""Where printing is done. All others hand texts and pages to them."""

PROGRAMS = (
    "sandbox/",
    "run/contract/probe.py",
    "envs/soup1/manifest.py",
    "envs/soup1/runner.py",
    "envs/soup/runner.py",
)
"""What runs in a process of its own and writes to a pipe that a program reads, or is a script of the developers."""

WRITERS = {
    "files.py": "the one place",
    "sandbox/": "what a job is given, in a folder that is thrown away",
    "models/agent/": "what an agent is given, in a folder that is thrown away",
    "ledger/": "SQLite, its lock and its head",
    "envs/ordebug/": "generated models, which hold nothing from outside",
    "envs/groupqc/": "generated photos and truths",
    "envs/soup1/": "its manifest, and what its runner hands over",
    "envs/soup/": "what its runner hands over",
    "run/register.py": "facts that are appended under a lock, keys taken out",
    "run/init.py": "templates of a new project",
    "release/anchor.py": "heads of the trail, which are appended where nothing else is ours",
    "release/package.py": "files inside an archive that is written whole or not at all",
    "release/trail.py": "its lock",
    "apps/serving/server.py": "the log of a server, which the server writes",
    "apps/groupqc/stage_a/output.py": "lines that are followed while the run goes on",
    "apps/groupqc/smoke/": "made-up input",
}
"""Who opens files for writing, and why that is not `whet.files`."""


def calls(source: str) -> Iterator[tuple[int, str, ast.Call]]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            yield node.lineno, ast.unparse(node.func), node


def test_prints_go_through_the_terminal() -> None:
    """`shown` is so applied to all of them: what a server or a file says cannot act, wherever it is printed from."""
    direct = re.compile(
        r"print|typer\.(echo|secho)|click\.s?echo|(sys\.)?(stdout|stderr)(\.buffer)?\.write|rich\.print|"
        r"(rich\.console\.)?Console|Text\.from_(markup|ansi)|traceback\.print_\w+|logging\.(getLogger|basicConfig|info|warning|error)"
    )
    found = [
        f"{name}:{line}: {function}"
        for name, source in MODULES.items()
        if not name.startswith((*SCREENS, *PROGRAMS))
        for line, function, _ in calls(source)
        if direct.fullmatch(function)
    ]
    assert found == []


def test_files_are_written_by_the_one_place() -> None:
    """`write_atomically` takes keys out, keeps others from reading and never leaves a part."""

    def writes(function: str, call: ast.Call) -> bool:
        if function.endswith((".write_text", ".write_bytes")):
            return True
        modes = [
            part.value
            for part in (*call.args, *(word.value for word in call.keywords))
            if isinstance(part, ast.Constant)
        ]
        opens = function == "open" or function.endswith((".open", ".fdopen"))
        return opens and any(isinstance(mode, str) and re.fullmatch(r"[rb]*[wax+][bt+]*", mode) for mode in modes)

    found = [
        f"{name}:{line}: {function}"
        for name, source in MODULES.items()
        if not name.startswith(tuple(WRITERS))
        for line, function, call in calls(source)
        if writes(function, call)
    ]
    assert found == []
