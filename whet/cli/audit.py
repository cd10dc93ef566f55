"""`whet audit`: the trail proved, anchored, redacted, broken down; and what drift has frozen."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="audit",
    help="The trail of decisions: verify, show, anchor, redact, break down, freeze, unfreeze.",
    no_args_is_help=True,
)

ReleasesFolder = Annotated[Path, typer.Option("--releases", help="Folder that releases are kept in.")]
Who = Annotated[str, typer.Option("--as", help="Who asks for it. [the user at work]")]
Family = Annotated[str, typer.Argument(help="Family of the environment, such as groupqc.")]
Why = Annotated[str, typer.Option(help="The reason, or what was found and done about it, for the record.")]
RELEASES = Path("releases")


@app.command("verify")
def verify_command(
    anchor: Annotated[str, typer.Option(help="File that heads were written to. [as set by 'whet audit anchor']")] = "",
    expect: Annotated[str, typer.Option(help="A line of an anchor that was kept elsewhere.")] = "",
    head: Annotated[bool, typer.Option("--head", help="Print a line to keep elsewhere instead.")] = False,
    releases: ReleasesFolder = RELEASES,
) -> None:
    """Say what is wrong with the trail and what it names, a line each; exit code 1 when anything is."""
    from whet.release.anchor import Anchor
    from whet.release.trail import Trail
    from whet.release.upkeep import release_findings
    from whet.terminal import print_lines

    trail = Trail.of(releases)
    if head:
        print_lines(str(trail.head()))
        return
    given = Anchor(anchor) if anchor else trail.anchor
    wrong = trail.verify(given, expect)
    wrong = wrong or release_findings(releases)
    if wrong:
        print_lines(*wrong)
        raise SystemExit(1)
    last = max((line.link for line in given.lines()), default=0) if given is not None else 0
    links = trail.head().link
    anchored = (
        f"anchored up to commit {last} of {links}" if given is not None and given.path else "not anchored to a file"
    )
    print_lines(f"the trail is whole: {len(trail.entries())} entries in {links} commits, {anchored}")


@app.command("show")
def show_command(
    kind: Annotated[str, typer.Option(help="Only entries of this kind, such as decided or case_resolved.")] = "",
    ticket: Annotated[str, typer.Option(help="Only entries about this ticket, by its key.")] = "",
    limit: Annotated[int, typer.Option("-n", help="The last so many.")] = 40,
    releases: ReleasesFolder = RELEASES,
) -> None:
    """Print entries as JSON, a line each."""
    import orjson

    from whet.outside import shown_json
    from whet.release.trail import Trail
    from whet.terminal import print_lines

    entries = Trail.of(releases).entries(kind or None, ticket or None)
    for entry in entries[-max(1, limit) :]:
        told = {"entry": entry.seq, "at": entry.at, "kind": entry.kind, "subject": entry.subject, **entry.whole}
        print_lines(shown_json(orjson.dumps(told)))


@app.command("anchor")
def anchor_command(
    place: Annotated[str, typer.Argument(help="A file, 'cmd:COMMAND' that is handed each line, or a URL.")],
    releases: ReleasesFolder = RELEASES,
) -> None:
    """Write heads of the trail to a place outside from now on."""
    from whet.release.anchor import Anchor
    from whet.release.upkeep import set_anchor
    from whet.terminal import print_lines

    print_lines(set_anchor(releases, Anchor(place)))


@app.command("redact")
def redact_command(
    ticket: Annotated[str, typer.Argument(help="Key of the ticket, as its decision has it.")],
    why: Why,
    field: Annotated[list[str] | None, typer.Option(help="Only this: name, reason, ticket … [all]")] = None,
    who: Who = "",
    releases: ReleasesFolder = RELEASES,
) -> None:
    """Take personal data of a ticket out of the trail; the chain stays whole, and an entry says that it was done."""
    from whet.release.champion import user
    from whet.release.upkeep import redact_ticket
    from whet.terminal import print_lines

    print_lines(*redact_ticket(releases, ticket, tuple(field or ()), why, who or user()))


@app.command("breakdown")
def breakdown_command(
    by: Annotated[str, typer.Option(help="place, vendor, month, day, kind or champion.")] = "place",
    releases: ReleasesFolder = RELEASES,
) -> None:
    """Decisions and what reviewers made of them, by site, vendor or time."""
    from whet.release.breakdown import breakdown_lines
    from whet.release.trail import Trail
    from whet.terminal import print_lines

    print_lines(*breakdown_lines(Trail.of(releases), by))


@app.command("freeze")
def freeze_command(environment: Family, why: Why, who: Who = "", releases: ReleasesFolder = RELEASES) -> None:
    """Halt learning, promotion and automatic releases for an environment."""
    _frozen(releases, environment, why, who, halt=True)


@app.command("unfreeze")
def unfreeze_command(environment: Family, why: Why, who: Who = "", releases: ReleasesFolder = RELEASES) -> None:
    """Let learning, promotion and automatic releases go on."""
    _frozen(releases, environment, why, who, halt=False)


def _frozen(releases: Path, environment: str, why: str, who: str, *, halt: bool) -> None:
    from whet.release.champion import user
    from whet.release.upkeep import set_frozen
    from whet.terminal import print_lines

    print_lines(set_frozen(releases, environment, why, who or user(), halt=halt))
