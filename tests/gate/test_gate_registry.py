"""Gates are found by entry point: ours, and those of any package that is installed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from types import ModuleType
from typing import Any

import pytest

from whet import plugins
from whet.config.load import validate
from whet.config.schema import GateSection
from whet.errors import WhetError
from whet.evals.metric import HARD, SOFT, Metric
from whet.gate import NoGate, PairedGate, StrictGate, gate_named
from whet.gate.registry import GATES
from whet.run.decide import build_gate

Install = Callable[..., None]


@dataclass(frozen=True, slots=True)
class ShyGate(NoGate):
    """A gate of somebody else's, with an option of its own."""

    shyness: int = 1
    name: str = "shy"


def halfway() -> object:
    return object()


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Entry points as if a package had brought them, beside ours."""

    def add(**entries: str) -> None:
        brought = [EntryPoint(name, value, GATES.name) for name, value in entries.items()]
        known = EntryPoints([*entry_points(group=GATES.name), *brought])
        monkeypatch.setattr(plugins, "entry_points", lambda group: known.select(group=group))

    plugin = ModuleType("shy_plugin")
    plugin.ShyGate, plugin.halfway, plugin.NUMBER = ShyGate, halfway, 3  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "shy_plugin", plugin)
    return add


def section(**keys: Any) -> GateSection:
    return validate(GateSection, keys, "test")


def test_our_own_gates_are_entries_like_any_other() -> None:
    assert {"paired", "strict", "none", "gepa", "rule_search"} <= set(GATES.names())
    assert gate_named("strict", metric=SOFT) == StrictGate(metric=SOFT)


def test_a_gate_of_another_package_is_built_from_a_config(install: Install) -> None:
    install(shy="shy_plugin:ShyGate")
    made = build_gate(section(name="shy", metric="soft", seed=4, args={"shyness": 7}))
    assert made == ShyGate(metric=Metric("soft"), seed=4, shyness=7)


def test_a_key_that_a_gate_does_not_take_is_refused(install: Install) -> None:
    install(shy="shy_plugin:ShyGate")
    with pytest.raises(WhetError, match="gate shy: it has no alpha"):
        build_gate(section(name="shy", alpha=0.1))
    with pytest.raises(WhetError, match=r"gate shy: .*'shynes'"):
        build_gate(section(name="shy", args={"shynes": 7}))


def test_every_key_of_a_config_reaches_the_default_gate() -> None:
    made = build_gate(section(alpha=0.1, metric="soft", min_effect=0.02, max_rollouts=90, spending=0.2, seed=5))
    assert isinstance(made, PairedGate)
    assert (made.alpha, made.metric, made.min_effect, made.max_rollouts) == (0.1, SOFT, 0.02, 90)
    assert (made.spending and made.spending.total, made.seed) == (0.2, 5)
    assert build_gate(section()) == PairedGate(metric=HARD)


def test_an_unknown_gate_of_a_config_is_refused_with_the_nearest_name(install: Install) -> None:
    install(shy="shy_plugin:ShyGate")
    with pytest.raises(WhetError, match=r"there is no gate 'shi'\. Did you mean 'shy'"):
        build_gate(section(name="shi"))


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ("no_such_package:Gate", r"cannot be loaded \(ModuleNotFoundError: .*\): mend or uninstall"),
        ("shy_plugin:Bold", r"cannot be loaded \(AttributeError: .*\): mend or uninstall"),
        ("shy_plugin:NUMBER", "is neither a class nor a function"),
        ("shy_plugin:halfway", "makes no gate: it has no name, metric, open, read, trial, carry"),
    ],
)
def test_a_broken_plugin_is_one_clear_line(install: Install, value: str, complaint: str) -> None:
    install(broken=value)
    with pytest.raises(WhetError, match=f"^the gate 'broken' of .*{value}.*{complaint}") as raised:
        gate_named("broken")
    assert "\n" not in str(raised.value)
    assert gate_named("strict") == StrictGate()


def test_a_name_that_two_packages_bring_is_refused(install: Install) -> None:
    install(strict="shy_plugin:ShyGate")
    with pytest.raises(WhetError, match="the gate 'strict' is offered twice, by whet"):
        gate_named("strict")
    assert gate_named("paired") == PairedGate()
