"""A whole run with a scripted optimiser: what is kept, what is skipped, what each mode and stage does."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reflact_world import HARM, NULLS, RULES, Kinds, config, optimiser, rules_in, target, trained

from whet.errors import WhetError
from whet.gate.decision import Decision
from whet.gate.evidence import Bank
from whet.learn.candidate import Candidate
from whet.learn.judge import Judge, Judgement, Standing
from whet.models.base import Request
from whet.types import Playbook, Policy


def asked(request: Request) -> str:
    """Which role a request of the optimiser's is for."""
    text = request.messages[0].text
    roles = {
        "analyst": "You improve",
        "merge": "You merge",
        "rank": "You choose which",
        "lr": "You choose how many",
        "rewrite": "You rewrite",
        "mend": "These edits",
        "slow": '"slow_update_content"',
        "meta": '"meta_skill_content"',
        "notes": "These reminders",
    }
    return next(role for role, mark in roles.items() if mark in text)


def answering(**roles: Callable[[Request], str] | str) -> Callable[[Request], str]:
    """The world's optimiser with some roles replaced."""

    def answer(request: Request) -> str:
        found = roles.get(asked(request))
        if found is None:
            return optimiser(request)
        return found if isinstance(found, str) else found(request)

    return answer


def proposing(*edits: dict[str, Any], **more: Any) -> str:
    return json.dumps(
        {"batch_size": 4, "failure_summary": [], "patch": {"reasoning": "", "edits": list(edits)}, **more}
    )


def test_a_run_learns_the_rules_and_claims_on_the_sealed_test(tmp_path: Path) -> None:
    result = trained(tmp_path / "run")
    assert set(rules_in(result.best.body)) >= set(RULES.values())
    assert result.summary["test_hard"] > 0.7
    low, _ = result.summary["test_delta_interval"]
    assert low > 0
    assert HARM not in result.best.body


def test_a_run_with_nothing_to_learn_keeps_its_playbook(tmp_path: Path) -> None:
    nothing = answering(analyst=proposing({"op": "append", "content": NULLS[0]}), merge=optimiser)
    result = trained(tmp_path / "run", optimiser=nothing)
    assert result.best == Playbook()
    assert result.summary["total_accepts"] == 0
    assert result.summary["test_delta_says"] == "the initial playbook was kept"


def test_an_identical_candidate_is_never_judged(tmp_path: Path) -> None:
    """A step that changed nothing was accepted as new best: a fresh draw of the same text got lucky."""
    start = Playbook("Rule one.")
    same = proposing({"op": "replace", "target": "Rule one.", "content": "Rule one. "})
    result = trained(tmp_path / "run", optimiser=answering(analyst=same, merge=same), playbook=start)
    assert result.best == start
    assert result.summary["total_decisions"] == 0
    assert result.judge.shop.planned == 24  # train tasks alone, none of them twice: the gate drew nothing


def test_a_score_of_zero_is_a_score(tmp_path: Path) -> None:
    """A stored score of exactly 0.0 was read as missing."""
    never = trained(tmp_path / "run", target=lambda request: "?")
    assert never.summary["baseline_selection_hard"] == 0.0
    assert never.judge.current.score == 0.0
    assert never.summary["test_hard"] == 0.0


@pytest.mark.parametrize("scheduler", ["constant", "linear", "cosine"])
def test_a_budget_of_zero_applies_no_edit(tmp_path: Path, scheduler: str) -> None:
    result = trained(tmp_path / "run", config(update={"edits": 0, "scheduler": scheduler}))
    assert result.best == Playbook()
    assert result.summary["token_summary"].get("analyst") is None
    assert {step.action for step in result.training.steps} == {"skip_no_patches"}


def test_the_optimiser_may_choose_zero(tmp_path: Path) -> None:
    none = answering(lr='{"learning_rate": 0, "reasoning": "wait"}')
    result = trained(tmp_path / "run", config(update={"scheduler": "autonomous"}), optimiser=none)
    assert result.best == Playbook()
    assert {step.action for step in result.training.steps} == {"skip_no_edits"}
    record = json.loads((tmp_path / "run/steps/step_0001/lr_decision.json").read_bytes())
    assert (record["learning_rate"], record["fallback"]) == (0, False)


