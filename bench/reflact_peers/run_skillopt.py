"""SkillOpt on the tasks of a job, executed by the interpreter of its own virtual environment.

Published defaults throughout (analyst minibatch 8, merge batch 8, edit budget 4 falling to 2 by cosine, patch mode,
hard gate, slow update force-accepted, meta skill on); the batch size comes with the job, since 40 is two thirds of the
train split here. The number of epochs is the least that uses the budget up: the server's refusal ends the run, and
what counts is `best_skill.md` as the trainer last wrote it.

The distribution on the package index holds no prompt files, without which the trainer stops at the first merge. Short
prompts that name the reply format stand in for them; they cost fewer tokens than the originals.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

from skillopt import prompts
from skillopt.datasets.base import SplitDataLoader
from skillopt.engine.trainer import ReflACTTrainer
from skillopt.envs.base import EnvAdapter
from skillopt.model import chat_target

PATCH = '"patch": {"reasoning": "...", "edits": [{"op": "append|insert_after|replace|delete", "target", "content"}]}'
PROMPTS = {
    "analyst_error": f'Find what the failed attempts share. JSON: {{"batch_size", "failure_summary": [], {PATCH}}}',
    "analyst_success": f'Find what the solved attempts share. JSON: {{"batch_size", "success_patterns": [], {PATCH}}}',
    "merge_failure": 'You merge patches from failures into one. JSON: {"reasoning", "edits": []}',
    "merge_success": 'You merge patches from successes into one. JSON: {"reasoning", "edits": []}',
    "merge_final": 'You merge two groups of edits; failures come first. JSON: {"reasoning", "edits": []}',
    "ranking": 'Choose the edits that matter most. JSON: {"reasoning", "selected_indices": []}',
    "slow_update": 'Write lasting guidance for the target. JSON: {"reasoning", "slow_update_content"}',
    "meta_skill": 'Write advice to yourself as optimiser. JSON: {"reasoning", "meta_skill_content"}',
}


class Spent(BaseException):
    """The server has no target calls left. Not an `Exception`: the trainer catches those and goes on."""


class Notes(SplitDataLoader):
    """The splits of the job, as the folders that the trainer's loader reads."""


class NotesAdapter(EnvAdapter):
    """One question a task, the skill as system message, the verdict in the transcript, as in the shipped adapters."""

    analyst_workers = 16
    failure_only = False
    minibatch_size = 8
    edit_budget = 4

    def __init__(self, folder: str, seed: int, check: str) -> None:
        self.solved = CHECKS[check]
        self.loader = Notes(split_mode="split_dir", split_dir=folder, seed=seed)

    def setup(self, cfg):
        super().setup(cfg)
        self.loader.setup(cfg)

    def get_dataloader(self):
        return self.loader

    def build_env_from_batch(self, batch, **_):
        return list(batch.payload or [])

    def build_train_env(self, batch_size, seed, **_):
        return self.build_env_from_batch(self.loader.build_train_batch(batch_size=batch_size, seed=seed))

    def build_eval_env(self, env_num, split, seed, **_):
        return self.build_env_from_batch(self.loader.build_eval_batch(env_num=env_num, split=split, seed=seed))

    def get_task_types(self):
        return ["note"]

    def rollout(self, env_manager, skill_content, out_dir, **_):
        with ThreadPoolExecutor(max_workers=16) as pool:
            return list(pool.map(lambda task: attempt(task, skill_content, self.solved, Path(out_dir)), env_manager))


def contains(answer, reply):
    return answer in reply


def last_number(answer, reply):
    found = re.findall(r"\d+", reply)
    return bool(found) and found[-1] == answer


CHECKS = {"contains": contains, "number": last_number}


def attempt(task, skill, solved, folder):
    """One question asked and judged; its transcript is left where the analyst looks for it."""
    try:
        reply, _ = chat_target(system=skill, user=task["question"], retries=1, stage="rollout")
    except RuntimeError as problem:
        if "HTTP 402" in str(problem):
            raise Spent from problem
        raise
    right = solved(task["answer"], reply)
    verdict = f"Predicted {reply!r}, expected {task['answer']!r}: {'correct' if right else 'wrong'}."
    told = [{"role": "assistant", "content": reply}, {"role": "system", "content": verdict}]
    where = folder / "predictions" / task["id"]
    where.mkdir(parents=True, exist_ok=True)
    (where / "conversation.json").write_text(json.dumps(told))
    result = {"id": task["id"], "hard": int(right), "soft": float(right), "task_description": task["question"]}
    result |= {"task_type": "note", "predicted_answer": reply, "n_turns": 1}
    return result if right else {**result, "fail_reason": f"wrong: {verdict}"}


def epochs(job):
    """The least number of epochs whose planned calls pass the budget: steps, gates, slow updates from the second on."""
    train, select = len(job["tasks"]["train"]), len(job["tasks"]["select"])
    steps = math.ceil(train / job.get("settings", {}).get("batch_size", job["batch"]))
    count, calls = 1, select + train + steps * select
    while calls <= job["budget"]:
        count, calls = count + 1, calls + train + steps * select + 2 * min(20, train)
    return count


def config(job, folder):
    """The flat config of the trainer; `settings` of the job go over it."""
    url = f"http://127.0.0.1:{job['port']}/v1"
    return {
        "out_root": str(folder / "out"),
        "skill_init": str(folder / "start.md"),
        "optimizer_backend": "qwen_chat",
        "target_backend": "qwen_chat",
        "optimizer_model": "optimizer",
        "target_model": "target",
        "qwen_chat_base_url": url,
        "num_epochs": epochs(job),
        "batch_size": job["batch"],
        "accumulation": 1,
        "seed": job["seed"],
        "merge_batch_size": 8,
        "analyst_workers": 16,
        "edit_budget": 4,
        "min_edit_budget": 2,
        "lr_scheduler": "cosine",
        "lr_control_mode": "fixed",
        "skill_update_mode": "patch",
        "use_slow_update": True,
        "slow_update_samples": 20,
        "slow_update_gate_with_selection": False,
        "longitudinal_pair_policy": "mixed",
        "use_meta_skill": True,
        "use_gate": True,
        "gate_metric": "hard",
        "sel_env_num": 0,
        "test_env_num": 0,
        "eval_test": True,
        **job.get("settings", {}),
    }


def main(job_file, result_file):
    job = json.loads(Path(job_file).read_text())
    folder = Path(job["folder"])
    for split, name in (("train", "train"), ("select", "val"), ("test", "test")):
        (folder / "splits" / name).mkdir(parents=True)
        (folder / "splits" / name / "items.json").write_text(json.dumps(job["tasks"][split]))
    (folder / "start.md").write_text(job["start"])
    for name, text in PROMPTS.items():
        prompts._cache[str(Path(prompts._PROMPTS_DIR) / f"{name}.md")] = text
    adapter = NotesAdapter(str(folder / "splits"), job["seed"], job["check"])
    with (folder / "log.txt").open("w") as log, contextlib.redirect_stdout(log), contextlib.suppress(Spent):
        ReflACTTrainer(config(job, folder), adapter).train()
    out = folder / "out"
    kept = [path.read_text() for path in sorted((out / "skills").glob("skill_v*.md"))]
    accepted = [[one, other] for one, other in pairwise(kept) if one != other]
    best = out / "best_skill.md"
    Path(result_file).write_text(
        json.dumps({"best": best.read_text() if best.exists() else job["start"], "accepted": accepted})
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
