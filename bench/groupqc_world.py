"""What there is to learn in generated group quality control, and what policies without the skill reach.

    python bench/groupqc_world.py [--quick] [--json FILE]

Standing adversaries, each on tickets of sites that it has not seen: always pass, always fail, the majority of a
mission, the printed checklist, a bag of words and boosted trees on structured features with 500 labelled tickets.
Beside them the ceiling: the planted conventions applied to what the summaries show. Then what trivial policies earn.
Needs scikit-learn: pip install 'whet[groupqc-bench]'.
"""

from __future__ import annotations

import re
import statistics
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
from rows import Row, arguments, report
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegressionCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler

from whet.envs.groupqc import GroupQc
from whet.envs.groupqc.pack.file import load_packs
from whet.envs.groupqc.pack.schema import Mission, Pack
from whet.envs.groupqc.records import SiteTicket
from whet.envs.groupqc.summaries.counts import read_summary
from whet.envs.groupqc.tickets.prompt import evidence, messages
from whet.envs.groupqc.verdict.conventions import ConventionJudgement, judge_with
from whet.envs.groupqc.verdict.evidence import label_form, objects
from whet.envs.groupqc.verdict.rewards import Scheme
from whet.envs.groupqc.world.noise import NO_NOISE, REALISTIC, Noise
from whet.envs.groupqc.world.world import SiteWorld
from whet.rollout.drive import drive

LABELLED = 500
SETTINGS = {
    "clean": NO_NOISE,
    "ambiguous": Noise(ambiguous=0.1),
    "realistic": REALISTIC,
    "realistic_ambiguous": replace(REALISTIC, ambiguous=0.1),
}
GAP, MARGIN = 15.0, 10.0
"""Points between checklist and ceiling, and between the ceiling and what has no skill."""

Figures = dict[str, tuple[float, float]]
"""Plain and balanced accuracy of each policy, in points."""


@dataclass(frozen=True, slots=True)
class Case:
    """A ticket as the adversaries see it, and what the rules make of it."""

    ticket: SiteTicket
    text: str
    features: dict[str, float]
    judgement: ConventionJudgement

    @property
    def passes(self) -> bool:
        return self.ticket.label == "pass"


def case_of(world: SiteWorld, ticket: SiteTicket) -> Case:
    pack, mission = world.pack, world.mission
    shown = evidence(pack, mission, ticket)
    asked = messages(pack, mission, shown, site=ticket.site, submitted=ticket.submitted)
    readings = [read_summary(pack, text) for text in shown]
    judgement = judge_with(pack, mission, world.conventions, readings, ticket.site, ticket.submitted)
    return Case(ticket, asked[-1].text, features(pack, ticket, readings, judgement), judgement)


def features(
    pack: Pack, ticket: SiteTicket, readings: Sequence[Any], judgement: ConventionJudgement
) -> dict[str, float]:
    """Everything structured that a ticket shows: of each category and value the most in a photo, and the photos."""
    found: dict[str, float] = {"photos": len(readings), f"site={ticket.site}": 1.0}
    if ticket.submitted:
        found["day"] = float(np.datetime64(ticket.submitted).astype(int))
    found["checklist"] = float(judgement.checklist == "pass")
    for finding in judgement.findings:
        name = f"need {finding.need.id} {finding.status}"
        found[name] = found.get(name, 0.0) + 1.0
    for reading in readings:
        for entry in reading.entries:
            _more(found, entry.category, objects(entry))
            if reading.notes:
                _more(found, f"noted {entry.category}", 1)
            for attribute, values in entry.counts.items():
                if attribute == pack.labels.text and entry.category == pack.labels.category:
                    for text in values:
                        _more(found, f"format {format_of(pack, text)}", 1)
                    continue
                for value, count in values.items():
                    if not value.isdigit():
                        _more(found, f"{entry.category}.{attribute}={value}", count)
    return found


def format_of(pack: Pack, text: str) -> str:
    known = (*pack.labels.templates, *pack.labels.new_templates)
    return next((template for template in known if label_form(pack, template).fullmatch(text)), "other")


def _more(found: dict[str, float], name: str, count: int) -> None:
    found[f"most {name}"] = max(found.get(f"most {name}", 0.0), count)
    found[f"photos {name}"] = found.get(f"photos {name}", 0.0) + 1.0


# --------------------------------------------------------------------------------------------- policies


def accuracies(said: Sequence[bool], truth: Sequence[bool]) -> tuple[float, float]:
    """Plain and balanced accuracy in points."""
    right = [verdict == label for verdict, label in zip(said, truth, strict=True)]
    classes = [
        statistics.mean(hit for hit, label in zip(right, truth, strict=True) if label == kind) for kind in (True, False)
    ]
    return 100 * statistics.mean(right), 100 * statistics.mean(classes)


def words(train: Sequence[Case], test: Sequence[Case]) -> tuple[float, float]:
    """The best of three linear models of the prompt's words: single ones, pairs, and runs of three letters."""
    labels = [case.passes for case in train]
    best = (0.0, 0.0)
    for shape in (
        {"token_pattern": r"[^\W_]+"},
        {"token_pattern": r"[^\W_]+", "ngram_range": (1, 2), "min_df": 2},
        {"analyzer": "char", "ngram_range": (1, 3), "min_df": 5, "max_features": 2000},
    ):
        counter = make_pipeline(CountVectorizer(**shape), FunctionTransformer(np.sqrt), MaxAbsScaler())
        seen = counter.fit_transform([tail(case) for case in train])
        model = LogisticRegressionCV(Cs=[0.1, 1.0, 10.0], cv=3, max_iter=200, solver="liblinear", tol=1e-3)
        model.fit(seen, labels)
        said = model.predict(counter.transform([tail(case) for case in test]))
        best = max(best, accuracies([bool(call) for call in said], [case.passes for case in test]))
    return best


