"""Shards of an evaluation, made into the run that they are parts of.

    whet eval ENV -m MODEL -n 1000000 --set control.shard=1/8 --run part1     one for each machine
    whet merge part1 part2 … --out whole

A shard plans the whole run and plays the tickets whose keys fall to it, so shards share nothing while they play.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from whet.config.load import load_config, write_config
from whet.config.schema import EvalConfig
from whet.errors import WhetError, typed
from whet.files import own_folder, write_atomically
from whet.ledger.merge import merge_ledgers
from whet.ledger.store import SOURCES, Ledger
from whet.rollout.claim import CONFIG, PLAYBOOK
from whet.rollout.session import ENDED, SESSION, seconds_of
from whet.rollout.sources import INDEX
from whet.run.evaluate import KIND
from whet.run.kinds import rebuild_run
from whet.run.workspace import RUNS, find_run, named_folder, run_kind


def merge_runs(shards: Sequence[str | Path], name: str, runs: Path = RUNS) -> str:
    """Make the run `name` of its shards; says what it holds. Nothing is there until all of it is."""
    out = named_folder(runs, name)
    if out.exists():
        raise WhetError(f"{out}: is there already; give the whole another name with --out")
    folders = [find_run(shard, runs) for shard in shards]
    planned = _refuse_strangers(folders)
    beside = out.with_name(f".{out.name}.part")
    shutil.rmtree(beside, ignore_errors=True)
    try:
        own_folder(beside)
        _write_beside(folders[0], beside, out)
        rollouts = merge_ledgers(beside, folders, _times(folders, planned))
        beside.replace(out)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    rebuild_run(out)
    lacking = planned - rollouts
    more = f"; {lacking:,} of the plan are missing, play them with: whet resume {typed(out)}" if lacking > 0 else ""
    return f"{out}: {rollouts:,} rollouts from {len(folders)} shards{more}"


def _refuse_strangers(folders: Sequence[Path]) -> int:
    """Shards are evaluations of one identity; how many rollouts their plan has."""
    if len(set(folders)) != len(folders):
        raise WhetError("a shard is named twice; name each once")
    first, planned = "", 0
    for folder in folders:
        if run_kind(folder) != KIND:
            raise WhetError(f"{folder}: is of the kind {run_kind(folder)}; only evaluations have shards")
        with Ledger.read(folder) as ledger:
            identity = ledger.meta()["identity"]
            planned = max([planned, *(event.body["planned"] for event in ledger.events(SESSION))])
        if first and identity != first:
            raise WhetError(f"{folder}: is no shard of the run that {folders[0]} is one of; their configs differ")
        first = identity
    return planned


def _times(folders: Sequence[Path], planned: int) -> list[tuple[str, dict[str, object]]]:
    """The sessions of all shards as one: what they took together."""
    total = 0.0
    for folder in folders:
        with Ledger.read(folder) as ledger:
            total += seconds_of(ledger)
    return [(SESSION, {"planned": planned}), (ENDED, {"seconds": total, "why": "done"})]


def _write_beside(shard: Path, beside: Path, out: Path) -> None:
    """What a run has beside its ledger, as the first shard has it; which part it was is no more."""
    config = load_config(EvalConfig, shard / CONFIG)
    control = config.control.model_copy(update={"shard": None})
    whole = config.model_copy(update={"control": control}).with_playbook_at(str(out / PLAYBOOK))
    write_atomically(beside / CONFIG, write_config(whole))
    for name in (PLAYBOOK, INDEX):
        if (shard / name).is_file():
            shutil.copyfile(shard / name, beside / name)
    if (shard / SOURCES).is_dir():
        shutil.copytree(shard / SOURCES, beside / SOURCES)
