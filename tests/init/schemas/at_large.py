"""More files that nobody published, in other trades, tongues and manners of naming."""

from init.datasets import TEXT
from init.schemas.draw import Draw, Schema, schema

Row = dict[str, object]
LONG = ("f1", "anls", "rubric")


@schema("support_export.csv", "ResolutionCode", "choice", "CustomerMessage", "ProductLine|AgentReply")
def support_export(d: Draw) -> Row:
    kind = d.pick("RC-REFUND", "RC-REPLACE", "RC-INFO")
    return {
        "CaseNumber": f"0000{d.int(1000, 9999)}",
        "ContactId": d.hex(15),
        "Origin": d.pick("Email", "Web"),
        "ProductLine": d.pick("Audio", "Video"),
        "CustomerMessage": d.text(kind),
        "AgentReply": d.text(kind),
        "CreatedDate": d.moment(),
        "ClosedDate": d.moment(),
        "IsEscalated": d.pick("TRUE", "FALSE"),
        "ResolutionCode": kind,
        "SurveyScore": d.pick("", 1, 5),
    }


@schema("hotel.csv", "Overall", "choice|number", "ReviewText", "ReviewTitle|TripType")
def hotel(d: Draw) -> Row:
    stars = d.int(1, 5)
    return {
        "HotelID": d.int(1, 30),
        "Reviewer": d.name(),
        "ReviewDate": d.date(),
        "TripType": d.pick("family", "business"),
        "ReviewTitle": d.words(4, stars),
        "ReviewText": d.text(stars, 4),
        "RoomNights": d.int(1, 9),
        "Overall": stars,
    }


@schema("moderated_ads.csv", "VIOLATION", "choice", "AD_COPY", "HEADLINE|LANDING_PAGE_TEXT|VERTICAL")
def moderated_ads(d: Draw) -> Row:
    kind = d.pick("none", "misleading", "adult", "weapons")
    return {
        "AD_ID": d.int(10**6, 10**7),
        "ADVERTISER": d.name(),
        "VERTICAL": d.pick("auto", "beauty"),
        "HEADLINE": d.words(5, kind),
        "AD_COPY": d.text(kind),
        "LANDING_URL": f"https://x.com/{d.hex(5)}",
        "SPEND_USD": d.int(1, 9999),
        "REVIEWER_ID": d.int(1, 9),
        "VIOLATION": kind,
    }


@schema("clauses.jsonl", "gold.clause_type", "choice", "clause.text", "contract.title|clause.heading")
def clauses(d: Draw) -> Row:
    kind = d.pick("indemnity", "warranty", "term")
    return {
        "contract": {"title": d.words(3).title(), "year": d.int(2000, 2020)},
        "clause": {"no": d.k, "text": d.text(kind, 3)},
        "gold": {"clause_type": kind, "agreed": True, "n_raters": 3},
    }


@schema("telemetry.jsonl", "verdict", "choice", "event.cmdline", "event.user")
def telemetry(d: Draw) -> Row:
    kind = d.pick("benign", "malicious")
    return {
        "@id": d.hex(10),
        "event": {"ts": d.moment(), "user": d.name(), "cmdline": f"powershell -c {d.words(6, kind)}"},
        "verdict": kind,
        "analyst": {"name": d.name(), "team": d.pick("a", "b")},
    }


@schema("catalog.json", "attributes", "json", "listing.description", "listing.title")
def catalog(d: Draw) -> Row:
    colour, size = d.pick("red", "blue", "green"), d.pick("S", "M", "L")
    return {
        "listing": {"title": f"{colour} {d.item()}", "description": f"{d.text(None, 2)} Colour {colour}, size {size}."},
        "attributes": {"colour": colour, "size": size, "material": d.pick("cotton", "steel")},
    }


@schema("symptoms.csv", "Symptoms", "set", "Patient statement", "Age band")
def symptoms(d: Draw) -> Row:
    some = d.several(("cough", "fever", "rash", "headache", "nausea"))
    return {
        "Case": d.k + 1,
        "Age band": d.pick("0-18", "19-64", "65+"),
        "Patient statement": d.text(some[0]),
        "Symptoms": "; ".join(some),
    }


