"""Whether a budget holds: runs against a server that bills by itself, whatever it says and whatever goes wrong.

    python bench/money.py [--quick] [--json FILE]

The server bills for every request that reaches it, a token for each byte of the prompt and all of `max_tokens`, and
says something else, or fails. Then a run of 2,000 tasks at concurrency 256 is killed 12 times: what was asked twice is
what kills cost, and all of it must be in the account.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from rows import Row, arguments, report

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests")]

from billing import ANSWERS, LIMITS, PRICE, SAYS, BillingServer, played  # noqa: E402
from loopback import Behaviour, serving  # noqa: E402

from whet.ledger.store import Ledger  # noqa: E402

SUMS = HERE.parent / "examples" / "sums.py"


def scenarios(folder: Path) -> Iterator[tuple[float, bool]]:
    """The bill as a share of the limit, and whether all of it is in the account, scenario by scenario."""
    servers = [(says, {"says": SAYS[says]}) for says in SAYS]
    servers += [(answers, {"answers": ANSWERS[answers]}) for answers in ANSWERS]
    for name, options in servers:
        for limit, limits in LIMITS.items():
            run = folder / f"{name}-{limit}"
            with serving(server=BillingServer(**options)) as server:  # type: ignore[arg-type]
                played(run, server, limits)
            with Ledger.read(run) as ledger:
                spent = ledger.account().spent
            share = getattr(server.bill, limit) / getattr(limits, limit)
            yield share, spent.calls >= server.bill.calls and (spent.usd or 0.0) >= server.bill.usd - 1e-9


def killed(folder: Path, tasks: int, kills: int) -> tuple[BillingServer, int, float]:
    """The server after a run that was killed so often; the calls in its account, and how much more than billed."""
    server = BillingServer(behaviour=Behaviour(latency=0.1))
    with serving(server=server):
        words = [
            *(sys.executable, "-m", "whet", "eval", f"{SUMS}:Sums", "-m", "openai:any", "--base-url", server.base_url),
            *("-n", str(tasks), "--runs", str(folder), "--run", "r", "--concurrency", "256", "--max-tokens", "64"),
            *(
                "-a",
                f"select={tasks}",
                "--set",
                f"control.target.price=[{PRICE[0]}, {PRICE[1]}]",
                "--set",
                "eval.floor=false",
            ),
        ]
        for _ in range(kills):
            wanted = server.requests + tasks // kills + 128
            with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                while server.requests < wanted and process.poll() is None:
                    time.sleep(0.005)
                process.send_signal(signal.SIGKILL)
        subprocess.run(words, check=True, capture_output=True)
    with Ledger.read(folder / "r") as ledger:
        spent = ledger.account().spent
        assert ledger.counts()["rollouts"] == tasks
    return server, spent.calls, (spent.usd or 0.0) / server.bill.usd


def rows(quick: bool) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as place:
        found = list(scenarios(Path(place)))
        most = max(share for share, _ in found)
        condition = f"{len(found)} scenarios: {len(SAYS)} usages told, {len(ANSWERS)} kinds of trouble, 3 limits each"
        yield Row("largest_bill_by_limit", most, "x", 1.0, most <= 1.0, condition=condition)
        missing = sum(not accounted for _, accounted in found)
        yield Row("bills_not_in_the_account", missing, "scenarios", 0, missing == 0, condition=condition)
        tasks, kills = (600, 4) if quick else (2000, 12)
        server, counted, ratio = killed(Path(place) / "killed", tasks, kills)
        extra = server.bill.calls - tasks
        condition = f"{tasks} tasks, concurrency 256, {kills} SIGKILLs, {server.bill.calls} requests billed"
        yield Row("replies_asked_for_twice", extra, "replies", condition=condition)
        gone = max(0, server.bill.calls - counted)
        yield Row(
            "of_them_not_in_the_account", gone, "replies", 0, gone == 0, condition=f"{counted} calls in the account"
        )
        yield Row("account_by_bill_after_kills", ratio, "x", condition="dollars counted as spent by dollars billed")


if __name__ == "__main__":
    options = arguments(__doc__)
    report(rows(options.quick), options.json)
