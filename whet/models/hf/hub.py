"""A model of the Hugging Face Hub as a folder that can be looked at: its small files, and of its weights the headers.

A safetensors file begins with what it holds, so a few kilobytes of each tell all that `verify` asks for. The rest of it
is a hole in a file of the right length, which takes no room. `HF_ENDPOINT` names another hub; the token in `HF_TOKEN`
is sent to that host alone.
"""

from __future__ import annotations

import json
import os
import re
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from whet.errors import WhetError
from whet.files import atomic_file, write_atomically
from whet.models.hf.safetensors import DamagedWeights
from whet.models.secrets import quoted

ENDPOINT = "https://huggingface.co"
NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")
SMALL = re.compile(r"[\w.-]+\.(?:json|jinja|model)")
"""Files that are fetched whole."""

LARGEST, HEADER, FILES = 64 * 1024 * 1024, 100 * 1024 * 1024, 400
"""Bytes of a small file and of a header, and files of a model, that are looked at."""

SECONDS = 30.0


def is_hub_name(text: str) -> bool:
    """Whether a text can only be a name of the hub: OWNER/NAME, and nothing of that name lies here."""
    return NAME.fullmatch(text) is not None and not Path(text).exists()


def fetch_outline(name: str, folder: Path) -> None:
    """Write what is to be looked at of a model into `folder`; one line where that cannot be had."""
    hub = os.environ.get("HF_ENDPOINT", ENDPOINT).rstrip("/")
    if urlsplit(hub).scheme not in ("http", "https"):
        raise WhetError(f"HF_ENDPOINT is no address of a hub: {quoted(hub)}")
    told = _json(f"{hub}/api/models/{name}", name)
    siblings = told.get("siblings") if isinstance(told, dict) else None
    names = [entry.get("rfilename") for entry in siblings or () if isinstance(entry, dict)]
    files = [file for file in names if isinstance(file, str) and "/" not in file and ".." not in file]
    if not files:
        raise WhetError(f"{name}: {hub} lists no files of it")
    for file in files[:FILES]:
        place = f"{hub}/{name}/resolve/main/{quote(file)}"
        if SMALL.fullmatch(file):
            write_atomically(folder / file, _get(place, name, most=LARGEST)[0])
        elif file.endswith(".safetensors"):
            _outline(place, name, folder / file)
        elif file.endswith(".bin"):
            (folder / file).touch()


def _outline(place: str, name: str, file: Path) -> None:
    """The length and the header of a safetensors file, and a hole behind them."""
    first, size = _get(place, name, most=8, span=(0, 7))
    length = int.from_bytes(first, "little")
    if not 2 <= length <= HEADER:
        raise DamagedWeights(f"{file.name} is no safetensors file")
    header, _ = _get(place, name, most=length, span=(8, 7 + length))
    with atomic_file(file) as out:
        out.write(first + header)
        out.truncate(max(size, 8 + length))


def _json(place: str, name: str) -> Any:
    try:
        return json.loads(_get(place, name, most=LARGEST)[0])
    except ValueError:
        raise WhetError(f"{name}: {urlsplit(place).netloc} answered with something that is no list of files") from None


def _get(place: str, name: str, *, most: int, span: tuple[int, int] | None = None) -> tuple[bytes, int]:
    """Bytes at an address and the size of the whole file. A hub that is not there is one line."""
    headers = {"User-Agent": "whet"}
    if span is not None:
        headers["Range"] = f"bytes={span[0]}-{span[1]}"
    host = urlsplit(place).netloc
    request = urllib.request.Request(place, headers=headers)
    if token := os.environ.get("HF_TOKEN"):
        request.add_unredirected_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            whole_file = span is not None and answer.status != 206  # a server that knows no ranges
            data = answer.read(span[1] + 1)[span[0] :] if span and whole_file else answer.read(most + 1)
            whole = answer.headers.get("Content-Range", "").rpartition("/")[2]
            size = int(whole) if whole.isdigit() else int(answer.headers.get("Content-Length") or len(data))
    except urllib.error.HTTPError as error:
        why = {401: "not there, or closed: set HF_TOKEN", 403: "closed to this token", 404: "not there"}
        raise WhetError(f"{name}: {host} answered {error.code} ({why.get(error.code, 'try again later')})") from None
    except (OSError, ValueError) as error:
        told = quoted(str(getattr(error, "reason", error)))
        raise WhetError(
            f"{name}: no folder of that name here, and the hub {host} cannot be reached ({told}); "
            "give a folder, or a hub that can be in HF_ENDPOINT"
        ) from None
    if len(data) > most:
        raise WhetError(f"{name}: {place.rpartition('/')[2]} is larger than {most:,} bytes")
    return data, size
