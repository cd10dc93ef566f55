"""Deciding on new tickets: once, on record before it is told, and by a person where the evidence does not carry it."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
from ticket_desk import promoted, rules_model, spoken, tickets

from whet.errors import FaultError, WhetError
from whet.models.base import Model, Request
from whet.release.batch import decide_lines
from whet.release.calibration import calibrate
from whet.release.champion import Champions
from whet.release.decider import Decider, NoDecision, open_decider
from whet.release.decision import DECIDED, WorkDecision
from whet.release.trail import Trail
from whet.release.upkeep import release_findings
from whet.types import Fault, Reply

Made = TypeVar("Made")


def run(work: Coroutine[Any, Any, Made]) -> Made:
    return asyncio.run(work)


async def decided(releases: Path, model: Model, lines: list[bytes], **more: Any) -> list[WorkDecision]:
    champion = promoted(releases, model, **more) if not (releases / "site").exists() else _current(releases)
    async with open_decider(champion, releases, model=model) as decider:
        return [await decider.decide(line) for line in lines]


def _current(releases: Path) -> Any:
    from whet.release.champion import Champions

    return Champions(releases).get("site")


def test_a_ticket_is_decided_with_all_that_belongs_to_it(tmp_path: Path) -> None:
    (decision,) = run(decided(tmp_path, rules_model(), tickets(1)))
    told = decision.as_data()
    assert told["champion"] == "site@v1"
    assert told["proposed"] in ("pass", "fail")
    assert told["reason"]
    assert told["playbook"]
    assert 0 <= told["evidence_gap"] <= 1
    assert Trail.of(tmp_path).verify() == []


def test_without_a_threshold_nothing_is_released(tmp_path: Path) -> None:
    found = run(decided(tmp_path, rules_model(), tickets(12)))
    assert {decision.verdict for decision in found} <= {"fail", "review"}
    assert {decision.code for decision in found if decision.verdict == "review"} == {"no_threshold"}


def test_the_same_ticket_is_decided_once_and_a_changed_photo_is_another(tmp_path: Path) -> None:
    asked: list[str] = []
    model = spoken(lambda request: asked.append(request.messages[-1].text) or "Verdict: fail\nReason: Image1: dirty")
    line = tickets(1)[0]
    other = json.loads(line)
    other["per_image"][next(iter(other["per_image"]))] += " (retaken)"
    reordered = json.dumps(dict(reversed(json.loads(line).items())), indent=1).encode()
    labelled = json.dumps({**json.loads(line), "label": "pass"}).encode()
    photo = json.dumps({**json.loads(line), "image_sha256": ["0" * 64]}).encode()
    lines = [line, line, reordered, labelled, json.dumps(other).encode(), photo]
    found = run(decided(tmp_path, model, lines))
    assert [decision.again for decision in found] == [False, True, True, True, False, False]
    assert len({decision.entry for decision in found}) == 3
    assert len(asked) == 3


def test_the_same_ticket_that_arrives_at_once_is_decided_once(tmp_path: Path) -> None:
    asked: list[int] = []

    async def slow(request: Request) -> str:
        asked.append(1)
        await asyncio.sleep(0.05)
        return "Verdict: fail\nReason: Image1: dirty"

    model = spoken(slow)

    async def both() -> list[WorkDecision]:
        async with open_decider(promoted(tmp_path, model), tmp_path, model=model) as decider:
            return await asyncio.gather(*(decider.decide(tickets(1)[0]) for _ in range(8)))

    found = run(both())
    assert len(asked) == 1
    assert len({decision.entry for decision in found}) == 1
    assert sum(decision.again for decision in found) == 7


def test_two_doors_that_decide_at_once_agree_on_one_decision(tmp_path: Path) -> None:
    async def slow(request: Request) -> str:
        await asyncio.sleep(0.05)
        return "Verdict: fail\nReason: Image1: dirty"

    model = spoken(slow)
    champion = promoted(tmp_path, model)

    async def both() -> list[WorkDecision]:
        async with (
            open_decider(champion, tmp_path, model=model, door="one") as first,
            open_decider(champion, tmp_path, model=model, door="two") as second,
        ):
            return await asyncio.gather(*(decider.decide(tickets(1)[0]) for decider in (first, second)))

    found = run(both())
    assert found[0].entry == found[1].entry
    assert len(Trail.of(tmp_path).entries(DECIDED)) == 1
    assert Trail.of(tmp_path).verify() == []


def test_a_service_that_gives_out_decides_nothing_and_is_asked_again(tmp_path: Path) -> None:
    broken = [True]

    def answer(request: Request) -> str:
        if broken[0]:
            raise FaultError(Fault("overloaded", "server", "no room"))
        return "Verdict: fail\nReason: Image1: dirty"

    model = spoken(answer)

    async def twice() -> WorkDecision:
        async with open_decider(promoted(tmp_path, model), tmp_path, model=model) as decider:
            with pytest.raises(NoDecision, match="did not answer"):
                await decider.decide(tickets(1)[0])
            broken[0] = False
            return await decider.decide(tickets(1)[0])

    assert run(twice()).verdict == "fail"
    assert len(Trail.of(tmp_path).entries(DECIDED)) == 1


def test_what_was_replied_before_a_kill_is_not_asked_again(tmp_path: Path) -> None:
    asked: list[int] = []
    model = spoken(lambda request: asked.append(1) or Reply("Verdict: fail\nReason: Image1: dirty"))
    champion = promoted(tmp_path, model)

    async def voted(decider: Decider) -> None:
        await decider.vote(decider.intake.read(tickets(1)[0]))

    async def first() -> None:
        async with open_decider(champion, tmp_path, model=model) as decider:
            await voted(decider)

    async def second() -> WorkDecision:
        async with open_decider(champion, tmp_path, model=model) as decider:
            return await decider.decide(tickets(1)[0])

    run(first())
    assert run(second()).verdict == "fail"
    assert len(asked) == 1


def test_a_champion_decides_on_when_the_code_of_its_intake_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = spoken(lambda request: "Verdict: fail\nReason: Image1: dirty")
    run(decided(tmp_path, model, tickets(1)))
    monkeypatch.setattr("whet.apps.groupqc.decision.intake.fingerprint", lambda *_, **__: "of-another-whet")
    found = run(decided(tmp_path, model, tickets(2)))
    assert [decision.again for decision in found] == [True, False]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{", "not a ticket"),
        (b"[]", "not a ticket"),
        (b"\xff\xfe", "not a ticket"),
        (b'{"group_id": "a", "mission": "nowhere", "images": ["1.jpg"], "per_image": {"image_1": "x"}}', "no pack"),
        (b"[" * 100_000, "not a ticket"),
        (b"x" * (1 << 21), "at most"),
    ],
)
def test_what_is_no_ticket_is_refused_in_one_line(tmp_path: Path, line: bytes, said: str) -> None:
    with pytest.raises(WhetError, match=said) as refused:
        run(decided(tmp_path, rules_model(), [line]))
    assert "\n" not in str(refused.value)
    assert Trail.of(tmp_path).entries(DECIDED) == []


def test_half_a_character_is_refused(tmp_path: Path) -> None:
    row = json.loads(tickets(1)[0])
    row["group_id"] = "\ud800"
    with pytest.raises(WhetError, match="not Unicode"):
        run(decided(tmp_path, rules_model(), [json.dumps(row).encode()]))


def test_a_mission_that_the_champion_was_not_trained_for_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WhetError, match="not trained for"):
        run(decided(tmp_path, rules_model(), tickets(1, mission="Fire door check")))


@pytest.fixture(scope="module")
def calibration(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A champion whose threshold was chosen on 400 tickets: dear to make, so it is made once."""
    releases, model = tmp_path_factory.mktemp("calibrated") / "releases", rules_model()
    lines = tickets(400, "select", labelled=True)
    rule = run(calibrate(promoted(releases, model), lines, 0.05, releases, model=model, audit=0.5))
    assert rule.threshold is not None
    assert rule.upper <= 0.05
    return releases


