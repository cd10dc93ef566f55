"""Stage-A as an environment: one photo is a task, and the answer is its one-line summary.

`groupqc/photo` draws photos of generated sites; `groupqc/photo:ROOT` takes those of a folder, and their truth from the
sidecar `ROOT/MISSION.truth.jsonl`. Where there is no sidecar, only the form of an answer is judged.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from whet.envs.arguments import Argument, accept
from whet.envs.base import Baseline, Environment, Messages, Play, ask
from whet.envs.groupqc.pack.file import find_mission, load_pack
from whet.envs.groupqc.pack.schema import Mission, Pack
from whet.envs.groupqc.photos.answer import UNKNOWN, grade_answer
from whet.envs.groupqc.photos.file import MAX_PIXELS, NotAPhoto
from whet.envs.groupqc.photos.prompt import photo_messages
from whet.envs.groupqc.summaries.text import with_header
from whet.types import Image, Label, Reply, Split, Task

NAME = "groupqc/photo"

ARGUMENTS = (
    Argument("pack", str, "bbu", "a pack that comes with Whet (bbu, rru, firesafety) or a .toml file"),
    Argument("mission", str | None, None, "one mission; without it all of the pack take turns"),
    Argument("seed", int, 0, "another seed draws other sites"),
    Argument("max_pixels", int | None, MAX_PIXELS, "photos of a folder are made smaller than this"),
)


class PhotoTasks(Environment):
    """What all photo environments share: the prompt, the play, and the reference policies."""

    pack: Pack

    def photo_task(self, split: Split, index: int, label: Label, image: Image, truth: str | None) -> Task:
        return Task(split, index, label, photo_messages(self.pack, self.mission(label), image), truth)

    def mission(self, label: Label) -> Mission:
        return self.pack.mission(label.kind)

    def play(self, task: Task) -> Play:
        reply: Reply = yield from ask(task.messages, corrections=0)
        return grade_answer(self.pack, self.mission(task.label), reply, task.truth)

    def baselines(self) -> Mapping[str, Baseline]:
        return {"oracle": self._oracle, "reader": self._reader}

    def _oracle(self, task: Task, said: Messages) -> str:
        return with_header(self.pack, task.truth or self.pack.words.irrelevant)

    def _reader(self, task: Task, said: Messages) -> str:
        """Looks at the photo itself: the truth of the task is not used. What it cannot open, it does not know."""
        from whet.envs.groupqc.reader.reader import NotAnImage

        shown = next(part for part in said[-1].content if isinstance(part, Image))
        try:
            return str(self._eyes.read(self.blob(shown.sha256)))
        except (NotAnImage, NotAPhoto, OSError) as problem:
            return f"{UNKNOWN} {problem}"

    @functools.cached_property
    def _eyes(self) -> Any:
        from whet.envs.groupqc.reader.reader import PhotoReader

        return PhotoReader(self.pack)


def photo_arguments() -> Sequence[Argument]:
    return ARGUMENTS


def build_photo(source: str, args: Mapping[str, Any]) -> Environment:
    """The environment at `groupqc/photo` or `groupqc/photo:ROOT`."""
    given = accept(NAME, ARGUMENTS, args)
    name = given.get("mission")
    if name is not None and "pack" not in given:
        pack, _ = find_mission(name)
    else:
        pack = load_pack(given.get("pack", "bbu"))
    missions = (pack.mission(name),) if name else pack.missions
    if not source:
        from whet.envs.groupqc.photos.generated import GeneratedPhotos

        return GeneratedPhotos(pack, missions, given.get("seed", 0))
    from whet.envs.groupqc.photos.folder import FolderPhotos

    return FolderPhotos(source, pack, missions, given.get("max_pixels", MAX_PIXELS))
