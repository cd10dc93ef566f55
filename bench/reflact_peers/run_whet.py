"""Whet on the tasks of a job, in a process of its own: its data environment, its config, its training run.

Defaults throughout. `train.max_rollouts` is the budget, and there are more epochs than it can pay for; the batch size
comes with the job. The sealed test, which no peer plays here, is left out.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from whet.config.load import merge
from whet.learn.reflact.config import ReflactConfig
from whet.rollout.progress import Quiet
from whet.run.compose import Given
from whet.run.train import TrainResult, plan_training, train_plan
from whet.types import Playbook

Json = dict[str, Any]

COLUMNS = ("id", "kind", "question", "answer")


def config(job: Json, data: Path) -> ReflactConfig:
    """The config of the run; `settings` of the job go over it."""
    endpoint = {"base_url": f"http://127.0.0.1:{job['port']}/v1"}
    check = {"prompt": "{question}", "answer": "answer", "check": job["check"], "kind": "kind", "id": "id"}
    asked: Json = {
        "env": {"name": f"data:{data}", "args": check},
        "target": {"model": "openai:target"},
        "optimizer": {"model": "openai:optimizer"},
        "train": {
            "epochs": 100,
            "batch_size": job["batch"],
            "max_rollouts": job["budget"],
            "test": 0,
            "seed": job["seed"],
        },
        "control": {"target": endpoint, "optimizer": endpoint},
    }
    merge(asked, job.get("settings", {}))
    return ReflactConfig.model_validate(asked)


def text_of(playbook: Playbook) -> str:
    """The playbook as the target sees it: these runs make no examples and no files."""
    return "\n".join(part for part in (playbook.body, playbook.hindsight, *playbook.reminders) if part)


def run(job: Json, folder: Path) -> TrainResult:
    data = folder / "tasks"
    data.mkdir()
    for split, tasks in job["tasks"].items():
        rows = [{name: task[name] for name in COLUMNS} for task in tasks]
        (data / f"{split}.json").write_text(json.dumps(rows))
    plan = plan_training(config(job, data), Given(playbook=Playbook(job["start"])))
    return asyncio.run(train_plan(plan, progress=Quiet(), watch=lambda _: None, runs=folder, name="run"))


def main(job_file: str, result_file: str) -> None:
    job = json.loads(Path(job_file).read_text())
    result = run(job, Path(job["folder"]))
    if result.stopped:
        sys.exit(f"whet stopped: {result.stopped}")
    accepted, current = [], job["start"]
    for judgement in result.judge.judgements:
        if judgement.accepted:
            after = text_of(judgement.candidate.policy.playbook)
            accepted.append([current, after])
            current = after
    Path(result_file).write_text(
        json.dumps({"best": text_of(result.best), "accepted": accepted, "decisions": len(result.judge.judgements)})
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
