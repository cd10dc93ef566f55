"""What a run was made from, kept with it: the files that its config names, by content.

A run's config names places: a file of code, a table of examples, a folder. From another folder, on another machine, or
after an edit, those names lead elsewhere or nowhere. So a run keeps a copy of what they named when it began, in
`sources/`, and `sources.json` says which copy stands for which name. Continued or rebuilt, it is made from the copies.
What is large (more than `MOST` in all) and the weights of models are not copied but named: where they were, as seen
from the run's folder and from the root, and what they held.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from whet.config.schema import PolicyConfig
from whet.envs.base import Environment
from whet.envs.closure import closure, is_installed, part_of
from whet.envs.fingerprint import file_digest
from whet.envs.registry import Address, family, load_environment
from whet.errors import WhetError
from whet.files import write_atomically, write_json
from whet.ledger.store import FILE, SOURCES

INDEX = "sources.json"

MOST = 32 * 1024 * 1024
"""Bytes that a run copies in all."""

MOST_READ = 1 << 30
"""Of a place with more bytes than this no digests are taken: the fingerprint says whether it is the same."""

_WHET = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Source:
    """One place that a config names."""

    named: str
    """As the config has it."""
    origin: str
    """Where that was."""
    beside: str
    """The same, as seen from the run's folder: it holds where a project was moved as a whole."""
    kept: str
    """The copy, inside the run's folder; '' where there is none."""
    depth: int
    """How many folders above it the names of `files` begin; 0 for a folder, 1 for a file on its own."""
    files: Mapping[str, str]
    """What it held: a digest for each file, by its name."""

    def differs(self, place: Path) -> Path | None:
        """The first file at a place that is not what it was; None where all are."""
        root = place.absolute()
        for _ in range(self.depth):
            root = root.parent
        return next((root / name for name, told in self.files.items() if not _is_same(root / name, told)), None)


