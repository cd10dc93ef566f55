"""Texts with a label: sentiment, topics, intents, pairs of sentences, several labels at once."""

from init.schemas.draw import Draw, Schema, schema

Row = dict[str, object]


@schema("sst2.jsonl", "label", "choice", "sentence")
def sst2(d: Draw) -> Row:
    label = d.int(0, 1)
    return {"idx": d.k, "sentence": d.words(12, label), "label": label}


@schema("cola.tsv", "column_2", "choice", "column_4", header=False)
def cola(d: Draw) -> Row:
    label = d.int(0, 1)
    return {"a": d.pick("gj04", "bc01", "l-93"), "b": label, "c": "" if label else "*", "d": d.text(label, 1)}


@schema("mrpc.tsv", "Quality", "choice", "#1 String|#2 String")
def mrpc(d: Draw) -> Row:
    label = d.int(0, 1)
    first = d.text(label, 1)
    return {
        "Quality": label,
        "#1 ID": d.int(10**5, 10**7),
        "#2 ID": d.int(10**5, 10**7),
        "#1 String": first,
        "#2 String": first.replace("the", "this") if label else d.text(label, 1),
    }


@schema("qqp.csv", "is_duplicate", "choice", "question1|question2")
def qqp(d: Draw) -> Row:
    label = d.int(0, 1)
    return {
        "id": d.k,
        "qid1": 2 * d.k + 1,
        "qid2": 2 * d.k + 2,
        "question1": d.ask(label),
        "question2": d.ask(label),
        "is_duplicate": label,
    }


@schema("qnli.jsonl", "label", "choice", "question|sentence")
def qnli(d: Draw) -> Row:
    label = d.pick("entailment", "not_entailment")
    return {"index": d.k, "question": d.ask(), "sentence": d.text(label, 1), "label": label}


@schema("wic.jsonl", "label", "choice", "word|sentence1|sentence2", "start1|start2|end1|end2")
def wic(d: Draw) -> Row:
    word = d.pick(
        "place", "carry", "board", "summer", "headquarters", "class", "air", "panel", "sway", "head", "foot", "mark"
    )
    return {
        "word": word,
        "sentence1": f"{d.words(5)} {word} {d.words(2)}.",
        "sentence2": f"The {word} {d.words(6)}.",
        "start1": d.int(0, 20),
        "start2": 4,
        "end1": d.int(21, 40),
        "end2": 9,
        "idx": d.k,
        "label": d.pick(True, False),
    }


@schema("wsc.jsonl", "label", "choice", "text|span1_text|span2_text", "span1_index|span2_index")
def wsc(d: Draw) -> Row:
    who = d.name()
    return {
        "text": f"{who} told {d.name()} that he {d.words(9)}.",
        "span1_index": 0,
        "span2_index": d.int(4, 9),
        "span1_text": who,
        "span2_text": d.pick("he", "him"),
        "idx": d.k,
        "label": d.int(0, 1),
    }


@schema("anli.jsonl", "label", "choice", "premise|hypothesis")
def anli(d: Draw) -> Row:
    label = d.pick("e", "n", "c")
    return {
        "uid": d.hex(16),
        "premise": d.text(),
        "hypothesis": d.text(label, 1),
        "label": label,
        "reason": d.text(label, 1),
    }


@schema("ag_news.csv", "Class Index", "choice", "Description", "Title")
def ag_news(d: Draw) -> Row:
    label = d.int(1, 4)
    return {"Class Index": label, "Title": d.words(7, label), "Description": d.text(label, 3)}


