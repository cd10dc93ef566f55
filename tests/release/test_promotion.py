"""A promotion rests on evidence of the very policy, from a whole ledger; what is missing has to be overridden."""

from __future__ import annotations

import shutil
import sqlite3
from dataclasses import dataclass
from pathlib import Path

import pytest
import reflact_world
import rules_world
from builders import FromFunction
from command_line import Said, Whet
from docs.pages import ROOT

from whet.errors import WhetError
from whet.release.champion import Champion, Champions
from whet.release.package import Package, write_package
from whet.release.promotion import promote_run
from whet.release.trail import Trail
from whet.run.compose import Given
from whet.run.workspace import open_run

MODEL = """
import re

def answer(request):
    said = request.messages
    taught = said[0].author == "system" and "twice" in said[0].text
    left, sign, right = re.search(r"(\\d+) ([+-]) (\\d+)", said[-1].text).groups()
    number = int(left) + int(right) if sign == "+" else int(left) - int(right)
    return str(number) if taught or number % 2 else "wrong"
"""


@dataclass
class Shop:
    """A folder with a model that a better playbook makes better, and the runs that show it."""

    whet: Whet
    folder: Path
    env: str = "sums.py:Sums"

    def eval(self, run: str, *more: str) -> Said:
        words = ("eval", self.env, "-m", "scripted:model.py:answer", "-n", "40", "--run", run, *more)
        return self.done(*words, "--set", "eval.floor=false")

    def done(self, *words: str | Path) -> Said:
        said = self.whet(*words)
        assert said.code == 0, said.err
        return said

    def gate(self, candidate: str = "better.md", *more: str) -> str:
        """The child run that holds the decision."""
        self.done("gate", "before", "--candidate", candidate, *more)
        (child,) = Path("runs/before/gates").iterdir()
        return str(child)

    def refused(self, *words: str) -> str:
        said = self.whet("release", "promote", *words)
        assert said.code == 2, said.out
        assert said.err.count("\n") == 1, said.err
        return said.err

    @property
    def champion(self) -> Champion:
        return Champions(Path("releases")).get("sums")


@pytest.fixture
def shop(whet: Whet, tmp_path: Path) -> Shop:
    Path("model.py").write_text(MODEL)
    shutil.copy(ROOT / "examples" / "sums.py", "sums.py")
    Path("better.md").write_text("Count twice.")
    made = Shop(whet, tmp_path)
    made.eval("before")
    return made


def test_a_decision_and_a_test_of_the_same_policy_make_a_champion(shop: Shop) -> None:
    child = shop.gate()
    assert "nothing was measured on sealed tasks" in shop.refused(child, "--as", "sums")
    shop.eval("sealed", "--split", "test", "-p", "better.md")
    said = shop.done("release", "promote", child, "--as", "sums", "--test", "sealed")
    assert "promoted sums@v1" in said.out
    found = shop.champion
    assert found.playbook.body == "Count twice."
    assert (found.claim["value"], found.claim["tasks"], found.claim["opening"]) == (1.0, 40, 1)
    assert found.decision["verdict"] == "accept"
    assert "draws" not in found.decision
    assert found.target["model"] == f"scripted:{shop.folder}/model.py:answer"
    assert (found.override, found.notes) == ("", ())


def test_a_test_of_another_policy_or_environment_is_refused(shop: Shop) -> None:
    child = shop.gate()
    Path("worse.md").write_text("Count once.")
    shop.eval("other", "--split", "test", "-p", "worse.md")
    assert "of another policy" in shop.refused(child, "--as", "sums", "--test", "other")
    shop.eval("elsewhere", "--split", "test", "-p", "better.md", "-a", "test=90")
    assert "of another environment" in shop.refused(child, "--as", "sums", "--test", "elsewhere")
    shop.eval("selected", "-p", "better.md")
    assert "measures select tasks" in shop.refused(child, "--as", "sums", "--test", "selected")
    assert not Path("releases").exists()


