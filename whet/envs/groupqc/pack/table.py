"""A TOML table read strictly: every key is asked for once, of one type, and whatever is left over is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whet.errors import WhetError, nearest


class PackTable:
    """One table of a pack file. `place` says where it stands, for the message of a refusal."""

    def __init__(self, place: str, values: Any) -> None:
        if not isinstance(values, Mapping):
            raise WhetError(f"{place} must be a table")
        self.place = place
        self._values = values
        self._known: set[str] = set()

    def text(self, key: str, default: str | None = None) -> str:
        value = self._take(key, default)
        if not isinstance(value, str) or (default is None and not value.strip()):
            raise self.refusal(f"{key!r} must be text that is not blank, not {value!r}")
        return value

    def number(self, key: str, default: float | None = None, least: float = 0.0, most: float = 1.0) -> float:
        value = self._take(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise self.refusal(f"{key!r} must be a number from {least:g} to {most:g}, not {value!r}")
        return float(value)

    def flag(self, key: str) -> bool:
        """True or false; false where it is not given."""
        value = self._take(key, False)
        if not isinstance(value, bool):
            raise self.refusal(f"{key!r} must be true or false, not {value!r}")
        return value

    def texts(self, key: str, least: int = 0) -> tuple[str, ...]:
        value = self._take(key, [])
        if not isinstance(value, list) or any(not isinstance(text, str) or not text.strip() for text in value):
            raise self.refusal(f"{key!r} must be a list of texts, none of them blank")
        if len(value) < least:
            raise self.refusal(f"{key!r} needs at least {least} entries, it has {len(value)}")
        if len(set(value)) < len(value):
            raise self.refusal(f"{key!r} names something twice")
        return tuple(value)

    def mapping(self, key: str) -> dict[str, str]:
        """A table from text to text; empty where it is not given."""
        value = self._take(key, {})
        if not isinstance(value, Mapping) or any(not isinstance(text, str) for text in value.values()):
            raise self.refusal(f"{key!r} must map texts to texts")
        return dict(value)

    def table(self, key: str, default: Mapping[str, Any] | None = None) -> PackTable:
        return PackTable(f"{self.place}, {key}", self._take(key, default))

    def tables(self, key: str, least: int = 0) -> list[PackTable]:
        value = self._take(key, [])
        if not isinstance(value, list) or len(value) < least:
            raise self.refusal(f"[[{key}]] must be given at least {least} times")
        return [
            PackTable(f"{self.place}, {key} {_called(inner, number)}", inner)
            for number, inner in enumerate(value, start=1)
        ]

    def one_of(self, key: str, known: Mapping[str, Any] | tuple[str, ...], default: str | None = None) -> str:
        value = self.text(key, default)
        if value not in known and value != default:
            raise self.refusal(f"{key!r} is {value!r}, which is not known.{nearest(value, known)}")
        return value

    def done(self) -> None:
        """Refuse what nobody asked for."""
        for key in self._values:
            if key not in self._known:
                raise self.refusal(f"unknown key {key!r}.{nearest(key, self._known)}")

    def refusal(self, problem: str) -> WhetError:
        return WhetError(f"{self.place}: {problem}")

    def _take(self, key: str, default: Any) -> Any:
        self._known.add(key)
        if key in self._values:
            return self._values[key]
        if default is None:
            raise self.refusal(f"the key {key!r} is missing")
        return default


def _called(values: Any, number: int) -> str:
    """What a table of a list calls itself, else its number."""
    name = values.get("name") or values.get("id") if isinstance(values, Mapping) else None
    return repr(name) if isinstance(name, str) else str(number)
