"""The models that a config names, opened: by address, or as a reference policy that the environment offers."""

from __future__ import annotations

from whet.config.schema import EndpointSection, PolicyConfig, RoleSection, SamplingSection
from whet.envs.base import Baseline, Environment
from whet.envs.trivial import trivial_baselines
from whet.errors import WhetError, nearest
from whet.keys import digest
from whet.models.base import Model, Price
from whet.models.load import load_model
from whet.models.options import ModelOptions
from whet.models.scripted import reference
from whet.rollout.sources import Sources
from whet.types import Sampling

BASELINE = "baseline:"

REPRICING = ("service_tier", "models", "plugins", "web_search_options", "prediction")
"""Fields of a request by which a call may cost another price than the model's."""


def open_model(role: RoleSection, endpoint: EndpointSection, env: Environment, sources: Sources | None = None) -> Model:
    """The model that a role names, from what its run keeps; `baseline:NAME` is looked up in the environment."""
    refuse_votes(role, env)
    if role.model.startswith(BASELINE):
        return open_baseline(role.model.removeprefix(BASELINE), env)
    address = role.model if sources is None else sources.model(role.model)
    return load_model(address, model_options(role, endpoint))


def baselines(env: Environment) -> dict[str, Baseline]:
    """Every reference policy for `env`: its own, and the trivial ones that exist for any."""
    return {**trivial_baselines(env), **env.baselines()}


def open_baseline(name: str, env: Environment) -> Model:
    known = baselines(env)
    if name not in known:
        hint = nearest(name, known) or f" There are: {', '.join(sorted(known))}."
        raise WhetError(f"{BASELINE}{name}: {env.name} offers no such baseline.{hint}")
    return baseline_model(name, env, known[name])


def baseline_model(name: str, env: Environment, baseline: Baseline) -> Model:
    return reference(f"{BASELINE}{name}", digest("baseline", name, env.fingerprint), baseline)


def sampling_of(section: SamplingSection) -> Sampling:
    return Sampling(
        temperature=section.temperature,
        top_p=section.top_p,
        max_tokens=section.max_tokens,
        stop=section.stop,
        logprobs=section.logprobs,
        effort=section.effort,
        votes=section.votes,
        until_settled=section.until_settled,
    )


def refuse_votes(role: RoleSection, env: Environment) -> None:
    """A majority is one of verdicts: where answers are no choice, there is nothing to count."""
    if role.sampling.votes > 1 and not env.chooses:
        raise WhetError(
            f"sampling.votes is {role.sampling.votes}, and an answer to {env.name} is no choice that can be voted on; "
            "leave it out"
        )


def refuse_other_votes(config: PolicyConfig) -> None:
    """Only the target's answers are verdicts."""
    for name in ("judge", "optimizer"):
        role: RoleSection | None = getattr(config, name, None)
        if role is not None and role.sampling.votes > 1:
            raise WhetError(f"{name}.sampling.votes is {role.sampling.votes}: only the target votes; leave it out")


def refuse_other_judge(config: PolicyConfig, env: Environment) -> None:
    """A judge's agreement with given labels is measured model by model: another one's word counts for nothing."""
    if env.judge and config.judge is not None and config.judge.model != env.judge:
        raise WhetError(
            f"{env.name}: agreement was measured for the judge {env.judge}, not for {config.judge.model}; "
            "measure this one first, or name the other with --set judge.model=..."
        )


def refuse_unpriced(config: PolicyConfig, role: str, model: Model) -> None:
    """A budget in dollars can be kept only where every price is known."""
    if config.control.budget.usd is not None and model.price is None:
        raise WhetError(
            f"{model.name}: no price is known, so a budget in dollars cannot be kept; "
            f"set it with --set 'control.{role}.price=[0.4, 1.6]' (dollars for a million tokens in, out)"
        )
    section: RoleSection | None = getattr(config, role, None)
    repricing = [name for name in REPRICING if section is not None and name in section.extra]
    if config.control.budget.usd is not None and repricing:
        raise WhetError(
            f"{role}.extra.{repricing[0]}: may change what a call costs, so a budget in dollars cannot be kept; leave "
            "it out, or limit the tokens (control.budget.tokens)"
        )


def model_options(role: RoleSection, endpoint: EndpointSection) -> ModelOptions:
    """How the model of a role is reached."""
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
        shapes=role.shapes,
        seed=endpoint.send_seed,
        limit_field=endpoint.limit_field,
        grammar_field=endpoint.grammar_field,
        extra=role.extra,
        context=endpoint.context,
        threads=endpoint.threads,
        slots=endpoint.slots,
        cache=endpoint.cache,
    )
