"""The look of a site: which classes, ids, marks and tags it gives to the roles of its pages.

A site is written in one framework. Six frameworks belong to each half, so what is learnt about the names of one half
does not carry to the other. Only one in six names a thing by what it is.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TypeVar

from whet.envs.soup.site.vocabulary import MODIFIERS, STEMS, Half

T = TypeVar("T")

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_BASE36 = "0123456789" + _LETTERS


def _alphabet(letters: str) -> bytes:
    return bytes(ord(letters[value * len(letters) // 256]) for value in range(256))


_LETTER, _LOWER, _CASES = map(_alphabet, (_LETTERS, _BASE36, _LETTERS + _LETTERS.upper()))


class Dice:
    """Draws from a hash of names: the same in every process, and independent of what was drawn for other names."""

    __slots__ = ("at", "digest")

    def __init__(self, *names: object) -> None:
        self.digest = blake2b("\0".join(map(str, names)).encode()).digest()
        self.at = 0

    def below(self, limit: int) -> int:
        """A whole number from 0 to `limit`, which is small and excluded."""
        at = self.at
        if at > 60:
            self.digest, at = blake2b(self.digest).digest(), 0
        self.at = at + 2
        return (self.digest[at] * 256 + self.digest[at + 1]) * limit >> 16

    def of(self, choices: Sequence[T]) -> T:
        """One of them: `below`, written out, for it is called most."""
        at = self.at
        if at > 60:
            self.digest, at = blake2b(self.digest).digest(), 0
        self.at = at + 2
        return choices[(self.digest[at] * 256 + self.digest[at + 1]) * len(choices) >> 16]

    def code(self, length: int, alphabet: bytes = _LOWER) -> str:
        """Up to twelve letters and digits, the first one a letter."""
        at = self.at
        if at > 52:
            self.digest, at = blake2b(self.digest).digest(), 0
        self.at = at + length
        drawn = self.digest[at : at + length]
        return (drawn[:1].translate(_LETTER) + drawn[1:].translate(alphabet)).decode()


@dataclass(frozen=True, slots=True)
class Habit:
    """How one framework names things. The functions get dice of the role and the look."""

    name: str
    own: Callable[[Dice, Look, str], str]
    """The class that belongs to the role alone."""
    also: Callable[[Dice, Look, str], str]
    """Further classes, with the space between; often shared by other roles."""
    ident: Callable[[Dice, Look], str]
    mark: Callable[[Dice, Look], str]
    """Attributes that the framework leaves on elements, with a leading space."""
    rooted: str = "app"
    """The id of the element that holds the page."""


@dataclass(frozen=True, slots=True)
class Look:
    """The habits of one site. Every method is a pure function of the look and the role."""

    seed: int
    half: Half
    habit: Habit
    prefix: str
    scope: str
    """A hash of the site's build, which some frameworks write on every element."""
    stems: tuple[str, ...]
    root: str
    """What all dice of the site begin with."""
    _known: dict[str, tuple[str, str]] = field(default_factory=dict, compare=False, repr=False)

    def dice(self, *names: str) -> Dice:
        return Dice(self.root + "\0".join(names))

    def key(self, role: str) -> str:
        """The one class among `cls(role)` that no other role and no filler has."""
        return (self._known.get(role) or self._named(role))[0]

    def cls(self, role: str) -> str:
        """The value of the class attribute of a role such as `price`."""
        return (self._known.get(role) or self._named(role))[1]

    def _named(self, role: str) -> tuple[str, str]:
        dice = Dice(f"{self.root}class\0{role}")
        own, also = self.habit.own(dice, self, role), self.habit.also(dice, self, role)
        every = (f"{also} {own}" if dice.below(2) else f"{own} {also}") if also else own
        self._known[role] = own, every
        return own, every

    def ident(self, role: str) -> str:
        """An id of this site's kind, which no other role and no filler has."""
        return self.habit.ident(self.dice("id", role), self)

    def attrs(self, role: str) -> str:
        """Further attributes, with a leading space; maybe none."""
        mark = self.habit.mark
        return "" if mark is _none else mark(self.dice("mark", role), self)

    def tag(self, role: str, *choices: str) -> str:
        """Which of these tags this site uses for the role."""
        return self.dice("tag", role).of(choices)

    def stem(self, dice: Dice, role: str = "~") -> str:
        """A word for names. What tasks ask for has the site's first stems, filler the others: so the two never meet."""
        if role[:1] == "~":
            return self.stems[_TASKS + dice.below(len(self.stems) - _TASKS)]
        return self.stems[dice.below(_TASKS)]

    def modifier(self, dice: Dice) -> str:
        return dice.of(MODIFIERS[self.half])


