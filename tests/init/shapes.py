"""Files of different shapes, as people have them, each with what a careful reader would make of it."""

from __future__ import annotations

import csv
import importlib
import io
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SAYINGS = (
    *("the parcel never came", "I was charged twice", "the screen stays black", "please close my account"),
    *("where is my refund", "the app is slow today", "the chair arrived broken", "I cannot log in any more"),
    *("great service, thank you", "the invoice has a wrong address", "my card was declined", "how do I change my plan"),
)


@dataclass(frozen=True, slots=True)
class Shape:
    """A file and what it means. `mended` is the one option that sets right what may be read otherwise."""

    name: str
    ending: str
    write: Callable[[Path], None]
    answer: str
    check: str
    asked: Sequence[str]
    args: Mapping[str, Any] = field(default_factory=dict)
    mended: Mapping[str, Any] = field(default_factory=dict)


def text(rng: random.Random, number: int) -> str:
    first, second = rng.sample(SAYINGS, 2)
    return f"Hello, {first} and {second}; this is about matter {number}, which began {rng.randrange(2, 90)} days ago."


def table(rows: Sequence[Mapping[str, Any]], delimiter: str = ",") -> Callable[[Path], None]:
    def write(path: Path) -> None:
        page = io.StringIO()
        writer = csv.DictWriter(page, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
        path.write_text(page.getvalue(), encoding="utf-8")

    return write


def lines(rows: Sequence[Mapping[str, Any]]) -> Callable[[Path], None]:
    return lambda path: path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8") and None


def parquet(rows: Sequence[Mapping[str, Any]]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        arrow, parts = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
        parts.write_table(arrow.Table.from_pylist(list(rows)), path)

    return write


def shapes() -> list[Shape]:
    rng = random.Random("shapes of files")
    n = range(60)
    moods = ["positive", "negative", "neutral"]
    reviews = [
        {
            "Review ID": f"R-{i:04}",
            "Date": f"2026-{1 + i % 12:02}-{1 + i % 28:02}",
            "Stars": "n/a" if i % 9 == 0 else str(1 + i % 5),
            "Review Text": text(rng, i),
            "Reviewer": f"user{i % 17}",
            "Sentiment (draft)": moods[i % 2],
            "Sentiment (final)": moods[(i * 7) % 3],
            "": "",
        }
        for i in n
    ]
    topics = ["billing", "refund", "speed", "login", "delivery"]
    multi = [
        {"ticket": text(rng, i), "channel": ("web", "phone")[i % 2], "labels": sorted(rng.sample(topics, 1 + i % 3))}
        for i in n
    ]
    nested = [
        {
            "doc": {"title": f"Case {i}", "body": text(rng, i)},
            "annotation": {"label": topics[i % 4], "annotator": f"a{i % 3}", "at": "2026-02-03T10:11:12"},
        }
        for i in n
    ]
    quiz = [
        {
            "qid": i,
            "question": f"Which of these is number {i}?",
            **{f"option_{letter}": f"thing {i}{letter}" for letter in "abcd"},
            "correct": f"thing {i}{'abcd'[i % 4]}",
        }
        for i in n
    ]
    unicode = [
        {"问题": f"第{i}号请求:{rng.choice('屏幕包裹账号')}坏了怎么办,请尽快答复谢谢", "标签": "甲乙丙"[i % 3]}
        for i in n
    ]
    holes = [{"message": text(rng, i), "intent": "" if i % 10 == 3 else topics[i % 3]} for i in n]
    grouped = [
        {"patient_id": f"P{i // 4}", "note": text(rng, i), "diagnosis": ("flu", "cold", "none")[i % 3]} for i in n
    ]
    numbers = [{"problem": f"Add {i} and {i * 3} to {i * i}.", "steps": 2, "result": i + i * 3 + i * i} for i in n]
    objects = [
        {"text": text(rng, i), "output": {"city": f"C{i % 7}", "people": i % 5, "urgent": i % 2 == 0}} for i in n
    ]
    tiny = [{"q": f"Capital of land {i}?", "a": f"City {i}"} for i in range(8)]
    longer = [
        {
            "article": " ".join(text(rng, i * 40 + j) for j in range(40)),
            "summary": f"{text(rng, i)} {text(rng, i + 1)} " * 2,
        }
        for i in range(24)
    ]
    packed = [{"text": text(rng, i), "tags": "; ".join(rng.sample(topics, 1 + i % 3)), "lang": "en"} for i in n]
    answers = [
        {
            "id": f"{i:08x}",
            "context": text(rng, i),
            "question": f"Who called about matter {i}?",
            "answers": [f"Ann {i}", f"A. {i}"],
        }
        for i in n
    ]
    stars = [{"Comment": text(rng, i), "Country": ("DE", "FR")[i % 2], "Stars": 1 + (i * 3) % 5} for i in n]
    emails = [{"subject": f"Matter {i}", "body": text(rng, i), "assigned_team": topics[i % 3]} for i in n]
    doubtful = [{"text": text(rng, i), "mood": moods[i % 3], "team": topics[i % 4]} for i in n]
    return [
        Shape("doubtful", ".csv", table(doubtful), "team", "choice", ["text"], mended={"answer": "team"}),
        Shape("wide", ".csv", table(reviews), "Sentiment (final)", "choice", ["Review Text"]),
        Shape("multi_label", ".jsonl", lines(multi), "labels", "set", ["ticket"], {"labels": sorted(topics)}),
        Shape("nested", ".jsonl", lines(nested), "annotation.label", "choice", ["doc.body"]),
        Shape("multiple_choice", ".csv", table(quiz), "correct", "choice", ["question"]),
        Shape("unicode", ".csv", table(unicode), "标签", "choice", ["问题"]),
        Shape("missing", ".csv", table(holes), "intent", "choice", ["message"], mended={"skip_missing": True}),
        Shape("grouped", ".csv", table(grouped), "diagnosis", "choice", ["note"], {"group": "patient_id"}),
        Shape("numbers", ".jsonl", lines(numbers), "result", "number", ["problem"]),
        Shape("json", ".jsonl", lines(objects), "output", "json", ["text"]),
        Shape("tiny", ".csv", table(tiny), "a", "em", ["q"]),
        Shape("long", ".jsonl", lines(longer), "summary", "f1", ["article"], mended={"check": "rubric"}),
        Shape("parquet", ".parquet", parquet(reviews_plain(rng)), "label", "choice", ["text"]),
        Shape("packed_labels", ".tsv", table(packed, "\t"), "tags", "set", ["text"], {"separator": ";"}),
        Shape("accepted", ".jsonl", lines(answers), "answers", "em", ["context", "question"], mended={"check": "set"}),
        Shape("stars", ".csv", table(stars, ";"), "Stars", "choice", ["Comment"]),
        Shape("emails", ".csv", table(emails), "assigned_team", "choice", ["subject", "body"]),
    ]


def reviews_plain(rng: random.Random) -> list[dict[str, Any]]:
    return [{"text": text(rng, i), "label": i % 2, "__index_level_0__": i} for i in range(60)]
