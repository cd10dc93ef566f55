"""Two dozen files after data sets that people have, two of each of twelve shapes, each with the reading that is right.

The readings were written down before the code that proposes them was read, and a coin put one file of each shape into
`FIRST` and the other into `SECOND`: what the first set showed was mended before the second was opened, so the figure of
the second is blind. Nothing here looks at `whet`."""

# ruff: noqa: E501

import csv
import io
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

TEXT = ("em", "exact", "f1", "anls", "contains")
"""Checks that are right for an answer in free words."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a careful person would say of a file: any of `answer`, checked by any of `checks`; a prompt must show all of
    `shows` and nothing beyond `shows` and `may`; `group` is the column whose rows stay together, any where empty."""

    answer: tuple[str, ...]
    checks: tuple[str, ...]
    shows: tuple[str, ...]
    may: tuple[str, ...] = ()
    group: str = ""
    rows: int = 0


@dataclass(frozen=True, slots=True)
class DataFile:
    shape: str
    name: str
    write: Callable[[Path], None]
    reading: Reading


Row = dict[str, object]


def as_csv(rows: Sequence[Row], delimiter: str = ",", bom: bool = False) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter, lineterminator="\r\n" if bom else "\n")
    writer.writeheader()
    writer.writerows(rows)
    return ("\ufeff" if bom else "") + out.getvalue()


def write_csv(rows: Sequence[Row], path: Path, delimiter: str = ",", bom: bool = False) -> None:
    path.write_text(as_csv(rows, delimiter, bom), encoding="utf-8", newline="")


def write_lines(rows: Sequence[Row], path: Path) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def write_parquet(rows: Sequence[Row], path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)


# What sentences are made of.

CITIES = ("Leeds", "Porto", "Graz", "Tampere", "Lyon", "Utrecht", "Gdańsk", "Cork", "Malmö", "Turin", "Brno", "Bilbao")
PEOPLE = ("Aisha Khan", "Tom Becker", "Lucía Gómez", "Wei Zhang", "Priya Nair", "Jonas Lind", "Emma Clarke", "Omar Haddad",
          "Sofia Rossi", "Kofi Mensah", "Nina Petrova", "Daniel Ortiz")  # fmt: skip
ITEMS = ("desk lamp", "rain jacket", "espresso machine", "bike pump", "backpack", "headphones", "garden hose", "office chair",
         "water bottle", "camping stove", "wall clock", "keyboard")  # fmt: skip

COMPLAINTS = {
    "Delivery": (
        "The parcel with my {item} was due on Monday and tracking has not moved since it left {city}.",
        "Courier marked the {item} as handed over but nobody rang at our door in {city}, and the neighbours know nothing.",
        "Only half of the order came. The {item} is on the packing slip but it was not in the box sent to {city}.",
    ),
    "Billing": (
        "I was charged twice for the {item}, once on the 3rd and again on the 5th, both from the same card.",
        "The invoice for the {item} still carries the old VAT number of our branch in {city}, accounting will not take it.",
        "My voucher was accepted at checkout, yet the full price of the {item} left my account.",
    ),
    "Product defect": (
        "After nine days the {item} makes a grinding sound and then stops. I followed the leaflet step by step.",
        "The {item} arrived with a crack along the side; photographs are attached, taken in {city} on arrival.",
        "One of the screws of the {item} does not fit its thread, so the whole thing wobbles.",
    ),
    "Account access": (
        "I changed my phone and the login code goes to the old number, so I cannot see my {item} order any more.",
        "The reset mail never reaches me here in {city}, I have looked in spam as well and still need the {item} receipt.",
        "It says my account is locked after too many tries, though I only wanted to register the {item}.",
    ),
}


def fill(text: str, rng: random.Random) -> str:
    return text.format(item=rng.choice(ITEMS), city=rng.choice(CITIES), person=rng.choice(PEOPLE))


def complaint(rng: random.Random) -> tuple[str, str]:
    label = rng.choice(list(COMPLAINTS))
    return label, fill(rng.choice(COMPLAINTS[label]), rng)


# 1. Wide.


def helpdesk(path: Path) -> None:
    """An export of a help desk: what is asked, who handled it, how it went, and the category that was set."""
    rng = random.Random("helpdesk")
    rows: list[Row] = []
    for k in range(56):
        category, text = complaint(rng)
        rows.append({
            "Ticket ID": 48210 + k * 3, "Created at": f"2024-0{rng.randint(1, 9)}-{rng.randint(10, 28)} {rng.randint(8, 19)}:{rng.randint(10, 59)}",
            "Status": rng.choice(("closed", "closed", "solved", "open")), "Channel": rng.choice(("email", "web", "chat")),
            "Brand": rng.choice(("Northway", "Northway Outlet")), "Country": rng.choice(("DE", "GB", "PT", "SE", "FR")),
            "Requester": rng.choice(PEOPLE), "Assignee": rng.choice(("j.ward", "m.silva", "k.holm")),
            "First reply (min)": rng.randint(3, 900), "Full resolution (h)": round(rng.random() * 90, 1),
            "Replies": rng.randint(1, 9), "Reopens": rng.choice((0, 0, 0, 1, 2)), "SLA breached": rng.choice(("yes", "no", "no")),
            "CSAT": rng.choice(("good", "bad", "", "", "")), "Subject": rng.choice(("Order {0}", "Help needed, order {0}", "{0}", "Re: {0}")).format(rng.randint(100000, 999999)),
            "Description": text, "Category": category, "Last updated": f"2024-10-{rng.randint(10, 28)}",
        })  # fmt: skip
    write_csv(rows, path)