@schema("movies_ml.jsonl", "keywords", "set", "plot", "title|year")
def movies_ml(d: Draw) -> Row:
    some = d.several(("heist", "romance", "space", "war", "school"))
    return {
        "imdb_id": f"tt{d.int(10**6, 10**7)}",
        "title": d.words(3).title(),
        "year": d.int(1960, 2020),
        "plot": d.text(some[0], 4),
        "keywords": some,
    }


@schema("acl.csv", "", "set", "review", count=60)
def acl(d: Draw) -> Row:
    names = ("mentions_price", "mentions_staff", "mentions_food", "mentions_noise")
    some = d.several(names)
    return {"rid": d.hex(6), "review": d.text(some[0], 3), **{name: int(name in some) for name in names}}


@schema("exam_pl.csv", "poprawna", "choice", "tresc|odp_a|odp_b|odp_c|odp_d", "dzial")
def exam_pl(d: Draw) -> Row:
    return {
        "nr": d.k + 1,
        "dzial": d.pick("algebra", "geometria"),
        "tresc": d.ask(),
        "odp_a": d.words(2),
        "odp_b": d.words(2),
        "odp_c": d.words(2),
        "odp_d": d.words(2),
        "poprawna": d.pick(*"ABCD"),
    }


@schema(
    "trivia_api.json",
    "correctAnswer|correct_answer",
    ("choice", *TEXT),
    "question",
    "incorrectAnswers|category|incorrect_answers",
    wrapped={"response_code": 0, "results": ...},
)
def trivia_api(d: Draw) -> Row:
    return {
        "type": "multiple",
        "difficulty": d.pick("easy", "hard"),
        "category": d.pick("Sports", "History"),
        "question": d.ask(),
        "correct_answer": f"{d.words(1)} {d.k}",
        "incorrect_answers": [d.words(1), d.words(2), d.words(1)],
    }


@schema("puzzles.jsonl", "bestMove", TEXT, "fen", "theme|sideToMove|rating")
def puzzles(d: Draw) -> Row:
    return {
        "puzzleId": d.hex(5),
        "fen": f"r1bq{d.int(1, 8)}/pp{d.hex(4)} w KQkq - 0 {d.k}",
        "sideToMove": d.pick("w", "b"),
        "theme": d.pick("fork", "pin"),
        "rating": d.int(800, 2500),
        "bestMove": f"{d.pick(*'abcdefgh')}{d.int(1, 8)}{d.pick(*'abcdefgh')}{d.int(1, 8)}",
    }


@schema("turkce.csv", "Duygu", "choice", "Yorum", "Ürün")
def turkish(d: Draw) -> Row:
    kind = d.pick("olumlu", "olumsuz", "nötr")
    return {
        "Sıra": d.k + 1,
        "Tarih": d.date("."),
        "Kullanıcı": d.pick("ayşe", "mehmet"),
        "Ürün": d.pick("kulaklık", "telefon"),
        "Yorum": d.text(kind),
        "Duygu": kind,
    }


@schema("hindi.jsonl", "वर्ग", "choice", "समाचार", "शीर्षक")
def hindi(d: Draw) -> Row:
    kind = d.pick("खेल", "राजनीति", "व्यापार")
    told = {
        "खेल": "टीम ने कल का मैच जीत लिया और कप्तान ने शतक लगाया",
        "राजनीति": "संसद में नया विधेयक पेश हुआ और मंत्री ने बयान दिया",
        "व्यापार": "शेयर बाजार में गिरावट आई और कंपनी का मुनाफा घटा",
    }[kind]
    return {"क्रम": d.k + 1, "शीर्षक": told[:14], "समाचार": f"{told} {d.int(1, 999)}", "वर्ग": kind, "तारीख": d.date()}


@schema("ouvidoria.csv", "Classificação", "choice", "Relato", "Assunto|Bairro", delimiter=";")
def portuguese(d: Draw) -> Row:
    kind = d.pick("Reclamação", "Elogio", "Sugestão")
    return {
        "Protocolo": f"2023{d.int(1000, 9999)}",
        "Data": d.date("/"),
        "Bairro": d.pick("Centro", "Norte"),
        "Relato": d.text(kind),
        "Classificação": kind,
        "Atendente": d.name(),
    }


@schema("sensor_notes.csv", "fault", "choice", "operator_note", "machine|temp_c|vibration", count=60)
def sensor_notes(d: Draw) -> Row:
    kind = d.pick("bearing", "belt", "none")
    return {
        "ts": d.moment(),
        "machine": d.pick("M1", "M2"),
        "temp_c": d.pick("", d.int(20, 90)),
        "vibration": d.pick("", round(d.rng.random(), 2)),
        "operator_note": d.text(kind, 1),
        "fault": "" if d.k % 8 == 1 else kind,
    }


