"""Group quality control: how fast tickets are made and read, what the reader finds again, and what drift sees.

python bench/groupqc.py [--quick] [--json FILE]

Rates are tickets for each second of CPU time on one core, the slowest mission counting. The peer of the reader is the
same OCR engine run over the whole photo: what it finds of the label texts without being told where labels are.
"""

from __future__ import annotations

import io
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import orjson
from PIL import Image
from rapidocr_onnxruntime import RapidOCR
from rows import Row, arguments, report

from whet.envs.groupqc.drift.shift import compare_tickets
from whet.envs.groupqc.drift.traits import TicketTraits, TraitLexicon, ticket_traits, vote_shares
from whet.envs.groupqc.drift.watch import DriftWatch
from whet.envs.groupqc.pack.file import find_mission, load_packs
from whet.envs.groupqc.pack.schema import Mission, Pack
from whet.envs.groupqc.reader.reader import PhotoReader
from whet.envs.groupqc.records import Photo, PhotoObject
from whet.envs.groupqc.render.photo import photo_jpeg
from whet.envs.groupqc.tickets.file import ticket_of
from whet.envs.groupqc.verdict.lines import read_as_published, read_verdict
from whet.envs.groupqc.world.noise import NO_NOISE, REALISTIC, Noise
from whet.envs.groupqc.world.world import SiteWorld

VECTORS = (
    ("Verdict: 通过\nReason: ok", "pass", "pass"),
    ("verdict：不通过。\nREASON：x", "fail", "fail"),
    ("Verdict: 通过\n\nReason: ok", "pass", "pass"),
    ("Verdict: 不 通 过\nReason: x", "fail", "fail"),
    ("Verdict: 通过\nReason: a\nb", None, None),
    ("```\nVerdict: 通过\nReason: a\n```", None, None),
    ("Verdict: **通过**\nReason: x", None, None),
    ("Verdict: 通过!\nReason: x", None, None),
    ("Verdict: 通过（无问题）\nReason: x", None, None),
    ("Verdict: Fail.\nReason: x", None, None),
    ("通过\n理由: x", None, None),
    ("VerdictX: 通过\nReasonable: x", "pass", None),
    ("Verdict: 通过\nReason: the assistant engineer signed", None, "pass"),
)
"""A reply, how the published parser reads it, and how it should be read: keywords whole, reasons left alone."""

Case = tuple[Pack, Mission]
Tickets = list[TicketTraits]


def rate(work: Callable[[], int]) -> float:
    """Things done in a second of CPU time: the best of three, since a shared machine only ever adds to it."""
    best = 0.0
    for _ in range(3):
        began = time.process_time()
        done = work()
        best = max(best, done / max(time.process_time() - began, 1e-9))
    return best


def generated(case: Case, noise: Noise, count: int) -> float:
    world = SiteWorld(*case, noise)
    return rate(lambda: len([world.group("train", index) for index in range(count)]))


def generation(cases: Sequence[Case], count: int) -> Iterator[Row]:
    for name, noise in (("clean", NO_NOISE), ("noisy", REALISTIC)):
        slowest = min(generated(case, noise, count) for case in cases)
        where = f"slowest of {len(cases)} missions, photos not drawn"
        yield Row(f"groupqc_generated_{name}", slowest, "tickets/s", 2000, slowest >= 2000, condition=where)


