"""`whet decide`, `whet review` and `whet audit` as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Whet
from ticket_desk import ARGUMENTS, tickets

from whet.config.schema import EndpointSection, RoleSection
from whet.envs.groupqc.environment import GroupQc
from whet.release.champion import Champion, Champions
from whet.rollout.cast import open_model
from whet.types import Playbook, Policy, Sampling

JUDGE = """
def answer(request):
    text = request.messages[-1].text
    bad = "missing" in text or "cracked" in text or "blocked" in text or "empty" in text
    return f"Verdict: {'fail' if bad else 'pass'}\\nReason: Image1: looked at it"
"""


@pytest.fixture
def place() -> Path:
    """The folder that commands start in, with a champion that is a file of Python."""
    here = Path.cwd()
    (here / "judge.py").write_text(JUDGE)
    target = f"scripted:{here / 'judge.py'}:answer"
    model = open_model(RoleSection(model=target), EndpointSection(), GroupQc("", ARGUMENTS))
    policy = Policy(model.fingerprint, Sampling(), Playbook("Look."))
    draft = Champion("site", policy, {"model": target}, {}, "groupqc", "x", "by-hand", {}, {}, arguments=ARGUMENTS)
    Champions(here / "releases").promote(draft)
    (here / "new.jsonl").write_bytes(b"\n".join(tickets(12)))
    (here / "labelled.jsonl").write_bytes(b"\n".join(tickets(60, "select", labelled=True)))
    return here


def test_from_new_tickets_to_labels_and_a_proof(whet: Whet, place: Path) -> None:
    told = whet("decide", "site", "--calibrate", "labelled.jsonl", "--max-false-release", "0.5")
    assert told.code == 0
    assert "released" in told.out.lower()
    told = whet("decide", "site", "--in", "new.jsonl", "--out", "out.jsonl")
    assert told.code == 0, told.err
    rows = [json.loads(line) for line in (place / "out.jsonl").read_bytes().splitlines()]
    assert [row["line"] for row in rows] == list(range(1, 13))
    assert all(row["champion"] == "site@v1" and row["model"] and row["playbook"] for row in rows)
    again = whet("decide", "site", "--in", "new.jsonl", "--out", "again.jsonl")
    assert "12 decided before" in again.out
    whet("audit", "anchor", str(place.parent / f"{place.name}-anchor.txt"))
    whet("audit", "freeze", "groupqc", "--why", "a new camera")
    (place / "more.jsonl").write_bytes(b"\n".join(tickets(24)[12:]))
    whet("decide", "site", "--in", "more.jsonl", "--out", "more_out.jsonl")
    listed = whet("review", "list").out
    assert "drift" in listed
    number = listed.split()[0]
    assert whet("review", "show", number).code == 0
    assert whet("review", "claim", number, "--as", "ann").code == 0
    refused = whet("review", "claim", number, "--as", "bob")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "ann is at it" in refused.err
    whet("review", "resolve", number, "fail", "--as", "ann", "--comment", "seal broken")
    whet("review", "list")
    whet("review", "labels", "labels.jsonl")
    for by in ("place", "vendor", "month", "day", "kind", "champion"):
        assert whet("audit", "breakdown", "--by", by).code == 0
    told = whet("audit", "verify")
    assert told.code == 0, told.out
    assert "the trail is whole" in told.out
    head = whet("audit", "verify", "--head").out.strip()
    assert whet("audit", "verify", "--expect", head).code == 0
    ticket = rows[0]["ticket"]
    assert whet("audit", "redact", ticket, "--why", "asked to be forgotten", "--as", "dpo").code == 0
    assert rows[0]["name"] not in whet("audit", "show", "--ticket", ticket).out
    assert whet("audit", "unfreeze", "groupqc", "--why", "camera replaced").code == 0
    assert whet("audit", "verify").code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("decide", "nobody", "--in", "new.jsonl"), "no such champion"),
        (("decide", "site"), "say what to decide on"),
        (("decide", "site", "--in", "absent.jsonl"), "cannot be read"),
        (("decide", "site@v7", "--in", "new.jsonl"), "no such version"),
        (("decide", "site", "--in", "new.jsonl", "--out", "absent/out.jsonl"), "cannot be written"),
        (("decide", "site", "--calibrate", "new.jsonl"), "have no label"),
        (("decide", "site", "--calibrate", "labelled.jsonl", "--audit", "3"), "between 0 and 1"),
        (("review", "claim", "77", "--as", "ann"), "there is no case"),
        (("review", "list", "--state", "lost"), "say open, claimed or resolved"),
        (("audit", "redact", "nothing", "--why", "x", "--as", "y"), "nothing of it stands apart"),
        (("audit", "breakdown", "--by", "colour"), "say one of"),
        (("audit", "anchor", "releases/inside.txt"), "elsewhere alone"),
        (("audit", "anchor", "/proc/nowhere/x"), "did not arrive"),
        (("audit", "verify", "--expect", "hello"), "not a line of an anchor"),
        (("audit", "unfreeze", "groupqc", "--why", "x"), "not frozen"),
    ],
)
def test_bad_input_is_one_clear_line_and_nothing_is_half_done(
    whet: Whet, place: Path, words: tuple[str, ...], said: str
) -> None:
    told = whet(*words)
    assert told.code in (1, 2)
    assert said in told.err + told.out
    assert (told.err + told.out).count("\n") <= 2
    assert not (place / "decisions.jsonl").exists()


def test_a_bad_line_is_refused_beside_and_the_rest_goes_on(whet: Whet, place: Path) -> None:
    (place / "new.jsonl").write_bytes(b"\n".join([*tickets(3), b"{}", b"nonsense"]))
    told = whet("decide", "site", "--in", "new.jsonl", "--out", "out.jsonl")
    assert told.code == 1
    assert len((place / "out.jsonl").read_bytes().splitlines()) == 3
    beside = [json.loads(line) for line in (place / "out.refused.jsonl").read_bytes().splitlines()]
    assert [row["line"] for row in beside] == [4, 5]


def test_any_tampering_is_told_by_the_command(whet: Whet, place: Path) -> None:
    whet("decide", "site", "--in", "new.jsonl", "--out", "out.jsonl")
    path = place / "releases" / "trail.sqlite"
    body = bytearray(path.read_bytes())
    body[len(body) // 2] ^= 1
    path.write_bytes(body)
    told = whet("audit", "verify")
    assert told.code == 1
    refused = whet("decide", "site", "--in", "new.jsonl", "--out", "out.jsonl")
    assert refused.code == 2
