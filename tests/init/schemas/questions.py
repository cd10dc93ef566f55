"""Questions with an answer: read from a passage, known by heart, reckoned, chosen from options, written as code."""

# ruff: noqa: E501

from init.datasets import TEXT
from init.schemas.draw import Draw, Schema, schema

Row = dict[str, object]
LETTERS = "ABCDE"


def four(d: Draw) -> tuple[list[str], int]:
    """Options, and which is right."""
    return [f"{d.words(2)} {d.item()}" for _ in range(4)], d.int(0, 3)


@schema("boolq.jsonl", "answer", "choice", "question|passage", "title")
def boolq(d: Draw) -> Row:
    return {
        "question": d.ask().lower()[:-1],
        "title": d.words(2).title(),
        "answer": d.pick(True, False),
        "passage": d.text(None, 5),
    }


@schema("copa.jsonl", "label", "choice", "premise|choice1|choice2|question")
def copa(d: Draw) -> Row:
    return {
        "premise": d.text(None, 1),
        "choice1": d.words(6),
        "choice2": d.words(6),
        "question": d.pick("cause", "effect"),
        "idx": d.k,
        "label": d.int(0, 1),
    }


@schema("multirc.jsonl", "label", "choice", "paragraph|question|answer")
def multirc(d: Draw) -> Row:
    return {
        "paragraph": f"{d.k // 6} {d.text(None, 5)}",
        "question": d.ask(),
        "answer": d.words(4),
        "idx": {"paragraph": d.k // 6, "question": d.k // 3, "answer": d.k},
        "label": d.int(0, 1),
    }


@schema(
    "squad_wrapped.json", "answers.text", TEXT, "context|question", "title", wrapped={"version": "1.1", "data": ...}
)
def squad_wrapped(d: Draw) -> Row:
    who = d.name()
    context = f"{d.text()} It was built by {who} in {d.int(1800, 1990)}. {d.text()}"
    return {
        "id": d.hex(24),
        "title": d.city(),
        "context": context,
        "question": d.ask(),
        "answers": {"text": [who], "answer_start": [context.index(who)]},
    }


@schema("squad2.jsonl", "answers.text", TEXT, "context|question", "title")
def squad2(d: Draw) -> Row:
    who = d.name()
    context = f"{d.text()} It was built by {who}. {d.text()}"
    known = d.rng.random() < 0.85
    return {
        "id": d.hex(24),
        "title": d.city(),
        "context": context,
        "question": d.ask(),
        "answers": {"text": [who] if known else [], "answer_start": [context.index(who)] if known else []},
    }


@schema("mmlu.csv", "column_6", "choice", "column_1|column_2|column_3|column_4|column_5", header=False)
def mmlu(d: Draw) -> Row:
    options, right = four(d)
    return {"q": d.ask(), **dict(zip("ABCD", options, strict=True)), "answer": LETTERS[right]}


@schema("hellaswag.jsonl", "label", "choice", "ctx|endings", "activity_label|ctx_a|ctx_b")
def hellaswag(d: Draw) -> Row:
    a, b = d.text(None, 2), d.words(2)
    return {
        "ind": d.k,
        "activity_label": d.pick("Roof shingle removal", "Clean and jerk", "Baking cookies"),
        "ctx_a": a,
        "ctx_b": b,
        "ctx": f"{a} {b}",
        "endings": [d.words(9) for _ in range(4)],
        "source_id": f"activitynet~v_{d.hex(9)}",
        "split": "train",
        "split_type": d.pick("indomain", "zeroshot"),
        "label": str(d.int(0, 3)),
    }


@schema(
    "commonsense_qa.jsonl", "answerKey", "choice", "question|choices.text", "choices|choices.label|question_concept"
)
def commonsense(d: Draw) -> Row:
    return {
        "id": d.hex(32),
        "question": d.ask(),
        "question_concept": d.words(1),
        "choices": {"label": list(LETTERS), "text": [d.words(2) for _ in LETTERS]},
        "answerKey": d.pick(*LETTERS),
    }


@schema("svamp.json", "Answer", "number", "Body|Question")
def svamp(d: Draw) -> Row:
    a, b = d.int(2, 60), d.int(2, 60)
    return {
        "ID": f"chal-{d.k}",
        "Body": f"{d.name()} has {a} {d.item()}s and finds {b} more",
        "Question": f"How many does {d.name()} have now?",
        "Equation": f"( {a}.0 + {b}.0 )",
        "Answer": float(a + b),
        "Type": d.pick("Addition", "Subtraction"),
    }


@schema("aqua.jsonl", "correct", "choice", "question|options")
def aqua(d: Draw) -> Row:
    return {
        "question": f"If {d.name()} buys {d.int(2, 90)} {d.item()}s at {d.int(2, 9)} each, what is the cost?",
        "options": [f"{letter}){d.int(2, 900)}" for letter in LETTERS],
        "rationale": d.text(None, 3),
        "correct": d.pick(*LETTERS),
    }


@schema("humaneval.jsonl", "canonical_solution|test", "code", "prompt")
def humaneval(d: Draw) -> Row:
    f = f"f{d.k}"
    return {
        "task_id": f"HumanEval/{d.k}",
        "prompt": f'def {f}(x):\n    """Add {d.k} to x, {d.words(5)}."""\n',
        "canonical_solution": f"    return x + {d.k}\n",
        "test": f"def check(candidate):\n    assert candidate(1) == {d.k + 1}\n",
        "entry_point": f,
    }


@schema("sciq.jsonl", "correct_answer", ("choice", *TEXT), "question", "support|distractor1|distractor2|distractor3")
def sciq(d: Draw) -> Row:
    return {
        "question": d.ask(),
        "distractor3": d.words(1),
        "distractor1": d.words(1) + "s",
        "distractor2": d.words(2),
        "correct_answer": f"{d.words(1)} {d.k}",
        "support": d.text(None, 4),
    }


@schema("drop.jsonl", "answers_spans.spans", TEXT, "passage|question", group="section_id")
def drop(d: Draw) -> Row:
    return {
        "section_id": f"nfl_{d.k // 4}",
        "query_id": d.hex(12),
        "passage": f"Game {d.k // 4}. {d.text(None, 6)}",
        "question": d.ask(),
        "answers_spans": {"spans": [str(d.int(1, 400))], "types": ["number"]},
    }


@schema("nq_open.jsonl", "answer", TEXT, "question")
def nq_open(d: Draw) -> Row:
    who = d.name()
    return {"question": d.ask().lower()[:-1], "answer": [who, who.split()[1]][: d.int(1, 2)]}


@schema("webquestions.json", "answers", TEXT, "question")
def webquestions(d: Draw) -> Row:
    return {
        "url": f"http://www.freebase.com/view/en/{d.hex(6)}",
        "question": d.ask(),
        "answers": [f"{d.name()} {d.k}" for _ in range(d.int(1, 3))],
    }


@schema("popqa.tsv", "possible_answers.listed|obj|possible_answers", TEXT, "question")
def popqa(d: Draw) -> Row:
    who, what = f"{d.name()} {d.k}", f"{d.words(1)} {d.int(1, 900)}"
    return {
        "id": d.int(10**5, 10**7),
        "subj": who,
        "prop": d.pick("occupation", "capital", "genre"),
        "obj": what,
        "subj_id": d.int(10**5, 10**7),
        "prop_id": d.int(10, 99),
        "obj_id": d.int(10**5, 10**7),
        "s_aliases": '["x"]',
        "o_aliases": '["y", "z"]',
        "s_uri": f"http://www.wikidata.org/entity/Q{d.int(1, 9999)}",
        "s_pop": d.int(10, 9999),
        "question": f"What is {who}'s {d.words(2)}?",
        "possible_answers": f'["{what}", "the {what}"]',
    }


@schema("fever.jsonl", "label", "choice", "claim")
def fever(d: Draw) -> Row:
    label = d.pick("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")
    return {
        "id": d.int(10**4, 10**6),
        "verifiable": "NOT VERIFIABLE" if label[0] == "N" else "VERIFIABLE",
        "label": label,
        "claim": d.text(label, 1),
        "evidence": [[[d.int(1, 9999), d.int(1, 9999), d.city(), d.int(0, 9)]]],
    }


@schema("vitaminc.jsonl", "label", "choice", "claim|evidence", "page")
def vitaminc(d: Draw) -> Row:
    label = d.pick("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")
    return {
        "unique_id": f"{d.hex(24)}_{d.k}",
        "case_id": d.hex(24),
        "wiki_revision_id": str(d.int(10**8, 10**9)),
        "label": label,
        "page": d.city(),
        "claim": d.text(None, 1),
        "evidence": d.text(label, 1),
        "revision_type": d.pick("real", "synthetic"),
    }


@schema(
    "medqa.jsonl",
    "answer_idx|answer",
    "choice",
    "question",
    "options|options.A|options.B|options.C|options.D|meta_info",
)
def medqa(d: Draw) -> Row:
    options, right = four(d)
    return {
        "question": f"{d.text(None, 4)} {d.ask()}",
        "answer": options[right],
        "options": dict(zip("ABCD", options, strict=True)),
        "meta_info": d.pick("step1", "step2&3"),
        "answer_idx": LETTERS[right],
        "metamap_phrases": [d.words(2) for _ in range(6)],
    }


@schema("logiqa.jsonl", "correct_option", "choice", "context|query|options")
def logiqa(d: Draw) -> Row:
    return {
        "context": d.text(None, 4),
        "query": d.ask(),
        "options": [d.words(8) for _ in range(4)],
        "correct_option": d.int(0, 3),
    }


@schema("reclor.json", "label", "choice", "context|question|answers")
def reclor(d: Draw) -> Row:
    return {
        "context": d.text(None, 4),
        "question": d.ask(),
        "answers": [d.words(9) for _ in range(4)],
        "label": d.int(0, 3),
        "id_string": f"train_{d.k}",
    }


@schema("race.jsonl", "answer", "choice", "article|question|options")
def race(d: Draw) -> Row:
    return {
        "example_id": f"high{d.k // 3}.txt",
        "article": f"{d.k // 3} {d.text(None, 8)}",
        "answer": d.pick(*"ABCD"),
        "question": d.ask(),
        "options": [d.words(5) for _ in range(4)],
    }


@schema("piqa.jsonl", "label", "choice", "goal|sol1|sol2")
def piqa(d: Draw) -> Row:
    return {"goal": d.words(7), "sol1": d.words(12), "sol2": d.words(12), "label": d.int(0, 1)}


@schema("siqa.jsonl", "label", "choice", "context|question|answerA|answerB|answerC")
def siqa(d: Draw) -> Row:
    return {
        "context": d.text(None, 1),
        "question": d.ask(),
        "answerA": d.words(4),
        "answerB": d.words(4),
        "answerC": d.words(4),
        "label": str(d.int(1, 3)),
    }


@schema("openbookqa.jsonl", "answerKey", "choice", "question_stem|choices.text", "choices|choices.label|fact1")
def openbookqa(d: Draw) -> Row:
    return {
        "id": f"7-{d.int(10, 999)}-{d.k}",
        "question_stem": d.words(9),
        "choices": {"text": [d.words(3) for _ in range(4)], "label": list("ABCD")},
        "answerKey": d.pick(*"ABCD"),
        "fact1": d.words(8),
        "humanScore": round(d.rng.random(), 2),
        "clarity": d.int(1, 2),
        "turkIdAnonymized": d.hex(10),
    }


@schema("truthfulqa.csv", "Best Answer", ("f1", "anls", "em", "rubric"), "Question")
def truthfulqa(d: Draw) -> Row:
    return {
        "Type": d.pick("Adversarial", "Non-Adversarial"),
        "Category": d.pick("Misconceptions", "Law", "Health"),
        "Question": d.ask(),
        "Best Answer": d.text(None, 1),
        "Correct Answers": f"{d.text(None, 1)}; {d.text(None, 1)}",
        "Incorrect Answers": f"{d.text(None, 1)}; {d.text(None, 1)}",
        "Source": f"https://en.wikipedia.org/wiki/{d.hex(5)}",
    }


@schema("hotpotqa.jsonl", "answer", TEXT, "question|context.sentences", "context|context.title")
def hotpotqa(d: Draw) -> Row:
    return {
        "id": d.hex(24),
        "question": d.ask(),
        "answer": f"{d.name()} {d.k}",
        "type": d.pick("bridge", "comparison"),
        "level": d.pick("easy", "medium", "hard"),
        "supporting_facts": {"title": [d.city(), d.city()], "sent_id": [0, d.int(0, 4)]},
        "context": {
            "title": [d.city() for _ in range(3)],
            "sentences": [[d.text(None, 1), d.text(None, 1)] for _ in range(3)],
        },
    }


@schema("strategyqa.json", "answer", "choice", "question", "facts|term|description")
def strategyqa(d: Draw) -> Row:
    return {
        "qid": d.hex(20),
        "term": d.name(),
        "description": d.words(4),
        "question": f"Would {d.name()} {d.words(5)}?",
        "answer": d.pick(True, False),
        "facts": [d.text(None, 1) for _ in range(3)],
        "decomposition": [d.ask(), d.ask()],
    }


@schema("casehold.csv", "label", "choice", "citing_prompt|holding_0|holding_1|holding_2|holding_3|holding_4")
def casehold(d: Draw) -> Row:
    return {
        "example_id": d.k,
        "citing_prompt": f"{d.text(None, 4)} (<HOLDING>).",
        **{f"holding_{n}": f"holding that {d.words(8)}" for n in range(5)},
        "label": d.int(0, 4),
    }


@schema("aime.csv", "Answer", "number", "Question", "Year", count=40)
def aime(d: Draw) -> Row:
    return {
        "ID": f"{1983 + d.k // 4}-{d.k}",
        "Year": 1983 + d.k // 4,
        "Problem Number": 1 + d.k % 15,
        "Question": f"Let $x = {d.int(2, 90)}$ and {d.words(8)}. Find $x + {d.int(2, 90)}$.",
        "Answer": d.int(0, 999),
        "Part": d.pick("", "I", "II"),
    }


@schema(
    "wikisql.jsonl",
    "sql.human_readable|sql",
    ("exact", "sql", "em", "f1", "json"),
    "question",
    "table.header|table|table.rows|table.types|table.name|table.id",
)
def wikisql(d: Draw) -> Row:
    column = d.pick("Player", "Position", "School", "Year")
    return {
        "phase": 1,
        "question": d.ask(),
        "table": {
            "header": ["Player", "Position", "School", "Year"],
            "types": ["text", "text", "text", "real"],
            "id": f"1-{d.int(10**5, 10**6)}-1",
            "rows": [[d.name(), "Guard", d.city(), 1990]],
            "name": f"t{d.k}",
        },
        "sql": {
            "human_readable": f"SELECT {column} FROM table WHERE School = {d.city()} {d.k}",
            "sel": d.int(0, 3),
            "agg": 0,
            "conds": {"column_index": [2], "operator_index": [0], "condition": [d.city()]},
        },
    }


@schema("conala.json", "snippet", ("exact", "code", "em", "f1"), (), "rewritten_intent|intent")
def conala(d: Draw) -> Row:
    return {
        "question_id": d.int(10**5, 10**7),
        "intent": f"How to {d.words(5)} in python?",
        "rewritten_intent": f"{d.words(6)} of list `x{d.k}`",
        "snippet": f"[i * {d.k} for i in x{d.k} if i > {d.int(1, 9)}]",
    }


@schema("devign.jsonl", "target", "choice", "func", "project")
def devign(d: Draw) -> Row:
    label = d.int(0, 1)
    return {
        "project": d.pick("qemu", "FFmpeg"),
        "commit_id": d.hex(40),
        "target": label,
        "func": f"static int {d.words(1)}_{d.k}(AVCodec *c, int n)\n{{\n    if (n > {d.int(1, 99)}) {{ return {cue(d, label)}(c); }}\n    return 0;\n}}",
        "idx": d.k,
    }


def cue(d: Draw, label: int) -> str:
    return str(d.pick("memcpy_unchecked", "strcpy") if label else d.pick("bounded_copy", "checked"))


@schema("xsum.jsonl", "summary", ("f1", "anls", "rubric"), "document")
def xsum(d: Draw) -> Row:
    return {"document": d.text(None, 20), "summary": d.text(None, 2), "id": str(d.int(10**7, 10**8))}


@schema("samsum.json", "summary", ("f1", "anls", "rubric"), "dialogue")
def samsum(d: Draw) -> Row:
    return {
        "id": f"1381{d.k:04}",
        "summary": d.text(None, 1),
        "dialogue": "\r\n".join(f"{who}: {d.words(8)}" for who in ("Ann", "Bob", "Ann", "Bob")),
    }


@schema("wmt.jsonl", "translation.de|translation.en", TEXT, (), "translation.en|translation.de")
def wmt(d: Draw) -> Row:
    return {"translation": {"de": f"Das {d.words(6)} ist {d.words(2)}.", "en": f"The {d.words(6)} is {d.words(2)}."}}


@schema("ragas.jsonl", "ground_truth", ("f1", "em", "anls", "rubric"), "question|contexts")
def ragas(d: Draw) -> Row:
    return {
        "question": d.ask(),
        "contexts": [d.text(), d.text()],
        "answer": d.text(None, 1),
        "ground_truth": d.text(None, 1),
    }


@schema("evals.jsonl", "ideal", TEXT, (), "input.conversation|input")
def evals(d: Draw) -> Row:
    return {
        "input": [{"role": "system", "content": "Answer with a name only."}, {"role": "user", "content": d.ask()}],
        "ideal": f"{d.name()} {d.k}",
    }


@schema("langsmith.jsonl", "outputs.answer|outputs", (*TEXT, "json"), (), "inputs.question|inputs")
def langsmith(d: Draw) -> Row:
    return {
        "id": d.hex(32),
        "inputs": {"question": d.ask()},
        "outputs": {"answer": f"{d.name()} {d.k}"},
        "metadata": {"dataset_split": ["base"]},
        "created_at": d.moment(),
        "source_run_id": None,
    }


ALL: tuple[Schema, ...] = (
    *(boolq, copa, multirc, squad_wrapped, squad2, mmlu, hellaswag, commonsense, svamp, aqua, humaneval, sciq, drop),
    *(nq_open, webquestions, popqa, fever, vitaminc, medqa, logiqa, reclor, race, piqa, siqa, openbookqa, truthfulqa),
    *(hotpotqa, strategyqa, casehold, aime, wikisql, conala, devign, xsum, samsum, wmt, ragas, evals, langsmith),
)
