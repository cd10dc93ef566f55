"""What can be said of an environment's code by reading it.

A digest of the files of its package, so that an edited one is another environment; and whether a module serves tools.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
from pathlib import Path


def source_digest(module: str) -> str:
    name = module.rsplit("/", 1)[-1].split("@", 1)[0].replace("-", "_")
    spec = importlib.util.find_spec(name) or importlib.util.find_spec(f"verifiers.v1.tasksets.{name}")
    if spec is None or spec.origin is None:
        return ""
    origin = Path(spec.origin)
    files = sorted(origin.parent.rglob("*")) if spec.submodule_search_locations else [origin]
    digest = hashlib.sha256()
    for file in files:
        if file.is_file() and "__pycache__" not in file.parts:
            digest.update(file.relative_to(origin.parent).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def serves(module: str) -> bool:
    """Whether `python -m module` does anything: a server of tools whose module does not is waited for in vain."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return True  # nothing to read, so nothing to say against it
    tests = (node.test for node in ast.parse(Path(spec.origin).read_bytes()).body if isinstance(node, ast.If))
    return any("__main__" in ast.unparse(test) for test in tests)
