"""MPS files, fixed and free: what Gurobi, HiGHS and CPLEX write is read; what is written is the same bytes every time.

Names may hold no blanks, so both formats split on blanks alike. Free rows (`N`) besides the objective are ignored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from whet.envs.ordebug.model import INF, Column, Kind, LinearProgram, LinearRow, ModelError, Sense

_SENSES: dict[str, Sense] = {"L": "<=", "G": ">=", "E": "="}
_LETTERS = {sense: letter for letter, sense in _SENSES.items()}
_MAXIMISE = {"MAX", "MAXIMIZE", "MAXIMISE"}
_BINARY = "* binary "
"""A remark that a column is binary although its bounds are narrower."""
_MINIMISE = {"MIN", "MINIMIZE", "MINIMISE"}


@dataclass(slots=True)
class _MpsContent:
    """What has been read so far."""

    name: str = ""
    maximize: bool = False
    objective: str | None = None
    ignored: set[str] = field(default_factory=set)
    senses: dict[str, Sense] = field(default_factory=dict)
    rhs: dict[str, float] = field(default_factory=dict)
    spans: dict[str, float] = field(default_factory=dict)
    costs: dict[str, float] = field(default_factory=dict)
    terms: dict[str, dict[str, float]] = field(default_factory=dict)
    whole: dict[str, bool] = field(default_factory=dict)
    lower: dict[str, float] = field(default_factory=dict)
    upper: dict[str, float] = field(default_factory=dict)
    kinds: dict[str, Kind] = field(default_factory=dict)
    inside_integers: bool = False
    offset: float = 0.0
    done: bool = False


def read_mps(path: Path) -> LinearProgram:
    """The model in a file; what cannot be read is one `ModelError` with file and line."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise ModelError(f"cannot read {path}: {problem}") from None
    return parse_mps(text, str(path))


def parse_mps(text: str, where: str = "MPS text") -> LinearProgram:
    reading = _MpsContent()
    section = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith(_BINARY):
            reading.kinds[line.removeprefix(_BINARY).strip()] = "binary"
        if not line.strip() or line.lstrip().startswith("*") or reading.done:
            continue
        fields = line.split()
        try:
            if not line[0].isspace():
                section = _header(reading, fields)
            elif section in _SECTIONS:
                _SECTIONS[section](reading, fields)
            else:
                raise ModelError(f"a line outside of any section: {line.strip()[:60]!r}")
        except ModelError as problem:
            raise ModelError(f"{where}, line {number}: {problem}") from None
    if not reading.done:
        raise ModelError(f"{where}: the file ends without ENDATA")
    if not reading.senses and not reading.whole:
        raise ModelError(f"{where}: there is no model in it")
    try:
        return _built(reading)
    except ModelError as problem:
        raise ModelError(f"{where}: {problem}") from None


def _header(reading: _MpsContent, fields: Sequence[str]) -> str:
    section, rest = fields[0].upper(), fields[1:]
    if section == "NAME":
        reading.name = rest[0] if rest else ""
    elif section in ("OBJSENSE", "OBJSENSEMAX") and rest:
        _objective_sense(reading, rest)
    elif section == "ENDATA":
        reading.done = True
    elif section not in _SECTIONS:
        raise ModelError(f"section {fields[0]!r} is not one of a linear model")
    return section


def _objective_sense(reading: _MpsContent, fields: Sequence[str]) -> None:
    word = fields[0].upper()
    if word not in _MAXIMISE | _MINIMISE:
        raise ModelError(f"OBJSENSE is MAX or MIN, not {fields[0]!r}")
    reading.maximize = word in _MAXIMISE


def _row(reading: _MpsContent, fields: Sequence[str]) -> None:
    if len(fields) < 2:
        raise ModelError("a row needs a type and a name")
    letter, name = fields[0].upper(), fields[1]
    if letter == "N":
        if reading.objective is None:
            reading.objective = name
        else:
            reading.ignored.add(name)
    elif letter in _SENSES:
        if name in reading.senses:
            raise ModelError(f"two rows are named {name!r}")
        reading.senses[name] = _SENSES[letter]
        reading.terms[name] = {}
    else:
        raise ModelError(f"{fields[0]!r} is not a type of row: N, L, G or E")


