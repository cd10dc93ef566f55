"""Budgets hold against a server that bills by itself, whatever it says and whatever goes wrong on the way."""

from __future__ import annotations

import math
import socketserver
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from billing import ANSWERS, LEFT_OUT, LIMITS, PRICE, SAYS, Bill, BillingServer, metered, played
from builders import Doubles, FromFunction
from loopback import serving

from whet.errors import WhetError
from whet.ledger.account import Account
from whet.ledger.store import Ledger
from whet.models.base import Price, Request
from whet.models.load import load_model
from whet.models.options import ModelOptions
from whet.rollout.prompt_size import most_prompt_tokens
from whet.rollout.purse import PurseLimits
from whet.run.api import decide, evaluate
from whet.types import Message, Playbook, Reply, Sampling, ToolCall, ToolSpec, Usage, assistant, user


def assert_within(limits: PurseLimits, bill: Bill) -> None:
    assert bill.calls <= (limits.calls or math.inf)
    assert bill.tokens <= (limits.tokens or math.inf)
    assert bill.usd <= (limits.usd or math.inf) + 1e-9


def assert_accounted(folder: Path, bill: Bill) -> None:
    """Everything that was billed is in the account."""
    with Ledger.read(folder) as ledger:
        spent = ledger.account().spent
    assert spent.calls >= bill.calls
    assert spent.tokens >= bill.tokens
    assert spent.usd is not None
    assert spent.usd >= bill.usd - 1e-9


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("says", SAYS)
def test_the_bill_stays_within_the_budget_whatever_the_server_says(tmp_path: Path, says: str, limit: str) -> None:
    with serving(server=BillingServer(SAYS[says])) as server:
        tally = played(tmp_path / "r", server, LIMITS[limit])
    assert "budget of" in tally.stopped
    assert server.bill.calls > 0
    assert_within(LIMITS[limit], server.bill)
    assert_accounted(tmp_path / "r", server.bill)


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("answers", ANSWERS)
def test_every_attempt_is_paid_from_the_budget(tmp_path: Path, answers: str, limit: str) -> None:
    with serving(server=BillingServer(answers=ANSWERS[answers])) as server:
        tally = played(tmp_path / "r", server, LIMITS[limit])
    assert "budget of" in tally.stopped
    assert server.bill.calls > 0
    assert_within(LIMITS[limit], server.bill)
    assert_accounted(tmp_path / "r", server.bill)


def test_a_budget_holds_over_sessions_and_faults_that_are_redone(tmp_path: Path) -> None:
    limits = PurseLimits(usd=0.08)
    with serving(server=BillingServer(lambda usage, n: LEFT_OUT if n % 3 else usage, ("500", "ok"))) as server:
        for _ in range(4):
            played(tmp_path / "r", server, limits, retry_faults=True)
    assert_within(limits, server.bill)
    assert_accounted(tmp_path / "r", server.bill)


def test_a_connection_that_was_never_made_costs_nothing(tmp_path: Path) -> None:
    server = BillingServer()
    with serving(server=server):
        pass  # its port is free again
    played(tmp_path / "r", server, PurseLimits(calls=5), tasks=2)
    with Ledger.read(tmp_path / "r") as ledger:
        assert ledger.account().spent == Usage()
        counts = ledger.counts()
    assert counts["attempts"] == counts["settlements"] > 2, "it was tried, and that is on record"


def test_a_call_without_a_key_costs_nothing(tmp_path: Path) -> None:
    """It once took the whole reservation of every call at once, though nothing had gone out."""
    with serving(server=BillingServer()) as server:
        model = metered(server, key_env="A_KEY_THAT_NOBODY_HAS")
        with pytest.raises(WhetError, match="A_KEY_THAT_NOBODY_HAS is not set"):
            played(tmp_path / "r", server, PurseLimits(usd=0.05), model=model)
    with Ledger.read(tmp_path / "r") as ledger:
        assert ledger.account() == Account()
    assert server.bill.calls == 0


class _PlainHttp(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        self.request.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def test_a_connection_that_cannot_be_made_safe_costs_nothing(tmp_path: Path) -> None:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _PlainHttp) as plain:
        threading.Thread(target=plain.serve_forever, args=(0.01,), daemon=True).start()
        server = BillingServer()
        model = metered(server, base_url=f"https://127.0.0.1:{plain.server_address[1]}/v1", key_env="")
        with pytest.raises(WhetError, match="does not speak TLS"):
            played(tmp_path / "r", server, PurseLimits(usd=0.05), model=model)
        plain.shutdown()
    with Ledger.read(tmp_path / "r") as ledger:
        assert ledger.account() == Account()


def test_a_retry_that_the_budget_has_no_room_for_waits_for_nobody_who_waits_for_it(tmp_path: Path) -> None:
    """A call once held its connection while it waited for room that calls without a connection had reserved."""
    limits = PurseLimits(calls=4)
    with serving(server=BillingServer(answers=("500",))) as server:
        began = time.monotonic()
        tally = played(tmp_path / "r", server, limits, tasks=6, model=metered(server, connections=1))
    assert time.monotonic() - began < 20, "it once waited for the time limit of the call, ten minutes"
    assert "budget of" in tally.stopped
    assert server.bill.calls == 4