@pytest.fixture
def calibrated(calibration: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(calibration, tmp_path / "releases"))


def test_a_calibrated_champion_releases_what_its_evidence_carries(calibrated: Path) -> None:
    found = run(decided(calibrated, rules_model(), tickets(60)))
    assert any(decision.verdict == "pass" and not decision.code for decision in found)
    audits = [decision for decision in found if decision.code == "audit"]
    assert audits
    assert all(decision.verdict == "pass" and decision.case for decision in audits)
    assert Trail.of(calibrated).verify() == []
    assert release_findings(calibrated) == []


def test_sites_that_chose_the_threshold_are_not_released_by_it(calibrated: Path) -> None:
    found = run(decided(calibrated, rules_model(), tickets(40, "select", labelled=True)))
    assert not any(decision.verdict == "pass" for decision in found)


@pytest.mark.parametrize("name", ["site.json", "site.reference.jsonl"])
def test_a_threshold_that_somebody_edited_decides_nothing_and_can_be_chosen_anew(name: str, calibrated: Path) -> None:
    model, file = rules_model(), calibrated / "decide" / name
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    assert ["is not what was calibrated" in line for line in release_findings(calibrated)] == [True]
    with pytest.raises(WhetError, match="is not what was calibrated"):
        run(decided(calibrated, model, tickets(1)))
    champion = Champions(calibrated).get("site")
    run(calibrate(champion, tickets(30, "select", labelled=True), 0.02, calibrated, model=model))
    assert release_findings(calibrated) == []
    assert len(run(decided(calibrated, model, tickets(1)))) == 1


def test_a_threshold_of_another_policy_releases_nothing(calibrated: Path) -> None:
    other = spoken(lambda request: "Verdict: pass\nReason: Image1: fine", "other")
    champion = promoted(calibrated, other)

    async def work() -> tuple[WorkDecision, tuple[str, ...]]:
        async with open_decider(champion, calibrated, model=other) as decider:
            return await decider.decide(tickets(1)[0]), decider.notes

    decision, notes = run(work())
    assert decision.code == "no_threshold"
    assert "another version" in notes[0]


def test_too_few_labels_give_no_threshold_and_none_at_all_is_refused(tmp_path: Path) -> None:
    model = rules_model()
    champion = promoted(tmp_path, model)
    assert run(calibrate(champion, tickets(30, "select", labelled=True), 0.02, tmp_path, model=model)).threshold is None
    with pytest.raises(WhetError, match="have no label"):
        run(calibrate(champion, tickets(30, "select"), 0.02, tmp_path, model=model))


def test_a_file_is_decided_line_by_line_and_bad_lines_hold_up_no_other(tmp_path: Path) -> None:
    model = rules_model()
    lines = [*enumerate(tickets(4), start=1), (5, b"{"), (6, tickets(1)[0])]

    async def work() -> Any:
        async with open_decider(promoted(tmp_path, model), tmp_path, model=model) as decider:
            return await decide_lines(decider, lines)

    batch = run(work())
    assert sorted(batch.decisions) == [1, 2, 3, 4, 6]
    assert batch.decisions[6].entry == batch.decisions[1].entry
    assert list(batch.refused) == [5]
    assert batch.exit_code == 1
