"""What of a proposal is not as the reading says."""

from __future__ import annotations

from pathlib import Path

from init.datasets import Reading
from init.schemas import at_large, exports, made_up, questions, tables, texts
from init.schemas.draw import Schema

from whet.envs.data.arguments import present, settle
from whet.envs.data.proposal import DataProposal, propose
from whet.envs.data.source import DataSource, read_source
from whet.envs.data.template import Template
from whet.errors import WhetError

KNOWN: tuple[Schema, ...] = (*texts.ALL, *questions.ALL, *exports.ALL, *tables.ALL)
BUILT = tuple(schema for schema in KNOWN if not schema.is_apart)
"""What the reader was built with."""
APART = tuple(schema for schema in KNOWN if schema.is_apart)
"""What it saw when it was done."""
MADE_UP = made_up.ALL
"""What was written when it had learned from `BUILT`, and taught it something in turn."""
AT_LARGE = at_large.ALL
"""What was written after that, and taught it something once more."""
EVERY = (*KNOWN, *MADE_UP, *AT_LARGE)


def read(schema: Schema, folder: Path) -> tuple[DataSource, DataProposal]:
    source = read_source(schema.write(folder))
    return source, propose(source)


def wrong_of(reading: Reading, source: DataSource, proposal: DataProposal) -> list[str]:
    args = proposal.args
    shown = {*Template.parse(args["prompt"], source.columns).columns, *args.get("options", ())}
    wrong = {
        "answer": args.get("answer", "") not in reading.answer,
        "check": args["check"] not in reading.checks,
        "too little": not set(reading.shows) <= shown,
        "too much": not shown <= {*reading.shows, *reading.may},
        "group": bool(reading.group) and args.get("group") != reading.group,
        "rows": bool(reading.rows) and len(present(source, args).rows) != reading.rows,
    }
    return [what for what, is_wrong in wrong.items() if is_wrong] or _unusable(source, proposal)


def _unusable(source: DataSource, proposal: DataProposal) -> list[str]:
    """Why no environment can be made of it."""
    try:
        kept = present(source, proposal.args)
        settings = settle(kept, proposal.args)
        for at, row in enumerate(kept.rows):
            settings.check.truth(row, kept.place(at))
    except WhetError as error:
        return [f"refused: {error}"]
    return []
