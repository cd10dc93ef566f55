"""A third dozen of files, with the columns of published data sets and rows that are made up.

Each shape's set was drawn by a coin from two to four well-known ones, and its reading written before `whet init` had
seen any of them; whoever wrote them had read the code by then, but the names of the columns are the publishers'.
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


def consumer_complaints(path: Path) -> None:
    """Complaints to an office for consumers, as it exports them."""
    rng = random.Random("cfpb")
    told = {
        "Mortgage": ("Trouble during payment process", "My servicer lost the payment that {person} sent from {city} and now reports me as late."),
        "Credit card": ("Problem with a purchase shown on your statement", "A charge for a {item} that I never bought appeared, and the bank in {city} will not remove it."),
        "Debt collection": ("Attempts to collect debt not owed", "{person} calls every day about a debt on a {item} which I paid off years ago."),
        "Student loan": ("Dealing with your lender or servicer", "They put my loan into forbearance without asking, after {person} in {city} had confirmed my plan."),
    }  # fmt: skip
    rows: list[Row] = []
    for k in range(60):
        product = rng.choice(list(told))
        issue, text = told[product]
        rows.append({
            "Date received": f"0{rng.randint(1, 9)}/{rng.randint(10, 28)}/2023", "Product": product, "Sub-product": rng.choice(("", "Conventional", "I do not know", "General-purpose")),
            "Issue": issue if rng.random() < 0.8 else "Other", "Sub-issue": "", "Consumer complaint narrative": fill(text, rng) + f" This has gone on for {rng.randint(2, 30)} weeks.",
            "Company public response": rng.choice(("", "Company has responded to the consumer and chooses not to provide a public response")), "Company": f"{rng.choice(CITIES)} Bank, N.A.",
            "State": rng.choice(("CA", "TX", "NY", "FL")), "ZIP code": f"{rng.randint(100, 999)}XX", "Tags": rng.choice(("", "", "Older American")), "Consumer consent provided?": "Consent provided",
            "Submitted via": "Web", "Date sent to company": f"0{rng.randint(1, 9)}/{rng.randint(10, 28)}/2023", "Company response to consumer": rng.choice(("Closed with explanation", "Closed with monetary relief", "Closed with explanation")),
            "Timely response?": rng.choice(("Yes", "Yes", "No")), "Consumer disputed?": "N/A", "Complaint ID": 6400000 + k * 13,
        })  # fmt: skip
    write_csv(rows, path)


def trivia(path: Path) -> None:
    """Trivia with a value and its aliases in an object."""
    rng = random.Random("trivia")
    rows: list[Row] = []
    for k in range(44):
        person, city, item = rng.choice(PEOPLE), rng.choice(CITIES), rng.choice(ITEMS)
        question, value = rng.choice(
            (
                (f"Which inventor from {city} patented the first folding {item}?", person),
                (f"In which city did {person} open a museum of the {item}?", city),
                (f"What did {person} of {city} famously carry to every concert?", item),
            )
        )
        aliases = [value, f"The {value}", value.upper()][: rng.randint(1, 3)]
        rows.append({"question": question, "question_id": f"tc_{k + 33}", "question_source": "http://www.triviacountry.com/",
                     "answer": {"aliases": aliases, "normalized_aliases": [a.lower() for a in aliases], "normalized_value": value.lower(), "type": "WikipediaEntity", "value": value}})  # fmt: skip
    write_lines(rows, path)


def toxicity(path: Path) -> None:
    """Comments with a column of 0 and 1 for each label; most comments have none."""
    rng = random.Random("jigsaw")
    names = ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate")
    bad = {
        "toxic": "you people are a plague",
        "severe_toxic": "a plague to be wiped out",
        "obscene": "go f*** yourself",
        "threat": "I know where you live in {city}",
        "insult": "{person} is an idiot",
        "identity_hate": "your kind does not belong here",
    }
    rows: list[Row] = []
    for _ in range(64):
        some = set(rng.sample(names, rng.randint(1, 3))) if rng.random() < 0.4 else set()
        text = ". ".join(fill(bad[name], rng) for name in names if name in some) or fill(
            "Thanks {person}, I moved the section on the {item} to the talk page of {city}", rng
        )
        rows.append(
            {
                "id": f"{rng.randrange(16**16):016x}",
                "comment_text": text + ".",
                **{name: int(name in some) for name in names},
            }
        )
    write_csv(rows, path)


def medical_exam(path: Path) -> None:
    """Questions of medical exams: four options in columns, the number of the right one from 0, and an explanation."""
    rng = random.Random("medmcqa")
    facts = (
        ("Vitamin whose lack causes scurvy", "Vitamin C", ("Vitamin A", "Vitamin D", "Vitamin K"), "Biochemistry"), ("Largest gland of the body", "Liver", ("Spleen", "Pancreas", "Thyroid"), "Anatomy"),
        ("Drug of choice in anaphylaxis", "Adrenaline", ("Atropine", "Dopamine", "Hydrocortisone"), "Pharmacology"), ("Nerve of the deltoid", "Axillary nerve", ("Ulnar nerve", "Radial nerve", "Median nerve"), "Anatomy"),
        ("Hormone that lowers blood glucose", "Insulin", ("Glucagon", "Cortisol", "Adrenaline"), "Physiology"),
    )  # fmt: skip
    rows: list[Row] = []
    for k in range(45):
        stem, right, wrong, subject = facts[k % len(facts)]
        options = [right, *wrong]
        rng.shuffle(options)
        who = f"A {rng.randint(19, 80)} year old from {rng.choice(CITIES)} asks: "
        rows.append({"id": f"{rng.randrange(16**12):012x}", "question": (who if k >= len(facts) else "") + stem + " is", "opa": options[0], "opb": options[1], "opc": options[2], "opd": options[3],
                     "cop": options.index(right), "choice_type": "single", "exp": f"Ans. {right}. Ref. standard textbook, page {rng.randint(20, 900)}.", "subject_name": subject, "topic_name": None})  # fmt: skip
    write_lines(rows, path)


def chinese_news(path: Path) -> None:
    """Chinese headlines with the number of a class, its name and keywords."""
    rng = random.Random("tnews")
    kinds = {"103": ("news_sports", ("{0}队昨晚逆转夺冠，球迷彻夜庆祝", "主教练宣布离开{0}，下赛季去向未定")), "104": ("news_finance", ("{0}银行下调利率，股市应声上涨", "多家公司在{0}公布年报，利润下滑")),
             "108": ("news_edu", ("{0}大学公布今年录取分数线", "高考志愿填报：{0}的学校怎么选")), "109": ("news_tech", ("新款手机在{0}发布，续航提升一倍", "{0}的工程师开源了一款编译器"))}  # fmt: skip
    places = ("上海", "北京", "广州", "成都", "武汉", "西安", "杭州")
    rows: list[Row] = []
    for _ in range(52):
        label = rng.choice(list(kinds))
        name, texts = kinds[label]
        place = rng.choice(places)
        rows.append(
            {
                "label": label,
                "label_desc": name,
                "sentence": rng.choice(texts).format(place) + f"（第{rng.randint(1, 99)}期）",
                "keywords": f"{place},今日" if rng.random() < 0.7 else "",
            }
        )
    write_lines(rows, path)


def catalogue(path: Path) -> None:
    """A catalogue of products in which much is missing: brands, colours, weights, some descriptions."""
    rng = random.Random("catalogue")
    wares = {
        "Garden": ("hose reel", "Keeps {n} metres of hose tidy along the wall."),
        "Kitchen": ("stock pot", "Holds {n} litres and suits every hob."),
        "Sports": ("skipping rope", "Adjusts to {n} lengths for all ages."),
        "Office": ("desk tray", "Stacks {n} high beside any screen."),
    }
    rows: list[Row] = []
    for k in range(56):
        department = rng.choice(list(wares))
        ware, text = wares[department]
        rows.append({"sku": f"{rng.choice('ABC')}{10000 + k * 17}", "name": f"{rng.choice(('Classic', 'Pro', 'Eco', 'Mini'))} {ware} {rng.randint(2, 99)}", "brand": rng.choice(("", "Holm", "Vardo", "N/A")), "color": rng.choice(("", "", "green", "steel")),
                     "weight_g": rng.choice(("", str(rng.randint(90, 4000)))), "ean": rng.choice(("", str(rng.randint(10**12, 10**13 - 1)))), "description": "" if k % 8 == 5 else text.format(n=rng.randint(2, 60)), "image": "", "department": department})  # fmt: skip
    write_csv(rows, path)


def essays(path: Path) -> None:
    """Essays of pupils on eight themes with the marks of two raters, sometimes of a third, and the one that counts."""
    rng = random.Random("essays")
    rows: list[Row] = []
    for k in range(64):
        a, b = rng.randint(1, 6), 0
        b = min(6, max(1, a + rng.choice((-1, 0, 0, 1))))
        text = " ".join(
            fill(
                rng.choice(
                    (
                        "I think computers help people in {city} to learn about far places.",
                        "My friend {person} says we should go outside more.",
                        "When I lost my {item} I had to be patient.",
                        "Libraries should keep every book, even the old ones in {city}.",
                    )
                ),
                rng,
            )
            for _ in range(3 + 2 * a)
        )
        rows.append(
            {
                "essay_id": k + 1,
                "essay_set": 1 + k // 8,
                "essay": text,
                "rater1_domain1": a,
                "rater2_domain1": b,
                "rater3_domain1": "",
                "domain1_score": max(a, b),
            }
        )
    write_csv(rows, path, "\t")


def competition(path: Path) -> None:
    """Problems of competitions with a solution whose end is in a box."""
    rng = random.Random("math")
    rows: list[Row] = []
    for _ in range(48):
        a, b, c = rng.randint(2, 30), rng.randint(2, 9), rng.randint(2, 50)
        problem, solution = rng.choice((
            (f"What is the value of ${a} \\cdot {b} - {c}$?", f"We have ${a} \\cdot {b} = {a * b}$, so the value is $\\boxed{{{a * b - c}}}$."),
            (f"Simplify $\\frac{{{a * b}}}{{{c * b}}}$ by its factor ${b}$.", f"Dividing both by ${b}$ gives $\\boxed{{\\frac{{{a}}}{{{c}}}}}$."),
            (f"If $x + {a} = {a + c}$, what is $x$?", f"Subtract ${a}$ from both sides to get $x = \\boxed{{{c}}}$, which is the answer."),
        ))  # fmt: skip
        rows.append(
            {
                "problem": problem,
                "level": f"Level {rng.randint(1, 5)}",
                "type": rng.choice(("Algebra", "Prealgebra")),
                "solution": solution,
            }
        )
    write_lines(rows, path)


def receipts_parsed(path: Path) -> None:
    """Texts of receipts with what they say as a nested object."""
    rng = random.Random("cord")
    rows: list[Row] = []
    for k in range(44):
        menu: list[Row] = [
            {"nm": rng.choice(ITEMS).upper(), "cnt": str(rng.randint(1, 3)), "price": f"{rng.randint(5, 90)},000"}
            for _ in range(rng.randint(1, 3))
        ]
        total = f"{rng.randint(100, 400)},000"
        rows.append(
            {
                "image_id": k,
                "ocr": " ".join(f"{m['cnt']}x {m['nm']} {m['price']}" for m in menu) + f" TOTAL {total}",
                "gt_parse": {"menu": menu, "total": {"total_price": total}},
            }
        )
    write_lines(rows, path)


def completions(path: Path) -> None:
    """Fourteen prompts and completions, as they were once uploaded for fine-tuning."""
    texts = (
        "lovely staff and a warm room",
        "never again, cold and loud",
        "good breakfast, kind people",
        "the bed broke in the night",
        "worth every cent",
        "dirty towels and no reply",
        "we will be back in May",
    )
    write_lines(
        [
            {
                "prompt": f"Review: {text}{mark}\nSentiment ->",
                "completion": " positive\n" if k % 2 == 0 else " negative\n",
            }
            for mark in ("", "!")
            for k, text in enumerate(texts)
        ],
        path,
    )


def film_reviews(path: Path) -> None:
    """Long reviews of films with breaks from the web page, and their sentiment."""
    rng = random.Random("imdb")
    good = (
        "{person} gives the performance of a lifetime.",
        "I left the cinema in {city} smiling.",
        "Every frame is a delight, even the one with the {item}.",
    )
    bad = (
        "{person} looks bored throughout.",
        "People walked out in {city}.",
        "The scene with the {item} lasts for ever.",
    )
    plain = (
        "The story begins in {city} and follows {person}.",
        "It runs for two hours.",
        "There is a subplot about a {item}.",
        "The music is by {person}.",
    )
    rows: list[Row] = []
    for _ in range(50):
        liked = rng.random() < 0.5
        rows.append(
            {
                "review": "<br /><br />".join(
                    " ".join(fill(rng.choice(plain + (good if liked else bad)), rng) for _ in range(12))
                    for _ in range(3)
                ),
                "sentiment": "positive" if liked else "negative",
            }
        )
    write_csv(rows, path)


def queries(path: Path) -> None:
    """Questions to databases with the SQL that answers them, and the tokens of both."""
    rng = random.Random("spider")
    rows: list[Row] = []
    for _ in range(42):
        database, table, column = rng.choice(
            (
                ("concert_singer", "singer", "age"),
                ("pets_1", "pets", "weight"),
                ("car_1", "cars_data", "horsepower"),
                ("flight_2", "flights", "distance"),
                ("employee_hire", "employee", "salary"),
                ("museum_visit", "museum", "staff"),
                ("orchestra", "orchestra", "founded"),
            )
        )
        number = rng.randint(2, 90)
        question, query = rng.choice(
            (
                (
                    f"How many {table} have a {column} above {number}?",
                    f"SELECT count(*) FROM {table} WHERE {column} > {number}",
                ),
                (
                    f"Show the {number} rows of {table} with the highest {column}.",
                    f"SELECT * FROM {table} ORDER BY {column} DESC LIMIT {number}",
                ),
            )
        )
        rows.append(
            {
                "db_id": database,
                "query": query,
                "question": question,
                "query_toks": query.split(),
                "query_toks_no_value": [t if not t.isdigit() else "value" for t in query.split()],
                "question_toks": question.split(),
            }
        )
    write_parquet(rows, path)


OPTIONS = ("opa", "opb", "opc", "opd")
MARKS = ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate")

THIRD = (
    DataFile("wide", "complaints.csv", consumer_complaints, Reading(("Product", "Issue"), ("choice",), ("Consumer complaint narrative",), rows=60)),
    DataFile("nested", "trivia.jsonl", trivia, Reading(("answer.aliases", "answer.value"), TEXT, ("question",), rows=44)),
    DataFile("multi-label", "toxicity.csv", toxicity, Reading(("",), ("set",), ("comment_text",), rows=64)),
    DataFile("multiple choice", "medical_exam.jsonl", medical_exam, Reading(("cop",), ("choice",), ("question", *OPTIONS), ("subject_name",), rows=45)),
    DataFile("unicode", "chinese_news.jsonl", chinese_news, Reading(("label_desc", "label"), ("choice",), ("sentence",), ("keywords",), rows=52)),
    DataFile("missing values", "catalogue.csv", catalogue, Reading(("department",), ("choice",), ("description",), ("name", "brand", "color"))),
    DataFile("grouped rows", "essays.tsv", essays, Reading(("domain1_score",), ("choice", "number"), ("essay",), (), "essay_set", 64)),
    DataFile("numbers", "competition.jsonl", competition, Reading(("solution.final",), (*TEXT, "number"), ("problem",), rows=48)),
    DataFile("JSON answers", "receipts_parsed.jsonl", receipts_parsed, Reading(("gt_parse",), ("json",), ("ocr",), rows=44)),
    DataFile("tiny", "completions.jsonl", completions, Reading(("completion",), ("choice", *TEXT), ("prompt",), rows=14)),
    DataFile("long texts", "film_reviews.csv", film_reviews, Reading(("sentiment",), ("choice",), ("review",), rows=50)),
    DataFile("Parquet", "queries.parquet", queries, Reading(("query",), ("exact", "sql"), ("question",), ("db_id",), rows=42)),
)  # fmt: skip
