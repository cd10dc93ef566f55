"""`whet models`: which are known, which fits a purpose, what an endpoint serves, which weights can be trained."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from whet.models.registry import ModelRecord

app = typer.Typer(name="models", invoke_without_command=True, rich_markup_mode=None)


@app.callback()
def models(
    context: typer.Context,
    search: Annotated[str, typer.Option("--search", "-s", help="Part of the id.")] = "",
    purpose: Annotated[
        Literal["rl", "ceiling"] | None,
        typer.Option("--for", help="rl: to be trained; ceiling: to see how far a task can be solved. Best first."),
    ] = None,
    trainable: Annotated[bool | None, typer.Option("--trainable/--untrainable", help="Weights can be trained.")] = None,
    closed: Annotated[bool | None, typer.Option("--closed/--open", help="Reached through an API alone.")] = None,
    vision: Annotated[bool | None, typer.Option("--vision/--text", help="Sees images.")] = None,
    max_params: Annotated[float | None, typer.Option(help="Billions of parameters.")] = None,
    max_active: Annotated[float | None, typer.Option(help="Billions at work for one token.")] = None,
    max_price_in: Annotated[float | None, typer.Option(help="Dollars for a million tokens.")] = None,
    max_price_out: Annotated[float | None, typer.Option(help="Dollars for a million tokens.")] = None,
    live: Annotated[str | None, typer.Option("--live", metavar="URL", help="Compare with what this serves.")] = None,
    key_env: Annotated[str | None, typer.Option(help="Variable with the key for --live.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """List the known models, best first for a purpose; show one, or verify weights."""
    if context.invoked_subcommand is not None:
        return
    from whet.models.registry import registry
    from whet.models.registry.choice import ModelFilter, matching

    known = registry()
    wanted = ModelFilter(
        search, purpose, trainable, closed, vision, max_params, max_active, max_price_in, max_price_out
    )
    found = matching(known.records, wanted)
    if live is not None:
        _print_live(found, known.records, live, key_env)
    elif json:
        _print_json(found)
    elif not found:
        _say("no model in the registry fits; loosen a filter")
    else:
        _print_table(found)
        _say(f"{len(found)} models, listed {known.verified}. See one with: whet models show {found[0].id}")


@app.command("show", no_args_is_help=True)
def show(name: Annotated[str, typer.Argument(metavar="ID", help="Id of the model.")]) -> None:
    """Everything that is known about one model."""
    from whet.models.registry import registry

    known = registry()
    record = known.get(name)
    rows = [
        ("id", record.id),
        *((("on the hub", record.hub),) if record.hub else ()),
        ("kind", record.kind),
        ("parameters", f"{_parameters(record) or 'not known'} (gone through {known.checked})"),
        ("price", _priced(record, known.verified)),
        ("architecture", _architecture(record)),
        ("baseline", _baseline(record) or "not measured"),
        ("max_tokens", str(record.max_tokens or f"{known.max_tokens} (none of its own was noted)")),
        ("tool parser", record.tool_parser or "not noted"),
        ("availability", f"{record.availability} ({known.verified})"),
        ("trainable", "yes" if record.trainable else "no"),
        *((("unfit for", ", ".join(record.unfit_for)),) if record.unfit_for else ()),
        ("trouble", record.trouble or "none known"),
        *((("note", record.note),) if record.note else ()),
        *((f"{what} by", "; ".join(known.sources[name] for name in by)) for what, by in _confirmed(record)),
        *((("unverified", ", ".join(record.unverified)),) if record.unverified else ()),
    ]
    for label, text in rows:
        _say(f"{label:<13}{text}")


def _confirmed(record: ModelRecord) -> Iterable[tuple[str, Sequence[str]]]:
    return ((what.removeprefix("tool_"), by) for what, by in record.confirmed.items())


def _priced(record: ModelRecord, listed: str) -> str:
    """With where it comes from: a price without a date says little."""
    from whet.models.registry.litellm_prices import litellm_price, table_version

    if record.price is not None:
        return f"${_price(record)} for a million tokens in/out ({listed})"
    found = litellm_price(record.id) or litellm_price(record.id.partition("/")[2])
    if found is None:
        return "not known"
    return f"${found.prompt:g}/{found.completion:g} for a million tokens in/out (by {table_version()})"


@app.command("verify", no_args_is_help=True)
def verify(
    source: Annotated[
        str, typer.Argument(metavar="DIR", help="Folder of a model, a GGUF file, or OWNER/NAME on the Hub.")
    ],
) -> None:
    """Whether weights are fit for training, and why not; exit code 1 when they are not."""
    from whet.models.hf.verify import verify_source

    verdict = verify_source(source)
    for check in verdict.checks:
        _say(f"{'FAIL' if check.status == 'fail' else check.status:<6}{check.name:<15}{check.told}")
    _say(f"{source}: {'fit for training' if verdict.fit else 'not fit for training'}")
    if not verdict.fit:
        raise typer.Exit(1)


# --------------------------------------------------------------------------------------------- printing


def _say(text: str) -> None:
    from whet.terminal import print_lines

    print_lines(text)


def _print_table(records: Sequence[ModelRecord], live: frozenset[str] | None = None) -> None:
    from rich.table import Table
    from rich.text import Text

    from whet.terminal import console

    table = Table(box=None, header_style="bold", pad_edge=False)
    for head in ("model", "parameters", "$ in/out", "kind", "baseline", "trains", "" if live is None else "live"):
        table.add_column(head, no_wrap=True)
    for record in records:
        served = "" if live is None else "yes" if record.id in live else "not served"
        cells = (
            record.id,
            _parameters(record),
            _price(record),
            record.kind,
            _baseline(record),
            "yes" * record.trainable,
            served,
        )
        table.add_row(*(Text(cell) for cell in cells))
    out = console()
    out.print(table)
    for record in records:
        if record.trouble:
            out.print(f"! {record.id}: {record.trouble}", soft_wrap=True)


def _print_live(found: Sequence[ModelRecord], known: tuple[ModelRecord, ...], url: str, key_env: str | None) -> None:
    from whet.models.options import ModelOptions
    from whet.models.registry.live import compared, list_served

    beside = compared(known, list_served(url, ModelOptions(key_env=key_env)))
    served = frozenset(record.id for record in beside.served)
    _print_table(found, served)
    absent = sum(record.id not in served for record in found)
    _say(f"{url} serves {len(found) - absent} of these {len(found)}.")
    if beside.unknown:
        _say(f"It also serves {len(beside.unknown)} that the registry does not know:")
        for name in beside.unknown:
            _say(f"  {name}")


def _print_json(records: Sequence[ModelRecord]) -> None:
    from whet import wire
    from whet.terminal import print_json

    for record in records:
        print_json(wire.dumps(record))


def _parameters(record: ModelRecord) -> str:
    if record.params is None:
        return ""
    return f"{record.params:g}B" + (f" ({record.active:g}B)" if record.active is not None else "")


def _architecture(record: ModelRecord) -> str:
    if record.closed:
        return "not known"
    return (
        f"{record.architecture}, native in prime-rl" if record.native else "none that is native in prime-rl: runs as hf"
    )


def _price(record: ModelRecord) -> str:
    return "" if record.price is None else f"{record.price.prompt:g}/{record.price.completion:g}"


def _baseline(record: ModelRecord) -> str:
    known: Any = record.baseline
    if known is None:
        return ""
    rate = f"{known.rate:.1%}" if known.high is None else f"{known.rate:.0%} to {known.high:.0%}"
    return rate + (f" (n={known.n})" if known.n else "")
