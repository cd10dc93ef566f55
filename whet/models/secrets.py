"""Keys of remote models: a type that does not show itself, and the places a key may come from."""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import re
import select
import shlex
import signal
import stat
import subprocess
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NoReturn, Protocol

from whet.errors import WhetError
from whet.key_shapes import hide_shapes, looks_like_key
from whet.models.options import ModelOptions
from whet.outside import HIDDEN, KEYS, LEAST, harmless, spellings

MOST = 64 * 1024
"""Bytes that a file or a command may give: a key has far fewer."""


class Secret:
    """A value that prints as `Secret(***)` and cannot be pickled or written as JSON; `reveal` is the only way in."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The value itself: only for the header that carries it."""
        return self._value

    def scrub(self, text: str) -> str:
        """`text` without the value in any of its spellings; of a short one, without those that are as long."""
        for spelling in dict.fromkeys(spellings(self._value)):
            if len(spelling) >= min(LEAST, len(self._value)):
                text = text.replace(spelling, HIDDEN)
        return text

    def __repr__(self) -> str:
        return f"Secret({HIDDEN})"

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(self._value.encode(), other._value.encode())

    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: object) -> Secret:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret is not to be pickled: hand over the name of its source instead")


def quoted(text: str, secret: Secret | None = None, limit: int = 300) -> str:
    """Text from outside for an error message: without keys, on one line, not too long, and nothing of it acts."""
    # Keys go first: half of a key that the cut left over would not be found.
    line = " ".join(KEYS.hide(text if secret is None else secret.scrub(text))[: 50 * limit].split())
    line = KEYS.hide_pieces(line[: 2 * limit])
    return harmless(line if len(line) <= limit else f"{line[:limit]}...")


def sealed(value: str, source: str) -> Secret:
    """A key that fits into a header; anything else is a mistake in its source."""
    if not value.isascii() or not value.isprintable() or " " in value:
        raise WhetError(f"the key from {source} has blanks or characters that no key has: check what it holds.")
    KEYS.add(value)
    return Secret(value)


class Key(Protocol):
    """Where a key comes from. `source` names it for a person."""

    source: str

    async def secret(self) -> Secret | None:
        """The key, or None where the server is reached without one."""
        ...

    def renew(self, used: Secret | None) -> bool:
        """The server refused `used`: whether asking `secret` again may give another one."""
        ...


class NoKey:
    """A server that is reached without a key."""

    def __init__(self, unsent: str = "") -> None:
        held = f" ({unsent} goes to its own service only, unless key_env names it)" if unsent else ""
        self.source = f"none{held}; name one with key_env, key_file or key_command"

    async def secret(self) -> Secret | None:
        return None

    def renew(self, used: Secret | None) -> bool:
        return False


class EnvKey:
    """A key in an environment variable."""

    def __init__(self, variable: str, needed: bool = True) -> None:
        self.source = f"the environment variable {variable}"
        self._variable = variable
        self._needed = needed
        self._held: Secret | None = None

    async def secret(self) -> Secret | None:
        if self._held is None:
            value = os.environ.get(self._variable, "").strip()
            if value:
                self._held = sealed(value, self.source)
            elif self._needed:
                raise WhetError(
                    f"no key: the environment variable {self._variable} is not set. Set it, or name another source "
                    'with key_env, key_file or key_command (key_env = "" for a server without keys).'
                )
        return self._held

    def renew(self, used: Secret | None) -> bool:
        return False


class FileKey:
    """A key in a file, read again when the server refuses it: mounted secrets are rotated in place."""

    def __init__(self, path: str) -> None:
        self.source = f"the file {path}"
        self._path = Path(path).expanduser()
        self._held: Secret | None = None

    async def secret(self) -> Secret | None:
        if self._held is None:
            self._held = self._read()
        return self._held

    def _read(self) -> Secret:
        try:
            content, mode = _short_file(self._path)
            value = content.decode().strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not text"
            raise WhetError(f"key_file {self._path} cannot be read: {reason}.") from error
        if len(content) > MOST:
            raise WhetError(f"key_file {self._path} is larger than any key: check what it holds.")
        if not value:
            raise WhetError(f"key_file {self._path} is empty: write the key into it.")
        # Not refused: secrets mounted into a container are often readable by all, and there nobody else is.
        if mode & stat.S_IROTH:
            warnings.warn(f"key_file {self._path} is readable by every user: chmod 600 it.", stacklevel=2)
        return sealed(value, self.source)

    def renew(self, used: Secret | None) -> bool:
        self._held = None
        return True


def _short_file(path: Path) -> tuple[bytes, int]:
    """The beginning of a file and its mode; a pipe that nobody writes to is not waited for."""
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        mode = os.fstat(file).st_mode
        if stat.S_ISFIFO(mode):
            select.select([file], [], [], 2.0)
        return os.read(file, MOST + 1), mode
    finally:
        os.close(file)


