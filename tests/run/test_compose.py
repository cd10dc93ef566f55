"""What a config names is built, or refused before anything runs."""

from __future__ import annotations

import pytest

from whet.config.schema import SandboxSection
from whet.errors import WhetError
from whet.rollout.session import open_named_sandbox


def test_a_network_is_for_remote_sandboxes_alone() -> None:
    with pytest.raises(WhetError, match="needs a remote sandbox"):
        open_named_sandbox(SandboxSection(network=True))


def test_a_remote_sandbox_without_its_sdk_says_what_to_install() -> None:
    with pytest.raises(WhetError, match=r"\[prime\]"):
        open_named_sandbox(SandboxSection(kind="prime", network=True))