@schema(
    "amazon_reviews.tsv",
    "star_rating",
    "choice|number",
    "review_body",
    "review_headline|product_title|product_category",
)
def amazon(d: Draw) -> Row:
    stars = d.int(1, 5)
    return {
        "marketplace": "US",
        "customer_id": d.int(10**7, 10**8),
        "review_id": f"R{d.hex(10).upper()}",
        "product_id": f"B00{d.hex(6).upper()}",
        "product_parent": d.int(10**8, 10**9),
        "product_title": f"{d.item()} by {d.name()}",
        "product_category": d.pick("Books", "Toys", "Kitchen"),
        "star_rating": stars,
        "helpful_votes": d.int(0, 9),
        "total_votes": d.int(9, 20),
        "vine": "N",
        "verified_purchase": d.pick("Y", "N"),
        "review_headline": d.words(4, stars),
        "review_body": d.text(stars, 4),
        "review_date": d.date(),
    }


@schema("yelp.jsonl", "stars", "choice|number", "text")
def yelp(d: Draw) -> Row:
    stars = d.int(1, 5)
    return {
        "review_id": d.hex(22),
        "user_id": d.hex(22),
        "business_id": d.hex(22),
        "stars": float(stars),
        "useful": d.int(0, 5),
        "funny": d.int(0, 3),
        "cool": d.int(0, 3),
        "text": d.text(stars, 5),
        "date": f"{d.date()} 12:10:44",
    }


@schema("hate_speech.csv", "class", "choice", "tweet")
def davidson(d: Draw) -> Row:
    votes = [d.int(0, 3) for _ in range(3)]
    kind = votes.index(max(votes))
    return {
        "": d.k,
        "count": sum(votes),
        "hate_speech": votes[0],
        "offensive_language": votes[1],
        "neither": votes[2],
        "class": kind,
        "tweet": f"RT @{d.name().split()[0]}: {d.words(11, kind)}",
    }


EMOTIONS = (
    "admiration",
    "amusement",
    "anger",
    "annoyance",
    "approval",
    "caring",
    "confusion",
    "curiosity",
    "desire",
    "disgust",
    "fear",
    "gratitude",
    "joy",
    "love",
    "neutral",
)


@schema("goemotions.csv", "", "set", "text")
def goemotions(d: Draw) -> Row:
    some = d.several(EMOTIONS, 2)
    return {
        "text": d.words(12, some[0]),
        "id": d.hex(7),
        "author": d.name().replace(" ", "_"),
        "subreddit": d.pick("nba", "aww", "unpopularopinion", "news"),
        "link_id": f"t3_{d.hex(6)}",
        "parent_id": f"t1_{d.hex(7)}",
        "created_utc": 1546300800 + d.int(0, 10**6),
        "rater_id": d.int(1, 80),
        "example_very_unclear": False,
        **{name: int(name in some) for name in EMOTIONS},
    }


@schema("semeval_emotions.tsv", "", "set", "Tweet")
def semeval_emotions(d: Draw) -> Row:
    some = d.several(EMOTIONS[:8], 3)
    return {
        "ID": f"2017-En-{d.k + 20000}",
        "Tweet": d.words(14, some[0]),
        **{name: name in some for name in EMOTIONS[:8]},
    }


INTENTS = tuple(
    f"{verb}_{thing}"
    for verb in ("book", "cancel", "change", "find", "pay", "report")
    for thing in ("flight", "card", "bill", "hotel", "alarm", "song", "recipe")
)


@schema("clinc.csv", "intent", "choice", "text", count=210)
def clinc(d: Draw) -> Row:
    intent = INTENTS[d.k % len(INTENTS)]
    return {"text": f"{d.words(7, intent)} {intent.replace('_', ' ')}", "intent": intent}


@schema("banking.csv", "category", "choice", "text", count=240)
def banking(d: Draw) -> Row:
    intent = INTENTS[d.k % 30]
    return {"text": f"{d.words(9, intent)}?", "category": intent}


@schema("trec.jsonl", ("coarse_label", "fine_label"), "choice", "text")
def trec(d: Draw) -> Row:
    coarse = d.int(0, 5)
    return {"text": d.ask(coarse), "coarse_label": coarse, "fine_label": 3 * coarse + d.int(0, 2)}


