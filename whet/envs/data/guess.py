"""Which column is asked and which is the answer: each is weighed by the words of its name and by what it holds."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from whet.envs.data.columns import ANSWERS, GROUPS, ID_WORDS, IDS, QUESTIONS, known
from whet.envs.data.derived import FINAL, LISTED
from whet.envs.data.evidence import told_by
from whet.envs.data.profile import ColumnProfile, is_missing, words_of
from whet.envs.data.source import DataSource
from whet.envs.data.template import cell
from whet.errors import WhetError

ANSWER_WORDS = frozenset(
    (
        *("answer", "answers", "label", "labels", "target", "targets", "gold", "expected", "truth"),
        *("correct", "class", "category", "categories", "tag", "tags", "sentiment", "intent", "queue"),
        *("verdict", "output", "solution", "result", "results", "reference", "ideal", "completion"),
        *(
            "response",
            "topics",
            "gt",
            "parse",
            "parsed",
            "extracted",
            "outcome",
            "decision",
            "diagnosis",
            "grade",
            "theme",
            "coded",
            "labelled",
            "labeled",
        ),
    )
)
WEAK_ANSWER_WORDS = frozenset(
    (
        *("stars", "rating", "score", "priority", "status", "severity", "code", "total", "amount", "value"),
        *("emotion", "section", "summary", "highlights", "translation", "paraphrase"),
    )
)
SETTLED_WORDS = frozenset(
    (*("final", "gold", "correct", "true", "expected", "human", "reviewed", "agreed", "consensus"),)
)
DOUBTFUL_WORDS = frozenset(
    (
        *("predicted", "prediction", "model", "auto", "old", "previous", "draft", "raw", "suggested"),
        *("baseline",),
    )
)
RECORD_WORDS = frozenset(
    (
        *("annotator", "annotators", "worker", "rater", "reviewer", "editor", "timestamp", "time", "date"),
        *("created", "updated", "modified", "channel", "source", "language", "lang", "locale", "url"),
        *("link", "email", "phone", "version", "confidence", "comment", "comments", "note", "notes"),
        *("country", "region", "author", "user", "username", "index", "idx", "number", "no", "row", "ip", "device"),
        *("browser", "batch", "agent", "start", "end", "offset", "begin", "position", "byline"),
        *("vendor", "supplier", "seller", "buyer", "merchant", "company", "assignee", "requester", "owner", "currency"),
        *("age", "sex", "gender", "coder", "labeler", "labeller", "tagger", "judge"),
        *("toks", "tokens", "embedding", "vector", "hash", "url"),
    )
)
"""Words for what is recorded about a row, and neither asked nor answered."""

FOREIGN_ANSWERS = frozenset(
    (
        *("antwort", "kategorie", "klasse", "etikett", "stimmung", "ergebnis", "loesung", "lösung"),
        *("réponse", "reponse", "catégorie", "categorie", "étiquette", "classe", "résultat"),
        *("respuesta", "categoría", "categoria", "etiqueta", "clase", "resultado", "resposta", "risposta", "etichetta"),
        *("категория", "метка", "ответ", "класс", "тональность", "результат", "intencja", "kategoria", "odpowiedź"),
        *(
            "标签",
            "答案",
            "类别",
            "分类",
            "意图",
            "標籤",
            "類別",
            "ラベル",
            "カテゴリ",
            "カテゴリー",
            "回答",
            "正解",
            "분류",
            "정답",
            "라벨",
        ),
    )
)
"""Words for an answer in other languages."""

FOREIGN_RECORDS = frozenset(
    (
        *(
            "datum",
            "sprache",
            "land",
            "quelle",
            "kunde",
            "nutzer",
            "pays",
            "langue",
            "région",
            "fecha",
            "país",
            "idioma",
        ),
        *("región", "regione", "regiao", "região", "дата", "регион", "город", "язык", "источник", "клиент"),
        *("日期", "地区", "来源", "语言", "用户", "日付", "地域", "날짜", "지역"),
    )
)
"""Words for what is recorded, in other languages."""

COMPANION_WORDS = frozenset(
    (
        *("premise", "hypothesis", "sentence", "text", "input", "instruction", "question", "passage", "query"),
        *("document", "utterance", "statement", "claim", "evidence", "context", "title", "subject", "headline", "body"),
    )
)
"""Words for texts that are asked about together."""

TELLING_WORDS = frozenset(("context", "passage", "document", "title", "subject", "headline"))

HEADINGS = frozenset(("title", "subject", "headline"))
"""What a longer text is called by: asked alone only where there is no such text."""

AMOUNT_WORDS = frozenset(("total", "amount", "value", "price", "sum", "due", "quantity"))
"""Words for a figure that one asks for: where every cell is a number, as telling as a few labels are."""

LONG = 8.0
"""Mean words of a cell that holds a text, not a value."""

TELLS = 5.0
"""Mean words of a column from which it tells something, whatever its name."""

PICKS = 4.0
"""What it adds to a column that every cell of it names one of the options of its row."""

TOLD = 0.3
"""Share of what the commonest label leaves that words must name for a text to tell a label."""

OPTION_WORDS = frozenset(("options", "choices", "alternatives", "candidates"))
"""Words for what one chooses from, which is no answer."""

GIVEN_WORDS = frozenset(("tools", "functions", "schema", "table", "tables"))
"""Words for what a question is answered with: shown whatever its form, and where it is the same in all rows too."""

NEAR = 1.25
"""Two columns whose weights differ by less than this are rivals."""

_OPTION = re.compile(
    r"(?:op(?:t(?:ion)?)?|choice|alternative|answer|candidate|ending|sol(?:ution)?)?[\s_.-]*([a-h]|[1-8])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ColumnGuess:
    """The likeliest pair, and other columns that the answer may be in."""

    question: str
    answer: str
    rivals: tuple[str, ...] = ()


def guess(
    source: DataSource,
    columns: Mapping[str, ColumnProfile],
    taken: Collection[str],
    answer: str = "",
    questions: Collection[str] = (),
) -> ColumnGuess:
    """The pair of question and answer that is likeliest; `answer` and `questions` are columns that the user named."""
    if answer:
        known(answer, source.columns, "answer")
    left = [column for column in source.columns if column not in taken and columns[column].filled]
    options = set(options_among(source.columns, set()))
    free = [column for column in left if column not in options]
    free = free if len(free) > 1 else left
    asked = {column: _as_question(columns[column]) for column in free if column != answer}
    said = {answer: 0.0} if answer else {column: _as_answer(columns[column], source, columns) for column in free}
    if not answer and asked:
        told = _told(source, columns, max(asked, key=lambda column: asked[column]), list(said))
        picks = {column: PICKS for column in said if options and picks_option(source, tuple(options), column)}
        said = {column: weight + picks.get(column, told.get(column, 0.0)) for column, weight in said.items()}
    if questions:
        asked = dict.fromkeys(questions, 0.0)
        said = {column: value for column, value in said.items() if column not in questions}
    pairs = [
        (asked[q] + said[a] + 0.5 * _named_alike(q, a), q, a)
        for q in asked
        for a in said
        if q != a and not within(q, a)
    ]
    if not pairs:
        raise WhetError(f"{source.name}: no column looks like an answer; the columns are {', '.join(source.columns)}")
    _, question, found = max(pairs, key=lambda pair: pair[0])
    others = sorted(
        ((said[a], a) for a in said if a not in (found, question) and not within(a, found) and not within(found, a)),
        reverse=True,
    )
    beside = set(asked_together(columns, question, ()))
    rivals = tuple(
        column for value, column in others if said[found] - value < NEAR and value > -2.0 and column not in beside
    )
    if question in said and found in asked and _turned(asked, said, question, found) < NEAR:
        rivals = (question, *rivals)
    spoken = _in_words(source, columns, free, question, found) if not answer else found
    if not answer and columns[spoken].objects:
        spoken = _one_thing(source, spoken, columns) or spoken
    return ColumnGuess(question, spoken, tuple(column for column in rivals if column != spoken))


def _in_words(
    source: DataSource, columns: Mapping[str, ColumnProfile], free: Sequence[str], question: str, answer: str
) -> str:
    """The column that calls the classes by name where `answer` numbers them: nobody can know that 3 means Sports."""
    numbered = columns[answer]
    if not (numbered.is_categorical and numbered.numbers == 1.0):
        return answer
    for name in free:
        column = columns[name]
        same = column.distinct == numbered.distinct and column.filled == numbered.filled
        if same and column.is_categorical and not column.numbers and name not in (question, answer):
            pairs = {(cell(row.get(name)).strip(), cell(row.get(answer)).strip()) for row in source.rows}
            if len(pairs) == numbered.distinct:
                return name
    return answer


def _told(
    source: DataSource, columns: Mapping[str, ColumnProfile], question: str, candidates: Sequence[str]
) -> dict[str, float]:
    """What the words of the likeliest question add to a column of labels, or take away where they tell another's."""
    kept = [row for row in source.rows if cell(row.get(question)).strip()]
    lifts: dict[str, float] = {}
    for name in candidates:
        if name != question and columns[name].is_categorical and not columns[name].lists:
            rows = [row for row in kept if not is_missing(row.get(name))]
            texts = [cell(row.get(question)) for row in rows]
            lifts[name] = told_by(texts, [cell(row.get(name)).strip() for row in rows])
    clear = max(lifts.values(), default=0.0) >= TOLD
    return {name: 3.0 * lift if lift else -1.5 * clear for name, lift in lifts.items()}


