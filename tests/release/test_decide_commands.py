"""`whet decide`, `whet review` and `whet audit` as a user meets them; the page runs the way through all of them."""

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
