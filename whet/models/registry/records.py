"""What is known about models: parameters, prices, measured baselines, trouble. Read from `registry.toml` when asked."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal

from whet.errors import WhetError, nearest
from whet.models.base import Price
from whet.models.registry.litellm_prices import litellm_price

Availability = Literal["served", "openrouter", "weights", "missing"]


@dataclass(frozen=True, slots=True)
class Baseline:
    """A share of tasks that a model solved as it came. `high` where a range was measured; `n` where it was noted."""

    rate: float
    n: int | None = None
    date: str = ""
    high: float | None = None

    @property
    def middle(self) -> float:
        return self.rate if self.high is None else (self.rate + self.high) / 2


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """One model. Parameters are billions; None and '' say that it is not known."""

    id: str
    hub: str = ""
    """Its name on the Hugging Face Hub, where that is another one."""
    params: float | None = None
    active: float | None = None
    price: Price | None = None
    closed: bool = False
    vision: bool = False
    reasons: bool = False
    layout: str = ""
    architecture: str = ""
    native: bool = False
    baseline: Baseline | None = None
    max_tokens: int | None = None
    tool_parser: str = ""
    availability: Availability = "served"
    trainable: bool = False
    unfit_for: tuple[str, ...] = ()
    trouble: str = ""
    note: str = ""
    confirmed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What was compared with something, by the names of the registry's sources."""
    unverified: tuple[str, ...] = ()
    """Fields that were not confirmed."""

    @property
    def kind(self) -> str:
        """In words: open or closed, and what it can do."""
        said = ("closed" if self.closed else "open", self.layout, "vision" * self.vision, "reasoning" * self.reasons)
        return ", ".join(filter(None, said))

    @property
    def at_work(self) -> float | None:
        """Parameters at work for one token: what it costs to run."""
        return self.params if self.active is None else self.active


@dataclass(frozen=True, slots=True)
class UnservedNames:
    """Names that were asked for and are not served, with the exceptions."""

    pattern: str
    exceptions: tuple[str, ...] = ()

    def covers(self, name: str) -> bool:
        return fnmatchcase(name, self.pattern) and name not in self.exceptions


@dataclass(frozen=True, slots=True)
class Registry:
    """All records, in the order of the file, the closed ones last."""

    records: tuple[ModelRecord, ...]
    missing: tuple[UnservedNames, ...]
    verified: str
    max_tokens: int
    """Where a record recommends none."""
    checked: str = ""
    """When sizes and tool parsers were gone through."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """What they were compared with, by name."""

    def find(self, name: str) -> ModelRecord | None:
        """The record of a model by its id, in any case; an id that ends in * stands for every variant."""
        wanted = name.lower()
        exact = next((record for record in self.records if record.id.lower() == wanted), None)
        patterns = (record for record in self.records if "*" in record.id and fnmatchcase(wanted, record.id))
        return exact or next(patterns, None)

    def get(self, name: str) -> ModelRecord:
        """The record, or an error with the nearest id."""
        record = self.find(name)
        if record is not None:
            return record
        if any(names.covers(name) for names in self.missing):
            raise WhetError(f"{name} is known not to be served ({self.verified}); see: whet models")
        known = [record.id for record in self.records]
        short = [known_id for known_id in known if known_id.partition("/")[2] == name]
        hint = f" Did you mean {short[0]!r}?" if short else nearest(name, known)
        raise WhetError(f"no model {name!r} in the registry.{hint} See: whet models")


@lru_cache(maxsize=1)
def registry() -> Registry:
    """The registry that comes with Whet."""
    return read((files("whet.models.registry") / "registry.toml").read_text(encoding="utf-8"))


def read(text: str) -> Registry:
    """A registry from its TOML. A model listed as closed may also have an entry that says more."""
    data = tomllib.loads(text)
    closed = [f"{group['vendor']}/{name}" for group in data.get("closed", ()) for name in group["models"]]
    told = [_record(entry, entry["id"] in closed) for entry in data["model"]]
    known = {record.id for record in told}
    bare = [ModelRecord(name, closed=True) for name in closed if name not in known]
    missing = [UnservedNames(entry["pattern"], tuple(entry.get("except", ()))) for entry in data.get("missing", ())]
    default = data["defaults"]["max_tokens"]
    checked, sources = data.get("checked", data["verified"]), data.get("sources", {})
    return Registry((*told, *bare), tuple(missing), data["verified"], default, checked, sources)


def _record(entry: Mapping[str, Any], closed: bool) -> ModelRecord:
    fields = dict(entry)
    if "price" in fields:
        fields["price"] = Price(*fields["price"])
    if "baseline" in fields:
        fields["baseline"] = Baseline(**fields["baseline"])
    for name in ("unfit_for", "unverified"):
        fields[name] = tuple(fields.get(name, ()))
    return ModelRecord(**fields, closed=closed)


def price_of(address: str) -> Price | None:
    """What the model at an address costs, where the registry knows, else where the table of an installed litellm does.

    Names without a vendor take the scheme's own.
    """
    scheme, _, name = address.partition(":")
    if scheme not in ("openai", "openrouter", "anthropic"):
        return None
    known = registry()
    record = known.find(name) or (known.find(f"{scheme}/{name}") if "/" not in name else None)
    if record is not None and record.price is not None:
        return record.price
    return litellm_price(f"openrouter/{name}" if scheme == "openrouter" else name)
