"""One sandbox for all tests of the environment in a process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from whet.rollout.workbench import Workbench


@pytest.fixture(scope="session")
def perform() -> Iterator[Workbench]:
    with Workbench() as performing:
        yield performing
