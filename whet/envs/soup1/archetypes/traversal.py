"""Traversal: children against descendants, filters by text, and text without scripts."""

from __future__ import annotations

import random

from whet.envs.soup1.answers import ListOf, Text
from whet.envs.soup1.archetype import Sheet, TaskDraft, archetype
from whet.envs.soup1.archetypes.markup import BLOCKS, answered, asked, element, mixed
from whet.envs.soup1.words import (
    ADJECTIVES,
    NOUNS,
    VERBS,
    chance,
    ident,
    klass,
    lookalikes,
    phrase,
    pick,
    sentence,
    token,
    whole,
)

KEYWORDS = (
    *("accordion", "albatross", "apricot", "asbestos", "avocado", "azimuth", "bamboo", "banjo", "basalt", "biscuit"),
    *("bonsai", "cactus", "caravan", "cinnamon", "cobalt", "coral", "cricket", "crystal", "dolphin", "eclipse"),
    *("ember", "falcon", "ferry", "flamingo", "fossil", "galaxy", "garlic", "geyser", "glacier", "grapefruit"),
    *("harbour", "hazelnut", "hornet", "iguana", "indigo", "jasmine", "juniper", "kayak", "lagoon", "lemur"),
    *("lavender", "lobster", "magnet", "mango", "maple", "meteor", "monsoon", "mustard", "nebula", "nutmeg"),
    *("octopus", "opal", "orchid", "otter", "paprika", "pelican", "pepper", "phoenix", "piano", "plankton"),
)
"""Words that no other text has."""

_CHILDREN = (
    'List the texts of the <{tag}> elements with class "{name}" that are direct children of the element with id '
    '"{box}", in document order. Leave out those that are nested deeper.',
    'The element with id "{box}" has immediate children <{tag} class="{name}">. Return their texts in the order of the '
    "page; the same elements further down inside other children do not count.",
    'Which texts stand in {tag}.{name} elements whose parent is the element "#{box}" itself? Give them in order, '
    "without any deeper descendant.",
)


@archetype("medium", 1, ListOf(Text()), size="small")
def direct_children(rng: random.Random) -> TaskDraft:
    """The texts of the direct children with a class, without deeper ones."""
    box, name, tag = ident(rng), klass(rng), pick(rng, BLOCKS)
    texts = [phrase(rng) for _ in range(whole(rng, 3, 6))]
    near = lookalikes(rng, name, 2)

    def item(text: str, named: str = name) -> str:
        return element(rng, tag, text, ("class", named), ("data-row", token(rng)))

    def nested() -> str:
        inner = "\n".join(item(phrase(rng)) for _ in range(whole(rng, 1, 3)))
        return f"<div><div>{inner}</div></div>" if chance(rng, 0.5) else element(rng, "div", inner, ("class", near[0]))

    children = [item(text) for text in texts]
    for extra in (nested(), item(phrase(rng), near[1]), f"<p>{sentence(rng)}</p>", nested())[: whole(rng, 2, 4)]:
        children.insert(whole(rng, 0, len(children)), extra)
    target = element(rng, pick(rng, ("div", "section")), "\n".join(["", *children, ""]), ("id", box))
    decoy = element(rng, "div", item(phrase(rng)) + item(phrase(rng)), ("id", lookalikes(rng, box, 1)[0]))
    return TaskDraft(
        query=asked(rng, _CHILDREN, tag=tag, name=name, box=box),
        answer=texts,
        sheet=Sheet(mixed(rng, (target, decoy))),
        code=(
            answered(
                f"[one.get_text(' ', strip=True) for one in box.find_all({tag!r}, class_={name!r}, recursive=False)]",
                f"box = soup.find(id={box!r})",
            ),
        ),
    )


_FILTER = (
    'Within the element with id "{box}", return the text of every <p> that contains the word "{word}", in document '
    "order.",
    'Some paragraphs (<p>) inside "#{box}" mention "{word}". List their full texts in the order of the page.',
    'Return, in order, the complete text of those <p> descendants of the element "{box}" whose text has "{word}" in '
    "it; other kinds of elements do not count.",
)


