"""A TOML table read by the table of keys: each key of its type, each mistake kept with its place and what is allowed.

Reading goes on after a mistake with a value that does no harm, so that one pass finds all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from whet.envs.groupqc.pack.keys import SECTIONS, PackKey
from whet.errors import nearest


class PackTable:
    """One table of a pack file. `place` says where it stands; `mistakes` is shared by all tables of the file."""

    def __init__(self, section: str, place: str, values: Any, mistakes: list[str]) -> None:
        self.place = place
        self.mistakes = mistakes
        self._keys = SECTIONS[section].keys
        if not isinstance(values, Mapping):
            self.report(f"must be a table with the keys {', '.join(self._keys)}")
            values, self.mistakes = {}, []  # that all of them are missing goes without saying
        self._values = values
        for key in values:
            if key not in self._keys:
                self.report(f"unknown key {key!r}.{nearest(key, self._keys)} Allowed: {', '.join(self._keys)}")

    def report(self, problem: str) -> None:
        self.mistakes.append(f"{self.place}: {problem}")

    def given(self, key: str) -> bool:
        return key in self._values

    def text(self, key: str) -> str:
        value, spec = self._take(key), self._keys[key]
        if not isinstance(value, str) or (self.given(key) and not value.strip()):
            self._wrong(key, value)
            return ""
        if spec.allowed and value not in spec.allowed:
            allowed = ", ".join(spec.allowed)
            self.report(f"{key!r} is {value!r}, which is not known.{nearest(value, spec.allowed)} Allowed: {allowed}")
            return spec.allowed[0]
        return value

    def number(self, key: str) -> float:
        value, spec = self._take(key), self._keys[key]
        if isinstance(value, bool) or not isinstance(value, int | float) or not spec.least <= value <= spec.most:
            self._wrong(key, value)
            return float(spec.least)
        return float(value)

    def flag(self, key: str) -> bool:
        value = self._take(key)
        if not isinstance(value, bool):
            self._wrong(key, value)
        return value is True

    def texts(self, key: str) -> tuple[str, ...]:
        value, spec = self._take(key), self._keys[key]
        sound = isinstance(value, list) and all(isinstance(text, str) and text.strip() for text in value)
        if not sound or len(value) < spec.least:
            self._wrong(key, value)
            return ()
        if len(set(value)) < len(value):
            self.report(f"{key!r} names something twice")
        self.among(key, value, spec.allowed)
        return tuple(value)

    def mapping(self, key: str) -> dict[str, str]:
        """A table from text to text; empty where it is not given."""
        value, spec = self._take(key), self._keys[key]
        if not isinstance(value, Mapping) or any(not isinstance(text, str) for text in value.values()):
            self._wrong(key, value)
            return {}
        for text in value.values():
            if spec.allowed and text not in spec.allowed:
                allowed = ", ".join(spec.allowed)
                self.report(
                    f"{key!r} names the drawing {text!r}, which is not known.{nearest(text, spec.allowed)} "
                    f"Allowed: {allowed}"
                )
        return dict(value)

    def raw(self, key: str) -> Any:
        """The value as it stands, for what has keys of its own."""
        return self._take(key)

    def table(self, key: str, section: str) -> PackTable:
        value = self._take(key)
        missing = not self.given(key) and self._keys[key].default is None
        return PackTable(section, f"{self.place}, {key}", value, [] if missing else self.mistakes)

    def tables(self, key: str, section: str) -> list[PackTable]:
        value, spec = self._take(key), self._keys[key]
        if not self.given(key):
            return []
        if not isinstance(value, list) or len(value) < spec.least:
            self.report(f"[[{key}]] must be given at least {int(spec.least)} times")
            return []
        return [
            PackTable(section, f"{self.place}, {key} {_called(inner, number)}", inner, self.mistakes)
            for number, inner in enumerate(value, start=1)
        ]

    def among(self, key: str, values: Iterable[str], allowed: Iterable[str]) -> None:
        """Report each value that is not allowed; without any allowed, everything is."""
        known = tuple(allowed)
        for value in values:
            if known and value not in known:
                self.report(f"{key!r} names {value!r}.{nearest(value, known)} Allowed: {', '.join(known)}")

    def _take(self, key: str) -> Any:
        spec = self._keys[key]
        if key in self._values:
            return self._values[key]
        if spec.default is None:
            self.report(f"the key {key!r} is missing: {spec.takes}, {spec.about}")
            return _harmless(spec)
        return spec.default

    def _wrong(self, key: str, value: Any) -> None:
        spec = self._keys[key]
        if self.given(key):
            takes = "text that is not blank" if spec.takes == "text" else spec.takes
            self.report(f"{key!r} must be {takes}, not {value!r}")


def _harmless(spec: PackKey) -> Any:
    """A value of the right type to go on with."""
    match spec.type:
        case "number":
            return spec.least
        case "texts" | "tables" | "conditions":
            return []
        case "mapping" | "table" | "condition":
            return {}
        case "flag":
            return False
    return spec.allowed[0] if spec.allowed else ""


def _called(values: Any, number: int) -> str:
    """What a table of a list calls itself, else its number."""
    name = values.get("name") or values.get("id") if isinstance(values, Mapping) else None
    return repr(name) if isinstance(name, str) else str(number)
