"""A champion as one file to hand on: its playbook or weights, the evidence that justified it, and checksums.

    package.json             the whole record, which `whet release install FILE` and `Package.read` go by
    playbook.json            for `--playbook`
    skill/                   SKILL.md with front matter, the files beside it: for an agent, or a person
    guidance.json            the rule book, where there is one
    adapter/                 the trained weights, where there are any
    evidence/                the decision of the gate, the result of the sealed test
    SHA256SUMS               of all of them, as `sha256sum -c` reads it

The same champion gives the same bytes. A package is read whole before anything of it is used: a name that leads out of
its folder, a link, a file that stands twice or in no list, or one wrong byte, and nothing of it is. Every text must be
what the record gives, as a person may read it there. Checksums find damage; that a package is the team's own is proved
by its digest, which stands in the trail and for the weights too.
"""

from __future__ import annotations

import hashlib
import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import orjson

from whet import wire
from whet.config.playbooks import write_playbook
from whet.errors import WhetError
from whet.files import atomic_file
from whet.outside import KEYS
from whet.release.champion import ADAPTER, Champion, Champions, champion_in
from whet.release.skill import evidence_lines, guidance, json_bytes, safe_name, skill_files
from whet.release.trail import Trail

RECORD, SUMS, FORMAT = "package.json", "SHA256SUMS", 1

PACKAGED = "package"
"""The kind of entry in the trail."""

MOST_FILES = 10_000
MOST_TEXT = 256 << 20
"""Bytes of all files but weights: they are read into memory."""

DAMAGE = (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, ValueError)
"""What reading an archive raises that is none, or not what it was."""

_WHEN = (1980, 1, 1, 0, 0, 0)
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Package:
    """A package that was read and found whole."""

    path: Path
    champion: Champion
    files: Mapping[str, bytes]
    """All of it but weights."""
    adapter: tuple[str, ...] = ()
    """The names of the weights' files."""

    @classmethod
    def read(cls, path: Path) -> Package:
        """The package in a file; refused, in one line, where anything is wrong with it."""
        try:
            with zipfile.ZipFile(path) as archive:
                return _read(path, archive)
        except FileNotFoundError:
            raise WhetError(f"{path}: no such package") from None
        except DAMAGE as error:
            raise WhetError(f"{path}: is no package, or is damaged ({error}); get it again") from None
        except OSError as error:
            raise WhetError(f"{path}: cannot be read ({error.strerror or error})") from None


def write_package(champions: Champions, champion: Champion, out: Path | None = None) -> Path:
    """Write a champion to one file; one that is there already is never written over."""
    path = out or Path(f"{champion.name}-v{champion.version}.zip")
    if path.exists():
        raise WhetError(f"{path}: is there already; take it away, or name another file with --out")
    champions.check_weights(champion)
    texts = {name: KEYS.hide_bytes(data) for name, data in _texts(champion).items()}
    place = champions.place(champion) / ADAPTER
    weights = sorted(file for file in place.rglob("*") if file.is_file()) if champion.adapter else []
    named = {f"{ADAPTER}/{file.relative_to(place).as_posix()}": file for file in weights}
    sums = {name: hashlib.sha256(data).hexdigest() for name, data in texts.items()}
    sums |= {name: _file_sum(file) for name, file in named.items()}
    with atomic_file(path) as file, zipfile.ZipFile(file, "w") as archive:
        listed = "".join(f"{total}  {name}\n" for name, total in sorted(sums.items()))
        for name, data in sorted({**texts, SUMS: listed.encode()}.items()):
            archive.writestr(_entry(name), data, zipfile.ZIP_DEFLATED)
        for name, source in sorted(named.items()):
            with source.open("rb") as read, archive.open(_entry(name), "w", force_zip64=True) as written:
                while piece := read.read(_PIECE):
                    written.write(piece)
    with Trail.of(champions.folder) as trail:
        record = {"version": champion.version, "digest": champion.digest, "sha256": _file_sum(path)}
        trail.append(PACKAGED, record, subject=champion.name)
    return path


def _texts(champion: Champion) -> dict[str, bytes]:
    record = {"format": FORMAT, "champion": champion.as_data(), "digest": champion.digest}
    files = {
        RECORD: json_bytes(record),
        "playbook.json": write_playbook(champion.playbook),
        "evidence/decision.json": json_bytes(dict(champion.decision)),
        "evidence/test.json": json_bytes(dict(champion.claim)),
    }
    if champion.playbook.rules:
        files["guidance.json"] = json_bytes(guidance(champion))
    if not champion.playbook.blank:
        files |= {f"skill/{name}": data for name, data in skill_files(champion).items()}
    return files


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _WHEN)
    entry.external_attr = (stat.S_IFREG | 0o644) << 16
    entry.create_system = 3
    return entry


