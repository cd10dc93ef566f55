"""What a `data` environment takes, and which column each part of it comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whet.envs.arguments import Argument
from whet.envs.data.checks import CHECKS, build_check, check_arguments, check_named
from whet.envs.data.checks.base import AnswerCheck
from whet.envs.data.columns import ANSWERS, IDS, QUESTIONS, known, obvious
from whet.envs.data.conversation import ANSWER, WHOLE
from whet.envs.data.profile import is_missing
from whet.envs.data.reply import INSTRUCTIONS, Form
from whet.envs.data.source import DataSource
from whet.envs.data.template import Template, cell
from whet.errors import WhetError
from whet.types import SPLITS

OWN_ARGUMENTS = (
    Argument("prompt", str, "", "template with {column} fields [the question column and how to answer]"),
    Argument("answer", str, "", "column with the right answer [answer, label, target, ...]"),
    Argument("check", str, "exact", ", ".join(name for name in CHECKS if name != "agreement")),
    Argument(
        "skip_missing", bool, False, "leave out rows without a question or an answer, instead of refusing the file"
    ),
    Argument("constrain", bool, False, "hold the decoder to what can be answered at all, where the model can be held"),
    Argument("read", Form, "reply", "where the answer stands: reply, line ('Answer: ...'), tag (<answer>) or code"),
    Argument("id", str, "", "column with a name for each row [id]"),
    Argument("group", str, "", "column whose rows stay on one side of the splits"),
    Argument("kind", str, "", "column with the kind of task: splits and samples are stratified by it"),
    Argument("difficulty", str, "", "column with the difficulty"),
    Argument("images", str, "", "column with paths of images, shown before the prompt"),
    Argument("split", str | list[float], [0.5, 0.25, 0.25], "column, or the fractions of train, select and test"),
    Argument("select", float, 0.0, "share of the train rows that becomes select, where given splits name none"),
    Argument("overlap", str, "refuse", "what to do with rows on two sides of given splits: refuse or drop"),
    Argument("seed", int, 0, "another seed makes other splits"),
    Argument("manifest", str, "", "file that keeps made splits [beside the data, FILE.splits.json]"),
    Argument("encoding", str, "utf-8", "encoding of the file"),
)

ARGUMENTS: tuple[Argument, ...] = (*OWN_ARGUMENTS, *check_arguments())

MEANT = 0.9
"""Share of rows with an id of their own, from which a column `id` that nobody named is one; a repeat is an error."""

PLACES = ("manifest", "agreement", "workspace", "function", "rubric", "schema", "database", "checker")
"""Arguments that say where something lies: its content counts, not its path."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column holds what; None where no column does."""

    id: str | None
    group: str | None
    kind: str | None
    difficulty: str | None
    images: str | None
    split: str | None


@dataclass(frozen=True, slots=True)
class DataSettings:
    """The arguments of an environment, resolved against the columns of its data."""

    check: AnswerCheck
    prompt: Template
    form: Form
    columns: Columns
    fractions: tuple[float, ...]
    seed: int
    drop_overlap: bool
    select: float = 0.0
    """The share of given train rows that is taken for select where none is given."""


def settle(source: DataSource, args: Mapping[str, Any]) -> DataSettings:
    """Resolve accepted arguments. Columns nobody named are taken only where their name leaves no doubt."""
    own = {argument.name for argument in OWN_ARGUMENTS}
    check = _check(source, args, {name: value for name, value in args.items() if name not in own})
    form: Form = args.get("read", "reply")
    check.home = source.path if source.path.is_dir() else source.path.parent
    check.constrain = args.get("constrain", False)
    if check.constrain and check.shape(source.rows[0], source.place(0)) is None:
        raise WhetError(
            f"constrain: what {args.get('check', 'exact')!r} takes has no shape; it is for choice, set with labels, "
            "number, spans, and json with fields or a schema"
        )
    text = args.get("prompt") or default_prompt(source.columns, check, form)
    prompt = Template.parse(text, source.columns)
    prompt.refuse({column for column in source.columns if any(tells(column, hidden) for hidden in check.hidden)})
    if not prompt.columns:
        raise WhetError("prompt: it uses no column, so every task would ask the same; write {column} where a cell goes")
    columns = _columns(source, args)
    if columns.kind in check.hidden:
        raise WhetError(f"kind: {columns.kind!r} is what is checked; a kind must not tell the answer")
    overlap = args.get("overlap", "refuse")
    if overlap not in ("refuse", "drop"):
        raise WhetError(f"overlap: {overlap!r} is neither 'refuse' nor 'drop'")
    select = float(args.get("select", 0.0))
    if not 0.0 <= select < 1.0:
        raise WhetError(f"select: {select} is not a share of the train rows; it lies between 0 and 1")
    return DataSettings(check, prompt, form, columns, _fractions(args), args.get("seed", 0), overlap == "drop", select)


