"""The exit codes: what each means, for `whet --help` and the docs."""

from __future__ import annotations

CODES = {
    0: "done",
    1: "done, with faults: a check failed, or no answer came",
    2: "a mistake to mend, which the line names: the command, the config, a file, the machine",
    3: "stopped by a budget, an interrupt or, in training, a dead service: the same command, or 'whet resume', goes on",
    70: "a defect of Whet",
    141: "nobody reads on",
}


def listed() -> str:
    """The codes for the end of a help text, a line each."""
    return "\n".join(("\b", "Exit codes:", *(f"  {code:<4}{meaning}" for code, meaning in CODES.items())))
