"""Nested matter: discussions with answers to answers, and outlines with parts of parts."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from whet.envs.soup.archetype import kind
from whet.envs.soup.archetypes.record import names
from whet.envs.soup.archetypes.table import sides
from whet.envs.soup.desk import Address, Desk, PageDraft, PagePlan, TaskPlan, TopicRegion
from whet.envs.soup.kinds import ListForm, NumberForm, RecordForm, TextForm
from whet.envs.soup.oracle import program
from whet.envs.soup.site.lexicon import whole
from whet.envs.soup.traits import Halved, SpellingHabit, Topic, Trait, count, halves

TALK = Topic(
    "discussion",
    halves("the discussion that this page is about", "the debate that is held on this page"),
    halves("Discussion|Comments", "What readers say|Voices"),
    halves("Another discussion|Elsewhere", "From an older thread|Said before"),
    halves("the chapters of the book that this page is about", "the parts of the book on this page"),
    halves("Contents|In this book", "Chapters|What it holds"),
    halves("Contents of the first volume", "In the companion book|Another volume"),
    (
        Trait(
            "author",
            "text",
            halves("who wrote it", "from whom it is"),
            halves("Posted by", "From"),
            lambda words, rng: f"{words.first_name(rng)} {words.last_name(rng)}",
        ),
        Trait("likes", "number", halves("how many like it", "its likes"), halves("Likes", "Votes"), count(0, 900)),
    ),
)

_TOP_POSTS = halves(
    "In {where}: list the posts that are no answers to another post, as objects with `author` and `likes`, in order.",
    "Meant is {where}. Who began a thread of it, and how many likes has that first post? Objects of `author` and "
    "`likes`, from top to bottom.",
)
_BELOW = halves(
    "In {where}: for each post that is no answer to another, return how many answers it has, answers to answers "
    "included.",
    "Meant is {where}. Count, for every thread of it, the posts below the first one, at whatever depth.",
)
_ACCEPTED = halves(
    "In {where}: return `author` and `likes` of the post that is marked as accepted.",
    "Meant is {where}. One post of it was chosen as the solution: who wrote it (`author`), and what are its `likes`?",
)
_OUTLINE = halves(
    "List the chapters of {where}: objects with `title` and `sections` (how many each has), in order.",
    "How is {where} divided? Give, for every part of the first level, `title` and the number of its `sections`.",
)


@dataclass(frozen=True, slots=True)
class Post:
    """A post with the answers to it."""

    author: str
    likes: int
    text: str
    answers: tuple[Post, ...] = ()
    accepted: bool = False

    @property
    def size(self) -> int:
        return sum(1 + answer.size for answer in self.answers)


def _post(desk: Desk, rng: random.Random, depth: int) -> Post:
    answers = tuple(_post(desk, rng, depth - 1) for _ in range(whole(rng, 0, 2))) if depth else ()
    return Post(desk.words.person(rng), whole(rng, 0, 900), desk.words.sentence(rng), answers)


def _markup(desk: Desk, spelled: SpellingHabit, posts: tuple[Post, ...]) -> str:
    tag = desk.tag("post", "li", "div", "article")
    made = []
    for post in posts:
        badge = desk.box("em", "badge", "accepted answer") if post.accepted else ""
        inner = f"{desk.box('b', 'author', post.author)} {desk.box('span', 'likes', spelled.count(post.likes))}{badge}"
        inner += f"<p>{post.text}</p>"
        if post.answers:
            inner += desk.box("ul" if tag == "li" else "div", "answers", _markup(desk, spelled, post.answers))
        made.append(desk.box(tag, "post", inner))
    return "\n".join(made)


_TOP = """
box = soup.find(class_=OWN)
posts = [post for post in box.find_all(class_=POST) if post.find_parent(class_=POST) is None]
def told(post):
    return text(post.find(class_=AUTHOR).get_text()), number(post.find(class_=LIKES).get_text())