def test_a_rejected_candidate_and_a_bare_evaluation_need_an_override_that_is_recorded(shop: Shop) -> None:
    Path("null.md").write_text("Be polite.")
    child = shop.gate("null.md")
    assert "the gate did not accept it" in shop.refused(child, "--as", "sums")
    assert "it carries no decision of the gate" in shop.refused("before", "--as", "sums")
    assert "not promoted" in shop.refused("before", "--as", "sums", "--override", "  ")
    said = shop.done("release", "promote", "before", "--as", "sums", "--override", "the customer\nwaits")
    assert "overridden (the customer waits): it carries no decision" in said.out
    assert shop.champion.override == "the customer waits"
    (entry,) = Trail.of(Path("releases")).entries("promote")
    assert entry.record["why"] == "the customer waits"
    assert len(entry.record["passed_over"]) == 2
    assert "(overridden)" in shop.done("release", "list").out
    assert "against: it carries no decision" in shop.done("release", "show", "sums").out


def test_a_test_that_was_opened_again_and_tasks_that_were_excluded_are_said(shop: Shop) -> None:
    child = shop.gate("better.md", "--set", f"exclude={open_run('before').tasks()[:2]}")
    shop.eval("first", "--split", "test")
    shop.eval("sealed", "--split", "test", "-p", "better.md")
    said = shop.done("release", "promote", child, "--as", "sums", "--test", "sealed")
    assert "note: 2 tasks were excluded from the gate, for both sides" in said.out
    assert "note: opening 2 of this test (before it: first)" in said.out
    assert shop.champion.claim["opening"] == 2
    shop.eval("third", "--split", "test", "-p", "better.md", "--repeats", "2")
    shop.done("release", "promote", child, "--as", "again", "--test", "sealed")
    assert any("opened 3 times by now" in note for note in Champions(Path("releases")).get("again").notes)


def test_evidence_of_another_fingerprint_is_refused_beside_a_champion(shop: Shop) -> None:
    shop.eval("sealed", "--split", "test", "-p", "better.md")
    shop.done("release", "promote", "sealed", "--as", "sums", "--override", "first")
    shop.eval("wide", "--split", "test", "-a", "test=90")
    told = shop.refused("wide", "--as", "sums")
    assert "sums@v1 was measured on sums.py:Sums" in told


def test_an_environment_that_changed_since_is_an_objection(shop: Shop) -> None:
    shop.eval("sealed", "--split", "test")
    text = Path("sums.py").read_text()
    Path("sums.py").write_text(text.replace("randrange(limit), rng", "randrange(limit) + 1, rng"))
    assert "sums.py:Sums is another environment by now" in shop.refused("sealed", "--as", "sums")
    Path("sums.py").unlink()  # taken away: what was proved was proved on what the run keeps
    assert "another environment" not in shop.refused("sealed", "--as", "sums")


def test_a_ledger_that_is_not_what_was_written_promotes_nothing_even_with_an_override(shop: Shop) -> None:
    shop.eval("sealed", "--split", "test")
    with sqlite3.connect("runs/sealed/ledger.sqlite") as db:
        db.execute("UPDATE rollouts SET hard = 1")
    told = shop.refused("sealed", "--as", "sums", "--override", "trust me")
    assert "ledger" in told
    assert not Path("releases").exists()


def test_a_file_that_the_ledger_does_not_give_promotes_nothing(shop: Shop) -> None:
    child = shop.gate()
    file = Path(child) / "decision.json"
    file.write_text(file.read_text().replace("accept", "excellent"))
    told = shop.refused(child, "--as", "sums", "--override", "trust me")
    assert "decision.json: is not what the ledger gives" in told


def test_a_reference_policy_and_an_unknown_run_are_refused(shop: Shop) -> None:
    shop.done("eval", shop.env, "-m", "baseline:oracle", "-n", "4", "--run", "oracle", "--set", "eval.floor=false")
    assert "sees the truth" in shop.refused("oracle", "--as", "sums", "--override", "it is so good")
    assert "no run here" in shop.refused("nowhere", "--as", "sums")


