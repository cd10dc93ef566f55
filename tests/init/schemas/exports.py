"""What tools write out: help desks, trackers, labelling tools, forms, chats, spreadsheets in several languages."""

from init.datasets import TEXT
from init.schemas.draw import Draw, Schema, schema

Row = dict[str, object]
KINDS = ("Billing", "Bug", "How-to", "Account")


@schema("jira.csv", "Issue Type|Priority|Component/s", "choice", "Description", "Summary|Project key")
def jira(d: Draw) -> Row:
    kind = d.pick("Bug", "Task", "Story")
    return {
        "Summary": d.words(7, kind),
        "Issue key": f"APP-{d.k + 100}",
        "Issue id": 10500 + d.k,
        "Issue Type": kind,
        "Status": d.pick("Done", "Closed"),
        "Project key": "APP",
        "Priority": d.pick("Low", "Medium", "High"),
        "Resolution": "Done",
        "Assignee": d.name(),
        "Reporter": d.name(),
        "Created": f"{d.int(1, 28)}/Mar/23 9:14 AM",
        "Updated": f"{d.int(1, 28)}/Apr/23 9:14 AM",
        "Description": d.text(kind, 3),
        "Sprint": d.pick("Sprint 4", "Sprint 5"),
    }


@schema("github_issues.jsonl", "labels.name|labels", "set", "title|body")
def github(d: Draw) -> Row:
    some = d.several(("bug", "docs", "enhancement", "question"), 2)
    return {
        "url": f"https://api.github.com/repos/x/y/issues/{d.k}",
        "id": d.int(10**8, 10**9),
        "number": d.k + 1,
        "title": d.words(6, some[0]),
        "user": {"login": d.name().split()[0].lower(), "id": d.int(1, 9999)},
        "labels": [{"id": len(name), "name": name, "color": "d73a4a"} for name in some],
        "state": d.pick("open", "closed"),
        "locked": False,
        "comments": d.int(0, 9),
        "created_at": d.moment(),
        "body": d.text(some[0], 3),
    }


@schema("intercom.csv", "topic|Topic", "choice", "first_message", "channel")
def intercom(d: Draw) -> Row:
    kind = d.pick(*KINDS)
    return {
        "conversation_id": 2150 + d.k * 7,
        "started_at": d.moment(),
        "channel": d.pick("Messenger", "Email"),
        "contact_name": d.name(),
        "contact_email": f"{d.name().split()[0].lower()}@x.com",
        "teammate": d.name(),
        "first_message": d.text(kind),
        "topic": kind,
        "csat_rating": d.pick("", 3, 4, 5),
        "time_to_first_reply_s": d.int(20, 9000),
        "reopened": d.pick("true", "false"),
    }


@schema("freshdesk.csv", "Type|Priority|Group", "choice", "Description", "Subject|Product")
def freshdesk(d: Draw) -> Row:
    kind = d.pick("Question", "Incident", "Problem", "Refund")
    return {
        "Ticket ID": 40 + d.k,
        "Subject": d.words(5, kind),
        "Description": d.text(kind, 3),
        "Status": d.pick("Closed", "Resolved"),
        "Priority": d.pick("Low", "High", "Urgent"),
        "Source": d.pick("Email", "Portal", "Phone"),
        "Type": kind,
        "Agent": d.name(),
        "Group": d.pick("Tier 1", "Tier 2"),
        "Created time": f"{d.date()} 10:11:12",
        "Resolution time (in hrs)": f"{d.int(0, 90)}:{d.int(10, 59)}:11",
        "Customer interactions": d.int(1, 9),
        "Full name": d.name(),
        "Email": f"u{d.k}@x.org",
    }


@schema("label_studio.csv", "sentiment", "choice", "text")
def label_studio(d: Draw) -> Row:
    label = d.pick("Positive", "Negative", "Neutral")
    return {
        "annotation_id": 7000 + d.k,
        "annotator": d.pick(1, 2, 3),
        "created_at": d.moment(),
        "id": d.k + 1,
        "lead_time": round(d.rng.random() * 20, 3),
        "sentiment": label,
        "text": d.text(label),
        "updated_at": d.moment(),
    }


