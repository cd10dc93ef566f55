"""A fleet whose stations are Ray actors, on this machine or on a cluster. The only file that imports Ray."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from whet.config.schema import RaySection
from whet.errors import WhetError
from whet.extras import install
from whet.rollout.claim import RunStart
from whet.rollout.fleet.fleet import Fleet, FleetSize
from whet.rollout.fleet.messages import Lack, LinkLost, StationAssignment, StationKit, packed, unpacked

KNOCK = 5.0
"""Seconds that a cluster has to take a connection."""

STARTS = 3
"""Times that Ray is started on this machine: it gives up after 30 s, which is too soon where others are at work."""

CALLS = 64
"""Calls of the driver that an actor has open at once: one is the long poll, the others are posts."""


def open_fleet(start: RunStart) -> Fleet:
    """The fleet of a run. The cluster is only knocked at; Ray starts with the first plan."""
    section = start.config.control.ray
    try:
        import ray
    except ImportError:
        raise WhetError(f"control.engine = 'ray' needs its package: {install('ray')}") from None
    del ray
    _knock(section.address)
    control = start.config.control
    cluster = RayCluster(section, _kit(start))
    given = {"target": control.target.width, "judge": control.judge.width}
    widths = {role: width for role, width in given.items() if width is not None}
    workers = section.workers or cluster.places()
    size = FleetSize(workers, section.silence, section.start)
    return Fleet(cluster.hire, size, start.env, widths, cluster.close)


def _kit(start: RunStart) -> StationKit:
    beat = max(0.05, min(start.config.control.ray.silence / 4, 15.0))
    folder = str(start.folder.absolute())
    return StationKit(version("whet"), start.config, folder, str(Path.cwd()), tuple(sys.path), beat)


def _knock(address: str | None) -> None:
    """Ray tries for minutes to reach what is not there; one knock says it at once."""
    if address is None or address == "auto":
        return
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or "/" in host:
        raise WhetError(f"control.ray.address = {address!r}: is no address; give HOST:PORT, or 'auto'")
    try:
        with socket.create_connection((host, int(port)), KNOCK) as door:
            if os.environ.get("RAY_USE_TLS", "0") == "0" and not _speaks_grpc(door):
                raise OSError("something else listens")
    except (OSError, OverflowError) as error:
        told = getattr(error, "strerror", None) or error
        raise WhetError(
            f"control.ray.address = {address!r}: no cluster can be reached there ({told}); start one with: "
            f"ray start --head --port {port}"
        ) from None


def _speaks_grpc(door: socket.socket) -> bool:
    """Whether whoever is there answers as a cluster would: with the settings of HTTP/2."""
    door.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0")
    return door.recv(9)[3:4] == b"\4"


class RayCluster:
    """Ray as this process uses it. Runs that go on side by side share it; the last one lets go."""

    _users = 0
    _own = False
    _lock = threading.Lock()

    def __init__(self, section: RaySection, kit: StationKit) -> None:
        self._section = section
        self._kit = packed(kit)
        self._open = False

    def places(self) -> int:
        """How many actors there is room for."""
        section = self._section
        if section.address is None and not section.gpus:
            return max(1, int((os.cpu_count() or 1) / (section.cpus or 1.0)))
        self.open()
        import ray

        found = ray.cluster_resources()
        wanted = {"CPU": section.cpus, "GPU": section.gpus}
        rooms = [found.get(name, 0.0) / each for name, each in wanted.items() if each]
        if min(rooms, default=1.0) < 1:
            told = ", ".join(f"{found.get(name, 0.0):g} {name}" for name in wanted)
            self.close()
            raise WhetError(
                f"control.ray: an actor wants {section.cpus:g} CPU and {section.gpus:g} GPU, and there are {told}"
            )
        return max(1, int(min(rooms, default=1.0)))

    def open(self) -> None:
        """Start Ray here, or join the cluster."""
        with self._lock:
            if self._open:
                return
            import ray

            if not ray.is_initialized():
                self._begin()
                RayCluster._own = True
            RayCluster._users += 1
            self._open = True

    def _begin(self) -> None:
        import ray

        section = self._section
        options: dict[str, Any] = {"address": section.address}
        if section.address is None:
            room = math.ceil((section.workers or 1) * section.cpus)
            options = {"address": "local", "num_cpus": max(room, os.cpu_count() or 1), "include_dashboard": False}
        asked_to_end = signal.getsignal(signal.SIGTERM)
        for start in range(1, STARTS + 1):
            try:
                ray.init(log_to_driver=False, logging_level=logging.ERROR, **options)
                break
            except Exception as error:  # noqa: BLE001 - Ray raises a bare one where it was too slow to start
                ray.shutdown()
                if section.address is None and start < STARTS:
                    continue
                where = f"control.ray.address = {section.address!r}" if section.address else "control.engine = 'ray'"
                told = (str(error).splitlines() or [type(error).__name__])[0][:300]
                raise WhetError(f"{where}: Ray cannot be started or joined ({told})") from None
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, asked_to_end)  # Ray puts its own in place, which knows nothing of a ledger
        _hush()

    async def hire(self) -> RayLink:
        self.open()
        return RayLink(self._section, self._kit)

    def close(self) -> None:
        with self._lock:
            if not self._open:
                return
            self._open = False
            RayCluster._users -= 1
            if RayCluster._users == 0 and RayCluster._own:
                import ray

                RayCluster._own = False
                ray.shutdown()


class RayLink:
    """The way to an actor. What travels is bytes, which Ray hands on as they are."""

    def __init__(self, section: RaySection, kit: bytes) -> None:
        import ray

        self._ray = ray
        made = ray.remote(RayStation).options(
            num_cpus=section.cpus,
            num_gpus=section.gpus,
            max_concurrency=CALLS,
            max_restarts=0,
            max_task_retries=0,
            scheduling_strategy="SPREAD",
        )
        self._actor: Any = made.remote(kit)
        self._unsent: list[Any] = []
        self._listening = False

    async def assign(self, assignment: StationAssignment) -> Sequence[Lack]:
        lacks: Sequence[Lack] = await self._heard(self._actor.assign.remote(packed(assignment)))
        return lacks

    def post(self, messages: Sequence[Any]) -> None:
        """A call costs more than what it carries: what is posted goes with the next `collect`, unless one is open."""
        self._unsent += messages
        if self._listening:
            self._actor.post.remote(self._taken())

    async def collect(self) -> Sequence[Any]:
        self._listening = True
        try:
            said: Sequence[Any] = await self._heard(self._actor.collect.remote(self._taken()))
        finally:
            self._listening = False
        return said

    def _taken(self) -> bytes:
        unsent, self._unsent = self._unsent, []
        return packed(unsent) if unsent else b""

    def kill(self) -> None:
        self._ray.kill(self._actor, no_restart=True)

    async def _heard(self, ref: Any) -> Any:
        try:
            return unpacked(await ref)
        except asyncio.CancelledError:
            raise
        except self._ray.exceptions.RayError as error:
            raise LinkLost(_first_line(error)) from None


class RayStation:
    """A station in an actor: bytes in, bytes out."""

    def __init__(self, kit: bytes) -> None:
        self._kit: StationKit = unpacked(kit)
        self._station: Any = None

    async def assign(self, assignment: bytes) -> bytes:
        if self._station is None:
            from whet.rollout.fleet.station import FleetStation

            self._station = FleetStation(self._kit)
        return packed(await self._station.assign(unpacked(assignment)))

    async def post(self, messages: bytes) -> None:
        await self._station.post(unpacked(messages))

    async def collect(self, messages: bytes) -> bytes:
        if messages:
            await self.post(messages)
        return packed(await self._station.collect())


def _hush() -> None:
    """Ray prints a page on the standard output for every actor that dies; what matters of it is in the ledger."""
    from ray._private import worker

    if hasattr(worker, "print_to_stdstream"):
        worker.print_to_stdstream = lambda *_, **__: None


def _first_line(error: BaseException) -> str:
    """What is wrong, of the page that Ray writes about it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if "Error" in lines[-1] else lines[0])[:300] if lines else type(error).__name__
