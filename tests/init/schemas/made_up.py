"""Files that nobody published: three of each of twelve shapes, with columns named as the people of a trade would."""

import json

from init.datasets import TEXT
from init.schemas.draw import Draw, Schema, schema

Row = dict[str, object]
LONG = ("f1", "anls", "rubric")


# Wide.


@schema("claims.csv", "Claim outcome", "choice", "Adjuster narrative", "Peril|Policy type|Loss description")
def claims(d: Draw) -> Row:
    kind = d.pick("Paid", "Denied", "Withdrawn")
    return {
        "Claim no.": f"CL-{d.int(10**5, 10**6)}",
        "Policy no.": f"P{d.hex(8).upper()}",
        "Policy type": d.pick("Home", "Motor"),
        "Date of loss": d.date("/"),
        "Date reported": d.date("/"),
        "Peril": d.pick("Fire", "Water", "Theft"),
        "Postcode": f"SW{d.int(1, 20)}",
        "Reserve": d.int(100, 90000),
        "Adjuster": d.name(),
        "Adjuster narrative": d.text(kind, 4),
        "Days open": d.int(1, 400),
        "Fraud flag": d.pick("Y", "N"),
        "Claim outcome": kind,
        "Last modified": d.moment(),
    }


@schema("exit_interviews.csv", "Primary driver", "choice", "Verbatim", "Role|Tenure (yrs)|Department")
def exit_interviews(d: Draw) -> Row:
    kind = d.pick("Pay", "Manager", "Growth", "Relocation")
    return {
        "Emp": f"E{d.k + 100}",
        "Department": d.pick("Ops", "Sales", "R&D"),
        "Grade": d.pick("L3", "L4", "L5"),
        "Tenure (yrs)": d.int(1, 12),
        "Exit date": d.date(),
        "Interviewer": d.name(),
        "Verbatim": d.text(kind, 3),
        "Would rejoin": d.pick("Yes", "No", "Unsure"),
        "Primary driver": kind,
        "Coder initials": d.pick("AB", "CD"),
    }


@schema("incidents.csv", "root_cause_category", "choice", "postmortem_summary", "title|affected_service|trigger")
def incidents(d: Draw) -> Row:
    kind = d.pick("config", "capacity", "dependency", "code")
    return {
        "incident_id": f"INC{d.k}",
        "opened_at": d.moment(),
        "resolved_at": d.moment(),
        "sev": d.pick("SEV1", "SEV2", "SEV3"),
        "affected_service": d.pick("api", "billing", "search"),
        "commander": d.name(),
        "title": d.words(6, kind),
        "postmortem_summary": d.text(kind, 4),
        "minutes_down": d.int(1, 300),
        "root_cause_category": kind,
        "slack_channel": f"#inc-{d.k}",
        "follow_ups": d.int(0, 9),
    }


# Nested.


@schema("moderation.jsonl", "review.decision", "choice", "post.body", "post.title|post.community")
def moderation(d: Draw) -> Row:
    kind = d.pick("approve", "remove", "escalate")
    return {
        "event_id": d.hex(12),
        "post": {
            "title": d.words(5, kind),
            "body": d.text(kind),
            "community": d.pick("pets", "cars"),
            "author": {"handle": d.name(), "karma": d.int(1, 999)},
        },
        "review": {"decision": kind, "moderator": d.name(), "at": d.moment()},
    }


@schema("turns.jsonl", "annotation.intent.name|annotation.intent", "choice|json", "utterance.text", "utterance.locale")
def turns(d: Draw) -> Row:
    kind = d.pick("check_balance", "send_money", "block_card")
    return {
        "uid": d.hex(8),
        "utterance": {"text": d.words(9, kind), "locale": "en-GB", "asr_confidence": round(d.rng.random(), 2)},
        "annotation": {"intent": {"name": kind, "confidence": 1.0}, "annotator_id": d.int(1, 5)},
    }


@schema(
    "papers.json",
    "labels.field_of_study",
    "choice",
    "record.abstract",
    "record.title|record.venue",
    wrapped={"generated": "2024-01-02", "count": 48, "records": ...},
)
def papers(d: Draw) -> Row:
    kind = d.pick("biology", "physics", "economics")
    return {
        "record": {
            "doi": f"10.1/{d.hex(6)}",
            "title": d.words(8, kind),
            "abstract": d.text(kind, 4),
            "venue": d.pick("A", "B"),
            "year": d.int(1990, 2020),
        },
        "labels": {"field_of_study": kind, "labeled_by": d.name()},
    }


# Several labels.


@schema("recipes.csv", "dietary_flags", "set", "ingredients", "recipe_name|method|steps")
def recipes(d: Draw) -> Row:
    some = d.several(("vegan", "gluten-free", "nut-free", "halal"))
    return {
        "recipe_id": d.k,
        "recipe_name": d.words(3).title(),
        "ingredients": d.text(some[0], 2),
        "dietary_flags": "|".join(some),
        "prep_minutes": d.int(5, 90),
    }