"""


def _names(region: TopicRegion) -> str:
    keys = {"POST": "post", "AUTHOR": "author", "LIKES": "likes", "BADGE": "badge"}
    return "\n".join([names(region), *(f"{name} = {region.desk.key(role)!r}" for name, role in keys.items())])


def _plan(desk: Desk, ways: Halved, body: str, answer: Any, form: Any, accepted: bool = False) -> TaskPlan:
    region, way = TopicRegion.drawn(desk, TALK, ("author", "likes"), ("card",)), desk.way(ways)

    def thread(rng: random.Random) -> tuple[Post, ...]:
        posts = [_post(desk, rng, 3) for _ in range(whole(rng, 2, 5))]
        if accepted:
            at = whole(rng, 0, len(posts) - 1)
            post = posts[at]
            posts[at] = Post(post.author, post.likes, post.text, post.answers, True)
        return tuple(posts)

    def draw(rng: random.Random, plan: PagePlan) -> tuple[Any, Any]:
        own = thread(rng)
        return own, answer(own)

    def write(rng: random.Random, matter: Any, plan: PagePlan) -> PageDraft:
        return sides(rng, region, {"own": matter, "other": thread(rng)}, plan.hide, _markup)

    def question(address: Address) -> str:
        return way.format(where=region.where(address))

    return TaskPlan(form, question, program(_names(region), _TOP + body), draw, write)


@kind("medium")
def top_posts(desk: Desk) -> TaskPlan:
    """The posts that answer no other, with their likes."""
    return _plan(
        desk,
        _TOP_POSTS,
        'return [{"author": told(post)[0], "likes": told(post)[1]} for post in posts]',
        lambda own: [{"author": post.author, "likes": post.likes} for post in own],
        ListForm(RecordForm({"author": TextForm(), "likes": NumberForm()})),
    )


@kind("hard")
def answers_below(desk: Desk) -> TaskPlan:
    """How many answers, to any depth, each first post has."""
    return _plan(
        desk,
        _BELOW,
        "return [len(post.find_all(class_=POST)) for post in posts]",
        lambda own: [post.size for post in own],
        ListForm(NumberForm()),
    )


@kind("medium")
def accepted_answer(desk: Desk) -> TaskPlan:
    """Who wrote the post that is marked as the accepted one."""
    return _plan(
        desk,
        _ACCEPTED,
        "post = box.find(class_=BADGE).find_parent(class_=POST)\n"
        'return {"author": told(post)[0], "likes": told(post)[1]}',
        lambda own: next({"author": post.author, "likes": post.likes} for post in own if post.accepted),
        RecordForm({"author": TextForm(), "likes": NumberForm()}),
        accepted=True,
    )


@kind("medium")
def outline(desk: Desk) -> TaskPlan:
    """The chapters of an outline, with how many sections each has."""
    region = TopicRegion.drawn(desk, TALK, ("author", "likes"), ("card",), many=True)

    def contents(rng: random.Random) -> list[tuple[str, list[str]]]:
        words = desk.words
        return [
            (f"{words.phrase(rng)} {number}", [words.phrase(rng) for _ in range(whole(rng, 0, 5))])
            for number in range(1, whole(rng, 3, 8))
        ]

    def inner(desk: Desk, spelled: SpellingHabit, chapters: list[tuple[str, list[str]]]) -> str:
        made = []
        for title, sections in chapters:
            below = "".join(f"<li>{section}</li>" for section in sections)
            made.append(f"<li>{desk.box('span', 'author', title)}{f'<ol>{below}</ol>' if below else ''}</li>")
        return desk.box("ol", "post", "\n".join(made))

    def draw(rng: random.Random, plan: PagePlan) -> tuple[Any, Any]:
        own = contents(rng)
        return own, [{"title": title, "sections": len(sections)} for title, sections in own]

    def write(rng: random.Random, matter: Any, plan: PagePlan) -> PageDraft:
        return sides(rng, region, {"own": matter, "other": contents(rng)}, plan.hide, inner)

    where: dict[Address, str] = {
        "given": f'the element with class "{desk.key("own")}"',
        "described": f'the list under the heading "{region.headings["own"]}"',
        "meaning": "the book that this page is about",
    }
    way = desk.way(_OUTLINE)

    def question(address: Address) -> str:
        return way.format(where=where[address])

    body = """
made = []
for chapter in soup.find(class_=OWN).find(class_=POST).find_all("li", recursive=False):
    made.append({"title": text(chapter.find(class_=AUTHOR).get_text()), "sections": len(chapter.find_all("li"))})
return made"""
    form = ListForm(RecordForm({"title": TextForm(), "sections": NumberForm()}))
    return TaskPlan(form, question, program(_names(region), body), draw, write)


KINDS = (top_posts, answers_below, accepted_answer, outline)
