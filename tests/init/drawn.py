"""A fourth dozen: the published data sets that the coin had left, drawn again; the list was made before the third was tried.

Their readings were written before `whet init` had seen them, and after what the third dozen showed was mended.
"""

# ruff: noqa: E501

import random
from pathlib import Path

from init.datasets import (
    CITIES,
    ITEMS,
    PEOPLE,
    TEXT,
    DataFile,
    Reading,
    Row,
    fill,
    write_csv,
    write_lines,
    write_parquet,
)


def airline_tweets(path: Path) -> None:
    """Tweets at airlines with their tone, how sure the crowd was of it, and what is known of the tweet."""
    rng = random.Random("airline")
    told = {
        "negative": (
            "@{0} my flight to {city} was cancelled and nobody answers",
            "@{0} you lost my {item} again, third time",
            "@{0} two hours on hold, thanks for nothing",
        ),
        "neutral": (
            "@{0} do you fly to {city} in May?",
            "@{0} what is the limit for a {item}?",
            "@{0} I sent you a message, please check",
        ),
        "positive": (
            "@{0} thanks {person} at the {city} desk, you are great",
            "@{0} best crew ever, love the new {item}",
            "@{0} smooth flight, thank you!",
        ),
    }
    rows: list[Row] = []
    for k in range(60):
        tone, airline = rng.choice(list(told)), rng.choice(("United", "Delta", "Southwest"))
        reason = rng.choice(("Late Flight", "Lost Luggage", "Customer Service Issue")) if tone == "negative" else ""
        rows.append({"tweet_id": 570300000000000000 + k * 7919, "airline_sentiment": tone, "airline_sentiment_confidence": round(rng.uniform(0.33, 1), 4), "negativereason": reason, "negativereason_confidence": round(rng.random(), 4) if reason else "", "airline": airline, "airline_sentiment_gold": "", "name": rng.choice(PEOPLE).split()[0].lower() + str(rng.randint(1, 99)), "negativereason_gold": "", "retweet_count": rng.choice((0, 0, 0, 1)),
                     "text": fill(rng.choice(told[tone]).replace("{0}", airline), rng), "tweet_coord": "", "tweet_created": f"2015-02-{rng.randint(10, 24)} 11:{rng.randint(10, 59)}:00 -0800", "tweet_location": rng.choice(("", "Texas", "NYC", "San Diego")), "user_timezone": rng.choice(("", "Eastern Time (US & Canada)", "Pacific Time (US & Canada)"))})  # fmt: skip
    write_csv(rows, path)


def pubmed(path: Path) -> None:
    """Questions of research with the parts of an abstract, its conclusion, and yes, no or maybe."""
    rng = random.Random("pubmed")
    rows: list[Row] = []
    for k in range(48):
        decision, drug = (
            rng.choice(("yes", "no", "yes", "maybe")),
            rng.choice(("aspirin", "metformin", "zinc", "vitamin D", "statins")),
        )
        finding = {"yes": "was clearly lower", "no": "did not differ", "maybe": "was lower in one of two sites"}[
            decision
        ]
        rows.append({"pubid": 21000000 + k * 31, "question": f"Does {drug} lower the risk of falls in patients from {rng.choice(CITIES)}?",
                     "context": {"contexts": [f"Falls are common, and {drug} is cheap.", f"We followed {rng.randint(80, 900)} patients for {rng.randint(1, 6)} years.", f"The rate of falls {finding} (P = {rng.random():.2f})."], "labels": ["BACKGROUND", "METHODS", "RESULTS"], "meshes": ["Aged", "Humans", drug.title()]},
                     "long_answer": f"In this cohort the rate of falls with {drug} {finding}.", "final_decision": decision})  # fmt: skip
    write_lines(rows, path)


def stack_questions(path: Path) -> None:
    """Questions on programming with their tags in angle brackets, as the dump has them."""
    rng = random.Random("stack")
    told = {
        "python": "in my Python script",
        "pandas": "a DataFrame with a multi index",
        "sql": "a left join on two tables",
        "javascript": "a promise that never resolves",
        "html": "a div that will not centre",
        "regex": "a pattern with a lookahead",
    }
    rows: list[Row] = []
    for k in range(52):
        tags = rng.sample(list(told), rng.choice((1, 2, 2, 3)))
        rows.append(
            {
                "Id": 4400000 + k * 37,
                "Title": f"Problem with {told[tags[0]]}",
                "Body": f"<p>I have {' and '.join(told[t] for t in tags)}, and after {rng.randint(2, 30)} tries it still fails on {rng.choice(ITEMS)} data.</p>",
                "Tags": "".join(f"<{t}>" for t in tags),
                "CreationDate": f"2016-0{rng.randint(1, 9)}-11T09:{rng.randint(10, 59)}:00",
                "Score": rng.randint(-3, 40),
                "ViewCount": rng.randint(20, 9000),
                "AnswerCount": rng.randint(0, 5),
            }
        )
    write_csv(rows, path)


