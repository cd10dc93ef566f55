"""The other side of a killable work: a process of its own that calls functions until it is killed or told to end.

Started by `whet.rollout.workers`. Whatever the function does (hang, exit, crash) it does to this process alone.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import math
import os
import pickle
import signal
import socket
import struct
import sys
from pathlib import Path
from typing import Any

from whet.source import module_from
from whet.types import WorkResult

HEADER = struct.Struct("!Q")

_OVERTIME = 5
"""Seconds beyond its time after which a call ends this process, should nobody be left to kill it."""


def main(settings: str) -> None:
    """Serves the socket whose number is in `settings`, with the module path of whoever started it."""
    told = json.loads(settings)
    answer_of = _whole_answer if told["whole"] else _answer
    sys.path[:] = told["path"]
    channel = socket.socket(fileno=int(told["channel"]))
    born = os.getpid()
    # The default answer ends the process in the middle of anything, also of a search that lets no Python code run.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    with contextlib.suppress(ConnectionError), channel.makefile("rb") as source:
        while header := source.read(HEADER.size):
            function, arguments, seconds = pickle.loads(source.read(HEADER.unpack(header)[0]))
            signal.alarm(math.ceil(seconds) + _OVERTIME)
            answer = answer_of(function, arguments)
            if os.getpid() != born:  # a copy that the function made of us: only one of us may answer
                os._exit(0)
            signal.alarm(0)
            channel.sendall(HEADER.pack(len(answer)) + answer)


def _answer(function: str, arguments: dict[str, Any]) -> bytes:
    """What the function returned, or what it raised, as JSON: whoever reads it trusts nothing from here."""
    where, _, name = function.rpartition(":")
    try:
        module = module_from(Path(where)) if where.endswith(".py") else importlib.import_module(where)
        value = getattr(module, name)(**arguments)
        return json.dumps({"value": value}).encode()
    except (SystemExit, KeyboardInterrupt, GeneratorExit) as end:
        return _told("ended", end)
    except BaseException as error:  # noqa: BLE001 - the function's own, whatever it is: its answer
        return _told("raised", error)


def _whole_answer(function: str, arguments: dict[str, Any]) -> bytes:
    """What a function of our own returned or raised, as it is."""
    from whet.rollout.works import call_function

    result = call_function(function, arguments)
    try:
        return pickle.dumps(result)
    except Exception as error:  # noqa: BLE001 - whatever a value raises that cannot be handed over
        return pickle.dumps(WorkResult(error="lost", detail=f"{type(error).__name__}: {error}"))


def _told(error: str, raised: BaseException) -> bytes:
    try:
        said = f"{type(raised).__name__}: {raised}"
    except Exception:  # noqa: BLE001 - an exception that cannot be printed
        said = type(raised).__name__
    return json.dumps({"error": error, "detail": said[:2000]}).encode()
