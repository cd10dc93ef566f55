"""Tables: rows, records, a column by its header, and cells that span rows."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from whet.envs.soup1.answers import ListOf, Money, Nullable, RecordOf, Text
from whet.envs.soup1.archetype import Sheet, TaskDraft, archetype
from whet.envs.soup1.archetypes.markup import answered, asked, element, mixed, spelled
from whet.envs.soup1.words import (
    ADJECTIVES,
    FIRST_NAMES,
    LAST_NAMES,
    NOUNS,
    PRODUCTS,
    chance,
    company,
    ident,
    klass,
    lookalikes,
    person,
    phrase,
    pick,
    price,
    product,
    sku,
    whole,
)

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

CELLS: tuple[Callable[[random.Random], str], ...] = (
    phrase,
    price,
    sku,
    person,
    lambda rng: str(whole(rng, 10, 9999)),
    lambda rng: f"{whole(rng, 1, 28)} {pick(rng, MONTHS)} {whole(rng, 1990, 2029)}",
    lambda rng: f"{whole(rng, 1, 99)}.{whole(rng, 0, 9)}%",
)
"""What a column may hold."""


def cell(rng: random.Random, text: str, tag: str = "td", extra: str = "") -> str:
    """A cell, plain, padded or with markup around its text; no end is left out."""
    form = rng.random()
    if form < 0.7:
        return f"<{tag}{extra}>{text}</{tag}>"
    if form < 0.85:
        return f"<{tag}{extra}>\n    {text}  \n  </{tag}>"
    inner = "span" if form < 0.93 else "b"
    return f"<{tag}{extra}><{inner}>{text}</{inner}></{tag}>"


def table(
    rng: random.Random, rows: Sequence[Sequence[str]], header: Sequence[str], *attributes: tuple[str, str]
) -> str:
    """A table with or without header, with its body marked or not."""
    lines = ["<tr>" + "".join([cell(rng, text) for text in row]) + "</tr>" for row in rows]
    body = "\n".join(lines)
    head = "<tr>" + "".join([cell(rng, text, "th") for text in header]) + "</tr>" if header else ""
    if chance(rng, 0.6):
        head, body = f"<thead>{head}</thead>" if head else "", f"<tbody>\n{body}\n</tbody>"
    return element(rng, "table", f"\n{head}\n{body}\n", *attributes)


_LISTS = (
    'Return the rows of the table with id "{name}" as a list of lists: one inner list a row, each cell as a string as '
    "it is shown.",
    'Read the table "#{name}" into an array of arrays of strings, row by row, cell by cell; an empty cell is "".',
    'The table with id "{name}" has no header. Give all its rows as lists of cell texts (strings, "" where a cell is '
    "empty).",
)


@archetype("easy", 1, ListOf(ListOf(Text())))
def table_list_of_lists(rng: random.Random) -> TaskDraft:
    """All rows of a table without header, as lists of texts."""
    name = ident(rng)
    columns = rng.sample(CELLS, whole(rng, 2, 5))
    rows = [[column(rng) for column in columns] for _ in range(whole(rng, 3, 6))]
    if chance(rng, 0.3):
        rows[whole(rng, 0, len(rows) - 1)][-1] = ""
    target = table(rng, rows, (), ("id", name), ("class", klass(rng)))
    parts: tuple[str, ...] = (target,)
    if chance(rng, 0.4):
        others = [[column(rng) for column in columns] for _ in range(2)]
        parts = mixed(rng, (target, table(rng, others, (), ("id", lookalikes(rng, name, 1)[0]))))
    return TaskDraft(
        query=asked(rng, _LISTS, name=name),
        answer=rows,
        sheet=Sheet(parts),
        code=(
            answered(
                "[[cell.get_text(' ', strip=True) for cell in row.find_all('td')] for row in rows]",
                f"rows = soup.find('table', id={name!r}).find_all('tr')",
            ),
        ),
    )


_DICTS = (
    'Return the rows of the table with id "{name}" as objects with the keys Name, Company, Email and Price, in the '
    "order of the table; null where a cell is empty.",
    'Turn the body of "#{name}" into a list of objects, one a row, with the keys Name, Company, Email, Price (other '
    "columns are left out, an empty cell is null).",
    'For each row below the header of the table "{name}", give an object of its Name, Company, Email and Price as '
    "shown; use null for empty cells.",
)


def _email(rng: random.Random) -> str:
    return f"{pick(rng, FIRST_NAMES).lower()}.{pick(rng, LAST_NAMES).lower()}@{pick(rng, NOUNS)}.example"


_FIELDS: dict[str, Callable[[random.Random], str]] = {
    "Name": person,
    "Company": company,
    "Email": _email,
    "Price": price,
}


@archetype(
    "medium",
    1,
    ListOf(
        RecordOf(
            {
                "Name": Nullable(Text()),
                "Company": Nullable(Text()),
                "Email": Nullable(Text()),
                "Price": Nullable(Money()),
            },
            {"name": "Name", "company": "Company", "email": "Email", "price": "Price"},
        )
    ),
)
def table_list_of_dicts(rng: random.Random) -> TaskDraft:
    """The rows of a table as objects by header, null for empty cells."""
    name = ident(rng)
    records: list[dict[str, str | None]] = [
        {header: draw(rng) for header, draw in _FIELDS.items()} for _ in range(whole(rng, 3, 6))
    ]
    if chance(rng, 0.5):
        pick(rng, records)[pick(rng, ("Company", "Email", "Price"))] = None
    header = rng.sample(list(_FIELDS), 4)
    if chance(rng, 0.5):
        header.insert(whole(rng, 0, 4), pick(rng, ("Region", "Notes", "Status")))
    rows = [[record.get(key, pick(rng, ADJECTIVES)) or "" for key in header] for record in records]
    return TaskDraft(
        query=asked(rng, _DICTS, name=name),
        answer=records,
        sheet=Sheet((table(rng, rows, header, ("id", name), ("class", klass(rng))),)),
        code=(
            answered(
                "[{key: row[header.index(key)] or None for key in keys} for row in rows]",
                "keys = ('Name', 'Company', 'Email', 'Price')",
                f"lines = soup.find('table', id={name!r}).find_all('tr')",
                "texts = [[c.get_text(' ', strip=True) for c in line.find_all(['th', 'td'])] for line in lines]",
                "header, rows = texts[0], texts[1:]",
            ),
        ),
    )


_COLUMN = (
    'Return the values of the column "{header}" of the table with id "{name}", from top to bottom.',
    'In the table "#{name}", what stands under the header "{header}"? List the cell texts in order of the rows.',
    'List, row by row, the entries of the "{header}" column of the table whose id is "{name}".',
)

_THEMES: tuple[tuple[tuple[str, Callable[[random.Random], str]], ...], ...] = (
    (
        ("Employee", person),
        ("Department", lambda rng: f"{pick(rng, NOUNS).capitalize()} Office"),
        ("Salary", lambda rng: f"${whole(rng, 30, 190)},{whole(rng, 0, 999):03d}"),
        ("Start", lambda rng: f"{whole(rng, 1, 28)} {pick(rng, MONTHS)} {whole(rng, 2001, 2025)}"),
        ("Start location", lambda rng: f"{pick(rng, ADJECTIVES).capitalize()} {pick(rng, NOUNS).capitalize()}"),
    ),
    (
        ("Product", product),
        ("Price", price),
        ("Unit price", price),
        ("Stock", lambda rng: str(whole(rng, 2, 4000))),
        ("SKU", sku),
    ),
    (
        ("Part", lambda rng: f"{pick(rng, ADJECTIVES).capitalize()} {pick(rng, NOUNS)}"),
        ("Shelf", lambda rng: f"{pick(rng, 'ABCDEFGH')}{whole(rng, 1, 90)}-{whole(rng, 1, 40)}"),
        ("On hand", lambda rng: str(whole(rng, 0, 900))),
        ("On order", lambda rng: str(whole(rng, 0, 900))),
        ("Supplier", company),
    ),
)


@archetype("medium", 1, ListOf(Text()), size="small")
def table_column_by_header(rng: random.Random) -> TaskDraft:
    """One column of a table, by its header."""
    name, theme = ident(rng), pick(rng, _THEMES)
    columns = [theme[0], *rng.sample(theme[1:], whole(rng, 2, 4))]
    header = [title for title, _ in columns]
    number = whole(rng, 1, len(columns) - 1)
    rows = [[draw(rng) for _, draw in columns] for _ in range(whole(rng, 3, 6))]
    target = table(rng, rows, header, ("id", name))
    if chance(rng, 0.4):
        target = _row_headers(rng, rows, header, name)
    others = [[draw(rng) for _, draw in columns] for _ in range(2)]
    return TaskDraft(
        query=asked(rng, _COLUMN, name=name, header=header[number]),
        answer=[row[number] for row in rows],
        sheet=Sheet(mixed(rng, (target, table(rng, others, header, ("id", lookalikes(rng, name, 1)[0]))))),
        code=(
            answered(
                "[row[number] for row in texts[1:]]",
                f"lines = soup.find('table', id={name!r}).find_all('tr')",
                "texts = [[c.get_text(' ', strip=True) for c in line.find_all(['th', 'td'])] for line in lines]",
                f"number = texts[0].index({header[number]!r})",
            ),
        ),
    )


def _row_headers(rng: random.Random, rows: Sequence[Sequence[str]], header: Sequence[str], name: str) -> str:
    """A table whose first column is made of header cells as well."""
    head = "".join(f'<th scope="col">{title}</th>' for title in header)
    body = "\n".join(
        f'<tr><th scope="row">{row[0]}</th>' + "".join([cell(rng, text) for text in row[1:]]) + "</tr>" for row in rows
    )
    caption = f"<caption>{phrase(rng)}</caption>"
    return f'<table id="{name}">{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


_SPAN = (
    'In the table with id "{name}", what is the price of "{item}" in the category "{category}"? Return it as shown.',
    'The table "#{name}" groups items by category. Return the price listed for "{item}" under "{category}".',
    'Return the "Price" cell of the row of "{item}" that belongs to the category "{category}" in table "{name}".',
)

_GRID = """\
rows, open_cells = [], {}
for line in soup.find("table", id=%r).find_all("tr"):
    row, cells = [], line.find_all(["th", "td"])
    while cells or len(row) in open_cells:
        at = len(row)
        if at in open_cells:
            text, left = open_cells.pop(at)
        else:
            one = cells.pop(0)
            text, left = one.get_text(" ", strip=True), int(one.get("rowspan", 1))
        if left > 1:
            open_cells[at] = (text, left - 1)
        row.append(text)
    rows.append(row)
