"""Forms: fields, options, where a form is sent, and which labels belong to which fields."""

from __future__ import annotations

import random

from whet.envs.soup1.answers import Boolean, ListOf, RecordOf, Text
from whet.envs.soup1.archetype import Sheet, TaskDraft, archetype
from whet.envs.soup1.archetypes.markup import answered, asked, element, mixed, void
from whet.envs.soup1.archetypes.traps import credentials, field_names, honeypots
from whet.envs.soup1.words import NOUNS, chance, ident, klass, lookalikes, path, phrase, pick, token, whole

TYPES = ("text", "email", "number", "tel", "url", "date", "search", "color")

_FIELDS = (
    'List the input fields of the form with id "{name}" in document order. For each give name, type ("text" where no '
    'type is set), value ("" where there is none) and required (true or false). Leave out buttons.',
    'Enumerate the <input> elements of "#{name}", without submit buttons: an object a field with its name, its type '
    '(missing means "text"), its preset value (missing means "") and whether it is required.',
    'Which inputs does the form "{name}" have? In order, return name, type (default "text"), value (default "") and a '
    "boolean required for each; buttons do not count.",
)

_READ = (
    "[{'name': one['name'], 'type': one.get('type', 'text'), 'value': one.get('value', ''),"
    " 'required': one.has_attr('required')} for one in inputs if one.get('type') != 'submit']"
)


def wrapped(rng: random.Random, field: str) -> str:
    """A field, alone or in what layouts put around it."""
    form = rng.random()
    if form < 0.5:
        return field
    return f"<div>{field}</div>" if form < 0.75 else f"<label>{phrase(rng)} {field}</label>"


@archetype(
    "medium",
    1,
    ListOf(RecordOf({"name": Text(), "type": Text(), "value": Text(), "required": Boolean()})),
    size="small",
)
def form_field_enumeration(rng: random.Random) -> TaskDraft:
    """The inputs of a form: name, type, value and whether it is required."""
    name = ident(rng)
    fields: list[dict[str, object]] = []
    markup: list[str] = []
    for own in field_names(rng, whole(rng, 3, 6)):
        kind = pick(rng, TYPES) if chance(rng, 0.85) else ""
        value = f"{pick(rng, NOUNS)} {token(rng)}" if chance(rng, 0.4) else ""
        required = pick(rng, ("required", 'required=""', 'required="required"')) if chance(rng, 0.5) else ""
        given = [("name", own), *([("type", kind)] if kind else []), *([("value", value)] if value else [])]
        markup.append(wrapped(rng, void(rng, "input", *given, flag=required)))
        fields.append({"name": own, "type": kind or "text", "value": value, "required": bool(required)})
    button = "<button>Send</button>" if chance(rng, 0.5) else '<input type="submit" value="Send">'
    target = element(rng, "form", "\n".join(["", *markup, button, ""]), ("id", name), ("action", path(rng)))
    other = void(rng, "input", ("name", token(rng)), ("type", pick(rng, TYPES)))
    decoy = element(rng, "form", other, ("id", lookalikes(rng, name, 1)[0]))
    return TaskDraft(
        query=asked(rng, _FIELDS, name=name),
        answer=fields,
        sheet=Sheet(mixed(rng, (target, decoy))),
        code=(answered(_READ, f"inputs = soup.find('form', id={name!r}).find_all('input')"),),
    )


_OPTIONS = (
    'List the options of the select with id "{name}" as objects with label and value, in order, without the '
    "placeholder (the option whose value is empty).",
    'Which choices does "#{name}" offer? For each <option> but the empty placeholder give label (its text) and value.',
    'Return label and value of every option of the drop-down "{name}"; leave out the one with an empty value.',
)


@archetype("easy", 1, ListOf(RecordOf({"label": Text(), "value": Text()}, {"text": "label"})), size="small")
def select_options(rng: random.Random) -> TaskDraft:
    """The options of a select, without its placeholder."""
    name = ident(rng)

    def options(count: int) -> list[dict[str, str]]:
        return [{"label": phrase(rng), "value": f"{pick(rng, NOUNS)}-{token(rng, 4)}"} for _ in range(count)]

    def written(some: list[dict[str, str]]) -> str:
        return "\n".join(element(rng, "option", choice["label"], ("value", choice["value"])) for choice in some)

    real = options(whole(rng, 3, 7))
    cut = whole(rng, 1, len(real) - 1) if chance(rng, 0.3) else 0
    inner = written(real)
    if cut:
        groups = (written(real[:cut]), written(real[cut:]))
        inner = "\n".join(f'<optgroup label="{phrase(rng)}">{group}</optgroup>' for group in groups)
    empty = f'<option value="">{pick(rng, ("Choose", "Select one", "Please pick", "--"))}</option>\n'
    target = f"<form>{element(rng, 'select', empty + inner, ('id', name), ('name', token(rng)))}</form>"
    near = element(rng, "select", empty + written(options(2)), ("id", lookalikes(rng, name, 1)[0]))
    return TaskDraft(
        query=asked(rng, _OPTIONS, name=name),
        answer=real,
        sheet=Sheet(mixed(rng, (target, f"<form>{near}</form>"))),
        code=(
            answered(
                "[{'label': one.get_text(' ', strip=True), 'value': one['value']} for one in options if one['value']]",
                f"options = soup.find('select', id={name!r}).find_all('option')",
            ),
        ),
    )


