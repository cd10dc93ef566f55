"""A run from its claim to its config, in the order in which a reader asks: the same in the report and in the viewer."""

from __future__ import annotations

from whet.report import sections, verdicts
from whet.report.fold import RunFacts
from whet.report.markup import Markup
from whet.report.sections import PageLinks


def overview(
    run: RunFacts,
    links: PageLinks,
    *,
    evidence: Markup | None = None,
    playbooks: Markup | None = None,
    cases: Markup | None = None,
) -> list[Markup | None]:
    """Was it real, what was it made of, what changed, which cases are wrong, what did it cost, where is it from."""
    return [
        sections.notes(run),
        sections.claim(run),
        None if run.trouble else sections.cards(run),
        sections.tests(run, links),
        sections.learning(run),
        sections.decisions(run, links),
        evidence,
        playbooks,
        sections.weights(run),
        verdicts.panel(run),
        sections.groups(run, links),
        sections.reasons(run, links),
        cases,
        sections.costs(run),
        sections.origin(run),
    ]
