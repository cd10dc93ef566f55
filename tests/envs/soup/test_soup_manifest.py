"""The bench is the one that was committed."""

from __future__ import annotations

import pytest

from whet.envs.soup import manifest
from whet.envs.soup.environment import EACH, Soup

EACH_KIND = (Soup().size("test") or 0) // EACH
"""Tasks that show each archetype once."""


def test_the_first_task_of_every_archetype_is_as_committed() -> None:
    """All of them are compared by bench/soup.py."""
    assert manifest.changed(EACH_KIND) == []


def test_the_manifest_has_different_tasks_of_every_archetype() -> None:
    known = manifest.committed()
    assert {len(made) for made in known.values()} == {EACH}
    assert len({digest for made in known.values() for digest in made}) == Soup().size("test")


def test_another_task_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    known = manifest.committed()
    monkeypatch.setattr(manifest, "committed", lambda: {**known, "record.contact": known["rows.staff"]})
    assert [name.partition(" ")[0] for name in manifest.changed(EACH_KIND)] == ["record.contact"]
