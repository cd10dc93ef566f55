"""Files that nothing was tuned on: other languages, exports, pairs, spans, codes, two annotators, ids everywhere."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from init.shapes import Shape, lines, table

PLACES = ("Lübeck", "Pécs", "Örebro", "Gdynia", "Cádiz", "Évora", "Split", "Turku", "Ghent", "Cork", "Bari", "Brno")
THINGS = (
    "lamp",
    "bicycle",
    "kettle",
    "jacket",
    "ladder",
    "guitar",
    "tent",
    "mirror",
    "drill",
    "carpet",
    "radio",
    "oven",
)


def told(rng: random.Random, number: int) -> str:
    """A text of its own for each row."""
    first, second = rng.sample(THINGS, 2)
    place, other = rng.sample(PLACES, 2)
    return (
        f"On day {number} somebody in {place} sold a {first} for {rng.randrange(5, 900)} and drove to {other} "
        f"with a {second} that {rng.choice(('leaked', 'was new', 'had no plug', 'smelled of smoke'))}."
    )


def other_shapes() -> list[Shape]:
    rng = random.Random("other shapes of files")
    n = range(60)
    german = [
        {"Lfd. Nr.": i + 1, "Anfrage": told(rng, i), "Abteilung": ("Einkauf", "Versand", "Technik")[i * 7 % 3]}
        for i in n
    ]
    chinese = [{"序号": i + 1, "文本": told(rng, i), "标签": ("正面", "负面")[i * 5 % 2]} for i in n]
    first = [
        {"verdict": ("spam", "ham")[rng.randrange(2)], "mail": told(rng, i), "sent": f"2026-03-{1 + i % 28:02}"}
        for i in n
    ]
    survey = [
        {
            "Timestamp": f"2026/03/{1 + i % 28:02} 10:{i % 60:02}:00",
            "What is your age group?": ("18-29", "30-44", "45-64")[i % 3],
            "Please describe, in your own words, what happened when you last contacted our support team": told(rng, i),
            "Overall, how would you classify this contact? [coded by the research team]": ("good", "bad", "mixed")[
                i * 7 % 3
            ],
        }
        for i in n
    ]
    chat = [
        {
            "conversation_id": f"c{i}",
            "messages": [{"role": "user", "content": told(rng, i)}],
            "last_message": told(rng, i),
            "resolution": ("solved", "escalated", "abandoned")[i * 7 % 3],
        }
        for i in n
    ]
    nli = [
        {
            "pairID": f"p{i}",
            "sentence1": told(rng, i),
            "sentence2": told(rng, 99 - i),
            "gold_label": ("e", "n", "c")[i * 7 % 3],
        }
        for i in n
    ]
    sql = [
        {
            "db_id": f"shop_{i % 7}",
            "question": f"How many {rng.choice(THINGS)}s were sold in {rng.choice(PLACES)} after day {i}?",
            "query": f"SELECT count(*) FROM sales WHERE place = '{rng.choice(PLACES)}' AND day > {i}",
        }
        for i in n
    ]
    spans = [
        {"document": told(rng, i), "entities": [{"start": 3, "end": 9, "text": rng.choice(PLACES), "type": "place"}]}
        for i in n
    ]
    prices = [
        {
            "sku": f"S{i:05}",
            "description": told(rng, i),
            "currency": "EUR",
            "price": f"{rng.randrange(5, 900)}.{i % 100:02}",
        }
        for i in n
    ]
    dates = [{"letter": told(rng, i), "due_date": f"2026-{1 + i % 12:02}-{1 + i % 28:02}"} for i in n]
    ids = [
        {
            "row_uuid": f"{rng.getrandbits(64):016x}",
            "account_id": f"A{i % 20}",
            "thread_id": f"T{i}",
            "body": told(rng, i),
            "team_id": f"team-{i * 7 % 4}",
            "reason_label": ("late", "broken", "missing")[i * 7 % 3],
        }
        for i in n
    ]
    onehot = []
    for i in n:
        marks = rng.sample(("toxic", "insult", "threat", "spam"), i % 3)
        onehot.append(
            {
                "comment_text": told(rng, i),
                **{name: int(name in marks) for name in ("toxic", "insult", "threat", "spam")},
            }
        )
    annotators = [
        {"text": told(rng, i), "label_anna": ("yes", "no")[i * 7 % 2], "label_ben": ("yes", "no")[i * 5 % 3 % 2]}
        for i in n
    ]
    quoted = [
        {
            "passage": f'{told(rng, i)}\nHe said "no\tway".',
            "question": f"What was sold on day {i}?",
            "answer": f"a {rng.choice(THINGS)}",
        }
        for i in n
    ]
    codes = [{"complaint": told(rng, i), "NAICS": (441110, 452210, 722511, 811111)[i * 7 % 4]} for i in n]
    doubled = [
        row
        for row in ({"utterance": told(rng, i), "intent": ("buy", "sell")[i * 7 % 2]} for i in range(30))
        for _ in "ab"
    ]
    code = [
        {
            "task_id": f"T/{i}",
            "prompt": f"def f{i}(x):\n    # adds {i} to x and gives the sum back to whoever asked for it\n",
            "canonical_solution": f"    return x + {i}\n",
            "test": f"assert f{i}(1) == {1 + i}",
        }
        for i in n
    ]
    plain: Mapping[str, Any] = {}
    return [
        Shape("german", ".csv", table(german, ";"), "Abteilung", "choice", ["Anfrage"]),
        Shape("chinese", ".csv", table(chinese), "标签", "choice", ["文本"]),
        Shape("answer-first", ".csv", table(first), "verdict", "choice", ["mail"]),
        Shape("survey", ".csv", table(survey), list(survey[0])[3], "choice", [list(survey[0])[2]]),
        Shape("chat", ".jsonl", lines(chat), "resolution", "choice", ["messages.conversation"], plain),
        Shape("nli", ".jsonl", lines(nli), "gold_label", "choice", ["sentence1", "sentence2"]),
        Shape("sql", ".jsonl", lines(sql), "query", "exact", ["question"]),
        Shape("spans", ".jsonl", lines(spans), "entities", "spans", ["document"]),
        Shape("prices", ".csv", table(prices), "price", "number", ["description"]),
        Shape("dates", ".csv", table(dates), "due_date", "em", ["letter"]),
        Shape("ids", ".csv", table(ids), "reason_label", "choice", ["body"], {"group": "account_id"}),
        Shape("one-hot", ".csv", table(onehot), "toxic", "choice", ["comment_text"], plain, {"answer": "toxic"}),
        Shape("annotators", ".csv", table(annotators), "label_ben", "choice", ["text"], plain, {"answer": "label_ben"}),
        Shape("quotes", ".tsv", table(quoted, "\t"), "answer", "em", ["passage", "question"], plain, {"check": "em"}),
        Shape("codes", ".csv", table(codes), "NAICS", "choice", ["complaint"]),
        Shape("doubled", ".csv", table(doubled), "intent", "choice", ["utterance"]),
        Shape("code", ".jsonl", lines(code), "canonical_solution", "command", ["prompt"], plain, {"check": "exact"}),
    ]
