"""Seven ways in which a page does not hold a value, written from a wide grammar.

Every explored page withholds exactly one thing: what is asked for, where the task cannot be answered, or its like in a
region that is not meant, where it can. So nothing that is counted in a page tells the two apart; the question does.
A mark, which stands in the page once, shows where and why; evidence has to hold it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from whet.envs.soup.site import SoupSite
from whet.envs.soup.site.lexicon import pick, whole

REASONS: Mapping[str, str] = {
    "fetched": "a script fetches it after the page has loaded",
    "image": "it is shown as an image",
    "document": "it is in a linked or embedded document",
    "login": "it is shown after signing in only",
    "missing_page": "it is said to be on another page, and that page does not exist",
    "contradiction": "the page gives two values for it and says that neither is settled",
    "stale": "the page says that what it shows for it is out of date",
}


@dataclass(frozen=True, slots=True)
class Withheld:
    """What stands in the place of a value: markup, the reason, the mark, and what its links lead to."""

    reason: str
    markup: str
    mark: str
    links: Mapping[str, str] = field(default_factory=dict)


_PHRASES = (
    *("…", "—", "", "· · ·", "--", "{n}", "{a} {n}", "{n}…", "one moment, {a} {n}", "{p}", "({n})", "please wait"),
    *("coming up", "{v} {n}"),
)


def _phrase(rng: random.Random, site: SoupSite) -> str:
    words = site.words
    said = pick(rng, _PHRASES)
    if "{" not in said:
        return said
    return said.format(n=words.noun(rng), a=words.adjective(rng), v=words.verb(rng), p=words.phrase(rng))


def _fetched(rng: random.Random, site: SoupSite, token: str, shown: tuple[str, str]) -> Withheld:
    address = f"/{pick(rng, ('api', 'ajax', 'fragments', 'data', 'rest'))}/{site.words.noun(rng)}/{token}"
    tag, name = pick(rng, ("span", "div", "b")), pick(rng, ("src", "url", "endpoint", "lazy", "fragment"))
    text = _phrase(rng, site)
    markup = pick(
        rng,
        (
            f'<{tag} class="{site.look.cls("lazy")}" data-{name}="{address}">{text}</{tag}>',
            f'<{tag} aria-busy="true" data-{name}="{address}">{text}</{tag}>',
            f'<{tag} id="f{token}">{text}</{tag}><script>fetch("{address}").then(r=>r.text())'
            f'.then(t=>document.getElementById("f{token}").textContent=t)</script>',
        ),
    )
    return Withheld("fetched", markup, token, {address: '{"error":"session required"}'})


def _image(rng: random.Random, site: SoupSite, token: str, shown: tuple[str, str]) -> Withheld:
    address = f"/{pick(rng, ('render', 'img', 'media', 'static'))}/{token}.{pick(rng, ('png', 'gif', 'webp'))}"
    sides = f'width="{whole(rng, 40, 320)}" height="{whole(rng, 14, 60)}"'
    markup = pick(
        rng,
        (
            f'<img src="{address}" alt="" {sides}>',
            f'<img class="{site.look.cls("picture")}" src="{address}" {sides} alt="{_phrase(rng, site)}">',
            f'<picture><source srcset="{address} 2x"><img src="{address}" alt=""></picture>',
        ),
    )
    return Withheld("image", markup, token, {address: "(binary data: an image)"})


def _document(rng: random.Random, site: SoupSite, token: str, shown: tuple[str, str]) -> Withheld:
    ending = pick(rng, ("pdf", "docx", "xlsx", "odt"))
    address = f"/{pick(rng, ('files', 'downloads', 'docs', 'attachments'))}/{site.words.noun(rng)}-{token}.{ending}"
    markup = pick(
        rng,
        (
            f'<a href="{address}">{site.words.phrase(rng)} ({ending.upper()}, {whole(rng, 20, 900)} kB)</a>',
            f'<a href="{address}" download>{pick(rng, ("see", "in", "stated in"))} {site.words.noun(rng)}.{ending}</a>',
            f'<object data="{address}" type="application/{ending}">{_phrase(rng, site)}</object>',
        ),
    )
    return Withheld("document", markup, token, {address: f"(binary data: {ending})"})


def _login(rng: random.Random, site: SoupSite, token: str, shown: tuple[str, str]) -> Withheld:
    address = f"/{pick(rng, ('login', 'account/signin', 'members', 'auth'))}?next={token}"
    verb = pick(rng, ("Sign in", "Log in", "Members only: sign in", "Please log in", "Sign in with your account"))
    rest = pick(rng, ("", " to see it", " to see this", " first", f" ({site.words.noun(rng)} members)"))
    form = "<html><body><form><input type=text name=user><input type=password name=pass></form></body></html>"
    return Withheld("login", f'<a href="{address}">{verb}{rest}</a>', token, {address: form})


def _missing_page(rng: random.Random, site: SoupSite, token: str, shown: tuple[str, str]) -> Withheld:
    address = f"/{site.words.noun(rng)}/{site.words.adjective(rng)}-{token}"
    text = pick(rng, ("see here", "now on its own page", "more", site.words.phrase(rng), "moved here", "details"))
    return Withheld("missing_page", f'<a href="{address}">{text}</a>', token)


def _contradiction(rng: random.Random, site: SoupSite, token: str, shown: tuple[str, str]) -> Withheld:
    note = pick(
        rng,
        (
            "Two figures are on file and neither is confirmed (case {t})",
            "Our sources disagree; which of them is right is open, see ticket {t}",
            "Both are stated; it is not settled which one holds (ref. {t})",
            "Conflicting entries {t}: not settled yet",
        ),
    ).format(t=token)
    first, second = shown
    joined = f"{first} {pick(rng, ('/', 'or', '|'))} {second}" if second else first
    return Withheld("contradiction", f"{joined} <small>{note}</small>", token)


def _stale(rng: random.Random, site: SoupSite, token: str, shown: tuple[str, str]) -> Withheld:
    note = pick(
        rng,
        (
            "Out of date since {d}; what holds now is not published here ({t})",
            "No longer valid (notice {t} of {d})",
            "Superseded on {d}, ref. {t}: do not rely on it",
            "Expired on {d} and not renewed here, see {t}",
        ),
    ).format(t=token, d=site.words.date(rng))
    return Withheld("stale", f"{shown[0]} <small>{note}</small>", token)


_WAYS: tuple[Callable[[random.Random, SoupSite, str, tuple[str, str]], Withheld], ...] = (
    *(_fetched, _image, _document, _login, _missing_page, _contradiction, _stale),
)


def withheld(rng: random.Random, site: SoupSite, shown: tuple[str, str]) -> Withheld:
    """A withheld value. `shown` is what would stand there and a second value like it, as markup."""
    return pick(rng, _WAYS)(rng, site, f"{rng.getrandbits(44) | 1 << 43:x}", shown)
