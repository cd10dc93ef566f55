"""Spans, quantities, schemas, SQL and code: what is right in other words is right, and no shortcut earns."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from data_env.rows import as_lines, environment, one_row, scored

from whet.envs.base import Environment
from whet.errors import WhetError
from whet.rollout.drive import drive
from whet.rollout.workbench import Workbench
from whet.types import Label, Reply, Rollout, Score, Ticket, Turn


@pytest.fixture(scope="module")
def bench() -> Iterator[Workbench]:
    with Workbench() as opened:
        yield opened


def graded(env: Environment, reply: str, bench: Workbench) -> Score:
    return drive(env.play(env.task("train", 0)), lambda said, asked: reply, bench).score


def told(env: Environment, reply: str) -> Any:
    """The feedback on a reply."""
    task = env.task("train", 0)
    turn = Turn("target", task.messages, Reply(reply))
    ticket = Ticket("train", "train", 0)
    return env.feedback(task, Rollout(ticket, Label("x"), "k", "r", "p", (turn,), scored(env, reply)))


# --------------------------------------------------------------------------------------------- quantities


@pytest.mark.parametrize(
    ("truth", "reply", "reason"),
    [
        ("12.5 kg", "12.5 kg", "correct"),
        ("12.5 kg", "It weighs 12,500 grams.", "correct"),
        ("12.5 kg", "12500g", "correct"),
        ("12.5 kg", "12.5", "no_unit"),
        ("12.5 kg", "12.5 km", "wrong_unit"),
        ("12.5 kg", "12.5 t", "wrong"),
        ("12.5 kg", "1 kg 2 kg 3 kg 12.5 kg 13 kg", "wrong"),
        ("3 MW", "3 mW", "wrong"),
        ("3 MW", "3 mw", "wrong_unit"),
        ("3 MB", "3000 kB", "correct"),
        ("90 min", "1.5 hours", "correct"),
        ("$1,250", "1250 dollars", "correct"),
        ("$1,250", "€1,250", "wrong_unit"),
        ("36 km/h", "10 m/s", "correct"),
        ("5 widgets", "5 widget", "correct"),
        ("5 widgets", "5 gadgets", "wrong_unit"),
        ("5 %", "0.05", "no_unit"),
        ("20 °", "20 degrees", "correct"),
    ],
)
def test_a_quantity_is_right_in_any_unit_of_its_kind_and_never_without_one(
    tmp_path: Path, truth: str, reply: str, reason: str
) -> None:
    assert scored(one_row(tmp_path, truth, check="quantity", answer="answer"), reply).reason == reason


def test_a_quantity_in_the_data_needs_a_unit(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="is not one number with a unit"):
        one_row(tmp_path, "12.5", check="quantity")


# --------------------------------------------------------------------------------------------- spans

TEXT = "Ada met Bruno in Paris on Monday"
SPANS = [{"start": 0, "end": 3, "label": "person"}, {"start": 8, "end": 13, "label": "person"}, [17, 22, "place"]]


def spans(folder: Path, truth: Any = SPANS) -> Environment:
    rows = [{"text": TEXT, "entities": truth}]
    path = as_lines(folder / "spans.jsonl", rows)
    labels = ["person", "place"]
    return environment(path, check="spans", answer="entities", source="text", labels=labels, split=[1.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("reply", "hard", "soft"),
    [
        (
            '[{"text":"Ada","label":"person"},{"text":"Bruno","label":"person"},{"text":"Paris","label":"place"}]',
            1,
            1.0,
        ),
        ('```json\n[["Paris","place"],["Ada","person"],["Bruno","PERSON"]]\n```', 1, 1.0),
        ('[{"start":0,"end":3,"label":"person"}]', 0, 1 / 3),
        ('[{"text":"Ada","label":"person"},{"text":"Ada","label":"person"}]', 0, 0.0),
        ("[]", 0, 0.0),
        ("Ada, Bruno, Paris", 0, 0.0),
        (orjson.dumps([{"text": TEXT, "label": "person"}]).decode(), 0, 0.0),
        (orjson.dumps([[w, label] for w in TEXT.split() for label in ("person", "place")]).decode(), 0, 0.0),
    ],
)
def test_spans_count_by_words_and_label_and_marking_everything_earns_nothing(
    tmp_path: Path, reply: str, hard: int, soft: float
) -> None:
    score = scored(spans(tmp_path), reply)
    assert (score.hard, score.soft) == (hard, pytest.approx(soft))


def test_a_text_without_spans_is_answered_by_an_empty_array(tmp_path: Path) -> None:
    env = spans(tmp_path, [])
    assert [scored(env, reply).hard for reply in ("[]", '[{"text":"Ada","label":"person"}]', "none")] == [1, 0, 0]


def test_feedback_names_spans_that_are_missing_and_wrong(tmp_path: Path) -> None:
    said = told(spans(tmp_path), '[{"text":"Ada","label":"place"},{"text":"Bruno","label":"person"}]')
    assert "missing: 'ada' (person), 'paris' (place)" in said.evidence
    assert "wrong: 'ada' (place)" in said.evidence


# --------------------------------------------------------------------------------------------- schemas

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "pattern": "^[A-Z]"}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("reply", "reason", "said"),
    [
        ('{"name": "Ada", "age": 36}', "correct", ""),
        ('{"name": "Ada", "age": "36"}', "misfit", "$.age is not integer"),
        ('{"name": "ada", "age": 36}', "misfit", "$.name does not match"),
        ('{"name": "Ada"}', "misfit", "$ has no 'age'"),
        ('{"name": "Ada", "age": 36, "all": true}', "misfit", "$.all must not be there"),
        ('{"name": "Bob", "age": 1}', "wrong", ""),
        ("{}", "misfit", "$ has no 'name'"),
        ("Ada is 36", "no_json", ""),
    ],
)
def test_an_object_must_fit_its_schema_before_its_fields_count(
    tmp_path: Path, bench: Workbench, reply: str, reason: str, said: str
) -> None:
    env = one_row(tmp_path, {"name": "Ada", "age": 36}, check="json", schema=SCHEMA)
    score = graded(env, reply, bench)
    assert score.reason == reason
    assert said in score.detail


def test_a_schema_alone_is_not_a_check(tmp_path: Path) -> None:
    path = as_lines(tmp_path / "rows.jsonl", [{"question": "Who?", "other": 1}])
    with pytest.raises(WhetError, match=r"say which column holds the right answer|name the columns"):
        environment(path, check="json", schema=SCHEMA)


def test_a_keyword_that_is_not_checked_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match=r"'minimun', which is not checked here\. Did you mean 'minimum'"):
        one_row(tmp_path, {"a": 1}, check="json", schema={"properties": {"a": {"minimun": 3}}})


def test_data_that_does_not_fit_its_own_schema_is_named(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match=r"row 1, column 'answer': does not fit the schema: \$ has no 'age'"):
        one_row(tmp_path, {"name": "Ada"}, check="json", schema=SCHEMA)


# --------------------------------------------------------------------------------------------- SQL

TABLES = """
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, total REAL);
INSERT INTO orders VALUES (1,'Ada',10),(2,'Bo',20.5),(3,'Ada',5),(4,'Cy',7),(5,'Bo',1),(6,'Di',3),(7,'Ada',2);
"""
QUERY = "SELECT customer, SUM(total) FROM orders GROUP BY customer"


def sql(folder: Path, query: str = QUERY, **args: Any) -> Environment:
    (folder / "shop.sql").write_text(TABLES)
    return one_row(folder, query, check="sql", database=str(folder / "shop.sql"), **args)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (QUERY, "correct"),
        ("```sql\nSELECT o.customer, TOTAL(o.total) FROM orders AS o GROUP BY 1 ORDER BY 2 DESC;\n```", "correct"),
        ("SELECT * FROM orders", "wrong"),
        ("SELECT 'Ada',17.0 UNION SELECT 'Bo',21.5 UNION SELECT 'Cy',7.0 UNION SELECT 'Di',3.0", "wrong"),
        ("SELECT SUM(total), customer FROM orders GROUP BY customer", "wrong"),
        ("DROP TABLE orders", "sql_error"),
        ("DELETE FROM orders", "sql_error"),
        (f"{QUERY}; DROP TABLE orders", "sql_error"),
        ("ATTACH '/etc/passwd' AS x", "sql_error"),
        ("PRAGMA writable_schema = 1", "sql_error"),
        ("SELECT load_extension('x')", "sql_error"),
        ("SELECT hex(zeroblob(2000000000))", "sql_error"),
        ("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n", "sql_error"),
        ("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n", "deadline"),
        ("I cannot", "sql_error"),
        ("", "no_answer"),
    ],
)
def test_a_query_is_right_by_its_rows_alone(tmp_path: Path, bench: Workbench, reply: str, reason: str) -> None:
    assert graded(sql(tmp_path, seconds=2.0), reply, bench).reason == reason


def test_an_answer_that_is_spelled_out_is_told_as_one(tmp_path: Path, bench: Workbench) -> None:
    score = graded(sql(tmp_path, "SELECT COUNT(*) FROM orders"), "SELECT 7", bench)
    assert score.soft == 0.0
    assert "other ones when rows of the tables are taken away" in score.detail


@pytest.mark.parametrize(("ordered", "hard"), [("auto", 0), ("no", 1)])
def test_order_counts_where_the_right_query_orders(tmp_path: Path, bench: Workbench, ordered: str, hard: int) -> None:
    env = sql(tmp_path, "SELECT id FROM orders ORDER BY total", ordered=ordered)
    score = graded(env, "SELECT id FROM orders", bench)
    assert score.hard == hard
    assert hard or "their order is not" in score.detail


def test_a_right_query_without_rows_is_refused_because_every_query_can_give_none(
    tmp_path: Path, bench: Workbench
) -> None:
    with pytest.raises(WhetError, match="row 1: the right query gives no row"):
        graded(sql(tmp_path, "SELECT id FROM orders WHERE id > 99"), "SELECT 1 WHERE 0", bench)


def test_tables_come_from_a_sqlite_file_or_from_the_row(tmp_path: Path, bench: Workbench) -> None:
    with sqlite3.connect(tmp_path / "shop.sqlite") as base:
        base.executescript(TABLES)
    env = one_row(tmp_path, QUERY, check="sql", database=str(tmp_path / "shop.sqlite"))
    assert graded(env, QUERY, bench).hard == 1
    path = as_lines(tmp_path / "own.jsonl", [{"question": "Sums?", "answer": QUERY, "tables": TABLES}])
    env = environment(path, check="sql", database="tables", answer="answer", split=[1.0, 0.0, 0.0])
    assert graded(env, QUERY, bench).hard == 1


# --------------------------------------------------------------------------------------------- code

TESTS = """
import math
values = [3, 1, 2]
assert add(1, 2) == 3
assert add(-1, 1) == 0
assert sorted([add(2, 2), add(0, 1)]) == [1, 4]
assert math.isclose(add(0.1, 0.2), 0.3)
"""
CHEATS = {
    "exit": "import sys\nsys.exit(0)",
    "hard exit": "import os\nos._exit(0)",
    "exit in the call": "import os\ndef add(a, b):\n    os._exit(0)",
    "says it passed": "import os\ndef add(a, b):\n    return 0\n"
    'for n in range(20):\n    try:\n        os.write(n, b\'{"results": [["x", ""]]}\')\n'
    "    except OSError:\n        pass",
    "equals everything": "class All:\n    def __eq__(self, other):\n        return True\n    __hash__ = None\n"
    "    def __lt__(self, other):\n        return True\ndef add(a, b):\n    return All()",
    "a number that equals everything": "class All(int):\n    def __eq__(self, other):\n        return True\n"
    "def add(a, b):\n    return All(0)",
    "other words of the language": "import builtins\ndef sorted(x):\n    return [1, 4]\ndef add(a, b):\n    return 0\n"
    "builtins.AssertionError = Exception\nclass math:\n    @staticmethod\n    def isclose(a, b):\n        return True",
    "reads the tests": "import sys, glob\ndef add(a, b):\n    return 0\n"
    "assert not sys.stdin.read()\nassert glob.glob('*') == ['solution.py'], glob.glob('*')",
    "writes over the code": "open('solution.py', 'w').write('x')\ndef add(a, b):\n    return 0",
    "frames": "import sys, gc\ndef add(a, b):\n    f = sys._getframe()\n    while f:\n"
    "        f.f_globals.update(results=[['x', '']])\n        f = f.f_back\n    return 0",
    "raises": "def add(a, b):\n    raise AssertionError",
    "processes": "import os\nfor _ in range(4):\n    if os.fork() == 0:\n        while True: pass\n"
    "def add(a, b):\n    return 0",
    "nothing": "pass",
    "prose": "I cannot do that, sorry",
}


def code(folder: Path, tests: Any = TESTS, **more: Any) -> Environment:
    path = as_lines(folder / "code.jsonl", [{"question": "Write add(a, b).", "tests": tests, **more}])
    entry = {"entry": "entry"} if "entry" in more else {}
    return environment(path, check="code", tests="tests", split=[1.0, 0.0, 0.0], seconds=4.0, **entry)


def test_code_that_does_what_the_tests_say_is_right(tmp_path: Path, bench: Workbench) -> None:
    score = graded(code(tmp_path), "Sure:\n```python\ndef add(a, b):\n    return a + b\n```", bench)
    assert (score.hard, dict(score.parts)) == (1, {"passed": 4, "tests": 4})


def test_credit_is_the_share_of_tests_and_each_failure_is_told(tmp_path: Path, bench: Workbench) -> None:
    score = graded(code(tmp_path), "def add(a, b):\n    return abs(a) + b", bench)
    assert (score.soft, score.reason) == (0.75, "partial")
    assert "assert add(-1, 1) == 0 -> AssertionError: got 2, not == 0" in score.detail


@pytest.mark.parametrize("cheat", CHEATS)
def test_no_shortcut_past_the_tests_earns(tmp_path: Path, bench: Workbench, cheat: str) -> None:
    score = graded(code(tmp_path), CHEATS[cheat], bench)
    assert (score.hard, score.soft <= 0.25) == (0, True), score


@pytest.mark.parametrize(
    ("tests", "more", "reply"),
    [
        (["assert add(1, 2) == 3", "assert add(0, 0) == 0"], {}, "def add(a, b): return a + b"),
        ("def check(candidate):\n    assert candidate(1, 2) == 3\n", {"entry": "add"}, "def add(a, b): return a + b"),
        ("def test_it():\n    assert add(1, 2) == 3\n", {}, "def add(a, b): return a + b"),
        ("x = [2, 1]\nput_in_order(x)\nassert x == [1, 2]", {}, "def put_in_order(x): x.sort()"),
        ("s = Stack()\ns.push((1, 'a'))\nassert s.pop() == (1, 'a')", {}, "class Stack(list):\n    push = list.append"),
        ("assert list(up_to(3)) == [0, 1, 2]", {}, "def up_to(n):\n    yield from range(n)"),
        (
            "try:\n    half('x')\nexcept TypeError:\n    pass\nelse:\n    raise AssertionError\nassert half(3) == 1.5",
            {},
            "def half(n):\n    return n / 2",
        ),
        (
            "assert f() == {1: {2, 3}, (4,): b'x', None: float('inf')}",
            {},
            "def f(): return {1: {2, 3}, (4,): b'x', None: float('inf')}",
        ),
    ],
)
def test_tests_come_in_the_forms_that_people_write(
    tmp_path: Path, bench: Workbench, tests: Any, more: dict[str, str], reply: str
) -> None:
    score = graded(code(tmp_path, tests, **more), reply, bench)
    assert score.hard == 1, score.detail


def test_code_that_does_not_end_is_ended(tmp_path: Path, bench: Workbench) -> None:
    assert graded(code(tmp_path), "def add(a, b):\n    while True: pass", bench).reason == "deadline"


def test_a_row_without_tests_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="holds no assertion and no test_ function"):
        code(tmp_path, "x = 1")


# --------------------------------------------------------------------------------------------- one-hot labels


def test_columns_of_labels_are_a_set(tmp_path: Path) -> None:
    path = as_lines(tmp_path / "hot.jsonl", [{"text": "You fool", "toxic": 1, "threat": "no", "insult": True}])
    columns = ["toxic", "threat", "insult"]
    env = environment(path, check="set", label_columns=columns, prompt="{text}", split=[1.0, 0.0, 0.0])
    scores = {reply: scored(env, reply).soft for reply in ("insult, toxic", "toxic, threat, insult", "none", "toxic")}
    assert scores == {"insult, toxic": 1.0, "toxic, threat, insult": 0.0, "none": 0.0, "toxic": 0.5}
    with pytest.raises(WhetError, match="must not be shown"):
        environment(path, check="set", label_columns=columns, prompt="{text} {toxic}")
