"""Soup: what extractors, adversaries and classifiers reach on the bench, and how fast tasks and scores are.

python bench/soup.py [--quick] [--json FILE]

Rates are of CPU time on one core. Policies go through the real sandbox, on bench tasks in their order; quick takes the
first of them. That the oracle says the same under all parsers is shown in this process. The two classifiers try to tell
tasks that cannot be answered from those that can: one sees the prompt, the other counts what is in the page; each is
fitted and judged by cross-validation over the whole bench (quick: a third of it). They need scikit-learn
(pip install 'whet[soup-bench]').
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import bs4
from rows import Row, arguments, report

from whet.envs.base import Baseline
from whet.envs.registry import load_environment
from whet.envs.soup import manifest
from whet.envs.soup.archetypes import kinds
from whet.envs.soup.draw import SiteDraft, draw
from whet.envs.soup.environment import SEED, Soup
from whet.envs.soup.kinds import agree
from whet.envs.soup.reply import LimitClaim
from whet.envs.soup.score import SoupRewards, grade_extractor, grade_limit
from whet.envs.soup.site import Size
from whet.envs.soup.tools import PageOutput, WebPage
from whet.envs.soup1 import bench as first_bench
from whet.rollout.drive import drive
from whet.rollout.workbench import Workbench
from whet.types import Score, Task

PARSERS = ("html.parser", "lxml", "html5lib")
OLD = ("always-limit", "regex-only", "first-match", "frequent-value")
ADVERSARIES = ("quoted", *OLD, "question-words", "first-plausible", "memorise", "labels", "labels-of-both-halves")
MOST = 0.15
ARCHETYPES = sum(made.difficulty != "primer" for made in kinds().values())
FRESH = 40_000
"""The first ordinal of tasks that nothing was tuned on."""
BLOCKS = 24
"""Blocks in which a rate is measured. Others' work on the machine slows some of them, and the best says most."""


def soup(**args: Any) -> Soup:
    env = load_environment("soup", args)
    assert isinstance(env, Soup)
    return env


def played(env: Soup, tasks: Sequence[Task], policy: Baseline, perform: Workbench) -> list[Score]:
    return [drive(env.play(task), lambda said, asked, task=task: policy(task, said), perform).score for task in tasks]


# --------------------------------------------------------------------------------------------- speed


def generation(size: Size, rounds: int, first: int) -> float:
    """Train tasks of this size in a second of CPU time, so many of each archetype that has such pages."""
    every = [made for made in kinds().values() if size in made.sizes]
    began = time.process_time()
    for ordinal in range(first, first + rounds):
        for made in every:
            replace(draw(made, "train", ordinal, 7), size=size).page(0)
    return rounds * len(every) / (time.process_time() - began)


def grading(tasks: Sequence[Task], drafts: Sequence[SiteDraft], rounds: int) -> float:
    """Submissions and claims graded in a second of CPU time, from decoded outputs to the score."""
    outputs = [[PageOutput(value) for value in drawn.truths] for drawn in drafts]
    rewards = SoupRewards()
    began = time.process_time()
    for _ in range(rounds):
        for task, drawn, said in zip(tasks, drafts, outputs, strict=True):
            if limit := task.truth["limit"]:
                claim = LimitClaim(limit["reason"], f"xxxxxxxxxxxx{limit['mark']}")
                grade_limit(claim, task.data["html"], limit, 1, rewards)
            else:
                grade_extractor(said, drawn.truths, drawn.plan.form, task.data["secrets"], rewards)
    return rounds * len(tasks) / (time.process_time() - began)


