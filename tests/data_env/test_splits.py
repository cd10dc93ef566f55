"""Splits of a user's rows: shares, units that stay together, and the manifest that keeps them in place."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from data_env.rows import QUEUES, as_csv, as_lines, environment, ticket_environment, tickets
from hypothesis import given
from hypothesis import strategies as st

from whet.envs.base import Environment
from whet.envs.data.splits import FRACTIONS, Traits, make_splits, units_of
from whet.errors import WhetError
from whet.types import SPLITS


def sides_of(env: Environment) -> dict[str, str]:
    """The split in which each question is."""
    found = {}
    for split in SPLITS:
        for index in range(env.size(split) or 0):
            found[env.task(split, index).messages[0].text] = split
    return found


def place(index: int) -> str:
    return f"row {index}"


traits = st.builds(
    Traits,
    st.sampled_from([f"q{i}" for i in range(30)]),
    st.sampled_from(["", "g1", "g2", "g3"]),
    st.sampled_from(["x", "y"]),
)


@given(st.lists(traits, min_size=30, max_size=60), st.integers(0, 5))
def test_rows_that_ask_the_same_or_share_a_group_are_never_on_two_sides(rows: list[Traits], seed: int) -> None:
    sides = make_splits(rows, (0.6, 0.4, 0.0), seed, {}, place) if len(units_of(rows)) > 3 else []
    for mark in ("content", "group"):
        owner: dict[str, str] = {}
        for row, side in zip(rows, sides, strict=False):
            value = getattr(row, mark)
            assert not value or owner.setdefault(value, side) == side


@given(st.integers(40, 120), st.integers(1, 6), st.integers(0, 9))
def test_every_stratum_gets_its_share_up_to_two_rows(n: int, strata: int, seed: int) -> None:
    rows = [Traits(f"q{i}", "", f"s{i % strata}") for i in range(n)]
    sides = make_splits(rows, FRACTIONS, seed, {}, place)
    for stratum in {row.stratum for row in rows}:
        counted = Counter(side for row, side in zip(rows, sides, strict=True) if row.stratum == stratum)
        for side, share in zip(SPLITS, FRACTIONS, strict=True):
            assert abs(counted[side] - share * counted.total()) <= 2


def test_appended_rows_move_none_of_those_that_were_there(tmp_path: Path) -> None:
    before = sides_of(ticket_environment(tmp_path, tickets(24), group="customer"))
    after = sides_of(ticket_environment(tmp_path, tickets(41), group="customer"))
    assert {question: after[question] for question in before} == before
    assert Counter(after.values())["train"] in (20, 21)


def test_a_row_that_was_gone_comes_back_to_its_side(tmp_path: Path) -> None:
    whole, more = tickets(40), tickets(60)
    before = sides_of(ticket_environment(tmp_path, whole))
    ticket_environment(tmp_path, [*whole[12:], *more[40:]])
    assert before.items() <= sides_of(ticket_environment(tmp_path, more)).items()


def test_indices_of_old_tasks_stay_when_rows_are_appended(tmp_path: Path) -> None:
    old, new = (ticket_environment(tmp_path, tickets(n), group="customer") for n in (24, 40))
    for split in SPLITS:
        for index in range(old.size(split) or 0):
            assert old.task(split, index).messages == new.task(split, index).messages


def test_without_ids_a_corrected_answer_leaves_a_row_where_it_was(tmp_path: Path) -> None:
    rows = [{"text": one["text"], "queue": one["queue"]} for one in tickets()]
    before = sides_of(ticket_environment(tmp_path, rows))
    rows[3]["queue"] = QUEUES[(QUEUES.index(rows[3]["queue"]) + 1) % 3]
    assert sides_of(ticket_environment(tmp_path, rows)) == before


def test_the_manifest_says_how_the_splits_were_made(tmp_path: Path) -> None:
    ticket_environment(tmp_path, group="customer")
    held = json.loads((tmp_path / "tickets.csv.splits.json").read_text())
    assert held["rule"] == {"fractions": [0.5, 0.25, 0.25], "seed": 0, "group": "customer", "keys": "id id"}
    assert sorted(key for keys in held["splits"].values() for key in keys) == sorted(one["id"] for one in tickets())


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"seed": 1}, "were made with seed = 0, not 1"),
        ({"split": [0.8, 0.1, 0.1]}, "were made with fractions"),
        ({"group": "customer"}, "were made with group = '', not 'customer'"),
    ],
)
def test_another_rule_does_not_silently_draw_new_splits(tmp_path: Path, args: dict[str, Any], said: str) -> None:
    ticket_environment(tmp_path)
    with pytest.raises(WhetError, match=said):
        ticket_environment(tmp_path, **args)


def test_a_manifest_of_other_rows_is_refused(tmp_path: Path) -> None:
    ticket_environment(tmp_path)
    with pytest.raises(WhetError, match="keeps the splits of other rows"):
        ticket_environment(tmp_path, [{**one, "id": f"X{one['id']}"} for one in tickets()])


def test_a_new_row_that_ties_two_sides_together_is_refused(tmp_path: Path) -> None:
    sides = sides_of(ticket_environment(tmp_path, group="customer"))
    questions = list(sides)
    rows = tickets()
    on = {one["customer"]: sides[next(q for q in questions if one["text"] in q)] for one in rows}
    one, other = next((a, b) for a in on for b in on if on[a] != on[b])
    text = next(row["text"] for row in rows if row["customer"] == other)
    with pytest.raises(WhetError, match="ties them together"):
        ticket_environment(tmp_path, [*rows, {**rows[0], "id": "T99", "customer": one, "text": text}], group="customer")


def test_one_group_for_all_rows_leaves_nothing_for_the_gate(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="nothing is left for select"):
        ticket_environment(tmp_path, [{**one, "customer": "C1"} for one in tickets()], group="customer")
    assert not (tmp_path / "tickets.csv.splits.json").exists()


def test_duplicate_ids_are_refused_by_row(tmp_path: Path) -> None:
    rows = tickets()
    rows[5]["id"] = rows[2]["id"]
    with pytest.raises(
        WhetError, match=r"tickets.csv, row 6, column 'id': the id 'T2' is already that of tickets.csv, row 3"
    ):
        ticket_environment(tmp_path, rows)
    assert not (tmp_path / "tickets.csv.splits.json").exists()


def test_a_column_gives_the_splits_under_the_names_people_use(tmp_path: Path) -> None:
    names = ("train", "dev", "test")
    env = ticket_environment(tmp_path, [{**one, "split": names[i % 3]} for i, one in enumerate(tickets())])
    assert [env.size(split) for split in SPLITS] == [8, 8, 8]
    assert not (tmp_path / "tickets.csv.splits.json").exists()


def test_a_split_nobody_knows_is_named_by_row_and_column(tmp_path: Path) -> None:
    rows = [{**one, "split": "trian"} for one in tickets()]
    with pytest.raises(WhetError, match=r"row 1, column 'split': 'trian' is not a split. Did you mean 'train'\?"):
        ticket_environment(tmp_path, rows)


def given_twice(folder: Path) -> Path:
    rows = [{"question": f"q{i}", "answer": "x", "split": "train" if i < 6 else "test"} for i in range(9)]
    rows[7]["question"] = "Q2 "
    return as_csv(folder / "given.csv", rows)


def test_given_splits_that_overlap_are_refused_by_row(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match=r"row 3 \(train\) and given.csv, row 8 \(test\) ask the same"):
        environment(given_twice(tmp_path))


def test_dropping_the_overlap_keeps_what_is_nearer_the_end(tmp_path: Path) -> None:
    env = environment(given_twice(tmp_path), overlap="drop")
    assert [env.size(split) for split in SPLITS] == [5, 0, 3]


def test_given_splits_keep_groups_apart(tmp_path: Path) -> None:
    rows = [{"question": f"q{i}", "answer": "x", "by": "ann", "split": ("train", "test")[i]} for i in range(2)]
    with pytest.raises(WhetError, match="have the same by"):
        environment(as_lines(tmp_path / "g.jsonl", rows), group="by")


def test_a_split_folder_is_three_splits(tmp_path: Path) -> None:
    for start, name in enumerate(("train", "val", "test")):
        (tmp_path / "set" / name).mkdir(parents=True)
        rows = [{"question": f"q{start}-{i}", "answer": "x"} for i in range(start + 1)]
        (tmp_path / "set" / name / "items.json").write_text(json.dumps(rows))
    env = environment(tmp_path / "set")
    assert [env.size(split) for split in SPLITS] == [1, 2, 3]


def test_a_place_that_cannot_be_written_is_named_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="set manifest=PATH"):
        ticket_environment(tmp_path, manifest=str(tmp_path / "nowhere" / "m.json"))
