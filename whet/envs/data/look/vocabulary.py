"""What words in the name of a column say, in the languages and styles that people name columns in."""

from __future__ import annotations

from collections.abc import Collection

from whet.envs.data.columns import GROUPS, ID_WORDS, IDS, words_of


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ANSWER_WORDS = _words(
    "answer answers label labels target targets gold expected truth correct class category categories tag tags "
    "sentiment intent queue verdict output solution result results reference ideal completion response topics gt "
    "parse parsed extracted outcome decision diagnosis coded labelled labeled stance polarity chosen genre "
    "genres"
)
"""Words for what is to be found."""

FOREIGN_ANSWERS = _words(
    "antwort kategorie klasse etikett stimmung ergebnis loesung lösung bewertung absicht thema einstufung "
    "réponse reponse catégorie categorie étiquette classe résultat respuesta categoría categoria etiqueta clase "
    "resultado resposta risposta etichetta sentimiento sentimento категория метка ответ класс тональность "
    "результат intencja kategoria odpowiedź kategori svar antwoord 标签 答案 类别 分类 意图 情感 標籤 類別 情绪 "
    "结果 ラベル カテゴリ カテゴリー 回答 正解 分類 感情 분류 정답 라벨 감정 카테고리 의도 التصنيف الفئة الإجابة "
    "المشاعر تصنيف فئة إجابة श्रेणी उत्तर भावना"
)

WEAK_ANSWERS = _words(
    "stars rating score priority status severity code total amount value emotion section summary highlights "
    "translation paraphrase level relevance quality toxicity type topic department team species variety survived "
    "churn income default fraud fraudulent risk approved outcome impression subject_area duplicate sarcastic "
    "specialty act impact urgency product issue snippet sql query msg abstract_summary headline_label "
    "equation_result rewrite grade mood tone theme regex formula abstract continuation ending rewritten next "
    "correction corrected simplified obj spans entities accept ner slots price salary"
)
"""Words for what may be asked for, or may be recorded."""

AMOUNTS = _words(
    "total amount value price sum due quantity saleprice cost betrag preis summe prix montant precio importe"
)
"""Words for a figure that one asks for: where every cell is a number, as telling as a few labels are."""

SETTLED = _words("final gold correct true expected human reviewed agreed consensus best ground truth chosen")
DOUBTFUL = _words(
    "example predicted prediction pred model auto old previous draft raw suggested suggestion baseline rejected "
    "incorrect wrong distractor bad negative_answer predictions"
)
"""Words for an answer that is not to be trusted, or that is wrong on purpose."""

EXPLAINS = _words(
    "explanation explanations rationale rationales reasoning reason reasons justification exp cot steps "
    "derivation proof equation formula decomposition hint hints analysis resolution thought thoughts scratchpad"
)
"""Words for what is said of an answer: it gives the answer away, and is none."""

RECORDS = _words(
    "annotator annotators worker rater reviewer editor timestamp time date created updated modified channel "
    "source language lang locale url link email phone version confidence comment comments note notes country "
    "region author user username index idx number no row ip device browser batch agent start end offset begin "
    "position byline vendor supplier seller buyer merchant company assignee requester owner currency age sex "
    "gender coder labeler labeller tagger judge toks tokens embedding vector hash uri doi license csat nps meta "
    "metadata"
)
"""Words for what is recorded about a row, and neither asked nor answered."""

SOFT_RECORDS = _words(
    "authors reporter name names customer contact seconds minutes hours duration count counts votes vote views "
    "likes retweets favorites useful funny cool helpful verified vine marketplace asin isbn sku brand store host "
    "hostname service logger teammate telephone zip zipcode postcode state city location address latitude "
    "longitude lat lon budget revenue runtime popularity homepage published release year month day week sprint "
    "milestone reopened interactions reply replies satisfaction lead session cookie referrer project commit sha "
    "repo filename file path page pages pos chunk lemma lemmas parent upvotes downvotes ups downs rank order seq "
    "sequence unnamed fnlwgt weight speaker turn line slide sender unclear phase clarity wordcount length len "
    "num acknowledged locked telecommuting has"
)
"""Words for what is mostly recorded; beside a word for an answer they say nothing: `class_name`."""

