"""Twelve files as well-known tools export them, written from a list of kinds before the code that reads them was seen.

A help desk, a labelling tool, multiple choice and reading comprehension as published, a quiz with columns `q`, `a`.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from init.shapes import Shape, lines, parquet, table

PEOPLE = ("Ana", "Bo", "Chi", "Dee", "Emre", "Fay")
THINGS = ("invoice", "login page", "export", "mobile app", "webhook", "dashboard", "seat count", "report")
TROUBLE = ("fails", "is slow", "shows the wrong total", "went missing", "was charged twice", "keeps spinning")


def saying(rng: random.Random) -> str:
    days = rng.randrange(2, 400)
    return f"{rng.choice(PEOPLE)} says the {rng.choice(THINGS)} {rng.choice(TROUBLE)} since {days} days, please help."


def help_desk(rng: random.Random) -> list[dict[str, Any]]:
    kinds = ("Billing", "Bug", "How-to", "Account access", "Feature request")
    return [
        {
            "Ticket ID": f"ZD-{88120 + i}",
            "Created at": f"2024-03-{1 + i % 28:02} 10:{i % 60:02}",
            "Requester": f"{rng.choice(PEOPLE).lower()}{i}@example.com",
            "Channel": rng.choice(("email", "chat", "web")),
            "Priority": rng.choice(("low", "normal", "high", "urgent")),
            "Status": rng.choice(("solved", "closed")),
            "Subject": f"{rng.choice(THINGS)} {rng.choice(TROUBLE)}",
            "Description": saying(rng),
            "Full resolution time (h)": round(rng.random() * 40, 1),
            "Satisfaction": rng.choice(("", "good", "bad")),
            "Plan": rng.choice(("free", "pro", "team")),
            "Predicted category": rng.choice(kinds),
            "Model confidence": round(rng.random(), 2),
            "Final category": rng.choice(kinds),
            "Notes": "",
        }
        for i in range(60)
    ]


def labelling_tool(rng: random.Random) -> list[dict[str, Any]]:
    """Each task has one annotation, which has one result: what was chosen lies in lists of one object."""
    return [
        {
            "id": i + 1,
            "annotations": [
                {
                    "id": 900 + i,
                    "completed_by": {"id": rng.randrange(1, 4), "email": "qa@example.com"},
                    "result": [
                        {
                            "value": {"choices": [rng.choice(("Positive", "Negative", "Neutral"))]},
                            "id": f"x{i}",
                            "from_name": "sentiment",
                            "to_name": "text",
                            "type": "choices",
                        }
                    ],
                    "was_cancelled": False,
                    "created_at": "2024-03-12T10:00:00Z",
                    "lead_time": round(rng.random() * 30, 2),
                }
            ],
            "data": {"text": saying(rng), "source": rng.choice(("app store", "survey"))},
            "meta": {},
            "created_at": "2024-03-01T09:00:00Z",
            "project": 7,
        }
        for i in range(45)
    ]


def emotions(rng: random.Random) -> list[dict[str, Any]]:
    names = ("joy", "anger", "sadness", "surprise", "fear", "gratitude")
    return [
        {
            "comment_id": f"e{i}x",
            "subreddit": rng.choice(("aww", "news", "AskHistorians")),
            "created_utc": 1546300800 + rng.randrange(10**6),
            "comment": saying(rng),
            "emotions": ", ".join(rng.sample(names, rng.choice((1, 1, 1, 2, 2, 3)))),
        }
        for i in range(60)
    ]


def science(rng: random.Random) -> list[dict[str, Any]]:
    rows = []
    for i in range(40):
        stones, shells = rng.randrange(2, 40), rng.randrange(2, 40)
        options = [stones + shells, stones + shells + 1, stones * shells + 200, abs(stones - shells) + 100]
        rng.shuffle(options)
        stem = f"A student puts {stones} stones and {shells} shells in a box. How many things are in the box?"
        choices = [{"text": str(text), "label": letter} for text, letter in zip(options, "ABCD", strict=True)]
        key = "ABCD"[options.index(stones + shells)]
        rows.append({"id": f"M_{7000 + i}", "question": {"stem": stem, "choices": choices}, "answerKey": key})
    return rows


def reading(rng: random.Random) -> list[dict[str, Any]]:
    rows = []
    for i in range(48):
        person, year = rng.choice(PEOPLE), str(rng.randrange(1700, 1999))
        context = f"The {rng.choice(THINGS)} of Lyon was built by {person} in {year}. It was rebuilt {i} years later."
        who = rng.random() < 0.5
        answer = person if who else year
        rows.append(
            {
                "id": f"{rng.getrandbits(96):024x}",
                "title": "Lyon",
                "context": context,
                "question": "Who built it?" if who else "When was it built?",
                "answers": {"text": [answer], "answer_start": [context.index(answer)]},
            }
        )
    return rows


def array(rows: Sequence[Any]) -> Any:
    return lambda path: path.write_text(json.dumps(rows, indent=1), encoding="utf-8") and None


def with_mark(rows: list[dict[str, Any]]) -> Any:
    """A table as a spreadsheet saves it, with the mark of its encoding in front."""

    def write(path: Path) -> None:
        table(rows)(path)
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())

    return write


def fourth_shapes() -> list[Shape]:
    rng = random.Random(41)
    chinese = [
        {
            "编号": i + 1,
            "用户": rng.choice(("小王", "李雷", "韩梅梅")),
            "评论内容": f"{rng.choice(('这个手机', '快递'))}{rng.choice(('非常好', '太差了'))}，用了{i}天。",
            "情感": rng.choice(("正面", "负面", "中性")),
            "日期": f"2024/3/{1 + i % 28}",
        }
        for i in range(50)
    ]
    intents = [
        {
            "utt_id": f"u-{i:04}",
            "utterance": saying(rng),
            "Intent": ("", "N/A", "-")[i // 7 % 3] if i % 7 == 0 else rng.choice(("cancel", "baggage", "refund")),
            "customer_tier": rng.choice(("", "", "vip")),
            "qa_status": rng.choice(("checked", "", "todo")),
            "comment": "",
        }
        for i in range(50)
    ]
    turns = [
        {
            "conversation_id": f"conv_{i // 5:03}",
            "turn": i % 5,
            "speaker": rng.choice(("agent", "customer")),
            "utterance": saying(rng),
            "dialogue_act": rng.choice(("question", "statement", "request", "acknowledge")),
        }
        for i in range(70)
    ]
    sums = []
    for i in range(40):
        cups, price = rng.randrange(3, 400), rng.choice((2, 3.5, 4.25, 12, 250))
        total = cups * price
        sums.append(
            {
                "No.": i + 1,
                "Problem": f"{rng.choice(PEOPLE)} sells {cups} cups at ${price} each. How much money is that?",
                "Worked solution": f"Each cup is ${price}. {cups} x {price} = {total}. So the total is ${total:,.2f}.",
                "Answer": f"${total:,.2f}" if i % 3 else f"{total}",
                "Difficulty": rng.choice(("easy", "medium", "hard")),
            }
        )
    invoices = []
    for i in range(40):
        bill = {"customer": rng.choice(PEOPLE), "date": f"2024-03-{1 + i % 28:02}", "total": i * 17.25}
        text = f"INVOICE {1000 + i}\n\nBill to: {bill['customer']} Ltd\nDate: {bill['date']}\n\nDue EUR {bill['total']}"
        split = rng.choice(("train", "test"))
        invoices.append(
            {"doc_id": f"inv_{i}", "invoice_text": text, "expected_output": json.dumps(bill), "split": split}
        )
    quiz = [
        {"q": question, "a": answer}
        for question, answer in (
            ("Capital of France?", "Paris"),
            ("Capital of Japan?", "Tokyo"),
            ("Who wrote Hamlet?", "William Shakespeare"),
            ("Largest planet?", "Jupiter"),
            ("Chemical symbol of gold?", "Au"),
            ("Year of the moon landing?", "1969"),
            ("Longest river of Africa?", "Nile"),
        )
    ]
    news = [
        {
            "url": f"https://news.example.com/{i}/story",
            "byline": f"By {rng.choice(PEOPLE)}",
            "published": f"2023-03-{1 + i % 28:02}",
            "headline": f"{rng.choice(THINGS)} {rng.choice(TROUBLE)}, no. {i}",
            "body": "\n\n".join(" ".join(saying(rng) for _ in range(12)) for _ in range(6)),
            "section": rng.choice(("Business", "Sports", "World", "Culture")),
        }
        for i in range(30)
    ]
    chosen = "annotations.0.result.0.value.choices"
    return [
        Shape("fourth_wide", ".csv", table(help_desk(rng)), "Final category", "choice", ["Subject", "Description"]),
        Shape("fourth_nested", ".json", array(labelling_tool(rng)), chosen, "choice", ["data.text"]),
        Shape("fourth_multi_label", ".csv", table(emotions(rng)), "emotions", "set", ["comment"]),
        Shape(
            "fourth_multiple_choice",
            ".jsonl",
            lines(science(rng)),
            "answerKey",
            "choice",
            ["question.stem", "question.choices.text"],
        ),
        Shape("fourth_unicode", ".csv", with_mark(chinese), "情感", "choice", ["评论内容"]),
        Shape("fourth_missing", ".csv", table(intents), "Intent", "choice", ["utterance"], mended={"skip_missing": 1}),
        Shape(
            "fourth_grouped",
            ".tsv",
            table(turns, "\t"),
            "dialogue_act",
            "choice",
            ["utterance"],
            {"group": "conversation_id"},
        ),
        Shape("fourth_numbers", ".csv", table(sums), "Answer", "number", ["Problem"]),
        Shape("fourth_json", ".jsonl", lines(invoices), "expected_output", "json", ["invoice_text"]),
        Shape("fourth_tiny", ".csv", table(quiz), "a", "em", ["q"]),
        Shape("fourth_long", ".jsonl", lines(news), "section", "choice", ["headline", "body"]),
        Shape("fourth_parquet", ".parquet", parquet(reading(rng)), "answers.text", "em", ["context", "question"]),
    ]