def survey(path: Path) -> None:
    """An export of a survey tool: whole questions as headers, and the theme that a coder gave the open answer."""
    rng = random.Random("survey")
    themes = {
        "Price": ("Too expensive compared with what my {person} at work pays elsewhere", "the yearly fee went up again without a word", "good value, I pay less than I did before in {city}"),
        "Staff": ("{person} at the desk went out of their way to help", "nobody greeted me and {person} was rude", "friendly people in the {city} branch"),
        "Opening hours": ("closed on Sundays when I have time", "I come from {city} after six and it is always shut", "open early, which suits my shift"),
        "Equipment": ("half of the machines were out of order", "new rowing machines are great, {person} and I use them daily", "showers are cold and lockers broken in {city}"),
    }  # fmt: skip
    rows: list[Row] = []
    for _k in range(52):
        theme = rng.choice(list(themes))
        score = rng.randint(0, 10)
        rows.append({
            "ResponseId": f"R_{rng.randrange(16**10):010x}", "StartDate": f"2024-03-{rng.randint(10, 28)} 09:{rng.randint(10, 59)}:00",
            "Duration (in seconds)": rng.randint(60, 800), "Finished": "True", "Q1 How old are you?": rng.choice(("18-24", "25-34", "35-49", "50+")),
            "Q2 Which site do you visit most?": rng.choice(CITIES[:5]), "Q3 How likely are you to recommend us (0-10)?": score,
            "Q3 NPS group": "Promoter" if score > 8 else "Passive" if score > 6 else "Detractor",
            "Q4 What is the main reason for your score?": fill(rng.choice(themes[theme]), rng) + rng.choice((".", "", "!", " :)")),
            "Q5 May we contact you?": rng.choice(("Yes", "No")), "Q4 coded theme": theme, "Coder": rng.choice(("AB", "CD")),
        })  # fmt: skip
    write_csv(rows, path)


# 2. Nested.


def squad(path: Path) -> None:
    """Questions on a paragraph, the answers as texts with their places, as SQuAD has them."""
    rng = random.Random("squad")
    rows: list[Row] = []
    for k in range(48):
        person, city, item = rng.choice(PEOPLE), rng.choice(CITIES), rng.choice(ITEMS)
        year, workers = rng.randint(1871, 1990), rng.randint(12, 900)
        context = (f"The {city} workshop of {person} opened in {year} and made its first {item} the year after. By the end of the "
                   f"decade it employed {workers} people, most of whom had come from the closed shipyard nearby.")  # fmt: skip
        question, answer = rng.choice((
            (f"When did the workshop of {person} open?", str(year)), (f"Who founded the workshop that made a {item} in {city}?", person),
            (f"How many people did {person}'s workshop employ by the end of the decade?", str(workers)), (f"What did the workshop in {city} make first?", item),
            (f"Where had most of {person}'s workers come from?", "the closed shipyard"), (f"In which city was {person}'s workshop?", city),
        ))  # fmt: skip
        start = context.index(answer)
        rows.append({"id": f"57{rng.randrange(16**20):020x}", "title": f"{city}_industry", "context": context, "question": question,
                     "answers": {"text": [answer, answer] if k % 3 else [answer], "answer_start": [start, start] if k % 3 else [start]}})  # fmt: skip
    write_lines(rows, path)


def chats(path: Path) -> None:
    """Chats of a system, a user and an assistant, as they are uploaded for fine-tuning; the assistant names a queue."""
    rng = random.Random("chats")
    rows: list[Row] = []
    for _ in range(50):
        label, text = complaint(rng)
        rows.append({"messages": [
            {"role": "system", "content": "You sort customer mails for Northway. Reply with the name of one queue."},
            {"role": "user", "content": text}, {"role": "assistant", "content": label}]})  # fmt: skip
    write_lines(rows, path)


# 3. Multi-label.