@schema("museum.csv", "period", "choice", "curator_text", "object_name|material|provenance", count=60)
def museum(d: Draw) -> Row:
    kind = d.pick("Bronze Age", "Roman", "Medieval")
    return {
        "inv_no": f"{d.int(1900, 2000)}.{d.k}",
        "object_name": d.pick("bowl", "brooch", "coin"),
        "material": d.pick("", "clay", "gold"),
        "provenance": d.pick("", d.city()),
        "curator_text": d.pick(*[d.text(kind)] * 9, ""),
        "period": d.pick(*[kind] * 12, ""),
    }


@schema("surveys.jsonl", "nps_category", "choice", "why", "score|segment", count=60)
def surveys(d: Draw) -> Row:
    kind = d.pick("promoter", "passive", "detractor")
    return {
        "respondent": d.hex(6),
        "wave": d.pick("W1", "W2"),
        "segment": d.pick("SMB", None),
        "why": d.text(kind) if d.k % 11 else None,
        "nps_category": kind,
    }


@schema("chats_grouped.csv", "label", "choice", "msg", "sender", group="thread", count=66)
def chats_grouped(d: Draw) -> Row:
    kind = d.pick("complaint", "praise", "other")
    return {
        "thread": f"t{d.k // 6}",
        "n": d.k % 6,
        "sender": d.pick("guest", "host"),
        "msg": d.text(kind, 1),
        "label": kind,
    }


@schema("patients.csv", "adverse_event", "choice", "note_text", "visit|dose_mg|note_type", group="patient", count=64)
def patients(d: Draw) -> Row:
    kind = d.pick("yes", "no")
    return {
        "patient": f"PT-{d.k // 4:03}",
        "visit": d.k % 4 + 1,
        "dose_mg": d.pick(5, 10, 20),
        "note_text": d.text(kind, 3),
        "adverse_event": kind,
    }


@schema(
    "reading_tasks.jsonl",
    "model_answer|answer_key|sample_answer",
    (*LONG, "em"),
    "text|task",
    "text_title",
    group="text_id",
    count=60,
)
def reading_tasks(d: Draw) -> Row:
    return {
        "text_id": d.k // 5,
        "text": f"{d.k // 5}. {d.words(40, d.k // 5)}",
        "task": d.ask(),
        "sample_answer": d.text(None, 1),
    }


@schema("conversion.csv", "result", "number|quantity", "prompt", "from_unit|to_unit")
def conversion(d: Draw) -> Row:
    n = d.int(2, 900)
    return {"n": d.k, "prompt": f"Convert {n} km to m", "from_unit": "km", "to_unit": "m", "result": n * 1000}


@schema("estimates.jsonl", "effort_days", "number", "story", "title|acceptance_criteria")
def estimates(d: Draw) -> Row:
    return {
        "ticket": f"T-{d.k}",
        "title": d.words(5),
        "story": d.text(None, 3),
        "effort_days": round(0.5 + d.rng.random() * 30, 1),
        "sprint": d.int(1, 9),
    }


@schema("lab.csv", "concentration", "number|quantity|em", "procedure", "sample|analyte")
def lab(d: Draw) -> Row:
    return {
        "sample": f"S{d.k}",
        "analyte": d.pick("Na", "K"),
        "procedure": f"{d.text(None, 2)} Dilute {d.int(2, 50)} ml to {d.int(100, 500)} ml.",
        "concentration": f"{d.int(1, 900) / 10} mg/l",
    }


@schema("tool_use.jsonl", "call", "json", "user_utterance", "available_functions")
def tool_use(d: Draw) -> Row:
    city = d.city()
    return {
        "session": d.hex(6),
        "user_utterance": f"what is the weather in {city} in {d.int(2, 9)} days {d.words(3)}",
        "call": {"name": "get_weather", "arguments": {"city": city, "days": d.int(2, 9)}},
    }


@schema("resume_parse.jsonl", "parsed_fields", "json", "resume_text", "source_file")
def resume_parse(d: Draw) -> Row:
    who, years = d.name(), d.int(1, 30)
    return {
        "source_file": f"{d.hex(4)}.pdf",
        "resume_text": f"{who}. {d.text(None, 3)} {years} years of experience.",
        "parsed_fields": {"name": who, "years": years, "skills": d.several(("sql", "excel", "python"))},
    }