def _named_alike(question: str, answer: str) -> bool:
    """Whether both names begin with the same word, as `review` and `review_sentiment` do."""
    return words_of(question)[:1] == words_of(answer)[:1] != ()


def _turned(asked: Mapping[str, float], said: Mapping[str, float], question: str, answer: str) -> float:
    """By how much the pair outweighs the same two columns the other way round."""
    return asked[question] + said[answer] - asked[answer] - said[question]


def asked_together(columns: Mapping[str, ColumnProfile], question: str, taken: Collection[str]) -> list[str]:
    """The question and the texts that belong to it: a premise with its hypothesis, a passage before its question."""
    found = [
        name
        for name, column in columns.items()
        if name == question
        or (name not in taken and words_of(name)[-1:] and words_of(name)[-1] in GIVEN_WORDS and not column.missing)
        or (
            name not in taken
            and {*words_of(name), *(words_of(name.rpartition(".")[0]) if column.lists else ())} & COMPANION_WORDS
            and not set(words_of(name)) & (ANSWER_WORDS | RECORD_WORDS | DOUBTFUL_WORDS)
            and not (column.objects or column.constant or column.is_categorical)
            and not (column.lists and column.words < LONG)
            and column.numbers < 0.5
            and column.missing < 0.5
        )
    ]
    return sorted(found, key=lambda name: not needs_no_caption(name))