def test_an_unreadable_choice_is_zero_and_says_so(tmp_path: Path) -> None:
    result = trained(
        tmp_path / "run", config(update={"scheduler": "autonomous"}), optimiser=answering(lr="as many as you like")
    )
    assert result.best == Playbook()
    assert json.loads((tmp_path / "run/lr_history.jsonl").read_text().splitlines()[0])["fallback"] is True


def test_without_a_limit_all_items_are_tried(tmp_path: Path) -> None:
    result = trained(tmp_path / "run", config(update={"scheduler": "none"}))
    chosen = result.training.steps[0].proposal.chosen
    assert chosen is not None
    assert (chosen.budget, len(chosen.items)) == (None, chosen.available)
    assert result.summary["token_summary"].get("ranking") is None


def test_failure_patterns_come_with_their_own_tasks(tmp_path: Path) -> None:
    """Labels were paired with groups by position, so a label had nothing to do with its tasks."""

    def analyst(request: Request) -> str:
        shown = request.messages[1].text
        by_kind: dict[str, list[str]] = {}
        for name, kind in re.findall(r"### (train/\d+) \((\w+)", shown):
            by_kind.setdefault(kind, []).append(name)
        summary = [
            {"failure_type": kind, "description": f"{kind} tasks", "tasks": [*names, "train/9999"]}
            for kind, names in sorted(by_kind.items(), reverse=True)
        ]
        return json.dumps({"batch_size": 4, "failure_summary": summary, "patch": {"edits": []}})

    result = trained(tmp_path / "run", optimiser=answering(analyst=analyst))
    env = Kinds()
    patterns = [pattern for step in result.training.steps for pattern in step.entry().patterns]
    assert patterns
    for pattern in patterns:
        assert {env.label("train", int(name.split("/")[1])).kind for name in pattern.tasks} == {pattern.kind}


def test_the_memory_of_steps_lasts_over_epochs_and_holds_measured_effects(tmp_path: Path) -> None:
    prompts: list[str] = []

    def analyst(request: Request) -> str:
        prompts.append(request.messages[1].text)
        return optimiser(request)

    trained(tmp_path / "run", optimiser=answering(analyst=analyst))
    last = prompts[-1]
    assert "Step 1 (epoch 1)" in last
    assert "accepted (0." in last


def test_what_could_not_be_applied_is_not_remembered_as_rejected(tmp_path: Path) -> None:
    unmatched = proposing({"op": "replace", "target": "no such text", "content": "x"})
    result = trained(
        tmp_path / "run",
        optimiser=answering(analyst=unmatched, merge=unmatched, mend='{"edits": []}'),
        playbook=Playbook("Rule one."),
    )
    assert all(not step.entry().tried for step in result.training.steps)
    report = json.loads((tmp_path / "run/steps/step_0001/edit_apply_report.json").read_bytes())
    assert [row["status"] for row in report] == ["skipped_unmatched"]


def test_an_unmatched_edit_goes_back_once_with_the_nearest_line(tmp_path: Path) -> None:
    shown: list[str] = []

    def mend(request: Request) -> str:
        shown.append(request.messages[1].text)
        rules = [{"op": "append", "content": rule} for rule in RULES.values()]
        return json.dumps({"edits": rules[:1]})

    wrong = proposing({"op": "replace", "target": "Rule won.", "content": "x"})
    result = trained(
        tmp_path / "run",
        optimiser=answering(analyst=wrong, merge=wrong, mend=mend),
        playbook=Playbook("Rule one."),
    )
    assert "the nearest line is: Rule one." in shown[0]
    report = json.loads((tmp_path / "run/steps/step_0001/edit_apply_report.json").read_bytes())
    assert [row["status"] for row in report] == ["skipped_unmatched", "applied_append"]
    assert result.summary["token_summary"]["mend"]["calls"] == len(shown)


