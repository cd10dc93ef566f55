"""The side of every row: read from the data, or made, with the manifest that keeps what was made."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from whet.envs.data.arguments import DataSettings
from whet.envs.data.manifest import Manifest, manifest_path, read_manifest, write_manifest
from whet.envs.data.source import SIDES, DataSource
from whet.envs.data.splits import Traits, drop_overlap, enough, make_splits, refuse_overlap, units_of
from whet.envs.data.template import cell
from whet.envs.near import LADDER, NearIndex
from whet.errors import WhetError, nearest
from whet.keys import seed_for
from whet.types import Label, Split


@dataclass(frozen=True, slots=True)
class RowSides:
    """Rows with their sides, in the order of the data; rows that were dropped are not among them."""

    rows: tuple[tuple[int, Split], ...]
    made: bool = False
    """Whether the sides were made here, not given with the data."""
    near: float | None = None
    """Where they were made, the index from which near-duplicates stayed together; None: not all of them could."""


def take_sides(
    source: DataSource, settings: DataSettings, seen: Sequence[tuple[Label, str]], manifest: str
) -> RowSides:
    """Sides as the data gives them, or as the manifest keeps them; what is new is placed and the manifest written."""
    traits = _traits(source, settings, seen)
    identities = _identities(source, settings)
    given = _given(source, settings)
    if given is None:
        made = _made(source, settings, traits, identities, manifest)
        keys = _keys(traits, identities)
        return RowSides(tuple((at, made.sides[key]) for at, key in enumerate(keys)), True, made.near)
    if settings.drop_overlap:
        kept = set(drop_overlap(traits, given))
        return RowSides(
            tuple((index, side) for index, side in enumerate(_selected(traits, given, settings)) if index in kept)
        )
    refuse_overlap(traits, given, settings.columns.group, source.place)
    return RowSides(tuple(enumerate(_selected(traits, given, settings))))


def _selected(traits: Sequence[Traits], given: Sequence[Split], settings: DataSettings) -> Sequence[Split]:
    """Given sides, with the asked share of train as select where they name none; test rows stay what they are.

    Each unit of rows is drawn by what it asks first, so that rows appended later move none of the others.
    """
    if not settings.select or "select" in given:
        return given
    sides = list(given)
    for unit in units_of(traits):
        drawn = seed_for("select", settings.seed, traits[unit[0]].content) % 10_000 < settings.select * 10_000
        for index in unit:
            sides[index] = "select" if drawn and given[index] == "train" else given[index]
    return sides


def _traits(source: DataSource, settings: DataSettings, seen: Sequence[tuple[Label, str]]) -> list[Traits]:
    columns = settings.columns
    asked = (*settings.prompt.columns, *settings.check.shows, *([columns.images] if columns.images else []))
    return [
        Traits(
            _content([cell(row.get(column)) for column in asked]),
            cell(row.get(columns.group)).strip() if columns.group else "",
            f"{label.kind}\x1f{label.difficulty}\x1f{stratum}",
        )
        for row, (label, stratum) in zip(source.rows, seen, strict=True)
    ]


def _content(cells: Sequence[str]) -> str:
    """A digest of what a row asks; spacing and case do not make another question of it."""
    text = "\x1f".join(" ".join(asked.casefold().split()) for asked in cells)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _identities(source: DataSource, settings: DataSettings) -> list[str] | None:
    """The id of each row, all different."""
    column = settings.columns.id
    if column is None:
        return None
    first: dict[str, int] = {}
    for index, row in enumerate(source.rows):
        identity = cell(row.get(column)).strip()
        if not identity:
            raise WhetError(f"{source.place(index)}, column {column!r}: there is no id")
        before = first.setdefault(identity, index)
        if before != index:
            where = f"{source.place(index)}, column {column!r}"
            raise WhetError(f"{where}: the id {identity!r} is already that of {source.place(before)}")
    return list(first)


def _given(source: DataSource, settings: DataSettings) -> Sequence[Split] | None:
    column = settings.columns.split
    if column is None:
        return source.sides
    sides: list[Split] = []
    for index, row in enumerate(source.rows):
        value = cell(row.get(column)).strip().casefold()
        if value not in SIDES:
            hint = nearest(value, SIDES) or " Write train, val or test."
            raise WhetError(f"{source.place(index)}, column {column!r}: {value!r} is not a split.{hint}")
        sides.append(SIDES[value])
    return sides


def _keys(traits: Sequence[Traits], identities: Sequence[str] | None) -> Sequence[str]:
    return identities or [row.content for row in traits]


def _made(
    source: DataSource, settings: DataSettings, traits: Sequence[Traits], identities: Sequence[str] | None, given: str
) -> Manifest:
    columns = settings.columns
    keys = _keys(traits, identities)
    made_of = f"id {columns.id}" if identities else f"content of {', '.join(settings.prompt.columns)}"
    rule = {
        "fractions": list(settings.fractions),
        "seed": settings.seed,
        "group": columns.group or "",
        "keys": made_of,
    }
    path = manifest_path(source.path, given)
    held = read_manifest(path, rule)
    kept = {index: held.sides[key] for index, key in enumerate(keys) if key in held.sides} if held else {}
    if held and held.sides and not kept:
        raise WhetError(
            f"{path}: keeps the splits of other rows; none of them is in {source.name}. Delete it to draw new ones"
        )
    if held is not None and len(kept) == len(keys):
        make_splits(traits, settings.fractions, settings.seed, kept, source.place)  # refuses what contradicts itself
        return held
    near, sides = _together(source, settings, traits, kept)
    gone = held.sides if held else {}  # a row that comes back finds its side
    made = Manifest(rule, {**gone, **dict(zip(keys, sides, strict=True))}, near)
    write_manifest(path, made, source.digest)
    return made


def _together(
    source: DataSource, settings: DataSettings, traits: Sequence[Traits], kept: Mapping[int, Split]
) -> tuple[float | None, list[Split]]:
    """Sides with near-duplicates together, at the lowest index that leaves every side enough; None where none does.

    There, rows of a few templates are still kept together where they are alike in what their template does not say.
    Rows that show images are alike or not by what is in them, which nobody compares here.
    """
    if settings.columns.images is None:
        index = NearIndex(row_texts(source, settings))
        for threshold in LADDER:
            near = index.clusters(threshold)
            sides = _placed(source, settings, traits, kept, near)
            if sides is not None and enough(sides, settings.fractions, near):
                return threshold, sides
        for threshold in LADDER:
            near = index.finer(threshold)
            sides = _placed(source, settings, traits, kept, near)
            if sides is not None and enough(sides, settings.fractions, near):
                return None, sides
    return None, make_splits(traits, settings.fractions, settings.seed, kept, source.place)


def _placed(
    source: DataSource,
    settings: DataSettings,
    traits: Sequence[Traits],
    kept: Mapping[int, Split],
    near: Sequence[Sequence[int]],
) -> list[Split] | None:
    """None where too few clusters leave a side empty."""
    try:
        return make_splits(traits, settings.fractions, settings.seed, kept, source.place, near)
    except WhetError:
        return None


def row_texts(source: DataSource, settings: DataSettings) -> list[str]:
    """What each row puts into the prompt; the words around it are the same for all."""
    columns = (*settings.prompt.columns, *settings.check.shows)
    return ["\n".join(cell(row.get(column)) for column in columns) for row in source.rows]
