"""What GRPO can be told besides: a judge in the plays, imitation beside, stages of the environment's own; a dry run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from small_world import Hail, grpo_config, sft_config

from whet.config.load import write_config
from whet.envs.base import Play, ask
from whet.errors import WhetError
from whet.learn.sealed import SealedEnvironment
from whet.learn.weights.base import open_base
from whet.learn.weights.config import CurriculumSection, GrpoSection
from whet.learn.weights.groups import Attempt, Group, GroupBatch
from whet.learn.weights.grpo import GroupRollouts
from whet.learn.weights.learners import GRPO, SFT, staged
from whet.learn.weights.mix import SftMix
from whet.learn.weights.plays import PlayStage
from whet.learn.weights.sft import IGNORED
from whet.learn.weights.supply import TaskSupply, stages_of
from whet.ledger.store import Ledger
from whet.models.hf.folder import read_folder
from whet.rollout.conversation import AttemptLimits
from whet.rollout.workbench import Workbench
from whet.run.api import train
from whet.run.train import plan_training
from whet.types import Label, Policy, Reply, Rollout, Sampling, Score, Task, Ticket, Turn, Usage, user

# --------------------------------------------------------------------------------------------- a judge


def praise(request: Any) -> str:
    """Says yes to what begins with an h."""
    return "yes" if request.messages[-1].text.startswith("h") else "no"


class Rubric(Hail):
    """What a reply is worth is for a judge to say."""

    name = "rubric"
    fingerprint = "rubric-1"

    def play(self, task: Task) -> Play:
        reply = yield from ask(task.messages)
        verdict = yield from ask((user(reply.text or "-"),), role="judge")
        praised = int(verdict.text == "yes")
        return Score(praised, praised, praised, {"praised": float(praised)}, "judged")


def test_a_judge_answers_for_itself_and_not_the_weights_in_training(base: Path, tmp_path: Path) -> None:
    here = Path(__file__).resolve()
    config = grpo_config(
        base,
        train={"test": 0, "select": 8},
        judge={"model": f"scripted:{here}:praise"},
        tune={"steps": 2, "segment": 2, "lr": 0.02},
        grpo={"groups": 4, "generations": 8, "refill": 4},
        reward={"check": False},
        gate={"name": "none"},
    )
    result = train(config, env=Rubric(), runs=tmp_path, name="judged")
    with Ledger.read(result.folder) as ledger:
        rollouts = [r for p in ledger.purposes() if p.startswith("train/") for r in ledger.rollouts(p)]
    assert {turn.reply.text for rollout in rollouts for turn in rollout.turns if turn.role == "judge"} == {"yes", "no"}
    for rollout in rollouts:
        said, judged = rollout.turns
        assert (said.role, judged.role) == ("target", "judge")
        assert rollout.score is not None
        assert rollout.score.hard == int(said.reply.text.startswith("h"))
        assert not judged.reply.completion_ids
    log = result.training.segments[0].log  # type: ignore[attr-defined]
    assert log[-1]["parts"]["praised"] > log[0]["parts"]["praised"]


def test_a_play_that_asks_for_a_judge_that_nobody_named_is_refused(base: Path, tmp_path: Path) -> None:
    config = grpo_config(base, tune={"steps": 1, "segment": 1}, reward={"check": False}, train={"test": 0})
    with pytest.raises(WhetError, match="judge"):
        train(config, env=Rubric(), runs=tmp_path, name="mute")


def test_what_a_judge_used_is_counted_in_the_purse_alone() -> None:
    """It is paid there as it answers; counted with the plays as well, a budget would be reached too soon."""
    policy = Policy("m", Sampling(max_tokens=3))
    stage = PlayStage(Hail(), policy, AttemptLimits(), lambda score: score.reward, Workbench())
    own, judge = (Reply("h", usage=Usage(1, tokens, 2)) for tokens in (10, 900))
    turns = Turn("target", (user("a"),), own), Turn("judge", (user("h"),), judge)
    played = Rollout(
        Ticket("t", "train", 0, 0), Label("k"), "key", "", "p", turns, Score(1, 1.0, 1.0), Usage(2, 910, 4)
    )
    group = Group(0, (Attempt(played, "v", 1.0),))
    batch = GroupBatch(groups=[group], attempted=[group])
    rollouts: Any = GroupRollouts(stage, staged_supply(), GrpoSection(), 1, None)  # type: ignore[arg-type]
    rollouts.take(1, batch)
    assert rollouts.played().used == Usage(1, 10, 2)


def test_a_step_does_not_go_through_what_was_played_before_it() -> None:
    """It did, three times a step: after twenty batches of 1,024 attempts five seconds of every batch went by so."""
    stage = PlayStage(Hail(), Policy("m"), AttemptLimits(), lambda score: score.reward, Workbench())
    said = Turn("target", (user("a"),), Reply("h", usage=Usage(1, 10, 2), completion_ids=(7, 1)), None, (3, 4))
    rollouts: Any = GroupRollouts(stage, staged_supply(), GrpoSection(), 1, None)  # type: ignore[arg-type]
    for step in (1, 3):
        played = [
            Rollout(Ticket("t", "train", step, at), Label("k"), f"{step}-{at}", "", "p", (said,), Score(at, at, at))
            for at in (0, 1)
        ]
        group = Group(step, tuple(Attempt(one, "v", float(one.ticket.draw)) for one in played))
        batch = GroupBatch(groups=[group], attempted=[group])
        rollouts.take(step, batch)
        batch.groups.clear()
        batch.attempted.clear()  # whoever looks at it again finds nothing
    told = rollouts.played()
    assert (told.rollouts, told.used) == (4, Usage(4, 40, 8))
    assert [played.key for played in told.new] == ["1-0", "1-1", "3-0", "3-1"]
    assert len({policy.model for policy in told.policies}) == 2
    rows = rollouts.rows([{"step": step} for step in (1, 2, 3)])
    assert [row.get("solved") for row in rows] == [0.5, None, 0.5]


# --------------------------------------------------------------------------------------------- imitation beside


def test_the_loss_of_imitation_is_the_mean_over_what_the_model_says(base: Path) -> None:
    held = open_base(read_folder(str(base)))
    rows = [
        {"input_ids": [4, 6, 7, 1], "labels": [IGNORED, IGNORED, 7, 1]},
        {"input_ids": [4, 8], "labels": [IGNORED, 8]},
    ]
    mix = SftMix(rows, 0.5, 2, held.tokenizer.pad_token_id, 0)
    with torch.no_grad():
        found = float(mix.loss(held.module, 0))
        alone = []
        for row in rows:
            logits = torch.log_softmax(held.module(torch.tensor([row["input_ids"]])).logits[0], -1)
            alone += [-float(logits[at - 1, tag]) for at, tag in enumerate(row["labels"]) if tag != IGNORED]
    assert found == pytest.approx(sum(alone) / len(alone), rel=1e-4)


def test_conversations_to_imitate_all_come_before_any_comes_again() -> None:
    rows = [{"input_ids": [at], "labels": [at]} for at in range(5)]
    mix = SftMix(rows, 1.0, 2, 0, 7)
    seen = [row["input_ids"][0] for step in range(5) for row in mix.rows_of(step)]
    assert sorted(seen[:5]) == sorted(seen[5:]) == list(range(5))
    assert seen == [row["input_ids"][0] for step in range(5) for row in mix.rows_of(step)]


def test_imitation_beside_teaches_where_rewards_say_nothing(base: Path, tmp_path: Path) -> None:
    sections: dict[str, Any] = {
        "train": {"test": 0, "select": 8},
        "tune": {"steps": 4, "segment": 4, "lr": 0.02, "micro": 4},
        "grpo": {"groups": 2, "generations": 4, "preset": "no_kl"},
        "reward": {"weights": {"hard": 0.0}, "check": False},
        "gate": {"name": "none"},
    }
    losses = {}
    for weight in (0.0, 1.0):
        config = grpo_config(base, **sections, mix={"weight": weight, "batch": 8})
        result = train(config, env=Hail(), runs=tmp_path, name=f"mix-{weight}")
        log = result.training.segments[0].log  # type: ignore[attr-defined]
        losses[weight] = [row.get("sft_loss") for row in log]
    assert losses[0.0] == [None] * 4
    assert losses[1.0][-1] < 0.5 * losses[1.0][0]


# --------------------------------------------------------------------------------------------- stages


class Staged(Hail):
    """Two stages of its own: the second begins when two steps in a row were solved by half."""

    def next_stage(self, stage: int, pass_rates: Sequence[float]) -> int:
        good = len(pass_rates) >= 2 and min(pass_rates[-2:]) >= 0.5
        return min(stage + 1, 2) if good else stage

    def in_stage(self, stage: int, label: Label) -> bool:
        return label.difficulty == ("easy", "hard")[stage - 1]


def staged_supply() -> TaskSupply:
    env = SealedEnvironment(Staged())
    labels = {index: env.label("train", index) for index in range(18)}
    return TaskSupply(labels, CurriculumSection(kind="env"), seed=1, steps=8, stages=stages_of(env))


def test_an_environment_says_itself_when_its_next_stage_begins() -> None:
    made = staged_supply()
    seen = []
    for solved in (0.9, 0.1, 0.6, 0.5, 0.0):
        tasks = list(islice(made.draw(0), 4))
        seen.append({Staged().label("train", task).difficulty for task in tasks})
        made.went(solved)
    assert seen == [{"easy"}] * 4 + [{"hard"}]
    assert (made.own_stage, made.rates) == (2, [0.0])


def test_a_resumed_supply_stands_in_the_same_stage() -> None:
    made, resumed = staged_supply(), staged_supply()
    for solved in (0.6, 0.6, 0.2):
        list(islice(made.draw(0), 3))
        made.went(solved)
    resumed.restore(json.loads(json.dumps(made.state())))
    assert resumed.state() == made.state()
    assert list(islice(resumed.draw(3), 4)) == list(islice(made.draw(3), 4))


def test_an_environment_without_stages_is_refused(base: Path, tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="hail has no stages of its own"):
        train(grpo_config(base, curriculum={"kind": "env"}), env=Hail(), runs=tmp_path)


def test_a_schedule_of_the_environments_own_hears_of_every_segment() -> None:
    """With several steps from one batch of attempts the last row of a segment's log has no solve rate."""
    told: list[Sequence[float]] = []
    env = SimpleNamespace(next_environment=lambda rates: told.append(rates))
    logs = [{"solved": 0.1}, {"solved": 0.4}, {}], [{"solved": 0.7}, {}], [{}]
    course = SimpleNamespace(shop=SimpleNamespace(env=env), segments=[SimpleNamespace(log=log) for log in logs])
    staged(course)  # type: ignore[arg-type]
    assert told == [[0.4, 0.7]]