_TASKS = 24
"""How many of a site's stems begin the names of what tasks ask for. Which ones is drawn for every site."""


def _none(dice: Dice, look: Look, role: str = "") -> str:
    return ""


def _few(form: Callable[[Dice, Look], str], low: int, high: int) -> Callable[[Dice, Look, str], str]:
    def also(dice: Dice, look: Look, role: str) -> str:
        return " ".join([form(dice, look) for _ in range(low + dice.below(high - low + 1))])

    return also


def _testid(dice: Dice, look: Look) -> str:
    return f' data-testid="{look.stem(dice)}-{dice.code(6)}"' if dice.below(4) == 0 else ""


# ------------------------------------------------------------------------------------------------ frameworks of train


def _module(dice: Dice, look: Look, role: str) -> str:
    return f"{look.stem(dice, role).capitalize()}_{look.stem(dice)}__{dice.code(5, _CASES)}"


def _bem(dice: Dice, look: Look, role: str) -> str:
    return f"{look.prefix}-{look.stem(dice, role)}-{look.modifier(dice)}__{look.stem(dice)}-{look.stem(dice)}"


def _bem_modifier(dice: Dice, look: Look) -> str:
    return f"{look.prefix}-{look.stem(dice)}--{look.modifier(dice)}"


_UTILITIES = (
    *("flex", "block", "grid", "hidden", "relative", "absolute", "items-center", "justify-between", "truncate"),
    *("rounded", "rounded-lg", "border", "shadow", "shadow-sm", "font-medium", "font-semibold", "uppercase"),
    *("w-full", "h-full", "overflow-hidden", "transition", "sr-only", "mx-auto", "shrink-0", "sticky", "antialiased"),
)
_UTILITY_FORMS = ("p-", "px-", "py-", "m-", "mt-", "mb-", "gap-", "w-", "h-", "z-", "text-", "leading-", "col-span-")
_SCREENS = ("", "", "", "sm:", "md:", "lg:", "hover:", "focus:")


_UTILITY_NAMES = (*_UTILITIES * 6, *(f"{form}{number}" for form in _UTILITY_FORMS for number in range(13)))


def _utility(dice: Dice, look: Look) -> str:
    return dice.of(_SCREENS) + dice.of(_UTILITY_NAMES)


def _utility_own(dice: Dice, look: Look, role: str) -> str:
    return f"{look.stem(dice, role)}-{look.modifier(dice)}{dice.code(4, _LETTER)}"


def _scoped(dice: Dice, look: Look, role: str) -> str:
    return f"{look.stem(dice, role)}-{look.modifier(dice)}-{look.stem(dice)}-{look.stem(dice)}"


def _legacy(dice: Dice, look: Look, role: str) -> str:
    return f"{look.stem(dice, role)}_{look.stem(dice)}{dice.code(3, _LETTER)}"


def _legacy_also(dice: Dice, look: Look) -> str:
    way = dice.below(3)
    if way == 0:
        return "clearfix"
    return f"col-{dice.below(12) + 1}" if way == 1 else f"{look.prefix}_{look.modifier(dice)}"


def _told(dice: Dice, look: Look, role: str) -> str:
    """Named by what it is: `ab-box-price` of a site that was written by hand."""
    return f"{look.prefix}-{look.stem(dice, role)}-{role.lstrip('~')}"


# ------------------------------------------------------------------------------------------------ frameworks of bench


def _styled(dice: Dice, look: Look, role: str) -> str:
    return f"sc-{dice.code(8, _CASES)}"


def _styled_also(dice: Dice, look: Look) -> str:
    return dice.code(6, _CASES)


def _emotion(dice: Dice, look: Look, role: str) -> str:
    return f"css-{dice.code(8)}"


def _emotion_also(dice: Dice, look: Look) -> str:
    stem = look.stem(dice).capitalize()
    return f"{look.prefix.capitalize()}{stem}-root {look.prefix.capitalize()}{stem}-{look.modifier(dice)}"


def _atomic(dice: Dice, look: Look, role: str) -> str:
    return f"x{dice.code(8)}"


def _atomic_also(dice: Dice, look: Look) -> str:
    return f"x{Dice(look.seed, 'atom', dice.below(160)).code(6)}"


def _content(dice: Dice, look: Look, role: str) -> str:
    return f"{look.prefix}-{look.stem(dice, role)}-{look.stem(dice)}{dice.code(3, _LETTER)}"


def _svelte(dice: Dice, look: Look, role: str) -> str:
    return f"{look.stem(dice, role)}-{look.modifier(dice)}-{look.stem(dice)}"


def _portal(dice: Dice, look: Look, role: str) -> str:
    return f"{look.stem(dice, role)}--{look.prefix}-{look.stem(dice)}--{look.modifier(dice)}-{look.stem(dice)}"


