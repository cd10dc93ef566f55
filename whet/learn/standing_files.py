"""Where a run stands, as files: the best and the current playbook, and how each came about."""

from __future__ import annotations

from pathlib import Path

from whet.config.playbooks import write_playbook
from whet.files import write_atomically, write_json
from whet.learn.documents import document, write_folder
from whet.learn.judge import Judge


def write_standing(folder: Path, judge: Judge, steps: int) -> None:
    """`best_skill.md`, `best_playbook.json`, their current counterparts, and `runtime_state.json`."""
    write_atomically(folder / "best_skill.md", document(judge.best.playbook).encode())
    write_atomically(folder / "current_skill.md", document(judge.current.playbook).encode())
    write_atomically(folder / "best_playbook.json", write_playbook(judge.best.playbook))
    if judge.best.playbook.files:
        write_folder(folder / "best_skill", judge.best.playbook)
    write_atomically(folder / "current_playbook.json", write_playbook(judge.current.playbook))
    state = {
        "last_completed_step": steps,
        "current_skill_path": "current_skill.md",
        "current_score": judge.current.score,
        "current_origin": judge.current.origin,
        "best_skill_path": "best_skill.md",
        "best_score": judge.best.score,
        "best_step": judge.best.step,
        "best_origin": judge.best.origin,
    }
    write_json(folder / "runtime_state.json", state)
