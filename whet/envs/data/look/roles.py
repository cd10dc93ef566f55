"""What is recorded about rows and used all the same: their names, images, kinds, splits, and what they belong to."""

from __future__ import annotations

import itertools
from collections.abc import Collection

from whet.envs.data import columns as names
from whet.envs.data.columns import obvious, words_of
from whet.envs.data.look.base import DataProposal, Wishes
from whet.envs.data.look.view import FileView
from whet.envs.data.source import SIDES
from whet.envs.data.template import cell
from whet.types import SPLITS, Split

MOST_KINDS = 20
LEAST_GROUPS = 6
"""Groups, of which fewer cannot be put on three sides."""
SELECT = 0.33
"""The share of train rows that is taken for select where given splits name none."""


def propose_identity(view: FileView, proposal: DataProposal, wishes: Wishes) -> None:
    """The column that names the rows, and the one that holds images."""
    columns = view.source.columns
    identity = wishes.id or obvious(columns, names.IDS)
    if wishes.id:
        proposal.assume(f"column {identity!r} names the rows, as you said", id=identity)
    elif identity is not None and view.columns[identity].unique and not view.columns[identity].missing:
        proposal.assume(f"column {identity!r} names the rows", id=identity)
    images = obvious(columns, names.IMAGES, proposal.taken)
    if images is not None and images != wishes.answer and view.columns[images].filled:
        proposal.assume(f"column {images!r} holds paths of images", images=images)


def propose_kinds(view: FileView, proposal: DataProposal, used: Collection[str]) -> None:
    """The kind and the difficulty of a task, in columns that are not asked or answered."""
    for role, known_names in (("kind", names.KINDS), ("difficulty", names.DIFFICULTIES)):
        column = obvious(view.source.columns, known_names, {*proposal.taken, *used})
        if column is not None and 1 < view.columns[column].distinct <= MOST_KINDS and not view.columns[column].missing:
            proposal.assume(f"column {column!r} holds the {role} of a task", **{role: column})


def split_column(view: FileView, taken: Collection[str]) -> str | None:
    """The column that says of every row whether it is for training, for select or for test."""
    column = obvious(view.source.columns, names.SPLIT_COLUMNS, taken)
    if column is None or not all(cell(row.get(column)).strip().casefold() in SIDES for row in view.source.rows):
        return None
    return column


def propose_splits(view: FileView, proposal: DataProposal, wishes: Wishes, used: Collection[str]) -> None:
    """Splits as they are given, or made so that rows that belong together stay together."""
    rows = view.source.rows
    if view.source.sides is not None:
        proposal.assumed.append("the folder gives the splits")
        _fill_sides(proposal, set(view.source.sides), "the folder")
        return
    column = split_column(view, proposal.taken)
    given = {SIDES[cell(row.get(column)).strip().casefold()] for row in rows} if column is not None else set()
    if column is not None and len(given) > 1:
        proposal.assume(f"column {column!r} gives the splits", split=column)
        _fill_sides(proposal, given, f"column {column!r}")
        return
    group = wishes.group or _group(view, {*proposal.taken, *used})
    if group is not None:
        said = ", as you said" if wishes.group else ""
        proposal.assume(f"rows with the same {group!r} stay on one side of the splits{said}", group=group)
    proposal.assume("half of the rows are for training, a quarter each for select and test", split=[0.5, 0.25, 0.25])


def _fill_sides(proposal: DataProposal, given: Collection[Split], who: str) -> None:
    """Select rows out of train where given splits name none, as published data seldom does; other gaps are told."""
    if "select" not in given and "train" in given:
        proposal.assume(f"{who} names no rows for select (val): a third of the train rows are taken", select=SELECT)
    for side in SPLITS:
        if side not in given and side != "select":
            proposal.unsure.append(f"{who} names no {side} rows, which `whet train` needs: add some to the data")


def _group(view: FileView, used: Collection[str]) -> str | None:
    """A column by whose values rows belong together: named so, or an id that comes again; each value on a few rows."""
    free = [column for column in view.source.columns if column not in used]
    named = obvious(free, names.GROUPS)
    ids = [column for column in free if set(words_of(column)) & names.ID_WORDS]
    ids += [column for column in free if names.GROUP_WORDS & set(words_of(column)[-1:])]
    for column in [
        *([named] if named is not None else []),
        *ids,
        *(name for name in free if _is_in_blocks(view, name)),
    ]:
        found = view.columns[column]
        if not (found.missing or found.lists) and LEAST_GROUPS <= found.distinct < len(view.source.rows):
            return column
    return None


def _is_in_blocks(view: FileView, column: str) -> bool:
    """Whether equal values stand together, a few rows each, as they do where rows come from one thing after another."""
    held = view.columns[column]
    if held.dates or held.objects or held.words > 4 or not LEAST_GROUPS <= held.distinct <= held.filled / 2:
        return False
    cells = [cell(row.get(column)).strip() for row in view.source.rows]
    blocks = 1 + sum(before != after for before, after in itertools.pairwise(cells))
    return blocks == held.distinct