def test_a_champion_outlives_its_run(shop: Shop) -> None:
    shop.eval("sealed", "--split", "test", "-p", "better.md")
    shop.done("release", "promote", "sealed", "--as", "sums", "--override", "first")
    shutil.rmtree("runs")
    assert "its run sealed is not here any more" in shop.done("release", "show", "sums").out
    shop.done("release", "package", "sums")
    shop.done("release", "install", "sums", "--into", "skills")
    assert Package.read(Path("sums-v1.zip")).champion == shop.champion


# --------------------------------------------------------------------------------------------- learners


def test_a_trained_skill_is_promoted_with_its_gate_and_its_test(tmp_path: Path) -> None:
    result = reflact_world.trained(tmp_path / "runs" / "r1")
    proposer = FromFunction(reflact_world.optimiser)
    proposer.fingerprint = "optimiser-1"
    world = Given(reflact_world.Kinds(), FromFunction(reflact_world.target), optimizer=proposer)
    made = promote_run("r1", "kinds", runs=tmp_path / "runs", releases=tmp_path / "releases", given=world).champion
    assert made.playbook == result.best
    assert made.decision["verdict"] == "accept"
    assert made.claim["value"] == result.summary["test_metric"]
    assert made.claim["gain_interval"][0] > 0
    assert made.claim["tasks"] == 40


def test_a_training_whose_gate_accepts_everything_needs_an_override_that_is_recorded(tmp_path: Path) -> None:
    result = reflact_world.trained(tmp_path / "runs" / "r1", reflact_world.config(gate={"name": "none"}))
    assert result.summary["accepted"]
    proposer = FromFunction(reflact_world.optimiser)
    proposer.fingerprint = "optimiser-1"
    world = Given(reflact_world.Kinds(), FromFunction(reflact_world.target), optimizer=proposer)
    places = {"runs": tmp_path / "runs", "releases": tmp_path / "releases"}
    with pytest.raises(WhetError, match="a gate that accepts everything"):
        promote_run("r1", "kinds", **places, given=world)
    assert Trail.of(tmp_path / "releases").entries() == []
    made = promote_run("r1", "kinds", **places, given=world, override="a trial for one day").champion
    (event,) = Champions(tmp_path / "releases").events("kinds")
    assert made.override == event.why == "a trial for one day"
    assert any("accepts everything" in told for told in event.passed_over)


def test_a_training_that_accepted_nothing_has_nothing_to_promote(tmp_path: Path) -> None:
    result = reflact_world.trained(
        tmp_path / "runs" / "r1",
        reflact_world.config(train={"epochs": 1, "test": 4}),
        target=lambda request: "?",
        env=reflact_world.Kinds(12, 12, 8),
    )
    assert not result.summary["accepted"]
    proposer = FromFunction(reflact_world.optimiser)
    proposer.fingerprint = "optimiser-1"
    world = Given(reflact_world.Kinds(12, 12, 8), FromFunction(lambda request: "?"), optimizer=proposer)
    with pytest.raises(WhetError, match="the gate accepted none of its candidates"):
        promote_run("r1", "kinds", runs=tmp_path / "runs", releases=tmp_path / "releases", given=world)


def test_a_rule_book_is_promoted_and_packed_as_guidance(tmp_path: Path) -> None:
    result = rules_world.searched(tmp_path / "runs")
    assert result.summary["accepted"]
    proposer = FromFunction(rules_world.optimiser)
    proposer.fingerprint = "crate-optimiser-1"
    world = Given(rules_world.Crates(), FromFunction(rules_world.target), optimizer=proposer)
    releases = tmp_path / "releases"
    made = promote_run(result.folder, "crates", releases=releases, given=world).champion
    assert made.playbook.told == result.best.told
    package = Package.read(write_package(Champions(releases), made, tmp_path / "c.zip"))
    assert all(rule.text in package.files["guidance.json"].decode() for rule in made.playbook.told)