@dataclass(frozen=True, slots=True)
class Sources:
    """What stands for the places that a run's config names."""

    run: Path
    places: tuple[Source, ...]

    @classmethod
    def of(cls, run: Path) -> Sources | None:
        """Those of the run in a folder; None where it keeps none."""
        try:
            held = orjson.loads((run / INDEX).read_bytes())
            return cls(run, tuple(Source(**source) for source in held["places"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise WhetError(f"{run / INDEX}: cannot be read ({error}); restore it from a copy of the run") from None

    def environment(self, address: str, args: Mapping[str, Any]) -> Environment:
        """The environment that the run began with."""
        found = Address.parse(address)
        places = _argument_names(found)
        placed = {
            name: self.value(value) if places is None or name in places else value for name, value in args.items()
        }
        if found.path:
            return load_environment(f"{self.text(found.path)}:{found.name}", placed)
        if found.source:
            address = address.removesuffix(found.source) + self.text(found.source)
        return load_environment(address, placed)

    def model(self, address: str) -> str:
        """The address of a model whose files are where they are now."""
        scheme, colon, rest = address.partition(":")
        return scheme + colon + "".join(self.text(part) for part in _parts(rest))

    def value(self, value: Any) -> Any:
        """An argument of the environment, with what it names where that is now."""
        if isinstance(value, str):
            source = next((source for source in self.places if _begins_with(value, source.named)), None)
            return value if source is None else self.text(source.named) + value[len(source.named) :]
        return [self.value(part) for part in value] if isinstance(value, list) else value

    def text(self, named: str) -> str:
        """Where a named place is now; any other text as it is."""
        source = next((source for source in self.places if source.named == named), None)
        return named if source is None else str(self._located(source))

    def changed(self) -> list[str]:
        """What lies where it was and is no longer what it was, for a person."""
        found = []
        for source in self.places:
            place = next((place for place in _elsewhere(self.run, source) if place.exists()), None)
            file = source.differs(place) if place is not None else None
            if file is not None:
                found.append(os.path.relpath(file))
        return found

    def _located(self, source: Source) -> Path:
        if source.kept:
            copy = self.run / source.kept
            spoilt = source.differs(copy)
            if spoilt is not None:
                raise WhetError(
                    f"{os.path.relpath(spoilt)}: this copy of {source.named} is not what the run kept; restore it"
                )
            return copy
        seen = [Path(source.named), *_elsewhere(self.run, source)]
        found = next((place for place in seen if place.exists() and not source.differs(place)), None)
        if found is None:
            told = "has changed" if any(place.exists() for place in seen) else "is not to be found"
            raise WhetError(
                f"{self.run}: {source.named} {told} and was too large to be kept with the run; put what it was back at "
                f"{self.run / source.beside} or {source.origin}"
            )
        return found


def keep(run: Path, config: PolicyConfig, env: Environment, parent: Path | None = None) -> None:
    """Keep what the config names with the run. What is not there any more comes from the run `parent`."""
    earlier = Sources.of(parent) if parent is not None else None
    room = MOST
    places: list[Source] = []
    for named in dict.fromkeys(_named(config, earlier)):
        place = Path(named if earlier is None else earlier.text(named)).absolute()
        root, path, files = _content(named, place, config, env)
        size = sum(file.stat().st_size for file in files)
        told = files if size <= MOST_READ else []
        digests = {file.relative_to(root).as_posix(): file_digest(file) for file in told}
        copy, within = Path(SOURCES) / str(len(places)), path.relative_to(root)
        kept = (copy / within).as_posix() if files and size <= room else ""
        if kept:
            room -= size
            for file in files:
                target = run / copy / file.relative_to(root)
                target.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(target, file.read_bytes())
        beside = os.path.relpath(place, run.absolute())
        places.append(Source(named, str(place), beside, kept, len(within.parts), digests))
    if places:
        write_json(run / INDEX, {"places": [_record(source) for source in places]})


def _record(source: Source) -> dict[str, Any]:
    return {name: getattr(source, name) for name in Source.__slots__}


# --------------------------------------------------------------------------------------------- what is named


def _named(config: PolicyConfig, earlier: Sources | None) -> Iterator[str]:
    """Every place that a config names, as it names it; the playbook has a copy of its own."""
    if earlier is not None:
        yield from (source.named for source in earlier.places)
    address = _address(config)
    places = _argument_names(address)
    texts = [address.path, address.source]
    for name, value in config.env.args.items():
        if places is None or name in places:
            texts += [_place_in(text)[0] for text in _texts(value)]
    for role in ("target", "judge", "optimizer"):
        section = getattr(config, role, None)
        texts += _parts(section.model.partition(":")[2]) if section is not None else []
    yield from (text for text in texts if text in (address.path, address.source) or _is_place(text) if _exists(text))


def _address(config: PolicyConfig) -> Address:
    """Where the environment is; a name that is no address is an object's that somebody handed over."""
    try:
        return Address.parse(config.env.name)
    except WhetError:
        return Address(config.env.name)


def _texts(value: Any) -> list[str]:
    return [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)]


def _argument_names(address: Address) -> Iterable[str] | None:
    """The arguments of a family that name places, where it says so; None: any that does."""
    try:
        return None if address.path else getattr(family(address.name), "places", None)
    except WhetError:
        return None


def _parts(text: str) -> list[str]:
    """The rest of a model's address in its parts, separators included: `FILE.py:function`, `BASE+ADAPTER`."""
    return re.split(r"([:+])", text)


def _place_in(text: str) -> tuple[str, str]:
    """The place that a text names, and what follows it: ('checks.py', ':grade'); ('', TEXT) where it names none."""
    if _is_place(text):
        return text, ""
    file, colon, name = text.rpartition(":")
    return (file, colon + name) if colon and file.endswith(".py") else ("", text)


def _begins_with(text: str, named: str) -> bool:
    """Whether a text names this place, alone or with a name in it: `checks.py`, `checks.py:grade`."""
    return text == named or (named.endswith(".py") and text.startswith(f"{named}:"))


def _is_place(text: str) -> bool:
    """A text with a full stop or a slash in it that leads to something."""
    return bool({".", os.sep} & set(text)) and Path(text).name not in ("", "..") and _exists(text)


def _exists(text: str) -> bool:
    try:
        return bool(text) and Path(text).exists()
    except (OSError, ValueError):
        return False


# --------------------------------------------------------------------------------------------- what is in it


def _content(named: str, place: Path, config: PolicyConfig, env: Environment) -> tuple[Path, Path, list[Path]]:
    """The folder that a copy begins at, the place as seen from it, and its files; none where it is a model's."""
    if place.suffix == ".py":
        part, path = part_of(place), place.resolve()
        found = {file.resolve() for file in closure(part).paths.values()}
        own = {file for file in found if file.is_relative_to(part.folder) and not _is_foreign(file)}
        return part.folder, path, sorted({*own, path})
    source, root = _address(config).source, place if place.is_dir() else place.parent
    args = [text for value in config.env.args.values() for text in _texts(value)]
    if named != source and not any(_begins_with(text, named) for text in args):
        return root, place, []
    told = getattr(env, "files", None)
    if named == source and callable(told):
        files = {file.absolute() for file in told()}
        return root, place, sorted(file for file in files if file.is_relative_to(root))
    return root, place, sorted(_held(place)) if place.is_dir() else [place]


def _held(folder: Path) -> Iterator[Path]:
    """The files of a folder; runs that lie in it are not what an environment is made from."""
    for where, folders, names in os.walk(folder):
        if FILE in names:
            folders.clear()
        else:
            yield from (file for file in (Path(where) / name for name in names) if file.is_file())


def _is_same(file: Path, digest: str) -> bool:
    return file.is_file() and file_digest(file) == digest


def _is_foreign(file: Path) -> bool:
    return is_installed(file) or file.is_relative_to(_WHET)


def _elsewhere(run: Path, source: Source) -> tuple[Path, Path]:
    return Path(os.path.normpath(run.absolute() / source.beside)), Path(source.origin)
