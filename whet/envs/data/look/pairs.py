"""Which column is asked and which is the answer: pairs are weighed as wholes, and the runner-up says how sure it is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from whet.envs.data.columns import known, words_of
from whet.envs.data.look.beside import asked_together
from whet.envs.data.look.clues import answered, asked, saying
from whet.envs.data.look.options import OptionSet, option_sets, picks
from whet.envs.data.look.view import FileView
from whet.envs.data.look.vocabulary import (
    AMOUNTS,
    ANSWER_WORDS,
    COMPANIONS,
    DOUBTFUL,
    KIND_WORDS,
    MADE_OR_SAID,
    TRUTHS,
    WEAK_ANSWERS,
    is_unsettled,
    named_alike,
    of_another,
    partners,
    within,
)
from whet.envs.data.profile import is_missing
from whet.envs.data.template import cell
from whet.errors import WhetError

PICKS = 8.0
"""What it adds to a column that every cell of it names one of the options of its row."""

TOLD, WELL, UNTOLD = 1.5, 2.0, -1.5
"""What it adds that the words of the question tell a label, that they always do, and that they tell another's alone."""

CLEARLY = 0.3
"""Share of what the commonest label leaves that words must name for a text to tell a label."""

FIGURES = 0.6
"""How closely a column of numbers can belong to a wish that is answered in words."""

PARTNERS, ALIKE, ASKS = 4.0, 0.5, 1.5
"""For names that belong together, for names that begin alike, for an answer by name to a text that asks."""

OF_ANOTHER = -2.0
"""For a name of something else that the row is about, which has an id of its own."""

UNSETTLED = -3.0
"""For an answer by name, where another is called the truth: what a model said, beside what is right."""

OF_A_KIND = -2.5
"""For a category of questions, where they have an answer by name."""

BEGINS = -2.0
"""For values with which the text begins: a heading that was cut from it."""

FOUND = 1.0
"""For short values that stand in the text that is asked about, as an answer that is read from it does."""

NEAR = 1.6
"""Two columns whose weights differ by less than this are rivals."""

LIKELIEST = 3
"""Questions whose words are tried on the labels."""


@dataclass(frozen=True, slots=True)
class ColumnGuess:
    """The likeliest pair, the other columns that the answer may be in, and by how much the pair is ahead of them."""

    question: str
    answer: str
    rivals: tuple[str, ...] = ()
    options: OptionSet | None = None
    is_table: bool = False
    """Whether rows hold no text: then all that they hold is asked."""


def guess(view: FileView, taken: Collection[str], answer: str = "", questions: Collection[str] = ()) -> ColumnGuess:
    """The pair of question and answer that is likeliest; `answer` and `questions` are columns that the user named."""
    if answer:
        known(answer, view.source.columns, "answer")
    left = [name for name in view.source.columns if name not in taken and view.columns[name].filled]
    options = {option for found in option_sets(view) if found.is_named for option in found.columns}
    free = [name for name in left if name not in options]
    free = free if len(free) > 1 else left
    asking = {name: asked(view, name) for name in free if name != answer}
    saying_it = {answer: 0.0} if answer else {name: answered(view, name) for name in free}
    picked: dict[str, OptionSet] = {}
    for name in [answer] if answer else saying_it:
        for found in option_sets(view):
            if not found.holds(name) and picks(view, found, name):
                picked.setdefault(name, found)
    chosen = {option for options in picked.values() for option in options.columns}
    saying_it = {name: weight for name, weight in saying_it.items() if name not in chosen or name == answer}
    if questions:
        asking = dict.fromkeys(questions, 0.0)
        saying_it = {name: weight for name, weight in saying_it.items() if name not in questions}
    is_table = not questions and len(free) > 3 and not any(_is_told(view, name) for name in asking)
    pairs = _weighed(view, asking, saying_it, picked, is_table)
    if not pairs:
        columns = ", ".join(view.source.columns)
        raise WhetError(f"{view.source.name}: no column looks like an answer; the columns are {columns}")
    best, question, found_answer = max(pairs, key=lambda pair: pair[0])
    rivals = _rivals(view, pairs, best, question, found_answer)
    spoken = _in_words(view, free, question, found_answer) if not answer else found_answer
    if not answer and view.columns[spoken].objects:
        spoken = _one_thing(view, spoken) or spoken
    others = tuple(name for name in rivals if name != spoken)
    return ColumnGuess(question, spoken, others, picked.get(found_answer), is_table)


def _is_told(view: FileView, name: str) -> bool:
    """Whether a column is more than a cell of a table: a text, a list, an object, or called like what is asked."""
    column = view.columns[name]
    named = bool(set(words_of(name)) & (COMPANIONS | {"q"})) and not column.numbers
    return view.is_text(name) or bool(column.lists or column.objects) or column.asks > 0.5 or named


Weighed = tuple[float, str, str]


