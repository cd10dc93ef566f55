"""Calls into code that is not ours: it stays silent, and global state is afterwards as it was before."""

from __future__ import annotations

import contextlib
import decimal
import random
import sys
import threading
import warnings
from collections.abc import Iterator
from typing import Any

# What is set aside is the process's, not the thread's: one caller at a time, or one would restore what another set.
_ONE_AT_A_TIME = threading.RLock()


@contextlib.contextmanager
def quarantine(seed: int | None = None) -> Iterator[None]:
    """Run foreign code in here. With `seed`, the global generators start from it, and get their old state back."""
    with _ONE_AT_A_TIME, warnings.catch_warnings(), decimal.localcontext(decimal.Context()):
        warnings.simplefilter("ignore")
        if seed is None:
            yield
            return
        before = global_random()
        random.seed(seed)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(seed % 2**32)
        try:
            yield
        finally:
            random.setstate(before[0])
            if len(before) > 1:
                sys.modules["numpy"].random.set_state(before[1])


def global_random() -> tuple[Any, ...]:
    """The state of the global generators: Python's, and numpy's where it is loaded."""
    if "numpy" not in sys.modules:
        return (random.getstate(),)
    return random.getstate(), sys.modules["numpy"].random.get_state()


def silence(package: str) -> None:
    """Give the loaded modules of `package` a `print` that prints nothing; the terminal may be another thread's."""
    for name, module in list(sys.modules.items()):
        if name == package or name.startswith(package + "."):
            vars(module).setdefault("print", _print_nothing)


def _print_nothing(*_: Any, **__: Any) -> None:
    return None