BAD = {
    "prose": "I think the playbook should mention reversing.",
    "empty": "",
    "cut off": '{"patch": {"edits": [{"op": "append", "content": "For amb',
    "no patch": '{"edits": []}',
    "wrong types": '{"patch": {"edits": "append"}}',
}


@pytest.mark.parametrize("name", BAD)
def test_an_optimiser_that_cannot_be_read_is_asked_once_more_then_left_out(tmp_path: Path, name: str) -> None:
    result = trained(tmp_path / "run", config(train={"epochs": 1}), optimiser=answering(analyst=BAD[name]))
    assert result.best == Playbook()
    record = json.loads((tmp_path / "run/steps/step_0001/step_record.json").read_bytes())
    assert record["action"] == "skip_no_patches"
    first, again = record["trouble"][:2]
    assert again.split(":")[0] == f"{first.split(':')[0]}/again"


def test_five_hundred_edits_are_cut_to_the_budget_and_reported(tmp_path: Path) -> None:
    many = proposing(*({"op": "append", "content": f"Rule {n}."} for n in range(500)))
    result = trained(
        tmp_path / "run",
        config(train={"epochs": 1, "batch_size": 24}, reflect={"minibatch": 24, "failures_only": True}),
        optimiser=answering(analyst=many),
        target=lambda request: "?",
    )
    (step,) = result.training.steps
    assert step.proposal.chosen is not None
    assert step.proposal.chosen.available == 4
    assert any("500 items, 4 asked for" in line for line in step.proposal.trouble)


def test_an_edit_aimed_at_a_protected_field_changes_nothing(tmp_path: Path) -> None:
    aimed = proposing({"op": "append", "content": "x", "where": "guidance"})
    start = Playbook("Rule one.", hindsight="Keep calm.")
    result = trained(tmp_path / "run", optimiser=answering(analyst=aimed, merge=aimed), playbook=start)
    assert result.best == start
    report = json.loads((tmp_path / "run/steps/step_0001/edit_apply_report.json").read_bytes())
    assert report[0]["status"] == "skipped_protected"


@pytest.mark.parametrize("body", ["", "   ", "x" * 50_000])
def test_an_empty_or_endless_rewrite_is_refused(tmp_path: Path, body: str) -> None:
    suggestion = json.dumps(
        {"batch_size": 4, "patch": {"revise_suggestions": [{"title": "t", "instruction": "say it"}]}}
    )
    merged = json.dumps({"revise_suggestions": [{"title": "t", "instruction": "say it"}]})
    result = trained(
        tmp_path / "run",
        config(update={"mode": "rewrite_from_suggestions"}),
        optimiser=answering(
            analyst=suggestion, merge=merged, rewrite=json.dumps({"new_skill": body, "change_summary": []})
        ),
        playbook=Playbook("Rule one."),
    )
    assert result.best == Playbook("Rule one.")
    assert {step.action for step in result.training.steps} == {"skip_no_rewrite"}


def test_suggestions_become_one_rewrite_that_keeps_the_other_fields(tmp_path: Path) -> None:
    suggestion = json.dumps(
        {"batch_size": 4, "patch": {"revise_suggestions": [{"title": "t", "instruction": "say all rules"}]}}
    )
    merged = json.dumps({"revise_suggestions": [{"title": "t", "instruction": "say all rules"}]})
    body = "\n".join(RULES.values())
    start = Playbook("Old.", hindsight="Keep calm.", reminders=("Mind the sign.",))
    result = trained(
        tmp_path / "run",
        config(update={"mode": "rewrite_from_suggestions"}),
        optimiser=answering(
            analyst=suggestion, merge=merged, rewrite=json.dumps({"new_skill": body, "change_summary": ["all rules"]})
        ),
        playbook=start,
    )
    assert result.best.body == body
    assert (result.best.hindsight or "").startswith("Keep")
    assert result.best.reminders == ("Mind the sign.",)
    assert (tmp_path / "run/steps/step_0001/rewrite_result.json").is_file()


