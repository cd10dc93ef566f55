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
from whet.learn.reflact.effects import EASE, EFFECT, OWN, EditBook, KindBlock, item_key, posterior
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


def book_of(*judgements: Judgement) -> EditBook:
    book = EditBook(policy(), ["kind"] * TASKS)
    for judgement in judgements:
        book.enter_judgement(judgement)
    return book


def test_effects_are_told_apart_though_every_bundle_was_rejected() -> None:
    bundles = [(GOOD, BAD), (GOOD, IDLE), (BAD, IDLE)] * 3
    effects = book_of(*(judged((), bundle, seed) for seed, bundle in enumerate(bundles))).effects()
    helps = {edit: effects.known[item_key(edit)].helps for edit in EFFECTS}
    assert helps[GOOD] > 0.95
    assert helps[BAD] < 0.05
    assert 0.05 < helps[IDLE] < 0.95
    assert effects.promise([item_key(GOOD)], [item_key(BAD)]) > 0.99
    assert effects.promise([item_key(BAD)], [item_key(GOOD)]) < 0.01
    assert effects.promise(["never tried"]) == 0.5


def test_what_was_taken_out_is_not_in_the_playbook() -> None:
    removal = Edit("delete", target=GOOD.content)
    book = book_of(
        judged((), (GOOD,), 1),
        Judgement(
            "p", Candidate(policy(IDLE), (removal,)), policy(GOOD), Decision("reject", "paired", "not_shown"), "reject"
        ),
    )
    assert book.holds[policy_digest(policy(GOOD))] == {item_key(GOOD)}
    assert book.holds[policy_digest(policy(IDLE))] == frozenset()


def test_without_attempts_nothing_is_known() -> None:
    effects = book_of().effects()
    assert effects.known == {}
    assert effects.of("never tried") == (0.0, effects.unknown)


def test_an_attempt_that_is_read_again_counts_once(tmp_path: Path) -> None:
    """Reused attempts stood in the evidence of every later step, and were counted in each."""
    once = config(train={"epochs": 2}, update={"evidence": True}, slow={"use": False}, meta={"use": False})
    result = trained(tmp_path / "run", once, target=lambda request: "?")
    step = result.training.steps[-1].step
    assert step.book is not None
    counted = sum(attempts for (_, task), (_, attempts) in step.book.counts.items() if task[0].startswith("train/"))
    usage = result.summary["token_summary"]["rollout"]["calls"]
    assert counted == usage


def test_the_posterior_is_the_prior_where_nothing_was_tried() -> None:
    nothing = KindBlock(np.zeros((3, 1)), np.zeros((3, 1)), np.ones((1, 1)))
    mean, covariance = posterior([nothing, nothing], [0.5, 0.5])
    assert mean[0] == 0.0
    assert abs(covariance[0, 0] - (EFFECT**2 + OWN**2 / 2)) < 1e-9


def test_the_posterior_is_that_of_the_whole_curvature() -> None:
    """Tasks and kinds are eliminated; the plain inverse of all of it, at the same guess, says the same."""
    rng = np.random.default_rng(3)
    held = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    blocks = [KindBlock((rng.random((5, 4)) < 0.5).astype(float), np.ones((5, 4)), held) for _ in range(2)]
    mean, covariance = posterior(blocks, [0.5, 0.5])
    design = np.zeros((40, 6 + 10))
    solved, row = np.zeros(40), 0
    for kind, block in enumerate(blocks):
        for task in range(5):
            for playbook in range(4):
                design[row, :2] = held[playbook]
                design[row, 2 + 2 * kind : 4 + 2 * kind] = held[playbook]
                design[row, 6 + 5 * kind + task] = 1.0
                solved[row], row = block.solved[task, playbook], row + 1
    prior = np.diag([1 / EFFECT**2] * 2 + [1 / OWN**2] * 4 + [1 / EASE**2] * 10)
    guess = np.zeros(16)
    for _ in range(30):
        chance = 1 / (1 + np.exp(-design @ guess))
        whole = design.T @ ((chance * (1 - chance))[:, None] * design) + prior
        guess += np.linalg.solve(whole, design.T @ (solved - chance) - prior @ guess)
    blend = np.concatenate([np.eye(2), 0.5 * np.eye(2), 0.5 * np.eye(2), np.zeros((2, 10))], axis=1)
    assert np.allclose(mean, blend @ guess, atol=0.01)
    assert np.allclose(covariance, blend @ np.linalg.inv(whole) @ blend.T, atol=0.01)


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
    assert rules not in result.training.steps[0].current.playbook.body
    assert rules in result.best.body
    assert HARM not in result.best.body
