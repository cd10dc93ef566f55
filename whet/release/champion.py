"""Champions: the policies that were promoted, by name and version, each with the evidence that justified it.

    releases/
        trail.sqlite            every promotion and rollback: what is current is a fold over it
        NAME/v1/champion.json   a version, never changed once it is there; its digest stands in the trail
        NAME/v1/adapter/        its trained weights, where it has any

A version's folder is made beside and renamed, and counts from the moment that the trail names it. A kill before that
leaves a folder that nobody names, which the next promotion takes away: there is nothing half promoted.
"""

from __future__ import annotations

import fcntl
import getpass
import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from whet import wire
from whet.errors import WhetError, nearest
from whet.files import own_folder, write_json
from whet.keys import digest, policy_digest
from whet.release.trail import Trail
from whet.types import Playbook, Policy, Sampling

RELEASES = Path("releases")
"""Beside the runs."""

FILE, ADAPTER = "champion.json", "adapter"

PROMOTED, ROLLED_BACK = "promote", "rollback"
"""Kinds of entries in the trail that say which version is current."""

NAME = re.compile(r"(?=.{1,64}\Z)[a-z0-9]+(?:-[a-z0-9]+)*")
"""A champion's name is a skill's too, in every agent's folder: small letters, digits and single hyphens."""


@dataclass(frozen=True, slots=True)
class Champion:
    """A policy that was promoted, and why. `target` and `endpoint` are the config's words on how its model is reached.

    `policy.model` is the fingerprint of the weights that were tested; what answers for the champion must have it.
    """

    name: str
    policy: Policy
    target: Mapping[str, Any]
    endpoint: Mapping[str, Any]
    environment: str
    fingerprint: str
    run: str
    decision: Mapping[str, Any]
    """The decision of the gate that accepted it, as the ledger of its run has it, without the draws."""
    claim: Mapping[str, Any]
    """What the sealed test showed: figures, intervals, which opening it was."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Of the environment."""
    about: str = ""
    """What the environment asks, in a line."""
    identity: str = ""
    """Of the run."""
    head: str = ""
    """The head of the run's ledger when it was promoted: the ledger can be proved against it later."""
    lineage: Mapping[str, Any] = field(default_factory=dict)
    """The header of the config that the run was made from, where it has one."""
    notes: tuple[str, ...] = ()
    """What its evidence must be read with."""
    override: str = ""
    """The reason of whoever promoted it against what stood in the way; '' where nothing did."""
    adapter: bool = False
    """Whether trained weights lie beside it."""
    weights: Mapping[str, str] = field(default_factory=dict)
    """The checksums of their files by name, so that its digest stands for them too."""
    version: int = 0

    @property
    def title(self) -> str:
        return f"{self.name}@v{self.version}"

    @property
    def playbook(self) -> Playbook:
        return self.policy.playbook

    @property
    def digest(self) -> str:
        """Stands for all of it; in the trail, so that a version which was changed since is found out."""
        return digest(self.as_data())

    @property
    def content(self) -> str:
        """What answers: the same for two versions that would answer the same."""
        return policy_digest(self.policy)

    def address(self, place: Path) -> str:
        """Where its model is, for a version that lies in `place`."""
        base = str(self.target["model"])
        return f"{base}+{(place / ADAPTER).absolute()}" if self.adapter else base

    def as_data(self) -> dict[str, Any]:
        sampling = {name: getattr(self.policy.sampling, name) for name in Sampling.__dataclass_fields__}
        policy = {
            "model": self.policy.model,
            "sampling": sampling,
            "playbook": wire.playbook_out(self.policy.playbook),
        }
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "policy"}
        return {**plain, "policy": policy}


def champion_in(data: Mapping[str, Any]) -> Champion:
    """A champion from its JSON form."""
    held = dict(data["policy"])
    sampling = {**held["sampling"], "stop": tuple(held["sampling"]["stop"])}
    policy = Policy(str(held["model"]), Sampling(**sampling), wire.playbook_in(held["playbook"]))
    rest = {name: value for name, value in data.items() if name not in ("policy", "notes")}
    return Champion(policy=policy, notes=tuple(data["notes"]), **rest)


