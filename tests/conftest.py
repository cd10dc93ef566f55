"""Makes the shared builders importable, and keeps keys of the machine out of the tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


KEYS = (
    *("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_VERSION", "OPENROUTER_API_KEY"),
    *("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
)


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