def films(path: Path) -> None:
    """Films with their genres in one cell, between commas."""
    rng = random.Random("films")
    plots = {
        "Drama": "{person} returns to {city} to bury a father nobody mourned", "Crime": "a fence in {city} is found dead beside a stolen {item}",
        "Comedy": "a mistaken order of four hundred {item}s upends a family hotel", "Thriller": "someone follows {person} through {city}, always one street behind",
        "Romance": "{person} keeps writing letters to a stranger in {city}", "Horror": "the {item} in the cellar moves a little every night",
    }  # fmt: skip
    rows: list[Row] = []
    for k in range(54):
        genres = rng.sample(list(plots), rng.choice((1, 2, 2, 3)))
        rows.append({"movie_id": 900 + k, "title": f"The {rng.choice(('Last', 'Other', 'Quiet', 'Second', 'Blue', 'Hollow'))} {rng.choice(ITEMS).title()}", "year": rng.randint(1962, 2023),
                     "overview": "; ".join(fill(plots[genre], rng) for genre in genres).capitalize() + ".", "genres": ", ".join(genres), "vote_average": round(rng.uniform(3, 9), 1)})  # fmt: skip
    write_csv(rows, path)


def papers(path: Path) -> None:
    """Papers with their subject classes between spaces, as arXiv lists them."""
    rng = random.Random("papers")
    topics = {
        "cs.CL": "language models that translate between rare dialects", "cs.LG": "gradient descent with stale momentum",
        "stat.ML": "posterior contraction of sparse priors", "cs.CV": "segmenting organs in noisy scans",
        "math.OC": "convergence of splitting methods on cones", "q-bio.NC": "spike trains of the mouse cortex",
    }  # fmt: skip
    rows: list[Row] = []
    for _ in range(50):
        classes = rng.sample(list(topics), rng.choice((1, 2, 2, 3)))
        rows.append({"id": f"{rng.randint(1801, 2312)}.{rng.randint(10000, 99999)}", "title": f"{rng.choice(('On', 'Towards', 'Revisiting', 'A note on'))} {topics[classes[0]]}",
                     "abstract": "We study " + " and ".join(topics[c] for c in classes) + f". On {rng.randint(3, 40)} benchmarks the method of {rng.choice(PEOPLE)} is improved by {rng.randint(1, 30)} percent.",
                     "authors": ", ".join(rng.sample(PEOPLE, 3)), "categories": " ".join(classes), "update_date": f"20{rng.randint(18, 23)}-0{rng.randint(1, 9)}-11"})  # fmt: skip
    write_lines(rows, path)


# 4. Multiple choice.


def exam(path: Path) -> None:
    """Exam questions with a list of choices and the place of the right one, from 0, as MMLU is published."""
    rng = random.Random("exam")
    rows: list[Row] = []
    for _k in range(48):
        a, b = rng.randint(12, 97), rng.randint(3, 19)
        subject, question, right = rng.choice((
            ("elementary_mathematics", f"A box holds {a} rows of {b} screws. How many screws are in it?", a * b),
            ("high_school_physics", f"A cart moves at {a} m/s for {b} s at constant speed. How far does it go, in metres?", a * b),
            ("high_school_microeconomics", f"A stall sells {a} items at {b} dollars each. What is its revenue in dollars?", a * b),
        ))  # fmt: skip
        options = [right, right + b, right - a, right + 10]
        rng.shuffle(options)
        rows.append(
            {
                "question": question,
                "subject": subject,
                "choices": [str(o) for o in options],
                "answer": options.index(right),
            }
        )
    write_lines(rows, path)


def science(path: Path) -> None:
    """School science with labelled choices in an object, and the label of the right one, as ARC is published."""
    rng = random.Random("science")
    facts = (
        ("Which part of a plant takes up most of the water?", "roots", ("petals", "leaves", "seeds")), ("What turns liquid water into vapour?", "heat", ("cold", "sound", "gravity")),
        ("Which object reflects light and makes none?", "the Moon", ("the Sun", "a candle", "a star")), ("What do bees carry from flower to flower?", "pollen", ("nectar cups", "soil", "roots")),
        ("Which material conducts electricity best?", "copper", ("rubber", "wood", "glass")), ("What causes day and night?", "Earth's rotation", ("Earth's orbit", "the tides", "the seasons")),
        ("Which gas do animals breathe out more of than they breathe in?", "carbon dioxide", ("oxygen", "helium", "nitrogen")), ("What kind of rock forms from lava?", "igneous rock", ("sediment", "limestone", "fossil")),
    )  # fmt: skip
    rows: list[Row] = []
    for k in range(40):
        stem, right, wrong = facts[k % len(facts)]
        opening = f"{rng.choice(PEOPLE).split()[0]} is studying {rng.choice(('for a test', 'with a friend', 'in the library', 'before school'))} in {rng.choice(CITIES)}. "
        options = [right, *wrong]
        rng.shuffle(options)
        labels = ["1", "2", "3", "4"] if k % 9 == 8 else ["A", "B", "C", "D"]
        rows.append(
            {
                "id": f"Mercury_{7000 + k * 7}",
                "question": (opening if k >= len(facts) else "") + stem,
                "choices": {"text": options, "label": labels},
                "answerKey": labels[options.index(right)],
            }
        )
    write_lines(rows, path)