def is_told(column: ColumnProfile, judged: bool) -> bool:
    """Whether it holds a text of its own in each row, by its name no record of the row.

    It may be called an answer where something is `judged`: the answer of a pupil, of which a label says if it is right.
    """
    named = set(words_of(column.name)) & (RECORD_WORDS | DOUBTFUL_WORDS | (frozenset() if judged else ANSWER_WORDS))
    plain = not (column.lists or column.objects or column.sets) and column.missing < 0.5
    return plain and not named and column.words >= TELLS and column.distinct >= 0.9 * column.filled


def needs_no_caption(column: str) -> bool:
    """Whether it is a text that stands before a question without being named: a passage, a title."""
    return bool(set(words_of(column)) & TELLING_WORDS)


def within(column: str, other: str) -> bool:
    """Whether one is a part of the other."""
    return column.startswith(f"{other}.") or other.startswith(f"{column}.")


def options_among(columns: Sequence[str], taken: Collection[str]) -> tuple[str, ...]:
    """Columns that hold an option each, in the order of their letters or numbers; () where there are no two."""
    for stem in ("", "any"):
        found = {
            match[1].casefold(): column
            for column in columns
            if column not in taken
            and (match := _OPTION.fullmatch(column.strip()))
            and (stem or len(column.strip()) == 1)
        }
        for marks in ("abcdefgh", "12345678"):
            run = [found[mark] for mark in marks if mark in found]
            if len(run) > 1 and [mark for mark in marks if mark in found] == list(marks[: len(run)]):
                return tuple(run)
    return ()


def picks_option(source: DataSource, listed: Sequence[str], answer: str) -> bool:
    """Whether every answer is a letter, a number or the text of an option."""
    letters = "abcdefgh"[: len(listed)]
    for row in source.rows:
        text = cell(row.get(answer)).strip().casefold()
        texts = {cell(row.get(column)).strip().casefold() for column in listed}
        number = text.isascii() and text.isdigit() and int(text) <= len(listed)
        if text and text not in texts and not (len(text) == 1 and text in letters) and not number:
            return False
    return True


def _named(column: str, known_names: Sequence[str]) -> float:
    """How early a column's whole name stands among `known_names`: at most 6, and 0 for none of them."""
    name = "_".join(words_of(column))
    return 6.0 - 0.05 * known_names.index(name) if name in known_names else 0.0


def _record(column: str) -> float:
    """What a name of something recorded takes away."""
    words = set(words_of(column))
    identity = bool(words & ID_WORDS) or ("key" in words and not words & ANSWER_WORDS)
    named = "_".join(words_of(column))
    return 4.0 * (bool(words & (RECORD_WORDS | FOREIGN_RECORDS)) or identity or named in (*IDS, *GROUPS))


def _either(words: Collection[str]) -> set[str]:
    """Words, and what those that end in s may be the plural of."""
    return {*words, *(word[:-1] for word in words if word.endswith("s"))}


def _lies_in_answer(column: str) -> bool:
    """Whether it is a part of an object that is called an answer: `answers.text`."""
    return any(set(words_of(part)) & ANSWER_WORDS for part in column.split(".")[:-1])


def _is_lone_part(name: str, columns: Mapping[str, ColumnProfile]) -> bool:
    """Whether it is all that the object around it says: the rest is recorded about it, or the same in every row."""
    around = name.split(".")[:-1]
    while around and not set(words_of(around[-1])) & ANSWER_WORDS:
        around.pop()
    return _saying(".".join(around), columns) == [name]


