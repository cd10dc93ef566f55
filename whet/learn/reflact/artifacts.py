"""The readable files of a whole run: history, where it stands, every version of the playbook, the ends of epochs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from whet import wire
from whet.config.playbooks import write_playbook
from whet.learn.reflact.documents import document, write_folder
from whet.learn.reflact.epoch_end import EpochEnd
from whet.learn.reflact.step_files import drawn, result, write_lines, write_step
from whet.learn.reflact.training import Training
from whet.ledger.projection import write_atomically, write_json

SKILLS = "skills"


class Artifacts:
    """Writes what is new each time the training has moved on. All of it follows from the ledger."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.history: list[dict[str, Any]] = []
        self._ends = 0

    def write(self, training: Training) -> None:
        (self.folder / SKILLS).mkdir(parents=True, exist_ok=True)
        splits = {"train": list(training.tasks), "select": list(training.shop.select)}
        write_json(self.folder / "splits.json", splits)
        self._skill(0, document(training.initial))
        for taken in training.steps[len(self.history) :]:
            if taken.current is None or not (taken.complete or taken.stopped):
                break  # under way
            self.history.append(write_step(self.folder, training.shop, taken))
            self._skill(taken.step.number, document(taken.current.playbook))
        for end in training.ends[self._ends :]:
            self._write_end(training, end)
        self._ends = len(training.ends)
        write_json(self.folder / "history.json", self.history)
        self._write_rates()
        self._write_standing(training)

    def _skill(self, number: int, text: str) -> None:
        write_atomically(self.folder / SKILLS / f"skill_v{number:04d}.md", text.encode())

    def _write_rates(self) -> None:
        rates = [
            {"step": record["step"], **record["lr_decision"]} for record in self.history if "lr_decision" in record
        ]
        if rates:
            write_atomically(self.folder / "lr_history.jsonl", b"".join(wire.dumps(row) + b"\n" for row in rates))

    def _write_standing(self, training: Training) -> None:
        judge, last = training.judge, len(self.history)
        write_atomically(self.folder / "best_skill.md", document(judge.best.playbook).encode())
        write_atomically(self.folder / "current_skill.md", document(judge.current.playbook).encode())
        write_atomically(self.folder / "best_playbook.json", write_playbook(judge.best.playbook))
        if judge.best.playbook.files:
            write_folder(self.folder / "best_skill", judge.best.playbook)
        write_atomically(self.folder / "current_playbook.json", write_playbook(judge.current.playbook))
        state = {
            "last_completed_step": last,
            "current_skill_path": "current_skill.md",
            "current_score": judge.current.score,
            "current_origin": judge.current.origin,
            "best_skill_path": "best_skill.md",
            "best_score": judge.best.score,
            "best_step": judge.best.step,
            "best_origin": judge.best.origin,
        }
        write_json(self.folder / "runtime_state.json", state)

    def _write_end(self, training: Training, end: EpochEnd) -> None:
        if end.epoch < 2 or end.action == "nothing_changed":
            return
        if training.config.slow.use:
            place = self.folder / "slow_update" / f"epoch_{end.epoch:02d}"
            place.mkdir(parents=True, exist_ok=True)
            seconds = training.shop.seconds(f"e{end.epoch}/end/slow")
            measured = drawn(training.shop, end.judged) if end.judged else []
            write_json(place / "slow_result.json", end.slow_data(seconds, measured))
            write_json(place / "comparison_pairs.json", [pair.as_data() for pair in end.shown])
            write_json(place / "comparison_pairs_all.json", [pair.as_data() for pair in end.pairs])
            for side in ("before", "after"):
                write_lines(place / f"rollout_{side}.jsonl", [result(getattr(pair, side)) for pair in end.pairs])
            if end.candidate is not None:
                write_atomically(place / "candidate_skill.md", document(end.candidate).encode())
        if training.config.meta.use:
            place = self.folder / "meta_skill" / f"epoch_{end.epoch:02d}"
            place.mkdir(parents=True, exist_ok=True)
            found = {"reasoning": end.meta_reasoning, "meta_skill_content": end.meta}
            write_json(place / "meta_skill_result.json", found)