# 5. Unicode.


def inquiries(path: Path) -> None:
    """Inquiries to a Japanese shop and the department that takes them."""
    rng = random.Random("inquiries")
    texts = {
        "配送": ("注文した{0}がまだ届きません。追跡番号を教えてください。", "{0}の配達日を来週に変更できますか。", "届いた箱に{0}が入っていませんでした。"),
        "返品": ("{0}のサイズが合わないので返品したいです。", "{0}を交換してもらえますか。未使用です。", "返品した{0}の返金はいつになりますか。"),
        "支払い": ("{0}の代金が二重に請求されています。", "{0}を分割払いに変更したいのですが。", "{0}の領収書を会社名で発行してください。"),
    }  # fmt: skip
    goods = ("帽子", "傘", "やかん", "自転車", "時計", "靴", "本棚", "毛布", "椅子")
    rows: list[Row] = []
    for k in range(45):
        label = rng.choice(list(texts))
        rows.append(
            {
                "受付番号": f"Q{2000 + k}",
                "受付日": f"2024/0{rng.randint(1, 9)}/{rng.randint(10, 28)}",
                "問い合わせ内容": rng.choice(texts[label]).format(rng.choice(goods)),
                "担当部署": label,
            }
        )
    write_csv(rows, path)


def reviews(path: Path) -> None:
    """Russian reviews with their tone, semicolons between the cells, a mark at the beginning, as a spreadsheet saves them."""
    rng = random.Random("reviews")
    texts = {
        "положительная": ("Отличный номер, тихо и чисто, вид на {0}.", "Персонал очень вежливый; завтрак — лучший в городе {0}!", "Приедем ещё раз, «{0}» нам понравился."),
        "отрицательная": ("В номере холодно, окно на {0} не закрывается.", "Ждали заселения три часа; никто не извинился. {0} больше не увидит нас.", "Грязно, шумно, дорого — {0} разочаровал."),
        "нейтральная": ("Обычная гостиница рядом с {0}, ничего особенного.", "Останавливались на одну ночь по пути в {0}.", "Цена соответствует качеству; до {0} десять минут."),
    }  # fmt: skip
    places = ("Казань", "набережная", "вокзал", "парк", "театр", "Суздаль", "озеро", "Тверь")
    rows: list[Row] = []
    for k in range(48):
        label = rng.choice(list(texts))
        rows.append(
            {
                "№": k + 1,
                "Дата": f"{rng.randint(10, 28)}.0{rng.randint(1, 9)}.2024",
                "Город": rng.choice(("Казань", "Тверь", "Суздаль")),
                "Текст отзыва": rng.choice(texts[label]).format(rng.choice(places)),
                "Тональность": label,
            }
        )
    write_csv(rows, path, ";", bom=True)


# 6. Missing values.


def devices(path: Path) -> None:
    """Fault reports of devices; many cells are empty, the fault class of every row is there."""
    rng = random.Random("devices")
    faults = {
        "power": ("Pump {0} will not start after the outage, breaker trips at once.", "No voltage at terminal {0} of the panel.", "Battery {0} drains within the hour."),
        "sensor": ("Reading of probe {0} frozen at the same value since morning.", "Temperature sensor {0} reports minus forty in the hall.", "Level gauge {0} jumps between full and empty."),
        "network": ("Gateway {0} drops off the bus every few minutes.", "No packets from node {0} after the update.", "Controller {0} cannot reach the historian."),
    }  # fmt: skip
    rows: list[Row] = []
    for k in range(54):
        fault = rng.choice(list(faults))
        rows.append({"report_no": f"FR-{3300 + k}", "site": rng.choice(("north", "south", "", "")), "serial": rng.choice(("", f"SN{rng.randint(10000, 99999)}")),
                     "firmware": rng.choice(("2.1", "2.3", "N/A", "")), "reported_by": rng.choice(("", "operator", "contractor")),
                     "report": rng.choice(faults[fault]).format(rng.randint(2, 40)), "photo_url": "", "downtime_h": rng.choice(("", "2", "5", "n/a")), "fault_class": fault, "comment": rng.choice(("", "", "", "checked by shift lead"))})  # fmt: skip
    write_csv(rows, path)