def test_in_full_rewrite_mode_the_draft_is_the_candidate(tmp_path: Path) -> None:
    body = "\n".join(RULES.values())
    draft = json.dumps({"batch_size": 4, "patch": {"skill_candidates": [{"title": "t", "new_skill": body}]}})
    merged = json.dumps({"skill_candidates": [{"title": "t", "new_skill": body}]})
    result = trained(
        tmp_path / "run",
        config(update={"mode": "full_rewrite_minibatch"}),
        optimiser=answering(analyst=draft, merge=merged),
    )
    assert result.best.body == body
    assert (tmp_path / "run/steps/step_0001/full_rewrite_result.json").is_file()


def test_a_rejected_bundle_is_judged_in_halves_and_its_good_half_kept(tmp_path: Path) -> None:
    def ruined(request: Request) -> str:
        """One bad edit spoils whatever the good ones bring, so that the whole bundle is never accepted by luck."""
        return "?" if HARM in request.messages[0].text else target(request)

    bundle = proposing(*({"op": "append", "content": one} for one in (*RULES.values(), HARM)))
    both = answering(analyst=bundle, merge=bundle, rank='{"selected_indices": [0, 1, 2, 3, 4]}')
    settings = config(update={"scheduler": "constant", "edits": 5}, train={"epochs": 1})
    result = trained(tmp_path / "halves", settings, optimiser=both, target=ruined)
    assert HARM not in result.best.body
    assert rules_in(result.best.body)
    assert len(result.training.steps[0].judgements) > 1


def test_edits_may_be_judged_one_by_one(tmp_path: Path) -> None:
    result = trained(tmp_path / "run", config(update={"bring": "each"}))
    assert all(len(judgement.candidate.changes) <= 1 for judgement in result.judge.judgements)
    assert set(rules_in(result.best.body)) & set(RULES.values())


def test_credit_thins_an_accepted_bundle_of_what_harms(tmp_path: Path) -> None:
    bundle = proposing(*({"op": "append", "content": one} for one in (*RULES.values(), HARM)))
    both = answering(analyst=bundle, merge=bundle, rank='{"selected_indices": [0, 1, 2, 3, 4]}')
    update = {"scheduler": "constant", "edits": 5, "bring": "bundle", "credit": True}

    def mild(request: Request) -> str:
        """The harm costs a third of what the rules bring."""
        answered = target(request)
        return answered.lower() if int(request.sampling.seed or 0) % 3 else answered

    result = trained(
        tmp_path / "run", config(update=update, train={"epochs": 1}), optimiser=both, target=mild, env=Kinds(select=96)
    )
    assert set(rules_in(result.best.body)) == set(RULES.values())
    without = [one for one in result.judge.judgements if one.purpose.endswith("-without")]
    assert any(removal.accepted and str(removal.candidate.changes[0]).endswith(HARM) for removal in without)


def test_the_slow_update_passes_the_gate_and_stands_in_its_own_field(tmp_path: Path) -> None:
    advice = "\n".join(RULES.values())
    quiet = proposing({"op": "append", "content": NULLS[0]})
    settings = config(slow={"idle": True}, meta={"use": False})
    result = trained(
        tmp_path / "run",
        settings,
        optimiser=answering(analyst=quiet, merge=quiet, slow=json.dumps({"slow_update_content": advice})),
    )
    assert result.best == Playbook(hindsight=advice)
    assert result.judge.best.origin == "slow_update_epoch_02"
    record = json.loads((tmp_path / "run/slow_update/epoch_02/slow_result.json").read_bytes())
    assert record["action"] == "accept_new_best"


def test_a_useless_slow_update_is_rejected(tmp_path: Path) -> None:
    quiet = proposing({"op": "append", "content": NULLS[0]})
    result = trained(tmp_path / "run", config(slow={"idle": True}), optimiser=answering(analyst=quiet, merge=quiet))
    assert result.training.ends[-1].action == "reject"
    assert result.best.hindsight == ""


def test_changed_pairs_are_topped_up_in_batches(tmp_path: Path) -> None:
    settings = config(slow={"pairs": "changed", "samples": 6, "idle": True})
    result = trained(tmp_path / "run", settings)
    end = result.training.ends[-1]
    assert {pair.category for pair in end.shown} <= {"improved", "regressed"}
    assert len(end.pairs) in (6, 12, 18, 24)