@schema("label_studio_min.json", "topic", "set", "text")
def label_studio_min(d: Draw) -> Row:
    some = d.several(("price", "delivery", "quality", "support"))
    topic: object = {"choices": some} if len(some) > 1 else some[0]
    return {
        "text": d.text(some[0]),
        "id": d.k,
        "topic": some if isinstance(topic, dict) else topic,
        "annotator": 1,
        "annotation_id": d.k + 9,
        "created_at": d.moment(),
        "updated_at": d.moment(),
        "lead_time": 3.2,
    }


@schema("prodigy_textcat.jsonl", "accept", "choice|set", "text", "options|options.text|options.id")
def prodigy(d: Draw) -> Row:
    label = d.pick("SPORTS", "POLITICS", "TECH")
    return {
        "text": d.text(label),
        "_input_hash": d.int(-(10**9), 10**9),
        "_task_hash": d.int(-(10**9), 10**9),
        "options": [{"id": name, "text": name} for name in ("SPORTS", "POLITICS", "TECH")],
        "_view_id": "choice",
        "accept": [label],
        "config": {"choice_style": "single"},
        "answer": "accept",
        "_timestamp": 1600000000 + d.k,
    }


@schema("prodigy_ner.jsonl", "spans", "spans", "text")
def prodigy_ner(d: Draw) -> Row:
    who, place = d.name(), d.city()
    text = f"{who} {d.words(4)} in {place}"
    spans = [(0, len(who), "PERSON"), (len(text) - len(place), len(text), "GPE")]
    return {
        "text": text,
        "_input_hash": d.int(1, 10**9),
        "_task_hash": d.int(1, 10**9),
        "tokens": [{"text": word, "start": 0, "end": len(word), "id": n} for n, word in enumerate(text.split())],
        "_view_id": "ner_manual",
        "spans": [{"start": a, "end": b, "label": label, "token_start": 0, "token_end": 1} for a, b, label in spans],
        "answer": "accept",
    }


@schema("doccano_ner.jsonl", "label", "spans", "text")
def doccano(d: Draw) -> Row:
    who = d.name()
    return {"id": d.k, "text": f"{who} {d.words(7)}", "label": [[0, len(who), d.pick("PER", "ORG")]], "Comments": []}


@schema("doccano_class.jsonl", "label", "choice|set", "text")
def doccano_class(d: Draw) -> Row:
    label = d.pick("positive", "negative")
    return {"id": d.k, "text": d.text(label), "label": [label], "Comments": []}


@schema("argilla.jsonl", "label", "choice", "text")
def argilla(d: Draw) -> Row:
    label = d.pick("spam", "ham")
    return {
        "id": d.hex(32),
        "status": "completed",
        "text": d.text(label),
        "label": label,
        "label.suggestion": d.pick("spam", "ham"),
        "label.suggestion.agent": "setfit",
        "label.suggestion.score": round(d.rng.random(), 3),
        "metadata": {"source": d.pick("a", "b")},
        "inserted_at": d.moment(),
        "updated_at": d.moment(),
    }


@schema(
    "google_form.csv",
    "Coded reason",
    "choice",
    "What is the main reason for your rating?",
    "How satisfied are you with our service? (1-5)|What could we do better?|Which product do you use?",
)
def google_form(d: Draw) -> Row:
    kind = d.pick("Price", "Speed", "Support")
    return {
        "Timestamp": f"3/{d.int(1, 28)}/2023 14:{d.int(10, 59)}:03",
        "Email Address": f"p{d.k}@x.com",
        "How satisfied are you with our service? (1-5)": d.int(1, 5),
        "Which product do you use?": d.pick("Basic", "Plus"),
        "What is the main reason for your rating?": d.text(kind),
        "What could we do better?": d.pick("", d.text(None, 1), d.text(None, 1)),
        "Coded reason": kind,
    }


