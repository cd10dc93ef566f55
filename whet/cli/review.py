"""`whet review`: the queue of cases from the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from whet.release.cases import ReviewCase
    from whet.release.review import ReviewQueue

app = typer.Typer(
    name="review", help="Cases that a person decides: list, show, claim, resolve, labels.", no_args_is_help=True
)

ReleasesFolder = Annotated[Path, typer.Option("--releases", help="Folder that releases are kept in.")]
Reviewer = Annotated[str, typer.Option("--as", help="Who reviews. [the user at work]")]
CaseNumber = Annotated[int, typer.Argument(help="Number of the case, as 'whet review list' shows it.")]
RELEASES = Path("releases")


def case_lines(queue: ReviewQueue, cases: Sequence[ReviewCase]) -> Iterator[str]:
    """A line for each case; whatever a ticket or a model says stays on it."""
    from whet.outside import shown_line

    for case in cases:
        decision = queue.decision(case)
        who = f" {shown_line(case.holder, 80)}" if case.holder else ""
        outcome = f" {case.outcome}" if case.outcome else ""
        said = shown_line(f"{decision.name}  {decision.proposed or 'no verdict'}: {decision.reason}", 160)
        yield f"{case.number:>6}  {case.priority:>3}  {case.state}{who}{outcome}  {case.code}  {said}"


@app.command("list")
def list_command(
    state: Annotated[str, typer.Option(help="open, claimed or resolved; by default what is not resolved.")] = "",
    limit: Annotated[int, typer.Option("-n", help="Cases at most.")] = 40,
    releases: ReleasesFolder = RELEASES,
) -> None:
    """Cases by priority: number, priority, state, why a person is asked, what the champion said."""
    from whet.release.review import queue_of
    from whet.terminal import print_lines

    queue = queue_of(releases)
    if state not in ("", "open", "claimed", "resolved"):
        from whet.errors import WhetError

        raise WhetError(f"--state {state}: say open, claimed or resolved")
    cases = [case for case in queue.cases(state=state, limit=1 << 30) if state or case.state != "resolved"]
    print_lines(*case_lines(queue, cases[:limit]), *queue.figures().lines())


@app.command("show")
def show_command(number: CaseNumber, releases: ReleasesFolder = RELEASES) -> None:
    """A case with its ticket: evidence, what it lacks, what the champion said."""
    from whet.release.review import queue_of
    from whet.terminal import print_lines

    print_lines(*case_page(queue_of(releases), number))


def case_page(queue: ReviewQueue, number: int) -> Iterator[str]:
    from whet.outside import shown_line

    case = queue.case(number)
    decision, entry = queue.decision(case), queue.trail.entry(case.decision)
    yield from case_lines(queue, [case])
    yield f"ticket {case.ticket}, decided by {decision.champion}@v{decision.version}: {decision.verdict}"
    yield f"confidence {decision.confidence:g}, evidence gap {decision.gap:g}, release score {decision.score:g}"
    for part, told in decision.lacks.items():
        if isinstance(told, dict) and told.get("what"):
            yield f"  {part}: {shown_line('; '.join(map(str, told['what'])), 400)}"
    ticket = entry.private.get("ticket")
    if ticket is None:
        yield "its ticket was redacted"
    else:
        for key, text in ticket.get("per_image", {}).items():
            yield f"  {shown_line(str(key), 40)}: {shown_line(str(text), 1000)}"
    for who, said in case.votes:
        yield f"  {shown_line(who, 80)} said {said}"


@app.command("claim")
def claim_command(number: CaseNumber, reviewer: Reviewer = "", releases: ReleasesFolder = RELEASES) -> None:
    """Take a case."""
    _tell(lambda queue: queue.claim(number, reviewer or _user()), releases)


@app.command("return")
def return_command(number: CaseNumber, reviewer: Reviewer = "", releases: ReleasesFolder = RELEASES) -> None:
    """Give a case back undecided."""
    _tell(lambda queue: queue.hand_back(number, reviewer or _user()), releases)


@app.command("resolve")
def resolve_command(
    number: CaseNumber,
    verdict: Annotated[str, typer.Argument(help="What it is: pass or fail, or another choice of the environment.")],
    reviewer: Reviewer = "",
    comment: Annotated[str, typer.Option(help="Why, for the record.")] = "",
    ticket: Annotated[str, typer.Option(help="The ticket you looked at; refused where the case is of another.")] = "",
    as_it_was: Annotated[
        bool, typer.Option("--as-it-was", help="Decide it although the site was handed in again since.")
    ] = False,
    releases: ReleasesFolder = RELEASES,
) -> None:
    """Decide a case that you have claimed."""
    who = reviewer or _user()
    more = {"comment": comment, "ticket": ticket, "as_it_was": as_it_was}
    _tell(lambda queue: queue.resolve(number, who, verdict, **more), releases)  # type: ignore[arg-type]


@app.command("labels")
def labels_command(
    out: Annotated[Path, typer.Argument(help="File to write: labelled lines, each with where its label came from.")],
    releases: ReleasesFolder = RELEASES,
) -> None:
    """Write what was decided as labelled work, which 'whet train' takes: groupqc:FILE."""
    from whet.release.review import queue_of, write_labels
    from whet.terminal import print_lines

    print_lines(f"{write_labels(queue_of(releases), out)} labels: {out}")


def _tell(move: Callable[[ReviewQueue], ReviewCase], releases: Path) -> None:
    from whet.release.review import queue_of
    from whet.terminal import print_lines

    queue = queue_of(releases)
    with queue.trail:
        case = move(queue)
    left = f"; {case.reviewers - len(case.votes)} more to say" if case.state == "open" and case.votes else ""
    print_lines(f"case {case.number}: {case.state}{f' ({case.outcome})' if case.outcome else ''}{left}")


def _user() -> str:
    from whet.release.champion import user

    return user()
