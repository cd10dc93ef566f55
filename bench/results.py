"""`docs/results.md` from `results/*.json`: what weights learn beside text, which bars hold, and what is missing.

python bench/results.py [--results DIR] [--docs DIR] [--check]

| file | holds |
|---|---|
| `ordebug_rl.json` | `arms.ARM.RUNG.FIGURE`: a list with one value for each seed |
| `groupqc_rl.json` | `arms.ARM.FIGURE`, `with_rules.ARM.FIGURE` likewise; `ceiling` and `checklist` |
| `ablation.json` | `presets`: rows as `whet ablate` writes them; `curriculum.KIND.seeds`; `gradient.CELL` |
| `soup_rl.json` | `arms.ARM.RUNG.FIGURE`: a list with one value for each seed |
| `throughput.json` | `batches.NAME.sides.SIDE`: seconds, tokens a second and memory of a step |
| `causes.json` | by the first word of a bar that is missed, its most likely cause, in words: written by hand |
| `adversaries.json` | what ordebug's adversaries do on its problems: `repaired` and `pointing`, by name and rung |

each with `configs`, `versions`, `device` and `seconds`. Nothing is computed here but means, differences and intervals:
a difference is taken seed by seed, and its interval is Student's over the seeds, so that three of them say as little as
three can. An arm that is not there is said to be missing, and a bar that needs it is open; a bar that is missed stands
with its figure and its cause. `--check` writes nothing and ends with 1 where the page is not what the files say.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from results_ablation import ablation_bar, ablation_section
from results_parts import SEEDS, WORDS, Bar, cell, few_seeds, lacking, made_with, seeds_of, table, values_at
from results_soup import soup_section, throughput_section
from seeds import Picture, ResultsError, SeedMean, Values, draw, gain_of, gain_where_both, mean_of

HERE = Path(__file__).parents[1]
ORDEBUG_ARMS = ("base", "sft", "grpo", "sft_equal_time", "rejection_sft", "grpo_one_step")
RIVALS = ("sft", "sft_equal_time", "rejection_sft")
RUNGS = ("tiny", "small", "medium", "hard", "held_out", "overall")
LADDER = RUNGS[:4]
ORDEBUG_FIGURES = ("repaired_at_5", "repaired_at_10", "rr_at_5", "da", "localisation_recall")
GROUPQC_ARMS = ("base_playbook", "rules", "sft", "grpo")
GROUPQC_FIGURES = ("validity", "balanced_accuracy", "false_release", "passed")
BETWEEN, GAIN, VALID, BALANCED = (0.05, 0.60), 0.15, 0.99, 0.20


# ---------------------------------------------------------------------------------------------- what is there


def read_results(folder: Path) -> dict[str, Any]:
    """The files that are there, by name."""
    found: dict[str, Any] = {}
    for name in (*SECTIONS, "causes", "adversaries"):
        file = folder / f"{name}.json"
        if not file.is_file():
            continue
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ResultsError(f"{file}: is no JSON ({error}); collect it again") from None
        if isinstance(data, dict) and data.get("toy"):
            raise ResultsError(f"{file}: made with --toy, or of rehearsed arms, which shows nothing; take it away")
        found[name] = {"presets": data} if isinstance(data, list) else data
    if "adversaries" in found and "ordebug_rl" in found:
        found["ordebug_rl"] = found["ordebug_rl"] | {"adversaries": found["adversaries"]}
    return found


# ---------------------------------------------------------------------------------------------- ordebug


def ordebug_bar(data: Mapping[str, Any]) -> Bar:
    name = (
        "ordebug: reinforcement repairs at least 15 points more within ten steps than imitation, and more than every "
        "arm of equal time, on the rungs where imitation repairs between 5 and 60 %"
    )
    at_10 = {
        arm: {rung: values_at(data, "arms", arm, rung, "repaired_at_10") for rung in LADDER} for arm in ORDEBUG_ARMS
    }
    known = {rung: statistics.fmean(values) for rung, values in at_10["sft"].items() if values}
    if not known:
        return Bar(name, None, "Missing: sft.")
    rungs = [rung for rung, share in known.items() if BETWEEN[0] <= share <= BETWEEN[1]]
    if not rungs:
        told = ", ".join(f"{rung} {share:.2f}" for rung, share in known.items())
        return Bar(name, None, f"There is no such rung: imitation repairs {told}.")
    over = {arm: _over(at_10[arm], rungs) for arm in ("grpo", *RIVALS)}
    lack = lacking(over)
    if not over["grpo"] or not over["sft"]:
        return Bar(name, None, f"On {', '.join(rungs)}; {lack}.")
    gains = {arm: _gain(data, over, arm) for arm in RIVALS if over[arm]}
    told = "; ".join(f"over {WORDS[arm]} {gain.signed}" for arm, gain in gains.items() if gain is not None)
    gains = {arm: gain for arm, gain in gains.items() if gain is not None}
    missed = gains["sft"].value < GAIN if "sft" in gains else False
    missed = missed or any(gain.value <= 0 or gain.low <= 0 for gain in gains.values())
    if lack:
        return Bar(
            name, False if missed and len(over["grpo"]) >= SEEDS else None, f"On {', '.join(rungs)}: {told}; {lack}."
        )
    return Bar(name, not missed, f"On {', '.join(rungs)}, {len(over['grpo'])} seeds: {told}.")


def _gain(data: Mapping[str, Any], over: Mapping[str, list[float]], rival: str) -> SeedMean | None:
    """Of reinforcement over a rival."""
    return gain_where_both(over["grpo"], over[rival], *(seeds_of(data, arm) for arm in ("grpo", rival)))


def _over(rungs: Mapping[str, Values], chosen: Sequence[str]) -> list[float]:
    """The mean over rungs, seed by seed; none where a rung is missing."""
    columns = [rungs[rung] for rung in chosen]
    if not all(columns) or len({len(column) for column in columns}) > 1:
        return []
    return [statistics.fmean(seed) for seed in zip(*columns, strict=True)]


def ordebug_section(data: Mapping[str, Any]) -> tuple[list[str], list[Picture]]:
    lines = ["## ordebug: repairing models by steps", ""]
    lines += [
        "SmolLM2-135M repairs infeasible optimisation models, in table form, in at most ten steps. Problems of split "
        "test, at temperature 0; `held_out` are trades that no training problem is of. Demonstrations are of tiny and "
        "small problems alone.",
        "",
    ]
    for figure, title in (("repaired_at_10", "Repaired within ten steps"), ("repaired_at_5", "Repaired within five")):
        rows = [
            [WORDS[arm], *(cell(values_at(data, "arms", arm, rung, figure)) for rung in RUNGS)] for arm in ORDEBUG_ARMS
        ]
        lines += [f"**{title}**, a mean over seeds [95 % over seeds]", "", *table(["arm", *RUNGS], rows)]
    rest = [figure for figure in ORDEBUG_FIGURES if not figure.startswith("repaired")]
    rows = [
        [WORDS[arm], *(cell(values_at(data, "arms", arm, "overall", figure)) for figure in rest)]
        for arm in ORDEBUG_ARMS
    ]
    lines += ["**Overall**", "", *table(["arm", *rest], rows)]
    lines += few_seeds(data, RUNGS[:-1])
    lines += _programs(data.get("adversaries", {}))
    series: dict[str, list[SeedMean | None]] = {}
    for arm in ORDEBUG_ARMS:
        found = [values_at(data, "arms", arm, rung, "repaired_at_10") for rung in LADDER]
        if any(found):
            series[WORDS[arm]] = [mean_of(values) if values else None for values in found]
    return lines + made_with(data), [
        Picture("results-ordebug.svg", "ordebug: repaired within ten steps", LADDER, series)
    ]


def _programs(found: Mapping[str, Any]) -> list[str]:
    """What programs that learn nothing do on the same problems."""
    if not found:
        return []
    shares = []
    for name, by_rung in (*found["repaired"].items(), *found["pointing"].items()):
        whole = {"overall": statistics.fmean(by_rung[rung] for rung in LADDER)} if by_rung.keys() >= {*LADDER} else {}
        known = by_rung | whole
        shares.append([name, *(f"{known[rung]:.3f}" if rung in known else "missing" for rung in RUNGS)])
    played = len(found["repaired"])
    return [
        "**Programs that learn nothing, on the same problems**, repaired within ten steps. `search` is told when it "
        "has the repair, `oracle` knows it. A compiler that knows how tables are written holds each line against the "
        "model: such a table is hard for a reader, not for a program that has its grammar.",
        "",
        *table(["program", *RUNGS], shares[:played]),
        "Without the specification a solver names suspects, and a finger points at one element: how often that is "
        "something wrong, to be held beside localisation_recall.",
        "",
        *table(["finger", *RUNGS], shares[played:]),
    ]


# ---------------------------------------------------------------------------------------------- groupqc


def groupqc_bars(data: Mapping[str, Any]) -> Iterator[Bar]:
    ours = {figure: values_at(data, "arms", "grpo", figure) for figure in GROUPQC_FIGURES}
    base = {figure: values_at(data, "arms", "base_playbook", figure) for figure in GROUPQC_FIGURES}
    names = (
        "groupqc: more than 99 % of the verdicts of reinforcement are valid",
        "groupqc: its balanced accuracy is at least 20 points above the base with a playbook",
        "groupqc: it releases no more failing tickets than the base with a playbook",
    )
    if not ours["validity"]:
        yield from (Bar(name, None, "Missing: grpo.") for name in names)
        return
    few = lacking({"grpo": ours["validity"]})
    valid = mean_of(ours["validity"])
    yield Bar(names[0], _if_enough(few, valid.value > VALID), f"{valid}{_also(few)}.")
    if not base["validity"]:
        yield from (Bar(name, None, "Missing: base_playbook.") for name in names[1:])
        return
    gain = gain_of(ours["balanced_accuracy"], base["balanced_accuracy"])
    above = gain.value >= BALANCED and gain.low > 0
    yield Bar(names[1], _if_enough(few, above), f"{gain.signed}{_also(few)}.")
    more = gain_of(ours["false_release"], base["false_release"])
    valid, passed = (statistics.fmean(base[figure]) for figure in ("validity", "passed"))
    beside = f"the base is valid in {valid:.3f} and passes {passed:.3f} of the sound tickets; what it never passes it "
    beside += "cannot release wrongly"
    yield Bar(names[2], _if_enough(few, more.value <= 0), f"{more.signed} ({beside}){_also(few)}.")


def _if_enough(lack: str, holds: bool) -> bool | None:
    return None if lack else holds


def _also(lack: str) -> str:
    return f"; {lack}" if lack else ""


def groupqc_section(data: Mapping[str, Any]) -> tuple[list[str], list[Picture]]:
    lines = ["## groupqc: habits that nobody wrote down", ""]
    lines += [
        "Fire doors are reviewed from written summaries; five conventions of the reviewers stand in no prompt. The "
        "same tickets of split test for all arms, at temperature 0. `false_release` is the share of failing tickets "
        "that were passed, `passed` that of sound ones.",
        "",
    ]
    rows = [
        [WORDS[arm], *(cell(values_at(data, "arms", arm, figure)) for figure in GROUPQC_FIGURES)]
        for arm in GROUPQC_ARMS
    ]
    for beside, words in (
        ("checklist", "the written checklist, by a program"),
        ("ceiling", "the ceiling: conventions known"),
    ):
        if beside in data:
            rows.append([words, *(f"{data[beside][figure]:.3f}" for figure in GROUPQC_FIGURES)])
    lines += table(["arm", *GROUPQC_FIGURES], rows)
    crossed = data.get("with_rules") or {}
    cells = [
        ["the base", *(cell(values_at(data, "arms", arm, "balanced_accuracy")) for arm in ("base_playbook", "rules"))]
    ]
    for arm in ("sft", "grpo"):
        plain, book = values_at(data, "arms", arm, "balanced_accuracy"), values_at(crossed, arm, "balanced_accuracy")
        cells.append([WORDS[arm], cell(plain), cell(book)])
    lines += [
        "**Weights by rule book**, balanced accuracy",
        "",
        *table(["weights", "mission's own rules", "searched rules"], cells),
    ]
    series: dict[str, list[SeedMean | None]] = {}
    for arm in GROUPQC_ARMS:
        found = [values_at(data, "arms", arm, figure) for figure in GROUPQC_FIGURES]
        if any(found):
            series[WORDS[arm]] = [mean_of(values) if values else None for values in found]
    picture = Picture("results-groupqc.svg", "groupqc: verdicts on unseen tickets", GROUPQC_FIGURES, series)
    return lines + made_with(data), [picture]


# ---------------------------------------------------------------------------------------------- the page


SECTIONS = {
    "ordebug_rl": ordebug_section,
    "groupqc_rl": groupqc_section,
    "ablation": ablation_section,
    "soup_rl": soup_section,
    "throughput": throughput_section,
}


def page(results: Mapping[str, Any]) -> tuple[str, list[Picture]]:
    """The page as text, and its pictures."""
    lines = [
        "# Results: does reinforcement beat imitation?",
        "",
        "Made by `bench/results.py` from `results/*.json`; do not edit. Intervals are of 95 % over seeds (Student's), "
        "and differences are taken seed by seed.",
        "",
        "## Which bars hold",
        "",
    ]
    bars = [
        ordebug_bar(results.get("ordebug_rl", {})),
        *groupqc_bars(results.get("groupqc_rl", {})),
        ablation_bar(results.get("ablation", {})),
    ]
    causes = results.get("causes", {})
    lines += [str(replace(bar, cause=causes.get(bar.name.partition(":")[0], ""))) for bar in bars] + [""]
    missing = [f"`results/{name}.json`" for name in SECTIONS if name not in results]
    if missing:
        lines += [f"**Not measured yet**: {', '.join(missing)}. Nothing is claimed about them.", ""]
    notes = [note for name in SECTIONS if name in results for note in results[name].get("notes", [])]
    lines += [f"* {note}" for note in notes] + ([""] if notes else [])
    pictures: list[Picture] = []
    for name, section in SECTIONS.items():
        if name in results:
            told, drawn = section(results[name])
            drawn = [picture for picture in drawn if picture.series]
            lines += told
            for picture in drawn:
                lines += [f"![{picture.title}](images/{picture.file})", ""]
            pictures += drawn
    return "\n".join(lines).rstrip() + "\n", pictures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=HERE / "results")
    parser.add_argument("--docs", type=Path, default=HERE / "docs")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 where the page is another")
    given = parser.parse_args()
    try:
        found = read_results(given.results)
        if not found:
            raise ResultsError(f"{given.results} holds none; the page stays as it is")
        text, pictures = page(found)
    except (ResultsError, KeyError, TypeError) as error:
        print(f"the results cannot be read: {error}", file=sys.stderr)
        return 2
    file = given.docs / "results.md"
    if given.check:
        same = file.is_file() and file.read_text(encoding="utf-8") == text
        print(f"{file} is {'what' if same else 'not what'} the results say")
        return 0 if same else 1
    file.write_text(text, encoding="utf-8")
    for picture in pictures:
        draw(picture, given.docs / "images")
    print(f"{file}, {len(pictures)} pictures")
    return 0


if __name__ == "__main__":
    sys.exit(main())