def test_the_meta_skill_reaches_the_optimiser_and_never_the_target(tmp_path: Path) -> None:
    told: list[str] = []
    seen: list[str] = []

    def analyst(request: Request) -> str:
        told.append(request.messages[1].text)
        return optimiser(request)

    def watching(request: Request) -> str:
        seen.append("\n".join(message.text for message in request.messages))
        return target(request)

    settings = config(train={"epochs": 3}, slow={"idle": True})
    result = trained(tmp_path / "run", settings, optimiser=answering(analyst=analyst), target=watching)
    assert any("Rules by kind help." in text for text in told)
    assert not any("Rules by kind help." in text for text in seen)
    assert "Rules by kind help." not in result.best.text


def test_the_meta_skill_can_be_switched_off(tmp_path: Path) -> None:
    result = trained(tmp_path / "run", config(slow={"idle": True}, meta={"use": False}))
    assert "meta_skill" not in result.summary["token_summary"]
    assert not (tmp_path / "run/meta_skill").exists()


ALL_RULES = " ".join(RULES.values())


def noting(note: str, *edits: dict[str, Any]) -> Callable[[Request], str]:
    both = proposing(*edits, appendix_notes=[note])
    return answering(analyst=both, merge=optimiser)


def test_notes_of_a_step_without_edits_pass_the_gate_too(tmp_path: Path) -> None:
    useless = trained(tmp_path / "useless", config(reflect={"lapses": True}), optimiser=noting("Mind the time."))
    assert useless.best.reminders == ()
    assert useless.summary["total_rejects"] > 0
    helpful = trained(tmp_path / "helpful", config(reflect={"lapses": True}), optimiser=noting(ALL_RULES))
    assert helpful.best.reminders == (ALL_RULES,)
    assert helpful.best.body == ""


def test_too_many_notes_are_condensed_before_they_are_judged(tmp_path: Path) -> None:
    start = Playbook(reminders=("one thing", "another thing", "a third thing"))
    rules = " ".join(RULES.values())
    result = trained(
        tmp_path / "run",
        config(reflect={"lapses": True, "consolidate_above": 3}, train={"epochs": 1, "batch_size": 24}),
        optimiser=lambda request: (
            json.dumps({"appendix_notes": [rules]}) if asked(request) == "notes" else noting("a fourth")(request)
        ),
        playbook=start,
    )
    assert result.best.reminders == (rules,)
    record = json.loads((tmp_path / "run/steps/step_0001/step_record.json").read_bytes())
    assert record["n_appendix_notes_consolidated"] == 3


def test_several_draws_show_a_solved_attempt_beside_a_failed_one(tmp_path: Path) -> None:
    shown: list[str] = []

    def analyst(request: Request) -> str:
        shown.append(request.messages[1].text)
        return optimiser(request)

    def half(request: Request) -> str:
        kind = request.messages[-1].text.split()[0]
        return kind[::-1] if int(request.sampling.seed or 0) % 2 else "?"

    result = trained(
        tmp_path / "run",
        config(reflect={"draws": 3}, train={"epochs": 1}),
        optimiser=answering(analyst=analyst),
        target=half,
    )
    assert any("A solved attempt at the same task:" in text for text in shown)
    assert result.training.steps[0].evidence is not None
    assert len(result.training.steps[0].evidence.rollouts) == 36


def test_accumulated_batches_share_one_playbook_and_one_update(tmp_path: Path) -> None:
    result = trained(tmp_path / "run", config(train={"batch_size": 6, "accumulation": 2}))
    record = json.loads((tmp_path / "run/steps/step_0001/step_record.json").read_bytes())
    assert [batch["n_envs"] for batch in record["accumulation_batches"]] == [6, 6]
    assert (tmp_path / "run/steps/step_0001/batch_2/rollout/results.jsonl").is_file()
    assert len(result.training.steps) == 4