def _file_sum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --------------------------------------------------------------------------------------------- reading


def _read(path: Path, archive: zipfile.ZipFile) -> Package:
    entries = _entries(path, archive)
    adapter = tuple(sorted(name for name in entries if name.startswith(f"{ADAPTER}/")))
    texts = [entry for name, entry in entries.items() if name not in adapter]
    if sum(entry.file_size for entry in texts) > MOST_TEXT:
        raise WhetError(f"{path}: its texts are larger than {MOST_TEXT >> 20} MiB; it is no package of ours")
    files = {entry.filename: _content(archive, entry) for entry in texts}
    sums = _sums(path, files.pop(SUMS, b""))
    if sums.keys() != entries.keys() - {SUMS}:
        other = min(sums.keys() ^ (entries.keys() - {SUMS}))
        raise WhetError(f"{path}: {other!r} is in {SUMS} or in the package, and not in both; get it again")
    for name, total in sums.items():
        told = hashlib.sha256(files[name]).hexdigest() if name in files else _streamed(archive, entries[name])
        if told != total:
            raise WhetError(f"{path}: {name} has another checksum than {SUMS} says; nothing was used of it")
    champion = _champion(path, files)
    made = {**_texts(champion), RECORD: files[RECORD]}
    if strange := sorted(name for name in made.keys() | files.keys() if made.get(name) != files.get(name)):
        raise WhetError(f"{path}: {strange[0]} is not what its record gives; nothing was used of it")
    if {name: sums[f"{ADAPTER}/{name}"] for name in (name.removeprefix(f"{ADAPTER}/") for name in adapter)} != dict(
        champion.weights
    ):
        raise WhetError(f"{path}: its weights are not the champion's; nothing was used of it")
    return Package(path, champion, files, adapter)


def _entries(path: Path, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """The files of an archive by name; what could write elsewhere than it seems is refused."""
    found: dict[str, zipfile.ZipInfo] = {}
    for entry in archive.infolist():
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if kind not in (0, stat.S_IFREG):
            raise WhetError(f"{path}: {entry.filename!r} is a link or no plain file; it is no package of ours")
        name = safe_name(entry.filename, f"{path}: the file")
        if name.casefold() in {other.casefold() for other in found} or len(found) >= MOST_FILES:
            raise WhetError(f"{path}: {name!r} stands in it twice, or there are too many files; get it again")
        if entry.flag_bits & 1:
            raise WhetError(f"{path}: {name!r} is encrypted; it is no package of ours")
        found[name] = entry
    return found


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """A file, and no byte more than it says it has."""
    with archive.open(entry) as file:
        data = file.read(entry.file_size + 1)
    if len(data) != entry.file_size:
        raise zipfile.BadZipFile(f"{entry.filename} is larger than it says")
    return data


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(_PIECE):
        yield piece


def _streamed(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> str:
    total = hashlib.sha256()
    with archive.open(entry) as file:
        for piece in _pieces(file):
            total.update(piece)
    return total.hexdigest()


def _sums(path: Path, data: bytes) -> dict[str, str]:
    found = {}
    for line in data.decode("utf-8", "replace").splitlines():
        total, gap, name = line.partition("  ")
        if not gap or len(total) != 64 or name in found:
            raise WhetError(f"{path}: {SUMS} cannot be read; get the package again")
        found[name] = total
    if RECORD not in found:
        raise WhetError(f"{path}: has no {SUMS} of ours; it is no package")
    return found


def _champion(path: Path, files: Mapping[str, bytes]) -> Champion:
    try:
        record = orjson.loads(files[RECORD])
        if record["format"] != FORMAT:
            raise WhetError(f"{path}: a package of format {record['format']}, and this Whet reads {FORMAT}")
        champion = champion_in(record["champion"])
        list(evidence_lines(champion))  # a record that cannot be told is none
        playbook = wire.playbook_in(orjson.loads(files["playbook.json"]))
    except (LookupError, ValueError, TypeError, AttributeError) as error:
        raise WhetError(f"{path}: its record cannot be read ({error}); get it again") from None
    if champion.digest != record["digest"]:
        raise WhetError(f"{path}: its record is not what its digest says; nothing was used of it")
    if playbook != champion.playbook:
        raise WhetError(f"{path}: playbook.json is not the champion's; nothing was used of it")
    return champion