@schema("titled.csv", "Category", "choice", "Comment", "Store", before="Customer feedback Q3 2023,,,,\n,,,,\n")
def titled(d: Draw) -> Row:
    kind = d.pick("Staff", "Stock", "Checkout")
    return {
        "No": d.k + 1,
        "Date": d.date("/"),
        "Store": d.pick("North", "South"),
        "Comment": d.text(kind),
        "Category": kind,
    }


@schema("merged.csv", "Category", "choice", "Text", "Date|Store", before=",Visit,,Feedback,\n")
def merged(d: Draw) -> Row:
    kind = d.pick("Staff", "Stock", "Checkout")
    return {
        "Ref": f"F{d.k:03}",
        "Date": d.date("/"),
        "Store": d.pick("North", "South"),
        "Text": d.text(kind),
        "Category": kind,
    }


@schema("preise.csv", "Preis (EUR)", "number", "Beschreibung", "Artikel|Marke", delimiter=";")
def preise(d: Draw) -> Row:
    price = d.int(100, 99999)
    return {
        "Artikelnr.": f"A-{1000 + d.k}",
        "Artikel": f"{d.item()} {d.k}",
        "Beschreibung": d.text(price // 20000),
        "Marke": d.pick("Holm", "Vardo"),
        "Preis (EUR)": f"{price // 100},{price % 100:02}",
    }


@schema("kundenanfragen.csv", "Kategorie", "choice", "Beschreibung", "Betreff", delimiter=";")
def kundenanfragen(d: Draw) -> Row:
    kind = d.pick("Rechnung", "Lieferung", "Technik")
    return {
        "Ticketnummer": 3000 + d.k,
        "Erstellt am": f"{d.int(1, 28)}.03.2023",
        "Kunde": d.name(),
        "Betreff": d.words(4, kind),
        "Beschreibung": d.text(kind),
        "Bearbeiter": d.pick("Meier", "Schulz"),
        "Status": d.pick("offen", "erledigt"),
        "Kategorie": kind,
    }


@schema("avis.csv", "Sentiment|Note", "choice|number", "Commentaire", "Titre|Produit", delimiter=";")
def avis(d: Draw) -> Row:
    tone = d.pick("positif", "négatif", "neutre")
    return {
        "Identifiant": d.k,
        "Date de création": d.date(),
        "Auteur": d.name(),
        "Produit": d.item(),
        "Titre": d.words(3, tone),
        "Commentaire": d.text(tone),
        "Sentiment": tone,
    }


@schema("reclamos.csv", "Categoría", "choice", "Descripción", "Asunto|Ciudad")
def reclamos(d: Draw) -> Row:
    kind = d.pick("Facturación", "Entrega", "Calidad")
    return {
        "Código": f"R-{d.k}",
        "Fecha": d.date("/"),
        "Cliente": d.name(),
        "Ciudad": d.city(),
        "Asunto": d.words(4, kind),
        "Descripción": d.text(kind),
        "Estado": d.pick("abierto", "cerrado"),
        "Categoría": kind,
    }


@schema("pinglun.csv", "类别", "choice", "内容", "标题")
def pinglun(d: Draw) -> Row:
    kind = d.pick("物流", "质量", "服务")
    told = {"物流": "快递太慢了等了很久才到", "质量": "用了几天就坏了材料很差", "服务": "客服态度很好回复及时"}[kind]
    return {
        "序号": d.k + 1,
        "时间": d.date(),
        "用户名": d.pick("小王", "李雷", "韩梅梅") + str(d.k),
        "标题": told[:4],
        "内容": f"{told}，第{d.int(1, 99)}次购买{d.pick('手机', '耳机', '书包')}",
        "类别": kind,
        "来源": d.pick("网页", "应用"),
    }


@schema("arabic.csv", "التصنيف", "choice", "النص")
def arabic(d: Draw) -> Row:
    kind = d.pick("إيجابي", "سلبي", "محايد")
    told = {
        "إيجابي": "خدمة رائعة وسريعة جدا شكرا لكم على التعامل",
        "سلبي": "تجربة سيئة والمنتج وصل مكسورا ولم يرد أحد",
        "محايد": "وصل الطلب اليوم وسأجربه في الأسبوع القادم",
    }[kind]
    return {
        "الرقم": d.k + 1,
        "التاريخ": d.date(),
        "المستخدم": f"م{d.int(1, 99)}",
        "النص": f"{told} {d.int(1, 999)}",
        "التصنيف": kind,
    }


@schema("korean.jsonl", "감정", "choice", "문장")
def korean(d: Draw) -> Row:
    kind = d.pick("기쁨", "슬픔", "분노")
    told = {
        "기쁨": "오늘 정말 행복한 하루였어요 최고예요",
        "슬픔": "너무 외롭고 눈물이 나는 밤이다",
        "분노": "진짜 화가 나서 참을 수가 없다",
    }[kind]
    return {"번호": d.k, "문장": f"{told} {d.int(1, 999)} 번째", "감정": kind, "작성일": d.date()}


@schema("chat_finetune.jsonl", "messages.answer", ("f1", "anls", "em", "rubric"), "messages.question")
def chat_finetune(d: Draw) -> Row:
    return {
        "messages": [
            {"role": "system", "content": "You are a helpful support agent."},
            {"role": "user", "content": d.ask()},
            {"role": "assistant", "content": d.text()},
        ]
    }


@schema("sharegpt.json", "conversations.answer", ("f1", "anls", "em", "rubric"), "conversations.question")
def sharegpt(d: Draw) -> Row:
    return {
        "id": f"x{d.hex(6)}_0",
        "conversations": [
            {"from": who, "value": d.text(None, n)} for who, n in (("human", 1), ("gpt", 3), ("human", 1), ("gpt", 4))
        ],
    }


@schema("alpaca.json", "output", ("f1", "anls", "em", "rubric"), "instruction|input")
def alpaca(d: Draw) -> Row:
    return {
        "instruction": f"{d.words(6)}.",
        "input": d.pick("", "", d.text(None, 1)),
        "output": d.text(None, d.int(1, 5)),
    }


@schema("dolly.jsonl", "response", ("f1", "anls", "em", "rubric"), "instruction|context")
def dolly(d: Draw) -> Row:
    return {
        "instruction": d.ask(),
        "context": d.pick("", "", d.text(None, 4)),
        "response": d.text(None, 3),
        "category": d.pick("open_qa", "closed_qa", "summarization"),
    }


@schema("preferences.jsonl", "chosen", ("f1", "anls", "em", "rubric"), "prompt")
def preferences(d: Draw) -> Row:
    return {"prompt": d.ask(), "chosen": d.text(None, 3), "rejected": d.text(None, 3)}


@schema(
    "ultrafeedback.jsonl",
    "chosen.answer",
    ("f1", "anls", "em", "rubric"),
    (),
    "prompt|chosen.question",
)
def ultrafeedback(d: Draw) -> Row:
    ask = d.ask()
    turns = [[{"role": "user", "content": ask}, {"role": "assistant", "content": d.text(None, 3)}] for _ in range(2)]
    return {
        "prompt": ask,
        "prompt_id": d.hex(32),
        "chosen": turns[0],
        "rejected": turns[1],
        "score_chosen": 8.0 + d.k % 2,
        "score_rejected": 5.5,
    }


@schema("promptfoo.csv", "__expected", TEXT, "question", "context")
def promptfoo(d: Draw) -> Row:
    return {"question": d.ask(), "__expected": f"{d.name()} {d.k}", "__description": f"case {d.k}"}


ALL: tuple[Schema, ...] = (
    *(jira, github, intercom, freshdesk, label_studio, label_studio_min, prodigy, prodigy_ner, doccano, doccano_class),
    *(argilla, google_form, titled, merged, preise, kundenanfragen, avis, reclamos, pinglun, arabic, korean),
    *(chat_finetune, sharegpt, alpaca, dolly, preferences, ultrafeedback, promptfoo),
)