def test_the_published_recipe_is_a_preset(tmp_path: Path) -> None:
    settings = config(preset="skillopt", train={"epochs": 2, "batch_size": 12})
    assert (settings.gate.name, settings.slow.gated, settings.reflect.gate_notes) == ("strict", False, False)
    assert (settings.update.edits, settings.update.min_edits, settings.update.scheduler) == (4, 2, "cosine")
    result = trained(tmp_path / "run", settings)
    assert result.training.ends[-1].action == "force_accept"
    assert result.judge.current.playbook.hindsight == "Keep following the rules."
    assert result.judge.final is not None  # the current playbook had not beaten the best: compared at the end


def test_what_is_forced_in_has_no_made_up_score() -> None:
    """The published trainer entered (score, 0.0) for a playbook that it had never run."""

    class Shop:
        select = (0, 1, 2)

        class gate:  # noqa: N801
            @staticmethod
            def open(tasks: int) -> Bank:
                return Bank.empty(tasks)

        @staticmethod
        def leak(purpose: str, incumbent: Policy, candidate: Policy) -> None:
            return None

    start = Policy("m", playbook=Playbook("a"))
    held = Standing(start, 0.5)
    judge = Judge(Shop(), start, held, held, Bank(((), (), ()), (1, 1, 1), 4, 0.5))  # type: ignore[arg-type]
    judge.force(Policy("m", playbook=Playbook("b")), "slow_update_epoch_02", 3)
    assert judge.current.score is None
    assert judge.bank == Bank(((), (), ()), (0, 0, 0), 4)
    assert judge.best == held


@pytest.mark.parametrize(("pace", "seen"), [("", (1, 0, 3)), ("brief", (0, 0, 2))])
def test_another_pace_does_not_look_at_draws_that_an_acceptance_kept(pace: str, seen: tuple[int, ...]) -> None:
    """They agree with those of a predecessor that was worse; what was drawn since is as good as new."""
    banks: list[Bank] = []

    class Shop:
        class gate:  # noqa: N801
            @staticmethod
            def carry(bank: Bank, decision: Decision) -> Bank:
                return bank

        @staticmethod
        def leak(purpose: str, incumbent: Policy, candidate: Policy) -> None:
            return None

        @staticmethod
        async def decide(purpose: str, bank: Bank, *_: object, pace: str) -> Decision:
            banks.append(bank)
            return Decision("reject", "paired", "futile", "")

    start = Policy("m", playbook=Playbook("a"))
    held = Standing(start, 0.5)
    judge = Judge(Shop(), start, held, held, Bank.empty(3))  # type: ignore[arg-type]
    accepted = Judgement("e1/s0001", Candidate(start, (), "", 1), start, Decision("accept", "paired", "", ""), "pass")
    judge.judgements.append(accepted)
    judge.adopt(accepted, Bank((((1.0,),), (), ((0.0,),)), (1, 1, 1), 1))
    judge.bank = Bank((((1.0,),), (), ((0.0,), (1.0,), (1.0,))), (1, 1, 3), 2)
    candidate = Candidate(Policy("m", playbook=Playbook("b")), (), "", 2)
    asyncio.run(judge.bring("e1/s0002", candidate, pace=pace))
    assert banks[0].held == seen
    assert banks[0].taken == (1, 1, 3)
    assert judge.bank.held == (1, 0, 3)


def test_learning_ends_at_its_rollouts_and_the_test_follows(tmp_path: Path) -> None:
    result = trained(tmp_path / "run", config(train={"max_rollouts": 150}))
    assert result.judge.shop.planned <= 150
    assert "150 rollouts" in result.summary["spent"]
    assert result.summary["test_hard"] is not None


def test_what_was_accepted_before_the_rollouts_ran_out_is_kept(tmp_path: Path) -> None:
    gate = {"pace": "steady", "alpha": 0.25}
    full = trained(tmp_path / "full", config(update={"bring": "each"}, gate=gate))
    judged = full.training.steps[0].judgements
    needed = 12 + sum(one.decision.rollouts() for one in judged)
    cut = trained(tmp_path / "cut", config(update={"bring": "each"}, gate=gate, train={"max_rollouts": needed - 1}))
    kept = [one for one in judged[:-1] if one.accepted]
    assert kept
    assert cut.training.steps[0].stopped
    assert cut.best == kept[-1].candidate.policy.playbook
    assert len(cut.training.steps[0].judgements) == len(judged) - 1


