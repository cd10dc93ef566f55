"""`whet train --continue RUN`: a training that goes on from where another one ended, with what that one remembers.

It is a run of its own. Its config holds the config of the run it continues, so that it can be resumed, rebuilt and
verified like any other; its ledger takes over that run's answers, and what was learnt is worked off again from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from whet.config.load import merge, parse_override, read_toml, validate
from whet.config.playbooks import read_playbook
from whet.config.train import DEFAULT_LEARNER, TrainConfig
from whet.errors import WhetError, typed
from whet.learn.learner import learner_named
from whet.ledger.inheritance import apart
from whet.ledger.store import CONSULTED, Ledger
from whet.rollout.claim import CONFIG, PLAYBOOK, differing
from whet.rollout.session import DONE, ENDED
from whet.run.train import KIND, load_train_config
from whet.run.workspace import RUNS, find_run, run_kind
from whet.types import Playbook

KEPT = ("env", "target", "judge", "limits", "tools", "learner", "gate")
"""What a continued run has in common with the one before: who is trained, on what, and by which rules it is judged."""

KEPT_OF_TRAIN = ("select", "test", "repeats", "seed")


@dataclass(frozen=True, slots=True)
class TrainContinuation:
    """A config that continues a run, where that run lies, where it began, and what is another than there."""

    config: TrainConfig
    folder: Path
    initial: Playbook
    changed: tuple[str, ...]

    def lines(self) -> list[str]:
        """For a person, before anything begins."""
        with Ledger.read(self.folder) as ledger:
            rollouts = sum(not apart(outcome.ticket.purpose) for outcome in ledger.outcomes() if not outcome.fault)
            replies = sum(1 for _ in ledger.effects(CONSULTED))
        said = [f"continues {self.folder.name}: {rollouts} rollouts and {replies} replies of an optimiser are known"]
        return said + [f"  changed: {line}" for line in self.changed or ("nothing: as many epochs again",)]


def continued(
    run: str | Path,
    file: Path | None = None,
    base: Mapping[str, Any] | None = None,
    overrides: Sequence[str] = (),
    runs: Path = RUNS,
) -> TrainContinuation:
    """The config of a run that continues `run`: that of `file`, or else its own, with what the overrides change."""
    folder = find_run(run, runs)
    stored = load_train_config(folder / CONFIG)
    meta = _ended(folder)
    data = read_toml(file or folder / CONFIG)
    for laid_over in (base or {}, *map(parse_override, overrides)):
        merge(data, laid_over)
    data["continues"] = {
        "run": folder.name,
        "identity": meta["identity"],
        "optimizer": orjson.loads(meta["depends_on"])["optimizer"]["model"],
        "config": stored.model_dump(mode="json", exclude_none=True, exclude={"control"}),
    }
    learner = learner_named(str(data.get("learner", DEFAULT_LEARNER)))
    settled: dict[str, Any] = {}
    merge(settled, learner.beside(file.parent) if file else {})
    merge(settled, data)
    config = validate(learner.config, settled, str(file or folder / CONFIG))
    return TrainContinuation(config, folder, read_playbook(str(folder / PLAYBOOK)), tuple(_changed(stored, config)))


def _ended(folder: Path) -> dict[str, str]:
    """What the ledger of a training says of itself; refused where it has not come to its end."""
    if run_kind(folder) != KIND:
        raise WhetError(f"{folder}: is no training; name a run of 'whet train'")
    with Ledger.read(folder) as ledger:
        ends = [event.body["why"] for event in ledger.events(ENDED)]
        if ends[-1:] != [DONE]:
            raise WhetError(f"{folder}: has not come to its end; finish it first: whet resume {typed(folder.name)}")
        return ledger.meta()


def _changed(before: TrainConfig, after: TrainConfig) -> Iterator[str]:
    """What differs, a line each; what may not differ is refused."""
    old, new = (config.model_dump(mode="json", exclude={"control", "continues"}) for config in (before, after))
    for section in (old, new):
        section["train"].pop("playbook", None)
    for line in differing("", old, new):
        path = line.split(" = ")[0]
        first, _, rest = path.partition(".")
        if first in KEPT or (first == "train" and rest in KEPT_OF_TRAIN):
            raise WhetError(f"{line}: a run that is continued keeps it; train anew")
        yield line