def records(path: Path) -> None:
    """Notes of a clinic with a code; a tenth of the notes has not been coded."""
    rng = random.Random("records")
    codes = {
        "J06.9": ("Sore throat and runny nose for {0} days, no fever, lungs clear.", "Cold since the weekend, {0} days of cough, chest normal."),
        "M54.5": ("Low back pain after lifting boxes {0} days ago, no numbness.", "Dull ache in the lower back for {0} weeks, worse in the morning."),
        "I10": ("Blood pressure 15{0}/95 on repeat, no symptoms, diet discussed.", "Follow-up for high pressure, home log around 16{0}/100."),
        "E11.9": ("Fasting glucose 1{0}2, thirst, known type 2, no complications.", "Diabetes check, HbA1c 7.{0}, feet without findings."),
    }  # fmt: skip
    rows: list[Row] = []
    for k in range(60):
        code = rng.choice(list(codes))
        rows.append(
            {
                "encounter": 88000 + k,
                "age": rng.randint(19, 88),
                "sex": rng.choice(("F", "M")),
                "note": rng.choice(codes[code]).format(rng.randint(2, 9)) + f" Seen by {rng.choice(PEOPLE)}.",
                "icd10": ("", "NA", "")[k % 3] if k % 10 == 4 else code,
            }
        )
    write_csv(rows, path)


# 7. Grouped rows.


def dialogues(path: Path) -> None:
    """Turns of telephone calls with the act of each; the turns of a call belong together."""
    rng = random.Random("dialogues")
    acts = {
        "greeting": ("Good morning, this is {person} from Northway.", "Hello, {person} speaking."),
        "question": ("Could you give me the number of the {item} order?", "Which address in {city} should it go to?", "When did you buy the {item}?"),
        "inform": ("I ordered a {item} two weeks ago.", "It is the flat above the bakery in {city}.", "The {item} never worked properly."),
        "closing": ("Thanks, that was all. Goodbye!", "Have a good day in {city}, bye."),
    }  # fmt: skip
    rows: list[Row] = []
    for call in range(14):
        for turn, act in enumerate(("greeting", *rng.choices(("question", "inform"), k=rng.randint(2, 4)), "closing")):
            rows.append(
                {
                    "call_id": f"call-{call:03d}",
                    "turn": turn,
                    "speaker": rng.choice(("agent", "caller")),
                    "utterance": fill(rng.choice(acts[act]), rng),
                    "dialog_act": act,
                }
            )
    write_csv(rows, path)


def passages(path: Path) -> None:
    """Questions of yes and no, several on each passage, as BoolQ has them with the passage's number kept."""
    rng = random.Random("passages")
    rows: list[Row] = []
    for number in range(15):
        person, city, item, year = rng.choice(PEOPLE), rng.choice(CITIES), rng.choice(ITEMS), rng.randint(1890, 1995)
        passage = (f"The bridge at {city} was rebuilt in {year} after a flood took the old one. {person}, who drew the plans, also designed "
                   f"a {item} that was sold across the region, and the toll was dropped {rng.randint(2, 9)} years later.")  # fmt: skip
        for question, answer in rng.sample((
            (f"was the bridge at {city} rebuilt after a flood", True), (f"did {person} draw the plans of the bridge", True), (f"is there still a toll on the bridge at {city}", False),
            (f"was the bridge rebuilt before {year - 20}", False), (f"did {person} design a {item}", True), (f"was the old bridge at {city} destroyed by fire", False)), 4):  # fmt: skip
            rows.append({"passage_id": number, "passage": passage, "question": question, "answer": answer})
    rng.shuffle(rows)
    write_lines(rows, path)


# 8. Numbers.


