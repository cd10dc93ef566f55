"""Python files that a user names by their path: what is run is the text that stands there."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from whet.errors import WhetError

FILE_MODULE = "whet_file_"
"""How the names of modules begin that were loaded by their path."""


def module_from(path: Path) -> ModuleType:
    """The module in a file; the same file with the same content is loaded once.

    A file that is missing or cannot be imported is a `WhetError`; what else it raises passes through.
    """
    try:
        content = path.read_bytes()
    except OSError as problem:
        raise WhetError(f"cannot read {path}: {problem.strerror}") from None
    mark = hashlib.blake2b(str(path.resolve()).encode() + content, digest_size=6).hexdigest()
    name = f"{FILE_MODULE}{path.stem}_{mark}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path, loader=UncachedLoader(name, str(path)))
    if spec is None or spec.loader is None:
        raise WhetError(f"cannot import {path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickles look their module up by name
    try:
        spec.loader.exec_module(module)
    except BaseException as problem:
        del sys.modules[name]
        if isinstance(problem, ImportError | SyntaxError):
            raise WhetError(f"cannot import {path}: {type(problem).__name__}: {problem}") from problem
        raise
    return module


class UncachedLoader(SourceFileLoader):
    """Compiles a file each time it is loaded.

    Python's own cache takes a file of the same size and the same second for the same file: an edited check would grade
    by the code from before the edit, under the fingerprint of the new one.
    """

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)
