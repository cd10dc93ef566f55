"""Images in messages: the parts of a message, and the bytes of an image."""

from __future__ import annotations

from collections.abc import Callable

from whet.errors import WhetError
from whet.types import Image, Message

Blob = Callable[[str], bytes] | None
"""Reads the bytes of an image by its SHA-256; None where a request has no images."""


def parts(message: Message) -> tuple[str | Image, ...]:
    """The content of a message as parts, also where it is a plain text."""
    return (message.content,) if isinstance(message.content, str) else message.content


def image_bytes(image: Image, blob: Blob) -> bytes:
    if blob is None:
        raise WhetError(f"a message shows the image {image.sha256[:12]}, but the request has no blob to read it from.")
    return blob(image.sha256)