class CommandKey:
    """A key that a command prints: the bare token, or JSON with `accessToken` and `expires_on` or `expiresOn`.

    The command runs in a thread, once for all who wait; again before the token expires or when it is refused.
    """

    def __init__(self, command: str, *, clock: Callable[[], float] = time.time, timeout: float = 60.0) -> None:
        try:
            self._words = shlex.split(command)
        except ValueError:
            raise WhetError("key_command has a quote that is left open: mend it.") from None
        if not self._words:
            raise WhetError("key_command is empty: give a command that prints the key.")
        self.source = f"the command {self._words[0]!r} (key_command)"
        self._clock = clock
        self._timeout = timeout
        self._held: Secret | None = None
        self._stale_at = float("inf")
        self._running: asyncio.Task[Secret] | None = None

    async def secret(self) -> Secret | None:
        if self._held is not None and self._clock() < self._stale_at:
            return self._held
        loop = asyncio.get_running_loop()
        if self._running is None or self._running.done() or self._running.get_loop() is not loop:
            self._running = loop.create_task(self._fetch())
        return await asyncio.shield(self._running)

    async def _fetch(self) -> Secret:
        token, expires = read_token(await asyncio.to_thread(self._run), self.source)
        now = self._clock()
        self._stale_at = expires - min(300.0, (expires - now) / 5) if expires is not None else float("inf")
        self._held = sealed(token, self.source)
        return self._held

    def _run(self) -> str:
        try:
            code, out, err = bounded_output(self._words, self._timeout)
        except FileNotFoundError as error:
            raise WhetError(f"key_command: there is no program {self._words[0]!r}.") from error
        except (OSError, subprocess.TimeoutExpired) as error:
            raise WhetError(f"key_command: {self._words[0]!r} did not run: {type(error).__name__}.") from error
        if code != 0:
            # What it complains of may hold the very key: what has the shape of one is not repeated.
            told = quoted(hide_shapes(err))
            raise WhetError(f"key_command: {self._words[0]!r} ended with status {code}: {told}")
        return out

    def renew(self, used: Secret | None) -> bool:
        if self._held is used:
            self._held = None
        return True


def bounded_output(words: list[str], seconds: float) -> tuple[int, str, str]:
    """Status, output and complaints of a command that is given no input, `seconds` and `MOST` bytes for each."""
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        texts = {process.stdout.fileno(): b"", process.stderr.fileno(): b""}
        out, err = texts
        waiting = set(texts)
        deadline = time.monotonic() + seconds
        try:
            while waiting:
                ready, _, _ = select.select(list(waiting), [], [], max(0.0, deadline - time.monotonic()))
                if not ready:
                    raise subprocess.TimeoutExpired(words[0], seconds)
                for file in ready:
                    more = os.read(file, MOST)
                    texts[file] += more
                    if not more or len(texts[file]) > MOST:
                        waiting.discard(file)
                if any(len(text) > MOST for text in texts.values()):
                    raise OSError("it prints without end")
            process.wait(max(0.0, deadline - time.monotonic()))
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
        return process.returncode, texts[out].decode("utf-8", "replace"), texts[err].decode("utf-8", "replace")


def read_token(output: str, source: str) -> tuple[str, float | None]:
    """The token in what a command printed, and when it expires (seconds since the epoch) where it says so."""
    text = output.strip()
    if not text.startswith("{"):
        if not text or len(text.split()) > 1:
            raise WhetError(f"{source} must print the key alone, or JSON with accessToken and expires_on.")
        return text, None
    try:
        fields = json.loads(text)
    except ValueError as error:
        raise WhetError(f"{source} printed JSON that cannot be read.") from error
    token = fields.get("accessToken") or fields.get("access_token")
    if not isinstance(token, str) or not token:
        raise WhetError(f"{source} printed JSON without accessToken.")
    try:
        if (expires := fields.get("expires_on")) is not None:
            return token, float(expires)
        if (expires := fields.get("expiresOn")) is not None:
            # Without a zone it is local time, which is also what `timestamp` assumes.
            return token, datetime.fromisoformat(expires).timestamp()
    except (TypeError, ValueError) as error:
        raise WhetError(f"{source} printed an expiry that cannot be read: {quoted(repr(expires))}.") from error
    return token, None


_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def key_for(options: ModelOptions, variable: str, *, own: bool, needed: bool) -> Key:
    """The key that `options` name. With none named, `variable` where the host is the scheme's own, else no key.

    A key is never sent to a host that it was not meant for: a base URL of one's own needs its key named.
    """
    named = [name for name in ("key_env", "key_file", "key_command") if getattr(options, name)]
    if len(named) > 1:
        raise WhetError(f"{' and '.join(named)} are both set: name one source of the key.")
    for name in ("key_env", "key_file"):
        value = getattr(options, name)
        if value and value not in os.environ and looks_like_key(value):
            raise WhetError(f"{name} holds what looks like a key itself: put the key elsewhere and give its name here.")
    if options.key_command:
        return CommandKey(options.key_command)
    if options.key_file:
        return FileKey(options.key_file)
    if options.key_env:
        if not _VARIABLE.fullmatch(options.key_env):
            raise WhetError("key_env must be the name of an environment variable, as in OPENAI_API_KEY.")
        return EnvKey(options.key_env)
    if options.key_env is None and own:
        return EnvKey(variable, needed)
    return NoKey(variable if os.environ.get(variable) else "")
