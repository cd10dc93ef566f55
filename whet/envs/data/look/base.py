"""What a user says about a file, and what is made of it: arguments for a `data` environment, with the reasons."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user has said about the file; the rest is looked for."""

    answer: str = ""
    prompt: str = ""
    id: str = ""
    group: str = ""
    check: str = ""
    skip_missing: bool = False


@dataclass(slots=True)
class DataProposal:
    """Arguments for the environment, why they are what they are, and how long answers get."""

    args: dict[str, Any] = field(default_factory=dict)
    assumed: list[str] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)
    """What could as well be otherwise, and the option that says so."""
    rivals: tuple[str, ...] = ()
    """Columns that the answer may be in, the likeliest first, where that is in doubt."""
    answer_length: int = 0

    def assume(self, why: str, **args: Any) -> None:
        self.args.update(args)
        self.assumed.append(why)

    @property
    def taken(self) -> set[str]:
        return {value for value in self.args.values() if isinstance(value, str)}