def _with(rng: random.Random, word: str) -> str:
    """A sentence around a word."""
    form = pick(rng, ("The {a} {w} {v} a {n}.", "A {n} {v} the {w} near the {a} {n}.", "No {w} {v} a {a} {n}."))
    return form.format(w=word, a=pick(rng, ADJECTIVES), n=pick(rng, NOUNS), v=pick(rng, VERBS))


@archetype("medium", 1, ListOf(Text()), size="small")
def descendants_filter(rng: random.Random) -> TaskDraft:
    """The paragraphs of a container that hold a word."""
    word, other, outside = rng.sample(KEYWORDS, 3)
    box = ident(rng)
    wanted = [_with(rng, word) for _ in range(whole(rng, 2, 4))]
    rest = [_with(rng, other), _with(rng, outside), sentence(rng), sentence(rng)][: whole(rng, 2, 4)]
    plain = [(f"<p>{text}</p>", "") for text in rest] + [(f"<span>{_with(rng, word)}</span>", "")]
    plain.append((f'<p title="{word}">{sentence(rng)}</p><!-- {word} -->', ""))
    order = rng.sample([*plain, *((f"<p>{text}</p>", text) for text in wanted)], len(plain) + len(wanted))
    depth = [f"<div>{markup}</div>" if chance(rng, 0.4) else markup for markup, _ in order]
    target = element(rng, pick(rng, BLOCKS), "\n".join(depth), ("id", box), ("class", klass(rng)))
    decoy = element(rng, "div", f"<p>{_with(rng, word)}</p>", ("class", box))
    return TaskDraft(
        query=asked(rng, _FILTER, box=box, word=word),
        answer=[text for _, text in order if text],
        sheet=Sheet(mixed(rng, (target, decoy))),
        code=(
            answered(
                f"[text for text in texts if {word!r} in text]",
                f"texts = [p.get_text(' ', strip=True) for p in soup.find(id={box!r}).find_all('p')]",
            ),
        ),
    )


_CLEAN = (
    'Return the readable text of the element with id "{box}", without the contents of script and style elements, as '
    "one line with single spaces.",
    'What does a reader see in "#{box}"? Give its text as one line, single spaces between words, with everything in '
    "<script> and <style> left out.",
    'Strip scripts and styles from the element "{box}" and return the text that remains, whitespace collapsed to '
    "single spaces.",
)


@archetype("medium", 1, Text(), size="small")
def remove_scripts_styles(rng: random.Random) -> TaskDraft:
    """The text of a container without its scripts and styles."""
    box, name = ident(rng), klass(rng)
    texts = [sentence(rng) for _ in range(whole(rng, 2, 4))]
    tags = [pick(rng, ("p", "div", "blockquote", "h3", "pre")) for _ in texts]
    noise = (
        f"<style>.{name} {{ color: #{token(rng)}; content: '{phrase(rng)}'; }}</style>",
        f'<script>var {name.replace("-", "_")} = "{sentence(rng)}"; console.log("{phrase(rng)}");</script>',
        f'<script type="application/json">{{"title": "{phrase(rng)}", "id": "{token(rng)}"}}</script>',
        f"<!-- {sentence(rng)} -->",
        f'<script>document.write("<p>{phrase(rng)}</p>");</script>',
        f"<style>@media print {{ .{name} {{ display: none }} }}</style>",
    )
    pieces = [element(rng, tag, text, ("class", name)) for tag, text in zip(tags, texts, strict=True)]
    for piece in (noise[0], noise[1], *rng.sample(noise[2:], whole(rng, 1, 3))):
        pieces.insert(whole(rng, 0, len(pieces)), piece)
    target = element(rng, pick(rng, BLOCKS), "\n".join(pieces), ("id", box))
    decoy = element(rng, "div", f"<p>{sentence(rng)}</p>", ("class", name), ("id", lookalikes(rng, box, 1)[0]))
    return TaskDraft(
        query=asked(rng, _CLEAN, box=box),
        answer=" ".join(texts),
        sheet=Sheet(mixed(rng, (target, decoy))),
        code=(
            answered(
                "' '.join(box.get_text(' ').split())",
                f"box = soup.find(id={box!r})",
                "for one in box.find_all(['script', 'style']):\n    one.decompose()",
            ),
        ),
    )


ARCHETYPES = (direct_children, descendants_filter, remove_scripts_styles)
