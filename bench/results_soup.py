"""The sections on soup and on throughput: arms by rung, and what a step takes beside plain TRL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from results_parts import SEEDS, WORDS, cell, made_with, means, seeds_of, table, values_at
from seeds import Picture, SeedMean, gain_where_both

ARMS = ("base", "sft", "grpo")
RUNGS = ("primer", "easy", "easy_any")
FIGURES = {
    "solved": "Every page right",
    "pages": "Share of unseen pages that are right",
    "submitted": "A program was handed in",
}


def soup_section(data: Mapping[str, Any]) -> tuple[list[str], list[Picture]]:
    lines = [
        "## soup: programs that read pages",
        "",
        "SmolLM2-135M looks at a page through programs and hands in one that is run on pages it has not seen. Tasks of "
        "split test, at temperature 0, tools by the fenced protocol; words, labels and wordings are others than in "
        "training. `primer` is one element; `easy` a value of a record whose region the question names by its class; "
        "in `easy_any` questions go by class, by words or by meaning, and one task in eight cannot be answered, which "
        "no worked attempt shows.",
        "",
    ]
    for figure, title in FIGURES.items():
        rows = [[WORDS[arm], *(cell(values_at(data, "arms", arm, rung, figure)) for rung in RUNGS)] for arm in ARMS]
        lines += [f"**{title}**", "", *table(["arm", *RUNGS], rows)]
    lines += [_in_words(data), ""]
    series = {}
    for arm in ARMS:
        found = [values_at(data, "arms", arm, rung, "solved") for rung in RUNGS]
        if any(found):
            series[WORDS[arm]] = means(found)
    return lines + made_with(data), [Picture("results-soup.svg", "soup: solved", RUNGS, series)]


def _in_words(data: Mapping[str, Any]) -> str:
    """What reinforcement adds to imitation, rung by rung; where seeds are missing, that."""
    told = []
    for rung in RUNGS:
        ours, theirs = (values_at(data, "arms", arm, rung, "solved") for arm in ("grpo", "sft"))
        if not ours or not theirs:
            told.append(f"{rung} is open")
            continue
        gain = gain_where_both(ours, theirs, *(seeds_of(data, arm) for arm in ("grpo", "sft")))
        if gain is None:
            told.append(f"{rung} is open ({len(ours)} and {len(theirs)} seeds)")
            continue
        few = f" ({gain.seeds} of {SEEDS} seeds)" if gain.seeds < SEEDS else ""
        shown = "better" if gain.low > 0 else "worse" if gain.high < 0 else "not shown to differ"
        told.append(f"{rung} {gain.signed}{few}{'' if few else f', {shown}'}")
    return f"Reinforcement over imitation: {'; '.join(told)}."


# ---------------------------------------------------------------------------------------------- throughput


def throughput_section(data: Mapping[str, Any]) -> tuple[list[str], list[Picture]]:
    lines = [
        "## A step of GRPO beside plain TRL",
        "",
        "The same model, batch, lengths and settings on both sides, which draw the same number of tokens. Seconds of a "
        "step by a clock, the median after the first; memory is the peak that torch allocated.",
        "",
    ]
    rows, series = [], dict[str, list[SeedMean | None]]()
    found = data.get("batches", {})
    for name, batch in found.items():
        plays = f"{batch['groups'] * batch['draws']} plays, {batch['turns']} turns, {batch['drawn']:,} tokens drawn"
        for side in ("whet", "trl"):
            told = batch["sides"].get(side, {})
            known = "seconds" in told
            rows.append(
                [
                    f"{name}: {plays}" if side == "whet" else "",
                    {"whet": "Whet", "trl": "TRL"}[side],
                    f"{told['seconds']:.2f}" if known else told.get("problem", "missing"),
                    f"{told['tokens_a_second']:,.0f}" if known else "",
                    f"{told['peak_gib']:.1f}" if known and told.get("peak_gib") is not None else "",
                    f"{batch['ratio']:.1f} ×" if side == "whet" and batch.get("ratio") else "",
                ]
            )
            series.setdefault(rows[-1][1], []).append(SeedMean(told["seconds"], 0.0, 1) if known else None)
    lines += table(["batch", "", "seconds a step", "tokens a second", "peak, GiB", "Whet is faster by"], rows)
    lines += _drawing(data.get("drawing", {}))
    longest = max((cell.value for side in series.values() for cell in side if cell), default=1.0)
    picture = Picture("results-throughput.svg", "seconds a step", tuple(found), series, top=1.15 * longest)
    return lines + made_with(data), [picture]


def _drawing(data: Mapping[str, Mapping[str, float]]) -> list[str]:
    """What a token takes where layers with one input are computed apart or together."""
    if not data:
        return []
    counts = list(next(iter(data.values())))
    rows = [[f"layers {name}", *(f"{told[count]:.2f}" for count in counts)] for name, told in data.items()]
    return [
        "**Milliseconds of a token**, by weights with adapters",
        "",
        *table(["", *(f"{n} rows" for n in counts)], rows),
    ]