@schema("news_categories.jsonl", "category", "choice", "short_description", "headline")
def news_categories(d: Draw) -> Row:
    kind = d.pick("POLITICS", "WELLNESS", "TRAVEL", "STYLE & BEAUTY", "SPORTS")
    return {
        "link": f"https://www.huffpost.com/entry/{d.hex(8)}",
        "headline": d.words(9, kind),
        "category": kind,
        "short_description": d.text(kind),
        "authors": d.name(),
        "date": d.date(),
    }


@schema("dbpedia.csv", "label", "choice", "content", "title")
def dbpedia(d: Draw) -> Row:
    label = d.int(0, 6)
    return {"label": label, "title": d.name(), "content": d.text(label, 3)}


@schema("yahoo_answers.csv", "topic|best_answer", "choice|f1", "question_title", "question_content|best_answer")
def yahoo(d: Draw) -> Row:
    topic = d.pick("Health", "Sports", "Science & Mathematics", "Family & Relationships")
    return {
        "id": d.k,
        "topic": topic,
        "question_title": d.ask(topic),
        "question_content": d.text(topic),
        "best_answer": d.text(topic, 3),
    }


@schema("sentiment140.csv", "column_1", "choice", "column_6", header=False)
def sentiment140(d: Draw) -> Row:
    label = d.pick(0, 4)
    return {
        "a": label,
        "b": 1467810000 + d.k * 37,
        "c": f"Mon Apr 06 22:19:{d.int(10, 59)} PDT 2009",
        "d": "NO_QUERY",
        "e": d.name().split()[0].lower() + str(d.int(1, 99)),
        "f": f"@{d.name().split()[1]} {d.words(12, label)}",
    }


@schema("spam.csv", "v1", "choice", "v2")
def spam(d: Draw) -> Row:
    kind = d.pick("ham", "ham", "spam")
    return {"v1": kind, "v2": d.text(kind), "Unnamed: 2": "", "Unnamed: 3": "", "Unnamed: 4": ""}


@schema("sms.tsv", "column_1", "choice", "column_2", header=False)
def sms(d: Draw) -> Row:
    kind = d.pick("ham", "ham", "spam")
    return {"a": kind, "b": d.text(kind)}


@schema("atis.csv", "column_1", "choice", "column_2", header=False, count=60)
def atis(d: Draw) -> Row:
    kind = d.pick("atis_flight", "atis_airfare", "atis_ground_service", "atis_airline")
    return {"a": kind, "b": f" {d.words(8, kind)} from {d.city()} to {d.city()}"}


@schema("liar.csv", "label", "choice", "statement", "subject|speaker|context|party|job_title|state")
def liar(d: Draw) -> Row:
    label = d.pick("half-true", "mostly-true", "false", "pants-fire", "true")
    return {
        "id": f"{d.int(100, 9999)}.json",
        "label": label,
        "statement": d.text(label, 1),
        "subject": d.pick("health-care", "taxes", "education,state-budget"),
        "speaker": d.name().lower().replace(" ", "-"),
        "job_title": d.pick("", "Senator", "Governor"),
        "state": d.pick("Texas", "Ohio", ""),
        "party": d.pick("republican", "democrat", "none"),
        "barely_true_counts": d.int(0, 30),
        "false_counts": d.int(0, 30),
        "pants_on_fire_counts": d.int(0, 9),
        "context": d.pick("a speech", "an interview on CNN", "a tweet", "a debate"),
    }


@schema("stance.tsv", "Stance", "choice", "Target|Tweet")
def stance(d: Draw) -> Row:
    label = d.pick("AGAINST", "FAVOR", "NONE")
    return {
        "ID": d.k + 101,
        "Target": d.pick("Atheism", "Climate Change is a Real Concern", "Feminist Movement"),
        "Tweet": d.words(14, label),
        "Stance": label,
    }