@pytest.mark.parametrize(
    "field", ["max_tokens", "max_completion_tokens", "max_output_tokens", "n", "best_of", "n_predict", "num_predict"]
)
@pytest.mark.parametrize("address", ["openai:any", "anthropic:any"])
def test_no_extra_field_goes_past_the_reservation(address: str, field: str) -> None:
    with pytest.raises(WhetError, match=f"extra must not set {field}"):
        load_model(address, ModelOptions(base_url="http://127.0.0.1:1/v1", extra={field: 9999}))


def test_what_extra_adds_to_a_prompt_is_reserved_for() -> None:
    model = load_model("openai:any", ModelOptions(base_url="http://127.0.0.1:1/v1", extra={"documents": ["x" * 5000]}))
    assert model.overhead(Request((user("hello"),))) > 5000


# --------------------------------------------------------------------------------------------- one purse


class Billed(FromFunction):
    """Bills for itself; what it tells is nothing."""

    price = Price(*PRICE)

    def __init__(self, name: str, bill: Bill, answer: Any) -> None:
        super().__init__(answer)
        self.name, self.fingerprint, self.bill = f"test:{name}", name, bill

    async def complete(self, request: Request) -> Reply:
        self.bill.add(sum(len(message.text.encode()) for message in request.messages), request.sampling.max_tokens)
        return replace(await super().complete(request), usage=Usage(calls=1, usd=None))


@pytest.mark.parametrize("limit", ["calls=50", "tokens=60000", "usd=0.25"])
def test_a_run_and_its_gates_have_one_purse(tmp_path: Path, limit: str) -> None:
    """A gate once got the whole budget again."""
    bill = Bill()
    model = Billed("m", bill, lambda _: "?")
    result = evaluate(Doubles(), model, n=30, runs=tmp_path, overrides=[f"control.budget.{limit}"])
    for body in ("Count twice.", "Count three times.", "Do not count."):
        with pytest.raises(WhetError, match="no decision yet, budget of"):
            decide(result.folder, Playbook(body), env=Doubles(), model=model)
    name, _, most = limit.partition("=")
    assert getattr(bill, name) <= float(most)
    assert getattr(bill, name) > 0.7 * float(most)


@pytest.mark.parametrize("limit", [{"calls": 70}, {"tokens": 100_000}, {"usd": 0.3}])
def test_target_judge_gate_and_optimiser_have_one_purse(tmp_path: Path, limit: dict[str, Any]) -> None:
    from reflact_world import Kinds, config, optimiser, target

    from whet.run.api import train

    bill = Bill()
    model, adviser = Billed("target", bill, target), Billed("adviser", bill, optimiser)
    settings = config(control={"budget": limit})
    for _ in range(3):
        result = train(settings, env=Kinds(), model=model, optimizer=adviser, runs=tmp_path, name="run")
        assert "budget of" in result.stopped
    [(name, most)] = limit.items()
    assert 0 < getattr(bill, name) <= most
    assert adviser.requests


# --------------------------------------------------------------------------------------------- the size of a prompt

HOSTILE = {
    "plain": "x" * 500,
    "newlines": "\n" * 500,
    "emoji": "\U0001f469\u200d\U0001f469\u200d\U0001f467" * 50,
    "normalised to eighteen signs": "\ufdfa" * 100,
    "controls": "".join(map(chr, range(1, 32))) * 20,
    "Chinese": "\u4e00" * 300,
    "lone surrogates": "\ud800" * 100,
}


@pytest.mark.parametrize("text", HOSTILE)
def test_no_tokeniser_makes_more_tokens_than_are_reserved(text: str) -> None:
    """Byte by byte, or sign by sign after normalisation: no tokeniser cuts finer."""
    import unicodedata

    written = HOSTILE[text]
    request = Request((user(written),))
    finest = (written, unicodedata.normalize("NFKC", written))
    assert most_prompt_tokens(request) >= max(len(form.encode("utf-8", "replace")) for form in finest)


def test_calls_tools_and_schemas_are_part_of_a_prompt() -> None:
    spec = ToolSpec("run", "d" * 300, {"type": "object", "properties": {"\u4e00" * 50: {"type": "string"}}})
    call = ToolCall("c" * 100, "run", {}, '{"code": "' + "y" * 700 + '"}')
    bare = most_prompt_tokens(Request((user("q"),)))
    assert most_prompt_tokens(Request((user("q"),), tools=(spec,))) > bare + 300 + 150
    said = (user("q"), Message("assistant", "", (call,)), Message("tool", "r", call_id="c" * 100))
    assert most_prompt_tokens(Request(said)) > bare + 900
    assert most_prompt_tokens(Request((user("q"), assistant("a")))) > bare


def test_a_request_that_cannot_be_paid_is_not_sent(tmp_path: Path) -> None:
    with serving(server=BillingServer()) as server:
        tally = played(tmp_path / "r", server, PurseLimits(tokens=Sampling().max_tokens))
    assert server.requests == 0
    assert "budget of 1024 tokens reached (0 spent)" in tally.stopped
