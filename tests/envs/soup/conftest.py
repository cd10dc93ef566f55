"""One sandbox for all tests of the environment in a process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from whet.envs.performing import Performing


@pytest.fixture(scope="session")
def perform() -> Iterator[Performing]:
    with Performing() as performing:
        yield performing
