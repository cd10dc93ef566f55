"""What a vision model is told about one photo: the pack's own words around the photo. Nothing here knows the truth."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from whet.envs.groupqc.pack.schema import Attribute, Mission, ObjectCategory, Pack
from whet.types import Image, Message, system, user

_PLACE = re.compile(r"\{(\w+)\}")


def photo_messages(pack: Pack, mission: Mission, image: Image) -> tuple[Message, ...]:
    """The two messages about a photo; within one mission they differ by the photo alone."""
    rules = (*pack.prompts.photo_rules, *mission.photo_rules)
    told = "\n".join(f"{number}. {rule}" for number, rule in enumerate(rules, start=1))
    asked = filled(
        pack.prompts.photo_request,
        {
            "mission": mission.name,
            "about": mission.about,
            "categories": "\n".join(_category(pack, category) for category in pack.categories),
            "format": answer_form(pack),
        },
    )
    return system(f"{pack.prompts.photo_role}\n{told}"), user((image, asked))


def header(pack: Pack) -> str:
    """The first line of an answer about a photo of the site."""
    return f"<DOMAIN={pack.words.domain}>, <TASK=SUMMARY>"


def answer_form(pack: Pack) -> str:
    """The shape of an answer, with one object as an example of none in particular."""
    words = pack.words
    entry: dict[str, object] = {words.category: "…", "…": {"…": 1}}
    return f"{header(pack)}\n{json.dumps({words.statistics: [entry]}, ensure_ascii=False)}"


def filled(template: str, values: Mapping[str, str]) -> str:
    """A template with its places filled in one pass: braces in what is filled in stay as they are."""
    return _PLACE.sub(lambda place: values[place[1]], template)


def _category(pack: Pack, category: ObjectCategory) -> str:
    attributes = "; ".join(_attribute(attribute) for attribute in category.attributes)
    return f"- {category.name}: {attributes}" if attributes else f"- {category.name}"


def _attribute(attribute: Attribute) -> str:
    return f"{attribute.name} ({' | '.join(attribute.values)})" if attribute.values else attribute.name
