"""Whole trainings of a tiny model: it learns, the gate decides, the claim is made on sealed tasks."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from small_world import Hail, grpo_config, sft_config

from whet.envs.base import Play, ask
from whet.errors import WhetError
from whet.learn.weights import grpo
from whet.learn.weights.base import open_base
from whet.learn.weights.checkpoint import Shelf
from whet.learn.weights.config import GrpoSection, SftSection, TuneSection
from whet.learn.weights.export import dataset_rows
from whet.learn.weights.segment import SegmentClock, SegmentOrder, SegmentParts
from whet.learn.weights.snapshot import SnapshotShelf
from whet.learn.weights.traces import TokenScribe, gather_traces
from whet.ledger.store import Ledger
from whet.models import ModelOptions, load_model
from whet.models.hf.folder import read_folder
from whet.models.hf.model import LocalModel
from whet.rollout.tokens import token_sequences
from whet.run.api import train
from whet.run.train import TrainResult
from whet.types import Playbook, Score, Task, Work, WorkResult, user

HAILED = {"tune": {"steps": 6, "segment": 3, "lr": 0.02}, "grpo": {"groups": 6, "generations": 8, "refill": 6}}


@pytest.fixture(scope="module")
def reinforced(base: Path, tmp_path_factory: pytest.TempPathFactory) -> TrainResult:
    runs = tmp_path_factory.mktemp("runs")
    return train(grpo_config(base, **HAILED), env=Hail(), runs=runs, name="grpo")


@pytest.fixture(scope="module")
def imitated(base: Path, tmp_path_factory: pytest.TempPathFactory) -> TrainResult:
    config = sft_config(
        base,
        train={"tasks": 10},
        tune={"steps": 30, "segment": 30, "lr": 0.005, "rank": 16, "micro": 10},
        sft={"batch": 10},
    )
    return train(config, env=Hail(), runs=tmp_path_factory.mktemp("runs"), name="sft")


def test_grpo_takes_a_tiny_model_from_nothing_to_everything(reinforced: TrainResult) -> None:
    summary = reinforced.summary
    first, last = reinforced.training.segments[0].log[0], reinforced.training.segments[-1].log[-1]  # type: ignore[attr-defined]
    assert first["solved"] < 0.1
    assert last["solved"] > 0.9
    assert summary["baseline_test_hard"] == 0.0
    assert summary["test_hard"] > 0.9
    assert summary["test_delta_hard_interval"][0] > 0
    assert any(judgement.accepted for judgement in reinforced.judge.judgements)


def test_the_log_tells_signal_and_what_it_cost(reinforced: TrainResult) -> None:
    rows = [json.loads(line) for line in (reinforced.folder / "training_log.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert rows[0]["generated_per_trained"] > 1
    assert set(rows[0]) >= {"loss", "reward", "signal", "entropy", "parts", "rounds"}


def test_every_attempt_is_in_the_ledger_with_the_version_that_drew_it(reinforced: TrainResult) -> None:
    with Ledger.read(reinforced.folder) as ledger:
        rollouts = [
            r for purpose in ledger.purposes() for r in ledger.rollouts(purpose) if purpose.startswith("train/")
        ]
        assert len(rollouts) == reinforced.summary["train_rollouts"]
        for rollout in rollouts[:50]:
            version = "/".join(rollout.ticket.purpose.split("/")[1:3])
            assert {turn.reply.version for turn in rollout.turns} == {version}
            assert len(token_sequences(rollout.turns)) == 1
            assert ledger.policy(rollout.policy).sampling.temperature == 1.0


def test_start_up_says_what_trains_and_the_trained_weights_have_an_address(reinforced: TrainResult) -> None:
    record = reinforced.training.segments[0]  # type: ignore[attr-defined]
    assert "blocks 0 to 1 of 2" in record.trains
    assert "frozen: model.embed_tokens" in record.trains
    address = json.loads((reinforced.folder / "weights.json").read_text())["best"]
    assert "+" in address
    assert load_model(address, ModelOptions()).fingerprint == reinforced.judge.best.policy.model


def test_sft_overfits_ten_traces(imitated: TrainResult) -> None:
    log = imitated.training.segments[0].log  # type: ignore[attr-defined]
    assert log[0]["loss"] > 5
    assert log[-1]["loss"] < 0.1
    assert log[-1]["mean_token_accuracy"] > 0.99
    assert imitated.summary["test_hard"] == 1.0


def test_grpo_goes_on_from_what_sft_taught(imitated: TrainResult, base: Path, tmp_path: Path) -> None:
    address = json.loads((imitated.folder / "weights.json").read_text())["best"]
    config = grpo_config(
        base,
        target={"model": address, "sampling": {"max_tokens": 3}},
        tune={"steps": 1, "segment": 1, "lr": 1e-4},
        grpo={"groups": 2, "generations": 4, "preset": "baseline"},
    )
    result = train(config, env=Hail(), runs=tmp_path, name="both")
    record = result.training.segments[0]  # type: ignore[attr-defined]
    assert record.log[0]["solved"] > 0.9
    assert record.log[0]["kl"] == pytest.approx(0.0, abs=1e-4)


def test_plays_of_two_turns_are_trained_on_as_one_sequence(base: Path, tmp_path: Path) -> None:
    config = grpo_config(base, tune={"steps": 2, "segment": 2, "lr": 0.01}, grpo={"groups": 4, "generations": 6})
    result = train(config, env=Hail(turns=2), runs=tmp_path, name="two")
    with Ledger.read(result.folder) as ledger:
        rollouts = [r for p in ledger.purposes() if p.startswith("train/") for r in ledger.rollouts(p)]
    rollout, sequence = next((r, s[0]) for r in rollouts if len(s := token_sequences(r.turns)) == 1)
    assert all(row["torn"] < 1 for row in result.training.segments[0].log)  # type: ignore[attr-defined]
    assert len(rollout.turns) == 2
    assert sum(sequence.mask) == sum(len(turn.reply.completion_ids) for turn in rollout.turns)
    assert 0 in sequence.mask[sequence.mask.index(1) :]


@pytest.mark.parametrize(("limit", "told"), [
    ({"limits": {"tokens": 4}}, "cut off by limits.tokens = 4"),
    ({"control": {"target": {"context": 16, "slots": 32}}}, "cut off by control.target.context = 16"),
    ({}, ""),
])  # fmt: skip
def test_attempts_that_a_limit_cuts_off_are_counted_and_told(
    base: Path, tmp_path: Path, limit: dict[str, Any], told: str
) -> None:
    """Four questions of three tokens each do not fit into what is left: the play goes under at the limit."""
    config = grpo_config(base, tune={"steps": 1, "segment": 1}, grpo={"groups": 4, "generations": 6}, **limit)
    result = train(config, env=Hail(turns=4), runs=tmp_path, name="cut")
    with Ledger.read(result.folder) as ledger:
        rollouts = [r for p in ledger.purposes() if p.startswith("train/") for r in ledger.rollouts(p)]
    outcomes = [r.score.reason for r in rollouts if r.score]
    share = sum(reason in ("context_overflow", "token_limit") for reason in outcomes) / len(outcomes)
    record = result.training.segments[0]  # type: ignore[attr-defined]
    assert record.log[0]["cut"] == pytest.approx(share, abs=1e-4)
    if told:
        assert share > 0.05
        assert f"{share:.0%} of the attempts were {told}" in record.told
    else:
        assert share == 0.0
        assert not any("cut off" in line for line in record.told)


def test_all_weights_may_train(base: Path, tmp_path: Path) -> None:
    config = sft_config(
        base, tune={"method": "full", "steps": 4, "segment": 2, "micro": 16, "lr": 0.01, "judge": "last", "keep": 1}
    )
    result = train(config, env=Hail(), runs=tmp_path, name="full")
    address = json.loads((result.folder / "weights.json").read_text())["best"]
    assert len(result.judge.judgements) == 1
    assert result.judge.judgements[0].accepted
    assert address.endswith("s0002/model")
    assert load_model(address, ModelOptions()).fingerprint == result.judge.best.policy.model
    assert [place.name for place in (result.folder / "checkpoints").iterdir()] == ["s0002"]


def test_rewards_that_never_vary_are_said_aloud(base: Path, tmp_path: Path) -> None:
    config = grpo_config(
        base, tune={"steps": 1, "segment": 1}, grpo={"groups": 2, "generations": 2}, reward={"check": False}
    )
    told: list[str] = []
    train(config, env=Hail(flat=True), runs=tmp_path, name="flat", watch=lambda training: told.extend(training.news()))
    assert any("no group's rewards differ" in line for line in told)


@pytest.mark.parametrize(("silent", "steps"), [(3, 3), (0, 6)])
def test_a_training_that_nothing_moves_ends_after_some_batches(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, silent: int, steps: int
) -> None:
    """A policy that always says the same teaches itself nothing more; batches of the segment before count."""
    config = grpo_config(
        base,
        train={"test": 0, "select": 8},
        tune={"steps": 6, "segment": 2, "judge": "last"},
        grpo={"groups": 2, "generations": 2, "refill": 1, "silent": silent},
        reward={"check": False},
        gate={"name": "none"},
    )
    told: list[str] = []
    result = train(
        config, env=Hail(flat=True), runs=tmp_path, name="still", watch=lambda training: told.extend(training.news())
    )
    assert any("3 batches of attempts in a row" in line for line in told) is bool(silent)
    assert (result.summary["trained_steps"], len(result.judge.judgements)) == (steps, 1)
    assert result.training.spent.startswith("3 batches of attempts in a row taught nothing" if silent else "")
    assert bool(result.training.spent) is bool(silent)
    monkeypatch.setattr("whet.learn.weights.learners._reinforce", lambda *_: pytest.fail("it was trained again"))
    again = train(config, env=Hail(flat=True), runs=tmp_path, name="still")
    assert (again.summary["trained_steps"], again.training.spent) == (steps, result.training.spent)


def test_silent_batches_count_in_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grpo, "figures_of", lambda batches: {step: {"solved": 0.5} for step, _ in batches})
    stage: Any = SimpleNamespace(policy_at=lambda version: version)
    made = grpo.GroupRollouts(stage, Any, GrpoSection(silent=2), 1, Any, silent=1)  # type: ignore[arg-type]
    ends = []
    for step, (signal, faulty) in enumerate(
        ((0.5, False), (0.0, False), (0.1, True), (0.0, False), (0.0, True), (0.0, False)), 1
    ):
        made.take(step, SimpleNamespace(attempted=[], signal=signal, faulty=faulty))  # type: ignore[arg-type]
        ends.append(made.over())
    assert ends[:5] == [""] * 5
    assert "(50% solved)" in ends[5]


@pytest.mark.parametrize(
    ("sections", "moved"),
    [
        ({}, ""),
        ({"grpo": {"preset": "no_kl"}}, ""),
        ({"grpo": {"entropy": 0.01}}, ""),
        ({"grpo": {"preset": "baseline"}}, "grpo.beta"),
        ({"grpo": {"preset": "no_kl", "entropy": 0.01}}, "grpo.entropy"),
        ({"tune": {"decay": 0.1}}, "tune.decay"),
        ({"mix": {"weight": 0.1}}, "mix.weight"),
        ({"curriculum": {"kind": "stages"}}, "curriculum.kind"),
    ],
)
def test_a_training_that_something_else_changes_cannot_end_for_want_of_signal(
    base: Path, sections: Any, moved: str
) -> None:
    assert grpo_config(base, **sections).grpo.silent == 0
    told = sections | {"grpo": sections.get("grpo", {}) | {"silent": 3}}
    if not moved:
        assert grpo_config(base, **told).grpo.silent == 3
        return
    with pytest.raises(WhetError, match=f"{moved} changes it"):
        grpo_config(base, **told)


class Harder(Hail):
    """Its tasks are others once it was solved."""

    def next_environment(self, rates: Any) -> Hail:
        after = Hail()
        after.fingerprint = "hail-2" if any(rates) else self.fingerprint
        return after


class AsItIs(Hail):
    def next_environment(self, rates: Any) -> Hail:
        return self


def test_a_schedule_of_the_environments_own_is_no_silence_either(base: Path, tmp_path: Path) -> None:
    sections: dict[str, Any] = {"tune": {"steps": 1, "segment": 1}, "train": {"test": 0, "select": 8}}
    config = grpo_config(base, grpo={"silent": 3}, gate={"name": "none"}, **sections)
    with pytest.raises(WhetError, match="a schedule of its own"):
        train(config, env=Harder(), runs=tmp_path, name="harder")
    assert train(config, env=AsItIs(), runs=tmp_path, name="as_it_is").summary["trained_steps"] == 1


def test_what_ends_a_silent_training_is_no_word_in_its_identity_unless_it_is_set(base: Path) -> None:
    assert "silent" not in grpo_config(base).identity()["grpo"]
    assert grpo_config(base, grpo={"silent": 4}).identity()["grpo"]["silent"] == 4


@pytest.mark.parametrize(
    ("sections", "problem"),
    [
        ({"grpo": {"generations": 1}}, "a group of one has nothing to be compared with"),
        ({"grpo": {"groups": 3, "generations": 3}, "tune": {"micro": 2}}, "does not divide grpo.groups"),
        ({"grpo": {"updates": 2}, "tune": {"segment": 3}}, "must be a multiple of grpo.updates"),
        ({"curriculum": {"kind": "stages", "stages": [["none such"]]}}, "no train task is of none such"),
        ({"target": {"model": "openai:gpt-4.1"}}, "trains weights, and openai:gpt-4.1 are none of this machine"),
    ],
)
def test_a_config_that_cannot_work_is_one_line(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sections: dict[str, Any], problem: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with pytest.raises(WhetError, match=problem):
        train(grpo_config(base, **sections), env=Hail(), runs=tmp_path)


@pytest.mark.parametrize("config", [sft_config, grpo_config])
def test_one_of_several_processes_is_refused_at_once_and_does_not_wait(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: Any
) -> None:
    """A launcher that begins one of two processes leaves it waiting for the other for half an hour."""
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(WhetError, match=r"one of 2 processes .* without accelerate launch"):
        train(config(base), env=Hail(), runs=tmp_path)


@pytest.mark.parametrize(
    ("most", "told", "steps"),
    [(8, "0 of 8 rollouts taken, the next segment", 0), (26, "of 26 rollouts taken, the next step", 2)],
)
def test_learning_ends_before_it_takes_more_rollouts_than_it_was_given(
    base: Path, tmp_path: Path, most: int, told: str, steps: int
) -> None:
    """Also within a segment, those that replace others counted; what was learnt until then comes before the gate."""
    config = grpo_config(
        base,
        train={"max_rollouts": most, "test": 0, "select": 8},
        tune={"steps": 4, "segment": 4},
        grpo={"groups": 3, "generations": 4, "refill": 9},
        gate={"name": "none"},
    )
    result = train(config, env=Hail(), runs=tmp_path, name="short")
    assert told in result.training.spent
    assert result.summary["train_rollouts"] <= most
    assert result.summary["trained_steps"] in range(min(1, steps), steps + 1)
    assert len(result.judge.judgements) == min(1, steps)


@pytest.mark.parametrize(("segment", "kept"), [(4, 1), (1, 1)])
def test_learning_ends_with_the_step_in_which_its_seconds_are_over(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, segment: int, kept: int
) -> None:
    """Within a segment and between two; what was learnt until then comes before the gate, and nothing trains again."""
    config = grpo_config(
        base,
        train={"test": 0, "select": 8},
        tune={"steps": 4, "segment": segment, "seconds": 0.01, "judge": "last"},
        grpo={"groups": 3, "generations": 4},
        gate={"name": "strict"},
    )
    result = train(config, env=Hail(), runs=tmp_path, name="brief")
    assert result.training.spent == "the 0.01 seconds of training are over"
    assert not result.stopped
    assert (result.summary["trained_steps"], len(result.judge.judgements)) == (1, kept)
    monkeypatch.setattr("whet.learn.weights.learners._reinforce", lambda *_: pytest.fail("it was trained again"))
    again = train(config, env=Hail(), runs=tmp_path, name="brief")
    assert again.summary["trained_steps"] == 1


def test_a_training_without_seconds_is_the_run_that_it_was(base: Path) -> None:
    for made in (grpo_config, sft_config):
        assert "seconds" not in made(base).identity()["tune"]
        assert made(base, tune={"seconds": 9.0}).identity()["tune"]["seconds"] == 9.0


def test_a_training_in_which_no_task_sits_out_is_the_run_that_it_was(base: Path) -> None:
    assert "rest" not in grpo_config(base, curriculum={"rest": 0}).identity()["curriculum"]
    assert grpo_config(base, curriculum={"rest": 2}).identity()["curriculum"]["rest"] == 2


def test_seconds_of_earlier_sittings_count(tmp_path: Path) -> None:
    shelf = SnapshotShelf(tmp_path / "s0001")
    order = SegmentOrder(1, 9, None, Shelf(tmp_path), TuneSection(), 0, seconds=30.0)
    clock = SegmentClock(order, SegmentParts(lambda *_: None), {"seconds": 29.9}, shelf)
    control = SimpleNamespace(should_save=False, should_training_stop=False)
    clock.on_step_end(None, SimpleNamespace(global_step=3), control)
    assert not control.should_training_stop
    late = SegmentClock(order, SegmentParts(lambda *_: None), {"seconds": 30.0}, shelf)
    late.on_step_end(None, SimpleNamespace(global_step=3), control)
    assert control.should_training_stop
    assert control.should_save


def test_a_rate_goes_down_by_time_where_a_training_ends_by_time(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a thousand steps two fit; the third would begin with a rate of nothing."""
    now = {"seconds": 0.001}
    monkeypatch.setattr(SegmentClock, "seconds", property(lambda clock: now["seconds"]))
    monkeypatch.setattr(
        SegmentClock,
        "on_step_begin",
        lambda clock, args, state, control, **_: now.update(seconds=5.0 * (state.global_step + 1)),
    )
    tune = {"steps": 1000, "segment": 1000, "seconds": 10.0, "schedule": "linear", "warmup": 0.0, "lr": 0.008}
    config = sft_config(base, train={"tasks": 4, "test": 0, "select": 8}, tune=tune, gate={"name": "none"})
    result = train(config, env=Hail(), runs=tmp_path, name="brief")
    rates = [row["learning_rate"] for row in result.training.segments[0].log]  # type: ignore[attr-defined]
    assert rates == pytest.approx([0.008, 0.004], rel=0.02)


