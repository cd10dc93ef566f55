"""Nothing of a select or test task stands in a prompt of the optimiser, whatever an environment's feedback tells."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from reflact_world import config, trained

from whet.envs.base import Environment
from whet.envs.registry import load_environment
from whet.models.base import Request
from whet.run.train import TrainResult
from whet.types import Split, Task

ORDERS = str(Path(__file__).parents[2] / "examples/orders.csv")
COLUMNS = {"id": "id", "split": "split", "prompt": "Write as a line: {message}", "answer": "order"}

FAMILIES: dict[str, tuple[str, dict[str, Any], str]] = {
    "data": (f"data:{ORDERS}", {**COLUMNS, "check": "exact"}, "nothing"),
    "reasoning-gym": ("reasoning-gym/leg_counting", {}, "<answer>0</answer>"),
    "soup": ("soup", {}, '{"status": "limit", "reason": "x", "proof": "y"}'),
    "ordebug": ("ordebug", {}, "I do not know."),
    "groupqc": ("groupqc", {}, '{"verdict": "pass"}'),
    "stock": (str(Path(__file__).parents[2] / "examples/stock.py") + ":Stock", {}, "0"),
}

LEAST = 24
"""Characters of a line or a truth from which it does not turn up by chance."""


def texts(value: Any) -> Iterator[str]:
    """Every text in plain data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from texts(part)


def lines(task: Task) -> set[str]:
    """What a task asks and what its grader knows, line by line."""
    said = [message.text for message in task.messages]
    return {line.strip() for text in (*said, *texts(task.truth)) for line in text.split("\n") if len(line) >= LEAST}


def own_lines(env: Environment, result: TrainResult) -> tuple[set[str], set[str]]:
    """What the held-out tasks of the run have and no train task of it has; and what the train tasks have."""
    assert result.tested is not None
    tested = {outcome.ticket.index for outcome in result.tested.outcomes["best"]}
    played: dict[Split, set[int]] = {"select": set(result.judge.shop.select), "test": tested}
    assert all(len(indices) == 4 for indices in played.values())
    held_out = {
        line for split, indices in played.items() for index in indices for line in lines(env.task(split, index))
    }
    tasks = result.training.tasks  # type: ignore[attr-defined]
    known = {line for index in tasks for line in lines(env.task("train", index))}
    return held_out - known, known


@pytest.mark.parametrize("family", FAMILIES)
def test_no_line_of_a_held_out_task_reaches_the_optimiser(tmp_path: Path, family: str) -> None:
    address, args, reply = FAMILIES[family]
    env = load_environment(address, args)
    heard: list[str] = []

    def listening(request: Request) -> str:
        heard.append("\n".join(message.text for message in request.messages))
        edit = {"op": "append", "content": f"Take care, for the {len(heard)}th time."}
        if '"slow_update_content"' in heard[-1]:
            return json.dumps({"slow_update_content": "Go on."})
        if '"meta_skill_content"' in heard[-1]:
            return json.dumps({"meta_skill_content": "Go on."})
        return json.dumps({"batch_size": 1, "patch": {"edits": [edit]}, "edits": [edit]})

    settled = config(
        train={"epochs": 2, "batch_size": 2, "tasks": 4, "select": 4, "test": 4},
        slow={"idle": True, "samples": 2},
        limits={"turns": 2},
    )
    result = trained(tmp_path / "run", settled, optimiser=listening, target=lambda request: reply, env=env)
    assert not result.stopped
    assert result.judge.judgements, "the gate has played select tasks"
    secret, known = own_lines(env, result)
    assert secret
    assert not [line for line in secret if any(line in text for text in heard)]
    shown = "\n".join(heard)
    assert any(line in shown for line in known)
    assert all(f"### {split}/" not in shown for split in ("select", "test"))
