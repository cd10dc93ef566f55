"""`whet init --skill`: the worked example of examples/skill, with a scripted agent and with a chat model."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from builders import FromFunction

import whet
from whet.cli.init import init_command
from whet.config.playbooks import read_playbook
from whet.envs.base import Environment
from whet.envs.data.proposal import Wishes
from whet.envs.registry import load_environment
from whet.errors import WhetError
from whet.models.base import Request
from whet.run.init import NewProject, initialise
from whet.run.skill import SkillRequest
from whet.types import Playbook, Reply, ToolCall

EXAMPLE = Path(__file__).parents[2] / "examples" / "skill"
RULE = "- Orders that were cancelled do not count; refunded ones are taken off."


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NewProject:
    shutil.copytree(EXAMPLE, tmp_path / "example")
    monkeypatch.chdir(tmp_path / "example")
    return made()


def made(command: str = "python checker/check.py", name: str = "totals", **wishes: Any) -> NewProject:
    return initialise(name, skill=SkillRequest(Path("skill"), Path("tasks.jsonl"), command), wishes=Wishes(**wishes))


def environment(monkeypatch: pytest.MonkeyPatch) -> Environment:
    """The environment as its config has it, from inside the project's folder."""
    monkeypatch.chdir("totals")
    args = {"prompt": "{prompt}", "check": "workspace", "command": ["python", "check.py"], "files": "files"}
    return load_environment("data:tasks.jsonl", {**args, "id": "id", "checker": "checker"})


def test_the_project_holds_all_that_it_needs(project: NewProject) -> None:
    assert {"config.toml", "train.toml", "skill/SKILL.md", "skill/example.json", "checker/check.py", "tasks.jsonl"} <= {
        *project.files
    }
    assert project.sizes == {"train": 24, "select": 12, "test": 12}
    assert read_playbook("totals/skill").files == {"example.json": '{"Ada": 1250, "Bruno": 399}\n'}


def test_a_better_skill_makes_a_scripted_agent_better(project: NewProject, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = f"agent:{sys.executable} {EXAMPLE}/agent.py"
    env = environment(monkeypatch)
    skill = read_playbook("skill")
    better = Playbook(f"{skill.body}\n{RULE}", files=skill.files)
    found = [
        whet.evaluate(env, agent, n=2, playbook=playbook, overrides=["eval.floor=false"]).pass_rate
        for playbook in (Playbook(), skill, better)
    ]
    assert found == [0.0, 0.0, 1.0]


def test_a_chat_model_works_on_the_same_tasks_with_tools(project: NewProject, monkeypatch: pytest.MonkeyPatch) -> None:
    def clerk(request: Request) -> Reply:
        if not any(message.author == "tool" for message in request.messages):
            return Reply("", (ToolCall("1", "read_file", {"path": "orders.csv"}),))
        told = [message.text for message in request.messages if message.author == "tool"]
        if len(told) > 1:
            return Reply("Done.")
        totals: dict[str, int] = {}
        for line in told[0].splitlines()[1:]:
            _, customer, amount, status = line.split(",")
            sign = {"paid": 1, "cancelled": 0, "refunded": -1}[status]
            totals[customer] = totals.get(customer, 0) + sign * round(float(amount) * 100)
        return Reply("", (ToolCall("2", "write_file", {"path": "totals.json", "text": json.dumps(totals)}),))

    env = environment(monkeypatch)
    assert whet.evaluate(env, FromFunction(clerk), n=2, overrides=["eval.floor=false"]).pass_rate == 1.0


def test_the_same_command_makes_the_project_anew(project: NewProject) -> None:
    again = made(name="totals", id="prompt")
    assert "column 'prompt' names the tasks" in again.assumed


@pytest.mark.parametrize(
    ("command", "brought", "words"),
    [
        ("python checker/check.py", ["check.py"], '["python", "check.py"]'),
        ("test -s workspace/totals.json", [], '["test", "-s", "workspace/totals.json"]'),
        ("python alone.py --strict", ["alone.py"], '["python", "alone.py", "--strict"]'),
        ("/usr/bin/env python ./alone.py", ["alone.py"], '["/usr/bin/env", "python", "alone.py"]'),
    ],
)
def test_the_command_brings_the_files_that_it_names(
    project: NewProject, command: str, brought: list[str], words: str
) -> None:
    Path("alone.py").write_text("")
    found = made(command, "other")
    assert [name.removeprefix("checker/") for name in found.files if name.startswith("checker/")] == brought
    assert f"command = {words}" in Path("other/config.toml").read_text()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"skill": Path("nowhere")}, "no such playbook"),
        ({"skill": Path("checker")}, "needs a SKILL.md"),
        ({"tasks": Path("nowhere.jsonl")}, "no such file"),
        ({"command": "python 'open"}, "the command cannot be read"),
        ({"command": " "}, "name the command"),
    ],
)
def test_what_cannot_be_used_is_refused_before_the_folder_exists(
    project: NewProject, change: dict[str, Any], said: str
) -> None:
    asked = {"skill": Path("skill"), "tasks": Path("tasks.jsonl"), "command": "true", **change}
    with pytest.raises(WhetError, match=said):
        initialise("other", skill=SkillRequest(**asked))
    assert not Path("other").exists()


def test_the_command_line_takes_the_three_together(project: NewProject) -> None:
    with pytest.raises(WhetError, match="--skill DIR, --tasks FILE and --check 'COMMAND' together"):
        init_command("other", source=None, env=False, skill=Path("skill"))
    init_command(
        "other", source=None, env=False, skill=Path("skill"), tasks=Path("tasks.jsonl"), wishes=Wishes(check="true")
    )
    assert Path("other/train.toml").is_file()


def test_the_tasks_of_the_example_are_what_its_program_makes() -> None:
    sys.path.insert(0, str(EXAMPLE))
    try:
        from make_tasks import ROWS, task  # type: ignore[import-not-found]
    finally:
        sys.path.remove(str(EXAMPLE))
    lines = [json.loads(line) for line in (EXAMPLE / "tasks.jsonl").read_text().splitlines()]
    assert lines == [task(number) for number in range(ROWS)]
