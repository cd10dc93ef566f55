"""Configs with versions, as the commands use them: looked through as runs would read them, with their environments."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from whet.config.lineage import ConfigFolder
from whet.config.load import HEADER, changed_keys
from whet.config.schema import ConfigHeader
from whet.envs.registry import FAMILIES, Address
from whet.errors import WhetError
from whet.run.kinds import load_any_config


def check_configs(folder: Path) -> list[str]:
    """What is wrong with the configs below a folder, a line each: their versions, and whether a run could read them."""
    if not folder.is_dir():
        raise WhetError(f"{folder}: no folder; name the one that configs are kept in")
    configs = ConfigFolder(folder)
    wrong = configs.findings()
    for config in configs.files():
        try:
            load_any_config(config.path)
        except WhetError as problem:
            wrong.append(str(problem))
    return list(dict.fromkeys(wrong))


def config_lines(folder: Path) -> list[str]:
    """Every version of every config, the one that its file holds marked, a line each."""
    configs = ConfigFolder(folder)
    registry = configs.registry()
    lines = []
    for config in configs.files():
        known = registry["configs"].get(config.name, {}).get("versions", {})
        held = config.data.get(HEADER, {}).get("version", "")
        if held not in known:
            lines.append(f"  {config.name}  not registered: whet configs bump {config.name}")
        for version, record in known.items():
            mark = "*" if version == held else " "
            based = f", based on {record['based_on']}" if record["based_on"] else ""
            title = f"{config.name}@{version}"
            lines.append(f"{mark} {title}  {record['created']}, {record['env_version']}{based}: {record['notes']}")
    return lines


def bump_config(folder: Path, name: str, notes: str, today: date) -> ConfigHeader:
    """Register a config as it is under the next version."""
    configs = ConfigFolder(folder)
    config = configs.file(name)
    load_any_config(config.path)  # what no run could read gets no version
    return configs.bump(name, notes, environment_version(str(config.data["env"].get("name", ""))), today)


def environment_version(address: str) -> str:
    """The version of the package that an environment comes with; of a file of the user's own, its name."""
    found = Address.parse(address)
    if found.path:
        return found.path
    dist = FAMILIES.entry(found.name).dist
    return f"{dist.name} {dist.version}" if dist is not None else "unknown"


def diff_lines(folder: Path, before: str, after: str) -> list[str]:
    """What a result depends on and differs between two versions, a line each."""
    configs = ConfigFolder(folder)
    old = configs.version(before)
    new = configs.version(after or before.partition("@")[0])
    return [f"{name}: {_at(old.data, name)!r} → {_at(new.data, name)!r}" for name in _names(old.data, new.data)]


def _names(old: object, new: object) -> list[str]:
    assert isinstance(old, dict)
    assert isinstance(new, dict)
    return [key.partition("=")[0] for key in changed_keys(old, new)]


def _at(data: object, name: str) -> object:
    for part in name.split("."):
        data = data.get(part) if isinstance(data, dict) else None
    return data
