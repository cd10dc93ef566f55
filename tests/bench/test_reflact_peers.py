"""The world, the simulated optimiser and the server that text optimisers are compared on; no peer is needed."""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests")]

from loopback import serving  # noqa: E402
from reflact_peers.optimizer import Optimizer, drawn, merged, ranked  # noqa: E402
from reflact_peers.reading import Reflection, patches_in  # noqa: E402
from reflact_peers.server import Desk  # noqa: E402
from reflact_peers.world import FAMILIES, SIZES, World, drawn_world, load_world  # noqa: E402

WORLD = load_world()
NAMES = sorted(WORLD.edits)
some_edits = st.frozensets(st.sampled_from(NAMES), max_size=8)


def text_with(*names: str) -> str:
    return "\n".join((WORLD.start, *(WORLD.edits[name].text for name in names)))


def failing(*kinds: str, skill: str = WORLD.start, text: str = "") -> Reflection:
    return Reflection(skill, kinds, (), text)


def analyst_prompt(skill: str, task: str, tried: str = "") -> str:
    """The form in which a skill trainer shows failures."""
    return f"## Current Skill\n{skill}\n\n{tried}## Failed Trajectories (1 total)\n### Trajectory 1 (id={task})\n{task}"


def asked(desk: Desk, model: str, system: str, user: str) -> tuple[int, str]:
    """Status and text of one request."""
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    body = json.dumps({"model": model, "messages": messages}).encode()
    request = urllib.request.Request(f"{desk.base_url}/chat/completions", body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.loads(answer.read())["choices"][0]["message"]["content"]
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()


# --------------------------------------------------------------------------------------------- the pool


def test_the_pool_holds_every_class_of_edit() -> None:
    labels = {edit.label for edit in WORLD.edits.values()}
    assert labels == {"helpful", "null", "harmful", "mixed", "duplicate", "redundant"}


def test_no_sentence_of_the_pool_contains_another_or_stands_in_the_start() -> None:
    texts = [edit.text for edit in WORLD.edits.values()]
    inside = [(one, other) for one in texts for other in [*texts, WORLD.start] if one is not other and one in other]
    assert inside == []


@pytest.mark.parametrize("name", NAMES)
def test_an_edit_does_alone_what_its_class_says(name: str) -> None:
    gain = WORLD.gain_of(name, frozenset({name}))
    match WORLD.edits[name].label:
        case "helpful" | "duplicate" | "redundant":
            assert gain > 0.01
        case "null":
            assert gain == 0.0
        case "harmful":
            assert gain < -0.01
        case "mixed":
            effects = WORLD.edits[name].effect.values()
            assert min(effects) < 0.0 < max(effects)


@pytest.mark.parametrize("name", [name for name in NAMES if WORLD.edits[name].label in ("duplicate", "redundant")])
def test_a_duplicate_adds_nothing_beside_its_original(name: str) -> None:
    both = frozenset({name, WORLD.edits[name].group})
    assert WORLD.gain_of(name, both) == 0.0


# --------------------------------------------------------------------------------------------- the truth


@settings(deadline=None)
@given(some_edits)
def test_the_edits_of_a_text_are_found_again(names: frozenset[str]) -> None:
    assert WORLD.present(text_with(*names)) == names


def test_an_edit_is_found_when_its_sentence_is_wrapped() -> None:
    sentence = WORLD.edits["h-day-first"].text
    wrapped = f"- {sentence[:30].rsplit(' ', 1)[0]}\n  {sentence[len(sentence[:30].rsplit(' ', 1)[0]) + 1 :]}"
    assert WORLD.present(wrapped) == {"h-day-first"}


@settings(max_examples=30, deadline=None)  # a loaded machine is slow
@given(some_edits)
def test_the_true_score_is_the_mean_of_many_sampled_tasks(names: frozenset[str]) -> None:
    rng = Random(7)
    drawn_tasks = [(kind, rng.gauss(0.0, 1.0)) for kind in WORLD.kinds for _ in range(400)]
    sampled = sum(WORLD.chance(names, kind, z) for kind, z in drawn_tasks) / len(drawn_tasks)
    assert WORLD.score(names) == pytest.approx(sampled, abs=0.03)


def test_the_ceiling_is_far_above_the_start() -> None:
    assert WORLD.ceiling() > WORLD.score(()) + 0.3


def test_false_edits_are_additions_that_do_not_help_and_removals_that_do_not() -> None:
    before = frozenset({"h-dozen", "b-round"})
    assert WORLD.false_edits(before, before | {"h-surname"}) == 0
    assert WORLD.false_edits(before, before | {"n-think"}) == 1
    assert WORLD.false_edits(before, before - {"b-round"}) == 0
    assert WORLD.false_edits(before, before - {"h-dozen"}) == 1


def test_of_two_copies_accepted_together_both_are_false() -> None:
    assert WORLD.false_edits(frozenset(), frozenset({"h-returns", "d-returns"})) == 2


def test_tasks_depend_on_the_seed_alone_and_no_two_ask_the_same() -> None:
    one, again, other = WORLD.tasks(1), WORLD.tasks(1), WORLD.tasks(2)
    questions = [task.question for tasks in one.values() for task in tasks]
    assert one == again != other
    assert len(set(questions)) == len(questions) == sum(SIZES.values())


# --------------------------------------------------------------------------------------------- the optimiser


@settings(deadline=None)
@given(st.integers(0, 10_000), some_edits)
def test_a_proposal_adds_what_is_absent_or_removes_what_is_present(seed: int, names: frozenset[str]) -> None:
    seen = failing("dates", skill=text_with(*names))
    for draft in drawn(WORLD, seen, Random(seed), 99):
        assert (WORLD.present(draft.text) <= names) == draft.removes


def test_proposals_lean_towards_the_kinds_that_failed() -> None:
    made = [draft for seed in range(400) for draft in drawn(WORLD, failing("codes"), Random(seed), 99)]
    about = sum("codes" in WORLD.edits[name].about for draft in made for name in WORLD.present(draft.text))
    assert about / len(made) > 2 * sum("codes" in edit.about for edit in WORLD.edits.values()) / len(NAMES)


def test_helpful_edits_are_likelier_where_right_answers_are_shown() -> None:
    seen = failing("codes")

    def helpful(informed: frozenset[str]) -> int:
        found = [draft for seed in range(600) for draft in drawn(WORLD, seen, Random(seed), 99, informed)]
        names = [name for draft in found for name in WORLD.present(draft.text)]
        return sum(WORLD.edits[name].effect.get("codes", 0.0) > 0.0 for name in names)

    assert helpful(frozenset({"codes"})) > 1.2 * helpful(frozenset())


@pytest.mark.parametrize("family", FAMILIES)
def test_a_drawn_pool_depends_on_its_seed_and_leaves_room_to_learn(family: str) -> None:
    world = drawn_world(family, 7)
    assert world == drawn_world(family, 7) != drawn_world(family, 8)
    assert len({edit.text for edit in world.edits.values()}) == len(world.edits) >= 60
    helpful = [name for name, edit in world.edits.items() if edit.label == "helpful"]
    assert world.score(()) + 0.1 < world.score(helpful)


def test_proposals_seldom_repeat_what_the_prompt_says_was_tried() -> None:
    name = "n-code-short"
    fresh, told = failing("codes"), failing("codes", text=WORLD.edits[name].text)

    def often(seen: Reflection) -> int:
        found = [WORLD.present(draft.text) for seed in range(600) for draft in drawn(WORLD, seen, Random(seed), 99)]
        return sum(name in one for one in found)

    assert often(told) < often(fresh) / 2


def test_all_systems_get_their_proposals_by_one_law() -> None:
    """The same evidence in the three forms of prompt gives the same number and kind of edits over many draws."""
    counts: dict[str, list[int]] = {"trainer": [], "gepa": [], "whet": []}
    for number in range(300):
        task = f"tables-train-{number:03d}"
        replies = {
            "trainer": Optimizer(WORLD, 0).reply("batch_size", analyst_prompt(WORLD.start, task)),
            "whet": Optimizer(WORLD, 0).reply(
                "FAILED. At most 4 edits. batch_size",
                f"<playbook>\n{WORLD.start}\n</playbook>\n\n<attempts>\n{task}\n</attempts>",
            ),
            "gepa": Optimizer(WORLD, 0).reply(
                "",
                f"I provided an assistant with the following instructions to perform a task for me:\n```\n{WORLD.start}"
                f"\n```\n\n```\n# Example 1\n## Inputs\n{task}\n## Feedback\nThe generated response is incorrect.\n```",
            ),
        }
        for form, reply in replies.items():
            counts[form].append(len(WORLD.present(reply)))
    means = [sum(some) / len(some) for some in counts.values()]
    assert means == pytest.approx([1.8, 1.8, 1.8], abs=0.15)


def test_a_prompt_gets_the_same_reply_again_and_another_prompt_another() -> None:
    optimizer = Optimizer(WORLD, 3)
    first, again = (optimizer.reply("batch_size", analyst_prompt(WORLD.start, "units-train-001")) for _ in range(2))
    others = {optimizer.reply("batch_size", analyst_prompt(WORLD.start, f"units-train-{n:03d}")) for n in range(9)}
    assert first == again
    assert len(others) > 5


def test_a_budget_in_the_prompt_is_kept() -> None:
    prompt = analyst_prompt(WORLD.start, "units-train-001", "## Edit Budget\nProduce at most L=1 edits.\n\n")
    for seed in range(40):
        assert len(json.loads(Optimizer(WORLD, seed).reply("batch_size", prompt))["patch"]["edits"]) <= 1


def test_a_merge_joins_equal_edits_and_adds_up_their_support() -> None:
    edit = {"op": "append", "target": "", "content": "x", "support_count": 2}
    found = merged([{"edits": [edit]}, {"edits": [edit, {**edit, "content": "y"}]}])
    assert [(one["content"], one["support_count"]) for one in found] == [("x", 4), ("y", 2)]


@pytest.mark.parametrize(
    "text", ['[{"edits": [{"op": "append", "content": "x"}]}]', '[{"op": "append", "content": "x"}]']
)
def test_patches_are_read_from_both_forms_of_merge_prompt(text: str) -> None:
    found = merged(patches_in(f"## Patches\n{text}\n"))
    assert [one["content"] for one in found] == ["x"]


def test_ranking_puts_what_has_more_support_first() -> None:
    assert ranked(["a  support=1", "b  support=9"], Random(0)) == [1, 0]


# --------------------------------------------------------------------------------------------- the server


def solved(desk: Desk, world: World, skill: str, split: str) -> float:
    tasks = world.tasks(desk.seed)[split]
    return sum(asked(desk, "target", skill, task.question)[1] == task.answer for task in tasks) / len(tasks)


def test_the_target_solves_as_often_as_the_truth_says() -> None:
    good = text_with(*(name for name in NAMES if WORLD.edits[name].label == "helpful"))
    with serving(server=Desk(WORLD, 5, 10_000)) as desk:
        assert isinstance(desk, Desk)
        found = {skill: sum(solved(desk, WORLD, skill, "train") for _ in range(6)) / 6 for skill in (WORLD.start, good)}
        tasks = WORLD.tasks(5)["train"]
        for skill, share in found.items():
            present = WORLD.present(skill)
            truth = sum(WORLD.chance(present, task.kind, task.z) for task in tasks) / len(tasks)
            assert share == pytest.approx(truth, abs=0.06)


def test_the_same_attempts_end_the_same_way_for_everyone_and_repeats_differ() -> None:
    runs: list[list[Any]] = []
    for _ in range(2):
        with serving(server=Desk(WORLD, 5, 10_000)) as desk:
            assert isinstance(desk, Desk)
            runs.append([solved(desk, WORLD, WORLD.start, "select") for _ in range(3)])
    assert runs[0] == runs[1]
    assert len(set(runs[0])) > 1


def test_after_the_budget_target_calls_are_refused_and_not_counted() -> None:
    task = WORLD.tasks(0)["train"][0]
    with serving(server=Desk(WORLD, 0, 2)) as desk:
        assert isinstance(desk, Desk)
        statuses = [asked(desk, "target", WORLD.start, task.question)[0] for _ in range(4)]
        assert (statuses, desk.book.target.calls, desk.book.refused) == ([200, 200, 402, 402], 2, 2)


def test_test_tasks_and_the_optimiser_do_not_use_up_the_budget() -> None:
    task = WORLD.tasks(0)["test"][0]
    with serving(server=Desk(WORLD, 0, 0)) as desk:
        assert isinstance(desk, Desk)
        assert asked(desk, "target", WORLD.start, task.question)[0] == 200
        assert asked(desk, "optimizer", "batch_size", analyst_prompt(WORLD.start, "units-train-001"))[0] == 200
        assert (desk.book.target.calls, desk.book.test.calls, desk.book.optimizer.calls) == (0, 1, 1)


def test_a_prompt_that_no_role_is_known_for_is_refused() -> None:
    with serving(server=Desk(WORLD, 0, 1)) as desk:
        assert isinstance(desk, Desk)
        assert asked(desk, "optimizer", "What is this?", "Nothing.")[0] == 400
