"""The environment as the rest of Whet sees it: pure tasks, sites of one split, arguments, stages."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from types import SimpleNamespace

import pytest
from envs.soup.extractors import soup
from hypothesis import given
from hypothesis import strategies as st

from whet.envs.registry import load_environment
from whet.envs.soup.archetypes import kinds
from whet.envs.soup.draw import draw, is_limit
from whet.envs.soup.stages import CURRICULA, next_stage
from whet.errors import WhetError
from whet.keys import task_digest
from whet.types import SPLITS


def test_tasks_are_the_same_bytes_in_another_process() -> None:
    script = (
        "from whet.envs.registry import load_environment as load\nfrom whet.keys import task_digest\n"
        "env = load('soup'); print([task_digest(env.task(s, i)) for s in ('train', 'test') for i in (0, 17, 40)])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    env = soup()
    assert done.stdout.strip() == str([task_digest(env.task(s, i)) for s in ("train", "test") for i in (0, 17, 40)])  # type: ignore[arg-type]


def test_a_site_is_met_in_one_split_alone() -> None:
    owner: dict[int, str] = {}
    for made in kinds().values():
        for split in SPLITS:
            for ordinal in range(4):
                seed = draw(made, split, ordinal, 42).seed
                assert owner.setdefault(seed, split) == split


def test_the_halves_of_the_vocabulary_are_apart() -> None:
    made = kinds()["record.order_amount"]
    assert draw(made, "train", 0, 42).desk.site.half == draw(made, "select", 0, 42).desk.site.half == "train"
    assert draw(made, "test", 0, 0).desk.site.half == "bench"


def test_one_task_in_eight_is_a_limit_and_its_prompt_does_not_say_so() -> None:
    made = kinds()["rows.products"]
    limits = [ordinal for ordinal in range(2000) if is_limit(made, "train", ordinal, 42)]
    assert 200 < len(limits) < 300
    drawn = draw(made, "train", limits[0], 42)
    answerable = draw(made, "train", limits[0], 42, limits=False)
    assert drawn.query == answerable.query
    assert drawn.truths == answerable.truths


def test_the_address_is_in_the_task_and_can_be_chosen() -> None:
    for address in ("given", "described", "meaning"):
        env = soup(address=address)
        assert {env.task("train", index).data["address"] for index in range(6)} == {address}
    assert len({soup().task("train", index).data["address"] for index in range(44)}) == 3


def test_the_bench_has_21_tasks_of_each_archetype_and_any_prefix_is_balanced() -> None:
    env = soup()
    members = [made for made in kinds().values() if made.difficulty != "primer"]
    assert env.size("test") == 21 * len(members)
    first = [env.label("test", index) for index in range(len(members))]
    assert len({label.kind for label in first}) == len(members)
    assert len({label.difficulty for label in first[:8]}) == 3


def test_it_travels_and_its_fingerprint_knows_the_arguments() -> None:
    env = soup(rung="answer", turns=4)
    there = pickle.loads(pickle.dumps(env))
    assert there.fingerprint == env.fingerprint != soup().fingerprint
    assert there.task("select", 7) == env.task("select", 7)
    assert json.loads(json.dumps([env.task("test", 0).truth, dict(env.task("test", 0).data)]))


@pytest.mark.parametrize(
    "args",
    [{"rung": "x"}, {"archetypes": ["record.x"]}, {"stage": 2}, {"schedule": "x"}, {"turns": 0}, {"rewards": {"x": 1}}],
)
def test_a_mistake_is_one_line(args: dict[str, object]) -> None:
    with pytest.raises(WhetError) as refused:
        soup(**args)
    assert "\n" not in str(refused.value)


def test_the_first_soup_is_addressable() -> None:
    assert load_environment("soup@1").name == "soup@1"
    assert load_environment("soup@1").size("test") == 1040


# --------------------------------------------------------------------------------------------- stages


@pytest.mark.parametrize(
    ("rates", "stage"),
    [([], 1), ([0.05, 0.09], 1), ([0.10], 2), ([0.9], 2), ([0.1, 0.2, 0.3, 0.4, 0.5], 4), ([1.0] * 9, 4)],
)
def test_a_stage_is_left_when_its_mark_is_reached(rates: list[float], stage: int) -> None:
    assert next_stage("bootstrap", 1, rates) == stage


@given(st.lists(st.floats(0, 1), max_size=12), st.integers(0, 12), st.integers(1, 4))
def test_stages_do_not_lead_back_and_may_be_counted_in_parts(rates: list[float], cut: int, start: int) -> None:
    part = next_stage("bootstrap", start, rates[:cut])
    assert start <= part <= next_stage("bootstrap", start, rates) <= len(CURRICULA["bootstrap"])
    assert next_stage("bootstrap", part, rates[cut:]) == next_stage("bootstrap", start, rates)


def test_the_environment_knows_its_next_stage() -> None:
    first = soup(schedule="bootstrap", stage=1)
    assert first.next_environment([0.02]) is first
    second = first.next_environment([0.02, 0.2])
    assert second.fingerprint == soup(schedule="bootstrap", stage=2).fingerprint
    assert second.settings.rung == "extractor"
    assert first.next_environment([0.5] * 9).fingerprint == soup(schedule="bootstrap", stage=4).fingerprint
    assert soup().next_environment([1.0]).settings.stage == 1


def test_a_weight_learner_follows_the_stages() -> None:
    from whet.learn.sealed import SealedEnvironment
    from whet.learn.weights.learners import staged

    env = SealedEnvironment(soup(schedule="bootstrap"))
    logs = [[{"solved": 0.0}, {"solved": 0.4}], [{"solved": 0.1}]]
    records = [SimpleNamespace(log=log) for log in logs]
    course = SimpleNamespace(shop=SimpleNamespace(env=env), segments=records)
    after = staged(course)  # type: ignore[arg-type]
    assert after.fingerprint == soup(schedule="bootstrap", stage=2).fingerprint
    assert isinstance(after, SealedEnvironment)
    plain = SimpleNamespace(shop=SimpleNamespace(env=load_environment("soup@1")), segments=records)
    assert staged(plain) is plain.shop.env  # type: ignore[arg-type]
