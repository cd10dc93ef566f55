"""i18n: text in other languages and scripts, and with signs beyond letters."""

from __future__ import annotations

import random

from whet.envs.soup1.answers import Text
from whet.envs.soup1.archetype import Sheet, TaskDraft, archetype
from whet.envs.soup1.archetypes.languages import LANGUAGES
from whet.envs.soup1.archetypes.markup import answered, asked, element, mixed
from whet.envs.soup1.words import chance, ident, klass, lookalikes, pick, sentence, whole

TAGS = ("p", "div", "span", "blockquote", "h2")

_CODES = tuple(LANGUAGES)
_RTL = tuple(code for code, language in LANGUAGES.items() if language.rtl)

_BY_ID = (
    'Return the text of the element with id "{name}", character by character as it stands.',
    'What does "#{name}" say? Return its text in the original script, untranslated.',
    'The element whose id is "{name}" holds a text, maybe not in English. Return it exactly.',
)


def _draft(rng: random.Random, name: str, text: str, parts: tuple[str, ...]) -> TaskDraft:
    return TaskDraft(
        query=asked(rng, _BY_ID, name=name),
        answer=text,
        sheet=Sheet(parts),
        code=(answered(f"' '.join(soup.find(id={name!r}).get_text().split())"),),
    )


@archetype("medium", 2, Text(), size="small")
def extract_multilingual(rng: random.Random) -> TaskDraft:
    """The text of an element in one of ten languages."""
    name, code = ident(rng), pick(rng, _CODES)
    text = LANGUAGES[code].text(rng)
    parts = [element(rng, pick(rng, TAGS), text, ("id", name), ("lang", code))]
    for number, near in enumerate(lookalikes(rng, name, 3)):
        other = code if number % 2 else pick(rng, _CODES)
        parts.append(element(rng, pick(rng, TAGS), LANGUAGES[other].text(rng), ("id", near), ("lang", other)))
    return _draft(rng, name, text, mixed(rng, parts))


@archetype("medium", 2, Text(), size="small")
def extract_rtl(rng: random.Random) -> TaskDraft:
    """The text of an element that is written from right to left."""
    name, code = ident(rng), pick(rng, _RTL)
    text = LANGUAGES[code].text(rng)
    attributes = [("id", name), ("dir", "rtl"), *([("lang", code)] if chance(rng, 0.7) else [])]
    parts = [element(rng, pick(rng, TAGS), text, *attributes)]
    nearby = lookalikes(rng, name, 3)
    texts = (LANGUAGES[pick(rng, _RTL)].text(rng), LANGUAGES[pick(rng, ("zh", "ja", "ko"))].text(rng), sentence(rng))
    for near, other, way in zip(nearby, texts, ("rtl", "ltr", "auto"), strict=True):
        parts.append(element(rng, pick(rng, TAGS), other, ("id", near), ("dir", way)))
    return _draft(rng, name, text, mixed(rng, parts))


_EMOJI = (
    *("😀", "😂", "🥳", "😎", "🤔", "😴", "🙌", "👍", "👋", "💪", "🙏", "👀"),
    *("🌍", "🌙", "🌈", "🔥", "🌊", "🌱", "🌻", "🍁", "🐝", "🐢", "🦊", "🐙"),
    *("🍎", "🍞", "🍕", "🍣", "☕", "🍰", "🥑", "🌶️", "🍇", "🧀", "🍪", "🥨"),
    *("🚀", "🚲", "🚆", "⛵", "🏠", "🗺️", "⏰", "💡", "📚", "✏️", "🎸", "🎯"),
    *("👩‍💻", "🧑‍🚀", "👨‍👩‍👧", "🏳️‍🌈", "👍🏽", "🤝🏿", "🇯🇵", "🇧🇷", "🇩🇪", "1️⃣", "❤️", "✅"),
)
_SIGNS = ("€", "£", "¥", "₹", "₩", "₺", "₿", "§", "°", "½", "±", "→", "∞", "№", "™", "…")


@archetype("easy", 2, Text(), size="small")
def extract_emoji_content(rng: random.Random) -> TaskDraft:
    """The text of an element with emoji and signs among its words."""
    name = ident(rng)
    text = _lively(rng)
    tag = pick(rng, TAGS)
    parts = [element(rng, tag, text, ("id", name), ("class", klass(rng)))]
    parts += [element(rng, tag, _lively(rng), ("id", near)) for near in lookalikes(rng, name, 2)]
    return _draft(rng, name, text, mixed(rng, parts))


def _lively(rng: random.Random) -> str:
    """Sentences with emoji, at least one, and sometimes another sign."""
    said = [
        f"{sentence(rng)} {pick(rng, _EMOJI)}" if chance(rng, 0.5) else sentence(rng) for _ in range(whole(rng, 1, 3))
    ]
    said.insert(whole(rng, 0, len(said)), pick(rng, _EMOJI) * whole(rng, 1, 2))
    if chance(rng, 0.3):
        said.append(f"{pick(rng, _SIGNS)}{whole(rng, 2, 999)}")
    return " ".join(said)


ARCHETYPES = (extract_multilingual, extract_rtl, extract_emoji_content)
