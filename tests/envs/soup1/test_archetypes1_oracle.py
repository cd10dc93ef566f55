"""Oracles of the families: right under every parser, on sound and on damaged pages."""

from __future__ import annotations

from typing import Any

import pytest
from envs.soup1.first_families import ALL, drafts, little, named
from envs.soup1.first_trying import PARSERS, solved

from whet.envs.soup1.answers import same
from whet.envs.soup1.archetype import Archetype, TaskDraft
from whet.envs.soup1.score import weakness


def right(one: Archetype, draft: TaskDraft, said: Any, html: str) -> bool:
    """Whether the oracle's last words earn full credit."""
    if draft.limit is None:
        return "answer" in said and same(one.answer, said["answer"], draft.answer)
    limit = said["limit"]
    return limit["reason"] == draft.limit.reasons[0] and not weakness(limit["evidence"], html, list(draft.limit.marks))


@pytest.mark.parametrize("one", ALL, ids=named)
def test_the_oracle_is_right_under_every_parser(one: Archetype) -> None:
    """Two drafts of each; that the tasks themselves are as they were is what the manifest shows."""
    for seed, draft in enumerate(drafts(one, 2)):
        built = little(draft, seed, malformed=seed % 2 == 1 and one.malformed > 0)
        for parser in PARSERS:
            assert right(one, draft, solved(draft, built, parser), built[""]), (seed, parser, draft.query)
