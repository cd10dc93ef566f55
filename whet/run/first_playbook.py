"""The playbook that a new project starts from: what was tried on train tasks and helped there, or nothing.

A first text is made of what is certain: the labels as they are spelled, and whole train tasks with an answer that the
check takes for right. Certain is not helpful: worked examples can lead a model astray. So a model plays a few train
tasks, none of which is among the examples, with nothing, with the labels, and with labels and examples; the text that
did best is written, and none where nothing did better than nothing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whet.envs.base import Environment
from whet.errors import WhetError
from whet.evals.sample import stratified_sample
from whet.models.base import Model
from whet.run.api import evaluate
from whet.run.workspace import open_run
from whet.types import Playbook, Reply, Task

LOOKED_AT, MOST_EXAMPLES, LONGEST_EXAMPLE, LONGEST_ANSWER = 200, 6, 1500, 400
"""How many train tasks are looked at for worked examples, how many are taken, and their characters at most."""

TRIED = 6
"""Train tasks that a text is tried on."""

LEAST_TOKENS, MOST_TOKENS = 32, 64
"""Of a reply in a trial: where an answer takes more, nothing is tried."""


@dataclass(frozen=True, slots=True)
class FirstPlaybook:
    """The text, a line on how it came about, and a text that was made and not taken."""

    body: str
    told: str
    suggested: str = ""


def first_playbook(
    env: Environment, title: str, args: Mapping[str, Any], model: str | Model, answer_length: int
) -> FirstPlaybook:
    """What the project starts from; `model` is who tries it, '' for nobody."""
    size = env.size("train") or 0
    tried = stratified_sample(env, "train", min(TRIED, size // 2), 0) if size > 1 else ()
    rules, examples = rules_of(args), examples_of(env, tried)
    texts = {"the labels": rules, "labels and worked examples" if rules else "worked examples": rules + examples}
    made = {name: f"# {title}\n\n{text}" for name, text in texts.items() if text.strip()}
    if not examples and rules:
        made = {"the labels": made["the labels"]}
    if not made:
        return FirstPlaybook("", "playbook.md is blank: nothing can be said that is certain to be right")
    suggested = [*made.values()][-1]
    name = model if isinstance(model, str) else model.name
    if not model or not tried or answer_length > 4 * MOST_TOKENS:
        why = (
            "answers are long" if answer_length > 4 * MOST_TOKENS else "no model was at hand to try it: say --try MODEL"
        )
        return FirstPlaybook("", f"playbook.md is blank: {why}; suggested.md holds a first text", suggested)
    try:
        with tempfile.TemporaryDirectory(prefix="whet-trial-") as folder:
            tokens = max(LEAST_TOKENS, min(MOST_TOKENS, answer_length))
            played = [_mean(env, model, text, len(tried), tokens, Path(folder)) for text in ("", *made.values())]
    except WhetError as error:
        why = str(error).rstrip(".")
        told = f"playbook.md is blank: {name} could not try it ({why}); suggested.md holds a first text"
        return FirstPlaybook("", told, suggested)
    blank, *scores = played
    best = max(scores)
    told = ", ".join(f"{score:.2f} with {what}" for what, score in zip(made, scores, strict=True))
    figures = f"{name} gets {blank:.2f} on {len(tried)} train tasks without a playbook, {told}"
    if best <= blank:
        return FirstPlaybook("", f"playbook.md is blank, because nothing tried was better: {figures}", suggested)
    what = [*made][scores.index(best)]
    return FirstPlaybook(made[what], f"playbook.md holds {what}: {figures}")


def _mean(env: Environment, model: str | Model, body: str, n: int, tokens: int, runs: Path) -> float:
    """Mean credit of a text on the first `n` train tasks of the sample; a task that met a fault counts as nothing."""
    quiet = ("eval.floor=false", f"target.sampling.max_tokens={tokens}", "target.sampling.temperature=0.0")
    result = evaluate(env, model, n=n, split="train", playbook=Playbook(body.strip()), overrides=quiet, runs=runs)
    outcomes = [outcome for outcome in open_run(result.folder).outcomes() if not outcome.fault]
    if not outcomes:
        raise WhetError(f"none of {n} tasks came to an answer")
    return sum(outcome.soft for outcome in outcomes) / n


def rules_of(args: Mapping[str, Any]) -> str:
    """What a playbook may say that is true of every row: the labels, as they are spelled."""
    labels: Sequence[str] | str = args.get("choices") or args.get("labels") or args.get("label_columns") or ""
    if not isinstance(labels, list):
        return ""
    many = "exactly one of these labels" if "choices" in args else "every one of these labels that applies"
    return f"- Answer with {many}, spelled as here: {', '.join(labels)}.\n"


def examples_of(env: Environment, aside: Collection[int]) -> str:
    """Worked examples from the train split, each with another answer; those set `aside` are for the trial.

    A task is shown whole or not at all, and only with an answer that its own check takes for right. The other splits'
    answers reach no playbook.
    """
    oracle = env.baselines().get("oracle")
    if oracle is None:
        return ""
    shown: dict[str, str] = {}
    for index in range(min(LOOKED_AT, env.size("train") or 0)):
        task = env.task("train", index)
        answer, (message, *more) = oracle(task, task.messages), task.messages
        whole = isinstance(message.content, str) and not more and len(message.text) <= LONGEST_EXAMPLE
        if (
            whole
            and index not in aside
            and isinstance(answer, str)
            and len(answer) <= LONGEST_ANSWER
            and answer not in shown
            and _earns(env, task, answer)
        ):
            shown[answer] = message.text
    pairs = sorted(shown.items())[:MOST_EXAMPLES]
    return "".join(f"\n## Example\n\n{text}\n\nAnswer: {answer}\n" for answer, text in pairs)


def _earns(env: Environment, task: Task, answer: str) -> bool:
    """Whether the check takes an answer for right, without any work of its own."""
    play = env.play(task)
    next(play)
    try:
        play.send(Reply(answer))
    except StopIteration as end:
        return bool(end.value.hard)
    play.close()
    return False
