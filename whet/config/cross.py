"""What a table of two by two is made from: two weights and two playbooks on the same sealed tasks."""

from __future__ import annotations

from pydantic import Field

from whet.config.schema import EvalConfig, Section


class CrossSection(Section):
    """What is laid over the base (`target.model`) and over its playbook (`eval.playbook`)."""

    weights: str = Field(description="the trained weights, as an address")
    playbook: str = Field(description="the evolved playbook: a file or a folder")


class CrossConfig(EvalConfig):
    """Base or trained weights, each with the plain and with the evolved playbook."""

    cross: CrossSection