def _weighed(
    view: FileView,
    asking: Mapping[str, float],
    saying_it: Mapping[str, float],
    picked: Mapping[str, OptionSet],
    is_table: bool,
) -> list[Weighed]:
    """All pairs with their weights."""
    has_answer = any(set(words_of(name)) & {"answer", "answers"} for name in saying_it)
    has_settled = any(set(words_of(name)) & TRUTHS and view.columns[name].words >= 1.5 for name in saying_it)
    likely = sorted(asking, key=lambda name: -asking[name])[:LIKELIEST]
    pairs: list[Weighed] = []
    for question in asking:
        told = _told(view, question, saying_it) if question in likely and not is_table else {}
        for answer, weight in saying_it.items():
            if question == answer or within(question, answer):
                continue
            together = PICKS if answer in picked else told.get(answer, 0.0)
            asks = view.columns[question].asks > 0.5
            answers = ASKS * (asks and bool(set(words_of(answer)) & {"answer", "answers"}))
            trusted = not set(words_of(answer)) & DOUBTFUL
            close = min(partners(question, answer), FIGURES if view.columns[answer].numbers > 0.5 else 1.0)
            belongs = max(PARTNERS * close, answers) if trusted else 0.0
            together += ALIKE * named_alike(question, answer) + belongs
            together += OF_ANOTHER * of_another(question, answer, view.columns)
            together += UNSETTLED * (
                has_settled and bool(set(words_of(answer)[-1:]) & MADE_OR_SAID) and is_unsettled(answer)
            )
            together += OF_A_KIND * (asks and has_answer and bool(set(words_of(answer)) & KIND_WORDS))
            together += _table_clues(view, asking, answer) if is_table else 0.0
            pairs.append((asking[question] + weight + together, question, answer))
    return pairs


def _told(view: FileView, question: str, candidates: Collection[str]) -> dict[str, float]:
    """What the words of a question add to a column of labels, or take away where they tell another's."""
    labels = [
        name
        for name in candidates
        if name != question and view.columns[name].is_categorical and not view.columns[name].lists
    ]
    lifts = {name: view.lift(question, name) for name in labels}
    clear = max(lifts.values(), default=0.0) >= CLEARLY
    told = {name: TOLD + WELL * lift if lift else UNTOLD * clear for name, lift in lifts.items()}
    for name in labels:
        if view.begins(question, name):
            told[name] = BEGINS
    for name in candidates:
        column = view.columns[name]
        short = column.words <= 6 and not (column.is_categorical or column.lists or column.dates)
        if name != question and short and view.is_text(question) and view.found_in(name, question) >= 0.8:
            told[name] = FOUND
    return told


def _table_clues(view: FileView, asking: Collection[str], answer: str) -> float:
    """In a table without texts the last column is likeliest, a measured one less so, and one that the rest tells."""
    column, order = view.columns[answer], view.source.columns
    others = [name for name in asking if name != answer and not view.columns[name].is_token]
    named = bool(set(words_of(answer)) & (WEAK_ANSWERS | AMOUNTS))
    weight = 1.5 * (order[-1] == answer) + 2.0 * named - 1.5 * (column.numbers == 1.0 and not named)
    return weight + (3.0 * view.row_lift(answer, others) if column.is_categorical else 0.0)


def _rivals(view: FileView, pairs: Sequence[Weighed], best: float, question: str, answer: str) -> tuple[str, ...]:
    """The answers of pairs that are nearly as likely, the likeliest first."""
    beside = set(asked_together(view, question, (), answer))
    weights: dict[str, float] = {}
    for weight, asking, said in pairs:
        turned = asking == answer and said == question
        if said == answer or within(said, answer) or not (asking == question or turned):
            continue
        if turned or not (said in beside or any(within(said, other) for other in beside)):
            weights[said] = max(weight, weights.get(said, weight))
    near = sorted((name for name, weight in weights.items() if best - weight < NEAR), key=lambda name: -weights[name])
    return tuple(near)


def _in_words(view: FileView, free: Sequence[str], question: str, answer: str) -> str:
    """The column that calls the classes by name where `answer` numbers them: nobody can know that 3 means Sports."""
    numbered = view.columns[answer]
    if not (numbered.is_categorical and numbered.numbers == 1.0):
        return answer
    for name in free:
        column = view.columns[name]
        same = column.distinct == numbered.distinct and column.filled == numbered.filled
        if same and column.is_categorical and not column.numbers and name not in (question, answer):
            pairs = {(cell(row.get(name)).strip(), cell(row.get(answer)).strip()) for row in view.source.rows}
            if len(pairs) == numbered.distinct:
                return name
    return answer


def _one_thing(view: FileView, around: str) -> str:
    """The part with most spellings where all that an object says is one thing, spelled in several ways; or ''."""
    parts = saying(around, view)
    spellings = [
        {name: _spelled(row.get(name)) for name in parts} for row in view.source.rows if not is_missing(row.get(around))
    ]
    if len(parts) < 2 or not all(set.intersection(*said.values()) for said in spellings):
        return ""
    return max(parts, key=lambda name: sum(len(said[name]) for said in spellings))


def _spelled(value: object) -> set[str]:
    return {cell(part).casefold().strip() for part in (value if isinstance(value, list) else [value])}


def is_answer_by_name(column: str) -> bool:
    return bool(set(words_of(column)) & ANSWER_WORDS)
