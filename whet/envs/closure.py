"""The import closure of an environment: the modules, files and libraries that its tasks and scores may depend on.

It is read from the sources; nothing is imported for it. It holds

* every module and every file of the environment's own package, tests apart;
* every module that those import, anywhere in their text, or name in a text (`"package.module:function"`), and so on, as
  long as it is source that somebody edits: Whet's, the user's own, whatever is not installed;
* the files beside a module that it names in a text;
* of an installed library its name and version, unless the contract of environments stands on that library itself.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whet.envs.source_text import EVERYTHING, SourceFacts, memory
from whet.errors import WhetError
from whet.keys import bytes_digest, digest

if TYPE_CHECKING:
    from importlib import metadata

Read = Callable[[Path], bytes]

WHET = "whet"
ENVIRONMENTS = "whet.envs"
CONTRACT = ("whet.envs.base", "whet.keys")
"""What every environment stands on. The libraries under it, like Python itself, make no environment another one."""
DRIVERS = [[WHET, room] for room in ("cli", "apps", "terminal", "run", "learn", "gate", "evals", "rollout")]
"""The rooms above environments. A user's file that runs what it defines imports them; no task depends on them."""
UNCOUNTED = frozenset(("whet.envs.fingerprint", "whet.extras"))
"""How a fingerprint is computed is no part of what it stands for, and neither is how a package is installed."""

_INSTALLED = frozenset(("site-packages", "dist-packages"))
_OTHERS = frozenset(("ledger.sqlite", "pyvenv.cfg"))
"""Files by which a folder is known that may lie in a package and is no part of it: a run, a virtual environment."""
_HOME = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Part:
    """Where a closure begins: a module, or a whole package."""

    name: str
    folder: Path = _HOME
    """Where its top-level package lies."""
    whole: bool = False
    file: Path | None = None
    """The file of a module that is in no package, or that has the name of a test."""


@dataclass(frozen=True, slots=True)
class Closure:
    """What was found: a digest for each module and each file, and libraries as NAME==VERSION."""

    modules: Mapping[str, str]
    files: Mapping[str, str]
    libraries: Mapping[str, str]
    """By the name that is imported."""
    paths: Mapping[str, Path]
    """Where each module and each file was read."""

    def digest(self, without: Collection[str] = ()) -> str:
        """One digest for all of it; `without`: libraries that do not count, by the name that is imported."""
        counted = {name: version for name, version in self.libraries.items() if name not in without}
        return digest(self.modules, self.files, counted)


def closure(part: Part, read: Read = Path.read_bytes) -> Closure:
    """The closure of a part as the sources are at this moment. `read` gives the content of a file."""
    walk = _Walk(part, read)
    walk.run()
    libraries = {name: version_of(name) for name in sorted(walk.libraries - _platform())}
    memory().keep()
    return Closure(dict(sorted(walk.modules.items())), dict(sorted(walk.files.items())), libraries, walk.paths)


@functools.cache
def _platform() -> frozenset[str]:
    walks = [_Walk(Part(name), Path.read_bytes) for name in CONTRACT]
    for walk in walks:
        walk.run()
    return frozenset().union(*(walk.libraries for walk in walks))