@dataclass(frozen=True, slots=True)
class ReleaseEvent:
    """A promotion or a rollback, as the trail has it."""

    at: float
    kind: str
    name: str
    version: int
    before: int | None
    """The version that was current until then."""
    digest: str
    by: str = ""
    why: str = ""
    """The reason of an override or of a rollback."""
    passed_over: Sequence[str] = ()
    """What an override passed over."""


@dataclass(frozen=True, slots=True)
class Champions:
    """The champions of a releases folder. Reading takes no lock; who changes anything holds the folder's."""

    folder: Path = RELEASES

    def events(self, name: str = "") -> list[ReleaseEvent]:
        """Promotions and rollbacks in their order, of one champion or of all."""
        trail, subject = Trail.of(self.folder), name or None
        found = [entry for kind in (PROMOTED, ROLLED_BACK) for entry in trail.entries(kind, subject)]
        found.sort(key=lambda entry: entry.seq)
        return [ReleaseEvent(entry.at, entry.kind, entry.subject, **entry.record) for entry in found]

    def names(self) -> list[str]:
        return sorted({event.name for event in self.events()})

    def versions(self, name: str) -> list[int]:
        """Every version that was ever promoted, in order."""
        return sorted(event.version for event in self._known(name) if event.kind == PROMOTED)

    def current(self, name: str) -> int:
        """The version that is the champion now."""
        return self._known(name)[-1].version

    def get(self, name: str, version: int | None = None) -> Champion:
        """A version of a champion, proved to be what was promoted; the current one where none is named."""
        events = self._known(name)
        wanted = events[-1].version if version is None else version
        held = next((event for event in events if event.kind == PROMOTED and event.version == wanted), None)
        if held is None:
            known = ", ".join(f"v{event.version}" for event in events if event.kind == PROMOTED)
            raise WhetError(f"{name}@v{wanted}: there is no such version in {self.folder}; there are: {known}")
        return self._read(held)

    def place(self, champion: Champion) -> Path:
        """The folder of a version."""
        return self.folder / champion.name / f"v{champion.version}"

    def promote(self, draft: Champion, adapter: Path | None = None, passed_over: tuple[str, ...] = ()) -> Champion:
        """Make `draft` the current version of its name; it gets its number here. `adapter` is copied beside it.

        `passed_over` are the objections that its override passes over: they stand in the trail with the reason.
        """
        check_name(draft.name)
        with self._held():
            events = self.events(draft.name)
            if events and self._content(_promotion(events, events[-1].version)) == draft.content:
                raise WhetError(f"{draft.name}@v{events[-1].version} is this policy already; nothing was changed")
            version = 1 + max((event.version for event in events), default=0)
            sums = weight_sums(adapter) if adapter is not None else {}
            champion = replace(draft, version=version, adapter=adapter is not None, weights=sums)
            place = self.place(champion)
            self._write(champion, place, adapter)
            before = events[-1].version if events else None
            self._append(PROMOTED, champion, before, champion.override, passed_over)
        return champion

    def rollback(self, name: str, to: int | None = None, why: str = "") -> Champion:
        """Make an earlier version current again: the one that the current was promoted over, unless `to` names one."""
        with self._held():
            events = self._known(name)
            now = events[-1].version
            target = _promotion(events, now).before if to is None else to
            if target is None:
                raise WhetError(f"{name}@v{now}: nothing came before it; there is no version to go back to")
            if target == now:
                raise WhetError(f"{name}@v{now} is the champion already; nothing was changed")
            champion = self.get(name, target)
            self._append(ROLLED_BACK, champion, now, why)
        return champion

    # ------------------------------------------------------------------------------------------- within

    def _known(self, name: str) -> list[ReleaseEvent]:
        found = self.events(name)
        if not found:
            known = self.names()
            there = f" There are: {', '.join(known)}." if known else " There is none yet: whet release promote RUN."
            raise WhetError(f"{name}: no such champion in {self.folder}.{nearest(name, known) or there}")
        return found

    def findings(self) -> Iterator[str]:
        """What is wrong with the versions that were promoted, a line each."""
        for event in self.events():
            if event.kind == PROMOTED:
                try:
                    self.check_weights(self._read(event))
                except WhetError as problem:
                    yield str(problem)

    def check_weights(self, champion: Champion) -> None:
        """Refuses weights beside a version that are not those it was promoted with."""
        place = self.place(champion) / ADAPTER
        if champion.adapter and weight_sums(place) != champion.weights:
            raise WhetError(f"{place}: its weights are not what was promoted; restore them from a copy")

    def _content(self, event: ReleaseEvent) -> str:
        """What answers for a version; '' where it cannot be read: another may take its place all the same."""
        try:
            return self._read(event).content
        except WhetError:
            return ""

    def _read(self, event: ReleaseEvent) -> Champion:
        file = self.folder / event.name / f"v{event.version}" / FILE
        try:
            champion = champion_in(orjson.loads(file.read_bytes()))
        except FileNotFoundError:
            raise WhetError(f"{file}: is gone; restore it from a copy, or promote its run again") from None
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise WhetError(f"{file}: cannot be read ({error}); restore it from a copy") from None
        if champion.digest != event.digest:
            raise WhetError(f"{file}: is not what was promoted (its digest differs); restore it from a copy")
        return champion

    def _write(self, champion: Champion, place: Path, adapter: Path | None) -> None:
        """The folder of a version: made beside and renamed. What a kill left there is no version, and goes."""
        own_folder(place.parent)
        for leftover in place.parent.glob(".*.part"):
            shutil.rmtree(leftover, ignore_errors=True)
        if place.exists():
            shutil.rmtree(place)
        beside = place.with_name(f".{place.name}.{os.getpid()}.part")
        own_folder(beside)
        try:
            write_json(beside / FILE, champion.as_data())
            if adapter is not None:
                shutil.copytree(adapter, beside / ADAPTER)
            beside.rename(place)
        except BaseException:
            shutil.rmtree(beside, ignore_errors=True)
            raise

    def _append(
        self, kind: str, champion: Champion, before: int | None, why: str, passed_over: tuple[str, ...] = ()
    ) -> None:
        record = {
            "version": champion.version,
            "before": before,
            "digest": champion.digest,
            "by": user(),
            "why": why,
            "passed_over": list(passed_over),
        }
        with Trail.of(self.folder) as trail:
            trail.append(kind, record, subject=champion.name)

    @contextmanager
    def _held(self) -> Iterator[None]:
        """The folder's lock: two promotions at once come one after the other."""
        try:
            own_folder(self.folder)
            lock = os.open(self.folder / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as problem:
            raise WhetError(
                f"{self.folder}: cannot be written ({problem.strerror}); name another place with --releases"
            ) from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)


def weight_sums(adapter: Path) -> dict[str, str]:
    """The checksums of the files of weights by name."""
    found = {}
    for file in sorted(file for file in adapter.rglob("*") if file.is_file()):
        with file.open("rb") as read:
            found[file.relative_to(adapter).as_posix()] = hashlib.file_digest(read, "sha256").hexdigest()
    return found


def _promotion(events: list[ReleaseEvent], version: int) -> ReleaseEvent:
    return next(event for event in events if event.kind == PROMOTED and event.version == version)


def check_name(name: str) -> str:
    """Refuses a name that could not be a folder and a skill everywhere."""
    if not NAME.fullmatch(name):
        raise WhetError(
            f"{name!r} cannot be a champion's name: small letters, digits and single hyphens, 64 at most, such as "
            "orders-eu"
        )
    return name


def parse_title(text: str) -> tuple[str, int | None]:
    """`NAME` or `NAME@v2` as the name and the version."""
    name, at, version = text.partition("@")
    number = version.removeprefix("v")
    if at and not (number.isascii() and number.isdecimal() and len(number) < 10):
        raise WhetError(f"{text}: a version is written NAME@v2")
    return name, int(number) if at else None


def user() -> str:
    """Who is at work, for the record."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""
