"""Further interrupts, while the first is being heeded, print no page."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import asyncio, os, signal, threading
from whet.rollout.loop import finish

async def work():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(30)
    finally:
        try:
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
            await asyncio.sleep(30)  # the second comes while the loop waits
        finally:
            os.kill(os.getpid(), signal.SIGINT)  # the third while it cleans up

try:
    finish(work)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_three_interrupts_end_the_work_without_a_traceback() -> None:
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=False)
    assert ended.stdout == "interrupted\n"
    assert ended.stderr == ""