@schema("hazards.csv", "", "set", "inspection_notes", "site")
def hazards(d: Draw) -> Row:
    names = ("electrical", "fall", "fire", "chemical", "noise")
    some = d.several(names)
    return {
        "visit": d.k + 1,
        "site": d.pick("Dock 1", "Dock 2", "Yard"),
        "inspection_notes": d.text(some[0], 3),
        **{f"{name}": "yes" if name in some else "no" for name in names},
    }


@schema("songs.jsonl", "moods", "set", "lyrics", "title|artist")
def songs(d: Draw) -> Row:
    some = d.several(("happy", "calm", "angry", "sad", "dreamy"))
    return {
        "track": d.hex(8),
        "title": d.words(2).title(),
        "artist": d.name(),
        "bpm": d.int(60, 180),
        "lyrics": d.text(some[0], 5),
        "moods": some,
    }


# Multiple choice.


@schema("driving_theory.csv", "Correct", "choice", "Question text|Option A|Option B|Option C", "Topic")
def driving_theory(d: Draw) -> Row:
    return {
        "Nr": d.k + 1,
        "Topic": d.pick("Signs", "Speed"),
        "Question text": d.ask(),
        "Option A": d.words(4),
        "Option B": d.words(4),
        "Option C": d.words(4),
        "Correct": d.pick("A", "B", "C"),
        "Explanation": d.text(None, 1),
    }


@schema("quiz_bank.json", "correct_index|correctIndex", "choice", "prompt|answers", "hint|topic")
def quiz_bank(d: Draw) -> Row:
    return {
        "quizId": d.hex(6),
        "topic": d.pick("rivers", "kings"),
        "prompt": d.ask(),
        "answers": [d.words(2) for _ in range(4)],
        "correct_index": d.int(0, 3),
        "points": d.pick(5, 10),
    }


@schema("vocab_test.jsonl", "key", "choice", "stem|a|b|c|d", "level")
def vocab_test(d: Draw) -> Row:
    return {
        "item": d.k,
        "level": d.pick("B1", "B2"),
        "stem": f"She ____ the {d.words(5)}.",
        "a": d.words(1),
        "b": d.words(1) + "ed",
        "c": d.words(1) + "ing",
        "d": d.words(1) + "s",
        "key": d.pick(*"abcd"),
    }


# Other scripts.


@schema("бланк.csv", "Причина", "choice", "Текст обращения", "Тема|Район")
def russian(d: Draw) -> Row:
    kind = d.pick("Дороги", "Отопление", "Мусор")
    told = {
        "Дороги": "яма на дороге возле дома никто не чинит",
        "Отопление": "батареи холодные уже неделю дома мёрзнем",
        "Мусор": "мусор не вывозят контейнеры переполнены запах",
    }[kind]
    return {
        "Номер": d.k + 1,
        "Дата": d.date("."),
        "Заявитель": d.pick("Иванов", "Петрова", "Сидоров"),
        "Район": d.pick("Северный", "Южный"),
        "Текст обращения": f"{told}, дом {d.int(1, 99)} квартира {d.int(1, 200)}",
        "Причина": kind,
        "Статус": d.pick("закрыто", "в работе"),
    }


@schema("toiawase.jsonl", "分類", "choice", "お問い合わせ内容", "件名")
def japanese(d: Draw) -> Row:
    kind = d.pick("配送", "返品", "支払い")
    told = {
        "配送": "荷物がまだ届きません。いつ頃になりますか",
        "返品": "サイズが合わないので返品したいです",
        "支払い": "カードで二重に請求されています",
    }[kind]
    return {
        "受付番号": f"T{d.k:04}",
        "受付日": d.date("/"),
        "お客様名": d.pick("田中", "佐藤"),
        "件名": told[:5],
        "お問い合わせ内容": f"{told}。注文番号は{d.int(1000, 9999)}です",
        "分類": kind,
        "対応者": d.pick("鈴木", "高橋"),
    }


@schema("urteile.csv", "Ausgang", "choice", "Leitsatz", "Gericht|Rechtsgebiet", delimiter=";")
def german_rulings(d: Draw) -> Row:
    kind = d.pick("stattgegeben", "abgewiesen", "verwiesen")
    return {
        "Aktenzeichen": f"{d.int(1, 9)} C {d.int(10, 999)}/22",
        "Gericht": d.pick("AG Köln", "LG Bonn"),
        "Entscheidungsdatum": f"{d.int(1, 28)}.05.2022",
        "Rechtsgebiet": d.pick("Mietrecht", "Verkehrsrecht"),
        "Leitsatz": d.text(kind, 3),
        "Ausgang": kind,
    }