def word_problems(path: Path) -> None:
    """School arithmetic with a worked solution that ends in `#### 72`, as GSM8K is published."""
    rng = random.Random("problems")
    rows: list[Row] = []
    for _ in range(50):
        name, a, b, c = rng.choice(PEOPLE).split()[0], rng.randint(3, 40), rng.randint(2, 12), rng.randint(2, 60)
        item = rng.choice(ITEMS)
        question, steps, right = rng.choice((
            (f"{name} buys {a} {item}s at ${b} each and pays with a voucher worth ${c // 2}. How much is left to pay?", f"The {item}s cost {a}*{b}=<<{a}*{b}={a * b}>>{a * b} dollars.\nAfter the voucher {a * b}-{c // 2}=<<{a * b}-{c // 2}={a * b - c // 2}>>{a * b - c // 2} dollars are left.", a * b - c // 2),
            (f"A shelf holds {a} boxes with {b} {item}s each. {name} adds {c} more. How many {item}s are there now?", f"First there are {a}*{b}=<<{a}*{b}={a * b}>>{a * b}.\nThen {a * b}+{c}=<<{a * b}+{c}={a * b + c}>>{a * b + c}.", a * b + c),
        ))  # fmt: skip
        rows.append({"question": question, "answer": f"{steps}\n#### {right:,}"})
    write_lines(rows, path)


def invoices(path: Path) -> None:
    """Texts of invoices with the amount that is due, written with a comma for thousands."""
    rng = random.Random("invoices")
    rows: list[Row] = []
    for _k in range(46):
        price, count, shipping = rng.randint(15, 900), rng.randint(2, 9), rng.choice((0, 12, 25))
        total = price * count + shipping
        rows.append({"invoice_no": f"INV-{rng.randint(10000, 99999)}", "vendor": f"{rng.choice(CITIES)} Trading Ltd", "ocr_text": f"INVOICE to {rng.choice(PEOPLE)} | {count} x {rng.choice(ITEMS)} at {price}.00 | shipping {shipping}.00 | terms: {rng.choice((14, 30, 60))} days, net | order ref {rng.randint(1000, 9999)}",
                     "currency": "EUR", "amount_due": f"{total:,}.00", "paid_on": f"2023-1{rng.randint(0, 2)}-{rng.randint(10, 28)}"})  # fmt: skip
    write_csv(rows, path)


# 9. JSON answers.


def receipts(path: Path) -> None:
    """Texts of receipts in a CSV, with the fields that are to be read off as an object in a cell."""
    rng = random.Random("receipts")
    rows: list[Row] = []
    for k in range(44):
        shop, day, total, method = (
            f"{rng.choice(CITIES)} Market",
            f"2024-0{rng.randint(1, 9)}-{rng.randint(10, 28)}",
            round(rng.uniform(4, 180), 2),
            rng.choice(("card", "cash")),
        )
        text = rng.choice(
            (
                "{shop} | {day} | {item} | TOTAL {total} | paid by {method}",
                "Thank you for shopping at {shop}! {item} ... {total} EUR ({method}) on {day}",
                "{day} {method} payment of {total} at {shop} for one {item}",
            )
        )
        rows.append({"file": f"scan_{k:04d}.png", "receipt": text.format(shop=shop, day=day, total=total, method=method, item=rng.choice(ITEMS)),
                     "target": json.dumps({"shop": shop, "date": day, "total": total, "method": method})})  # fmt: skip
    write_csv(rows, path)


def calls(path: Path) -> None:
    """Wishes, the functions that can be called, and the call that is right, as data for tool use has it."""
    rng = random.Random("calls")
    tools: list[Row] = [
        {"name": "set_alarm", "description": "Set an alarm", "parameters": {"hour": "int", "label": "str"}},
        {"name": "get_weather", "description": "Weather of a day", "parameters": {"city": "str", "days_ahead": "int"}},
        {
            "name": "add_item",
            "description": "Put an item on the shopping list",
            "parameters": {"item": "str", "count": "int"},
        },
    ]
    rows: list[Row] = []
    for k in range(45):
        city, item, number, who = (
            rng.choice(CITIES),
            rng.choice(ITEMS),
            rng.randint(1, 9),
            rng.choice(PEOPLE).split()[0],
        )
        query, call = rng.choice((
            (f"Wake me at {number} so I can phone {who}", {"name": "set_alarm", "arguments": {"hour": number, "label": f"phone {who}"}}),
            (f"What will it be like in {city} in {number} days?", {"name": "get_weather", "arguments": {"city": city, "days_ahead": number}}),
            (f"{who} wants {number} of that {item}, note it down", {"name": "add_item", "arguments": {"item": item, "count": number}}),
        ))  # fmt: skip
        rows.append({"id": k, "query": query, "tools": tools, "answer": call})
    write_lines(rows, path)


# 10. Tiny.


def questions(path: Path) -> None:
    """Eight questions that a new colleague asks, with the short answer."""
    pairs = (
        ("Where do I park?", "Garage B, level 2"), ("What is the guest wifi called?", "northway-guest"), ("Who signs travel requests?", "your team lead"), ("When is payday?", "the 25th"),
        ("How many days of leave do I get?", "28"), ("Which form is for sick leave?", "HR-12"), ("Where is the first aid kit?", "next to the lift"), ("What is the extension of the help desk?", "4400"),
    )  # fmt: skip
    write_csv([{"Question": q, "Answer": a} for q, a in pairs], path)


def instructions(path: Path) -> None:
    """Ten instructions, some with an input, and the output, as Alpaca has them, in an array."""
    rows: list[Row] = [
        {"instruction": "Turn the sentence into the past tense.", "input": "She walks to the station.", "output": "She walked to the station."},
        {"instruction": "Name the capital of Portugal.", "input": "", "output": "Lisbon"},
        {"instruction": "Give the opposite of the word.", "input": "generous", "output": "stingy"},
        {"instruction": "Sort the numbers from small to large.", "input": "9, 2, 14, 7", "output": "2, 7, 9, 14"},
        {"instruction": "How many minutes are in two and a half hours?", "input": "", "output": "150"},
        {"instruction": "Correct the spelling.", "input": "He recieved the pakage yesterday.", "output": "He received the package yesterday."},
        {"instruction": "Which planet is nearest to the Sun?", "input": "", "output": "Mercury"},
        {"instruction": "Translate into French.", "input": "Good evening", "output": "Bonsoir"},
        {"instruction": "Write the plural.", "input": "mouse", "output": "mice"},
        {"instruction": "What is the chemical symbol of sodium?", "input": "", "output": "Na"},
    ]  # fmt: skip
    path.write_text(json.dumps(rows, indent=2), encoding="utf-8")


# 11. Long texts.


def contracts(path: Path) -> None:
    """Contracts of some pages with the law that governs them; the label stands before the text."""
    rng = random.Random("contracts")
    clauses = (
        "The Supplier shall deliver the {item} to the premises in {city} within thirty days of the order.", "Either party may end this Agreement with ninety days of written notice to {person}.",
        "Confidential information includes drawings, price lists and the {item} samples.", "Payment is due within sixty days of receipt of a correct invoice, sent to {person} in {city}.",
        "Neither party is liable for delay that is caused by events beyond its reasonable control.", "The Buyer may inspect the {item} at the works in {city} at any time during office hours.",
        "Any amendment must be in writing and signed by {person}.", "Risk in the {item} passes on delivery, title on payment in full.",
    )  # fmt: skip
    states = ("Delaware", "New York", "California", "Texas")
    rows: list[Row] = []
    for k in range(40):
        law = rng.choice(states)
        body = [fill(rng.choice(clauses), rng) for _ in range(34)]
        body.insert(
            rng.randint(3, 30),
            f"This Agreement is governed by the laws of the State of {law}, and its courts have jurisdiction.",
        )
        rows.append(
            {
                "governing_law": law,
                "filename": f"{rng.choice(CITIES)}_{rng.choice(('MSA', 'NDA', 'Supply'))}_{k:03d}.pdf",
                "contract": "\n\n".join(f"{n + 1}. {text}" for n, text in enumerate(body)),
            }
        )
    write_lines(rows, path)


def news(path: Path) -> None:
    """Articles with the points that an editor made of them, as CNN/Daily Mail has them."""
    rng = random.Random("news")
    lines = (
        "{person}, who has run the {item} stall in {city} since the spring, said trade had never been slower.", "Officials in {city} declined to comment on the cost of the works.",
        "A spokesman for the council pointed to a report that had been delayed twice.", "Residents gathered outside the town hall, some of them holding a {item}.",
        "The matter returns to the court in {city} next month, when {person} is to give evidence.", "Shops along the river opened late because of the closure.",
    )  # fmt: skip
    rows: list[Row] = []
    for _k in range(40):
        person, city, cost = rng.choice(PEOPLE), rng.choice(CITIES), rng.randint(2, 90)
        article = (
            f"({city}) The council of {city} has voted to close its tram depot, a decision that will save {cost} million euros. "
            + " ".join(fill(rng.choice(lines), rng) for _ in range(26))
            + f" {person}, the mayor, called it a sad day."
        )
        rows.append(
            {
                "id": f"{rng.randrange(16**24):024x}",
                "article": article,
                "highlights": f"{city} will close its tram depot.\nThe step saves {cost} million euros.\nMayor {person} calls it a sad day.",
            }
        )
    write_csv(rows, path)


# 12. Parquet.


def programs(path: Path) -> None:
    """Small tasks of programming with a solution and lists of assertions, as MBPP is published."""
    rng = random.Random("programs")
    rows: list[Row] = []
    for k in range(36):
        n = rng.randint(2, 60)
        text, name, body, tests = rng.choice((
            (f"Write a function to add {n} to every element of a list.", f"add_{n}", f"    return [x + {n} for x in items]", [([1, 2], [1 + n, 2 + n]), ([], []), ([5], [5 + n])]),
            (f"Write a function to find the numbers of a list that {n} divides.", f"multiples_of_{n}", f"    return [x for x in items if x % {n} == 0]", [([n, n + 1], [n]), ([0], [0]), ([3 * n, 1], [3 * n])]),
            (f"Write a function to drop the elements of a list that are above {n}.", f"cap_{n}", f"    return [x for x in items if x <= {n}]", [([n, n + 1], [n]), ([], []), ([0, n + 9], [0])]),
        ))  # fmt: skip
        rows.append(
            {
                "task_id": 600 + k,
                "text": text,
                "code": f"def {name}(items):\r\n{body}",
                "test_list": [f"assert {name}({a!r}) == {b!r}" for a, b in tests],
                "test_setup_code": "",
                "challenge_test_list": [],
            }
        )
    write_parquet(rows, path)


def headlines(path: Path) -> None:
    """Headlines with the number of a class and its name beside it, as classification sets on a hub have them."""
    rng = random.Random("headlines")
    kinds = (
        ("World", ("Ministers meet in {city} over border talks", "Aid convoy led by {person} reaches flooded {city}", "Vote in {city} ends without a majority")),
        ("Sports", ("{person} wins the {city} marathon by a second", "{city} beat champions on penalties", "Coach {person} leaves {city} after defeat")),
        ("Business", ("Maker of the {item} cuts forecast, shares slide in {city}", "{person} to head {city} bank after merger", "Sales of the {item} double in a year")),
        ("Sci/Tech", ("New sensor turns a {item} into a weather station", "{person}'s team in {city} maps a comet in detail", "Bug in {item} firmware leaks passwords")),
    )  # fmt: skip
    rows: list[Row] = []
    for _ in range(56):
        label = rng.randrange(4)
        rows.append(
            {
                "text": fill(rng.choice(kinds[label][1]), rng) + rng.choice((".", " - report.", "", " (update).")),
                "label": label,
                "label_text": kinds[label][0],
            }
        )
    write_parquet(rows, path)


FILES = (
    DataFile("wide", "helpdesk.csv", helpdesk, Reading(("Category",), ("choice",), ("Description",), ("Subject", "Brand", "Channel", "Country"), rows=56)),
    DataFile("wide", "survey.csv", survey, Reading(("Q4 coded theme",), ("choice",), ("Q4 What is the main reason for your score?",), ("Q3 How likely are you to recommend us (0-10)?",), rows=52)),
    DataFile("nested", "squad.jsonl", squad, Reading(("answers.text",), TEXT, ("context", "question"), ("title",), rows=48)),
    DataFile("nested", "chats.jsonl", chats, Reading(("messages.answer",), ("choice",), ("messages.question",), rows=50)),
    DataFile("multi-label", "films.csv", films, Reading(("genres",), ("set",), ("overview",), ("title", "year"), rows=54)),
    DataFile("multi-label", "papers.jsonl", papers, Reading(("categories",), ("set",), ("abstract",), ("title",), rows=50)),
    DataFile("multiple choice", "exam.jsonl", exam, Reading(("answer",), ("choice",), ("question", "choices"), ("subject",), rows=48)),
    DataFile("multiple choice", "science.jsonl", science, Reading(("answerKey",), ("choice",), ("question", "choices.text"), ("choices.label", "choices"), rows=40)),
    DataFile("unicode", "inquiries.csv", inquiries, Reading(("担当部署",), ("choice",), ("問い合わせ内容",), rows=45)),
    DataFile("unicode", "reviews.csv", reviews, Reading(("Тональность",), ("choice",), ("Текст отзыва",), ("Город",), rows=48)),
    DataFile("missing values", "devices.csv", devices, Reading(("fault_class",), ("choice",), ("report",), ("site", "serial", "firmware"), rows=54)),
    DataFile("missing values", "records.csv", records, Reading(("icd10",), ("choice",), ("note",), ("age", "sex"), rows=54)),
    DataFile("grouped rows", "dialogues.csv", dialogues, Reading(("dialog_act",), ("choice",), ("utterance",), ("speaker", "turn"), "call_id")),
    DataFile("grouped rows", "passages.jsonl", passages, Reading(("answer",), ("choice", "exact", "em"), ("passage", "question"), (), "passage_id", 60)),
    DataFile("numbers", "word_problems.jsonl", word_problems, Reading(("answer.final",), ("number",), ("question",), rows=50)),
    DataFile("numbers", "invoices.csv", invoices, Reading(("amount_due",), ("number", "quantity"), ("ocr_text",), ("currency", "vendor"), rows=46)),
    DataFile("JSON answers", "receipts.csv", receipts, Reading(("target",), ("json",), ("receipt",), rows=44)),
    DataFile("JSON answers", "calls.jsonl", calls, Reading(("answer",), ("json",), ("query", "tools"), rows=45)),
    DataFile("tiny", "questions.csv", questions, Reading(("Answer",), TEXT, ("Question",), rows=8)),
    DataFile("tiny", "instructions.json", instructions, Reading(("output",), TEXT, ("instruction", "input"), rows=10)),
    DataFile("long texts", "contracts.jsonl", contracts, Reading(("governing_law",), ("choice",), ("contract",), rows=40)),
    DataFile("long texts", "news.csv", news, Reading(("highlights",), ("f1", "anls", "rubric"), ("article",), rows=40)),
    DataFile("Parquet", "programs.parquet", programs, Reading(("code", "test_list"), ("code",), ("text",), ("test_setup_code",), rows=36)),
    DataFile("Parquet", "headlines.parquet", headlines, Reading(("label_text", "label"), ("choice",), ("text",), rows=56)),
)  # fmt: skip


def toss() -> tuple[tuple[DataFile, ...], tuple[DataFile, ...]]:
    """A coin for each shape says which of its two files is in the first set."""
    coin = random.Random("first or second")
    pairs = list(zip(FILES[::2], FILES[1::2], strict=True))
    thrown = [pair if coin.random() < 0.5 else pair[::-1] for pair in pairs]
    return tuple(pair[0] for pair in thrown), tuple(pair[1] for pair in thrown)


FIRST, SECOND = toss()
