"""What is found by entry points: environments, models, gates, learners, runs and commands, ours and anyone's."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from whet.errors import WhetError, nearest


def plugins(group: str) -> dict[str, EntryPoint]:
    """The entry points of a group by name, none of them loaded."""
    found = {entry.name: entry for entry in entry_points(group=group)}
    return {name: found[name] for name in sorted(found)}


def plugin(group: str, name: str, what: str) -> Any:
    """What the entry point `name` of a group points to; `what` names such a thing in an error."""
    known = plugins(group)
    if name not in known:
        listed = ", ".join(known) or "none is installed"
        raise WhetError(f"there is no {what} {name!r}.{nearest(name, known)} Known: {listed}.")
    return loaded(known[name], what)


@cache
def loaded(entry: EntryPoint, what: str) -> Any:
    """The object behind an entry point. A package that does not load is named, with why."""
    try:
        return entry.load()
    except WhetError:
        raise
    except Exception as error:
        package = f" of {entry.dist.name}" if entry.dist is not None else ""
        raise WhetError(
            f"the {what} {entry.name!r}{package} does not load ({entry.value}): {type(error).__name__}: {error}"
        ) from error
