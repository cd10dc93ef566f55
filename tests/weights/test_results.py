"""The page of results says what its files say: which bars hold, which are missed, and what is missing."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "bench")]

from seeds import Picture, draw  # noqa: E402

import results  # noqa: E402


def arms_of(**shares: list[float]) -> dict[str, Any]:
    """ordebug's arms, the same on every rung but `hard`, which nobody repairs."""
    rungs = ("tiny", "small", "medium", "overall")
    return {
        "arms": {
            arm: {rung: {"repaired_at_10": values} for rung in rungs}
            | {"hard": {"repaired_at_10": [0.0] * len(values)}}
            for arm, values in shares.items()
        }
    }


FULL = {
    "sft": [0.30, 0.32, 0.31],
    "grpo": [0.50, 0.53, 0.51],
    "sft_equal_time": [0.35, 0.37, 0.33],
    "rejection_sft": [0.36, 0.36, 0.35],
}


def test_a_folder_without_results_leaves_the_page_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "results.md").write_text("the page")
    given = ["results.py", "--results", str(tmp_path / "typo"), "--docs", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", given)
    assert results.main() == 2
    assert "holds none" in capsys.readouterr().err
    assert (tmp_path / "results.md").read_text() == "the page"


def test_presets_that_learnt_nothing_are_ranked_and_the_bar_stays_open() -> None:
    shared = {"signal": 0.5, "stability": 1.0, "seconds": 10.0}
    names = ("baseline", "no_kl", "asym_clip", "dynamic", "token_loss")
    rows = [{"preset": name, "seeds": [0.5, 0.52, 0.54], **shared} for name in names]
    begun = {"repaired": 0.51, "interval": [0.4, 0.6], "n": 100}
    assert "a ranking of noise" in results.ablation_bar({"presets": rows, "begun": begun}).why
    assert results.ablation_bar({"presets": rows, "begun": begun}).holds is None
    assert results.ablation_bar({"presets": rows, "begun": begun | {"repaired": 0.4}}).holds is True
    assert results.ablation_bar({"presets": rows}).holds is None  # where they began is not known


def test_committed_results_name_no_place_of_a_machine() -> None:
    for file in (ROOT / "results").rglob("*.json"):
        assert not re.search(r'["=+~]/\w', file.read_text(encoding="utf-8")), file.name


def test_the_committed_page_is_what_the_committed_results_say() -> None:
    text, pictures = results.page(results.read_results(ROOT / "results"))
    assert (ROOT / "docs" / "results.md").read_text(encoding="utf-8") == text, "run python bench/results.py"
    assert all((ROOT / "docs" / "images" / picture.file).is_file() for picture in pictures)


@pytest.mark.parametrize(
    ("changed", "holds", "told"),
    [
        ({}, True, "3 seeds"),
        ({"grpo": [0.40, 0.43, 0.41]}, False, "+0.103"),  # better, and by less than 15 points
        ({"grpo": [0.90, 0.05, 0.95]}, False, "over imitation"),  # better on the mean, and the interval holds 0
        ({"rejection_sft": [0.51, 0.54, 0.52]}, False, "its own solved plays"),
        ({"rejection_sft": []}, None, "missing: rejection_sft"),
        ({name: values[:2] for name, values in FULL.items()}, None, "2 of 3 seeds"),
        ({"sft": []}, None, "Missing: sft"),
        ({"sft": [0.8, 0.8, 0.8]}, None, "no such rung"),
    ],
)
def test_the_bar_of_ordebug(changed: dict[str, list[float]], holds: bool | None, told: str) -> None:
    bar = results.ordebug_bar(arms_of(**FULL | changed))
    assert bar.holds is holds, bar.why
    assert told in bar.why


def test_rungs_where_imitation_repairs_nothing_are_left_out_of_the_bar() -> None:
    assert "hard" not in results.ordebug_bar(arms_of(**FULL)).why


def test_arms_of_different_seeds_are_compared_on_those_that_both_have() -> None:
    data = arms_of(**FULL | {"grpo": [0.51]})
    data["arms"]["grpo"]["seeds"], data["arms"]["sft"]["seeds"] = [1], [0, 1, 2]
    bar = results.ordebug_bar(data)
    assert bar.holds is None
    assert "over imitation +0.190" in bar.why  # 0.51 - 0.32: seed 1 beside seed 1


def test_the_bars_of_groupqc_are_three_and_a_base_without_chance_needs_one_seed() -> None:
    base = {"validity": [0.4], "balanced_accuracy": [0.5], "false_release": [0.1], "passed": [0.3]}
    ours = {"validity": [1.0, 0.999, 1.0], "balanced_accuracy": [0.8, 0.78, 0.82], "false_release": [0.2, 0.21, 0.2]}
    bars = list(results.groupqc_bars({"arms": {"base_playbook": base, "grpo": ours}}))
    assert [bar.holds for bar in bars] == [True, True, False]
    assert "valid in 0.400 and passes 0.300 of the sound tickets" in bars[2].why
    assert [bar.holds for bar in results.groupqc_bars({"arms": {"grpo": ours}})] == [True, None, None]


def test_a_preset_that_does_not_help_is_said_not_to() -> None:
    shared = {"signal": 0.5, "stability": 1.0, "seconds": 10.0}
    rows = [
        {"preset": "baseline", "seeds": [0.5, 0.5, 0.52], **shared},
        {"preset": "dynamic", "seeds": [0.6, 0.61, 0.63], **shared},
        {"preset": "no_kl", "seeds": [0.5, 0.52, 0.49], **shared},
    ]
    told = results.ablation_section({"presets": rows})[0]
    [helps] = [line for line in told if line.startswith("| `dynamic`")]
    [idle] = [line for line in told if line.startswith("| `no_kl`")]
    assert "| helps |" in helps
    assert "no difference is shown" in idle
    assert results.ablation_bar({"presets": rows}).holds is None


def test_presets_and_curricula_are_compared_under_the_seeds_that_both_have() -> None:
    """As many values each, and of other seeds: seed 1 stands beside seed 1, and not beside seed 0."""
    shared = {"signal": 0.5, "stability": 1.0, "seconds": 10.0}
    rows = [
        {"preset": "baseline", "seeds": [0.1, 0.5], "under": [0, 1], **shared},
        {"preset": "dynamic", "seeds": [0.6, 0.9], "under": [1, 2], **shared},
        {"preset": "no_kl", "seeds": [0.6, 0.9], "under": [5, 6], **shared},
    ]
    curriculum = {row["preset"]: row for row in rows}
    made = {"flat": curriculum["baseline"], "band": curriculum["dynamic"], "stages": curriculum["no_kl"]}
    told = "\n".join(results.ablation_section({"presets": rows, "curriculum": made})[0])
    assert told.count("+0.100") == 2
    [strange] = [line for line in told.splitlines() if line.startswith("| `no_kl`")]
    assert "helps" not in strange
    assert "difference" not in strange
    solved = {"sft": ([0.1, 0.5], [0, 1]), "grpo": ([0.6, 0.9], [1, 2])}
    arms = {arm: {"primer": {"solved": values}, "seeds": seeds} for arm, (values, seeds) in solved.items()}
    assert "primer +0.100 (1 of 3 seeds)" in results.page({"soup_rl": {"arms": arms}})[0]


def test_programs_that_learn_nothing_stand_beside_the_arms() -> None:
    ladder = {"tiny": 0.1, "small": 0.2, "medium": 0.3, "hard": 0.0, "held_out": 0.9}
    found = {
        "repaired": {"greedy": {"tiny": 0.1, "small": 0.25}, "random": ladder},
        "pointing": {"chance": {"tiny": 0.468}},
    }
    text = results.page({"ordebug_rl": arms_of(**FULL) | {"adversaries": found}})[0]
    assert "| greedy | 0.100 | 0.250 | missing | missing | missing | missing |" in text
    assert "| random | 0.100 | 0.200 | 0.300 | 0.000 | 0.900 | 0.150 |" in text  # overall: over the ladder
    assert "| chance | 0.468 | missing |" in text
    assert "Programs that learn nothing" not in results.page({"ordebug_rl": arms_of(**FULL)})[0]


def test_a_bar_that_is_missed_stands_with_its_cause() -> None:
    found = {"ordebug_rl": arms_of(**FULL | {"grpo": [0.40, 0.43, 0.41]})}
    assert "**is missed**" in results.page(found)[0]
    assert "Most likely cause: not found yet." in results.page(found)[0]
    text, _ = results.page(found | {"causes": {"ordebug": "too few steps."}})
    assert "Most likely cause: too few steps." in text


VARIED: dict[str, Any] = {
    "type": "B",
    "start": {"B": 0.44},
    "curriculum": {
        "flat": {"seeds": [0.3, 0.31, 0.32], "rungs": {"tiny": [0.5, 0.5, 0.5]}},
        "band": {"seeds": [0.4, 0.41, 0.43]},
    },
    "gradient": {
        "type_A_easy": {
            "repaired": 0.95, "interval": [0.8, 1.0], "band": [0.9, 1.0], "verdict": "in band", "n": 20
        },
        "type_A_hard": {
            "repaired": 0.0, "interval": [0.0, 0.2], "band": [0.3, 0.5], "verdict": "below", "n": 20
        },
    },
}  # fmt: skip


def test_a_curriculum_and_the_cells_are_told_beside_what_they_are_measured_against(tmp_path: Path) -> None:
    text, pictures = results.page({"ablation": VARIED})
    assert "Missing: all presets." in text
    assert "`band` is better" in text
    assert "| stages: tiny, tiny and small, small and medium, medium | missing |" in text
    assert "1 of 2 cells lie in their band" in text
    assert "| type_A_hard | 0.00 [0.00, 0.20] | 0.3 to 0.5 | below | 20 |" in text
    [drawn] = pictures
    assert drawn.file == "results-gradient.svg"
    assert list(drawn.bands) == [(0.9, 1.0), (0.3, 0.5)]
    [shares] = drawn.series.values()
    assert [(mean.low, mean.high) for mean in shares if mean] == [(0.8, 1.0), (0.0, 0.2)]  # not as far down as up
    results.draw(drawn, tmp_path)
    svg = (tmp_path / drawn.file).read_text()
    assert svg.count("fill: #d3d3d3") == 3  # two bands, and what they are
    assert "expected of a fine-tuned model" in svg
    assert "one seed" not in svg
    assert "Missing." in results.page({"ablation": {"presets": []}})[0]


def test_soup_tells_what_reinforcement_adds_and_what_is_open() -> None:
    arms = {
        "sft": {"primer": {"solved": [0.5, 0.5, 0.5]}, "easy": {"solved": [0.2, 0.3, 0.2]}},
        "grpo": {"primer": {"solved": [0.7, 0.71, 0.72]}, "easy": {"solved": [0.2, 0.3]}},
    }
    text, _ = results.page({"soup_rl": {"arms": arms}})
    assert "primer +0.210 [+0.185, +0.235], better; easy is open (2 and 3 seeds); easy_any is open." in text
    assert "| the base | missing | missing | missing |" in text


def test_throughput_has_both_sides_and_says_where_one_could_not() -> None:
    side = {"seconds": 2.0, "tokens_a_second": 8192.0, "peak_gib": 12.3, "steps": 4}
    batch = {"groups": 8, "draws": 8, "turns": 1, "drawn": 16384, "ratio": 3.0}
    found = {
        "one_turn": batch | {"sides": {"whet": side, "trl": side | {"seconds": 6.0}}},
        "six_turns": batch | {"ratio": None, "sides": {"whet": side, "trl": {"problem": "out of memory"}}},
    }
    drawing = {"apart": {"4": 2.0, "128": 4.0}, "together": {"4": 1.25, "128": 3.5}}
    text, [picture] = results.page({"throughput": {"batches": found, "drawing": drawing}})
    assert "| layers together | 1.25 | 3.50 |" in text
    assert "| Whet | 2.00 | 8,192 | 12.3 | 3.0 × |" in text
    assert "| TRL | out of memory |" in text
    assert picture.top > 6.0


def test_arms_tell_by_what_they_were_made_where_the_file_does_not() -> None:
    made = {"config": "ordebug_sft.toml", "config_hash": "abc", "device": "a GPU", "versions": {"torch": "2"}}
    arms = arms_of(sft=[0.3]) | {"made": [made]}
    arms["arms"]["sft"]["gpu_seconds"] = [60.0]
    text, _ = results.page({"ordebug_rl": arms})
    said = "On a GPU. Recipes `ordebug_sft.toml` (abc). With torch 2. Seconds of training, a mean over seeds: sft 60."
    assert f"{said}\n" in text
    for how, about in (
        ({"shared": True}, "are of a clock, beside other arms on the same GPU"),
        ({"shared": True, "alone": [0.2]}, "are steps times what a step takes alone"),
    ):
        arms["made"] = [made | {"arm": "sft", "seconds": 60.0} | how]
        assert f"{said} Those of sft {about}.\n" in results.page({"ordebug_rl": arms})[0]


def test_a_page_of_all_files_has_its_pictures_and_the_same_bytes_twice(tmp_path: Path) -> None:
    (tmp_path / "ordebug_rl.json").write_text(json.dumps(arms_of(**FULL) | {"seconds": {"sft": [60.0]}}))
    soup = {"arms": {"base": {"primer": {"solved": [0.0]}}}}
    (tmp_path / "soup_rl.json").write_text(json.dumps(soup))
    text, pictures = results.page(results.read_results(tmp_path))
    assert [picture.file for picture in pictures] == ["results-ordebug.svg", "results-soup.svg"]
    assert "**Not measured yet**: `results/groupqc_rl.json`" in text
    for folder in ("a", "b"):
        results.draw(pictures[0], tmp_path / folder)
    drawn = [(tmp_path / folder / pictures[0].file).read_bytes() for folder in ("a", "b")]
    assert drawn[0] == drawn[1]


def test_one_seed_is_shown_with_what_its_problems_leave_open_and_without_a_whisker(tmp_path: Path) -> None:
    rung = {"repaired_at_10": 0.5, "interval": [0.43, 0.57]}
    arm = {"seeds": [0], "small": {"repaired_at_10": [0.5]}}
    made = [{"arm": "sft", "seed": 0, "rungs": {"small": rung}}]
    page, pictures = results.page({"ordebug_rl": {"arms": {"sft": arm}, "made": made}})
    assert "**one seed** have no interval over seeds" in page
    assert "small imitation 0.50 [0.43, 0.57]." in page
    [picture] = pictures
    assert _whiskers(picture, tmp_path) == 0
    assert "imitation (one seed)" in (tmp_path / picture.file).read_text()
    two = {"seeds": [0, 1], "small": {"repaired_at_10": [0.4, 0.6]}}
    page, [picture] = results.page({"ordebug_rl": {"arms": {"sft": two}, "made": made}})
    assert "one seed" not in page
    assert _whiskers(picture, tmp_path) == 1
    assert "(one seed)" not in (tmp_path / picture.file).read_text()


def _whiskers(picture: Picture, folder: Path) -> int:
    draw(picture, folder)
    return (folder / picture.file).read_text().count('id="LineCollection_')


def test_values_that_are_no_list_are_refused() -> None:
    with pytest.raises(results.ResultsError, match="one number for each seed"):
        results.values_at({"arms": {"sft": 0.5}}, "arms", "sft")


def test_a_toy_is_no_result(tmp_path: Path) -> None:
    (tmp_path / "throughput.json").write_text(json.dumps({"toy": True, "batches": {}}))
    with pytest.raises(results.ResultsError, match="made with --toy"):
        results.read_results(tmp_path)
