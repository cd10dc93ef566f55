"""Twelve more files, written from a list of kinds (wide, nested, ...) before the code that reads them was seen."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from init.shapes import Shape, lines, parquet, table

PEOPLE = ("Ada", "Bruno", "Chiara", "Dmitri", "Esi", "Farid", "Greta", "Hugo")
THINGS = ("kettle", "router", "backpack", "lamp", "headset", "blender", "monitor", "tent")
TROUBLE = (
    *(
        "stopped working after a week",
        "was delivered to a neighbour",
        "is smaller than in the picture",
        "smells of glue",
    ),
    *("came without the cable", "was charged at the old price", "cannot be paired with my phone", "has a cracked lid"),
)


def story(rng: random.Random, sentences: int = 2) -> str:
    return " ".join(
        f"{rng.choice(PEOPLE)}'s {rng.choice(THINGS)} {rng.choice(TROUBLE)} on day {rng.randrange(1, 400)}."
        for _ in range(sentences)
    )


def one_hot(rng: random.Random) -> list[dict[str, Any]]:
    names = ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate")
    return [
        {"id": f"{rng.getrandbits(64):016x}", "comment_text": story(rng), **{name: rng.randrange(2) for name in names}}
        for _ in range(60)
    ]


def wide(rng: random.Random) -> list[dict[str, Any]]:
    return [
        {
            "Ticket #": 88000 + i,
            "Created At": f"2026-03-{1 + i % 28:02} 09:{i % 60:02}",
            "Updated At": f"2026-04-{1 + i % 28:02} 17:{i % 60:02}",
            "Requester Email": f"{rng.choice(PEOPLE).lower()}{i}@example.org",
            "Brand": rng.choice(("Nord", "Sued")),
            "Via": rng.choice(("web", "mail", "chat")),
            "Subject": f"{rng.choice(THINGS)} order {i}",
            "Description": story(rng, 3),
            "First Reply Time (min)": rng.randrange(1, 900),
            "CSAT": rng.choice(("", "1", "4", "5")),
            "Agent": rng.choice(PEOPLE),
            "Internal Notes": "",
            "Escalated": rng.choice(("TRUE", "FALSE")),
            "Resolution Category": rng.choice(("refund", "replacement", "advice", "no action")),
        }
        for i in range(80)
    ]


def russian(path: Path) -> None:
    rng = random.Random("russian")
    rows = [
        f"Здравствуйте, заказ {i} {rng.choice(('не пришёл', 'сломан', 'оплачен дважды'))}, прошу помочь;"
        f"{rng.choice(('доставка', 'оплата', 'возврат'))};{rng.choice(('Казань', 'Омск', 'Тверь', 'Псков'))}"
        for i in range(60)
    ]
    path.write_text("\n".join(["текст обращения;категория;регион", *rows]), encoding="utf-8-sig")


def third_shapes() -> list[Shape]:
    rng = random.Random("a third dozen")
    acts = ("inform", "request", "confirm", "greet", "bye")
    nested = [
        {
            "meta": {"id": f"c-{i}", "source": rng.choice(("app", "phone")), "model": "v3"},
            "conversation": {"customer": story(rng), "history_len": rng.randrange(9)},
            "gold": {"intent": rng.choice(("cancel_order", "track_order", "complain"))},
        }
        for i in range(60)
    ]
    quiz = [
        {
            "question": f"What does {rng.choice(PEOPLE)} need when the {rng.choice(THINGS)} number {i} fails?",
            "subject": rng.choice(("household", "logistics")),
            "choices": [f"{thing} {i}" for thing in rng.sample(THINGS, 4)],
            "answer": rng.randrange(4),
        }
        for i in range(60)
    ]
    holes = [
        {
            "utterance": story(rng),
            "annotator_1": rng.choice(("pos", "neg")),
            "annotator_2": rng.choice(("pos", "neg", "")),
            "gold": "N/A" if i % 12 == 5 else rng.choice(("pos", "neg")),
        }
        for i in range(72)
    ]
    dialogues = [
        {
            "dialogue_id": f"dlg{i // 5}",
            "turn": i % 5,
            "speaker": ("agent", "customer")[i % 2],
            "utterance": story(rng, 1),
            "dialogue_act": rng.choice(acts),
        }
        for i in range(100)
    ]
    sums = [
        {
            "problem": f"{rng.choice(PEOPLE)} buys {i + 2} {rng.choice(THINGS)}s at ${3 * i + 1} each. How much?",
            "solution": f"{i + 2} times {3 * i + 1} is {(i + 2) * (3 * i + 1)}.",
            "final_answer": f"${(i + 2) * (3 * i + 1):,}",
        }
        for i in range(60)
    ]
    mails = [
        {
            "email_body": story(rng, 3),
            "extracted": json.dumps({"name": rng.choice(PEOPLE), "product": rng.choice(THINGS), "amount": i * 1.5}),
        }
        for i in range(60)
    ]
    dates = [{"prompt": f"{3 + i} March 20{20 + i}", "completion": f"20{20 + i}-03-{3 + i:02}"} for i in range(6)]
    contracts = [
        {
            "document": story(rng, 200),
            "question": f"Whose {rng.choice(THINGS)} is mentioned first, case {i}?",
            "answer": f"{rng.choice(PEOPLE)} {rng.choice(PEOPLE)}son",
        }
        for i in range(40)
    ]
    pairs = [
        {"premise": story(rng), "hypothesis": story(rng, 1), "label": rng.randrange(3), "idx": i, "genre": "letters"}
        for i in range(60)
    ]
    hot = one_hot(rng)
    return [
        Shape("third_wide", ".csv", table(wide(rng)), "Resolution Category", "choice", ["Subject", "Description"]),
        Shape("third_nested", ".jsonl", lines(nested), "gold.intent", "choice", ["conversation.customer"]),
        Shape(
            "third_multi_label", ".csv", table(hot), "", "set", ["comment_text"], {"label_columns": list(hot[0])[2:]}
        ),
        Shape("third_multiple_choice", ".jsonl", lines(quiz), "answer", "choice", ["question", "choices"]),
        Shape("third_unicode", ".csv", russian, "категория", "choice", ["текст обращения"]),
        Shape("third_missing", ".csv", table(holes), "gold", "choice", ["utterance"], mended={"skip_missing": True}),
        Shape(
            "third_grouped", ".csv", table(dialogues), "dialogue_act", "choice", ["utterance"], {"group": "dialogue_id"}
        ),
        Shape("third_numbers", ".csv", table(sums), "final_answer", "number", ["problem"]),
        Shape("third_json", ".csv", table(mails), "extracted", "json", ["email_body"]),
        Shape("third_tiny", ".jsonl", lines(dates), "completion", "em", ["prompt"]),
        Shape("third_long", ".jsonl", lines(contracts), "answer", "em", ["document", "question"]),
        Shape("third_parquet", ".parquet", parquet(pairs), "label", "choice", ["premise", "hypothesis"]),
    ]
