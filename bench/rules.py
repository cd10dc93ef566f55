"""Rule search on missions with planted conventions and one rule that is too strict, judged by a simulated reviewer.

    python bench/rules.py [--quick] [--json FILE] [--workers N] [--seeds N] [--first N] [--raw FILE [--kept]]
                          [--kind NAME ...] [--level SHARE ...]

The reviewer goes by the checklist and by its book, overlooks a rule in one draw of ten, turns a verdict in 3 of 100,
and tosses a coin over tickets that show something good and bad at once. Verdicts are votes of three. The miner
proposes; loop and gate are those of `whet train`, only engine and ledger are left out (`rule_search.memory`). What is
found is measured on tickets that no run has seen.

Settings were tried on worlds 0 to 29, 40 to 57, 100 to 119 and from 1002 to 1016. Nobody had looked at 200 to 229 (the
default) and at 230 to 259 before their figures were taken; since then causes were looked into on some of either. An
accepted change *truly raises* false releases where it lifts the
reviewer's true rate among failing tickets by more than 0.01: the chance that its vote of three releases a ticket,
computed from its rates of error and averaged over the failing tickets (about 2,200) of 4,800 that no run sees.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rows import Row, report
from rule_search.runs import A_A, PUBLISHED, SLIGHT, UNCAPPED, WHET, RunFigures, RunPlan, run_world

LEVELS = (0.0, 0.05, 0.10, 0.20)
BAR_LEVEL = 0.10
FOUND, HALFWAY, SAME = 0.70, 0.5, 0.95

A_A_APART = 1000
"""From a world to a second one for runs whose proposer only paraphrases, which need twice as many."""


@dataclass(frozen=True, slots=True)
class Share:
    """A mean over runs with its interval of 95 %."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"95 % interval {self.low:.3f} to {self.high:.3f}"


def mean_of(values: Sequence[float]) -> Share:
    """The mean with its normal interval; shares are kept inside 0 and 1 by whoever prints them."""
    middle = statistics.fmean(values)
    half = 1.96 * statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return Share(middle, middle - half, middle + half)


def share_of(hits: int, of: int) -> Share:
    """A share with Wilson's interval."""
    z, p = 1.96, hits / of
    middle, half = (p + z * z / 2 / of), z * math.sqrt(p * (1 - p) / of + z * z / 4 / of / of)
    return Share(p, (middle - half) / (1 + z * z / of), (middle + half) / (1 + z * z / of))


# --------------------------------------------------------------------------------------------- rows


@dataclass(slots=True)
class Figures:
    """The runs of one kind at one level of ambiguity."""

    runs: list[RunFigures] = field(default_factory=list)

    def total(self, name: str) -> int:
        return sum(getattr(run, name) for run in self.runs)

    def share(self, name: str, of: str) -> Share:
        return share_of(self.total(name), max(1, self.total(of)))

    def mean(self, read: Callable[[RunFigures], float]) -> Share:
        return mean_of([read(run) for run in self.runs])