def tells(column: str, hidden: str) -> bool:
    """Whether a column holds what stands in a hidden one: it is that, around it, a part of it, or all that was said."""
    stem, _, part = hidden.rpartition(".")
    around = column == hidden or column.startswith(f"{hidden}.") or hidden.startswith(f"{column}.")
    return around or (part == ANSWER and column == f"{stem}.{WHOLE}")


def present(source: DataSource, args: Mapping[str, Any]) -> DataSource:
    """With `skip_missing`, the rows that have an answer and something to ask; otherwise all of them."""
    if not args.get("skip_missing"):
        return source
    settings = settle(source, args)
    checked, asked = settings.check.answer, settings.prompt.columns
    kept = [
        index
        for index, row in enumerate(source.rows)
        if not (checked and is_missing(row.get(checked))) and any(not is_missing(row.get(column)) for column in asked)
    ]
    if not kept:
        raise WhetError(f"{source.name}: no row has an answer in column {checked!r}")
    return source.only(kept)


def default_prompt(columns: Sequence[str], check: AnswerCheck, form: Form) -> str:
    """The question column, the options where rows list them, and how to answer."""
    taken = check.hidden | set(check.shows)
    question = obvious(columns, QUESTIONS, taken)
    if question is None:
        raise WhetError(f"prompt: say what is asked, as in prompt='{{column}}'; the columns are {', '.join(columns)}")
    return prompt_of([f"{{{question}}}"], check, form)


def prompt_of(fields: Sequence[str], check: AnswerCheck, form: Form) -> str:
    """A template that shows `fields` and says how to answer."""
    options = [f"{{{column}}}" for column in check.optional_fields]
    told = [part.replace("{", "{{").replace("}", "}}") for part in (check.instruction(), INSTRUCTIONS[form]) if part]
    return "\n\n".join([*fields, *options, *told])


def _check(source: DataSource, args: Mapping[str, Any], own: Mapping[str, Any]) -> AnswerCheck:
    name = args.get("check", "exact")
    kind = check_named(name)
    answer: str | None = args.get("answer") or None
    if answer is not None:
        known(answer, source.columns, "answer")
    elif kind.needs_answer or _wants_answer(name, own, source):
        answer = obvious(source.columns, ANSWERS)
        if answer is None and not own.get("fields"):
            columns = ", ".join(source.columns)
            raise WhetError(
                f"answer: say which column holds the right answer, as in -a answer=NAME; there are {columns}"
            )
    return build_check(name, answer, source.columns, own)


def _wants_answer(name: str, own: Mapping[str, Any], source: DataSource) -> bool:
    """Whether a check that can do without an answer column needs one as it is set."""
    if name == "json":
        return not _all_columns(own.get("fields"), source)
    return name == "set" and not own.get("label_columns")


def _all_columns(fields: Sequence[str] | None, source: DataSource) -> bool:
    return bool(fields) and set(fields or ()) <= set(source.columns)


def _columns(source: DataSource, args: Mapping[str, Any]) -> Columns:
    def named(argument: str) -> str | None:
        return known(args[argument], source.columns, argument) if args.get(argument) else None

    split = args.get("split")
    if source.sides is not None and split is not None:
        raise WhetError(f"split: {source.name} is a folder that gives its splits; leave the argument out")
    column = known(split, source.columns, "split") if isinstance(split, str) else None
    if split is None and source.sides is None and "split" in source.columns:
        column = "split"
    return Columns(
        named("id") or _identity(source), named("group"), named("kind"), named("difficulty"), named("images"), column
    )


def _identity(source: DataSource) -> str | None:
    """The column `id`, where it is meant to name the rows: one that is the same on many is of something else."""
    column = obvious(source.columns, IDS[:1])
    seen = {cell(row.get(column)).strip() for row in source.rows} if column is not None else set()
    return column if len(seen) >= MEANT * len(source.rows) else None


def _fractions(args: Mapping[str, Any]) -> tuple[float, ...]:
    given = args.get("split")
    fractions = tuple(given) if isinstance(given, list) else (0.5, 0.25, 0.25)
    if len(fractions) != len(SPLITS) or min(fractions) < 0 or abs(sum(fractions) - 1.0) > 1e-6:
        raise WhetError(f"split: {list(fractions)} are not the fractions of train, select and test; they add up to 1")
    return fractions