class _Walk:
    """One walk from a part outwards."""

    def __init__(self, part: Part, read: Read) -> None:
        self._part = part
        self._read = read
        self._folders: dict[str, Path | None] = {WHET: _HOME, part.name.partition(".")[0]: part.folder}
        self._located: dict[str, Path | None] = {part.name: part.file} if part.file and not part.whole else {}
        self._facts: dict[str, SourceFacts] = {}
        self._waiting: list[str] = []
        self._met: set[str] = set(UNCOUNTED)
        self.modules: dict[str, str] = {}
        self.files: dict[str, str] = {}
        self.libraries: set[str] = set()
        self.paths: dict[str, Path] = {}

    def run(self) -> None:
        own = self._own() if self._part.whole else [self._part.name]
        self._wait_for(own)
        while self._waiting:
            self._visit(self._waiting.pop())
        read = any(self._module(name).reads_docstrings for name in own)
        for name in self.modules:  # a docstring is a constant where it is read, and any library may read a user's
            if not _is_ours(name) or (read and self._is_own(name)):
                self.modules[name] += self._module(name).docstrings

    def _own(self) -> list[str]:
        """The modules of the whole package; its other files are taken on the way."""
        names = []
        for path in _files_under(self._part.folder.joinpath(*self._part.name.split("."))):
            within = path.relative_to(self._part.folder)
            if path.suffix == ".py":
                names.append(".".join((within.parent if path.stem == "__init__" else within.with_suffix("")).parts))
                self._located[names[-1]] = path
            else:
                self._take_file(within.as_posix(), path)
        if self._part.file:
            names.append(f"{self._part.name}.{self._part.file.stem}")
            self._located[names[-1]] = self._part.file
        return names

    def _wait_for(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self._met:
                self._met.add(name)
                self._waiting.append(name)

    def _visit(self, name: str) -> None:
        facts, path = self._module(name), self._path(name)
        self.modules[name] = facts.form
        self.paths[name] = path
        package = name if path.stem == "__init__" else name.rpartition(".")[0]
        for reference in facts.names:
            self._follow(_absolute(reference, package), path)
        for text in facts.texts:
            self._follow_text(text, name, path)
        if facts.walks and package == name:
            names = (f"{name}.{beside.stem}" for beside in sorted(path.parent.iterdir()) if beside != path)
            self._wait_for(module for module in names if self._locate(module))

    def _follow(self, reference: str, path: Path) -> None:
        """Take up the module that a dotted name leads to; of a package that hands out names, only what is asked for."""
        top = reference.partition(".")[0]
        if not top or top in sys.stdlib_module_names or not self._is_source(top, path.parent):
            return
        module, taken = self._longest(reference)
        if not module or (not _is_ours(self._part.name) and module.split(".")[:2] in DRIVERS):
            return
        names = {} if self._is_own(module) else self._module(module).hands_out
        for asked in names if taken == EVERYTHING else {taken} & names.keys():
            self._follow(names[asked], path)
        if names and _is_ours(module):
            return
        if not _is_ours(top):  # Whet's packages do nothing when they are passed on the way to a module; others may
            parents = [module.rsplit(".", count)[0] for count in range(1, module.count(".") + 1)]
            self._wait_for(parent for parent in parents if self._locate(parent))
        self._wait_for((module,))

    def _follow_text(self, text: str, name: str, path: Path) -> None:
        """A text that is the address of a function, or names a module of ours, or a file that lies beside."""
        module, address, _ = text.partition(":")
        if address or (self._folders.get(module.partition(".")[0]) and self._locate(module)):
            self._follow(module, path)
        elif (beside := path.parent / text).is_file():
            self._take_file("/".join((*name.split(".")[:-1], text)), beside)

    def _take_file(self, name: str, path: Path) -> None:
        self.files[name] = bytes_digest(self._read(path))
        self.paths[name] = path

    def _module(self, name: str) -> SourceFacts:
        if name not in self._facts:
            self._facts[name] = memory().facts(self._read(self._path(name)))
        return self._facts[name]

    def _path(self, name: str) -> Path:
        path = self._locate(name)
        if path is None:
            raise WhetError(f"there is no module {name!r} in {self._part.folder}")
        return path

    def _locate(self, name: str) -> Path | None:
        if name not in self._located:
            folder = self._folders[name.partition(".")[0]] or Path()
            base = folder.joinpath(*name.split("."))
            candidates = (base / "__init__.py", base.with_name(f"{base.name}.py"))
            self._located[name] = next((path for path in candidates if path.is_file()), None)
        return self._located[name]

    def _longest(self, reference: str) -> tuple[str, str]:
        """The module that a dotted name begins with, and the name that is taken out of it."""
        name = module = taken = ""
        for part in reference.split("."):
            if module and self._path(module).stem != "__init__":
                return module, part
            name = f"{name}.{part}" if name else part
            module, taken = (name, "") if self._locate(name) else (module, taken or part)
        return module, taken

    def _is_own(self, module: str) -> bool:
        return self._part.whole and f"{module}.".startswith(f"{self._part.name}.")

    def _is_source(self, top: str, beside: Path) -> bool:
        """Whether a top-level name is source to follow; where it lies is noted, and so is a library."""
        if top not in self._folders:
            self._folders[top], installed = _place(top, beside)
            if installed:
                self.libraries.add(top)
        return self._folders[top] is not None


def _is_ours(name: str) -> bool:
    return f"{name}.".startswith(f"{WHET}.")


def _absolute(reference: str, package: str) -> str:
    """A relative name made absolute: one dot is the package itself, each further one its parent."""
    bare = reference.lstrip(".")
    dots = len(reference) - len(bare)
    parts = package.split(".")
    return ".".join((*parts[: len(parts) - dots + 1], bare)) if dots else reference


# --------------------------------------------------------------------------------------------- places


def part_of(file: Path, module: str = "") -> Part:
    """Where the closure of an environment begins whose code is in `file`: its own package, or the file alone.

    An environment of Whet's is the folder below `whet.envs`, whatever it is made of. A user's is the package that the
    file is in; a file that is in none is on its own.
    """
    path = file.resolve()
    if _is_ours(module):
        parts = module.split(".")
        in_folder = len(parts) > 3 or (len(parts) == 3 and path.stem == "__init__")
        whole = in_folder and module.startswith(f"{ENVIRONMENTS}.")
        return Part(".".join(parts[:3]), whole=True) if whole else Part(module)
    folder = path.parent
    names: list[str] = []
    while (folder / "__init__.py").is_file():
        names.insert(0, folder.name)
        folder = folder.parent
    if names:
        return Part(".".join(names), folder, whole=True, file=path if _is_test(path.name) else None)
    *spaces, stem = module.split(".")
    if spaces and (*spaces, stem) == path.with_suffix("").parts[-len(spaces) - 1 :]:  # a package without __init__.py
        return Part(module, path.parents[len(spaces)], file=path)
    return Part(path.stem, folder, file=path)


def _files_under(folder: Path) -> Iterator[Path]:
    """Every file of a package, in order; no tests, nothing hidden or compiled, no run and no virtual environment."""
    for where, folders, files in os.walk(folder):
        if not _OTHERS.isdisjoint(files):
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if name not in ("__pycache__", "tests") and name[0] != ".")
        for name in sorted(files):
            if name[0] != "." and not _is_test(name) and not name.endswith(".pyc"):
                yield Path(where, name)