def test_a_learner_cannot_reach_a_test_task(tmp_path: Path) -> None:
    result = trained(tmp_path / "run", config(train={"test": 0}))
    shop = result.judge.shop
    for reach in (lambda: shop.env.task("test", 0), lambda: shop.env.size("test"), lambda: shop.env.label("test", 0)):
        with pytest.raises(WhetError, match="opened once, at the end"):
            reach()
    assert result.tested is None


def test_truths_of_select_and_test_tasks_reach_no_prompt_of_the_optimiser(tmp_path: Path) -> None:
    prompts: list[str] = []

    def listening(request: Request) -> str:
        prompts.extend(message.text for message in request.messages)
        return optimiser(request)

    trained(tmp_path / "run", config(reflect={"show": "truth"}, slow={"idle": True}), optimiser=listening)
    everything = "\n".join(prompts)
    assert "Expected:" in everything
    assert "select-" not in everything
    assert "test-" not in everything


def test_what_an_attempt_was_graded_can_be_kept_from_the_optimiser(tmp_path: Path) -> None:
    prompts: list[str] = []

    def listening(request: Request) -> str:
        prompts.append(request.messages[1].text)
        return optimiser(request)

    trained(tmp_path / "run", config(reflect={"show": "nothing"}, train={"epochs": 1}), optimiser=listening)
    assert not any("Graded:" in text or "Expected:" in text for text in prompts)


def test_a_train_split_smaller_than_a_batch_is_one_short_step(tmp_path: Path) -> None:
    result = trained(tmp_path / "run", config(train={"batch_size": 100}))
    assert [len(step.tasks) for step in result.training.steps] == [24, 24]


def test_a_select_split_that_can_show_nothing_is_refused_before_anything_is_spent(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="1 select tasks show nothing"):
        trained(tmp_path / "run", env=Kinds(select=1))
    assert not (tmp_path / "run").exists()


def test_an_analyst_without_an_optimiser_is_refused() -> None:
    with pytest.raises(WhetError, match="needs an \\[optimizer\\] model"):
        config(optimizer=None)


def test_worked_examples_are_learnt_without_an_optimiser(tmp_path: Path) -> None:
    settings = config(train={"proposer": "examples", "epochs": 1}, examples={"most": 6, "take": 4})

    def mute(request: Request) -> str:
        raise AssertionError("nobody is to be consulted")

    result = trained(tmp_path / "run", settings, optimiser=mute)
    assert 0 < len(result.best.examples) <= 6
    env = Kinds()
    questions = {env.task("train", index).messages[-1].text for index in range(24)}
    assert {one.question for one in result.best.examples} <= questions
    assert result.summary["test_delta_interval"][0] > 0


def test_a_full_playbook_exchanges_its_examples(tmp_path: Path) -> None:
    settings = config(train={"proposer": "examples", "epochs": 2}, examples={"most": 2, "take": 2})
    result = trained(tmp_path / "run", settings)
    assert all(len(judgement.candidate.policy.playbook.examples) <= 2 for judgement in result.judge.judgements)


def test_credit_drops_an_edit_that_does_nothing(tmp_path: Path) -> None:
    """It was kept: the playbook without it is no better, only shorter."""
    bundle = proposing(*({"op": "append", "content": rule} for rule in (*RULES.values(), NULLS[0])))
    both = answering(analyst=bundle, merge=bundle, rank='{"selected_indices": [0, 1, 2, 3, 4]}')
    update = {"scheduler": "constant", "edits": 5, "bring": "bundle", "credit": True}

    def certain(request: Request) -> str:
        """Chance apart, so that a sentence either works or does not."""
        kind = request.messages[-1].text.split()[0]
        return kind[::-1] if RULES[kind] in request.messages[0].text else "?"

    settings = config(update=update, train={"epochs": 1}, slow={"use": False}, meta={"use": False})
    result = trained(tmp_path / "run", settings, optimiser=both, target=certain)
    assert set(rules_in(result.best.body)) == set(RULES.values())
