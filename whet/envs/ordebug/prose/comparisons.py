"""The many ways to say at most, at least and exactly, with what is limited as {q} and the limit as {f}."""

from __future__ import annotations

import random

from whet.envs.ordebug.model import Sense

_DIRECT: dict[Sense, tuple[str, ...]] = {
    "<=": (
        "{Q} must not exceed {f}.",
        "{Q} may come to {f} at the very most.",
        "For {q}, {f} is the ceiling.",
        "There is room for {f} of {q} and no further.",
        "Anything beyond {f} for {q} is refused.",
        "Keep {q} within {f}.",
        "{F} is all that {q} may take up.",
        "{Q} stays at or under {f}.",
        "It is out of the question that {q} should pass {f}.",
        "Nobody will sign for {q} once it is past {f}.",
        "{Q}: {f}, and rather less than more.",
        "The hall holds {f}; {q} has to fit.",
        "With {f} the means for {q} are used up.",
    ),
    ">=": (
        "{Q} must reach {f}.",
        "{Q} may not drop below {f}.",
        "For {q}, {f} is the floor.",
        "Anything short of {f} for {q} breaks the contract.",
        "{F} or more is owed on {q}.",
        "{Q} cannot be allowed to fall short of {f}.",
        "Hold {q} to {f} upward.",
        "It will not do for {q} to stay behind {f}.",
        "The partners walk away unless {q} makes {f}.",
        "{Q}: {f}, and rather more than less.",
        "{F} has been promised; {q} has to honour that.",
        "Only from {f} on is {q} worth the trouble, and it must be done.",
        "{Q} is not to be seen under {f}.",
    ),
    "=": (
        "{Q} must come to exactly {f}.",
        "{Q} is fixed at {f}.",
        "Neither more nor less than {f} will do for {q}.",
        "{Q} has to match {f} to the last bit.",
        "{F} it is for {q}, no matter what.",
        "For {q} there is no leeway on either side of {f}.",
        "{Q} settles at {f}, all told.",
        "The books close only if {q} hits {f} on the nose.",
    ),
}

_STANDING: dict[Sense, tuple[str, ...]] = {
    "<=": (
        "{Name} is a ceiling.",
        "One may stay short of the {name} figure but never pass it.",
        "Under {name}, less is fine and more is not.",
        "{Name} works as a cap.",
        "Passing the {name} figure is forbidden; missing it is not.",
    ),
    ">=": (
        "{Name} is a floor.",
        "One may pass the {name} figure but never stay short of it.",
        "Under {name}, more is fine and less is not.",
        "{Name} works as a quota to be filled.",
        "Missing the {name} figure is forbidden; passing it is not.",
    ),
    "=": (
        "{Name} has to be hit squarely.",
        "One may neither pass the {name} figure nor stay short of it.",
        "Under {name}, both more and less are wrong.",
        "{Name} leaves no play in either direction.",
    ),
}


def compared(rng: random.Random, sense: Sense, quantity: str, figure: str) -> str:
    """A sentence that holds a quantity to a figure."""
    said = rng.choice(_DIRECT[sense])
    return said.format(q=quantity, f=figure, Q=raised(quantity), F=raised(figure))


def standing(rng: random.Random, sense: Sense, name: str) -> str:
    """What sort of limit a named rule is."""
    return rng.choice(_STANDING[sense]).format(name=name, Name=name)


def raised(text: str) -> str:
    return text[:1].upper() + text[1:]