def test_a_long_segment_tells_of_its_steps(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr("whet.learn.weights.course.QUIET", 0.0)
    config = grpo_config(base, train={"test": 0, "select": 8}, tune={"steps": 3, "segment": 3}, gate={"name": "none"})
    train(config, env=Hail(), runs=tmp_path, name="told", watch=lambda course: told.extend(course.news()))
    steps = [line.strip() for line in told if "/3: loss" in line]
    assert [line.partition(":")[0] for line in steps] == ["step 1/3", "step 2/3", "step 3/3"]
    assert all("solved" in line and "signal" in line for line in steps)


class Asking(Hail):
    """Every play has a program run before it ends."""

    def play(self, task: Task) -> Play:
        yield from ask(task.messages)
        yield Work("sandbox", {"code": "print(1)"})
        return Score(0, 0.0, 0.0, {}, "asked")


def test_programs_of_plays_in_training_run_in_the_sandbox_that_the_config_names(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the check of rewards, in attempts and in what an oracle says: never in another than was asked for."""
    opened: list[bool] = []

    class Walls:
        async def run(self, payload: Any) -> WorkResult:
            return WorkResult()

        async def close(self) -> None: ...

    def walls(*, allow_weak: bool = False) -> Any:
        opened.append(allow_weak)
        return Walls()

    monkeypatch.setattr("whet.rollout.session.open_sandbox", walls)
    monkeypatch.setattr("whet.sandbox.isolation.open_sandbox", lambda: pytest.fail("another sandbox was opened"))
    given = {"train": {"test": 0, "select": 4, "tasks": 4}, "control": {"sandbox": {"allow_weak": True}}}
    tune = {"steps": 1, "segment": 1}
    config = grpo_config(base, tune=tune, grpo={"groups": 1, "generations": 2}, gate={"name": "none"}, **given)
    train(config, env=Asking(), runs=tmp_path, name="asking")
    attempts = len(opened)
    assert attempts >= 2
    with pytest.raises(WhetError, match="4 not solved by the oracle"):
        train(sft_config(base, tune=tune, gate={"name": "none"}, **given), env=Asking(), runs=tmp_path, name="told")
    assert opened == [True] * (attempts + 1)


def test_trained_weights_leave_the_house(reinforced: TrainResult, tmp_path: Path, whet: Any) -> None:
    address = json.loads((reinforced.folder / "weights.json").read_text())["best"]
    told = whet("export", "adapter", reinforced.folder, "--out", tmp_path / "a")
    assert told.code == 0, told.err
    base = address.removeprefix("hf:").partition("+")[0]
    best = reinforced.judge.best.policy.model
    assert load_model(f"hf:{base}+{tmp_path / 'a'}", ModelOptions()).fingerprint == best
    assert whet("export", "merged", address, "--out", tmp_path / "m").code == 0
    assert load_model(f"hf:{tmp_path / 'm'}", ModelOptions()).context == 4096
    again = whet("export", "merged", address, "--out", tmp_path / "m")
    assert again.code == 2
    assert "is there already" in again.err


def test_train_tasks_are_rows_for_other_trainers() -> None:
    [row] = dataset_rows(Hail(), [3], Playbook("beg"))
    assert row == {
        "messages": [{"role": "system", "content": "beg"}, {"role": "user", "content": "dddd"}],
        "task": "train/3",
        "task_type": "odd",
        "difficulty": "easy",
        "group_label": "h",
    }


def test_solved_rollouts_of_a_run_are_imitated_with_or_without_their_playbook(
    reinforced: TrainResult, base: Path
) -> None:
    held = open_base(read_folder(str(base)))
    speaker = load_model(f"hf:{base}", ModelOptions())
    assert isinstance(speaker, LocalModel)
    section = SftSection(source="run", path=str(reinforced.folder), purpose="train/s0001/0")
    with Ledger.read(reinforced.folder) as ledger:
        purposes = [purpose for purpose in ledger.purposes() if purpose.startswith("train/s0001/0/")]
        solved = [r for p in purposes for r in ledger.rollouts(p) if r.score is not None and r.score.hard]
    found = gather_traces(section, Hail(), (), TokenScribe(held, speaker.form), Playbook("beg"), None)
    assert len(found.traces) == len(solved) > 0
    for trace in found.traces:
        first = trace.sequences[0]
        assert held.tokenizer.decode(first.ids[first.mask.index(1) :]).startswith("h")
        assert not held.tokenizer.decode(first.ids).startswith("<|system|>beg")
    dropped = gather_traces(
        section.model_copy(update={"playbook": "drop"}),
        Hail(),
        (),
        TokenScribe(held, speaker.form),
        Playbook("beg"),
        None,
    )
    assert held.tokenizer.decode(dropped.traces[0].sequences[0].ids).startswith("<|system|>beg")


def test_rollouts_of_other_tasks_are_left_out_with_the_likely_reason(reinforced: TrainResult, base: Path) -> None:
    class Others(Hail):
        """Under other arguments a number is another task, to which the reply of the run is no answer."""

        def play(self, task: Task) -> Play:
            yield from ask([user("otherwise")])
            return Score(0, 0.0, 0.0, reason="wrong")

    held = open_base(read_folder(str(base)))
    speaker = load_model(f"hf:{base}", ModelOptions())
    assert isinstance(speaker, LocalModel)
    section = SftSection(source="run", path=str(reinforced.folder), purpose="train/s0001/0")
    with pytest.raises(
        WhetError, match=r"not solved when said again, and asked otherwise: the run had another \[env\]"
    ):
        gather_traces(section, Others(), (), TokenScribe(held, speaker.form), Playbook(), None)


@pytest.mark.parametrize(
    ("purpose", "told"),
    [
        ("baseline", r"no rollouts for purpose = 'baseline' to imitate; it has rollouts for: .*train"),
        ("train/s0001/0/0", r"none of its 8 is a solved one of a train task"),
    ],
)
def test_a_run_without_solved_rollouts_is_refused_with_what_it_has(
    base: Path, tmp_path: Path, purpose: str, told: str
) -> None:
    """A purpose that it has none of is told apart from rollouts of which none was solved."""
    config = grpo_config(
        base,
        tune={"steps": 1, "segment": 1},
        train={"select": 8, "test": 0},
        grpo={"groups": 1, "generations": 8, "dynamic": False},
        reward={"check": False},
    )
    unsolved = train(config, env=Hail(flat=True), runs=tmp_path, name="unsolved")
    sft = sft_config(base, sft={"source": "run", "path": str(unsolved.folder), "purpose": purpose})
    with pytest.raises(WhetError, match=told):
        train(sft, env=Hail(), runs=tmp_path, name="again")
