"""Shards of an evaluation, merged by key, are the run that was never cut."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import FromFunction, doubled
from fleet_crew import Crew, artifact, evaluate

from whet.errors import WhetError
from whet.ledger.store import Ledger
from whet.run.merge import merge_runs
from whet.run.verify import verify_run
from whet.run.workspace import account_of


def shards(runs: Path, of: int, n: int = 60, **options: object) -> list[str]:
    for part in range(1, of + 1):
        told = [f"control.shard={part}/{of}"]
        evaluate(runs, f"part{part}", n=n, overrides=told, **options)  # type: ignore[arg-type]
    return [f"part{part}" for part in range(1, of + 1)]


@pytest.mark.parametrize("of", [1, 3])
def test_the_shards_together_are_the_whole_run(tmp_path: Path, of: int) -> None:
    whole = evaluate(tmp_path, "whole")
    parts = shards(tmp_path, of)
    told = merge_runs(parts, "merged", tmp_path)
    assert told == f"{tmp_path / 'merged'}: 60 rollouts from {of} shards"
    assert (tmp_path / "merged" / "results.json").read_bytes() == artifact(whole)
    assert account_of(tmp_path / "merged") == account_of(whole.folder)
    assert not [
        wrong for wrong in verify_run(tmp_path / "merged", tmp_path) if "results.json" in wrong or "chain" in wrong
    ]
    sizes = []
    for part in parts:
        with Ledger.read(tmp_path / part) as ledger:
            sizes.append(ledger.counts()["rollouts"])
    assert sum(sizes) == 60
    assert min(sizes) > 0


def test_what_no_shard_has_is_played_by_the_whole(tmp_path: Path) -> None:
    parts = shards(tmp_path, 3)
    told = merge_runs(parts[:2], "merged", tmp_path)
    assert "of the plan are missing, play them with: whet resume" in told
    rest = evaluate(tmp_path, "merged", Crew())
    assert rest.tally.replayed + rest.tally.done == 60
    assert rest.tally.done > 0
    assert artifact(rest) == artifact(evaluate(tmp_path, "whole"))


def test_a_shard_that_overlaps_is_counted_once(tmp_path: Path) -> None:
    parts = shards(tmp_path, 2)
    evaluate(tmp_path, "all")
    told = merge_runs([*parts, "all"], "merged", tmp_path)
    assert "60 rollouts from 3 shards" in told


def test_runs_that_are_no_shards_of_one_are_refused_and_nothing_is_left(tmp_path: Path) -> None:
    first, *_ = shards(tmp_path, 2)
    evaluate(tmp_path, "other", n=10, model=FromFunction(doubled))
    with pytest.raises(WhetError, match="is no shard of the run that"):
        merge_runs([first, "other"], "merged", tmp_path)
    with pytest.raises(WhetError, match="a shard is named twice"):
        merge_runs([first, first], "merged", tmp_path)
    with pytest.raises(WhetError, match="is there already"):
        merge_runs([first], "other", tmp_path)
    assert not list(tmp_path.glob("*merged*"))
    assert not list(tmp_path.glob(".*merged*"))


def test_a_part_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="there is no such part; give one from 1/2 to 2/2"):
        evaluate(tmp_path, "r", overrides=["control.shard=3/2"])
    with pytest.raises(WhetError, match="a test is opened once"):
        evaluate(tmp_path, "r", overrides=["control.shard=1/2", "eval.split=test"])
    assert not list(tmp_path.iterdir())
