"""The readable files of a ReflACT run: history, every version of the playbook, the ends of epochs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whet.files import write_atomically, write_json
from whet.learn.documents import document
from whet.learn.outcome_files import drawn, write_lines
from whet.learn.reflact.epoch_end import EpochEnd
from whet.learn.reflact.step_files import result, write_step

if TYPE_CHECKING:
    from whet.learn.reflact.training import ReflactTraining

SKILLS = "skills"


class TrainingFiles:
    """Writes what is new each time the training has moved on. All of it follows from the ledger."""

    def __init__(self) -> None:
        self.history: list[dict[str, Any]] = []
        self._ends = 0

    def write(self, folder: Path, training: ReflactTraining) -> None:
        (folder / SKILLS).mkdir(parents=True, exist_ok=True)
        splits = {"train": list(training.tasks), "select": list(training.shop.select)}
        write_json(folder / "splits.json", splits)
        _write_skill(folder, 0, document(training.judge.initial.playbook))
        for state in training.steps[len(self.history) :]:
            if state.current is None or not (state.complete or state.stopped):
                break  # under way
            self.history.append(write_step(folder, training.shop, state))
            _write_skill(folder, state.step.number, document(state.current.playbook))
        for end in training.ends[self._ends :]:
            _write_end(folder, training, end)
        self._ends = len(training.ends)
        write_json(folder / "history.json", self.history)
        rates = [
            {"step": record["step"], **record["lr_decision"]} for record in self.history if "lr_decision" in record
        ]
        if rates:
            write_lines(folder / "lr_history.jsonl", rates)


def _write_skill(folder: Path, number: int, text: str) -> None:
    write_atomically(folder / SKILLS / f"skill_v{number:04d}.md", text.encode())


def _write_end(folder: Path, training: ReflactTraining, end: EpochEnd) -> None:
    if end.epoch < 2 or end.action == "nothing_changed":
        return
    if training.config.slow.use:
        place = folder / "slow_update" / f"epoch_{end.epoch:02d}"
        place.mkdir(parents=True, exist_ok=True)
        seconds = training.shop.seconds(f"e{end.epoch}/end/slow")
        measured = drawn(training.shop, end.judgement) if end.judgement else []
        write_json(place / "slow_result.json", end.slow_data(seconds, measured))
        write_json(place / "comparison_pairs.json", [pair.as_data() for pair in end.shown])
        write_json(place / "comparison_pairs_all.json", [pair.as_data() for pair in end.pairs])
        for side in ("before", "after"):
            write_lines(place / f"rollout_{side}.jsonl", [result(getattr(pair, side)) for pair in end.pairs])
        if end.candidate is not None:
            write_atomically(place / "candidate_skill.md", document(end.candidate).encode())
    if training.config.meta.use:
        place = folder / "meta_skill" / f"epoch_{end.epoch:02d}"
        place.mkdir(parents=True, exist_ok=True)
        found = {"reasoning": end.meta_reasoning, "meta_skill_content": end.meta}
        write_json(place / "meta_skill_result.json", found)


def counts(history: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """How many steps were accepted, rejected and skipped, over all and by epoch."""
    actions = Counter(_outcome(record["action"]) for record in history)
    epochs = []
    for epoch in sorted({record["epoch"] for record in history}):
        records = [record for record in history if record["epoch"] == epoch]
        found = Counter(_outcome(record["action"]) for record in records)
        epochs.append(
            {
                "epoch": epoch,
                "steps": len(records),
                "accepts": found["accept"],
                "rejects": found["reject"],
                "skips": found["skip"],
                "best_score_at_epoch_end": records[-1]["best_score"],
                "current_score_at_epoch_end": records[-1]["current_score"],
            }
        )
    return {
        "total_accepts": actions["accept"],
        "total_rejects": actions["reject"],
        "total_skips": actions["skip"],
        "epoch_stats": epochs,
    }


def _outcome(action: str) -> str:
    if action in ("accept", "accept_new_best", "force_accept"):
        return "accept"
    return "reject" if action == "reject" else "skip"
