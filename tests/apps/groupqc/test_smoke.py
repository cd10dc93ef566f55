"""The whole path with no model: every step holds, and a step that does not is told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from whet.apps.groupqc.smoke import steps
from whet.apps.groupqc.smoke.steps import run_smoke
from whet.errors import WhetError


def test_every_step_holds() -> None:
    assert [(step.name, step.said) for step in run_smoke() if not step.ok] == []


def test_without_photos_nothing_is_drawn() -> None:
    assert "photos" not in {step.name for step in run_smoke(("firesafety",), photos=False)}


def test_a_step_that_fails_says_why_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(folder: Path, packs: tuple[str, ...]) -> str:
        raise WhetError("nothing works")

    monkeypatch.setattr(steps, "STEPS_IN_ORDER", {"first": broken, "second": lambda folder, packs: "fine"})
    assert [(step.name, step.ok, step.said) for step in run_smoke()] == [
        ("first", False, "nothing works"),
        ("second", True, "fine"),
    ]