def _portal_also(dice: Dice, look: Look) -> str:
    return f"{look.stem(dice)}--{look.modifier(dice)}"


def _told_too(dice: Dice, look: Look, role: str) -> str:
    return f"{role.lstrip('~')}__{look.stem(dice, role)}-{look.prefix}"


HABITS: dict[Half, tuple[Habit, ...]] = {
    "train": (
        Habit("modules", _module, _none, lambda dice, look: f"{look.stem(dice)}-{dice.code(6)}", _testid, "root"),
        Habit(
            "bem",
            _bem,
            _few(_bem_modifier, 0, 1),
            lambda dice, look: f"{look.prefix}-{look.stem(dice)}-{dice.code(6)}",
            _none,
        ),
        Habit(
            "utility",
            _utility_own,
            _few(_utility, 3, 9),
            lambda dice, look: f"radix-{dice.code(5)}-{look.stem(dice)}",
            lambda dice, look: f' data-state="{look.modifier(dice)}"' if dice.below(4) == 0 else "",
            "__next",
        ),
        Habit(
            "scoped",
            _scoped,
            _few(lambda dice, look: f"v-{look.stem(dice)}--{look.modifier(dice)}", 0, 2),
            lambda dice, look: f"v-{dice.below(9000)}-{dice.code(5)}",
            lambda dice, look: f' data-v-{look.scope}=""' if dice.below(3) == 0 else "",
        ),
        Habit(
            "legacy",
            _legacy,
            _few(_legacy_also, 1, 3),
            lambda dice, look: f"{look.stem(dice)}_{dice.below(9000)}_{dice.code(3)}",
            _none,
            "wrapper",
        ),
        Habit("told", _told, _none, lambda dice, look: f"{look.prefix}{dice.code(6)}", _none, "page"),
    ),
    "bench": (
        Habit("styled", _styled, _few(_styled_also, 1, 1), lambda dice, look: f"r{dice.code(6)}", _testid, "gatsby"),
        Habit(
            "emotion",
            _emotion,
            _few(_emotion_also, 0, 1),
            lambda dice, look: f"{look.prefix}-{dice.below(900)}-{dice.code(5)}",
            lambda dice, look: f' data-index="{dice.below(40)}"' if dice.below(5) == 0 else "",
            "main-app",
        ),
        Habit(
            "atomic",
            _atomic,
            _few(_atomic_also, 2, 7),
            lambda dice, look: f"mount_0_0_{dice.code(5)}",
            lambda dice, look: f' data-visualcompletion="{look.modifier(dice)}"' if dice.below(6) == 0 else "",
            "mount",
        ),
        Habit(
            "content",
            _content,
            _few(lambda dice, look: f"ng-{look.modifier(dice)}", 0, 2),
            lambda dice, look: f"mat-{look.stem(dice)}-{dice.below(500)}-{dice.code(3)}",
            lambda dice, look: f' _ngcontent-{look.scope}-c{10 + dice.below(60)}=""' if dice.below(2) else "",
            "shell",
        ),
        Habit(
            "svelte",
            _svelte,
            lambda dice, look, role: f"svelte-{Dice(look.seed, dice.below(12)).code(7)}",
            lambda dice, look: f"{look.stem(dice)}{dice.below(700)}x{dice.code(3)}",
            _none,
            "svelte",
        ),
        Habit(
            "portal",
            _portal,
            _few(_portal_also, 0, 3),
            lambda dice, look: f"ctl{dice.below(90):02d}_{look.stem(dice).capitalize()}_{dice.code(4)}",
            lambda dice, look: f' data-drupal-{look.stem(dice)}="{dice.code(5)}"' if dice.below(6) == 0 else "",
            "page-holder",
        ),
        Habit("told-too", _told_too, _none, lambda dice, look: f"{look.prefix}-{dice.code(6)}", _none, "site"),
    ),
}


@functools.lru_cache(maxsize=4096)
def _turned(half: Half, turn: int, step: int) -> tuple[str, ...]:
    """The stems of a half, from another one on and in another order."""
    stems = STEMS[half]
    return (stems * (step + 1))[turn : turn + len(stems) * step : step]


def look_of(seed: int, half: Half) -> Look:
    dice = Dice(seed, half, "look")
    habit = HABITS[half][dice.below(len(HABITS[half]))]
    turn, step = dice.below(len(STEMS[half])), dice.of((5, 11, 13))
    return Look(
        seed,
        half,
        habit,
        prefix=dice.code(1 + dice.below(2), _LETTER) + dice.of("jqz"),  # so it is no word
        scope=dice.digest[:4].hex(),
        stems=_turned(half, turn, step),
        root=f"{seed}\0{half}\0",
    )
