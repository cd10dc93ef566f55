"""The section on what was varied about reinforcement: presets in equal time, a curriculum, the twelve cells."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from results_parts import Bar, cell, lacking, made_with, table, values_at
from seeds import Picture, SeedMean, gain_where_both, mean_of

PRESETS = ("baseline", "no_kl", "asym_clip", "dynamic", "token_loss")
CURRICULA = {
    "flat": "the flat mix",
    "band": "a band: harder where more than half is repaired, easier where less than a fifth is",
    "stages": "stages: tiny, tiny and small, small and medium, medium",
}
SIZES = ("tiny", "small", "medium")
DIFFICULTIES = ("easy", "medium", "hard")


def ablation_bar(data: Mapping[str, Any]) -> Bar:
    name = "ablation: the five presets are ranked with intervals, those that do not help among them"
    rows = {row["preset"]: row for row in data.get("presets", [])}
    absent = [preset for preset in PRESETS if preset not in rows]
    few = lacking({preset: rows[preset]["seeds"] for preset in PRESETS if preset in rows})
    told = "; ".join(filter(None, [f"Missing: {', '.join(absent)}" if absent else "", few]))
    if not told and not _moved(data):
        told = "All five stand below, and none is shown to have moved from where it began: a ranking of noise"
    return Bar(name, None if told else True, (told or "All five stand below") + ".")


def _moved(data: Mapping[str, Any]) -> list[str]:
    """Presets whose interval over seeds leaves out what the weights that all begin with do on the same tasks."""
    value = data.get("begun", {}).get("repaired")
    means = {row["preset"]: mean_of(row["seeds"]) for row in data.get("presets", [])}
    return [name for name, mean in means.items() if value is not None and mean.half < abs(mean.value - value)]


def ablation_section(data: Mapping[str, Any]) -> tuple[list[str], list[Picture]]:
    ranked = sorted(data.get("presets", []), key=lambda row: -statistics.fmean(row["seeds"]))
    lines = ["## What is varied about reinforcement", "", "### The five presets in equal time", ""]
    pictures = []
    if ranked:
        lines += _presets(data, ranked)
        names = tuple(row["preset"] for row in ranked)
        solved = {"solved": [mean_of(row["seeds"]) for row in ranked]}
        pictures.append(Picture("results-ablation.svg", "presets of GRPO, in equal time", names, solved))
    else:
        lines += ["Missing: all presets.", ""]
    lines += ["### A curriculum against the flat mix", "", *_curriculum(data.get("curriculum", {}))]
    lines += ["### The twelve cells under the weights of imitation", ""]
    told, drawn = _gradient(data.get("gradient", {}))
    return lines + told + made_with(data), pictures + drawn


# ---------------------------------------------------------------------------------------------- presets


def _presets(data: Mapping[str, Any], ranked: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = []
    if data.get("type"):
        lines += [
            f"Tiny problems of fault type {data['type']}. Played at temperature 0, on select tasks. {_begun(data)}",
            "",
        ]
    plain = next((row for row in ranked if row["preset"] == "baseline"), {})
    verdicts = {row["preset"]: _verdict(row, plain) for row in ranked}
    rows = [
        [
            f"`{row['preset']}`",
            str(mean_of(row["seeds"])),
            *verdicts[row["preset"]],
            f"{row['signal']:.2f}",
            f"{row['stability']:.2f}",
            f"{statistics.fmean(row['steps']):.0f}" if row.get("steps") else "",
            f"{row['seconds']:.0f}",
        ]
        for row in ranked
    ]
    heads = ["preset", "solved", "over baseline", "", "signal", "stability", "steps", "seconds"]
    return [*lines, *table(heads, rows), _in_words(verdicts), ""]


def _begun(data: Mapping[str, Any]) -> str:
    """What the weights that all arms begin with do, and which arms are shown to have learnt anything since."""
    begun = data.get("begun", {})
    if "repaired" not in begun:
        return "What the weights that all arms begin with do on these tasks is missing."
    value, (low, high) = begun["repaired"], begun["interval"]
    moved = [f"`{name}`" for name in _moved(data)]
    where = f", on {begun['device']}" if begun.get("device") != data.get("device") else ""
    learnt = (
        f"{', '.join(moved)} moved from there."
        if moved
        else (
            "No arm is shown to have moved from there, so what is ranked here is noise: so short a training shows "
            "nothing of a preset, which is not to say that presets are alike."
        )
    )
    return (
        f"The weights that all arms begin with repair {value:.3f} [{low:.2f}, {high:.2f}] of the same {begun['n']} "
        f"tasks{where}. {learnt}"
    )


def _verdict(row: Mapping[str, Any], plain: Mapping[str, Any]) -> tuple[str, str]:
    """The gain over the baseline, seed by seed, and what it shows."""
    gain = _gain(row, plain) if row["preset"] != "baseline" else None
    if gain is None:
        return "", ""
    shown = "helps" if gain.low > 0 else "harms" if gain.high < 0 else "no difference is shown"
    return gain.signed, shown


def _gain(row: Mapping[str, Any], beside: Mapping[str, Any]) -> SeedMean | None:
    """`seeds` are values here, and `under` tells of which seeds they are."""
    values = (values_at(told, "seeds") for told in (row, beside))
    return gain_where_both(*values, *(told.get("under", ()) for told in (row, beside)))


def _in_words(verdicts: Mapping[str, tuple[str, str]]) -> str:
    told = []
    for word, said in (
        ("helps", "better"),
        ("harms", "worse"),
        ("no difference is shown", "without a difference that these seeds would show"),
    ):
        names = [f"`{preset}`" for preset, (_, shown) in verdicts.items() if shown == word]
        if names:
            told.append(f"{', '.join(names)}: {said}")
    absent = [f"`{preset}`" for preset in PRESETS if preset not in verdicts]
    told += [f"{', '.join(absent)}: missing"] if absent else []
    return "Beside the baseline, " + "; ".join(told) + "." if told else "There is no baseline to compare with."


# ---------------------------------------------------------------------------------------------- curriculum


def _curriculum(data: Mapping[str, Any]) -> list[str]:
    rows, said = [], []
    for kind, words in CURRICULA.items():
        own = values_at(data, kind, "seeds")
        gain = _gain(data.get(kind, {}), data.get("flat", {})) if kind != "flat" else None
        rows.append(
            [
                words,
                cell(own),
                gain.signed if gain else "",
                *(cell(values_at(data, kind, "rungs", size)) for size in SIZES),
            ]
        )
        if gain:
            shown = "is better" if gain.low > 0 else "is worse" if gain.high < 0 else "differs by nothing that is shown"
            said.append(f"`{kind}` {shown}")
    lines = table(["tasks", "solved", "over flat", *SIZES], rows)
    return [*lines, f"Against the flat mix: {'; '.join(said)}." if said else "Nothing to compare yet.", ""]


# ---------------------------------------------------------------------------------------------- the twelve cells


def _gradient(data: Mapping[str, Any]) -> tuple[list[str], list[Picture]]:
    if not data:
        return ["Missing.", ""], []
    told = {
        name: found if isinstance(found, Mapping) else {"repaired": found}
        for name, found in sorted(data.items(), key=_place)
    }
    rows = [
        [name, _share(found), _band(found), str(found.get("verdict", "")), str(found.get("n", ""))]
        for name, found in told.items()
    ]
    inside = [name for name, found in told.items() if found.get("verdict") == "in band"]
    near = [name for name, found in told.items() if found.get("verdict") == "overlaps"]
    lines = [
        "The bands are those that were once expected of a fine-tuned model: 90 to 100 % of easy, 60 to 80 % of medium, "
        "30 to 50 % of hard.",
        "",
        *table(["cell", "repaired", "band", "", "tasks"], rows),
        f"{len(inside)} of {len(told)} cells lie in their band, {len(near)} more have an interval that meets it.",
        "",
    ]
    shares: list[SeedMean | None] = [_mean(found) for found in told.values()]
    groups = tuple(name.removeprefix("type_").replace("_", "\n") for name in told)
    bands = [(found["band"][0], found["band"][1]) if "band" in found else None for found in told.values()]
    drawn = Picture(
        "results-gradient.svg",
        "the twelve cells under imitation",
        groups,
        {"repaired, 95 % over problems": shares},
        bands=bands,
        bands_are="expected of a fine-tuned model",
        seeded=False,
    )
    return lines, [drawn]


def _place(entry: tuple[str, Any]) -> tuple[str, int]:
    kind, _, difficulty = entry[0].rpartition("_")
    return kind, DIFFICULTIES.index(difficulty) if difficulty in DIFFICULTIES else len(DIFFICULTIES)


def _mean(found: Mapping[str, Any]) -> SeedMean:
    low, high = found.get("interval", (math.nan, math.nan))
    return SeedMean(found["repaired"], math.nan, 1, (low, high))


def _share(found: Mapping[str, Any]) -> str:
    between = " [{:.2f}, {:.2f}]".format(*found["interval"]) if "interval" in found else ""
    return f"{found['repaired']:.2f}{between}"


def _band(found: Mapping[str, Any]) -> str:
    return "{:.1f} to {:.1f}".format(*found["band"]) if "band" in found else ""
