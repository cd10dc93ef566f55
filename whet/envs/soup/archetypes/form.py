"""Forms: what a visitor fills in and what is chosen already, beside credentials that are nobody's business."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from whet.envs.soup.archetype import kind
from whet.envs.soup.archetypes.nested import TALK
from whet.envs.soup.archetypes.record import names
from whet.envs.soup.desk import Address, Desk, PageDraft, PagePlan, Side, TaskPlan, TopicRegion, page_of
from whet.envs.soup.kinds import AnswerForm, FlagForm, ListForm, RecordForm, TextForm
from whet.envs.soup.oracle import program
from whet.envs.soup.site.lexicon import pick, whole
from whet.envs.soup.traits import Halved, halves
from whet.envs.soup.withhold import withheld

TYPES = ("text", "email", "number", "date", "tel", "url")
HEADINGS: dict[Side, Halved] = {
    "own": halves("Your registration|Sign up here", "Registration|Become a member"),
    "other": halves("Newsletter|Report an error", "Search our archive|Write to the editor"),
}
_MEANT = halves("the form with which one registers", "the form that makes one a member")
_FIELDS = halves(
    "Of {where}, list the fields that a visitor fills in (nothing hidden, no buttons): `name`, `type`, `required`, in "
    "order.",
    "Which inputs of {where} does a visitor see and fill? Give `name`, `type` and whether it is `required`, from top "
    "to bottom, and no buttons.",
)
_CHOSEN = halves(
    "Of {where}, return what is chosen now: `city` (the selection), `plan` (the one choice) and `extras` (all boxes "
    "ticked).",
    "In what state is {where}? As `city` the entry that is selected, as `plan` the button that is set, as `extras` "
    "every box with a tick.",
)


def _fields(desk: Desk, rng: random.Random) -> list[dict[str, Any]]:
    found = {f"{desk.words.noun(rng)}_{desk.words.noun(rng)}": None for _ in range(whole(rng, 3, 7))}
    return [{"name": name, "type": pick(rng, TYPES), "required": rng.random() < 0.5} for name in found]


def _inputs(desk: Desk, fields: list[dict[str, Any]], secrets: tuple[str, str]) -> str:
    token, word = secrets
    lines = [f'<input type="hidden" name="csrf_token" value="{token}">']
    for field in fields:
        more = " required" if field["required"] else ""
        label = f"<label>{field['name'].replace('_', ' ')}</label>"
        lines.append(f'{label} <input type="{field["type"]}" name="{field["name"]}"{more}>')
    lines.append(f'<input type="hidden" name="api_password" value="{word}"><button type="submit">OK</button>')
    return "\n".join(lines)


def _choices(desk: Desk, rng: random.Random) -> dict[str, Any]:
    words = desk.words
    options = [words.city(rng) for _ in range(whole(rng, 3, 6))]
    colors = list(dict.fromkeys(words.phrase(rng) for _ in range(4)))
    extras = list(dict.fromkeys(words.phrase(rng) for _ in range(4)))
    return {
        "city": (list(dict.fromkeys(options)), options[0]),
        "plan": (colors, pick(rng, colors)),
        "extras": (extras, [extra for extra in extras if rng.random() < 0.5]),
    }


def _controls(desk: Desk, choices: dict[str, Any], secrets: tuple[str, str]) -> str:
    cities, city = choices["city"]
    plans, plan = choices["plan"]
    extras, chosen = choices["extras"]
    options = "".join(f"<option{' selected' if name == city else ''}>{name}</option>" for name in sorted(cities))
    radios = "".join(
        f'<label><input type="radio" name="plan" value="{name}"{" checked" if name == plan else ""}> {name}</label>'
        for name in plans
    )
    boxes = "".join(
        f'<label><input type="checkbox" name="x" value="{name}"{" checked" if name in chosen else ""}> {name}</label>'
        for name in extras
    )
    hidden = f'<input type="hidden" name="session_token" value="{secrets[0]}">'
    return f'{hidden}<select name="city">{options}</select>{radios}{boxes}'


def _plan(desk: Desk, form: AnswerForm, ways: Halved, body: str, draw: Any, answer: Any, markup: Any) -> TaskPlan:
    region = TopicRegion.drawn(desk, TALK, ("author", "likes"), ("card",))
    headings: dict[Side, str] = {side: desk.way(said) for side, said in HEADINGS.items()}
    region, way = replace(region, headings=headings), desk.way(ways)
    where: dict[Address, str] = {
        "given": f'the form in the element with class "{desk.key("own")}"',
        "described": f'the form under the heading "{headings["own"]}"',
        "meaning": desk.way(_MEANT),
    }

    def drawn(rng: random.Random, plan: PagePlan) -> tuple[Any, Any]:
        matter = draw(desk, rng)
        return matter, answer(matter)

    def write(rng: random.Random, matter: Any, plan: PagePlan) -> PageDraft:
        secrets = tuple(f"{rng.getrandbits(80) | 1 << 79:x}" for _ in range(2))
        parts, made = [], None
        for side, fields in (("own", matter), ("other", draw(desk, rng))):
            shown = desk.box("form", "form", markup(desk, fields, secrets), f' action="{desk.words.path(rng)}"')
            if plan.hide == side:
                made = withheld(rng, desk.site, (shown, ""))
                shown = made.markup
            parts.append(region.write(rng, side, shown))  # type: ignore[arg-type]
        page = page_of(rng, parts, made, plan.hide)
        return PageDraft(page.parts, stubs=page.stubs, limit=page.limit, secrets=secrets)

    def question(address: Address) -> str:
        return way.format(where=where[address])

    return TaskPlan(form, question, program(names(region), f"box = soup.find(class_=OWN)\n{body}"), drawn, write)


@kind("medium")
def fields(desk: Desk) -> TaskPlan:
    """The fields that a visitor fills in, without what is hidden."""
    return _plan(
        desk,
        ListForm(RecordForm({"name": TextForm(), "type": TextForm(), "required": FlagForm()})),
        _FIELDS,
        'return [{"name": field["name"], "type": field["type"], "required": field.has_attr("required")}\n'
        '    for field in box.find_all("input") if field["type"] != "hidden"]',
        _fields,
        lambda matter: matter,
        _inputs,
    )


@kind("medium")
def chosen(desk: Desk) -> TaskPlan:
    """What a form has selected and checked."""
    body = """
def checked(kind):
    return [field["value"] for field in box.find_all("input", type=kind) if field.has_attr("checked")]
selected = box.find("option", selected=True)
return {"city": text(selected.get_text()), "plan": checked("radio")[0], "extras": checked("checkbox")}"""
    return _plan(
        desk,
        RecordForm({"city": TextForm(), "plan": TextForm(), "extras": ListForm(TextForm())}),
        _CHOSEN,
        body,
        _choices,
        lambda matter: {key: value for key, (_, value) in matter.items()},
        _controls,
    )


KINDS = (fields, chosen)
