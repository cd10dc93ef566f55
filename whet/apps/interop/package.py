"""A package of an environment for verifiers: `whet export verifiers ENV -o DIR`. Written whole or not at all."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import orjson

from whet.apps.interop.exhibit import RECORD, SHOWN, Exhibit
from whet.envs.base import Environment
from whet.envs.registry import Address, load_environment
from whet.errors import WhetError
from whet.extras import EXTRAS
from whet.files import write_atomically

_NAMES = """
agentic_judge bash best_of_n browser_use claude_code codex harbor hermes_agent isolated_verifier kimi_code
mini_swe_agent nemo_gym null openclaw openenv pi prime_agent rlm single_agent terminus_2 textarena user_sim
verifiers whet
"""

TAKEN = frozenset(_NAMES.split())
"""Names that verifiers looks up among its own before it looks for a package."""

EXTRA_OF = {"reasoning-gym": "interop", "soup@1": "soup"}
"""The extra of a family, where it has another name."""


@dataclass(frozen=True, slots=True)
class VerifiersPackage:
    """What was written."""

    folder: Path
    module: str
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.folder}: the package {self.module}, for verifiers {' and '.join(self.lines)}"


def export_verifiers(address: str, out: Path, args: Mapping[str, Any], name: str = "") -> VerifiersPackage:
    """Write the package, then load it again from where it stands: what is written is what was meant."""
    module = (
        name or "whet_" + re.sub(r"\W+", "_", Path(address).stem if ".py:" in address else address).strip("_").lower()
    )
    if not module.isidentifier() or module in TAKEN:
        raise WhetError(f"{module!r} cannot be the name of the package: give another with --name, in letters and _")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise WhetError(f"{out} is there already: name a new folder, or empty it")
    env = load_environment(address, args)
    out.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=".whet-", dir=out.parent))
    try:
        home = made / module
        kept, given = _with_files(address, args, home / "source")
        record = {"address": kept, "args": given, "fingerprint": env.fingerprint, "whet": version("whet")}
        _write(home / RECORD, orjson.dumps(record, option=orjson.OPT_INDENT_2).decode())
        _write(home / "__init__.py", _MODULE.format(about=_plain(env.about or env.name)))
        exhibit = Exhibit.read(home)
        lines = _lines(exhibit, address)
        _write(made / "pyproject.toml", _pyproject(module, env, Address.parse(address).name))
        _write(made / "README.md", _readme(module, address, env, lines))
        if out.exists():
            out.rmdir()
        made.replace(out)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return VerifiersPackage(out, module, lines)


def _lines(exhibit: Exhibit, address: str) -> tuple[str, ...]:
    """The lines that can play it; an environment that changes by being moved is refused here."""
    try:
        env = exhibit.env
    except WhetError as problem:
        raise WhetError(f"{address} is another environment from a copy of its files ({problem})") from None
    first = next((ticket for split in SHOWN for ticket in exhibit.tickets(split, 1)), None)
    if first is None:
        raise WhetError(f"{env.name} has neither train nor select tasks, and its test stays sealed")
    return ("0.3", "0.4") if exhibit.fits(*first) else ("0.3",)


def _with_files(address: str, args: Mapping[str, Any], source: Path) -> tuple[str, dict[str, Any]]:
    """The address and the arguments with the files that they name copied into the package."""

    def copied(text: str) -> str:
        path, colon, rest = text.rpartition(":")
        file, tail = (Path(path), colon + rest) if path.endswith(".py") else (Path(text), "")
        if not file.exists():
            return text
        target = source / file.name
        if target.exists():
            raise WhetError(f"{address} names two files called {file.name}: rename one")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(file, target) if file.is_dir() else shutil.copyfile(file, target)
        return f"{{here}}/source/{file.name}{tail}"

    parsed = Address.parse(address)
    if parsed.path:
        kept = copied(address)
    elif parsed.source:
        kept = address.removesuffix(parsed.source) + copied(parsed.source)
    else:
        kept = address
    return kept, {name: copied(value) if isinstance(value, str) else value for name, value in args.items()}


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text.encode())
    path.chmod(0o644)


def _plain(text: str) -> str:
    return " ".join(text.replace("\\", "/").replace('"', "'").split())


_MODULE = '''"""{about}

For verifiers: `load_environment` is for versions up to 0.3, the taskset for 0.4. Each is made when it is asked for.
"""

from pathlib import Path

from whet.apps.interop.exhibit import Exhibit

__all__ = ["WhetTaskset"]

_EXHIBIT = Exhibit.read(Path(__file__).parent)


def load_environment(split: str = "train", n: int = -1):
    return _EXHIBIT.environment(split, n)


def __getattr__(name: str):
    if name != "WhetTaskset":
        raise AttributeError(name)
    made = globals()[name] = _EXHIBIT.taskset()
    return made
'''


def _pyproject(module: str, env: Environment, family: str) -> str:
    extra = EXTRA_OF.get(family, family)
    wanted = f"[{extra}]" if extra in EXTRAS else ""
    return f'''[build-system]
requires = ["hatchling>=1.25"]
build-backend = "hatchling.build"

[project]
name = "{module.replace("_", "-")}"
version = "0.1.0"
description = "{_plain(env.about or env.name)}"
readme = "README.md"
requires-python = ">=3.11"
dependencies = ["whet{wanted}=={version("whet")}", "verifiers>=0.1.14,<0.5", "datasets>=3"]

[tool.hatch.build.targets.wheel]
packages = ["{module}"]
'''


def _readme(module: str, address: str, env: Environment, lines: tuple[str, ...]) -> str:
    made_of = Path(address).name if ".py:" in address or ":/" in address else address
    shown = ", ".join(f"{split}: {'unbounded' if (n := env.size(split)) is None else n}" for split in SHOWN)
    four = (
        f"""    vf-eval {module} -m MODEL -n 5 --env.agent.harness.id null --env.agent.runtime.type subprocess --no-push
"""
        if "0.4" in lines
        else "It offers tools or asks more than once, so it is not for verifiers 0.4.\n"
    )
    return f"""# {module}

{_plain(env.about or env.name)}

An environment of Whet for verifiers {" and ".join(lines)}, made of `{made_of}`.
Its fingerprint is `{env.fingerprint}`; loaded where another one comes out, it refuses.
Tasks: {shown}. The test split is not in it.

With verifiers 0.3:

    python -c "import verifiers as vf; print(vf.load_environment('{module}', split='train', n=5))"

With verifiers 0.4:

{four}
"""
