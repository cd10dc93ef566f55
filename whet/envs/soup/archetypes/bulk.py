"""Bulk: more rows than a program's output shows, so that reading them off is no way."""

from __future__ import annotations

from dataclasses import replace

from whet.envs.soup.archetype import kind
from whet.envs.soup.archetypes.rows import all_rows
from whet.envs.soup.desk import Desk, TaskPlan
from whet.envs.soup.topics import DEVICE, INVOICE

MANY = (140, 260)
"""Rows of a list: three values of each come to more than the 10,000 characters that are shown."""


@kind("hard", ("large", "huge"))
def price_list(desk: Desk) -> TaskPlan:
    """Hundreds of invoices, whole."""
    return replace(all_rows(desk, INVOICE, ("number", "customer", "net"), ("grid",), 3, MANY), unseen=3)


@kind("hard", ("large", "huge"))
def catalogue(desk: Desk) -> TaskPlan:
    """Hundreds of devices, whole, with the days they came out."""
    return replace(all_rows(desk, DEVICE, ("model", "power", "released"), ("grid",), 3, MANY), unseen=3)


KINDS = (price_list, catalogue)
