"""The README is true: every command of it is run, or read by the command line where a test cannot pay for it."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main
from command_line import Whet
from docs.pages import ROOT, indented
from loopback import serving

README = ROOT / "README.md"
STAND_IN = f"scripted:{Path(__file__).parent / 'stand_in.py'}:answer"

READ = {
    "whet view": "serves until it is stopped",
    "whet train examples/weights_cpu.toml": "minutes of a processor",
    "whet ablate": "minutes of a processor",
    "whet export gguf": "needs trained weights",
    "whet cross": "needs trained weights",
    "whet eval -c config.toml -m hf:": "needs trained weights",
}
"""Commands that are only read: their arguments and options are there, and why they are not run."""

SHORT = {
    "openai:gpt-4.1-mini -n 100": "openai:gpt-4.1-mini -n 4 --base-url {url}",
    "http://127.0.0.1:8000/v1": "{url} -n 4",
    "openrouter:qwen/qwen3-8b -r 4": "openrouter:qwen/qwen3-8b -r 2 -n 2 --base-url {url}",
    "embedded:/path/to/any.gguf --max-tokens 64": f"{STAND_IN} -n 2",
    "reasoning-gym/gcd -m baseline:oracle": "reasoning-gym/gcd -m baseline:oracle -n 4",
    "whet report whet-demo/runs/demo": "whet report before",
    "whet train train.toml --set train.epochs=4": "whet train train.toml --dry-run --set train.epochs=4",
    "cd tickets && whet train train.toml": f"whet train train.toml --run RUN --set target.model={STAND_IN} "
    "--set train.epochs=1 --set train.batch_size=8 --set train.tasks=8",
    "runs/RUN/best_playbook.json --split test": f"runs/RUN/best_playbook.json --split test -m {STAND_IN}",
    "whet runs show RUN": "whet runs show before",
    "whet resume RUN --set control.budget.usd=5 --retry-faults": "whet resume before --retry-faults",
    "whet verify RUN": "whet verify before",
    "whet backup RUN FILE": "whet backup before copy.sqlite",
    "whet export chat RUN --solved": "whet export chat before --solved",
    "RUN_A RUN_B": "before after",
    "whet gate RUN --candidate better.md": "whet gate before --candidate better.md",
    "whet gate RUN --model openai:my-checkpoint-2": "whet gate served --model openai:my-checkpoint-2",
    "--runs 200": "--runs 2",
    "sums.py:Sums": "sums.py:Sums -n 8",
}
"""What is put into other words: fewer tasks, a stand-in for a model, a run that is there."""

SNIPPETS = {
    '"reasoning-gym/gcd", "embedded:smollm2", n=40': f'"examples/sums.py:Sums", "{STAND_IN}", n=4',
    'whet.train("examples/demo.toml")': 'whet.train("examples/demo.toml", overrides=OVERRIDES)',
}
OVERRIDES = ["target.model=baseline:oracle", "train.tasks=6", "train.select=8", "train.test=4"]


def commands() -> Iterator[str]:
    for block in indented(README):
        for line in block.splitlines():
            command = re.sub(r"\s+# .*$", "", line)
            if command.startswith(("whet ", "cd tickets && whet ")):
                yield command


def read(command: str) -> None:
    """The command line knows its words; nothing is done."""
    words = shlex.split(command.rpartition("&& ")[2])[1:]
    group = typer.main.get_command(__import__("whet.cli.app", fromlist=["app"]).app)
    while hasattr(group, "get_command"):
        with group.make_context("whet", [], resilient_parsing=True) as context:
            found = group.get_command(context, words[0])
        assert found is not None, command
        group, words = found, words[1:]
    group.make_context("whet", words)


@pytest.fixture
def reader(tmp_path: Path, whet: Whet) -> Whet:
    """A folder with the examples and two runs to talk about."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "better.md").write_text("Count on your fingers.")
    for name in ("before", "after"):
        said = whet("eval", "examples/sums.py:Sums", "-m", STAND_IN, "-n", "12", "--run", name)
        assert said.code == 0, said.err
    return whet


def test_every_command_of_the_readme_runs(reader: Whet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unused, wrong = {*READ, *SHORT}, []
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-none")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    with serving() as server:
        endpoint = ("--base-url", server.base_url)
        assert (
            reader("eval", "examples/sums.py:Sums", "-m", "openai:m", "-n", "8", "--run", "served", *endpoint).code == 0
        )
        for command in commands():
            known = next((words for words in READ if command.startswith(words)), "")
            if known:
                unused.discard(known)
                read(command)
                continue
            for words, other in SHORT.items():
                if words in command:
                    unused.discard(words)
                    command = command.replace(words, other.format(url=server.base_url))
            monkeypatch.chdir(tmp_path / "tickets" if "train.toml" in command or "config.toml" in command else tmp_path)
            said = reader(*shlex.split(command)[1:])
            if said.code != 0:
                wrong.append(f"{command}: {said.code} {said.err[-400:]}")
    assert wrong == []
    assert unused == set()


def test_every_snippet_of_the_readme_runs(reader: Whet, capsys: pytest.CaptureFixture[str]) -> None:
    snippets = [block for block in indented(README) if block.startswith(("import whet", "class "))]
    assert len(snippets) == 2  # four in a row, and a class
    for snippet in snippets:
        for words, other in SNIPPETS.items():
            snippet = snippet.replace(words, other)
        text = snippet if snippet.startswith("import") else f"import whet\n{snippet}"
        exec(compile(text, str(README), "exec"), {"OVERRIDES": OVERRIDES, "__name__": "readme"})


def test_every_link_of_the_readme_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README.read_text())
    assert len(links) > 15
    assert [link for link in links if not (ROOT / link).exists()] == []
