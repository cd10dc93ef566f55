"""Warm sandboxes for all tests of a worker process, and a way to run a job in them from plain functions.

Attacks are tried in each way to walls that this machine has: as this user, as an ordinary user where this one is root,
and through bubblewrap where it is installed.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from nobody import folder_of_nobody, start_as_nobody

from whet.sandbox import bubblewrap, local
from whet.sandbox.base import Sandbox
from whet.sandbox.isolation import open_sandbox
from whet.sandbox.jobs import run_python
from whet.sandbox.local import LocalSandbox
from whet.types import Work, WorkResult

Run = Callable[[Work], WorkResult]

PRELOAD = ("json", "ctypes", "mmap", "socket", "subprocess", "threading")


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """The strongest sandbox of this machine. No skip: where isolation is not possible, these tests fail and say so."""
    opened = open_sandbox(preload=PRELOAD)
    yield opened
    asyncio.run(opened.close())


@pytest.fixture(scope="session")
def ordinary() -> Iterator[LocalSandbox]:
    """A sandbox that an ordinary user opened; root starts it as nobody."""
    with opened_by_nobody("user") as sandbox:
        yield sandbox


@pytest.fixture(scope="session")
def wrapped() -> Iterator[LocalSandbox]:
    """A sandbox through real bubblewrap, opened by an ordinary user."""
    if bubblewrap.find() is None:
        pytest.skip("bubblewrap is not installed here: no program bwrap on the PATH")
    with opened_by_nobody("bubblewrap") as sandbox:
        yield sandbox


@contextmanager
def opened_by_nobody(mode: str) -> Iterator[LocalSandbox]:
    """A sandbox whose processes belong to nobody where this test runs as root."""
    with pytest.MonkeyPatch.context() as patch:
        if os.getuid() == 0:
            patch.setattr(local.subprocess, "Popen", start_as_nobody)
            patch.setattr(local.tempfile, "mkdtemp", folder_of_nobody)
        sandbox = LocalSandbox(mode, PRELOAD)
    try:
        yield sandbox
    finally:
        sandbox.discard()


@pytest.fixture(params=["this user", "ordinary user", "bubblewrap"])
def tried_in(request: pytest.FixtureRequest) -> Sandbox:
    """Each way to walls that there is here."""
    name = {"this user": "sandbox", "ordinary user": "ordinary", "bubblewrap": "wrapped"}[request.param]
    if request.param == "ordinary user" and os.getuid() != 0:
        pytest.skip("this user is an ordinary one: the same as above")
    found: Sandbox = request.getfixturevalue(name)
    return found


@pytest.fixture
def run(sandbox: Sandbox) -> Iterator[Run]:
    yield from serving(sandbox)


@pytest.fixture
def attack(tried_in: Sandbox) -> Iterator[Run]:
    yield from serving(tried_in)


def serving(sandbox: Sandbox) -> Iterator[Run]:
    """Runs a job; and after the test, whatever it did, the sandbox must serve the next call."""

    def perform(work: Work) -> WorkResult:
        return asyncio.run(sandbox.run(work.payload))

    yield perform
    after = perform(run_python("print(6 * 7)"))
    assert (after.value["stdout"], after.error) == ("42\n", ""), "the sandbox did not serve the next call"
