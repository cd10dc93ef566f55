"""A user's own examples as an environment: `data:tickets.csv`, a prompt template over its columns, and a check.

One turn: the row's prompt, and the check's grade of what is read from the reply.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from whet.envs.arguments import Argument, accept
from whet.envs.base import Baseline, Environment, Messages, Play, ask
from whet.envs.data.arguments import ARGUMENTS, PLACES, DataSettings, present, settle
from whet.envs.data.checks.rubric import JUDGING
from whet.envs.data.forms import as_data, in_form, unwrapped
from whet.envs.data.images import image_paths, load_image
from whet.envs.data.manifest import manifest_path
from whet.envs.data.reply import read_answer
from whet.envs.data.sides import RowSides, row_texts, take_sides
from whet.envs.data.source import DataSource, Row, read_source
from whet.envs.data.template import cell
from whet.envs.feedback import last_words
from whet.envs.fingerprint import fingerprint
from whet.envs.near import THRESHOLD, NearIndex
from whet.errors import WhetError
from whet.types import SPLITS, Feedback, Image, Label, Message, Reply, Rollout, Shape, Split, Task


class DataEnvironment(Environment):
    """Rows of a file. Everything that can be wrong with them is found when it is built, with the row and column."""

    def __init__(self, source: str, args: Mapping[str, Any]) -> None:
        self._made_from = (source, dict(args))
        self.name = f"data:{Path(source).name}"
        accepted = accept(f"data:{source}", ARGUMENTS, args)
        found = read_source(Path(source), accepted.get("encoding", "utf-8"))
        self._source: DataSource = present(found, accepted)
        self._settings: DataSettings = settle(self._source, accepted)
        sides: RowSides = take_sides(self._source, self._settings, self._check_rows(), accepted.get("manifest", ""))
        self._indices: Mapping[Split, Sequence[int]] = {
            split: [index for index, side in sides.rows if side == split] for split in SPLITS
        }
        self._apart = sides.near if sides.made else THRESHOLD
        self._warnings: dict[Split, str] = {}
        self._images: dict[str, Path] = {}
        check = self._settings.check
        self.judge = check.judge
        self.chooses = check.chooses
        left_out = len(found.rows) - len(self._source.rows)
        skipped = f" ({left_out} more have no answer and are left out)" if left_out else ""
        self.about = (
            f"{len(self._source.rows)} rows of {self._source.name}, checked by {args.get('check', 'exact')}{skipped}"
        )
        given = {name: value for name, value in accepted.items() if name not in PLACES}
        self.fingerprint = fingerprint(
            f"{self.name}@{self._source.digest[:12]}",
            self,
            arguments=(given, self._settings.prompt.text, check.answer),
            data=(self._source.digest, check.made_of, sides.rows, self._pictures()),
            without=("re2",) if self._source.is_parquet else ("re2", "pyarrow"),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return DataEnvironment, self._made_from

    def size(self, split: Split) -> int | None:
        return len(self._indices[split])

    def label(self, split: Split, index: int) -> Label:
        return self._label(self._source.rows[self._indices[split][index]])

    def task(self, split: Split, index: int) -> Task:
        at = self._indices[split][index]
        row, check = self._source.rows[at], self._settings.check
        prompt = self._settings.prompt.fill(row, check.shown(row))
        messages = self._with_images(row, check.messages(row, prompt))
        place = self._source.place(at)
        data = check.data(row, place) | ({"shape": as_data(self._shape(row, place))} if check.constrain else {})
        return Task(split, index, self._label(row), messages, check.truth(row, place), data)

    def _shape(self, row: Row, place: str) -> Shape:
        return in_form(self._settings.check.shape(row, place) or Shape(), self._settings.form)

    def _read(self, text: str) -> str:
        """The answer in a reply, which may stand in an object where the decoder was held to one."""
        form = self._settings.form
        if not self._settings.check.constrain:
            return read_answer(text, form)
        found = unwrapped(text)
        return read_answer(text, form) if found == text else found

    def play(self, task: Task) -> Play:
        own = self._settings.check.play(task)
        if own is not None:
            return (yield from own)
        reply: Reply = yield from ask(task.messages, shape=Shape(**task.data.get("shape", {})), corrections=0)
        return (yield from self._settings.check.grade(task, self._read(reply.text)))

    def baselines(self) -> Mapping[str, Baseline]:
        """The oracle, where the check knows an answer to every row."""
        return {"oracle": self._oracle} if self._solvable else {}

    def feedback(self, task: Task, rollout: Rollout) -> Feedback:
        """The check's word on what it read from the reply; the images are those of the row."""
        said = self._read(last_words(rollout))
        shown = tuple(part for message in task.messages for part in message.content if isinstance(part, Image))
        return replace(self._settings.check.feedback(task, rollout, said), images=shown)

    def group(self, split: Split, index: int) -> str:
        """The cell of the row that says what belongs together."""
        column = self._settings.columns.group
        return cell(self._source.rows[self._indices[split][index]].get(column)).strip() if column else ""

    def verdict(self, task: Task, rollout: Rollout) -> str | None:
        return self._settings.check.verdict(task.truth, read_answer(last_words(rollout), self._settings.form))

    def right(self, task: Task) -> str:
        return self._settings.check.right(task.truth)

    def blob(self, sha256: str) -> bytes:
        return self._images[sha256].read_bytes()

    def files(self) -> list[Path]:
        """Everything that it was read from: the data, the manifest of its splits, the images."""
        path = self._source.path
        data = [path / name for name, _ in self._source.files] if path.is_dir() else [path]
        manifest = manifest_path(path, str(self._made_from[1].get("manifest", "")))
        return [*data, *([manifest] if manifest.is_file() else []), *self._images.values()]

    def content(self, split: Split, index: int) -> list[str]:
        """The cells of the row that the prompt shows; spacing and case do not make another question of them."""
        row, columns = self._source.rows[self._indices[split][index]], self._settings.columns
        asked = (*self._settings.prompt.columns, *self._settings.check.shows)
        shown = (*asked, *([columns.images] if columns.images else ()))
        return sorted(" ".join(cell(row.get(column)).casefold().split()) for column in shown)

    def warning(self, split: Split) -> str:
        """How many rows of a split have a near-duplicate in train."""
        if split not in self._warnings:
            self._warnings[split] = self._alike(split)
        return self._warnings[split]

    def _alike(self, split: Split) -> str:
        if split == "train" or self._settings.columns.images is not None or not self._indices["train"]:
            return ""
        index = NearIndex(row_texts(self._source, self._settings))
        found = index.resemblance(self._indices[split], self._indices["train"])
        if not found.count:
            return ""
        forced = "" if self._apart == THRESHOLD else " (too many rows are tied together to be split by them)"
        return (
            f"{split} shares its wording with train: {found.count} of {found.of} rows ({100 * found.share:.0f} %) have "
            f"a near-duplicate in train{forced}; scores on them say little about new questions"
        )

    def _oracle(self, task: Task, said: Messages) -> Reply | str:
        if said and said[-1].text.startswith(JUDGING):
            return "PASS"
        return self._settings.check.oracle_reply(task.truth, self._settings.form)

    def _label(self, row: Row) -> Label:
        columns = self._settings.columns
        kind = cell(row.get(columns.kind)) if columns.kind else ""
        difficulty = cell(row.get(columns.difficulty)) if columns.difficulty else ""
        return Label(kind or self._source.path.stem, difficulty)

    def _check_rows(self) -> list[tuple[Label, str]]:
        """Look at every row once: its label, and by what more its side is chosen."""
        check, prompt, found = self._settings.check, self._settings.prompt, []
        self._solvable = True
        for at, row in enumerate(self._source.rows):
            place = self._source.place(at)
            truth = check.truth(row, place)
            if not any(cell(row.get(column)).strip() for column in prompt.columns):
                raise WhetError(f"{place}, column {prompt.columns[0]!r}: there is nothing to ask")
            if self._settings.columns.images:
                image_paths(self._source, row, self._settings.columns.images, place)
            self._solvable = self._solvable and bool(check.oracle(truth))
            found.append((self._label(row), check.stratum(truth)))
        return found

    def _with_images(self, row: Row, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        images = self._shown(row)
        if not images:
            return messages
        first, *rest = messages
        return (Message(first.author, (*images, first.text)), *rest)

    def _pictures(self) -> list[str]:
        """What the images of all rows hold, in their order."""
        return [image.sha256 for row in self._source.rows for image in self._shown(row)]

    def _shown(self, row: Row) -> list[Image]:
        """The images of a row; `blob` finds them again by their content."""
        column = self._settings.columns.images
        if column is None:
            return []
        loaded = [load_image(path) for path in image_paths(self._source, row, column, self._source.name)]
        self._images.update((image.sha256, path) for image, path in loaded)
        return [image for image, _ in loaded]


class DataFamily:
    """What the registry knows about environments made from a user's data."""

    name = "data"
    places = PLACES
    about = "your own examples: data:FILE.csv (.jsonl, .json, .parquet, or a folder with train, val and test)"

    def variants(self) -> Sequence[str]:
        return ()

    def arguments(self, variant: str) -> Sequence[Argument]:
        return ARGUMENTS

    def build(self, variant: str, source: str, args: Mapping[str, Any]) -> Environment:
        if variant or not source:
            raise WhetError(
                "data needs a file of examples, as in data:tickets.csv; start with: whet init NAME --from FILE"
            )
        return DataEnvironment(source, args)


FAMILY = DataFamily()