TECHNICAL = _words(
    "annotator annotators worker rater reviewer editor timestamp created updated modified source version "
    "confidence index idx start end offset begin position batch coder labeler labeller tagger judge hash url "
    "time lead toks tokens"
)
"""Words for what a tool records of an answer: beside it in an object, no part of it."""

FOREIGN_RECORDS = _words(
    "datum sprache land quelle kunde kundin nutzer name bearbeiter bearbeiterin marke nummer nr artikelnr "
    "ticketnummer erstellt geändert uhrzeit ort stadt filiale telefon pays langue région auteur identifiant date "
    "créé ville fecha país idioma autor cliente ciudad código codigo usuario región regione regiao região estado "
    "дата регион город язык источник клиент автор номер пользователь 日期 时间 地区 来源 语言 用户 用户名 序号 "
    "编号 作者 城市 日付 地域 番号 作成日 年齢 担当者 顧客 날짜 지역 번호 작성일 작성자 이름 التاريخ المستخدم "
    "الرقم المدينة المصدر الاسم"
)

COMPANIONS = _words(
    "premise hypothesis sentence text input instruction question passage query document utterance statement "
    "claim evidence context contexts title subject headline body article paragraph story dialogue conversation "
    "abstract goal stem prompt narrative ctx tweet post overview findings description betreff beschreibung titre "
    "sujet asunto descripción descripcion titel transcript transcription fulltext report review message excerpt "
    "facts complaint letter lyrics plot remarks feedback text1 text2 标题 内容 件名 本文 제목 내용 source_text "
    "background"
)
"""Words for texts that are asked about together."""

PROBES = _words(
    "word term target aspect span entity question topic keyword span1 span2 mention pronoun attribute search_term"
)
"""Words for what a judgement is about: a word of the text, an aspect, an entity; shown however short it is."""

GIVEN = _words("tools functions schema table tables")
"""Words for what a question is answered with: shown whatever its form, and where it is the same in all rows too."""

TELLING = _words("context contexts passage document title subject headline article paragraph betreff titre asunto 标题")
"""Words for texts that stand before a question without a caption."""

HEADINGS = _words("title subject headline heading betreff titre asunto titel 标题 件名 제목")
"""What a longer text is called by: asked alone only where there is no such text."""

OPTION_WORDS = _words("options option choices choice alternatives alternative candidates candidate endings ending")
"""Words for what one chooses from, which is no answer."""

OPTION_STEMS = OPTION_WORDS | _words("op opt answer sol solution distractor holding ans")

JUDGEMENTS = _words("label score grade correct verdict rating quality mark marks points relevance accuracy is_correct")
"""Words for an answer that judges another text of the row, such as the answer of a pupil."""

JUDGED = _words("answer response reply output completion prediction translation summary candidate")
MADE = JUDGED - {"summary", "answer", "candidate"}
"""Words for what is made of a text, which is asked itself only where it is judged."""

MADE_OR_SAID = MADE | {"answer", "answers"}
TRUTHS = _words("truth gold reference expected ideal groundtruth")
"""Words for what is right, beside what somebody said."""

KEPT_FROM_JUDGES = _words("long best final full") | EXPLAINS

KIND_WORDS = _words("category categories topic topics type genre theme subject domain area tag tags")
"""Words for what a question is about."""