def pronouns(path: Path) -> None:
    """Sentences with a gap, two options for it, and the number of the right one from 1."""
    rng = random.Random("winogrande")
    rows: list[Row] = []
    for _ in range(48):
        a, b = (name.split()[0] for name in rng.sample(PEOPLE, 2))
        sentence, right = rng.choice(
            (
                (f"{a} lent {b} a {rng.choice(ITEMS)}, so _ had nothing to use in {rng.choice(CITIES)}.", a),
                (f"{a} beat {b} at chess in {rng.choice(CITIES)}, so _ asked for a rematch.", b),
            )
        )
        options = [a, b]
        rng.shuffle(options)
        rows.append(
            {
                "sentence": sentence,
                "option1": options[0],
                "option2": options[1],
                "answer": str(options.index(right) + 1),
            }
        )
    write_lines(rows, path)


def german_inference(path: Path) -> None:
    """Pairs of German sentences with a number for what the first says of the second."""
    rng = random.Random("xnli")
    rows: list[Row] = []
    for _ in range(54):
        who, city = rng.choice(PEOPLE).split()[0], rng.choice(CITIES)
        premise = rng.choice(
            (
                f"{who} fährt jeden Morgen mit dem Zug nach {city}.",
                f"Am Dienstag öffnete {who} in {city} eine Bäckerei.",
                f"{who} hat den Schlüssel in {city} verloren und ist zu Fuß gegangen.",
            )
        )
        label = rng.randrange(3)
        rows.append(
            {
                "premise": premise,
                "hypothesis": (
                    f"{who} war schon einmal in {city}.",
                    f"{who} mag {city} lieber als früher.",
                    f"{who} war noch nie in {city}.",
                )[label],
                "label": label,
            }
        )
    write_lines(rows, path)


def disasters(path: Path) -> None:
    """Tweets with a keyword and a place that are often missing, and whether they are about a real disaster."""
    rng = random.Random("disaster")
    real = (
        "Forest fire near {city}, residents asked to shelter in place",
        "Flood takes bridge in {city}, {person} among the missing",
        "Earthquake of 5.{n} felt across {city}",
    )
    other = (
        "This {item} is fire, I want {n} of them",
        "My inbox is a flood after the {city} concert",
        "{person} killed it on stage last night",
    )
    rows: list[Row] = []
    for k in range(60):
        target = int(rng.random() < 0.45)
        text = rng.choice(real if target else other)
        rows.append(
            {
                "id": k * 3 + 1,
                "keyword": rng.choice(("", "fire", "flood", "earthquake")),
                "location": rng.choice(("", "", "London", "earth", "NYC ✨")),
                "text": text.format(
                    city=rng.choice(CITIES), person=rng.choice(PEOPLE), item=rng.choice(ITEMS), n=rng.randint(1, 9)
                ),
                "target": target,
            }
        )
    write_csv(rows, path)


def student_answers(path: Path) -> None:
    """Answers of pupils to questions of science, several to each, with the answer that was hoped for and a verdict."""
    rng = random.Random("scientsbank")
    asked = [
        (
            f"Q{n}",
            f"Why does the {item} in experiment {n} warm up?",
            f"The {item} takes up heat from the lamp, which moves to it through the air.",
            item,
        )
        for n, item in enumerate(ITEMS, 1)
    ]
    rows: list[Row] = []
    for number, question, reference, item in asked:
        for _ in range(5):
            label = rng.choice(("correct", "contradictory", "incomplete"))
            said = {
                "correct": f"heat goes from the lamp to the {item}",
                "contradictory": f"the {item} gives its cold to the lamp",
                "incomplete": f"because of the lamp near the {item}",
            }[label]
            rows.append(
                {
                    "id": f"{number}.{rng.randint(100, 999)}.{len(rows)}",
                    "question_id": number,
                    "question": question,
                    "reference_answer": reference,
                    "student_answer": f"{said} {rng.choice(('I think', 'maybe', 'of course', 'and so it gets warm', 'in the end', 'says ' + rng.choice(PEOPLE)))}",
                    "label": label,
                }
            )
    write_csv(rows, path)


def similarity(path: Path) -> None:
    """Pairs of sentences with how alike they are, from 0 to 5."""
    rng = random.Random("stsb")
    rows: list[Row] = []
    for k in range(50):
        item, city, who = rng.choice(ITEMS), rng.choice(CITIES), rng.choice(PEOPLE)
        rows.append(
            {
                "sentence1": f"{who} is selling a {item} in {city}.",
                "sentence2": rng.choice(
                    (f"A {item} is sold by {who} in {city}.", f"{who} buys a {item}.", f"It rains in {city} today.")
                ),
                "score": round(rng.uniform(0, 5), 2),
                "idx": k,
            }
        )
    write_lines(rows, path)