def speed_rows(quick: bool) -> Iterator[Row]:
    generation("small", 1, FRESH)
    for size, bar, rounds in (("small", 1000, 6), ("large", 100, 1)):
        starts = range(FRESH, FRESH + BLOCKS * rounds, rounds)
        rates = sorted(generation(size, rounds, first) for first in starts[: 4 if quick else BLOCKS])
        where = f"CPU time, best of {len(rates)} blocks; their median {rates[len(rates) // 2]:,.0f}"
        yield Row(f"soup_tasks_{size}", rates[-1], "tasks/s", bar, rates[-1] >= bar, condition=where)
    env = soup()
    tasks = [env.task("test", index) for index in range(4 * ARCHETYPES)]
    drafts = [draw(kinds()[task.label.kind], "test", task.index // ARCHETYPES, SEED) for task in tasks]
    rates = sorted(grading(tasks, drafts, 1) for _ in range(4 if quick else BLOCKS))
    where = f"CPU time, without sandbox, best of {len(rates)} blocks; their median {rates[len(rates) // 2]:,.0f}"
    yield Row("soup_grades", rates[-1], "grades/s", 5000, rates[-1] >= 5000, condition=where)


# --------------------------------------------------------------------------------------------- oracle


def run(program: str, page: WebPage, parser: str) -> Any:
    """What an oracle's program makes of a page in this process, with `parser`."""
    names: dict[str, Any] = {"re": re, "json": json, "load": lambda href: page.links[href]}
    names |= {name: getattr(bs4, name) for name in ("BeautifulSoup", "NavigableString", "Tag", "Comment")}
    exec(compile(program.replace('PARSER = "html.parser"', f"PARSER = {parser!r}"), "oracle", "exec"), names)
    return json.loads(json.dumps(names["extract"](page.html)))


def agrees(drawn: SiteDraft, parser: str) -> bool:
    """Whether the oracle comes to the truth on the first and the last page of a task, as far as they answer."""
    for number in (0, len(drawn.pages) - 1):
        page, draft = drawn.page(number)
        if draft.limit is None and not agree(
            drawn.plan.form, run(drawn.plan.program, page, parser), drawn.truths[number]
        ):
            return False
    return True


def oracle_rows(env: Soup, quick: bool, perform: Workbench) -> Iterator[Row]:
    size = env.size("test") or 0
    tasks = [env.task("test", index) for index in range(ARCHETYPES if quick else size // 3)]
    scores = played(env, tasks, env.baselines()["oracle"], perform)
    full = sum(score.hard == 1 and score.soft == 1.0 for score in scores) / len(scores)
    where = f"{len(tasks)} of {size} bench tasks, real sandbox, every page"
    yield Row("soup_oracle", full, "share", 1.0, full == 1.0, condition=where)
    each = 1 if quick else 4
    drafts = [draw(made, "test", turn, SEED) for made in kinds().values() for turn in range(FRESH, FRESH + each)]
    for parser in PARSERS:
        share = sum(agrees(drawn, parser) for drawn in drafts) / len(drafts)
        where = f"{len(drafts)} tasks beside the bench, all {len(kinds())} archetypes"
        yield Row(f"soup_oracle_{parser}", share, "share", 1.0, share == 1.0, condition=where)


# --------------------------------------------------------------------------------------------- adversaries


def adversary_rows(env: Soup, quick: bool, perform: Workbench) -> Iterator[Row]:
    tasks = [env.task("test", index) for index in range(ARCHETYPES if quick else 5 * ARCHETYPES)]
    for name in ADVERSARIES:
        scores = played(env, tasks, env.baselines()[name], perform)
        reward = sum(score.reward for score in scores) / len(scores)
        solved = sum(score.hard for score in scores) / len(scores)
        worst = max(reward, solved)
        where = f"reward {reward:.3f}, solved {solved:.3f} on {len(tasks)} bench tasks; the larger counts"
        yield Row(f"soup_adversary_{name}", worst, "share", MOST, worst <= MOST, condition=where)


# --------------------------------------------------------------------------------------------- classifiers


def counted(html: str) -> Counter[str]:
    """What can be counted in a page: tags, names of attributes, words, and its size."""
    counts = Counter(f"<{tag}" for tag in re.findall(r"<([a-z][a-z0-9]*)", html))
    counts.update(f"@{name}" for name in re.findall(r"\s([a-z-]+)=", html))
    counts.update(word.lower() for word in re.findall(r"[A-Za-z]{3,}", re.sub(r"<[^>]*>", " ", html)))
    counts["#characters"], counts["#lines"] = len(html), html.count("\n")
    return counts


def auc(features: Any, labels: Sequence[bool], model: Callable[[], Any]) -> float:
    """The area under the curve, each task judged by a model that was fitted without it: five folds, twice."""
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import RepeatedStratifiedKFold

    areas = []
    for train, test in RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0).split(features, labels):
        fitted = model().fit(features[train], [labels[at] for at in train])
        said = fitted.predict_proba(features[test])[:, 1]
        areas.append(roc_auc_score([labels[at] for at in test], said))
    return sum(areas) / len(areas)


def classifier_rows(env: Soup, quick: bool) -> Iterator[Row]:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import MaxAbsScaler

    size = env.size("test") or 0
    prompts, pages, labels = [], [], []
    for index in range(7 * ARCHETYPES if quick else size):
        task = env.task("test", index)
        prompts.append("\n".join(message.text for message in task.messages))
        pages.append(counted(task.data["html"]))
        labels.append(task.truth["limit"] is not None)
    common = Counter(name for page in pages for name in page)
    kept = {name for name, count in common.most_common(1500) if count >= 5}
    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2).fit_transform(prompts)
    counts = MaxAbsScaler().fit_transform(
        DictVectorizer().fit_transform([{name: page[name] for name in page if name in kept} for page in pages])
    )
    where = f"{len(labels)} bench tasks, {sum(labels)} of them limits"
    linear = {"C": 1.0, "max_iter": 2000, "class_weight": "balanced"}
    area = auc(words, labels, lambda: LogisticRegression(**linear))
    yield Row("soup_limit_by_prompt", area, "AUC", 0.6, area <= 0.6, condition=f"words and pairs, {where}")
    area = auc(counts, labels, lambda: LogisticRegression(**linear))
    yield Row("soup_limit_by_page", area, "AUC", 0.8, area <= 0.8, condition=f"counts, linear, {where}")
    area = auc(counts.toarray(), labels, lambda: RandomForestClassifier(150, random_state=0))
    yield Row("soup_limit_by_page_trees", area, "AUC", 0.8, area <= 0.8, condition=f"counts, trees, {where}")


def rows(quick: bool) -> Iterator[Row]:
    old = load_environment("soup@1")
    changed = first_bench.changed([old.task("test", index) for index in range(1040)])
    yield Row("soup1_bench_changed", len(changed), "tasks", 0, not changed, condition="soup@1 against its manifest")
    others = manifest.changed(7 * ARCHETYPES if quick else None)
    yield Row("soup_bench_changed", len(others), "tasks", 0, not others, condition="soup against its manifest")
    yield from speed_rows(quick)
    env = soup()
    with Workbench() as perform:
        yield from adversary_rows(env, quick, perform)
        yield from oracle_rows(env, quick, perform)
    yield from classifier_rows(env, quick)


if __name__ == "__main__":
    options = arguments(__doc__)
    report(rows(options.quick), options.json)