PARTNERS: tuple[tuple[float, frozenset[str], frozenset[str]], ...] = (
    (1.0, _words("instruction prompt request"), _words("response output completion chosen reply answer")),
    (1.0, _words("opening beginning prefix start"), _words("continuation ending rest next completion end")),
    (
        0.6,
        _words("document article text dialogue body findings report"),
        _words("summary highlights abstract impression"),
    ),
    (0.6, _words("transcript transcription fulltext paper minutes"), _words("summary abstract notes highlights")),
    (0.6, _words("diff patch"), _words("msg message subject")),
    (0.5, _words("input inputs source src"), _words("output outputs target tgt ideal expected")),
    (0.5, _words("nl intent docstring description question"), _words("code snippet sql query cmd command")),
    (0.4, _words("question q problem query ask stem"), _words("answer answers a ans solution reply response ideal")),
    (0.6, _words("review reviews"), _words("stars rating score sentiment")),
    (
        0.4,
        _words("text sentence review comment tweet utterance message"),
        _words("label sentiment category class intent"),
    ),
)
"""Pairs of names that belong together, and how closely: what is asked, and what is answered."""


ENDINGS = _words("by at on url date time ms sec seconds minutes count")
"""Words at the end of a name for what is recorded, whatever stands before them: `labeled_by`."""

COUNTED = _words("index idx number no")
"""Words that say how an answer is given, beside a word for one: `correct_index`."""


def either(words: Collection[str]) -> set[str]:
    """Words, and what those that end in s may be the plural of."""
    return {*words, *(word[:-1] for word in words if word.endswith("s"))}


def is_record(column: str) -> bool:
    """Whether a name is of something recorded: an id, a date, a person, a place."""
    words = set(words_of(column))
    identity = bool(words & ID_WORDS) or ("key" in words and not words & ANSWER_WORDS)
    named = "_".join(words_of(column))
    words -= COUNTED if words & SETTLED or words & ANSWER_WORDS else set()
    last = words_of(column)[-1:]
    if len(words_of(column)) > 1 and last and last[0] in ENDINGS:
        return True
    soft = bool(words & SOFT_RECORDS) and not words & (ANSWER_WORDS | WEAK_ANSWERS)
    return bool(words & (RECORDS | FOREIGN_RECORDS)) or soft or identity or named in (*IDS, *GROUPS)


def is_doubtful(column: str) -> bool:
    """Whether a name, or that of an object around it, is of an answer that is not to be trusted."""
    return any(set(words_of(part)) & DOUBTFUL for part in column.split("."))


def is_technical(column: str) -> bool:
    """Whether it is about an answer, where it lies in one: who gave it, when, where it stands."""
    words = words_of(column)
    return bool(set(words) & (TECHNICAL | ID_WORDS)) or (len(words) > 1 and words[-1] in ENDINGS)


def partners(question: str, answer: str) -> float:
    """How far the two names are a pair that belongs together: 1 for a wish and its answer, less for looser pairs."""
    asked, said = set(words_of(question)), set(words_of(answer)[-1:])
    return max((weight for weight, left, right in PARTNERS if asked & left and said & right), default=0.0)


def is_unsettled(column: str) -> bool:
    return not set(words_of(column)) & (TRUTHS | SETTLED)


def of_another(question: str, answer: str, columns: Collection[str]) -> bool:
    """Whether a name is of something else than what is asked: `product_category` beside `product_id` and a review."""
    first = words_of(answer)[:1]
    others = [name for name in columns if name != answer and words_of(name)[:1] == first]
    has_id = any(set(words_of(name)) & ID_WORDS for name in others)
    return bool(first) and len(words_of(answer)) > 1 and has_id and len(others) > 1 and words_of(question)[:1] != first


def named_alike(question: str, answer: str) -> bool:
    """Whether both names begin with the same word, as `review` and `review_sentiment` do."""
    return words_of(question)[:1] == words_of(answer)[:1] != ()


def lies_in_answer(column: str) -> bool:
    """Whether it is a part of an object that is called an answer: `answers.text`."""
    return any(set(words_of(part)) & (ANSWER_WORDS | {"outputs"}) for part in column.split(".")[:-1])


def needs_no_caption(column: str) -> bool:
    """Whether it is a text that stands before a question without being named: a passage, a title."""
    return bool(set(words_of(column)) & TELLING)


def within(column: str, other: str) -> bool:
    """Whether one is a part of the other."""
    return column.startswith(f"{other}.") or other.startswith(f"{column}.")
