"""What does not extract earns next to nothing: remembering, quoting, guessing by type, calling everything a limit."""

from __future__ import annotations

from dataclasses import replace

import pytest
from envs.soup.extractors import Perform, by_policy, call, extracted, limit, ok, score, small_tasks, soup

from whet.envs.soup.archetypes import kinds
from whet.envs.soup.draw import draw
from whet.envs.soup.environment import SEED
from whet.envs.soup.kinds import agree
from whet.envs.soup.proximity import proximity_program
from whet.envs.soup.site import HALVES, Half

TASKS = 6


@pytest.mark.parametrize(
    "name",
    ["quoted", "first-match", "regex-only", "frequent-value", "question-words", "first-plausible"],
)
def test_one_program_for_all_tasks_stays_near_nothing(perform: Perform, name: str) -> None:
    env = soup()
    scores = [by_policy(env, task, perform, env.baselines()[name]) for task in small_tasks(env, TASKS)]
    assert sum(earned.reward for earned in scores) / TASKS <= 0.25
    assert sum(earned.hard for earned in scores) <= 1


@pytest.mark.parametrize(("halves", "most"), [(("train",), 0.1), (HALVES, 0.2)])
def test_reading_what_belongs_to_a_label_is_no_extractor(halves: tuple[Half, ...], most: float) -> None:
    """Once with the labels of train and once with the bench's too, in this process, a task of each archetype."""
    program = proximity_program(halves)
    shares = []
    for made in kinds().values():
        if made.difficulty != "primer" and made.family != "bulk":
            drawn = replace(draw(made, "test", 900, SEED), size="small")
            given = {"QUERY": drawn.query, "SCHEMA": drawn.plan.form.schema()}
            pages = [drawn.page(number)[0] for number in (1, 2)]
            values = [extracted(program, page, "lxml", given) for page in pages]
            right = [agree(drawn.plan.form, *pair) for pair in zip(values, drawn.truths[1:3], strict=True)]
            shares.append(sum(right) / 2)
    assert 0 < sum(shares) / len(shares) <= most


def test_remembering_the_explored_page_earns_nothing_on_others(perform: Perform) -> None:
    env = soup()
    scores = [by_policy(env, task, perform, env.baselines()["memorise"]) for task in small_tasks(env, 6)]
    assert sum(earned.reward for earned in scores) / 6 <= 0.1
    assert not any(earned.hard for earned in scores)


def test_calling_everything_a_limit_is_wrong_wherever_the_page_answers(perform: Perform) -> None:
    env = soup()
    for task in small_tasks(env, 4):
        assert by_policy(env, task, perform, env.baselines()["always-limit"]).reward == 0.0


def test_a_program_without_an_idea_earns_nothing_in_the_bootstrap_too(perform: Perform) -> None:
    for stage in (1, 2):
        env = soup(schedule="bootstrap", stage=stage)
        task = small_tasks(env, 1)[0]
        idle = "soup = make_soup('html.parser')\nx = BeautifulSoup('a', 'html.parser').find_all('p')\nprint('no idea')"
        last = ok("no idea") if stage == 1 else call("submit", idle)
        assert score(env, task, perform, call("run_python", idle), last).reward == 0.0


def test_looking_first_costs_nothing(perform: Perform) -> None:
    env = soup()
    task = small_tasks(env, 1)[0]
    right = call("submit", task.truth["program"])
    looks = [call("run_python", "print(len(HTML))")] * 4
    assert score(env, task, perform, *looks, right).reward == score(env, task, perform, right).reward == 1.0


def test_a_single_answer_has_one_free_look(perform: Perform) -> None:
    env = soup(rung="answer", difficulty="easy")
    task = small_tasks(env, 1)[0]
    look, right = call("run_python", "print(1)"), ok(task.truth["answer"])
    rewards = [score(env, task, perform, *[look] * looks, right).reward for looks in (0, 1, 2, 3)]
    assert rewards == pytest.approx([0.0, 1.0, 1.0, 0.9])


def test_evidence_is_a_verbatim_piece_that_holds_the_mark(perform: Perform) -> None:
    env = soup()
    task = small_tasks(env, 1, limit=True)[0]
    truth, html = task.truth["limit"], task.data["html"]
    at = html.index(truth["mark"])
    piece = html[max(0, at - 15) : at + 30]
    look = call("run_python", "print(1)")
    others = {"fetched", "image"} - {truth["reason"]}

    def earned(reason: str, evidence: str) -> str:
        return score(env, task, perform, look, limit(reason, evidence)).reason

    assert earned(truth["reason"], piece) == "correct_limit"
    assert earned(others.pop(), piece) == "wrong_reason"
    assert earned(truth["reason"], html[:40]) == "weak_evidence"
    assert earned(truth["reason"], truth["mark"]) == "weak_evidence"
    assert earned(truth["reason"], f"made up {truth['mark']} by me") == "weak_evidence"
    assert score(env, task, perform, limit(truth["reason"], piece)).reason == "no_program"
    assert score(env, task, perform, call("submit", task.truth["program"])).reason == "missed_limit"
