"""Frozen work: the trail says that learning and promotion for an environment are halted, since its work has drifted.

What is frozen is read from the trail itself, where a freeze and its end are entries of the chain: there is no file to
delete. It lies beside the runs, and whoever learns looks there before anything is asked.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import orjson

from whet.errors import WhetError

TRAIL = "trail.sqlite"
"""The file of the trail in a folder of releases."""

FROZEN, UNFROZEN = "frozen", "unfrozen"
"""The kinds of entries that begin and end a freeze; their subject is the family of the environment."""


def family_of(environment: str) -> str:
    """The family of an environment's address: what drifts is its work, whatever file or variant it came from."""
    return environment if ".py:" in environment else environment.partition(":")[0].partition("/")[0]


def frozen(releases: Path, environment: str) -> str:
    """Why an environment is frozen; '' where it is not."""
    path = releases / TRAIL
    if not path.is_file():
        return ""
    asked = "SELECT kind, body FROM entries WHERE kind IN (?, ?) AND subject = ? ORDER BY seq DESC LIMIT 1"
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=30.0)) as db:
            row = db.execute(asked, (FROZEN, UNFROZEN, family_of(environment))).fetchone()
            return str(orjson.loads(row[1])["record"]["why"]) if row is not None and row[0] == FROZEN else ""
    except (sqlite3.DatabaseError, ValueError, KeyError, TypeError) as error:
        raise WhetError(f"{path}: cannot be read ({error}); see: whet audit verify") from None


def refuse_frozen(releases: Path, environment: str) -> None:
    """Refuses to learn or promote on an environment that is frozen."""
    why = frozen(releases, environment)
    if why:
        raise WhetError(
            f"{family_of(environment)} is frozen ({why}); look into it, then: "
            f"whet audit unfreeze {family_of(environment)} --why '...'"
        )
