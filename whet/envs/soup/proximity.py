"""The strongest adversary that knows no site: it reads the value that belongs to the label that means what is asked.

It is a program of no archetype. It is given a table of how questions speak of traits and of how pages label them, finds
the label nearest to what the page or the question names, as text or in an attribute, and reads every spelling of what
follows it or stands below it; of a list it reads the table in which it knows most labels. With the table of the train
half it is what can be learned by heart; with both halves it is what the generator itself would give away.
"""

from __future__ import annotations

from collections.abc import Iterable

from whet.envs.soup.oracle import PRELUDE
from whet.envs.soup.site import Half
from whet.envs.soup.topics import TOPICS

_PROGRAM = r"""
def plain(shown):
    return text(shown).rstrip(": ").casefold()
def stems(shown):
    return {word[:5] for word in re.findall(r"[a-z]{3,}", shown.lower())} - STOP
STOP = {"the", "what", "who", "how", "many", "that", "this", "page", "with", "when", "from", "which", "was"}
def sought(phrase):
    said = [entry for entry in TABLE for ask in entry[0] if ask in phrase]
    said.sort(key=lambda entry: -max(len(ask) for ask in entry[0] if ask in phrase))
    quoted = [name.casefold() for name in re.findall(r'(?:labelled|named) "([^"]+)"', phrase)]
    named = [entry for entry in TABLE if any(label in quoted for label in entry[1])]
    return quoted, (named or said or [None])[0]
def parsed(schema, entry, shown):
    kind = [name for name in (schema["type"] if isinstance(schema["type"], list) else [schema["type"]])][0]
    try:
        if kind == "boolean":
            return plain(shown) in ([plain(entry[3])] if entry else ["yes", "in stock", "welcome"])
        if kind == "number":
            return number(shown)
        return day(shown) if schema.get("format") == "date" else text(shown)
    except (AttributeError, ValueError):
        return None
def extract(html):
    soup = soup_of(html)
    title = plain(soup.title.get_text()) if soup.title else ""
    for tag in soup.find_all(["script", "style", "title"]):
        tag.extract()
    quoted = re.findall(r'"([^"]+)"', QUERY)
    scope = next((found for name in quoted for found in [soup.find(class_=name)] if found), soup)
    nodes = [node for node in scope.find_all(string=True) if node.strip()]
    shown = [text(node) for node in nodes]
    plains = [plain(string) for string in shown]
    marked = {}
    for element in scope.find_all(["div", "td"]):
        for name, said in element.attrs.items():
            if name != "class" and element.string:
                marked.setdefault(plain(said), []).append(element.string)
    order = {id(node): at for at, node in enumerate(nodes)}
    names = [title] + [plain(name) for name in quoted]
    anchors = [at for at, string in enumerate(plains) if string and string in names]
    def near(at):
        return min([abs(at - anchor) for anchor in anchors] or [at])
    def value(schema, phrase):
        labels, entry = sought(phrase)
        labels = labels + list(entry[1] if entry else ())
        places = [at for at, string in enumerate(plains[:-1]) if string in labels]
        told = [node for label in labels for node in marked.get(label, ())]
        if told:
            return parsed(schema, entry, min(told, key=lambda node: near(order.get(id(node), 0))))
        if not places:
            words = stems(phrase)
            common = [(len(words & stems(string)), at) for at, string in enumerate(plains[:-1]) if len(string) < 30]
            most = max([hits for hits, at in common] or [0])
            places = [at for hits, at in common if hits == most > 0]
        if not places:
            return None
        place = min(places, key=near)
        head = nodes[place].find_parent("th")
        heads = head.parent.find_all("th") if head else []
        if len(heads) > 1:  # all labels before all values
            cells = head.find_next("tr").find_all("td") if head.find_next("tr") else []
            spot = [cell is head for cell in heads].index(True)
            return parsed(schema, entry, cells[spot].get_text(" ")) if spot < len(cells) else None
        return parsed(schema, entry, shown[place + 1])
    told = dict(re.findall(r"`(\w+)` \(((?:[^()]|\([^)]*\))*)\)", QUERY))
    if SCHEMA["type"] == "object":
        return {key: value(inner, told.get(key, key)) for key, inner in SCHEMA["properties"].items()}
    if SCHEMA["type"] != "array":
        return value(SCHEMA, QUERY)
    fields = SCHEMA["items"].get("properties", {"": SCHEMA["items"]})
    best, made = 0, []
    for table in scope.find_all("table"):
        lines = [line.find_all(["td", "th"]) for line in table.find_all("tr")]
        heads = [plain(head.get_text(" ")) for head in lines[0]] if lines else []
        told_in = [[plain(said) for name, said in head.attrs.items() if name != "class"] for head in (lines or [[]])[0]]
        if any(told_in):
            heads, lines = [(said or [""])[0] for said in told_in], [[], *lines]
        lines = [[cell.get_text(" ") for cell in line] for line in lines]
        columns = {}
        for key, inner in fields.items():
            entry = sought(told.get(key, key) or QUERY)[1]
            place = next((at for at, head in enumerate(heads) if entry and head in entry[1]), None)
            if place is not None:
                columns[key] = (place, entry, inner)
        if len(columns) > best:
            best = len(columns)
            made = [
                {key: parsed(inner, entry, (line + [""] * 9)[place]) for key, (place, entry, inner) in columns.items()}
                for line in lines[1:]
            ]
    return made if "" not in fields else [line.get("") for line in made]
"""


def proximity_program(halves: Iterable[Half]) -> str:
    """The program with the table of these halves."""
    known = tuple(halves)
    table = [
        (
            [ask for half in known for ask in trait.asks[half]],
            [label.casefold() for half in known for label in trait.labels[half]],
            trait.sort,
            trait.words[0],
        )
        for topic in TOPICS
        for trait in topic.traits
    ]
    return f"{PRELUDE}TABLE = {table!r}\n{_PROGRAM}"
