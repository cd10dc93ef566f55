"""Photos through local weights (`hf:DIR`): left-padded batches against one photo at a time, in the same run.

python bench/hf_batches.py [--quick] [--json FILE]

The weights are random and small (a few million parameters), made on the spot, and run on the processor in one thread:
what is measured is the batching, not a model. Processor time is counted, so a busy machine does not change the ratio.
The answers of both ways are compared: a batch that changes what is said would be no batch.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from rows import Row, arguments, report

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from whet.models import ModelOptions, load_model
from whet.models.base import Request
from whet.types import Image, Sampling, user

BATCH = 8


def photos(n: int) -> list[bytes]:
    """Pictures of different shapes, which take different numbers of tokens."""
    from PIL import Image as Picture

    chance = random.Random(0)
    made = []
    for _ in range(n):
        drawn = Picture.new("RGB", (chance.randrange(30, 100), chance.randrange(30, 100)))
        drawn.paste(tuple(chance.randrange(256) for _ in range(3)), (0, 0, 20, 20))
        file = io.BytesIO()
        drawn.save(file, "PNG")
        made.append(file.getvalue())
    return made


def requests(data: Sequence[bytes], tokens: int) -> list[Request]:
    by_name = {hashlib.sha256(one).hexdigest(): one for one in data}
    sampling = Sampling(temperature=0.0, max_tokens=tokens)
    return [Request((user((Image(name), "describe")),), sampling, blob=by_name.__getitem__) for name in by_name]


async def photos_per_second(folder: Path, asked: Sequence[Request], slots: int) -> tuple[float, list[str]]:
    """Photos for a second of processor time, and what was said of them. The weights are loaded before."""
    model = load_model(f"hf:{folder}", ModelOptions(slots=slots))
    try:
        await model.complete(asked[0])
        began = time.process_time()
        replies = await asyncio.gather(*(model.complete(one) for one in asked))
        return len(asked) / (time.process_time() - began), [reply.text for reply in replies]
    finally:
        await model.close()


def batched_against_sequential(quick: bool) -> Iterator[Row]:
    from tiny_weights import seeing_weights

    asked = requests(photos(16 if quick else 64), 16 if quick else 48)
    with tempfile.TemporaryDirectory() as folder:
        weights = seeing_weights(Path(folder) / "weights", width=256, layers=6)
        alone, said_alone = asyncio.run(photos_per_second(weights, asked, 1))
        together, said_together = asyncio.run(photos_per_second(weights, asked, BATCH))
    same = sum(one == other for one, other in zip(said_alone, said_together, strict=True)) / len(asked)
    condition = f"{len(asked)} photos, random weights of 6 layers, one thread; photos for a second of processor time"
    yield Row(
        "hf_photos_batched", together, "photos/s", None, None, "one at a time", alone, together / alone, condition
    )
    yield Row("hf_batched_answers_same", same, "share", 1.0, same == 1.0, condition="greedy, batched and one at a time")


if __name__ == "__main__":
    given = arguments(__doc__)
    report(batched_against_sequential(given.quick), given.json)