def tail(case: Case) -> str:
    """The part of a prompt that differs between tickets of a mission."""
    return re.sub(r"\n(?:结构规则|Structural rules)[\s\S]*?(?=\n(?:统计|Overview))", "", case.text)


def boosted(train: Sequence[Case], test: Sequence[Case]) -> tuple[float, float]:
    """Boosted trees on the structured features, the checklist's findings among them."""
    table = DictVectorizer(sparse=False)
    seen = table.fit_transform([case.features for case in train])
    model = HistGradientBoostingClassifier(
        max_iter=200, learning_rate=0.06, max_leaf_nodes=12, min_samples_leaf=6, l2_regularization=1.0, random_state=0
    )
    model.fit(seen, [case.passes for case in train])
    said = model.predict(table.transform([case.features for case in test]))
    return accuracies([bool(call) for call in said], [case.passes for case in test])


def measured(pack: Pack, mission: Mission, noise: Noise, conventions: int, tests: int) -> Figures:
    """Every policy on the test sites of a world whose train sites were drawn with another seed."""
    worlds = [SiteWorld(pack, mission, noise, seed, conventions) for seed in (0, 1)]
    train = [case_of(worlds[0], worlds[0].ticket("train", index)) for index in range(LABELLED)]
    test = [case_of(worlds[1], worlds[1].ticket("test", index)) for index in range(tests)]
    truth = [case.passes for case in test]
    majority = Counter(case.passes for case in train).most_common(1)[0][0]
    return {
        "always_pass": accuracies([True] * tests, truth),
        "always_fail": accuracies([False] * tests, truth),
        "majority": accuracies([majority] * tests, truth),
        "checklist": accuracies([case.judgement.checklist == "pass" for case in test], truth),
        "ceiling": accuracies([case.judgement.verdict == "pass" for case in test], truth),
        "words": words(train, test),
        "boosted": boosted(train, test),
    }


# --------------------------------------------------------------------------------------------- rows


def learning(quick: bool) -> Iterator[Row]:
    seeds, tests, most = ((0,), 300, 1) if quick else ((1,), 800, 99)
    for name, noise in SETTINGS.items():
        found: dict[str, list[Figures]] = {}
        for pack in load_packs():
            for mission in pack.missions[:most]:
                found[mission.code] = [measured(pack, mission, noise, seed, tests) for seed in seeds]
                print_line(name, mission.code, found[mission.code])
        yield from bars(name, found, f"{len(found)} missions, {LABELLED} labelled, {tests} test tickets")


def print_line(setting: str, code: str, figures: Sequence[Figures]) -> None:
    """Means over the worlds: plain and balanced accuracy of each policy."""
    told = "  ".join(
        f"{policy} {statistics.mean(one[policy][0] for one in figures):.0f}/"
        f"{statistics.mean(one[policy][1] for one in figures):.0f}"
        for policy in figures[0]
        if not policy.startswith("always")
    )
    print(f"# {setting:20} {code:7} {told}", flush=True)


def bars(name: str, found: dict[str, list[Figures]], condition: str) -> Iterator[Row]:
    """The least of each margin over missions and worlds, and the mean of each policy."""
    for kind, which in (("plain", 0), ("balanced", 1)):
        gaps = {code: [f["ceiling"][which] - f["checklist"][which] for f in several] for code, several in found.items()}
        worst = min(min(several) for several in gaps.values())
        row = f"groupqc_world_{name}_{kind}"
        yield Row(f"{row}_gap", worst, "points", GAP, worst >= GAP, condition=f"worst mission and world; {condition}")
        for policy in ("majority", "words"):
            low = min(f["ceiling"][which] - f[policy][which] for several in found.values() for f in several)
            yield Row(
                f"{row}_above_{policy}", low, "points", MARGIN, low >= MARGIN, condition="worst mission and world"
            )
        every = [f for several in found.values() for f in several]
        for policy in ("ceiling", "checklist", "words", "boosted"):
            yield Row(f"{row}_{policy}", statistics.mean(f[policy][which] for f in every), "points", condition="mean")


def rewards(quick: bool) -> Iterator[Row]:
    """What trivial replies earn, under each scheme, on each bundled mission with and without conventions."""
    tests = 100 if quick else 400
    lead, grounded = [], []
    for scheme in get_args(Scheme):
        for conventions in (0, "none"):
            for pack in load_packs():
                for mission in pack.missions:
                    given = {"mission": mission.name, "pack": pack.name, "reward": scheme, "conventions": conventions}
                    env = GroupQc("", {**given, "grounded": True})
                    earned: dict[str, list[float]] = {"pass": [], "fail": []}
                    for index in range(tests):
                        task = env.task("test", index)
                        for call, reply in earned.items():
                            text = f"Verdict: {call}\nReason: Image1: ok"
                            score = drive(env.play(task), lambda said, asked, text=text: text).score
                            reply.append(score.reward)
                            grounded.append(score.parts["grounded"])
                    lead.append(statistics.mean(earned["fail"]) - statistics.mean(earned["pass"]))
    yield Row("groupqc_world_fail_above_pass", min(lead), "reward", 0.0, min(lead) > 0, condition="worst of all mixes")
    yield Row(
        "groupqc_world_image1_grounded", max(grounded), "share", 0.0, max(grounded) == 0.0, condition="Image1: ok"
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", FutureWarning)
    given = arguments(__doc__)

    def rows() -> Iterator[Row]:
        yield from rewards(given.quick)
        yield from learning(given.quick)

    report(rows(), given.json)
