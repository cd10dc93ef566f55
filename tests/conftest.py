"""Makes the shared builders importable, and keeps keys and habits of the machine out of the tests."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # begun in the background: commands that tests start would be deaf
    signal.signal(signal.SIGINT, signal.default_int_handler)

sys.path.insert(0, str(Path(__file__).parent))

from command_line import Said, Whet

from whet import outside

KEYS = (
    *("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_VERSION", "OPENROUTER_API_KEY"),
    *("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
)


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key of the machine, and none that another test made up."""
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    outside.KEYS.forget()


@pytest.fixture
def whet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Whet:
    """Runs a command in an empty folder."""
    from whet.cli import main

    monkeypatch.chdir(tmp_path)

    def run(*words: str | Path) -> Said:
        monkeypatch.setattr(sys, "argv", ["whet", *map(str, words)])
        try:
            main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        captured = capsys.readouterr()
        return Said(code, captured.out, captured.err)

    return run
