"""`whet serve-model`: a model's own server, started, waited for, warmed, and stopped with all that it started."""

from __future__ import annotations

import shlex
import signal
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType

from whet.apps.serving.order import BACKENDS, Adapter, ServeOrder, seconds
from whet.apps.serving.server import ModelServer
from whet.config.playbooks import read_playbook
from whet.errors import WhetError, nearest
from whet.rollout.placement import place
from whet.terminal import print_lines
from whet.types import user


def serve_model_command(
    order: ServeOrder, adapters: Sequence[str], prefix: str, *, wait: float, log: Path | None, dry_run: bool
) -> None:
    if order.backend not in BACKENDS:
        hint = nearest(order.backend, BACKENDS) or f" There are: {', '.join(BACKENDS)}."
        raise WhetError(f"--backend {order.backend}: no such server.{hint}")
    messages = _opening(prefix) if prefix else []
    named = tuple(map(Adapter.parse, adapters))
    order = replace(order, adapters=named)
    print_lines(shlex.join(order.command()))
    if dry_run:
        return
    place_of_log = log or _log_file(order.backend)
    _end_on_request()
    server = ModelServer(order, place_of_log)
    try:
        with server:
            print_lines(f"log: {place_of_log}")
            took = server.wait(wait)
            served = server.served()
            print_lines(f"ready after {seconds(took)} at {order.url}/v1: {', '.join(served)}")
            if messages:
                print_lines(*map(str, server.warm(messages)))
            name = next((name for name in reversed(order.names) if name in served), served[0] if served else "MODEL")
            use = f"whet eval ENV -m openai:{name} --base-url {order.url}/v1"
            print_lines(f"use it: {use}", "Ctrl-C stops it")
            server.watch()
    except KeyboardInterrupt:
        print_lines("stopped")
    except WhetError:
        print_lines(*server.tail())
        raise


def _opening(source: str) -> list[Mapping[str, str]]:
    """What every conversation with a playbook begins with, as it is placed, and a word of a user."""
    placed = place(read_playbook(source), (user("Hello."),))
    return [{"role": message.author, "content": message.text} for message in placed]


def _log_file(backend: str) -> Path:
    with tempfile.NamedTemporaryFile(prefix=f"whet-{backend}-", suffix=".log", delete=False) as file:
        return Path(file.name)


def _end_on_request() -> None:
    """A polite kill and a terminal that goes away end it as Ctrl-C does."""

    def end(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
