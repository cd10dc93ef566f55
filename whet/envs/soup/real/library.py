"""Python's standard library (PSF) as its own `pydoc` shows it on the web; what `inspect` says of it is the truth."""

from __future__ import annotations

import importlib
import inspect
import pydoc
from collections.abc import Iterator
from functools import partial
from types import FunctionType, ModuleType

from whet.envs.soup.real.item import RealItem

SOURCE = "python"
MODULES = (
    *("bisect", "calendar", "colorsys", "copy", "fileinput", "filecmp", "fnmatch", "getopt", "glob", "graphlib"),
    *("heapq", "hmac", "html", "ipaddress", "keyword", "linecache", "mimetypes", "netrc", "operator"),
    *("pickletools", "plistlib", "pprint", "quopri", "random", "reprlib", "secrets", "shlex", "statistics"),
    *("string", "tempfile", "textwrap", "timeit", "token", "trace", "uuid", "wave", "zipfile"),
)
"""Modules whose import does nothing. One that this Python does not have is left out."""

_SECTION = """
title = next(tag for tag in soup.find_all("strong", class_="bigsection") if tag.get_text() == {name!r})
section = title.find_parent("table")
"""
_FUNCTIONS = _SECTION.format(name="Functions") + (
    'answer = [tag["name"][1:] for tag in section.find_all("a", attrs={"name": True}) if tag["name"].startswith("-")]\n'
)
_DEFAULT = (
    _SECTION.format(name="Functions")
    + """
anchor = section.find("a", attrs={{"name": "-{function}"}})
signature = anchor.find_parent("dt").get_text().replace("\\xa0", " ")
answer = signature.split("{parameter}=", 1)[1].split(",")[0].rstrip(")").strip()
"""
)


def items() -> Iterator[RealItem]:
    for name in MODULES:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        yield from _of_module(module)


def page(module: ModuleType) -> str:
    """The page of a module, as a visitor of `pydoc -b` gets it."""
    writer = pydoc.HTMLDoc()
    return writer.page(module.__name__, writer.docmodule(module))


def _of_module(module: ModuleType) -> Iterator[RealItem]:
    shown = getattr(module, "__all__", None)
    functions = {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) and value.__module__ == module.__name__ and name == value.__name__
    }
    if shown is None or not functions:
        return
    told = [name for name in functions if name in shown]
    text = partial(page, module)
    if 1 < len(told) == sum(inspect.isroutine(getattr(module, name, None)) for name in shown):
        query = f"Which functions of the module `{module.__name__}` does the page describe? Names alone, in any order."
        yield RealItem(SOURCE, module.__name__, "functions", query, "set", tuple(sorted(told)), _FUNCTIONS, text)
    for name in told:
        yield from _of_function(module, name, functions[name])


def _of_function(module: ModuleType, name: str, function: FunctionType) -> Iterator[RealItem]:
    text = partial(page, module)
    for parameter in inspect.signature(function).parameters.values():
        simple = (
            isinstance(parameter.default, bool | int | str | float | None) and parameter.annotation is parameter.empty
        )
        if simple and "," not in repr(parameter.default) and ")" not in repr(parameter.default):
            query = (
                f"What is the default of `{parameter.name}`, a parameter of the function `{name}`, as Python writes it?"
            )
            oracle = _DEFAULT.format(function=name, parameter=parameter.name)
            yield RealItem(SOURCE, module.__name__, "default", query, "text", repr(parameter.default), oracle, text)