# --------------------------------------------------------------------------------------------- a dry run


@pytest.mark.parametrize(("learner", "draws"), [("grpo", 4), ("sft", 1)])
def test_a_dry_run_writes_every_part_of_every_reward(base: Path, tmp_path: Path, learner: str, draws: int) -> None:
    grpo: dict[str, Any] = {"grpo": {"groups": 2, "generations": 4}, "reward": {"weights": {"hits": 1.0, "hard": 0.5}}}
    config = grpo_config(base, **grpo) if learner == "grpo" else sft_config(base)
    plan = plan_training(config, given_hail())
    chosen = GRPO if learner == "grpo" else SFT
    told = list(chosen.rehearse(config, plan.env, plan.tasks, plan.policy, tmp_path / "dry"))
    rows = [json.loads(line) for line in (tmp_path / "dry" / "completions.jsonl").read_text().splitlines()]
    assert len(rows) == 4 * draws
    for row in rows:
        assert {"hits", "hard", "soft", "reward"} <= set(row["parts"])
        assert row["reward"] == sum(weight * row["parts"][name] for name, weight in row["weights"].items())
        assert row["messages"][0]["role"] == "user"
        assert len(row["completions"]) == 1
    assert any(line.startswith("trains: adapters on") for line in told)
    assert ("rewards differ in" in told[-1]) == (learner == "grpo")


