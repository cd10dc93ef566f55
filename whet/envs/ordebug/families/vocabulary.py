"""The words of a family of problems, and how its requirements are mixed: all that tells one trade from another.

An item is a thing at a place ("oats for Arden"); every column is an item, or a switch ("a permit for Arden").
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

RequirementKind = Literal["group", "net", "usage", "ratio", "switch", "average", "carry"]
"""Sum of items; sums less other sums; weighted use of a resource; a multiple of another item; a limit that a switch
opens; an average of a trait; what is carried over (an equation)."""


@dataclass(frozen=True, slots=True)
class Trade:
    """One family. `mix` weighs the kinds of requirements, `whole` is the share of columns that are counts."""

    name: str
    setting: str
    things: tuple[str, ...]
    places: tuple[str, ...]
    item: str
    unit: str
    resources: tuple[str, ...]
    traits: tuple[str, ...]
    switch: str
    mix: dict[RequirementKind, float]
    whole: float = 0.0
    maximize: bool = False
    signed: float = 0.0
    """The share of columns that may go below 0 (returns, net trade)."""
    counts: tuple[str, ...] = field(default=())

    @property
    def gate(self) -> str:
        """How a switch is called at its place: a firing is in May, a station at Arden."""
        return f"{self.switch} {'in' if self.item == '{thing} in {place}' else 'at'} {{place}}"


_PLACES = (
    *("Arden", "Brack", "Corrie", "Dunmore", "Elgar", "Fenwick", "Gorran", "Hale", "Imber", "Jarrow", "Kelso"),
    *("Lorne", "Morven", "Nairn", "Orford", "Penrith", "Quorn", "Ripley", "Selby", "Tarn", "Ulva", "Venn", "Wyre"),
)

VOCABULARIES = (
    Trade(
        "blending",
        "A mill mixes feed for its customers.",
        ("oats", "barley", "maize", "bran", "linseed", "beet pulp", "molasses", "hay meal", "rye", "lupin"),
        _PLACES,
        "{thing} for {place}",
        "tonnes",
        ("dryer", "mixer", "screen", "press"),
        ("moisture", "ash", "fibre"),
        "a silo",
        {"group": 3, "usage": 2, "average": 4, "ratio": 2, "net": 1, "carry": 1},
    ),
    Trade(
        "shipping",
        "A forwarder plans the week's freight.",
        ("timber", "steel", "paper", "glass", "cable", "tiles", "salt", "wool", "slate", "copper"),
        _PLACES,
        "{thing} to {place}",
        "pallets",
        ("crane", "dock", "trailer", "loading bay"),
        ("value index", "risk score"),
        "a charter",
        {"group": 4, "net": 4, "usage": 2, "carry": 3, "switch": 1, "ratio": 1},
        signed=0.1,
    ),
    Trade(
        "staffing",
        "A hospital books agency staff by the shift.",
        ("nurses", "porters", "clerks", "cooks", "cleaners", "drivers", "technicians", "aides"),
        _PLACES,
        "{thing} at {place}",
        "shifts",
        ("training", "locker", "canteen", "supervision"),
        ("seniority", "night share"),
        "a night desk",
        {"group": 5, "usage": 3, "ratio": 2, "net": 2, "switch": 1, "carry": 1},
        whole=0.8,
    ),
    Trade(
        "lots",
        "A pottery plans its firings and what it keeps in store.",
        ("bowls", "jugs", "plates", "vases", "mugs", "pots", "lamps", "tiles", "basins"),
        ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October"),
        "{thing} in {place}",
        "crates",
        ("kiln", "glaze line", "wheel", "store"),
        ("breakage", "colour grade"),
        "a firing",
        {"carry": 5, "switch": 3, "usage": 3, "group": 2, "net": 1},
        whole=0.1,
    ),
    Trade(
        "covering",
        "A county keeps ambulances on call.",
        ("day crews", "night crews", "bikes", "vans", "doctors", "reserve crews", "boats"),
        _PLACES,
        "{thing} at {place}",
        "units",
        ("fuel", "depot", "radio", "garage"),
        ("response rating", "age"),
        "a station",
        {"group": 6, "switch": 3, "usage": 2, "net": 2, "ratio": 1},
        whole=0.7,
    ),
    Trade(
        "production",
        "A workshop sells what it makes in several markets.",
        ("chairs", "tables", "desks", "shelves", "stools", "doors", "frames", "chests", "benches"),
        _PLACES,
        "{thing} sold in {place}",
        "batches",
        ("saw", "lathe", "varnish line", "packing", "sander"),
        ("margin class", "complaint rate"),
        "a dealer",
        {"usage": 5, "group": 2, "ratio": 2, "net": 2, "average": 1},
        maximize=True,
    ),
    Trade(
        "cropping",
        "A cooperative decides what its farms grow.",
        ("wheat", "rape", "clover", "peas", "potatoes", "flax", "carrots", "onions", "spelt"),
        _PLACES,
        "{thing} at {place}",
        "hectares",
        ("water", "harvester", "fertiliser", "labour"),
        ("nitrogen", "yield class"),
        "a well",
        {"group": 4, "ratio": 3, "usage": 3, "average": 2, "switch": 1},
        maximize=True,
    ),
    Trade(
        "waterworks",
        "A utility moves water between its reservoirs and towns.",
        ("spring water", "river water", "treated water", "well water", "rain water", "reused water"),
        _PLACES,
        "{thing} through {place}",
        "megalitres",
        ("pump", "filter", "lab", "valve crew"),
        ("hardness", "chloride"),
        "a sluice",
        {"net": 5, "carry": 4, "group": 2, "average": 2, "usage": 1},
        signed=0.15,
    ),
    Trade(
        "energy",
        "A grid operator dispatches power for tomorrow.",
        ("wind", "hydro", "gas", "biomass", "solar", "imports", "storage", "coal"),
        _PLACES,
        "{thing} from {place}",
        "megawatts",
        ("reserve", "fuel", "carbon", "ramping"),
        ("emission factor", "outage rate"),
        "a contract",
        {"group": 3, "net": 3, "carry": 2, "ratio": 3, "switch": 2, "usage": 2},
        signed=0.1,
    ),
    Trade(
        "printing",
        "A newspaper places its print runs with contractors.",
        ("morning edition", "evening edition", "magazine", "leaflet", "poster", "atlas", "almanac", "guide"),
        _PLACES,
        "the {thing} at {place}",
        "runs",
        ("press", "paper", "ink", "binding"),
        ("colour share", "spoilage"),
        "a plate set",
        {"group": 3, "usage": 4, "switch": 2, "net": 2, "ratio": 2, "average": 1},
        whole=0.5,
    ),
)

HELD_OUT = ("energy", "printing")
"""Families that no training problem is drawn from: what is learned must carry over to them."""