def rows_of(found: dict[tuple[str, float], Figures]) -> Iterator[Row]:
    for level in LEVELS:
        if (WHET, level) not in found:
            continue
        ours, tag = found[WHET, level], f"{100 * level:.0f}"
        bar = level == BAR_LEVEL
        runs = len(ours.runs)
        hit = ours.share("found", "planted")
        told = f"{runs} runs; {hit}"
        yield Row(
            f"rules_found_{tag}",
            hit.value,
            "share",
            FOUND if bar else None,
            hit.value >= FOUND if bar else None,
            condition=told,
        )
        if (PUBLISHED, level) in found:
            theirs = found[PUBLISHED, level]
            other = theirs.share("found", "planted")
            yield Row(
                f"rules_found_published_{tag}",
                other.value,
                "share",
                condition=f"{len(theirs.runs)} runs; {other}; {theirs.total('applied')} changes accepted",
            )
        strict = ours.share("removed", "strict")
        removed, planted = ours.total("removed"), ours.total("strict")
        yield Row(
            f"rules_strict_removed_{tag}",
            strict.value,
            "share",
            1.0 if bar else None,
            removed == planted if bar else None,
            condition=f"{removed} of {planted}; {strict}",
        )
        free = [run for run in ours.runs if run.strict and max(run.due, run.at_best) <= SLIGHT]
        if free:
            yield Row(
                f"rules_strict_removed_where_it_may_{tag}",
                sum(run.removed for run in free) / len(free),
                "share",
                condition=f"{len(free)} worlds in which its removal truly raises false releases by at most {SLIGHT:g}",
            )
        way = ours.mean(lambda run: run.way)
        yield Row(
            f"rules_way_{tag}",
            way.value,
            "of the way",
            HALFWAY if bar else None,
            way.low >= HALFWAY if bar else None,
            condition=f"{runs} runs; {way}; from checklist to ceiling",
        )
        for name in ("checklist", "start", "final", "ceiling"):
            score = ours.mean(lambda run, name=name: getattr(run, name))
            yield Row(f"rules_{name}_{tag}", score.value, "right", condition=str(score))
        yield from harm_rows(ours, tag, bar)
        yield from draw_rows(ours, tag)
    if (A_A, BAR_LEVEL) in found:
        same = found[A_A, BAR_LEVEL]
        still = share_of(sum(run.applied == 0 for run in same.runs), len(same.runs))
        yield Row(
            "rules_a_a_unchanged",
            still.value,
            "share",
            SAME,
            still.value >= SAME,
            condition=f"{len(same.runs)} runs; {still}",
        )
    if {(WHET, BAR_LEVEL), (UNCAPPED, BAR_LEVEL)} <= found.keys():
        yield from cost_rows(found[WHET, BAR_LEVEL], found[UNCAPPED, BAR_LEVEL])


def harm_rows(ours: Figures, tag: str, bar: bool) -> Iterator[Row]:
    """Accepted changes that truly raise false releases: by more than one failing ticket in a hundred, and by more than
    the bound."""
    accepted, raised = ours.total("applied"), ours.total("raised_any")
    kinds = Counter(kind for run in ours.runs for kind, rise in zip(run.kinds, run.rises, strict=True) if rise > SLIGHT)
    rises = sorted((rise for run in ours.runs for rise in run.rises), reverse=True)[:3]
    told = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "none"
    yield Row(
        f"rules_raised_{tag}",
        raised,
        "accepted",
        0 if bar else None,
        raised == 0 if bar else None,
        condition=f"of {accepted} accepted, a true rise of false releases above {SLIGHT:g} ({told}); "
        f"{ours.share('raised_any', 'applied')}; largest rises {', '.join(f'{rise:.4f}' for rise in rises)}",
    )
    yield Row(
        f"rules_raised_beyond_{tag}",
        ours.total("raised_beyond"),
        "accepted",
        condition="of these, by more than 0.01 beyond what the planted change in its place would",
    )
    yield Row(f"rules_raised_above_bound_{tag}", ours.total("raised"), "accepted", condition="a true rise above 0.05")


def draw_rows(ours: Figures, tag: str) -> Iterator[Row]:
    """What an accepted change costs in draws, and for what they are taken."""
    accepted = max(1, ours.total("applied"))
    spent: Counter[str] = Counter()
    for run in ours.runs:
        spent.update(run.spent)
    total = max(1, ours.total("draws"))
    shares = ", ".join(f"{stage} {count / total:.2f}" for stage, count in spent.most_common())
    yield Row(f"rules_draws_per_accept_{tag}", total / accepted, "draws", condition=f"{accepted} accepted; {shares}")


def cost_rows(ours: Figures, theirs: Figures) -> Iterator[Row]:
    """Draws per accepted rule beside the published loop, without its cap on change, which lets nothing pass."""
    mine = ours.total("draws") / max(1, ours.total("applied"))
    other = theirs.total("draws") / max(1, theirs.total("applied"))
    ratio = mine / other
    ends = [side.mean(lambda run: run.final).value for side in (ours, theirs)]
    condition = f"final accuracy {ends[0]:.3f} and {ends[1]:.3f}"
    yield Row(
        "rules_cost_beside_published",
        mine,
        "draws",
        0.5,
        ratio <= 0.5,
        "published loop, uncapped",
        other,
        ratio,
        condition,
    )
    for name in ("found", "removed", "raised", "applied"):
        yield Row(
            f"rules_published_uncapped_{name}", theirs.total(name), "in all", condition=f"{len(theirs.runs)} runs"
        )


