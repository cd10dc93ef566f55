"""Known data sets and exports, by their columns: read right, or the doubt is said with the option that mends it."""

from pathlib import Path

import pytest
from init.schemas.draw import Schema
from init.schemas.judged import EVERY, read, wrong_of

MISREAD: frozenset[str] = frozenset()
"""What is not read right."""


@pytest.mark.parametrize("schema", [schema for schema in EVERY if schema.name not in MISREAD], ids=lambda s: s.name)
def test_columns_that_people_know_are_read_right(schema: Schema, tmp_path: Path) -> None:
    source, proposal = read(schema, tmp_path)
    assert wrong_of(schema.reading, source, proposal) == [], (proposal.args, proposal.unsure)
