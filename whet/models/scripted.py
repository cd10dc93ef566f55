"""A Python function as a model: for tests, baselines and demonstrations, and for agents that are programs."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from types import CellType, ModuleType
from typing import Any

import orjson

from whet.errors import FaultError, LimitReached, WhetError, nearest
from whet.keys import digest
from whet.models.base import FREE, Model, Request
from whet.models.chat import fenced
from whet.models.chat.toolcalls import CallReader, demanded
from whet.models.options import ModelOptions
from whet.models.scheme import scheme
from whet.source import module_from
from whet.types import Fault, Message, Reply, Task, Usage

Answer = Reply | str
Function = Callable[[Request], Answer | Awaitable[Answer]]
Baseline = Callable[[Task, tuple[Message, ...]], Answer]

SCHEME = "scripted:"


class Scripted(Model):
    """Answers with what `function` returns. Text is read like a fenced model's: a ```tool fence in it is a call."""

    price = FREE

    def __init__(
        self, function: Function, name: str = "", *, sees_task: bool = False, fingerprint: str | None = None
    ) -> None:
        self.name = name or SCHEME + _title(function)
        self.sees_task = sees_task
        self.fingerprint = fingerprint or digest("scripted", *identity(function))
        self._function = function

    async def complete(self, request: Request) -> Reply:
        try:
            answer = self._function(request)
            if inspect.isawaitable(answer):
                answer = await answer
        except (FaultError, LimitReached, WhetError):
            raise
        except Exception as error:
            raise self._fault(f"{type(error).__name__}: {error}{_place(error)}") from error
        if isinstance(answer, str):
            found = fenced.read(answer, CallReader.of(request, cut=False)) if request.tools else None
            answer = Reply(answer) if found is None else Reply(answer, found.calls, found.malformed)
        elif not isinstance(answer, Reply):
            raise self._fault(f"it returned {type(answer).__name__}, and must return a Reply or text")
        if not answer.usage.calls:
            answer = replace(answer, usage=Usage(calls=1))
        return demanded(answer, request)

    async def close(self) -> None:
        """A function holds nothing."""

    def _fault(self, message: str) -> FaultError:
        return FaultError(Fault("scripted_error", self.name, message))


def reference(name: str, fingerprint: str, baseline: Baseline) -> Scripted:
    """`baseline:NAME`, a reference policy of an environment: it is handed the task, truth included."""
    address = f"baseline:{name.removeprefix('baseline:')}"

    def answer(request: Request) -> Answer:
        if request.task is None:
            raise WhetError(f"{address} was asked without a task: only a driver that hands one over can use it.")
        return baseline(request.task, request.messages)

    model = Scripted(answer, address, sees_task=True, fingerprint=digest(address, fingerprint))
    model.tells_all = True
    return model


@scheme("scripted", "scripted:MODULE:FUNCTION or scripted:FILE.py:FUNCTION")
def scripted(address: str, options: ModelOptions) -> Model:
    return open_scripted(address)


def open_scripted(address: str) -> Scripted:
    """The function that `scripted:module:function` or `scripted:path/file.py:function` names.

    The whole file enters the fingerprint, because a function is little without the ones it calls.
    """
    place, _, attribute = address.removeprefix(SCHEME).rpartition(":")
    if not place or not attribute:
        raise WhetError(f"{address} must be scripted:module:function or scripted:path/file.py:function.")
    try:
        module = module_from(Path(place)) if place.endswith(".py") else importlib.import_module(place)
    except WhetError:
        raise
    except Exception as error:
        why = f"{type(error).__name__}: {error}{_place(error)}"
        raise WhetError(f"{address}: {place} cannot be loaded: {why}. Is it a module or the path of a file?") from error
    function = getattr(module, attribute, None)
    if not callable(function):
        known = [name for name, value in vars(module).items() if callable(value)]
        raise WhetError(f"{address}: {place} has no function {attribute!r}.{nearest(attribute, known)}")
    return Scripted(function, address, fingerprint=digest("scripted", attribute, _file_text(module)))


def _file_text(module: ModuleType) -> str:
    try:
        return inspect.getsource(module)
    except (OSError, TypeError):
        return module.__name__


def identity(function: Any) -> tuple[Any, ...]:
    """What stands for a function: its source and what it was bound to; its name where it has no source.

    Bound values count: two functions made by one factory share their source and answer differently.
    """
    if isinstance(function, functools.partial):
        return (*identity(function.func), _plain(function.args), _plain(function.keywords))
    cells = getattr(function, "__closure__", None) or ()
    bound = [_plain(cell.cell_contents) for cell in cells if cell != CellType()]
    return _source(function), bound, _plain(getattr(function, "__defaults__", None))


def _source(function: Any) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return f"{getattr(function, '__module__', '')}:{_title(function)}"


def _plain(value: Any) -> Any:
    """`value` where it can be written as JSON, else the name of its type: an address in memory says nothing."""
    if isinstance(value, dict):
        return {str(name): _plain(member) for name, member in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if inspect.isfunction(value):
        return _source(value)
    try:
        orjson.dumps(value)
    except TypeError:
        return type(value).__qualname__
    return value


def _title(function: Any) -> str:
    if isinstance(function, functools.partial):
        return _title(function.func)
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def _place(error: BaseException) -> str:
    """Where an exception was raised, as ' (file.py:12)'."""
    frames = traceback.extract_tb(error.__traceback__)
    return f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