def parsing(cases: Sequence[Case], count: int) -> Iterator[Row]:
    """Replies and lines of a Stage-A file."""
    worlds = [SiteWorld(*case, REALISTIC) for case in cases]
    replies = [
        f"Verdict: {pack.words.verdict(mission_ticket.label)}\nReason: {' '.join(mission_ticket.summaries)[:240]}"
        for (pack, _), world in zip(cases, worlds, strict=True)
        for mission_ticket in (world.ticket("train", index) for index in range(count // len(cases)))
    ]
    spoken = rate(lambda: sum(read_verdict(text).valid for text in replies * 20))
    yield Row("groupqc_verdicts_parsed", spoken, "tickets/s", 20_000, spoken >= 20_000, condition="two-line replies")
    lines = [orjson.dumps(world.ticket("train", index).as_line()) for world in worlds for index in range(count // 10)]
    known = {mission.name for _, mission in cases}
    read = rate(lambda: len([ticket_of(line, known) for line in lines]))
    yield Row("groupqc_lines_parsed", read, "tickets/s", 20_000, read >= 20_000, condition="lines of a Stage-A file")


def protocol(count: int) -> Iterator[Row]:
    as_published = sum(read_as_published(text).call == call for text, call, _ in VECTORS) / len(VECTORS)
    yield Row("groupqc_vectors_as_published", as_published, "share", 1.0, as_published == 1.0)
    anchored = sum(read_verdict(text).call == call for text, _, call in VECTORS) / len(VECTORS)
    yield Row("groupqc_vectors_anchored", anchored, "share", 1.0, anchored == 1.0)
    rng, raised = random.Random(7), 0
    letters = "Verdict:：\n\r Reason通过不。assistant\u2028\x00\ud800*`"
    for _ in range(count):
        text = "".join(rng.choices(letters, k=rng.randrange(60)))
        try:
            read_verdict(text)
            read_as_published(text)
        except Exception:  # noqa: BLE001 - any exception is what is counted
            raised += 1
    yield Row("groupqc_parser_raised", raised, "exceptions", 0, raised == 0, condition=f"{count} fuzzed replies")


def states(items: Sequence[PhotoObject]) -> Counter[tuple[str, str, str]]:
    return Counter((item.category, name, value) for item in items for name, value in item.states)


def photos_of(cases: Sequence[Case], groups: int) -> list[tuple[Pack, Photo]]:
    return [
        (case[0], photo) for case in cases for n in range(groups) for photo in SiteWorld(*case).group("test", n).photos
    ]


def reading(cases: Sequence[Case], groups: int) -> Iterator[Row]:
    """What of the drawn states and texts is read, at three strains of the camera."""
    readers = {case[0].name: PhotoReader(case[0]) for case in cases}
    photos = photos_of(cases, groups)
    for strain in (1.0, 1.6, 2.2):
        drawn, lost, invented, exact, seconds = 0, 0, 0, 0, 0.0
        for pack, photo in photos:
            data = photo_jpeg(pack, photo, strain)
            began = time.process_time()
            read = states(readers[pack.name].look(data).items)
            seconds += time.process_time() - began
            truth = states(photo.items)
            drawn, lost, invented = (
                drawn + truth.total(),
                lost + (truth - read).total(),
                invented + (read - truth).total(),
            )
            exact += truth == read
        share = 1 - lost / drawn
        bar = 0.95 if strain == 1.0 else None
        told = f"{drawn} states and texts in {len(photos)} photos; {invented} invented; {exact} photos exact"
        yield Row(
            f"groupqc_reader_recovers_{strain:g}x",
            share,
            "share",
            bar,
            None if bar is None else share >= bar,
            condition=told,
        )
        if strain == 1.0:
            yield Row("groupqc_reader_speed", len(photos) / seconds, "photos/s", condition="CPU time, one core and OCR")


def labels(cases: Sequence[Case], groups: int) -> Iterator[Row]:
    """Label texts alone, against the OCR engine by itself on the whole photo."""
    readers = {case[0].name: PhotoReader(case[0]) for case in cases}
    engine = RapidOCR()
    total, ours, theirs = 0, 0, 0
    for pack, photo in photos_of(cases, groups):
        texts = [item.value(pack.labels.text) for item in photo.items if item.value(pack.labels.text)]
        if not texts:
            continue
        data = photo_jpeg(pack, photo)
        seen = [item.value(pack.labels.text) for item in readers[pack.name].look(data).items]
        found, _ = engine(np.asarray(Image.open(io.BytesIO(data)))[:, :, ::-1])
        whole = [str(line[1]).replace(" ", "") for line in found or []]
        total += len(texts)
        ours += (Counter(texts) & Counter(seen)).total()
        theirs += (Counter(texts) & Counter(whole)).total()
    share, peer = ours / total, theirs / total
    told = f"{total} labels"
    ratio = share / max(peer, 1e-9)
    yield Row(
        "groupqc_reader_label_texts", share, "share", 0.95, share >= 0.95, "RapidOCR, whole photo", peer, ratio, told
    )


CHANGES: dict[str, tuple[str, Noise, Callable[[str], str]]] = {
    "reversed_baffles": ("挡风板安装检查", REALISTIC, lambda text: swapped(text, "方向正确", "方向错误")),
    "other_brands": ("挡风板安装检查", REALISTIC, lambda text: text.replace("华为", "诺基亚").replace("中兴", "三星")),
    "new_label_format": ("BBU线缆布放要求", REALISTIC, lambda text: re.sub(r"([A-Z]+)(\d+)-", r"\2#\1/", text)),
    "flips_2_to_20": ("挡风板安装检查", replace(REALISTIC, flip=0.2), str),
    "flips_2_to_20_rru": ("RRU线缆", replace(REALISTIC, flip=0.2), str),
    "misread_10_to_50": ("RRU线缆", replace(REALISTIC, ocr=0.5), str),
}
"""What changes, by name: a mission, the noise from then on, and what becomes of each summary."""

NULLS = ("挡风板安装检查", "RRU线缆", "Fire door check")


def swapped(text: str, first: str, other: str) -> str:
    return text.replace(first, "\0").replace(other, first).replace("\0", other)


def traits_of(mission: str, n: int, seed: int, noise: Noise = REALISTIC, edit: Callable[[str], str] = str) -> Tickets:
    """Tickets as drift sees them, each with three draws of a judge who is more or less sure, ticket by ticket."""
    pack, wanted = find_mission(mission)
    world, made = SiteWorld(pack, wanted, noise, seed), []
    for index in range(n):
        ticket = world.ticket("train", index)
        said = [edit(text) for text in ticket.summaries]
        rng = random.Random(f"{mission}{seed}/{index}")
        lean, broken = rng.betavariate(0.6, 0.4), rng.betavariate(0.2, 1.8)
        calls = [None if rng.random() < broken else rng.random() < lean for _ in range(3)]
        passes, fails = calls.count(True), calls.count(False)
        row = {
            "majority_pred": None if not passes + fails else "pass" if passes > fails else "fail",
            "agreement": max(passes, fails) / max(1, passes + fails),
            "pass_count": passes,
            "fail_count": fails,
            "invalid_count": calls.count(None),
        }
        made.append(ticket_traits(pack, wanted, ticket.group_id, said, ticket.label).with_shares(vote_shares(row)))
    return made


def alarmed(before: Tickets, after: Tickets, alpha: float = 0.015) -> bool:
    lexicon = TraitLexicon.of([*before, *after])
    sides = [[ticket.with_shares(lexicon.shares(ticket)) for ticket in side] for side in (before, after)]
    return any(shift.adjusted <= alpha for shift in compare_tickets(sides[0], sides[1]))


def drift(quick: bool) -> Iterator[Row]:
    """False alarms between sets of one kind, and how often a change is found, at several numbers of tickets."""
    pairs, pool, found = (30, 900, 6) if quick else (300, 4000, 30)
    pools = [traits_of(mission, pool, 9001) for mission in NULLS]
    rng = random.Random(9001)
    for n in (40, 100, 400):
        false = 0
        for at in range(pairs):
            drawn = rng.sample(pools[at % len(pools)], 2 * n)
            false += alarmed(drawn[:n], drawn[n:])
        told = f"{false} of {pairs} pairs without a change, 3 draws a ticket"
        yield Row(
            f"groupqc_drift_false_alarms_{n}", false / pairs, "share", 0.02, false / pairs <= 0.02, condition=told
        )
    for name, (mission, noise, edit) in CHANGES.items():
        before, after = traits_of(mission, pool, 9100), traits_of(mission, pool, 9200, noise, edit)
        for n in (40, 100, 200, 400):
            hits = sum(alarmed(rng.sample(before, n), rng.sample(after, n)) for _ in range(found))
            bar = 0.9 if n == 400 else None
            holds = None if bar is None else hits / found >= bar
            yield Row(
                f"groupqc_drift_{name}_{n}", hits / found, "share", bar, holds, condition=f"{hits} of {found} found"
            )


def watch(quick: bool) -> Iterator[Row]:
    """A year of daily looks, ten tickets a day, without a change; then how many tickets a change takes to be seen."""
    years, days = (10, 60) if quick else (300, 365)
    pool = traits_of(NULLS[0], 1500 if quick else 8000, 9301)
    rng, false = random.Random(9301), 0
    for _ in range(years):
        drawn = [replace(ticket, site=str(at)) for at, ticket in enumerate(rng.choices(pool, k=200 + 10 * days))]
        false += bool(DriftWatch(drawn[:200], 0.01).take(drawn[200:]).alarms)
    told = f"{false} of {years} runs of {days} days, 10 tickets a day, reference of 200"
    yield Row("groupqc_watch_false_alarms", false / years, "share", 0.02, false / years <= 0.02, condition=told)
    for name, (mission, noise, edit) in CHANGES.items():
        if mission != NULLS[0]:
            continue
        after, seen = traits_of(mission, 1500, 9400, noise, edit), []
        for _ in range(4 if quick else 20):
            quiet = [replace(ticket, site=f"q{n}") for n, ticket in enumerate(rng.choices(pool, k=700))]
            new = [replace(ticket, site=f"n{n}") for n, ticket in enumerate(rng.choices(after, k=1500))]
            alarms = DriftWatch(quiet[:200], 0.01).take([*quiet[200:], *new]).alarms
            seen.append(min((alarm.ticket for alarm in alarms), default=2000) - 500)
        middle = float(np.median(seen))
        yield Row(f"groupqc_watch_delay_{name}", middle, "tickets", condition="median, after 500 quiet tickets")


def rows(quick: bool) -> Iterator[Row]:
    cases = [(pack, mission) for pack in load_packs() for mission in pack.missions]
    yield from generation(cases, 150 if quick else 1000)
    yield from parsing(cases, 500 if quick else 5000)
    yield from protocol(20_000 if quick else 200_000)
    yield from reading(cases, 2 if quick else 20)
    yield from labels(cases, 1 if quick else 10)
    yield from drift(quick)
    yield from watch(quick)


if __name__ == "__main__":
    given = arguments(__doc__)
    report(rows(given.quick), given.json)