def tool_calls(path: Path) -> None:
    """Wishes with tools and calls, both as text in JSON."""
    import json

    rng = random.Random("xlam")
    rows: list[Row] = []
    for k in range(46):
        city, who, number = rng.choice(CITIES), rng.choice(PEOPLE).split()[0], rng.randint(1, 9)
        query, calls = rng.choice(
            (
                (
                    f"Get the forecast for {city} for {number} days",
                    [{"name": "forecast", "arguments": {"city": city, "days": number}}],
                ),
                (
                    f"Message {who} that I am {number} minutes late and look up {city}",
                    [
                        {"name": "send", "arguments": {"to": who, "minutes": number}},
                        {"name": "lookup", "arguments": {"city": city}},
                    ],
                ),
            )
        )
        tools = [
            {"name": name, "description": f"To {name}", "parameters": {}} for name in ("forecast", "send", "lookup")
        ]
        rng.shuffle(tools)
        rows.append({"id": k, "query": query, "answers": json.dumps(calls), "tools": json.dumps(tools)})
    write_lines(rows, path)


def glossary(path: Path) -> None:
    """Nine words with their translation, between tabs."""
    pairs = (
        ("house", "Haus"),
        ("to forget", "vergessen"),
        ("yesterday", "gestern"),
        ("the key", "der Schlüssel"),
        ("often", "oft"),
        ("to send", "schicken"),
        ("window", "Fenster"),
        ("quiet", "leise"),
        ("thirty", "dreißig"),
    )
    write_csv([{"English": a, "German": b} for a, b in pairs], path, "\t")


def bills(path: Path) -> None:
    """Texts of bills with a summary and a title."""
    rng = random.Random("billsum")
    rows: list[Row] = []
    for _ in range(36):
        city, item, amount = rng.choice(CITIES), rng.choice(ITEMS), rng.randint(2, 80)
        body = (
            f"SECTION 1. SHORT TITLE. This Act may be cited as the {city} {item.title()} Act. SECTION 2. GRANTS. The Secretary may award {amount} grants to makers of a {item}. "
            + " ".join(
                fill(
                    rng.choice(
                        (
                            "The term 'maker' includes {person}.",
                            "A report is due to the committee in {city} each year.",
                            "Nothing in this Act limits the sale of a {item}.",
                        )
                    ),
                    rng,
                )
                for _ in range(40)
            )
        )
        rows.append(
            {
                "text": body,
                "summary": f"{city} {item.title()} Act - Authorizes the Secretary to award {amount} grants to makers of a {item}. Requires a yearly report to the committee on how the grants were used, and defines the terms of the Act.",
                "title": f"A bill to support makers of the {item} in {city}.",
            }
        )
    write_lines(rows, path)


def banking(path: Path) -> None:
    """Questions to a bank with the number of one of many intents."""
    rng = random.Random("banking")
    told = (
        "My card has not come to {city} yet",
        "How do I top up with {person}'s card?",
        "Why was I charged a fee for the {item}?",
        "I lost my phone in {city}, what now?",
        "The exchange rate looks wrong for {city}",
        "Can {person} get a second card?",
        "I want to close my account for good",
        "The machine in {city} kept my card",
        "Is there a limit for sending money to {person}?",
        "How do I change my PIN?",
        "A payment for a {item} is pending",
        "Do you support the shop in {city}?",
    )
    rows: list[Row] = []
    for _ in range(96):
        label = rng.randrange(len(told))
        rows.append(
            {
                "text": fill(told[label], rng)
                + rng.choice(("", " Thanks", " Please help", " asap", f" ({rng.choice(ITEMS)})")),
                "label": label + 11,
            }
        )
    write_parquet(rows, path)


FOURTH = (
    DataFile("wide", "airline_tweets.csv", airline_tweets, Reading(("airline_sentiment",), ("choice",), ("text",), ("airline",), rows=60)),
    DataFile("nested", "pubmed.jsonl", pubmed, Reading(("final_decision",), ("choice",), ("question", "context.contexts"), ("context.labels", "context"), rows=48)),
    DataFile("multi-label", "stack_questions.csv", stack_questions, Reading(("Tags.listed",), ("set",), ("Body",), ("Title",), rows=52)),
    DataFile("multiple choice", "pronouns.jsonl", pronouns, Reading(("answer",), ("choice",), ("sentence", "option1", "option2"), rows=48)),
    DataFile("unicode", "german_inference.jsonl", german_inference, Reading(("label",), ("choice",), ("premise", "hypothesis"), rows=54)),
    DataFile("missing values", "disasters.csv", disasters, Reading(("target",), ("choice",), ("text",), ("keyword", "location"), rows=60)),
    DataFile("grouped rows", "student_answers.csv", student_answers, Reading(("label",), ("choice",), ("question", "reference_answer", "student_answer"), (), "question_id", 60)),
    DataFile("numbers", "similarity.jsonl", similarity, Reading(("score",), ("number",), ("sentence1", "sentence2"), rows=50)),
    DataFile("JSON answers", "tool_calls.jsonl", tool_calls, Reading(("answers",), ("json", "exact", "python"), ("query", "tools"), rows=46)),
    DataFile("tiny", "glossary.tsv", glossary, Reading(("German",), TEXT, ("English",), rows=9)),
    DataFile("long texts", "bills.jsonl", bills, Reading(("summary",), ("f1", "anls", "rubric"), ("text",), ("title",), rows=36)),
    DataFile("Parquet", "banking.parquet", banking, Reading(("label",), ("choice",), ("text",), rows=96)),
)  # fmt: skip