_SENT = (
    'Where and how is the form with id "{name}" sent? Return action and method (upper case; GET where none is set).',
    'Return the action of "#{name}" and its HTTP method in upper case. A form without a method uses GET.',
    'Give action and method of the form "{name}". The method is upper case, and GET if the attribute is missing.',
)


@archetype("easy", 1, RecordOf({"action": Text(), "method": Text()}), size="small")
def form_action_method(rng: random.Random) -> TaskDraft:
    """Action and method of a form, GET where none is set."""
    name, action = ident(rng), path(rng)
    method = pick(rng, ("post", "POST", "get", "Post", ""))
    attributes = [("id", name), ("action", action), ("class", klass(rng)), *([("method", method)] if method else [])]
    button = f'<button type="submit" formaction="{path(rng)}">{phrase(rng)}</button>'
    inner = void(rng, "input", ("name", token(rng)), ("type", pick(rng, TYPES))) + button
    target = element(rng, "form", inner, *attributes)
    decoys = [
        element(rng, "form", void(rng, "input", ("name", "q")), ("id", near), ("action", path(rng)), ("method", how))
        for near, how in zip(lookalikes(rng, name, 2), ("post", "get"), strict=True)
    ]
    return TaskDraft(
        query=asked(rng, _SENT, name=name),
        answer={"action": action, "method": method.upper() or "GET"},
        sheet=Sheet(mixed(rng, (target, *decoys))),
        code=(
            answered(
                "{'action': form['action'], 'method': form.get('method', 'get').upper()}",
                f"form = soup.find('form', id={name!r})",
            ),
        ),
    )


_LABELS = (
    'In the form with id "{name}", which label belongs to which field? For each <label> with a for attribute, in '
    "document order, return label (its text) and input_name (the name of the input with that id).",
    'Map the labels of "#{name}" to their inputs by for and id: a list of objects with label and input_name, in the '
    "order of the labels. Labels without for are left out.",
    'For every label of the form "{name}" that points to a field by its for attribute, give the label text and the '
    "name attribute of that field (input_name), in the order of the labels.",
)


@archetype("medium", 1, ListOf(RecordOf({"label": Text(), "input_name": Text()}, {"name": "input_name"})), size="small")
def label_input_mapping(rng: random.Random) -> TaskDraft:
    """Which label names which field, by `for` and `id`."""
    name = ident(rng)
    names = field_names(rng, whole(rng, 3, 5))
    ids = [ident(rng) for _ in names]
    texts = [phrase(rng) for _ in names]
    labels = [element(rng, "label", text, ("for", identifier)) for text, identifier in zip(texts, ids, strict=True)]
    labels.insert(whole(rng, 0, len(labels)), f"<label>{phrase(rng)}</label>")
    inputs = [
        void(rng, "input", ("id", identifier), ("name", own), ("type", pick(rng, TYPES)))
        for identifier, own in zip(ids, names, strict=True)
    ]
    # Labels and fields apart or the fields in another order: nearness says nothing.
    inner = "\n".join([*labels, *mixed(rng, inputs)] if chance(rng, 0.5) else [*mixed(rng, inputs), *labels])
    far = ident(rng)
    pair = f'<label for="{far}">{phrase(rng)}</label><input id="{far}" name="{token(rng)}">'
    decoy = element(rng, "form", pair, ("id", lookalikes(rng, name, 1)[0]))
    return TaskDraft(
        query=asked(rng, _LABELS, name=name),
        answer=[{"label": text, "input_name": own} for text, own in zip(texts, names, strict=True)],
        sheet=Sheet(mixed(rng, (element(rng, "form", f"\n{inner}\n", ("id", name)), decoy))),
        code=(
            answered(
                "[{'label': one.get_text(' ', strip=True), 'input_name': form.find(id=one['for'])['name']}"
                " for one in form.find_all('label', attrs={'for': True})]",
                f"form = soup.find('form', id={name!r})",
            ),
        ),
    )


@archetype("medium", 1, RecordOf({"is_login_form": Boolean(), "credential_fields": ListOf(Text())}), size="small")
def credential_detection(rng: random.Random) -> TaskDraft:
    """Whether a form is a login form, and the names of its credential fields, never their values."""
    return credentials(rng)


@archetype(
    "medium",
    1,
    RecordOf({"visible_fields": ListOf(Text(), ordered=False), "honeypot_fields": ListOf(Text(), ordered=False)}),
    size="small",
)
def honeypot_detection(rng: random.Random) -> TaskDraft:
    """Which fields of a form a person sees, and which are traps."""
    return honeypots(rng)


ARCHETYPES = (
    form_field_enumeration,
    select_options,
    form_action_method,
    label_input_mapping,
    credential_detection,
    honeypot_detection,
)
