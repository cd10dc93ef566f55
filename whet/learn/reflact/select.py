"""Stage 4, select: which of the proposed items are tried, within the step's budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from whet.learn.prompt_text import messages
from whet.learn.reflact.records import EditSelection, Evidence, Item
from whet.learn.reflact.schedule import budget_for
from whet.learn.reflact.step import Step
from whet.learn.replies import Unreadable, ask_json, listed, number_in, text_in, texts_in

SHOWN = 600
"""Characters of an item in a list for ranking."""


def scheduled(step: Step) -> int | None:
    """What the schedule allows in this step; None where the optimiser chooses or nothing limits it."""
    section = step.config.update
    return budget_for(section.scheduler, step.number, step.total, section.edits, section.min_edits)


async def select(step: Step, items: Sequence[Item], evidence: Evidence) -> EditSelection:
    """The items to try. A budget of 0 is 0; without a budget all are tried."""
    if step.config.update.mode == "full_rewrite_minibatch":
        return EditSelection(tuple(items), None, len(items))  # whole bodies are not counted
    budget, decision = scheduled(step), None
    if step.config.update.scheduler == "autonomous" and items:
        decision = await _chosen(step, items, evidence)
        budget = int(decision["learning_rate"])
    if budget is None or len(items) <= budget:
        return EditSelection(tuple(items), budget, len(items), decision=decision)
    if budget == 0:
        return EditSelection((), 0, len(items), decision=decision)
    ranking = await _ranked(step, items, budget)
    kept = tuple(items[index] for index in ranking["selected_indices"])
    return EditSelection(kept, budget, len(items), ranking, decision)


async def _ranked(step: Step, items: Sequence[Item], budget: int) -> dict[str, Any]:
    """The optimiser's choice by index; what it names twice or wrongly is left out."""
    asked = messages([step.prompts.text("rank", budget=budget)], [*step.background(), ("proposals", numbered(items))])

    def read(data: Mapping[str, Any]) -> tuple[list[int], str]:
        if "selected_indices" not in data:
            raise Unreadable("it has no 'selected_indices'")
        named = [
            index
            for index in listed(data, "selected_indices")
            if isinstance(index, int) and not isinstance(index, bool)
        ]
        return [index for index in dict.fromkeys(named) if 0 <= index < len(items)], text_in(data, "reasoning")

    answered = await ask_json(step.shop, f"{step.where}/ranking", asked, read)
    if answered.value is None:
        fallback = list(range(budget))
        return {"selected_indices": fallback, "fallback": True, "trouble": list(answered.trouble)}
    chosen, reasoning = answered.value
    return {"selected_indices": chosen[:budget], "reasoning": reasoning, "trouble": list(answered.trouble)}


async def _chosen(step: Step, items: Sequence[Item], evidence: Evidence) -> dict[str, Any]:
    """How many items the optimiser wants to try, clamped to what there is; unreadable means 0, and says so."""
    solved = evidence.mean("hard")
    stats = f"{len(evidence.rollouts)} attempts, {'none' if solved is None else f'{solved:.2f}'} solved"
    asked = messages(
        [step.prompts.text("lr", available=len(items))],
        [*step.background(), ("attempts of this step", stats), ("proposals", numbered(items))],
    )

    def read(data: Mapping[str, Any]) -> dict[str, Any]:
        raw = number_in(data, "learning_rate")
        if raw is None:
            raise Unreadable("'learning_rate' must be a number")
        rate = max(0, min(len(items), int(raw)))
        return {
            "learning_rate": rate,
            "raw_learning_rate": raw,
            "clamped": rate != raw,
            "reasoning": text_in(data, "reasoning"),
            "confidence": number_in(data, "confidence"),
            "risk_notes": list(texts_in(data, "risk_notes")),
        }

    answered = await ask_json(step.shop, f"{step.where}/lr_autonomous", asked, read)
    empty: dict[str, Any] = {
        "learning_rate": 0,
        "raw_learning_rate": None,
        "clamped": False,
        "reasoning": "",
        "risk_notes": [],
    }
    return {
        **(answered.value or {**empty, "confidence": None}),
        "available_update_items": len(items),
        "fallback": answered.value is None,
        "trouble": list(answered.trouble),
    }


def numbered(items: Sequence[Item]) -> str:
    """The items with the indices that a ranking names."""
    return "\n".join(
        f"{index}. ({item.source}, {item.support} attempts) {str(item)[:SHOWN]}" for index, item in enumerate(items)
    )
