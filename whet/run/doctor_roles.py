"""The part of the doctor that needs a config: does its environment load, do its models answer, do its limits fit."""

from __future__ import annotations

import time
from collections.abc import Iterator

from whet.config.playbooks import read_playbook
from whet.config.schema import EndpointSection, PolicyConfig, RoleSection
from whet.envs.base import Environment
from whet.errors import FaultError, LimitReached, WhetError
from whet.models.base import Model, Request
from whet.models.embedded.gguf import find_weights
from whet.models.registry import registry
from whet.rollout.cast import BASELINE, open_model
from whet.rollout.conversation import Conversation
from whet.rollout.loop import finish
from whet.rollout.player import Player, Seat
from whet.rollout.prompt_size import most_prompt_tokens
from whet.run.compose import Given, build_environment
from whet.run.doctor import GIB, Diagnosis, available_memory
from whet.types import Playbook, Policy, Reply, Sampling, user

TINY = Request((user("Answer with the word ok."),), Sampling(max_tokens=16))


def roles(config: PolicyConfig, *, ask: bool) -> list[Diagnosis]:
    """Findings about the environment, the playbook and each role of a config."""
    found: list[Diagnosis] = []
    env, playbook = _environment(config, found), _playbook(config, found)
    if env is None:
        return found
    sections = {"target": (config.target, config.control.target)}
    if config.judge is not None:
        sections["judge"] = (config.judge, config.control.judge)
    optimizer: RoleSection | None = getattr(config, "optimizer", None)
    if optimizer is not None:
        sections["optimizer"] = (optimizer, config.control.optimizer)
    for role, (section, endpoint) in sections.items():
        try:
            model = open_model(section, endpoint, env)
        except WhetError as error:
            found.append(Diagnosis(role, "fail", str(error), "mend the config, or install what is missing"))
            continue
        found += [*_limits(role, section, model), *_memory(role, section, endpoint)]
        if role == "target" and playbook is not None:
            found += _prompt(config, env, model, playbook)
        found.append(_answers(role, section, model, ask))
    return found


def _environment(config: PolicyConfig, found: list[Diagnosis]) -> Environment | None:
    try:
        env = build_environment(config, Given())
        size = env.size(config.first_split)
    except WhetError as error:
        found.append(Diagnosis("environment", "fail", str(error), "see: whet envs"))
        return None
    told = f"{env.name}: {'unbounded' if size is None else size} tasks in {config.first_split}"
    fix = "" if size != 0 else "choose another split, or look at the data"
    found.append(Diagnosis("environment", "ok" if size != 0 else "fail", told, fix))
    return env


def _playbook(config: PolicyConfig, found: list[Diagnosis]) -> Playbook | None:
    try:
        return read_playbook(config.playbook_source)
    except WhetError as error:
        found.append(Diagnosis("playbook", "fail", str(error), "mend the playbook that the config names"))
        return None


def _limits(role: str, section: RoleSection, model: Model) -> Iterator[Diagnosis]:
    """Whether the token limit leaves room in the context, and is what replies of this model need."""
    limit, context = section.sampling.max_tokens, model.context
    key = f"{role}.sampling.max_tokens"
    if context is not None and limit >= context:
        told = f"max_tokens = {limit} leaves no room for a prompt in a context of {context}"
        yield Diagnosis(f"{role} limits", "fail", told, f"--set {key}={context // 2}")
    elif context is not None:
        yield Diagnosis(f"{role} limits", "ok", f"max_tokens = {limit} in a context of {context}")
    record = registry().find(section.model.partition(":")[2])
    if record is not None and record.max_tokens is not None and limit < record.max_tokens:
        told = f"max_tokens = {limit}; replies of {record.id} with tool calls were cut off below {record.max_tokens}"
        yield Diagnosis(f"{role} limits", "warn", told, f"--set {key}={record.max_tokens}")
    if record is not None and record.trouble:
        yield Diagnosis(f"{role} model", "warn", f"{record.id}: {record.trouble}", f"see: whet models show {record.id}")


def _memory(role: str, section: RoleSection, endpoint: EndpointSection) -> Iterator[Diagnosis]:
    """Whether an embedded model fits into memory: its file, and about half as much again for its context."""
    scheme, _, identifier = section.model.partition(":")
    available = available_memory()
    if scheme != "embedded" or available is None:
        return
    size = find_weights(identifier).stat().st_size
    needed = size + size // 2
    fits = needed < available
    told = f"needs about {needed / GIB:.1f} GB of {available / GIB:.1f} GB available"
    fix = "" if fits else f"take a smaller model, or fewer slots (control.{role}.slots = {endpoint.slots})"
    yield Diagnosis(f"{role} memory", "ok" if fits else "fail", told, fix)


def _prompt(config: PolicyConfig, env: Environment, model: Model, playbook: Playbook) -> Iterator[Diagnosis]:
    """Whether the first task with the playbook leaves room for a reply. Bytes are the most that tokens can be."""
    if model.context is None:
        return
    task = env.task(config.first_split, 0)
    seat = Seat(Policy(model.fingerprint, playbook=playbook), Player(model))
    conversation = Conversation(task, env.play(task), {"target": seat}, blob=env.blob)
    opening = conversation.next()
    conversation.close()
    if not isinstance(opening, Request):
        return
    most = most_prompt_tokens(opening)
    likely = most // 4
    room = model.context - config.target.sampling.max_tokens
    if room <= 0:
        return
    told = f"the first prompt is about {likely} tokens (at most {most}); {room} fit beside max_tokens"
    fits = likely < room
    fix = "" if fits else "shorten the playbook, lower max_tokens, or raise control.target.context"
    yield Diagnosis("prompt", "ok" if fits else "fail", told, fix)


def _answers(role: str, section: RoleSection, model: Model, ask: bool) -> Diagnosis:
    if section.model.startswith((BASELINE, "scripted:")):
        return Diagnosis(role, "skip", f"{section.model}: runs in this process, not asked")
    if not ask:
        return Diagnosis(role, "skip", f"{section.model}: not asked")
    began = time.monotonic()
    try:
        reply = finish(lambda: _one(model))
    except WhetError as error:
        return Diagnosis(role, "fail", str(error), "see the message")
    except FaultError as error:
        return Diagnosis(role, "fail", str(error.fault), f"check the service, and control.{role}")
    except LimitReached as limit:
        return Diagnosis(role, "fail", f"{section.model}: {limit}", f"raise the limits of control.{role}")
    cost = "" if not reply.usage.usd else f", ${reply.usage.usd:.6f}"
    price = "" if model.price is not None else "; its price is not known"
    seconds = time.monotonic() - began
    said = " ".join(reply.text.split())[:40]
    return Diagnosis(role, "ok", f"{section.model} answers in {seconds:.1f} s: {said!r}{cost}{price}")


async def _one(model: Model) -> Reply:
    try:
        return await model.complete(TINY)
    finally:
        await model.close()
