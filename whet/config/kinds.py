"""Which kind of run a config describes, and where each kind names its playbook."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from whet.config.schema import EvalConfig, PolicyConfig
from whet.types import Split

EVAL, TRAIN = "eval", "train"

Config = TypeVar("Config", bound=PolicyConfig)


def config_kind(data: Mapping[str, Any]) -> str:
    """A config that trains has a section that only training knows."""
    return TRAIN if {"train", "optimizer", "reflect", "update", "preset"} & data.keys() else EVAL


def config_class(kind: str) -> type[PolicyConfig]:
    if kind == EVAL:
        return EvalConfig
    from whet.config.train import TrainConfig

    return TrainConfig


def playbook_of(config: PolicyConfig) -> str:
    """Where a config says its playbook is."""
    section = getattr(config, EVAL, None) or getattr(config, TRAIN)
    return str(section.playbook)


def looked_at(config: PolicyConfig) -> Split:
    """The split that a run of this config plays first."""
    return config.eval.split if isinstance(config, EvalConfig) else "train"


def playbook_kept_at(config: Config, path: str) -> Config:
    """The config with the copy of the playbook that its run keeps, where it has one."""
    section = getattr(config, EVAL, None) or getattr(config, TRAIN)
    if section.playbook == "blank":
        return config
    name = EVAL if hasattr(config, EVAL) else TRAIN
    return config.model_copy(update={name: section.model_copy(update={"playbook": path})})