@schema("laptops.csv", "polarity", "choice", "Sentence|Aspect Term")
def aspects(d: Draw) -> Row:
    label, aspect = (
        d.pick("positive", "negative", "neutral"),
        d.pick("battery life", "screen", "keyboard", "cord", "price tag"),
    )
    return {
        "id": d.int(100, 3000),
        "Sentence": f"The {aspect} {d.words(8, label)}.",
        "Aspect Term": aspect,
        "polarity": label,
        "from": 4,
        "to": 4 + len(aspect),
    }


@schema("sarcasm.jsonl", "is_sarcastic", "choice", "headline")
def sarcasm(d: Draw) -> Row:
    label = d.int(0, 1)
    return {
        "is_sarcastic": label,
        "headline": d.words(10, label),
        "article_link": f"https://www.theonion.com/{d.hex(8)}",
    }


@schema("insincere.csv", "target", "choice", "question_text")
def insincere(d: Draw) -> Row:
    label = d.int(0, 1)
    return {"qid": d.hex(20), "question_text": d.ask(label), "target": label}


@schema("ledgar.jsonl", "label", "choice", "provision", count=120)
def ledgar(d: Draw) -> Row:
    label = d.pick("Governing Laws", "Notices", "Amendments", "Survival", "Terminations", "Assignments")
    return {
        "provision": d.text(label, 4),
        "label": label,
        "source": f"https://www.sec.gov/Archives/edgar/data/{d.int(10**5, 10**6)}",
    }


@schema("mtsamples.csv", "medical_specialty", "choice", "transcription", "description|keywords|sample_name")
def mtsamples(d: Draw) -> Row:
    kind = d.pick(" Surgery", " Cardiovascular / Pulmonary", " Orthopedic", " Radiology")
    return {
        "": d.k,
        "description": d.text(kind, 1),
        "medical_specialty": kind,
        "sample_name": f" {d.words(3).title()} - {d.int(1, 9)} ",
        "transcription": d.text(kind, 8),
        "keywords": f"{kind.strip().lower()}, {d.words(1)}, {d.words(1)}, {d.words(2)}",
    }


@schema("resumes.csv", "Category", "choice", "Resume_str")
def resumes(d: Draw) -> Row:
    kind = d.pick("HR", "CHEF", "BANKING", "AVIATION")
    text = d.text(kind, 6)
    return {
        "ID": d.int(10**7, 10**8),
        "Resume_str": text,
        "Resume_html": f"<div class='x'><p>{text}</p></div>",
        "Category": kind,
    }


@schema(
    "job_posts.csv",
    "fraudulent",
    "choice",
    "description",
    "title|location|department|salary_range|company_profile|requirements|benefits|employment_type|function",
)
def job_posts(d: Draw) -> Row:
    fake = int(d.rng.random() < 0.35)
    return {
        "job_id": d.k + 1,
        "title": d.words(3).title(),
        "location": f"US, NY, {d.city()}",
        "department": d.pick("", "Sales", "IT"),
        "salary_range": d.pick("", "", "20000-28000"),
        "company_profile": d.text(),
        "description": d.text(fake, 5),
        "requirements": d.text(fake, 2),
        "benefits": d.pick("", d.text(None, 1)),
        "telecommuting": d.int(0, 1),
        "has_company_logo": d.int(0, 1),
        "has_questions": d.int(0, 1),
        "employment_type": d.pick("Full-time", "", "Contract"),
        "function": d.pick("", "Sales", "Engineering"),
        "fraudulent": fake,
    }


@schema(
    "tmdb.csv",
    "genres.name|genres.listed|genres",
    "set",
    "overview",
    "title|original_title|tagline|original_language|keywords",
)
def tmdb(d: Draw) -> Row:
    some = d.several(("Action", "Drama", "Comedy", "Horror", "Family"))
    return {
        "budget": d.int(10**6, 10**8),
        "genres": str([{"id": len(name), "name": name} for name in some]),
        "homepage": "",
        "id": 100 + d.k,
        "original_language": "en",
        "original_title": d.words(2).title() + str(d.k),
        "overview": d.text(some[0], 3),
        "popularity": round(d.rng.random() * 90, 3),
        "release_date": d.date(),
        "revenue": d.int(0, 10**9),
        "runtime": d.int(80, 180),
        "vote_average": round(d.rng.random() * 10, 1),
        "vote_count": d.int(10, 9000),
    }