header = rows[0]
found = [dict(zip(header, row)) for row in rows[1:]]"""


@archetype("hard", 2, Money())
def table_rowspan(rng: random.Random) -> TaskDraft:
    """The price of an item in a category whose cell spans its rows."""
    name = ident(rng)
    categories = rng.sample(NOUNS, whole(rng, 2, 4))
    items = [f"{pick(rng, ADJECTIVES).capitalize()} {product}" for product in rng.sample(PRODUCTS, whole(rng, 3, 5))]
    prices = [f"${cents // 100}.{cents % 100:02d}" for cents in rng.sample(range(500, 99_999), 20)]
    suppliers = chance(rng, 0.4)
    lines: list[str] = []
    asked_for = (whole(rng, 0, len(categories) - 1), whole(rng, 0, len(items) - 1))
    for number, category in enumerate(categories):
        for row, item in enumerate(items):
            first = cell(rng, category.capitalize(), extra=f' rowspan="{len(items)}"') if not row else ""
            # A second cell that spans a pair of rows: the number of cells in a row then says nothing.
            second = cell(rng, company(rng), extra=' rowspan="2"') if suppliers and row % 2 == 0 else ""
            if suppliers and row % 2 == 0 and row == len(items) - 1:
                second = cell(rng, company(rng))
            lines.append(f"<tr>{first}{second}{cell(rng, item)}{cell(rng, prices[number * 5 + row])}</tr>")
    header = ("Category", *(("Supplier",) if suppliers else ()), "Item", "Price")
    head = "<tr>" + "".join(f"<th>{title}</th>" for title in header) + "</tr>"
    body = "\n".join([head, *lines])
    category, item = categories[asked_for[0]].capitalize(), items[asked_for[1]]
    return TaskDraft(
        query=asked(rng, _SPAN, name=name, item=item, category=category),
        answer=prices[asked_for[0] * 5 + asked_for[1]],
        sheet=Sheet((f"<table{spelled(rng, (('id', name), ('class', klass(rng))))}>\n{body}\n</table>",)),
        code=(
            answered(
                f"[row['Price'] for row in found if row['Category'] == {category!r} and row['Item'] == {item!r}][0]",
                _GRID % name,
            ),
        ),
    )


ARCHETYPES = (table_list_of_lists, table_list_of_dicts, table_column_by_header, table_rowspan)