def test_a_dry_run_says_what_is_wrong_with_a_file_before_anything_is_played(base: Path, tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_text('{"messages": [{"role": "assistant", "content": "hb", "weight": "no"}]}\n')
    config = sft_config(base, sft={"source": "chat", "path": str(file)})
    plan = plan_training(config, given_hail())
    told: list[str] = []
    with pytest.raises(WhetError, match=r"chat\.jsonl:1: .*weight 'no'"):
        told.extend(SFT.rehearse(config, plan.env, plan.tasks, plan.policy, tmp_path / "dry"))
    assert told == []
    assert not (tmp_path / "dry").exists()


def given_hail() -> Any:
    from whet.run.compose import Given

    return Given(env=Hail())


def test_the_command_does_it_and_begins_no_run(base: Path, tmp_path: Path, whet: Any) -> None:
    world = tmp_path / "world.py"
    world.write_text(f"import sys\nsys.path[:0] = [{str(Path(__file__).parent)!r}]\nfrom small_world import Hail\n")
    file = tmp_path / "grpo.toml"
    config = grpo_config(base, grpo={"groups": 2, "generations": 2})
    file.write_bytes(write_config(config))
    said = whet("train", file, "--set", f"env.name={world}:Hail", "--dry-run", "--run", "try")
    assert said.code == 0, said.err
    assert (tmp_path / "runs" / "try.dry" / "completions.jsonl").is_file()
    assert not (tmp_path / "runs" / "try").exists()
    assert "completions.jsonl: 8 attempts at 4 tasks" in " ".join(said.out.split())