def _is_test(name: str) -> bool:
    return name.startswith(("test_", "conftest."))


def is_installed(path: Path) -> bool:
    """Whether a file belongs to an installed library: it is not edited, its version says what it is."""
    return not _INSTALLED.isdisjoint(path.parts)


def _place(top: str, beside: Path) -> tuple[Path | None, bool]:
    """Where a top-level module lies, when it is source to follow; and whether it is an installed library."""
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        here = (beside / f"{top}.py").is_file() or (beside / top / "__init__.py").is_file()
        return (beside if here else None), False
    place = Path(next(iter(spec.submodule_search_locations or ()), spec.origin or ""))
    if is_installed(place):
        return None, True
    return (place.parent if place.is_absolute() else None), False


def version_of(top: str) -> str:
    """The distributions that a module comes from, as NAME==VERSION; '' where none says that it does."""
    from importlib import metadata

    known = memory().libraries
    key = f"{top} {_installed()}"
    for _ in range(2):
        try:
            return " ".join(f"{name}=={metadata.version(name)}" for name in known[key])
        except (KeyError, TypeError, metadata.PackageNotFoundError):
            known[key] = sorted({found.name for found in metadata.distributions() if found.name and _holds(found, top)})
    return ""


def _installed() -> str:
    """Stands for what is installed: the folders that libraries are in, and when each last got or lost an entry."""
    folders = [path for path in map(Path, sys.path) if is_installed(path) and path.is_dir()]
    return digest([(str(folder), folder.stat().st_mtime_ns) for folder in folders])


def _holds(distribution: metadata.Distribution, top: str) -> bool:
    """Whether a distribution says that it brings the module; one of the system's packager has no RECORD."""
    record = distribution.read_text("RECORD")
    if record is None:
        return top in (distribution.read_text("top_level.txt") or "").split()
    return record.startswith((f"{top}/", f"{top}.")) or f"\n{top}/" in record or f"\n{top}." in record