def _saying(around: str, columns: Mapping[str, ColumnProfile]) -> list[str]:
    """The parts of an object that say something which is not recorded about it and not the same in every row."""
    parts = [column for other, column in columns.items() if other.startswith(f"{around}.")]
    return [column.name for column in parts if not (column.objects or column.constant or _record(column.name))]


def _one_thing(source: DataSource, around: str, columns: Mapping[str, ColumnProfile]) -> str:
    """The part with most spellings where all that an object says is one thing, spelled in several ways; or ''."""
    saying = _saying(around, columns)
    spellings = [
        {name: _spelled(row.get(name)) for name in saying} for row in source.rows if not is_missing(row.get(around))
    ]
    if len(saying) < 2 or not all(set.intersection(*said.values()) for said in spellings):
        return ""
    return max(saying, key=lambda name: sum(len(said[name]) for said in spellings))


def _spelled(value: object) -> set[str]:
    return {cell(part).casefold().strip() for part in (value if isinstance(value, list) else [value])}


def _as_question(column: ColumnProfile) -> float:
    words = set(words_of(column.name))
    called = "_".join(words_of(column.name))
    weight = max(_named(column.name, (*QUESTIONS, "q")), 3.0 * bool(words & set(QUESTIONS)))
    weight = 2.0 if called in HEADINGS else weight - 2.0 * (column.code > 0.5 and called != "prompt")
    weight = max(weight, 2.0 * bool(words & COMPANION_WORDS)) + 2.0 * column.asks - 3.0 * _lies_in_answer(column.name)
    weight += min(3.0, column.words / 6.0) + column.unique - 3.0 * column.missing - 2.0 * column.sets
    told = column.words >= TELLS and column.distinct >= 0.9 * column.filled  # what a customer said, not which one
    grouped = called in GROUPS and column.unique
    weight -= _record(column.name) * (1.0 if not told else 0.0 if grouped else 0.5)
    weight -= 4.0 * (column.numbers + column.dates + column.addresses + column.objects) + 3.0 * column.lists
    return weight - 3.0 * bool(words & ANSWER_WORDS) - 2.0 * column.is_categorical - 5.0 * column.constant


def _as_answer(column: ColumnProfile, source: DataSource, columns: Mapping[str, ColumnProfile]) -> float:
    words = set(words_of(column.name)) if not column.name.endswith("?") else set()  # a question about the row
    answers = 4.0 * bool(_either(words) & (ANSWER_WORDS | FOREIGN_ANSWERS))
    within = 3.0 * (_lies_in_answer(column.name) and _is_lone_part(column.name, columns))
    amount = bool(_either(words) & AMOUNT_WORDS) and column.numbers == 1.0 and not column.is_categorical
    weak = 2.5 if amount else 1.0 * bool(_either(words) & WEAK_ANSWER_WORDS)
    weight = max(_named(column.name, (*ANSWERS, "a", "ans")), answers, within, weak) - 3.0 * column.asks
    weight += 1.5 * bool(words & SETTLED_WORDS) - 3.0 * bool(words & DOUBTFUL_WORDS) - _record(column.name)
    weight += (
        1.5 * (column.is_categorical or column.sets) + 0.5 * column.lists + 0.5 * (source.columns[-1] == column.name)
    )
    weight -= 3.0 * column.missing + 3.0 * (column.dates + column.addresses) + 6.0 * column.constant
    weight -= 2.0 * (column.words > 30.0) + 2.0 * bool(words and words <= HEADINGS)
    weight -= 2.0 * (column.is_token and column.numbers < 0.5 and len(source.columns) > 2)
    stem, _, part = column.name.rpartition(".")
    weight -= 6.0 * bool(set(words_of(stem)) & OPTION_WORDS)
    if stem in columns and column.filled < columns[stem].filled:
        weight -= 4.0  # what some of the objects have is no answer to all of them
    if column.objects:
        within_it = [other for other in columns.values() if other.name.startswith(f"{column.name}.")]
        whole = [other for other in within_it if other.filled == column.filled]
        lone = any(_is_lone_part(other.name, columns) for other in within_it)
        weight -= 3.0 * (lone or any(set(words_of(other.name)) & ANSWER_WORDS for other in whole))
    weight += 2.0 * (column.code > 0.5 and not column.lists)
    if stem in columns and columns[stem].objects and not words & ANSWER_WORDS and not within:
        weight -= 2.0 * (len(_saying(stem, columns)) > 1)  # one of several things that the object says
    weight -= 4.0 * any(f"{column.name}.{made}" in columns for made in (FINAL, LISTED))
    if stem in columns and part in (FINAL, LISTED):
        return _as_answer(replace(column, name=stem), source, {}) + (4.0 if part == FINAL else 0.5)
    return weight - 2.0 * (".0." in column.name)  # a part of a list that might hold more
