"""The versions of configs: each file says in its `[config]` header which one it is, a registry beside knows them all.

    configs/demo.toml               [config] version = "v2", created, env_version, based_on, notes
    configs/registry.json           every version of every config, and which one its file holds
    configs/versions/demo@v1.toml   the text of a version as it was registered

A version is what a result depends on: all of a config but its header and `[control]`. A file in which any of that
differs from what was registered under its version is refused by `findings`, which CI runs.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import orjson
import tomlkit

from whet.config.load import CONTROL, HEADER, REGISTRY, changed_keys, read_toml, validate, with_shared_env
from whet.config.schema import ConfigHeader
from whet.errors import WhetError, nearest
from whet.files import write_atomically, write_json
from whet.keys import digest

VERSIONS = "versions"
VERSION = re.compile(r"v[1-9][0-9]{0,8}")

LEDGER = "ledger.sqlite"
"""A folder with one is a run's: its config is a copy."""

KEPT = ("created", "env_version", "based_on", "notes")
"""What the registry repeats of a header."""


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A config as it lies there."""

    name: str
    path: Path
    text: str
    data: Mapping[str, Any]

    @classmethod
    def read(cls, path: Path, name: str, beside: Path | None = None) -> ConfigFile:
        """The config at `path`; an [env] of another file is that of the one beside `beside`, where it is used."""
        data = with_shared_env(read_toml(path), beside or path)
        return cls(name, path, path.read_text(encoding="utf-8-sig"), data)

    @property
    def header(self) -> ConfigHeader:
        told = self.data.get(HEADER)
        if told is None:
            raise WhetError(f"{self.path}: has no [config] header; give it one: whet configs bump {self.name}")
        return validate(ConfigHeader, {"name": self.name, **dict(told)}, f"{self.path} [config]")

    @property
    def identity(self) -> str:
        """Stands for all that a result depends on."""
        return digest({key: value for key, value in self.data.items() if key not in (HEADER, CONTROL)})

    @property
    def shares_env(self) -> bool:
        """Whether its environment is another file's, which may change while this text does not."""
        return "from" in tomllib.loads(self.text)["env"]


