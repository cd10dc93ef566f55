"""The head of a model for the positions that have a label, on a processor as on a GPU.

TRL scores the vocabulary at every position of a batch where it has no kernels of Triton, for accelerators that compile
anew for each shape and would do so for each number of labels. A processor compiles for none. In imitation the model
speaks a twentieth of what it reads, and a vocabulary of 49,152 is a third of the work of a model of 135 million.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from trl.trainer import utils

CHOICE = "_use_triton"
"""What TRL's head asks whether it scores labels alone; its kernels ask for themselves, elsewhere."""


@contextmanager
def labels_alone() -> Iterator[None]:
    """Meanwhile TRL's head scores on a processor what it scores on a GPU; the same but for roundings."""
    before = getattr(utils, CHOICE, None)
    if before is None:  # a TRL that goes about it in another way
        yield
        return

    def alone(device: torch.device) -> bool:
        return device.type == "cpu" or bool(before(device))

    setattr(utils, CHOICE, alone)
    try:
        yield
    finally:
        setattr(utils, CHOICE, before)
