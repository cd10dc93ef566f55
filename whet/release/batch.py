"""Decisions on a file of work: a line for each, in the order of the file; what is no work is listed beside."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson

from whet.errors import WhetError
from whet.files import write_atomically
from whet.release.decider import Decider, NoDecision
from whet.release.decision import WorkDecision

AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class DecisionBatch:
    """What became of a file: its decisions by line, what was refused, and what is still undecided."""

    decisions: dict[int, WorkDecision]
    refused: dict[int, str]
    undecided: dict[int, str]
    spent: bool
    """Whether a budget left work undecided."""

    @property
    def exit_code(self) -> int:
        return 3 if self.spent else 1 if self.refused or self.undecided else 0

    def lines(self, out: Path) -> Iterator[str]:
        counted = Counter(decision.verdict for decision in self.decisions.values())
        told = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counted.items())) or "nothing"
        again = sum(decision.again for decision in self.decisions.values())
        yield f"{told}{f' ({again} decided before)' if again else ''}: {out}"
        codes = Counter(decision.code for decision in self.decisions.values() if decision.code)
        if codes:
            yield "for a person: " + ", ".join(f"{count} {code}" for code, count in sorted(codes.items()))
        if self.refused:
            first = min(self.refused)
            yield f"{len(self.refused)} lines were refused, the first: line {first}, {self.refused[first]}"
        if self.undecided:
            first = min(self.undecided)
            yield (
                f"{len(self.undecided)} lines are undecided, the first: line {first}, {self.undecided[first]}; the "
                "same command goes on"
            )


def read_lines(path: Path) -> list[tuple[int, bytes]]:
    """The lines of a file that are not blank, with their numbers."""
    try:
        data = path.read_bytes()
    except OSError as problem:
        raise WhetError(f"{path}: cannot be read ({problem.strerror})") from None
    numbered = enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1)
    found = [(number, line) for number, line in numbered if line.strip()]
    if not found:
        raise WhetError(f"{path}: holds nothing to decide on; it has a JSON object a line")
    return found


async def decide_lines(decider: Decider, lines: list[tuple[int, bytes]]) -> DecisionBatch:
    """Decide on every line; a line that is refused or undecided holds up no other."""
    limit = asyncio.Semaphore(AT_ONCE)
    batch = DecisionBatch({}, {}, {}, False)
    spent: list[int] = []

    async def decide(number: int, line: bytes) -> None:
        async with limit:
            try:
                batch.decisions[number] = await decider.decide(line)
            except NoDecision as undecided:
                batch.undecided[number] = str(undecided)
                spent.extend([number] if undecided.budget else [])
            except WhetError as refused:
                batch.refused[number] = str(refused)

    await asyncio.gather(*(decide(number, line) for number, line in lines))
    return DecisionBatch(batch.decisions, batch.refused, batch.undecided, bool(spent))


def write_batch(out: Path, batch: DecisionBatch) -> None:
    """`out` with a line for each decision, and beside it what was refused, where anything was."""
    try:
        rows = [{"line": number, **batch.decisions[number].as_data()} for number in sorted(batch.decisions)]
        write_atomically(out, b"".join(orjson.dumps(row) + b"\n" for row in rows))
        beside = out.with_suffix(".refused.jsonl")
        told = {**batch.refused, **batch.undecided}
        if told:
            lines = (orjson.dumps({"line": number, "why": told[number]}) + b"\n" for number in sorted(told))
            write_atomically(beside, b"".join(lines))
        else:
            beside.unlink(missing_ok=True)
    except OSError as problem:
        raise WhetError(f"{out}: cannot be written ({problem.strerror}); what was decided is on record") from None
