"""What another process sees of an environment: its fingerprint and a digest of every task of a plan.

Run as `python -m whet.run.contract.probe` with the request as JSON on standard input; `check` compares what it answers
with what it sees itself.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from whet.envs.base import Environment
from whet.envs.registry import load_environment
from whet.errors import WhetError
from whet.keys import digest
from whet.types import Split

Plan = Sequence[tuple[Split, int]]


@dataclass(frozen=True, slots=True)
class EnvironmentView:
    """An environment as a process saw it."""

    fingerprint: str
    digests: tuple[str, ...]
    """One for each task of the plan, in its order, of everything that the task holds."""


def look(env: Environment, plan: Plan) -> EnvironmentView:
    """Build every task of the plan, the last one first."""
    digests = [digest(env.task(split, index)) for split, index in reversed(plan)]
    return EnvironmentView(env.fingerprint, tuple(reversed(digests)))


def look_elsewhere(address: str, args: Mapping[str, Any], plan: Plan, timeout: float = 600.0) -> EnvironmentView:
    """What a fresh process sees that hashes text in another order."""
    here = os.environ.get("PYTHONHASHSEED", "random")
    request = orjson.dumps({"address": address, "args": args, "plan": plan})
    done = subprocess.run(
        [sys.executable, "-m", "whet.run.contract.probe"],
        input=request,
        capture_output=True,
        check=False,
        timeout=timeout,
        env={**os.environ, "PYTHONHASHSEED": "2" if here == "1" else "1"},
    )
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise WhetError(f"{address} does not load in another process: {said[-1] if said else 'no message'}")
    answer = orjson.loads(done.stdout)
    return EnvironmentView(answer["fingerprint"], tuple(answer["digests"]))


def main() -> None:
    request = orjson.loads(sys.stdin.buffer.read())
    env = load_environment(request["address"], request["args"])
    seen = look(env, request["plan"])
    sys.stdout.buffer.write(orjson.dumps(seen))


if __name__ == "__main__":
    main()
