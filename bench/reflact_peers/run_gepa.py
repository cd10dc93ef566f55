"""GEPA on the tasks of a job, executed by the interpreter of its own virtual environment.

Its default adapter, default evaluator, default reflection prompt, minibatch of 3, strict improvement, Pareto selection
by instance and no merge: the defaults of `gepa.optimize`. `max_metric_calls` is the budget; the server's refusal ends
an iteration that would pass it.
"""

from __future__ import annotations

import http.client
import json
import re
import sys
from pathlib import Path

import gepa
from gepa.adapters.default_adapter.default_adapter import ContainsAnswerEvaluator


class Refused(RuntimeError):
    """The server has no target calls left."""


class Chat:
    """One model behind the server, over a connection that is kept."""

    def __init__(self, port: int, model: str) -> None:
        self.model = model
        self.refused = False
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)

    def __call__(self, prompt) -> str:
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else list(prompt)
        body = json.dumps({"model": self.model, "messages": messages})
        self.connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        said = json.loads(answer.read())
        if answer.status == 402:
            self.refused = True
            raise Refused(said["error"]["message"])
        if answer.status != 200:
            sys.exit(f"{self.model}: {answer.status} {said}")
        return said["choices"][0]["message"]["content"]


class LastNumber:
    """A judge of the last number in a reply; its words of feedback are those of the default evaluator."""

    def __init__(self) -> None:
        self.default = ContainsAnswerEvaluator()

    def __call__(self, data, response):
        found = re.findall(r"\d+", response)
        return self.default(data, data["answer"] if found and found[-1] == data["answer"] else "")


class Quiet:
    """A logger that says nothing."""

    def log(self, message: str) -> None:
        del message


def main(job_file: str, result_file: str) -> None:
    job = json.loads(Path(job_file).read_text())
    target, optimizer = Chat(job["port"], "target"), Chat(job["port"], "optimizer")
    sets = {
        split: [{"input": task["question"], "additional_context": {}, "answer": task["answer"]} for task in tasks]
        for split, tasks in job["tasks"].items()
    }
    found = gepa.optimize(
        seed_candidate={"system_prompt": job["start"]},
        trainset=sets["train"],
        valset=sets["select"],
        task_lm=target,
        evaluator=LastNumber() if job["check"] == "number" else None,
        reflection_lm=optimizer,
        max_metric_calls=job["budget"],
        stop_callbacks=lambda _: target.refused,
        raise_on_exception=False,
        run_dir=job["folder"],
        logger=Quiet(),
        seed=job["seed"],
        **job.get("settings", {}),
    )
    texts = [candidate["system_prompt"] for candidate in found.candidates]
    accepted = [
        [texts[parents[0]], text] for text, parents in zip(texts, found.parents, strict=True) if parents[0] is not None
    ]
    best = texts[found.best_idx]
    Path(result_file).write_text(json.dumps({"best": best, "accepted": accepted}))


if __name__ == "__main__":
    main(*sys.argv[1:])
