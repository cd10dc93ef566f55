"""What the policy is told: the task at the start, and the answer to each step. The one wording of all uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from whet.envs.ordebug.actions import ACTIONS
from whet.envs.ordebug.algebra import algebra, column_text, number, objective_text, row_text
from whet.envs.ordebug.iis import Iis, Member
from whet.envs.ordebug.model import LinearProgram, ModelError
from whet.envs.ordebug.protocol import MARK, Protocol
from whet.envs.ordebug.solver import ElasticResult
from whet.envs.ordebug.works import Slack, Solution
from whet.errors import nearest

Reveal = Literal["full", "query"]

OBJECTIVE = "objective"

LOOKS = ("get_iis", "another_iis", "relaxation", "farkas", "find", "check_slack", "show")
ENDS = ("diagnose", "submit")

LONG = 6000
"""Characters of a specification that are shown in any case."""

FOUND_AT_ONCE = 8
"""Lines that one `find` shows."""

MANY = 60
"""More names than this are told as a range."""

_GOAL = """\
A correct model was changed: now it is infeasible. Find what is wrong and put it right, so that the model says again
what the specification asks for. Change as little as possible; removing or loosening a requirement is no repair."""

_LACKING = """\
A correct model was changed: it has a solution, but no longer asks for all that the specification asks for. Find what is
missing and add it. Change as little as possible."""

_NO_SPECIFICATION = "There is no written specification; judge by the model itself."

_STATUS = {
    "infeasible": "infeasible",
    "unbounded": "unbounded",
    "time_limit": "not solved within its limits",
    "error": "not solvable: the solver gave up on the model",
}


def opening(
    model: LinearProgram,
    specification: str,
    *,
    reveal: Reveal,
    protocol: Protocol,
    max_steps: int,
    lacking: bool = False,
) -> str:
    """The whole task in one message. `lacking`: a row is missing, and the model has a solution."""
    parts = [
        _LACKING if lacking else _GOAL,
        f"# Specification\n{_shown(specification.strip(), reveal) or _NO_SPECIFICATION}",
        f"# Model\n{algebra(model)}" if reveal == "full" else _inventory(model),
        _rules(protocol, max_steps),
    ]
    return "\n\n".join(parts)


def _shown(specification: str, reveal: Reveal) -> str:
    """The text, or by query where it is long, how to look into it."""
    lines = specification.splitlines()
    if reveal == "full" or len(specification) <= LONG:
        return specification
    return f"{lines[0]}\nThe specification has {len(lines)} lines. Use find to see those with certain words."


def found_text(specification: str, words: tuple[str, ...]) -> str:
    """The lines that have all the words, up to some."""
    wanted = [word.lower() for word in words]
    found = [line.strip() for line in specification.splitlines() if all(word in line.lower() for word in wanted)]
    if not found:
        return "No line of the specification has these words."
    more = len(found) - FOUND_AT_ONCE
    rest = [f"and {more} lines more; add a word"] if more > 0 else []
    return "\n".join([*found[:FOUND_AT_ONCE], *rest])


def relaxation_text(found: ElasticResult) -> str:
    if found.status != "optimal":
        return "The relaxation was not solved within its limits."
    if not found.rows:
        return "Nothing needs to give way in the linear part."
    lines = [f"  {name} by {amount:.6g}" for name, amount in found.rows[:FOUND_AT_ONCE]]
    return "\n".join([f"The least total violation is {found.total:.6g}:", *lines])


def farkas_text(proof: dict[str, float] | None) -> str:
    if not proof:
        return "There are no multipliers: bounds alone, or whole numbers, stand against a solution."
    return "Multipliers: " + ", ".join(f"{name} {value:.4g}" for name, value in list(proof.items())[:20])


def _names(names: Sequence[str]) -> str:
    return " ".join(names) if len(names) <= MANY else f"{names[0]} to {names[-1]}"


def _inventory(model: LinearProgram) -> str:
    """Names without algebra: what each says costs a step to see."""
    rows = _names([row.name for row in model.rows])
    columns = _names([column.name for column in model.columns])
    return f"# Model\nconstraints: {rows}\nvariables: {columns}\nUse show to see what they say."


def _rules(protocol: Protocol, max_steps: int) -> str:
    look = [name for name in ACTIONS if name in LOOKS]
    change = [name for name in ACTIONS if name not in LOOKS and name not in ENDS]
    lines = [
        "# Actions",
        *(
            f"{title}: {' '.join(f'`{ACTIONS[name].usage}`' for name in names)}"
            for title, names in (("look", look), ("edit", change), ("end", ENDS))
        ),
        "get_iis shows a smallest contradiction, another_iis a further one; relaxation where the least violation "
        "falls; farkas the multipliers of a proof; find lines of the specification. A coefficient of 0 removes a "
        "term; none is no bound.",
        f"You have {max_steps} steps; every action is one. Edits are solved at once. What is not submitted counts for "
        "nothing.",
    ]
    if protocol == "text":
        lines.append(f"Think, then end your reply with one line: {MARK} and one action.")
    else:
        lines.append("Call one tool at a time.")
    return "\n".join(lines)


def solution_text(solution: Solution) -> str:
    if solution.objective is not None:
        return f"Solver: optimal, objective {solution.objective:.9g}."
    return f"Solver: {_STATUS.get(solution.status, solution.status)}."


def step_text(step: int, max_steps: int) -> str:
    left = max_steps - step
    return f"[step {step} of {max_steps}]" if left > 1 else f"[step {step} of {max_steps}: one step left]"


def iis_text(iis: Iis | None, solution: Solution) -> str:
    if iis is None and solution.status in ("infeasible", "time_limit", "error"):
        return "The search for a contradiction did not finish within its limits."
    if iis is None:
        return f"There is no contradiction to show. {solution_text(solution)}"
    head = "These contradict each other; without any one of them the others can hold:"
    if iis.integral:
        head = "Together with the bounds and types of the variables, these contradict each other:"
    if not iis.irreducible:
        head += " (some may be superfluous: the search for a smaller set ran out of time)"
    rows = [f"  constraint {_side(member)}" for member in iis.rows]
    bounds = [f"  {member.side} bound of {member.name}" for member in iis.columns]
    return "\n".join([head, *rows, *bounds])


def _side(member: Member) -> str:
    return f"{member.name} ({'at least' if member.side == 'lower' else 'at most'})"


def slack_text(row: str, found: Slack) -> str:
    if found.activity is None or found.slack is None:
        return f"{row}: no point respects the bounds and types of the variables, so there is nothing to measure."
    where = "at the optimum" if found.optimal else "at a point that violates the constraints least in total"
    says = f"slack {found.slack:.9g}" if found.slack >= -1e-7 else f"violated by {-found.slack:.9g}"
    return f"{row}: left side {found.activity:.9g} {where}, {says}."


def element_text(model: LinearProgram, name: str) -> str:
    """A row, a column or the objective as it stands; a `ModelError` where there is none of that name."""
    if name == OBJECTIVE and name not in model.row_index:
        return objective_text(model)
    bare = name.removeprefix("row:").removeprefix("column:")
    found = []
    if bare in model.row_index and not name.startswith("column:"):
        found.append(row_text(model.row(bare)))
    if bare in model.column_index and not name.startswith("row:"):
        column = model.column(bare)
        used = [row.name for row in model.rows if row.coefficient(bare)]
        found.append(f"{column_text(column)}; cost {number(column.cost)}; in {' '.join(used) or 'no constraint'}")
    if not found:
        raise unknown(model, bare)
    return "\n".join(found)


def unknown(model: LinearProgram, name: str) -> ModelError:
    """The complaint about a name that is neither a row's nor a column's."""
    hint = nearest(name, [*model.row_index, *model.column_index])
    return ModelError(f"there is no constraint or variable {name[:60]!r}.{hint}")