def _column(reading: _MpsContent, fields: Sequence[str]) -> None:
    if len(fields) >= 3 and fields[1].strip("'").upper() == "MARKER":
        reading.inside_integers = fields[2].strip("'").upper() == "INTORG"
        return
    name, pairs = fields[0], fields[1:]
    if not pairs or len(pairs) % 2:
        raise ModelError(f"column {name!r} needs pairs of row and number")
    reading.whole.setdefault(name, reading.inside_integers)
    for row, text in zip(pairs[::2], pairs[1::2], strict=True):
        value = _number(text)
        if row == reading.objective:
            reading.costs[name] = value
        elif row in reading.terms:
            if name in reading.terms[row]:
                raise ModelError(f"column {name!r} has two coefficients in row {row!r}")
            reading.terms[row][name] = value
        elif row not in reading.ignored:
            raise ModelError(f"column {name!r} has a coefficient in {row!r}, which is not a row")


def _pairs(fields: Sequence[str]) -> list[tuple[str, float]]:
    """Pairs of row and number after a set's name, which free format may leave out."""
    pairs = fields[1:] if len(fields) % 2 else fields
    return [(row, _number(text)) for row, text in zip(pairs[::2], pairs[1::2], strict=True)]


def _rhs(reading: _MpsContent, fields: Sequence[str]) -> None:
    for row, value in _pairs(fields):
        if row == reading.objective:
            reading.offset = -value
        elif row in reading.senses:
            reading.rhs[row] = value
        elif row not in reading.ignored:
            raise ModelError(f"a right-hand side for {row!r}, which is not a row")


def _range(reading: _MpsContent, fields: Sequence[str]) -> None:
    for row, value in _pairs(fields):
        if row not in reading.senses:
            raise ModelError(f"a range for {row!r}, which is not a row")
        reading.spans[row] = value


def _bound(reading: _MpsContent, fields: Sequence[str]) -> None:
    letters, rest = fields[0].upper(), list(fields[1:])
    if letters in ("FR", "MI", "PL", "BV"):
        name = rest[1] if len(rest) > 1 else rest[0] if rest else ""
        value = 0.0
    elif len(rest) in (2, 3):
        name, value = rest[-2], _number(rest[-1], infinite=True)
    else:
        raise ModelError(f"a bound of type {fields[0]!r} needs a column and a number")
    if name not in reading.whole:
        raise ModelError(f"a bound for {name!r}, which is not a column")
    if letters in ("LO", "LI", "FX"):
        reading.lower[name] = value
    if letters in ("UP", "UI", "FX"):
        reading.upper[name] = value
        if letters != "FX" and value < 0.0 and name not in reading.lower:
            reading.lower[name] = -INF
    if letters in ("LI", "UI"):
        reading.whole[name] = True
    if letters in ("FR", "MI"):
        reading.lower[name] = -INF
    if letters in ("FR", "PL"):
        reading.upper[name] = INF
    if letters == "BV":
        reading.lower[name], reading.upper[name], reading.kinds[name] = 0.0, 1.0, "binary"
    elif letters not in ("LO", "LI", "UP", "UI", "FX", "FR", "MI", "PL"):
        raise ModelError(f"bounds of type {fields[0]!r} are not read: LO, UP, FX, FR, MI, PL, BV, LI or UI")


_SECTIONS: dict[str, Callable[[_MpsContent, Sequence[str]], None]] = {
    "OBJSENSE": _objective_sense,
    "ROWS": _row,
    "COLUMNS": _column,
    "RHS": _rhs,
    "RANGES": _range,
    "BOUNDS": _bound,
}


