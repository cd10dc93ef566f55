"""One warm sandbox for all tests of a worker process, and a way to run a job in it from plain functions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest

from whet.sandbox.base import Sandbox
from whet.sandbox.isolation import open_sandbox
from whet.sandbox.jobs import run_python
from whet.types import Work, WorkResult

Run = Callable[[Work], WorkResult]


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """The strongest sandbox of this machine. No skip: where isolation is not possible, these tests fail and say so."""
    opened = open_sandbox(preload=("json", "ctypes", "socket", "subprocess", "threading"))
    yield opened
    asyncio.run(opened.close())


@pytest.fixture
def run(sandbox: Sandbox) -> Iterator[Run]:
    """Runs a job; and after the test, whatever it did, the sandbox must serve the next call."""

    def perform(work: Work) -> WorkResult:
        return asyncio.run(sandbox.run(work.payload))

    yield perform
    after = perform(run_python("print(6 * 7)"))
    assert (after.value["stdout"], after.error) == ("42\n", ""), "the sandbox did not serve the next call"
