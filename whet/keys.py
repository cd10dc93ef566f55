"""Content hashes and seeds: the names under which effects are remembered and randomness is drawn."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from operator import attrgetter
from typing import Any

import orjson

from whet.types import Example, Playbook, Policy, Sampling, Task, Ticket

_CANONICAL = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS


def canonical(value: Any) -> bytes:
    """JSON with sorted keys: equal values give equal bytes, in any process on any machine.

    JSON has no numbers that are not finite, and writes them as null; here each is another value than null.
    """
    data = orjson.dumps(value, option=_CANONICAL)
    if b"null" in data and _has_unfinite(value):
        return orjson.dumps(_tagged(value), option=_CANONICAL)
    return data


_PLAIN = frozenset({str, int, bool, bytes, type(None)})


def _has_unfinite(value: Any) -> bool:
    """Whether a number somewhere in `value` is not finite. Every request passes here."""
    left = [value]
    while left:
        part = left.pop()
        kind = type(part)
        if kind in _PLAIN:
            continue
        if kind is tuple or kind is list:
            left.extend(part)
        elif kind is float:
            if not math.isfinite(part):
                return True
        elif isinstance(part, Mapping):
            left.extend(part.values())
        elif fields := _fields(kind):  # type: ignore[arg-type]
            left.extend(fields(part))
    return False


@lru_cache(maxsize=256)
def _fields(kind: type) -> Callable[[Any], Iterable[Any]] | None:
    """What reads all fields of a record of this kind; None where it is none."""
    names = tuple(getattr(kind, "__dataclass_fields__", ()))
    if not names:
        return None
    read = attrgetter(*names)
    return read if len(names) > 1 else lambda record: (read(record),)


def _tagged(value: Any) -> Any:
    """`value` with every number that is not finite replaced by a mapping that says which it is."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"\x00float": repr(value)}
    if isinstance(value, Mapping):
        return {key: _tagged(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_tagged(part) for part in value]
    if hasattr(value, "__dataclass_fields__"):
        return {name: _tagged(getattr(value, name)) for name in value.__dataclass_fields__}
    return value


LATER: Mapping[type, Mapping[str, Any]] = {
    Policy: {},
    Sampling: {"votes": 1, "until_settled": False},
    Playbook: {"bank": (), "nearest": 0, "rules": ()},
    Example: {"steps": (), "kin": ()},
}
"""Fields that records came to have later: at these values they do not enter a digest, so that what was remembered
before there was such a field is found again."""


def _lean(value: Any) -> bytes:
    """As `canonical` writes it, fields in their order, without later ones that say nothing."""
    later = LATER.get(type(value))
    if later is not None:
        held = ((name, getattr(value, name)) for name in value.__dataclass_fields__)
        said = ((name, part) for name, part in held if name not in later or part != later[name])
        return b"{%b}" % b",".join(b"%b:%b" % (canonical(name), _lean(part)) for name, part in said)
    if isinstance(value, tuple) and any(type(part) in LATER for part in value):
        return b"[%b]" % b",".join(map(_lean, value))
    return canonical(value)


def digest(*values: Any) -> str:
    """32 hex digits that stand for the content of `values`: JSON-like data and our own records."""
    return bytes_digest(_lean(values) if any(type(value) in LATER for value in values) else canonical(values))


def bytes_digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def seed_for(*names: str | int) -> int:
    """A 63-bit seed that depends on the names alone: the only source of randomness."""
    text = "\x1f".join(str(name) for name in names)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1


def task_digest(task: Task) -> str:
    """The content of a task, wherever it stands: split and index do not enter."""
    return digest(task.label, task.messages, task.truth, task.data)


def question_digest(question: str) -> str:
    """What a question is known again by; spaces and case do not make another one of it."""
    return digest(" ".join(question.casefold().split()))[:16]


def policy_digest(policy: Policy) -> str:
    return digest(policy)


def playbook_digest(playbook: Playbook) -> str:
    return digest(playbook)


def rollout_key(ticket: Ticket, fingerprint: str, policy: str) -> str:
    """The name of one rollout. `fingerprint` is the environment's, `policy` a `policy_digest`."""
    where = f"{ticket.purpose}\x1f{fingerprint}\x1f{ticket.split}\x1f{ticket.index}\x1f{policy}\x1f{ticket.draw}"
    return hashlib.blake2b(where.encode(), digest_size=16).hexdigest()
