"""An environment of ours as DSPy has one: examples, and a metric; and a DSPy program as a playbook for the gate.

    from whet.apps.interop.dspy_program import examples, metric, write_playbook

    better = dspy.MIPROv2(metric=metric("data:orders.csv")).compile(program, trainset=examples("data:orders.csv"))
    write_playbook(better, "candidate.json")      # then: whet gate RUN --candidate candidate.json

Train and select tasks are shown; the test stays sealed. A play is asked for one answer, so environments that go on
asking or offer tools are refused. dspy is imported when it is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from whet.apps.interop.exhibit import Exhibit
from whet.config.playbooks import write_playbook as playbook_bytes
from whet.envs.base import Environment
from whet.errors import WhetError
from whet.files import write_atomically
from whet.rollout.placement import question_of
from whet.types import Example, Feedback, Playbook, Reply, Rollout, Score, Task, Ticket, Turn


def examples(address: str, split: str = "train", n: int = -1, question: str = "question", **args: Any) -> list[Any]:
    """Tasks as `dspy.Example`s with one input field. No truth is among them: the metric knows it."""
    import dspy

    shown = Exhibit.of(address, args)
    found = []
    for side, index in shown.tickets(split, n):
        asked = question_of(shown.env.task(side, index).messages)
        example = dspy.Example(**{question: asked}, split=side, index=index)
        found.append(example.with_inputs(question))
    return found


def metric(address: str, answer: str = "answer", **args: Any) -> Callable[..., Any]:
    """A metric of DSPy: the environment's own grade of what a program said in its field `answer`.

    Where DSPy collects demonstrations, only a solved task counts; where its GEPA asks for it, the environment's word on
    an attempt at a train task comes along.
    """
    shown = Exhibit.of(address, args)

    def graded(example: Any, prediction: Any, trace: Any = None, pred_name: Any = None, pred_trace: Any = None) -> Any:
        task = shown.env.task(example.split, example.index)
        text = str(getattr(prediction, answer))
        score = _score(shown, task, text)
        if pred_name is not None:
            import dspy

            told = _feedback(shown.env, task, text, score)
            return dspy.Prediction(score=score.soft, feedback="\n".join(filter(None, (told.why, told.expected))))
        return bool(score.hard) if trace is not None else score.soft

    return graded


def _score(shown: Exhibit, task: Task, text: str) -> Score:
    seat = shown.begin(task)
    try:
        if seat.tools:
            raise WhetError(f"{shown.env.name}: offers tools, which a metric of DSPy cannot pass on")
        seat.hear(text)
        if seat.score is None:
            raise WhetError(f"{shown.env.name}: asks more than once; a metric of DSPy has one answer")
        return seat.score
    finally:
        seat.close()


def _feedback(env: Environment, task: Task, text: str, score: Score) -> Feedback:
    if task.split != "train":
        return Feedback()
    turns = (Turn("target", task.messages, Reply(text), ()),)
    return env.feedback(task, Rollout(Ticket("dspy", task.split, task.index), task.label, "", "", "", turns, score))


def playbook_of(program: Any, question: str = "question", answer: str = "answer") -> Playbook:
    """Instructions of a program's predictors as a body, their demonstrations as worked examples.

    DSPy wraps both in a form of its own, which is no part of it: the gate judges the text as Whet places it.
    """
    predictors = program.predictors()
    body = "\n\n".join(dict.fromkeys(str(predictor.signature.instructions).strip() for predictor in predictors))
    demos = [dict(demo) for predictor in predictors for demo in predictor.demos]
    shown = [demo for demo in demos if demo.get(question) and demo.get(answer)]
    return Playbook(body, tuple(Example(str(demo[question]), str(demo[answer])) for demo in shown))


def write_playbook(program: Any, file: str | Path, question: str = "question", answer: str = "answer") -> Path:
    """The same as a file that `whet gate RUN --candidate` takes."""
    write_atomically(Path(file), playbook_bytes(playbook_of(program, question, answer)))
    return Path(file)