@schema("regexes.csv", "regex", ("exact", "em", "f1", "regex"), "description", "example_match")
def regexes(d: Draw) -> Row:
    return {
        "description": f"match {d.words(4)} with {d.int(1, 9)} digits",
        "regex": f"^\\w+\\d{{{d.int(1, 9)}}}(x{d.k})?$",
        "example_match": f"abc{d.int(1, 99)}",
    }


@schema("capitals.csv", "Capital", TEXT, "Country", count=10)
def capitals(d: Draw) -> Row:
    return {"Country": f"{d.words(1).title()}land {d.k}", "Capital": f"{d.words(1).title()} City {d.k}"}


@schema("proverbs.json", "ending", TEXT, "beginning", count=8)
def proverbs(d: Draw) -> Row:
    return {"beginning": f"A {d.words(4)} {d.k}", "ending": d.words(4)}


@schema("mini_sentiment.csv", "sentiment", ("choice", *TEXT), "sentence", count=12)
def mini_sentiment(d: Draw) -> Row:
    kind = d.pick("pos", "neg")
    return {"sentence": d.words(7, kind), "sentiment": kind}


@schema("court.jsonl", "outcome", "choice", "facts", "case_name|issue", count=36)
def court(d: Draw) -> Row:
    kind = d.pick("affirmed", "reversed", "remanded")
    return {
        "docket": f"{d.int(10, 99)}-{d.int(100, 999)}",
        "case_name": f"{d.name()} v. {d.name()}",
        "court": d.pick("2d Cir.", "9th Cir."),
        "facts": d.text(kind, 60),
        "outcome": kind,
        "decided": d.date(),
    }


@schema("earnings.csv", "abstract", LONG, "call_transcript", "company|quarter", count=30)
def earnings(d: Draw) -> Row:
    return {
        "ticker": d.hex(3).upper(),
        "quarter": d.pick("Q1", "Q2"),
        "call_transcript": d.text(None, 60),
        "abstract": d.text(None, 3),
    }


@schema("theses.jsonl", "discipline", "choice", "fulltext", "title|abstract", count=36)
def theses(d: Draw) -> Row:
    kind = d.pick("law", "medicine", "history")
    return {
        "handle": f"1721.1/{d.int(100, 999)}",
        "title": d.words(8, kind),
        "abstract": d.text(kind, 5),
        "fulltext": d.text(kind, 60),
        "discipline": kind,
        "advisor": d.name(),
        "degree_date": d.int(1990, 2020),
    }


@schema("dedupe.csv", "match", "choice", "name_a|name_b", "address_a|address_b")
def dedupe(d: Draw) -> Row:
    return {
        "pair": d.k,
        "name_a": f"{d.name()} Trading Company Ltd",
        "address_a": f"{d.int(1, 99)} High Street, {d.city()}",
        "name_b": f"{d.name()} Trading Co. Limited",
        "address_b": f"{d.int(1, 99)} High St, {d.city()}",
        "match": d.pick("yes", "no"),
    }


@schema("mt_quality.tsv", "da_score", "number|choice", "source|translation", "reference|lp")
def mt_quality(d: Draw) -> Row:
    return {
        "lp": "en-de",
        "source": d.text(None, 1),
        "translation": d.text(None, 1),
        "da_score": round(d.rng.random() * 100, 2),
        "annotators": d.int(1, 4),
    }


@schema("stories.jsonl", "continuation", (*LONG, "em"), "opening", "genre|title", count=40)
def stories(d: Draw) -> Row:
    return {
        "story": d.hex(6),
        "genre": d.pick("crime", "fable"),
        "opening": d.text(None, 3),
        "continuation": d.text(None, 3),
    }


ALL: tuple[Schema, ...] = (
    *(support_export, hotel, moderated_ads, clauses, telemetry, catalog, symptoms, movies_ml, acl, exam_pl, trivia_api),
    *(puzzles, turkish, hindi, portuguese, sensor_notes, museum, surveys, chats_grouped, patients, reading_tasks),
    *(conversion, estimates, lab, tool_use, resume_parse, regexes, capitals, proverbs, mini_sentiment, court, earnings),
    *(theses, dedupe, mt_quality, stories),
)
