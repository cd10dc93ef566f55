"""Every dataset of the package reasoning-gym as an environment: `reasoning-gym/leg_counting`, several joined by `+`.

One turn: the question with a short instruction on the form of the answer, and the dataset's own score for what is
read from the reply. Tasks are drawn so that no question is in two splits, and are the same in every process.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from whet.envs import splits
from whet.envs.arguments import Argument, accept
from whet.envs.base import Baseline, Environment, Messages, Play, ask
from whet.envs.feedback import last_words, reason
from whet.envs.fingerprint import fingerprint
from whet.envs.foreign import quarantine
from whet.envs.reasoning_gym import answers, datasets
from whet.envs.reasoning_gym.answers import INSTRUCTIONS, Form
from whet.envs.reasoning_gym.datasets import WITHOUT_ANSWER, Dataset, example_answer, truth_of
from whet.errors import WhetError
from whet.types import Feedback, Label, Reply, Rollout, Score, Split, Task, failed, user

OWN_ARGUMENTS = (
    Argument("answer", Form, "line", "how to answer: after 'Answer:', inside <answer></answer>, or the reply itself"),
    Argument("levels", int | None, None, "how many levels of the dataset's curriculum to mix, easiest first"),
)


class ReasoningGym(Environment):
    """Tasks of one or more datasets, each at one or more levels; the index decides which."""

    def __init__(self, variant: str, args: Mapping[str, Any]) -> None:
        self._made_from = (variant, dict(args))
        own, given = _sorted_out(variant, args)
        self._form: Form = own.get("answer", "line")
        levels = own.get("levels")
        self._datasets: dict[str, Sequence[Dataset]] = {
            name: [datasets.at_default(name, values)] if levels is None else datasets.at_levels(name, levels, values)
            for name, values in given.items()
        }
        self._kinds = tuple(self._datasets)
        self._difficulties = ("default",) if levels is None else tuple(f"level-{level}" for level in range(levels))
        self.name = f"reasoning-gym/{variant}"
        self.about = f"{' and '.join(self._kinds)} from reasoning-gym"
        configs = {name: [dataset.config for dataset in made] for name, made in self._datasets.items()}
        self.fingerprint = fingerprint(f"{self.name}@{version('reasoning-gym')}", self, arguments=(configs, self._form))

    def __reduce__(self) -> tuple[Any, ...]:
        return ReasoningGym, self._made_from

    def size(self, split: Split) -> int | None:
        return None

    def label(self, split: Split, index: int) -> Label:
        turn, kind = divmod(index, len(self._kinds))
        return Label(self._kinds[kind], self._difficulties[turn % len(self._difficulties)])

    def task(self, split: Split, index: int) -> Task:
        label = self.label(split, index)
        names = ("reasoning-gym", label.kind, label.difficulty)
        dataset = self._dataset(label)
        entry = splits.draw(names, split, index, dataset.entry, lambda drawn: str(drawn["question"]))
        question = f"{entry['question'].rstrip()}\n\n{INSTRUCTIONS[self._form]}"
        return Task(split, index, label, (user(question),), truth_of(entry))

    def play(self, task: Task) -> Play:
        reply: Reply = yield from ask(task.messages, corrections=0)
        return self._grade(task, reply.text)

    def baselines(self) -> Mapping[str, Baseline]:
        return {} if WITHOUT_ANSWER & set(self._kinds) else {"oracle": self._oracle}

    def feedback(self, task: Task, rollout: Rollout) -> Feedback:
        """A right answer where the dataset knows one: for open questions an example of many."""
        expected = example_answer(task.label.kind, task.truth) or ""
        return Feedback(expected, last_words(rollout), reason(rollout))

    def _oracle(self, task: Task, said: Messages) -> str:
        return answers.wrap(example_answer(task.label.kind, task.truth) or "", self._form)

    def _dataset(self, label: Label) -> Dataset:
        return self._datasets[label.kind][self._difficulties.index(label.difficulty)]

    def _grade(self, task: Task, reply: str) -> Score:
        """The best score among the readings of the reply: what stands around an answer is not held against it."""
        truth: str | None = task.truth["answer"]
        readings = answers.candidates(reply, self._form, truth)
        if not readings:
            return failed("no_answer", "nothing in the reply can be read as an answer")
        best, problem = -1.0, ""
        for reading in readings:
            credit, objection = self._credit(task, reading, truth)
            best, problem = max(best, credit), problem or objection
            if best >= 1.0:
                break
        if best < 0.0:
            return failed("scorer_rejected", problem)
        soft = min(1.0, best)
        hard = int(soft >= 1.0 - 1e-9)
        reason = "correct" if hard else "partial" if soft >= 0.1 else "wrong"
        return Score(hard, soft, soft, {}, reason, f"read as {readings[0][:80]!r}")

    def _credit(self, task: Task, answer: str, truth: str | None) -> tuple[float, str]:
        """What the dataset's scorer gives, or -1 and why it gave nothing. It may write into what it is shown."""
        with quarantine():
            problem = answers.objection(task.label.kind, answer, truth)
        if problem:
            return -1.0, problem
        try:
            credit = self._dataset(task.label).score(answer, copy.deepcopy(task.truth))
        except Exception as error:  # noqa: BLE001 - grading is total, and scorers raise anything on odd text
            return -1.0, f"{type(error).__name__}: {error}"
        return (max(0.0, credit), "") if math.isfinite(credit) else (-1.0, f"a score of {credit}")


def _sorted_out(variant: str, args: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Our own arguments, and for each dataset those that it takes: all that fit it, then those under its name."""
    names = [datasets.known(name) for name in variant.split("+")]
    if len(set(names)) < len(names):
        raise WhetError(f"reasoning-gym/{variant} names a dataset twice")
    takes = {name: datasets.arguments(name) for name in names}
    tables = {name: args[name] for name in names if isinstance(args.get(name), Mapping)}
    flat = {key: value for key, value in args.items() if key not in tables}
    where = f"reasoning-gym/{variant}"
    accept(where, [*OWN_ARGUMENTS, *(argument for name in names for argument in takes[name])], flat)
    own = accept(
        where, OWN_ARGUMENTS, {key: flat[key] for key in flat if key in {argument.name for argument in OWN_ARGUMENTS}}
    )
    given = {}
    for name in names:
        fields = {argument.name for argument in takes[name]}
        mine = {key: value for key, value in flat.items() if key in fields and key not in own}
        given[name] = accept(f"reasoning-gym/{name}", takes[name], {**mine, **tables.get(name, {})})
    return own, given


class ReasoningGymFamily:
    """What the registry knows about reasoning-gym without importing it."""

    name = "reasoning-gym"
    about = "procedural reasoning tasks, 104 datasets: whet envs show reasoning-gym"

    def variants(self) -> Sequence[str]:
        return datasets.names()

    def arguments(self, variant: str) -> Sequence[Argument]:
        """Ours, then those of every dataset named."""
        found = {argument.name: argument for argument in OWN_ARGUMENTS}
        for name in variant.split("+"):
            for argument in datasets.arguments(name):
                found.setdefault(argument.name, argument)
        return tuple(found.values())

    def build(self, variant: str, source: str, args: Mapping[str, Any]) -> Environment:
        if not variant:
            raise WhetError(
                "reasoning-gym needs a dataset, as in reasoning-gym/leg_counting; see: whet envs show reasoning-gym"
            )
        if source:
            raise WhetError(f"reasoning-gym/{variant} takes no source: leave out ':{source}'")
        return ReasoningGym(variant, args)


FAMILY = ReasoningGymFamily()
