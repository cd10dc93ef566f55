"""One attempt at a broken model, told as a generator: the policy acts, the solver answers, the submission is graded."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

from whet.envs.base import Play, ask, call
from whet.envs.ordebug import prompt, rewards
from whet.envs.ordebug.actions import Action, tool_specs
from whet.envs.ordebug.edits import DropRow, SetBounds, SetType, difference, element
from whet.envs.ordebug.instance import Instance, SpecForm
from whet.envs.ordebug.ladder import MISSING
from whet.envs.ordebug.model import LinearProgram, ModelError
from whet.envs.ordebug.prompt import Reveal
from whet.envs.ordebug.protocol import MalformedStep, Protocol, Step, answers, read_reply
from whet.envs.ordebug.rewards import Facts, RewardName
from whet.envs.ordebug.solver import ElasticResult
from whet.envs.ordebug.works import RepairJudgement, Solution
from whet.errors import LimitReached
from whet.types import Message, Score, Work, WorkResult

WORKS = "whet.envs.ordebug.works"

INFEASIBLE = Solution("infeasible")

Answer = Generator[Work, WorkResult, str]


@dataclass(frozen=True, slots=True)
class OrDebugSettings:
    """How the attempts of an environment are played."""

    spec: SpecForm = "prose"
    reveal: Reveal = "full"
    protocol: Protocol = "text"
    max_steps: int = 20
    reward: RewardName = "repair"
    time_limit: float = 10.0


@dataclass(slots=True)
class RepairSession:
    """The state of one attempt: the models so far, and what the policy did to them."""

    instance: Instance
    settings: OrDebugSettings
    models: list[tuple[LinearProgram, Solution]]
    step: int = 0
    malformed: int = 0
    refused: int = 0
    edits: int = 0
    drops: int = 0
    queries: int = 0
    diagnosed: frozenset[str] = frozenset()
    touched_rows: set[str] = field(default_factory=set)
    trail: list[tuple[int, LinearProgram]] = field(default_factory=list)
    """Models that the solver found optimal, by the step after which it did."""

    @property
    def model(self) -> LinearProgram:
        return self.models[-1][0]

    @property
    def solution(self) -> Solution:
        return self.models[-1][1]

    def resolve(self) -> Generator[Work, WorkResult, None]:
        """Solve the model as it was handed over: one that lacks a row has a solution to begin with."""
        solution = yield from self._work("resolve", Solution("time_limit"), model=self.model)
        self.models[-1] = (self.model, solution)

    def take(self, step: Step) -> Answer:
        """Do one step and say what came of it; whatever it is, it uses a step up."""
        self.step += 1
        if isinstance(step, MalformedStep):
            self.malformed += 1
            text = f"Not an action: {step.problem}"
        else:
            try:
                text = yield from self._act(step)
            except ModelError as problem:
                self.refused += 1
                text = f"Refused: {problem}"
        return f"{text}\n{prompt.step_text(self.step, self.settings.max_steps)}"

    def _act(self, action: Action) -> Answer:
        if action.edit is not None:
            return (yield from self._edit(action))
        if action.name == "get_iis":
            return (yield from self._explain())
        if action.name in ("another_iis", "relaxation", "farkas"):
            return (yield from self._consult(action.name))
        if action.name == "find":
            self.queries += 1
            return prompt.found_text(self.instance.specification(self.settings.spec).text, action.names)
        if action.name == "check_slack":
            return (yield from self._slack(action.names[0]))
        if action.name == "show":
            self.queries += 1
            return "\n".join(prompt.element_text(self.model, name) for name in action.names)
        if action.name == "diagnose":
            self.diagnosed = frozenset(resolved(self.model, self.instance.sabotaged, name) for name in action.names)
            return f"Noted: {' '.join(sorted(self.diagnosed))}."
        if action.name == "undo" and len(self.models) == 1:
            raise ModelError("there is no edit to take back")
        del self.models[1 if action.name == "reset" else -1 :]
        self._seen()
        taken = "every edit" if action.name == "reset" else "the last edit"
        return f"Took back {taken}. {prompt.solution_text(self.solution)}"

    def _edit(self, action: Action) -> Answer:
        assert action.edit is not None
        edit = action.edit
        model = edit.apply(self.model)
        self.edits += 1
        self.drops += isinstance(edit, DropRow)
        if isinstance(edit, SetBounds | SetType):
            shown = prompt.element_text(model, f"column:{edit.column}")
        else:
            self.touched_rows.add(edit.row)
            shown = (
                f"{edit.row} is gone." if isinstance(edit, DropRow) else prompt.element_text(model, f"row:{edit.row}")
            )
        if model == self.model:
            return f"{shown}\nThat is what it said before: nothing was changed. {prompt.solution_text(self.solution)}"
        solution = yield from self._work("resolve", Solution("time_limit"), model=model)
        self.models.append((model, solution))
        self._seen()
        return f"{shown}\n{prompt.solution_text(solution)}"

    def _seen(self) -> None:
        if self.solution.status == "optimal":
            self.trail.append((self.step, self.model))

    def _explain(self) -> Answer:
        self.queries += 1
        if self.solution.status == "optimal":
            return prompt.iis_text(None, self.solution)
        iis = yield from self._work("explain", None, model=self.model)
        return prompt.iis_text(iis, self.solution)

    def _consult(self, tool: str) -> Answer:
        """One of the tools that look at an infeasible model as a whole."""
        self.queries += 1
        if self.solution.status == "optimal":
            return prompt.iis_text(None, self.solution)
        if tool == "another_iis":
            iis = yield from self._work("explain_otherwise", None, model=self.model)
            return "There is no other one to show." if iis is None else prompt.iis_text(iis, self.solution)
        if tool == "relaxation":
            found = yield from self._work("relax_least", ElasticResult("time_limit"), model=self.model)
            return prompt.relaxation_text(found)
        proof = yield from self._work("prove", None, model=self.model)
        return prompt.farkas_text(proof)

    def _slack(self, row: str) -> Answer:
        self.queries += 1
        name = self.model.row(row.removeprefix("row:")).name
        known = self.solution.status == "infeasible"
        found = yield from self._work("slack", None, model=self.model, row=name, infeasible=known)
        return f"{name}: the solver did not finish." if found is None else prompt.slack_text(name, found)

    def _work(self, function: str, instead: Any, **arguments: Any) -> Generator[Work, WorkResult, Any]:
        """The value of a work, or `instead` where it took too long; any other failure is a defect, not a score."""
        limit = self.settings.time_limit
        result: WorkResult = yield call(f"{WORKS}:{function}", deadline=6 * limit, time_limit=limit, **arguments)
        if result.error not in ("", "deadline"):
            raise RuntimeError(f"{function}: {result.error} {result.detail}")
        return result.value if result.ok else instead

    def grade(self, ended: str) -> Generator[Work, WorkResult, Score]:
        """The facts about the attempt, with the final model judged against the original."""
        instance = self.instance
        lost = RepairJudgement(self.solution, False, "not judged: the solver did not finish", 0)
        judged: RepairJudgement = yield from self._work(
            "judge", lost, final=self.model, original=instance.original, trail=tuple(self.trail)
        )
        changed = difference(instance.sabotaged, self.model)
        certificate = instance.certificate
        facts = Facts(
            ended=ended,
            judged=judged,
            steps=self.step,
            max_steps=self.settings.max_steps,
            malformed=self.malformed,
            refused=self.refused,
            edits=self.edits,
            drops=self.drops,
            queries=self.queries,
            edit_cost=len(changed),
            min_edits=certificate.min_edits,
            blamed=self.diagnosed or frozenset(element(edit) for edit in changed),
            faults=instance.elements,
            touched_rows=frozenset(self.touched_rows),
            iis_rows=frozenset(certificate.subsystem.row_names),
            original_objective=certificate.original_objective,
            first_optimal=self.trail[0][0] if self.trail else 0,
            specified=bool(instance.prose.text),
        )
        return rewards.score(facts, self.settings.reward)


def resolved(model: LinearProgram, sabotaged: LinearProgram, name: str) -> str:
    """The element that a name means: a row before a column, dropped rows included; `row:` and `column:` say which."""
    bare = name.removeprefix("row:").removeprefix("column:")
    if not name.startswith("column:") and (bare in model.row_index or bare in sabotaged.row_index):
        return f"row:{bare}"
    if not name.startswith("row:") and bare in model.column_index:
        return f"column:{bare}"
    raise prompt.unknown(model, bare)


def play(instance: Instance, opening: tuple[Message, ...], settings: OrDebugSettings) -> Play:
    """The policy acts until it submits or has used up its steps."""
    session = RepairSession(instance, settings, [(instance.sabotaged, INFEASIBLE)])
    if instance.kind == MISSING:
        yield from session.resolve()
    tools = tool_specs() if settings.protocol == "tools" else ()
    messages = opening
    while session.step < settings.max_steps:
        try:
            reply = yield from ask(messages, tools=tools, must_call=bool(tools), corrections=0)
        except LimitReached as limit:
            return (yield from session.grade(limit.reason))
        texts: list[str] = []
        for step in read_reply(reply, settings.protocol)[: settings.max_steps - session.step]:
            if isinstance(step, Action) and step.name == "submit":
                session.step += 1
                return (yield from session.grade("submitted"))
            texts.append((yield from session.take(step)))
        messages = answers(reply, texts)
    return (yield from session.grade("step_limit"))