# Missing values.


@schema(
    "triage.csv",
    "triage_level",
    "choice|number",
    "chief_complaint",
    "history|age|pain_score|sex|arrival_mode",
    count=60,
)
def triage(d: Draw) -> Row:
    level = d.int(1, 4)
    return {
        "visit_no": 5000 + d.k,
        "arrival_mode": d.pick("", "ambulance", "walk-in"),
        "age": d.pick("", d.int(1, 90)),
        "sex": d.pick("F", "M", ""),
        "chief_complaint": d.text(level, 1),
        "history": d.pick("", "", d.text(None, 1)),
        "pain_score": d.pick("", d.int(0, 10)),
        "triage_level": "" if d.k % 9 == 4 else level,
    }


@schema("species.csv", "identified_as", "choice", "field_notes", "habitat|weather|observer_comment", count=60)
def species(d: Draw) -> Row:
    kind = d.pick("robin", "wren", "dunnock")
    return {
        "obs_id": f"o{d.k}",
        "observer": d.pick("", d.name()),
        "lat": d.pick("", round(50 + d.rng.random(), 4)),
        "lon": d.pick("", round(d.rng.random(), 4)),
        "habitat": d.pick("", "hedge", "wood"),
        "weather": d.pick("NA", "rain", "sun"),
        "field_notes": d.text(kind),
        "identified_as": "NA" if d.k % 7 == 2 else kind,
    }


@schema("loans.jsonl", "decision", "choice", "applicant_statement", "purpose|employment", count=60)
def loans(d: Draw) -> Row:
    kind = d.pick("approved", "declined")
    return {
        "application": d.hex(6),
        "submitted": d.date(),
        "purpose": d.pick(None, "car", "house"),
        "employment": d.pick(None, "self-employed", "employed"),
        "income": d.pick(None, d.int(10, 90) * 1000),
        "applicant_statement": d.text(kind),
        "decision": None if d.k % 10 == 3 else kind,
    }


# Grouped rows.


@schema(
    "depositions.csv",
    "question_type",
    "choice",
    "question_text",
    "answer_text|speaker",
    group="deposition_id",
    count=60,
)
def depositions(d: Draw) -> Row:
    kind = d.pick("leading", "open", "closed")
    return {
        "deposition_id": f"D{d.k // 6}",
        "line": d.k % 6 + 1,
        "speaker": d.pick("Q", "A"),
        "question_text": d.ask(kind),
        "question_type": kind,
    }


@schema("field_trials.jsonl", "disease", "choice", "observation", "crop|plot", group="plot", count=64)
def field_trials(d: Draw) -> Row:
    kind = d.pick("rust", "mildew", "none")
    return {
        "plot": f"P{d.k // 8:02}",
        "day": d.k % 8,
        "crop": d.pick("wheat", "barley"),
        "observation": d.text(kind),
        "disease": kind,
    }


@schema(
    "lectures.csv", "Answer", ("f1", "anls", "em", "rubric"), "Question", "Passage|Lecture", group="Lecture", count=60
)
def lectures(d: Draw) -> Row:
    return {"Lecture": f"L{d.k // 5}", "Slide": d.k % 5, "Question": d.ask(), "Answer": d.text(None, 1)}


# Numbers.


@schema("physics.csv", "numeric_answer", "number|quantity", "problem_statement", "given|topic")
def physics(d: Draw) -> Row:
    a, b = d.int(2, 60), d.int(2, 60)
    return {
        "problem_no": d.k + 1,
        "topic": d.pick("motion", "heat"),
        "problem_statement": f"A cart moves {a} m in {b} s {d.words(6)}. What is its speed?",
        "numeric_answer": round(a / b, 3),
        "solution_steps": f"v = {a}/{b}",
    }


@schema("shop_receipts.jsonl", "grand_total", "number", "receipt_text", "store")
def shop_receipts(d: Draw) -> Row:
    parts = [d.int(100, 900) / 100 for _ in range(3)]
    return {
        "scan": f"img_{d.k}.jpg",
        "store": d.pick("Kiosk", "Mart"),
        "receipt_text": "\n".join(f"{d.item()} {part:.2f}" for part in parts) + "\nTHANK YOU",
        "grand_total": round(sum(parts), 2),
    }


@schema("valuations.csv", "Appraised value", "number", "Lot description", "Artist|Medium|Period|Dimensions")
def valuations(d: Draw) -> Row:
    return {
        "Lot": d.k + 1,
        "Artist": d.name(),
        "Medium": d.pick("oil", "ink"),
        "Dimensions": f"{d.int(10, 90)} x {d.int(10, 90)} cm",
        "Lot description": d.text(None, 3),
        "Appraised value": d.int(100, 90000),
    }


# JSON answers.