@schema("arxiv.jsonl", "categories", "set", "abstract", "title")
def arxiv(d: Draw) -> Row:
    some = d.several(("cs.CL", "cs.LG", "math.CO", "hep-ph", "stat.ML"))
    return {
        "id": f"07{d.int(10, 99)}.{d.int(1000, 9999)}",
        "submitter": d.name(),
        "authors": f"{d.name()}, {d.name()}",
        "title": d.words(8, some[0]),
        "comments": "9 pages",
        "journal-ref": None,
        "doi": None,
        "categories": " ".join(some),
        "license": None,
        "abstract": "  " + d.text(some[0], 4),
        "update_date": d.date(),
    }


@schema("reuters.jsonl", "topics", "set", "text", "title")
def reuters(d: Draw) -> Row:
    some = d.several(("earn", "acq", "grain", "wheat", "crude", "trade"))
    return {
        "text": d.text(some[0], 4),
        "text_type": "NORM",
        "topics": some,
        "lewis_split": "TRAIN",
        "cgis_split": "TRAINING-SET",
        "old_id": str(d.k + 5544),
        "new_id": str(d.k + 1),
        "places": [d.pick("usa", "uk", "japan")],
        "people": [],
        "orgs": [],
        "exchanges": [],
        "date": "26-FEB-1987 15:01:01.79",
        "title": d.words(7, some[0]).upper(),
    }


@schema("conll.jsonl", "ner_tags", "list|spans|python", "tokens", "pos_tags|chunk_tags")
def conll(d: Draw) -> Row:
    tokens = d.text(None, 1).split()
    tags = [d.pick("O", "O", "O", "B-PER", "B-LOC", "I-LOC") for _ in tokens]
    return {
        "id": str(d.k),
        "tokens": tokens,
        "pos_tags": [d.pick("NN", "VB", "DT") for _ in tokens],
        "chunk_tags": [d.pick("B-NP", "I-NP", "O") for _ in tokens],
        "ner_tags": tags,
    }


@schema("home_depot.csv", "relevance", "choice|number", "search_term|product_title")
def home_depot(d: Draw) -> Row:
    return {
        "id": d.k + 2,
        "product_uid": 100001 + d.k // 3,
        "product_title": f"{d.words(6).title()} {d.item()}",
        "search_term": f"{d.words(1)} {d.item()}",
        "relevance": d.pick(1, 1.33, 1.67, 2, 2.33, 2.67, 3),
    }


@schema(
    "esci.jsonl",
    "esci_label",
    "choice",
    "query|product_title",
    "product_description|product_locale|product_brand|product_bullet_point",
)
def esci(d: Draw) -> Row:
    label = d.pick("E", "S", "C", "I")
    return {
        "example_id": d.k,
        "query": f"{d.words(2)} {d.item()}",
        "query_id": d.k // 4,
        "product_id": f"B0{d.hex(7).upper()}",
        "product_locale": "us",
        "esci_label": label,
        "small_version": d.int(0, 1),
        "large_version": 1,
        "product_title": f"{d.item()} {d.words(6, label)}",
        "product_description": d.text(label),
        "product_brand": d.name().split()[1],
    }


ALL: tuple[Schema, ...] = (
    *(sst2, cola, mrpc, qqp, qnli, wic, wsc, anli, ag_news, amazon, yelp, davidson, goemotions, semeval_emotions),
    *(clinc, banking, trec, news_categories, dbpedia, yahoo, sentiment140, spam, sms, atis, liar, stance, aspects),
    *(sarcasm, insincere, ledgar, mtsamples, resumes, job_posts, tmdb, arxiv, reuters, conll, home_depot, esci),
)
