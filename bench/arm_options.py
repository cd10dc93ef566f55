"""The command line that the benches of trained arms share."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

RESULTS = Path(__file__).parents[1] / "results"


def arm_parser(about: str | None, what: Sequence[str], names: Sequence[str], out: str) -> argparse.ArgumentParser:
    """A parser that knows what to do, an arm's name and seed, where to work, what is set by name, where results go."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=tuple(what))
    parser.add_argument("name", nargs="?", default="", choices=("", *names))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--set", action="append", default=[], dest="overrides")
    parser.add_argument("--label", default="", help="of an arm that is none of the table")
    parser.add_argument("--out", type=Path, default=RESULTS / out)
    return parser


def read_arm_options(parser: argparse.ArgumentParser) -> tuple[argparse.Namespace, Path]:
    """What was given, and the folder to work in, which is made where something is. An arm must have a name."""
    given = parser.parse_args()
    if given.what in ("arm", "choose") and not given.name:
        known = next(action.choices for action in parser._actions if action.dest == "name") or ()
        parser.error(f"name an arm: {', '.join(name for name in known if name)}")
    if given.what != "collect":
        given.work.mkdir(parents=True, exist_ok=True)
    return given, given.work.resolve()