@schema("addresses.csv", "parsed", "json", "raw_address")
def addresses(d: Draw) -> Row:
    number, city = d.int(1, 200), d.city()
    street = f"{d.words(1).title()} Street"
    return {
        "row": d.k,
        "raw_address": f"{number} {street.upper()}, {city}",
        "parsed": json.dumps({"house": str(number), "street": street, "city": city}),
    }


@schema("events.jsonl", "event", "json", "email", "sent_at")
def events(d: Draw) -> Row:
    day, place = d.date(), d.city()
    return {
        "email": f"Hi, {d.words(6)} let us meet in {place} on {day} about the {d.item()}.",
        "sent_at": d.moment(),
        "event": {"date": day, "place": place, "topic": d.item(), "attendees": [d.name()]},
    }


@schema("orders.jsonl", "order_json|structured", "json", "transcript")
def orders(d: Draw) -> Row:
    item, count = d.item(), d.int(1, 5)
    return {
        "call": d.hex(5),
        "transcript": f"hello I would like {count} {item} please {d.words(6)}",
        "structured": {"items": [{"sku": item, "qty": count}], "rush": d.pick(True, False)},
    }


# Tiny.


@schema("riddles.csv", "Solution", TEXT, "Riddle", count=7)
def riddles(d: Draw) -> Row:
    return {"Riddle": f"I have {d.words(4)} and no {d.words(2)}. What am I?", "Solution": f"a {d.item()} {d.k}"}


@schema("slang.tsv", "meaning", (*TEXT, "rubric"), "expression", "example", count=9)
def slang(d: Draw) -> Row:
    return {"expression": f"{d.words(2)} {d.k}", "meaning": d.words(5)}


@schema("triples.jsonl", "out", ("exact", *TEXT), "in", count=8)
def triples(d: Draw) -> Row:
    return {"in": f"{d.words(3)} {d.k}", "out": f"{d.words(3)} {d.k}".upper()}


# Long texts.


@schema("podcasts.jsonl", "show_notes", LONG, "transcript", "episode_title", count=30)
def podcasts(d: Draw) -> Row:
    return {
        "episode": d.k + 1,
        "episode_title": d.words(4).title(),
        "transcript": d.text(None, 60),
        "show_notes": d.text(None, 3),
        "duration_s": d.int(600, 5000),
    }


@schema("tenders.csv", "sector", "choice", "full_text", "title|buyer", count=36)
def tenders(d: Draw) -> Row:
    kind = d.pick("construction", "IT", "health")
    return {
        "notice": f"2023/{d.k}",
        "buyer": d.city(),
        "title": d.words(7, kind),
        "full_text": d.text(kind, 50),
        "sector": kind,
        "published_on": d.date(),
    }


@schema(
    "minutes.json",
    "action_items",
    ("f1", "em", "anls", "set", "list", "rubric", "json"),
    "minutes",
    "meeting",
    count=30,
)
def minutes(d: Draw) -> Row:
    return {
        "meeting": f"board {d.k}",
        "held_on": d.date(),
        "minutes": d.text(None, 40),
        "action_items": [d.text(None, 1) for _ in range(d.int(1, 3))],
    }


# As they come out of a pipeline.


@schema("pairs.jsonl", "human_label", "choice", "query_text|doc_text", "doc_title")
def ranked(d: Draw) -> Row:
    kind = d.pick("relevant", "partially", "irrelevant")
    return {
        "qid": f"q{d.k // 3}",
        "docid": d.hex(8),
        "query_text": d.words(4),
        "doc_title": d.words(5),
        "doc_text": d.text(kind, 4),
        "bm25": round(d.rng.random() * 20, 3),
        "human_label": kind,
    }


@schema("judged.csv", "human_score", "choice|number", "prompt|model_response", "reference")
def judged_replies(d: Draw) -> Row:
    score = d.int(1, 5)
    return {
        "sample": d.k,
        "prompt": d.ask(),
        "model_response": d.text(score),
        "judge_model": "gpt-4",
        "human_score": score,
        "rater": d.pick("r1", "r2"),
    }


@schema("corrections.csv", "corrected", (*TEXT, "rubric"), "original", "native_language")
def corrections(d: Draw) -> Row:
    text = d.text(None, 1)
    return {
        "learner": f"S{d.k}",
        "native_language": d.pick("de", "fr"),
        "original": text.replace("the", "teh"),
        "corrected": text,
    }


ALL: tuple[Schema, ...] = (
    *(claims, exit_interviews, incidents, moderation, turns, papers, recipes, hazards, songs, driving_theory),
    *(quiz_bank, vocab_test, russian, japanese, german_rulings, triage, species, loans, depositions, field_trials),
    *(lectures, physics, shop_receipts, valuations, addresses, events, orders, riddles, slang, triples, podcasts),
    *(tenders, minutes, ranked, judged_replies, corrections),
)