@dataclass(frozen=True, slots=True)
class ConfigFolder:
    """The configs below a folder, with their registry."""

    folder: Path

    # ------------------------------------------------------------------------------------------- what is there

    def files(self) -> Iterator[ConfigFile]:
        """Every config of a run below the folder, by name; runs and registered versions are not."""
        found = []
        for where, folders, names in os.walk(self.folder):
            if LEDGER in names:
                folders.clear()
                continue
            folders[:] = sorted(name for name in folders if name != VERSIONS and not name.startswith("."))
            found += [Path(where) / name for name in names if name.endswith(".toml")]
        for path in sorted(found):
            data = read_toml(path)
            if "env" in data and "target" in data:
                yield ConfigFile.read(path, path.relative_to(self.folder).with_suffix("").as_posix())

    def file(self, name: str) -> ConfigFile:
        known = {config.name: config for config in self.files()}
        if name not in known:
            there = f" There are: {', '.join(known)}." if known else ""
            raise WhetError(f"{name}: no such config in {self.folder}.{nearest(name, known) or there}")
        return known[name]

    def registry(self) -> dict[str, Any]:
        path = self.folder / REGISTRY
        try:
            held = orjson.loads(path.read_bytes())
        except FileNotFoundError:
            return {"active": {}, "configs": {}}
        except ValueError as error:
            raise WhetError(f"{path}: not valid JSON ({error}); restore it from a copy") from None
        if not _is_registry(held):
            raise WhetError(f"{path}: is no registry of configs; restore it from a copy")
        return dict(held)

    def version(self, title: str) -> ConfigFile:
        """The config `NAME@v1` as it was registered; `NAME` alone is the file as it is."""
        name, at, version = title.partition("@")
        if not at:
            return self.file(name)
        known = self.registry()["configs"].get(name, {}).get("versions", {})
        if version not in known:
            there = f" There are: {', '.join(f'{name}@{there}' for there in known)}." if known else ""
            raise WhetError(f"{title}: no such version is registered in {self.folder / REGISTRY}.{there}")
        path = self._snapshot(name, version)
        if not path.is_file():
            raise WhetError(f"{path}: is gone; restore it from a copy")
        found = ConfigFile.read(path, name, self.folder / f"{name}.toml")
        if not found.shares_env and found.identity != known[version]["identity"]:
            raise WhetError(f"{path}: is not what was registered; restore it from a copy")
        return found

    def _snapshot(self, name: str, version: str) -> Path:
        return self.folder / VERSIONS / f"{name}@{version}.toml"

    # ------------------------------------------------------------------------------------------- what is wrong

    def findings(self) -> list[str]:
        """What is wrong with the configs and their registry, a line each."""
        registry = self.registry()
        wrong: list[str] = []
        there = set()
        for config in self.files():
            there.add(config.name)
            try:
                wrong += self._findings(config, registry)
            except WhetError as problem:
                wrong.append(str(problem))
        gone = sorted(registry["configs"].keys() - there)
        wrong += [f"{self.folder / REGISTRY}: knows {name}, whose file is gone" for name in gone]
        return [*dict.fromkeys([*wrong, *self._edited(registry)])]

    def _edited(self, registry: Mapping[str, Any]) -> Iterator[str]:
        """Versions, active or not, whose text is not what was registered."""
        for title in (
            f"{name}@{version}" for name, held in registry["configs"].items() for version in held["versions"]
        ):
            try:
                self.version(title)
            except WhetError as problem:
                yield str(problem)

    def _findings(self, config: ConfigFile, registry: Mapping[str, Any]) -> Iterator[str]:
        header, name = config.header, config.name
        known = registry["configs"].get(name, {}).get("versions", {})
        record = known.get(header.version)
        if record is None:
            yield f"{config.path}: {header.version} is not registered; register it: whet configs bump {name}"
            return
        active = registry["active"].get(name)
        if active != header.version:
            yield f"{config.path}: is {header.version}, and {REGISTRY} says {active}; mend it: whet configs bump {name}"
        told = header.model_dump(mode="json")
        apart = [key for key in KEPT if told[key] != record.get(key)]
        if apart:
            yield (
                f"{config.path}: config.{apart[0]} is {told[apart[0]]!r}, and {record.get(apart[0])!r} was registered "
                f"for {header.version}; put it back, or make another version: whet configs bump {name}"
            )
        yield from self._changes(config, header, record)
        if header.based_on and not self._is_known(header.based_on, registry):
            yield f"{config.path}: config.based_on names {header.based_on}, which is not registered"

    def _changes(self, config: ConfigFile, header: ConfigHeader, record: Mapping[str, Any]) -> Iterator[str]:
        snapshot = self.version(f"{config.name}@{header.version}")
        if config.identity != record["identity"]:
            changed = changed_keys(snapshot.data, config.data)
            more = f" (and {len(changed) - 1} more)" if len(changed) > 1 else ""
            what = changed[0] if changed else "the [env] that it takes from another file"
            yield (
                f"{config.path}: {what}{more} has changed since {header.version} was registered; a change needs "
                f"another version: whet configs bump {config.name} --notes 'what and why'"
            )

    def _is_known(self, title: str, registry: Mapping[str, Any]) -> bool:
        name, _, version = title.partition("@")
        return version in registry["configs"].get(name, {}).get("versions", {})

    # ------------------------------------------------------------------------------------------- what changes

    def bump(self, name: str, notes: str, env_version: str, today: date) -> ConfigHeader:
        """Register the file as it is: under the next version, or under the one that its header says where that is new.

        The text of the version is written first, then the file, the registry last: after a kill in between `findings`
        says what is missing, and the same command registers it.
        """
        config, registry = self.file(name), self.registry()
        versions = registry["configs"].get(name, {}).get("versions", {})
        header = config.header if HEADER in config.data else None
        if header is None or header.version in versions:
            if header is not None and config.identity == versions[header.version].get("identity"):
                raise WhetError(f"{name}@{header.version}: nothing that a result depends on has changed since")
            if not notes.strip():
                raise WhetError("say what changed and why: --notes '...'")
            last = max((int(version[1:]) for version in versions), default=0)
            header = ConfigHeader(
                version=f"v{last + 1}",
                created=today,
                env_version=env_version,
                based_on=f"{name}@{header.version}" if header is not None else "",
                notes=" ".join(notes.split()),
                name=name,
            )
            config = self._with_header(config, header)
        snapshot = self._snapshot(name, header.version)
        snapshot.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(snapshot, config.text.encode())
        write_atomically(config.path, config.text.encode())
        self._register(config, header, registry)
        return header

    def activate(self, title: str) -> ConfigHeader:
        """Put the text of a registered version back into the file; refused where the file holds one that is not."""
        wanted = self.version(title)
        name = title.partition("@")[0]
        config, registry = self.file(name), self.registry()
        held, known = config.header, registry["configs"][name]["versions"]
        if held.version not in known:
            raise WhetError(f"{config.path}: {held.version} is not registered; register it: whet configs bump {name}")
        unsaved = list(self._changes(config, held, known[held.version]))
        if unsaved:
            raise WhetError(f"{config.path}: holds changes that are in no version; {unsaved[0].partition('; ')[2]}")
        header = wanted.header
        write_atomically(config.path, wanted.text.encode())
        self._register(wanted, header, registry)
        return header

    def _register(self, config: ConfigFile, header: ConfigHeader, registry: dict[str, Any]) -> None:
        told = header.model_dump(mode="json")
        entry = registry["configs"].setdefault(config.name, {"versions": {}})
        entry["environment"] = config.data["env"].get("name")
        entry["model"] = config.data["target"].get("model")
        kept = {key: told[key] for key in KEPT}
        entry["versions"].setdefault(header.version, {**kept, "identity": config.identity})
        registry["active"][config.name] = header.version
        write_json(self.folder / REGISTRY, registry)

    def _with_header(self, config: ConfigFile, header: ConfigHeader) -> ConfigFile:
        """The file with another header; everything else of its text stays as it is."""
        told = header.model_dump(mode="json", include={"version", *KEPT})
        parsed = tomlkit.parse(config.text)
        if HEADER in parsed:
            for key in ("version", *KEPT):
                parsed[HEADER][key] = told[key]
            text = tomlkit.dumps(parsed)
        else:
            said = {key: told[key] for key in ("version", *KEPT) if told[key]}
            text = _before_first_table(config.text, tomlkit.dumps({HEADER: said}))
        if _rest(tomllib.loads(text)) != _rest(tomllib.loads(config.text)):
            raise WhetError(f"{config.path}: its header cannot be written for it; add [config] version = 'v1' by hand")
        return ConfigFile(config.name, config.path, text, {**config.data, HEADER: told})


def _is_registry(held: object) -> bool:
    """Whether a file that anybody may edit has the form that everything here goes by."""
    if not isinstance(held, dict) or not all(isinstance(held.get(key), dict) for key in ("active", "configs")):
        return False
    versions = [config.get("versions") if isinstance(config, dict) else None for config in held["configs"].values()]
    return all(
        VERSION.fullmatch(version) and isinstance(record, dict) and record.keys() >= {*KEPT, "identity"}
        for known in versions
        for version, record in (known.items() if isinstance(known, dict) else [("", None)])
    )


def _before_first_table(text: str, header: str) -> str:
    """Keys of the whole document come before any table, so a header stands before the first."""
    found = re.search(r"^[ \t]*\[", text, re.MULTILINE)
    at = found.start() if found else len(text)
    return f"{text[:at]}{header}\n{text[at:]}"


def _rest(data: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key != HEADER}
