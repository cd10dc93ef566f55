"""What the ledger knows of each edit: effects are found, rejected bundles count, promising edits return."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import numpy as np
from reflact_world import HARM, NULLS, RULES, config, optimiser, trained

from whet.gate.decision import Decision
from whet.gate.evidence import Draw
from whet.keys import policy_digest, seed_for
from whet.learn.candidate import Candidate
from whet.learn.judge import Judgement
from whet.learn.reflact.effects import EditEffects, edit_effects, item_key, posterior
from whet.learn.reflact.records import Edit
from whet.models.base import Request
from whet.types import Playbook, Policy

TASKS = 40
GOOD, BAD, IDLE = (Edit("append", f"{word} rule") for word in ("good", "bad", "idle"))
EFFECTS = {GOOD: 1.6, BAD: -1.6, IDLE: 0.0}


def policy(*edits: Edit) -> Policy:
    return Policy("model", playbook=Playbook("\n".join(edit.content for edit in edits)))


def judged(before: tuple[Edit, ...], added: tuple[Edit, ...], seed: int, without: bool = False) -> Judgement:
    """A rejected candidate whose draws follow the true effects."""
    rng = np.random.default_rng(seed)
    after = tuple(edit for edit in before if edit not in added) if without else (*before, *added)
    draws = []
    for arm, held in (("incumbent", before), ("candidate", after)):
        for task in range(TASKS):
            odds = (task - TASKS / 2) / 10 + sum(EFFECTS[edit] for edit in held)
            draws.append((Draw(arm, task, seed), (float(rng.random() < 1 / (1 + np.exp(-odds))),)))
    decision = Decision("reject", "paired", "not_shown", draws=tuple(draws))
    return Judgement("p", Candidate(policy(*after), added, without=without), policy(*before), decision, "reject")


def known(*judgements: Judgement) -> EditEffects:
    return edit_effects(policy(), judgements, (), ["kind"] * TASKS)


def test_effects_are_told_apart_though_every_bundle_was_rejected() -> None:
    effects = known(
        *(judged((), bundle, seed) for seed, bundle in enumerate([(GOOD, BAD), (GOOD, IDLE), (BAD, IDLE)] * 3))
    )
    helps = {edit: found.helps for edit in EFFECTS if (found := effects.of(edit))}
    assert helps[GOOD] > 0.95
    assert helps[BAD] < 0.05
    assert 0.05 < helps[IDLE] < 0.95
    assert [effect.item for effect in effects.promising(policy(), 0.8)] == [GOOD]
    assert [effect.item for effect in effects.doubtful(policy(GOOD, BAD), 0.1)] == [BAD]


def test_what_was_taken_out_is_not_in_the_playbook() -> None:
    removal = Edit("delete", target=GOOD.content)
    effects = known(
        judged((), (GOOD,), 1),
        Judgement(
            "p", Candidate(policy(IDLE), (removal,)), policy(GOOD), Decision("reject", "paired", "not_shown"), "reject"
        ),
    )
    assert effects.holds[policy_digest(policy(GOOD))] == {item_key(GOOD)}
    assert effects.holds[policy_digest(policy(IDLE))] == frozenset()


def test_without_attempts_nothing_is_known() -> None:
    assert known().known == {}
    assert known().promising(policy(), 0.8) == ()


def test_the_posterior_is_the_prior_where_nothing_was_tried() -> None:
    mean, covariance = posterior(np.zeros((3, 1)), np.zeros((3, 1)), np.ones((1, 1)), np.array([0.5]))
    assert mean[0] == 0.0
    assert abs(covariance[0, 0] - 0.25) < 1e-9


def test_a_train_task_is_not_attempted_again_by_the_same_policy(tmp_path: Path) -> None:
    settings = config(slow={"use": False}, meta={"use": False}, train={"epochs": 3})
    result = trained(tmp_path / "run", settings, target=lambda request: "?")
    rolled = [
        rollout.ticket.index
        for state in result.training.steps
        for rollout in (state.evidence.rollouts if state.evidence else ())
        if rollout.ticket.purpose.startswith(f"train/{state.step.where}/")
    ]
    assert set(Counter(rolled).values()) == {1}
    assert all(state.evidence and len(state.evidence.rollouts) == 12 for state in result.training.steps)


def test_a_good_edit_of_a_rejected_bundle_returns(tmp_path: Path) -> None:
    """It was proposed beside one that undoes it, and never again; the other was seen to harm by itself."""
    rules = "\n".join(RULES.values())
    calls = []

    def once(request: Request) -> str:
        if not request.messages[0].text.startswith("You improve"):
            return optimiser(request)
        calls.append(request)
        pool = [rules, HARM] if len(calls) == 1 else [HARM] if len(calls) == 2 else [NULLS[0]]
        edits = [{"op": "append", "content": text} for text in pool]
        return json.dumps({"batch_size": 4, "patch": {"reasoning": "", "edits": edits}})

    def spoilt(request: Request) -> str:
        text, kind = request.messages[0].text, request.messages[-1].text.split()[0]
        chance = (0.9 if RULES[kind] in text else 0.4) - (0.5 if HARM in text else 0.0)
        luck = random.Random(seed_for("luck", text, request.sampling.seed or 0)).random()
        return kind[::-1] if luck < max(0.05, chance) else "?"

    settings = config(
        train={"epochs": 4, "batch_size": 12},
        reflect={"calls": 1, "minibatch": 12},
        update={"bring": "bundle", "evidence": True},
        gate={"pace": "patient"},
        slow={"use": False},
        meta={"use": False},
    )
    result = trained(tmp_path / "run", settings, optimiser=once, target=spoilt)
    assert result.training.steps[0].action == "reject"
    assert rules in result.best.body
    assert HARM not in result.best.body
