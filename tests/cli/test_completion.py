"""The shell completes what there is: commands, options, environments, models, runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Whet

from whet.cli.completion import NAMES, SCRIPTS

SUMS = f"{Path(__file__).parents[2] / 'examples' / 'sums.py'}:Sums"


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("ev",), {"eval"}),
        (("eval", "--ma"), {"--max-tokens", "--max-usd"}),
        (("eval", "da"), {"data"}),
        (("eval", "soup", "-m", "embedded:"), {"embedded:smollm2"}),
        (("eval", "soup", "--model", "scr"), {"scripted:"}),
        (("eval", "soup", "-m", "baseline:o"), {"baseline:oracle"}),
        (("eval", "soup", "--split", "te"), {"test"}),
        (("runs", "sh"), {"show"}),
        (("gate", "sim"), {"simulate"}),
        (("models", "--for", "r"), {"rl"}),
        (("models", "show", "zzz"), set()),
        (("init", "x", "--check", "cho"), {"choice"}),
        (("envs", "show", "reasoning-gym/leg"), {"reasoning-gym/leg_counting"}),
        (("completion", ""), set(SCRIPTS)),
        (("no-such", "x"), set()),
        (("groupqc", "aud"), {"audit"}),
    ],
)
def test_what_may_stand_there(whet: Whet, words: tuple[str, ...], offered: set[str]) -> None:
    said = whet("complete", *words)
    assert (said.code, set(said.out.split())) == (0, offered), said.err


def test_runs_are_offered_by_name_wherever_one_is_asked_for(whet: Whet) -> None:
    for name in ("before", "beside"):
        whet("eval", SUMS, "-m", "baseline:oracle", "-n", "2", "--run", name, "--runs", "kept")
    os.rename("kept", "runs")  # noqa: PTH104
    for words in (("report",), ("runs", "show"), ("resume",), ("compare", "before"), ("gate",), ("verify",)):
        assert set(whet("complete", *words, "be").out.split()) == {"before", "beside"}, words
    assert whet("complete", "report", "--runs", "elsewhere", "be").out == ""


def test_everything_is_offered_after_whet(whet: Whet) -> None:
    offered = whet("complete", "").out.split()
    assert {"demo", "init", "eval", "train", "report", "completion", "groupqc"} <= set(offered)
    assert "complete" not in offered


def test_every_name_is_one_of_a_parameter() -> None:
    import typer.main

    from whet.cli.app import app

    def params(command: object) -> set[str]:
        found = {str(param.name) for param in getattr(command, "params", ())}
        return found.union(*(params(inner) for inner in getattr(command, "commands", {}).values()))

    assert set(NAMES) <= params(typer.main.get_command(app))


@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_script_is_one_that_the_shell_reads(whet: Whet, shell: str, tmp_path: Path) -> None:
    said = whet("completion", shell)
    assert (said.code, said.out) == (0, SCRIPTS[shell])
    program = shutil.which(shell)
    if program is not None:  # bash is everywhere, the others where somebody uses them
        subprocess.run([program, "-n"], input=said.out, text=True, check=True)


def test_bash_completes_after_a_colon(tmp_path: Path) -> None:
    """Bash breaks words at colons: what is put in place is what follows the last one."""
    (tmp_path / "whet").write_text(f'#!/bin/sh\nexec {sys.executable} -m whet "$@"\n')
    (tmp_path / "whet").chmod(0o755)
    ask = "\nCOMP_LINE='whet eval soup -m embedded:sm'; COMP_POINT=${#COMP_LINE}; _whet; echo \"${COMPREPLY[@]}\""
    surroundings = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", SCRIPTS["bash"] + ask], env=surroundings, capture_output=True, text=True, check=True
    )
    assert done.stdout == "smollm2\n"


def test_an_unknown_shell_is_refused(whet: Whet) -> None:
    said = whet("completion", "csh")
    assert said.code == 2
    assert "bash, zsh, fish" in said.err