def _built(reading: _MpsContent) -> LinearProgram:
    columns = []
    for name, whole in reading.whole.items():
        kind = reading.kinds.get(name, "integer" if whole else "continuous")
        lower, upper = reading.lower.get(name, 0.0), reading.upper.get(name, INF)
        columns.append(Column(name, lower, upper, kind, reading.costs.get(name, 0.0)))
    rows = [_built_row(reading, name, sense) for name, sense in reading.senses.items()]
    return LinearProgram(reading.name, tuple(columns), tuple(rows), reading.maximize, reading.offset)


def _built_row(reading: _MpsContent, name: str, sense: Sense) -> LinearRow:
    terms = tuple((column, value) for column, value in reading.terms[name].items() if value != 0.0)
    rhs, span = reading.rhs.get(name, 0.0), reading.spans.get(name)
    if span is not None and sense == "=":
        # A ranged equation lies between rhs and rhs + span, whichever is greater.
        sense = ">=" if span >= 0.0 else "<="
    return LinearRow(name, terms, sense, rhs, None if span is None else abs(span))


def _number(text: str, infinite: bool = False) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ModelError(f"{text!r} is not a number") from None
    if infinite and abs(value) >= 1e20:
        return math.copysign(INF, value)
    if not math.isfinite(value):
        raise ModelError(f"{text!r} is not a finite number")
    return value


def write_mps(model: LinearProgram) -> str:
    """The model as free MPS; numbers are written so that reading gives them back exactly."""
    lines = [f"NAME {model.name or 'model'}"]
    if model.maximize:
        lines += ["OBJSENSE", "    MAX"]
    lines += ["ROWS", " N  OBJ", *(f" {_LETTERS[row.sense]}  {row.name}" for row in model.rows)]
    lines += ["COLUMNS", *_column_lines(model), "RHS"]
    if model.offset:
        lines.append(f"    RHS  OBJ  {_text(-model.offset)}")
    lines += [f"    RHS  {row.name}  {_text(row.rhs)}" for row in model.rows if row.rhs]
    spans = [f"    RNG  {row.name}  {_text(row.span)}" for row in model.rows if row.span is not None]
    if spans:
        lines += ["RANGES", *spans]
    lines += ["BOUNDS", *(line for column in model.columns for line in _bound_lines(column)), "ENDATA"]
    return "\n".join(lines) + "\n"


def _column_lines(model: LinearProgram) -> list[str]:
    entries: dict[str, list[str]] = {column.name: [] for column in model.columns}
    for row in model.rows:
        for name, value in row.terms:
            entries[name].append(f"    {name}  {row.name}  {_text(value)}")
    lines, inside = [], False
    for column in model.columns:
        if column.whole != inside:
            word = "INTORG" if column.whole else "INTEND"
            lines.append(f"    MARKER  'MARKER'  '{word}'")
            inside = column.whole
        if column.cost or not entries[column.name]:
            lines.append(f"    {column.name}  OBJ  {_text(column.cost)}")
        lines += entries[column.name]
    return [*lines, "    MARKER  'MARKER'  'INTEND'"] if inside else lines


def _bound_lines(column: Column) -> list[str]:
    name, lower, upper = column.name, column.lower, column.upper
    lines = []
    if column.kind == "binary":
        if (lower, upper) == (0.0, 1.0):
            return [f" BV BND  {name}"]
        # After BV some readers take no other bounds, so it is an integer column to them and a remark to ours.
        lines.append(f"{_BINARY}{name}")
    if lower == -INF and upper == INF:
        return [f" FR BND  {name}"]
    if lower == -INF:
        lines.append(f" MI BND  {name}")
    elif lower != 0.0 or upper <= 0.0:
        lines.append(f" LO BND  {name}  {_text(lower)}")
    if upper != INF:
        lines.append(f" UP BND  {name}  {_text(upper)}")
    elif column.whole:
        # Some readers bound an integer column by 1 where the file says nothing.
        lines.append(f" PL BND  {name}")
    return lines


def _text(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
