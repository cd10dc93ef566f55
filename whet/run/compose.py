"""Builds the objects of a run from its config: environment, models, players, limits."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace

from whet.config.schema import (
    ControlSection,
    EndpointSection,
    PolicyConfig,
    RoleSection,
    SamplingSection,
    SandboxSection,
)
from whet.envs.base import Baseline, Environment
from whet.envs.registry import load_environment
from whet.envs.trivial import trivial_baselines
from whet.errors import WhetError, nearest
from whet.keys import digest
from whet.models.base import Model, Price
from whet.models.load import load_model
from whet.models.options import ModelOptions
from whet.models.scripted import reference
from whet.rollout.attempt import Bounds, Player
from whet.rollout.budget import Limits
from whet.rollout.works import Works
from whet.sandbox.base import Sandbox
from whet.sandbox.isolation import open_sandbox
from whet.types import Playbook, Role, Sampling

BASELINE = "baseline:"


@dataclass(frozen=True, slots=True)
class Given:
    """Objects that a caller hands over instead of naming them in the config."""

    env: Environment | None = None
    model: Model | None = None
    playbook: Playbook | None = None
    optimizer: Model | None = None


def build_environment(config: PolicyConfig, given: Given) -> Environment:
    return given.env or load_environment(config.env.name, config.env.args)


def build_model(role: RoleSection, endpoint: EndpointSection, env: Environment) -> Model:
    """The model that a role names; `baseline:NAME` is looked up in the environment."""
    if role.model.startswith(BASELINE):
        return build_baseline(role.model.removeprefix(BASELINE), env)
    return load_model(role.model, _options(role, endpoint))


def baselines(env: Environment) -> dict[str, Baseline]:
    """Every reference policy for `env`: its own, and the trivial ones that exist for any."""
    return {**trivial_baselines(env), **env.baselines()}


def build_baseline(name: str, env: Environment) -> Model:
    known = baselines(env)
    if name not in known:
        hint = nearest(name, known) or f" There are: {', '.join(sorted(known))}."
        raise WhetError(f"{BASELINE}{name}: {env.name} offers no such baseline.{hint}")
    return baseline_model(name, env, known[name])


def baseline_model(name: str, env: Environment, baseline: Baseline) -> Model:
    return reference(f"{BASELINE}{name}", digest("baseline", name, env.fingerprint), baseline)


def build_player(model: Model, sampling: SamplingSection, endpoint: EndpointSection) -> Player:
    width = endpoint.width or model.width
    return Player(model, build_sampling(sampling), asyncio.Semaphore(width) if width else None)


def build_sampling(section: SamplingSection) -> Sampling:
    return Sampling(
        temperature=section.temperature,
        top_p=section.top_p,
        max_tokens=section.max_tokens,
        stop=section.stop,
        logprobs=section.logprobs,
        effort=section.effort,
    )


def build_players(config: PolicyConfig, env: Environment, target: Model) -> Mapping[Role, Player]:
    players: dict[Role, Player] = {"target": build_player(target, config.target.sampling, config.control.target)}
    if config.judge is not None:
        judge = build_model(config.judge, config.control.judge, env)
        players["judge"] = build_player(judge, config.judge.sampling, config.control.judge)
    return players


def build_limits(control: ControlSection) -> Limits:
    budget = control.budget
    return Limits(budget.usd, budget.tokens, budget.calls, budget.seconds)


def build_works(config: PolicyConfig) -> Works:
    return Works(lambda: build_sandbox(config.control.sandbox))


def build_sandbox(section: SandboxSection) -> Sandbox:
    """The sandbox that the config names; the local one cannot be given a network."""
    if section.kind == "prime":
        from whet.sandbox.prime import Machine, PrimeSandbox

        machine = Machine(network=section.network)
        return PrimeSandbox(replace(machine, image=section.image) if section.image else machine)
    if section.network or section.image:
        raise WhetError("control.sandbox: a network or an image needs a remote sandbox; set kind = 'prime'")
    return open_sandbox(allow_weak=section.allow_weak)


def build_bounds(config: PolicyConfig) -> Bounds:
    return Bounds(config.limits.turns, config.limits.tokens, config.control.deadline, config.control.call_timeout)


def concurrency(config: PolicyConfig, players: Mapping[Role, Player]) -> int:
    """As many attempts at once as the config says; else as the target can serve, or 64."""
    model = players["target"].model
    return config.control.concurrency or config.control.target.width or model.width or 64


def _options(role: RoleSection, endpoint: EndpointSection) -> ModelOptions:
    return ModelOptions(
        base_url=endpoint.base_url,
        key_env=endpoint.key_env,
        key_file=endpoint.key_file,
        key_command=endpoint.key_command,
        auth=endpoint.auth,
        api_version=endpoint.api_version,
        price=Price(*endpoint.price) if endpoint.price else None,
        timeout=endpoint.timeout,
        attempts=endpoint.attempts,
        tools=role.tools,
        seed=endpoint.send_seed,
        limit_field=endpoint.limit_field,
        grammar_field=endpoint.grammar_field,
        extra=role.extra,
        context=endpoint.context,
        threads=endpoint.threads,
        slots=endpoint.slots,
    )
