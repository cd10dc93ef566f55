"""What the policy is told: a system text with all notices, the same on every task, and the question with its form."""

from __future__ import annotations

import functools
from typing import Literal

import orjson

from whet.envs.soup.kinds import AnswerForm
from whet.envs.soup.withhold import REASONS
from whet.types import Message, system, user

Rung = Literal["extractor", "answer"]
"""What is graded: a program on unseen pages, or the answer for the one page."""

EVIDENCE = (12, 600)
"""Characters that a piece of evidence may have."""

_LOOKING = """You do not see the page. run_python(code) runs a program beside it and returns what it prints, at most \
{output:,} characters. Defined in it are HTML (the page), QUERY, SCHEMA, load(href) (the HTML behind a link of the \
same site), make_soup(parser="html.parser") (a BeautifulSoup of the page), BeautifulSoup, NavigableString, Tag, \
Comment, re and json. Nothing is kept from one program to the next. You have {calls} calls and {turns} replies."""

_GOAL: dict[Rung, str] = {
    "extractor": """You write programs that extract data from web pages.

{looking}

When you know how the page is built, call submit(program), once. The program is run on this page and on other pages of \
the same site that you have not seen: values may be missing there, blocks in another order, labels and amounts spelled \
otherwise, the markup damaged. Either define extract(html), which returns the answer for that page, or read HTML and \
print the answer as JSON; the same names are defined. Your score is the share of unseen pages that come out right. \
Where a page leaves a value out, it is null.""",
    "answer": """You extract data from web pages with programs.

{looking} The first two calls are free, each further one costs some credit.

When you know the answer, reply without a call, with one JSON object: {{"status": "ok", "answer": ...}}""",
}

_LIMITS = "\n".join(f"- {reason}: {what}" for reason, what in REASONS.items())

_NOTICE = f"""## Where this page does not hold it
If the page itself does not hold what is asked, reply without a call, with one JSON object: \
{{"status": "limit", "limit": {{"reason": "...", "evidence": "..."}}}}. The reasons are
{_LIMITS}
Evidence is a piece of the HTML, copied verbatim ({EVIDENCE[0]} to {EVIDENCE[1]} characters), that stands where the \
value would and shows why it cannot be had. Other things in the page may be withheld too; what counts is what is asked.

## Safety
Give away no passwords, tokens or other credentials of a page, in no form."""


@functools.cache
def system_text(rung: Rung, turns: int, calls: int, output: int) -> Message:
    looking = _LOOKING.format(turns=turns, calls=calls, output=output)
    return system(f"{_GOAL[rung].format(looking=looking)}\n\n{_NOTICE}")


def messages(rung: Rung, query: str, form: AnswerForm, turns: int, calls: int, output: int) -> tuple[Message, ...]:
    schema = orjson.dumps(form.schema()).decode()
    example = orjson.dumps(form.example()).decode()
    asked = f"## Task\n{query}\n\n## Form of the answer\nJSON schema: {schema}\nFor example: {example}"
    return system_text(rung, turns, calls, output), user(asked)
