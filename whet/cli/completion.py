"""`whet completion SHELL`: a script that lets the shell complete commands, options, environments, models and runs.

The script asks `whet complete WORD ...` what may stand in place of the last word. Names come from what is installed and
from the runs folder; where a file is meant, nothing is offered and the shell offers files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from whet.errors import WhetError

BASH = """\
# bash: source <(whet completion bash), or put that line into ~/.bashrc
_whet() {
    local line="${COMP_LINE:0:COMP_POINT}" word prefix
    local -a words
    read -ra words <<< "$line"
    [[ "$line" == *" " ]] && words+=("")
    word="${words[${#words[@]}-1]}"
    prefix="${word%"${word##*[:=]}"}"  # bash replaces what follows the last colon or equals sign
    local IFS=$'\\n'
    COMPREPLY=($(whet complete "${words[@]:1}" 2>/dev/null))
    COMPREPLY=("${COMPREPLY[@]#"$prefix"}")
}
complete -o default -o nosort -F _whet whet
"""

ZSH = """\
#compdef whet
# zsh: source <(whet completion zsh), or put its output into a file _whet on $fpath
_whet() {
    local -a found
    found=("${(@f)$(whet complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "${found[1]}" ]]; then
        compadd -Q -- "${found[@]}"
    else
        _files
    fi
}
compdef _whet whet
"""

FISH = """\
# fish: whet completion fish | source, or put its output into ~/.config/fish/completions/whet.fish
function __whet_complete
    set -l words (commandline -opc) (commandline -ct)
    whet complete $words[2..-1] 2>/dev/null
end
complete -c whet -a '(__whet_complete)'
"""

SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


def script(shell: str) -> str:
    """The script for a shell."""
    if shell not in SCRIPTS:
        raise WhetError(f"whet completion: there is none for {shell!r}; shells are {', '.join(SCRIPTS)}")
    return SCRIPTS[shell]


def candidates(root: Any, words: Sequence[str]) -> list[str]:
    """What may stand in place of the last of `words`, which follow `whet`; nothing where a file is meant.

    `root` is the command line as click has it.
    """
    *before, last = words or ("",)
    command, given = _descend(root, before)
    waiting = _waiting(command, given)
    if waiting is not None:
        offered = _values(waiting, last, before)
    elif last.startswith("-"):
        offered = [name for option in _options(command) for name in (*option.opts, *option.secondary_opts)]
    else:
        taker = command.commands[command.standard] if hasattr(command, "standard") else command
        offered = [*_subcommands(command), *_values(_argument(taker, given), last, before)]
    return sorted({word for word in offered if word.startswith(last)})


def _descend(root: Any, words: Sequence[str]) -> tuple[Any, list[str]]:
    """The command that words lead to, and the words that are left for it."""
    command, rest = root, list(words)
    while rest and hasattr(command, "get_command"):
        with command.make_context("whet", [], resilient_parsing=True) as context:
            found = command.get_command(context, rest[0])
        if found is None:
            break
        command, rest = found.commands_inside() if hasattr(found, "commands_inside") else found, rest[1:]
    standard = getattr(command, "standard", "")
    return (command.commands[standard] if standard and rest else command), rest


def _subcommands(command: Any) -> list[str]:
    if not hasattr(command, "list_commands"):
        return []
    with command.make_context("whet", [], resilient_parsing=True) as context:
        return [name for name in command.list_commands(context) if not _hidden(command, name)]


def _hidden(command: Any, name: str) -> bool:
    return bool(getattr(command.commands.get(name), "hidden", False))


def _options(command: Any) -> list[Any]:
    return [param for param in command.params if param.param_type_name == "option" and not param.hidden]


def _waiting(command: Any, given: Sequence[str]) -> Any:
    """The option that the last given word is, when it takes a value."""
    for option in _options(command) if given else ():
        if given[-1] in option.opts and not option.is_flag:
            return option
    return None


def _argument(command: Any, given: Sequence[str]) -> Any:
    """The argument that comes next."""
    values = {name for option in _options(command) if not option.is_flag for name in option.opts}
    plain = [word for at, word in enumerate(given) if not word.startswith("-") and not (at and given[at - 1] in values)]
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    at = min(len(plain), len(arguments) - 1)
    return arguments[at] if arguments and (len(plain) < len(arguments) or arguments[-1].nargs == -1) else None


# --------------------------------------------------------------------------------------------- names


def _values(param: Any, word: str, before: Sequence[str]) -> Iterable[str]:
    """What may be given to an option or argument."""
    if param is None:
        return []
    if choices := _choices(param):
        return choices
    find = _known_models if param.metavar == MODEL_ID else NAMES.get(str(param.name))
    if find is None:
        return []
    try:
        return find(word, before)
    except (WhetError, OSError):
        return []


def _choices(param: Any) -> list[str]:
    """The words that a parameter takes and no other; versions of typer keep them in two places."""
    kind = getattr(param, "type", None) or getattr(getattr(param, "type_descriptor", None), "annotation", None)
    listed = getattr(kind, "choices", None) or (get_args(kind) if get_origin(kind) is Literal else ())
    return [str(choice) for choice in listed]


def _environments(word: str, before: Sequence[str]) -> Iterable[str]:
    from whet.envs.registry import FAMILIES, variants_at

    name, slash, _ = word.partition("/")
    if slash and name in FAMILIES.names():
        return [f"{name}/{variant}" for variant in variants_at(name)]
    return FAMILIES.names()


def _models(word: str, before: Sequence[str]) -> Iterable[str]:
    from whet.models.load import SCHEMES

    scheme, colon, _ = word.partition(":")
    if not colon:
        return [f"{name}:" for name in (*SCHEMES.names(), "baseline")]
    if scheme == "embedded":
        return ["embedded:smollm2"]
    if scheme == "baseline":
        return [f"baseline:{name}" for name in ("oracle", "empty", "echo", "constant", "frequent")]
    if scheme in ("openai", "openrouter", "anthropic"):
        return [f"{scheme}:{name}" for name in _known_models(word, before)]
    return []


def _known_models(word: str, before: Sequence[str]) -> Iterable[str]:
    from whet.models.registry import registry

    return [record.id for record in registry().records]


def _runs(word: str, before: Sequence[str]) -> Iterable[str]:
    from whet.ledger.store import FILE

    named = [before[at + 1] for at, given in enumerate(before[:-1]) if given == "--runs"]
    folder = Path(named[-1] if named else "runs")
    return [file.parent.name for file in folder.glob(f"*/{FILE}")]


def _checks(word: str, before: Sequence[str]) -> Iterable[str]:
    from whet.envs.data.checks import CHECKS

    return CHECKS


def _splits(word: str, before: Sequence[str]) -> Iterable[str]:
    from whet.types import SPLITS

    return SPLITS


def _shells(word: str, before: Sequence[str]) -> Iterable[str]:
    return SCRIPTS


MODEL_ID = "ID"
"""How an argument is called that is the id of a model in the registry."""

Names = Callable[[str, Sequence[str]], Iterable[str]]

NAMES: dict[str, Names] = {
    "env": _environments,
    "address": _environments,
    "model": _models,
    "run": _runs,
    "a": _runs,
    "b": _runs,
    "names": _runs,
    "weights": _runs,
    "check": _checks,
    "split": _splits,
    "shell": _shells,
}
"""What a parameter of any command is given, by the parameter's name."""