def plans(seeds: Sequence[int]) -> list[tuple[RunPlan, ...]]:
    """Runs by the world they share; what the bars are about first: a bench that is stopped early has told that."""
    kinds = (WHET, UNCAPPED, A_A, PUBLISHED)
    found = [tuple(RunPlan(kind, BAR_LEVEL, seed) for kind in kinds) for seed in seeds]
    others = [level for level in LEVELS if level != BAR_LEVEL]
    found += [(RunPlan(A_A, BAR_LEVEL, seed + A_A_APART),) for seed in seeds]
    found += [tuple(RunPlan(kind, level, seed) for kind in (WHET, PUBLISHED)) for seed in seeds for level in others]
    return found


def wanted(
    planned: Sequence[tuple[RunPlan, ...]], kinds: Sequence[str] | None, levels: Sequence[float] | None
) -> list[tuple[RunPlan, ...]]:
    """The runs of these kinds at these levels, all where none are named."""
    return [
        tuple(plan for plan in world if (not kinds or plan.kind in kinds) and (not levels or plan.ambiguous in levels))
        for world in planned
    ]


def known_runs(raw: Path | None) -> dict[RunPlan, RunFigures]:
    """The runs that a file of before holds."""
    lines = raw.read_text().splitlines() if raw is not None and raw.exists() else []
    rows = [json.loads(line) for line in lines]
    return {RunPlan(**row["plan"]): RunFigures(**row["figures"]) for row in rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few minutes: the same rows, wider intervals")
    parser.add_argument("--json", type=Path, help="also write the rows here")
    parser.add_argument("--raw", type=Path, help="keep every run here as it ends; what stands in it is not run again")
    parser.add_argument("--kept", action="store_true", help="run nothing: the rows of what stands in the raw file")
    parser.add_argument("--workers", type=int, default=1, help="processes side by side")
    parser.add_argument("--seeds", type=int, help="worlds; by default 30, with --quick 3")
    parser.add_argument("--first", type=int, default=200, help="the first world")
    parser.add_argument("--kind", action="append", help="only these runs: whet, published, …; by default all")
    parser.add_argument("--level", type=float, action="append", help="only these shares of ambiguous tickets")
    given = parser.parse_args()
    seeds = range(given.first, given.first + (given.seeds or (3 if given.quick else 30)))
    whole = plans(seeds)
    planned, known = wanted(whole, given.kind, given.level), known_runs(given.raw)
    if not any(planned):
        kinds, levels = ({getattr(plan, name) for world in whole for plan in world} for name in ("kind", "ambiguous"))
        parser.error(f"no such run; --kind is one of {', '.join(sorted(kinds))}, --level of {sorted(levels)}")
    left = [tuple(plan for plan in world if plan not in known) for world in planned if not given.kept]
    todo = [world for world in left if world]
    for world, runs in worked_off(todo, given.workers):
        for plan, figures in zip(world, runs, strict=True):
            known[plan] = figures
            print(f"# {plan} {figures}", flush=True)
            if given.raw:
                with given.raw.open("a") as file:
                    file.write(json.dumps({"plan": asdict(plan), "figures": asdict(figures)}) + "\n")
    found: dict[tuple[str, float], Figures] = {}
    for plan in (plan for world in planned for plan in world):
        if plan in known:
            found.setdefault((plan.kind, plan.ambiguous), Figures()).runs.append(known[plan])
    report(rows_of(found), given.json)


def worked_off(
    todo: Sequence[tuple[RunPlan, ...]], workers: int
) -> Iterator[tuple[tuple[RunPlan, ...], list[RunFigures]]]:
    """Each world with its runs as soon as they are done: what ended before a bench is stopped is kept."""
    if workers == 1:
        yield from ((world, run_world(world)) for world in todo)
        return
    with ProcessPoolExecutor(workers) as pool:
        begun = {pool.submit(run_world, world): world for world in todo}
        yield from ((begun[done], done.result()) for done in as_completed(begun))


if __name__ == "__main__":
    main()
