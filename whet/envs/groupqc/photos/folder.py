"""Photos of a folder as tasks: for an evaluation against the sidecar, and for Stage-A, which keys them by content."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from whet.envs.base import Play, ask
from whet.envs.fingerprint import fingerprint
from whet.envs.groupqc.pack.schema import Mission, Pack
from whet.envs.groupqc.photos.answer import AnswerCheck, check_answer
from whet.envs.groupqc.photos.environment import NAME, PhotoTasks
from whet.envs.groupqc.photos.file import MAX_PIXELS, PhotoFile, open_photos, shown_bytes
from whet.envs.groupqc.photos.layout import LayoutRules, MissionFolder, PhotoGroup, discover
from whet.envs.groupqc.tickets.line import BadLine, numbered_lines, parse_object
from whet.envs.splits import split_of
from whet.errors import WhetError
from whet.types import SPLITS, Label, Reply, Score, Split, Task, failed

SIDECAR = ".truth.jsonl"
"""After the name of a mission: the file beside its folder that says what its photos show."""


class FolderPhotos(PhotoTasks):
    """Every photo of a folder that can be read; a group's id decides the split of all its photos."""

    about = "photos of a folder: describe what one shows in a line of JSON"

    def __init__(
        self, source: str, pack: Pack, missions: Sequence[Mission], max_pixels: int | None = MAX_PIXELS
    ) -> None:
        self.name = f"{NAME}:{source}"
        self.pack = pack
        self._made = (source, pack, tuple(missions), max_pixels)
        self._max_pixels = max_pixels
        groups = [group for mission in missions for group in _groups(Path(source), mission, pack)]
        looked = open_photos((photo for group in groups for photo in group.photos), max_pixels)
        told = {key: text for mission in missions for key, text in read_sidecar(Path(source), mission.name).items()}
        self._tasks: dict[Split, list[tuple[Label, PhotoFile, str | None]]] = {split: [] for split in SPLITS}
        self._files: dict[str, PhotoFile] = {}
        for group in groups:
            for path in group.photos:
                photo = looked[path]
                if isinstance(photo, PhotoFile):
                    truth = told.get((group.mission, group.ticket_key, path.name))
                    label = Label(group.mission, "unrelated" if truth == pack.words.irrelevant else "site")
                    self._tasks[split_of(group.group_id)].append((label, photo, truth))
                    self._files[photo.image.sha256] = photo
        if not self._files:
            raise WhetError(f"{source} holds no photo that can be read")
        content = [(photo.image.sha256, truth) for split in SPLITS for _, photo, truth in self._tasks[split]]
        self.fingerprint = fingerprint(NAME, self, data=(pack.digest, content))

    def __reduce__(self) -> tuple[Any, ...]:
        return FolderPhotos, self._made

    def size(self, split: Split) -> int | None:
        return len(self._tasks[split])

    def label(self, split: Split, index: int) -> Label:
        return self._tasks[split][index][0]

    def task(self, split: Split, index: int) -> Task:
        label, photo, truth = self._tasks[split][index]
        return self.photo_task(split, index, label, photo.image, truth)

    def blob(self, sha256: str) -> bytes:
        return photo_bytes(self._files[sha256], self._max_pixels)


class StageAPhotos(PhotoTasks):
    """The photos of one Stage-A run. A task's index is a hash of its photo, so a later run finds the answer.

    The same photo in two groups is asked about once, and new groups in a folder cost only their own photos.
    """

    name = NAME
    split: Split = "test"

    def __init__(
        self, pack: Pack, mission: Mission, photos: Iterable[PhotoFile], max_pixels: int | None, check: AnswerCheck
    ) -> None:
        self.pack = pack
        self._mission = mission
        self._max_pixels = max_pixels
        self._check = check
        self._photos = {index_of(photo): photo for photo in photos}
        self._files = {photo.image.sha256: photo for photo in self._photos.values()}
        given = (mission.name, check, max_pixels)
        self.fingerprint = fingerprint(NAME, self, arguments=given, data=pack.digest)

    def size(self, split: Split) -> int | None:
        return None

    def label(self, split: Split, index: int) -> Label:
        return Label(self._mission.name)

    def task(self, split: Split, index: int) -> Task:
        return self.photo_task(split, index, self.label(split, index), self._photos[index].image, None)

    def play(self, task: Task) -> Play:
        """Graded by its form alone: what a usable answer is, Stage-A must know before anyone knows the truth."""
        reply: Reply = yield from ask(task.messages, corrections=0)
        answer = check_answer(self.pack, self._mission, reply, self._check)
        if answer.usable:
            return Score(1, 1.0, 1.0, {"format": float(answer.exact)}, "usable")
        return failed(answer.problem, answer.detail, format=0.0)

    def summary(self, reply: Reply) -> str:
        """The line that stands for a usable reply."""
        return check_answer(self.pack, self._mission, reply, self._check).summary

    def blob(self, sha256: str) -> bytes:
        return photo_bytes(self._files[sha256], self._max_pixels)


def index_of(photo: PhotoFile) -> int:
    """A task index from a photo's content: 62 bits of its hash."""
    return int(photo.image.sha256[:16], 16) >> 2


def photo_bytes(photo: PhotoFile, max_pixels: int | None) -> bytes:
    return photo.path.read_bytes() if photo.as_is else shown_bytes(photo.path, max_pixels)


def read_sidecar(root: Path, mission: str) -> Mapping[tuple[str, str, str], str]:
    """What each photo of a mission shows, by mission, ticket key and file name; empty where there is no sidecar."""
    path = root / f"{mission}{SIDECAR}"
    if not path.is_file():
        return {}
    told: dict[tuple[str, str, str], str] = {}
    for number, line in numbered_lines(path):
        try:
            row = parse_object(line)
            for name, text in zip(row["images"], row["expected"], strict=True):
                told[mission, row["ticket_key"], name] = text
        except (BadLine, KeyError, TypeError, ValueError) as problem:
            raise WhetError(f"{path}, line {number}: not a line of a sidecar: {problem}") from None
    return told


def label_rules(pack: Pack, **more: Any) -> LayoutRules:
    """Rejected groups are searched first."""
    words = pack.words
    return LayoutRules({words.fail_folder: "fail", words.pass_folder: "pass"}, **more)


def _groups(root: Path, mission: Mission, pack: Pack) -> Sequence[PhotoGroup]:
    """The groups of a mission; a mission that the folder does not have has none."""
    if not (root / mission.name).is_dir() and root.name != mission.name:
        return ()
    found: MissionFolder = discover(root, mission.name, label_rules(pack))
    return found.groups
