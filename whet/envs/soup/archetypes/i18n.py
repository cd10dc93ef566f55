"""Other languages: labels, amounts and dates as they are written elsewhere; the question is in English all the same."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from whet.envs.soup.archetype import kind
from whet.envs.soup.archetypes.record import names
from whet.envs.soup.archetypes.table import sides
from whet.envs.soup.desk import Address, Desk, PageDraft, PagePlan, Side, TaskPlan, TopicRegion
from whet.envs.soup.kinds import DayForm, MoneyForm, RecordForm
from whet.envs.soup.oracle import program
from whet.envs.soup.site.lexicon import pick
from whet.envs.soup.topics import ORDER
from whet.envs.soup.traits import Matter, SpellingHabit

KEYS = ("shipping", "tax", "total", "placed")


@dataclass(frozen=True, slots=True)
class Tongue:
    """How a language writes an order."""

    headings: tuple[str, str]
    labels: Mapping[str, str]
    months: tuple[str, ...]
    day: str
    group: str
    point: str = ","

    def amount(self, cents: int) -> str:
        plain = f"{cents / 100:,.2f}"
        return plain.translate({ord(","): self.group, ord("."): self.point}) + "&nbsp;€"

    def date(self, value: date) -> str:
        return self.day.format(d=value.day, m=self.months[value.month - 1], y=value.year)


def _tongue(headings: str, labels: str, months: str, day: str, group: str) -> Tongue:
    own, other = headings.split("|")
    return Tongue((own, other), dict(zip(KEYS, labels.split("|"), strict=True)), tuple(months.split()), day, group)


TONGUES = (
    _tongue(
        "Ihre Bestellung|Frühere Bestellung",
        "Versandkosten|Mehrwertsteuer|Gesamtbetrag|Bestellt am",
        "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
        "{d}. {m} {y}",
        ".",
    ),
    _tongue(
        "Votre commande|Commande précédente",
        "Frais de port|TVA|Montant total|Commandé le",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "{d} {m} {y}",
        "\u202f",
    ),
    _tongue(
        "Su pedido|Pedido anterior",
        "Gastos de envío|IVA|Importe total|Fecha del pedido",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "{d} de {m} de {y}",
        ".",
    ),
    _tongue(
        "Il suo ordine|Ordine precedente",
        "Spese di spedizione|Imposta|Totale|Ordinato il",
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
        "{d} {m} {y}",
        ".",
    ),
    _tongue(
        "Uw bestelling|Eerdere bestelling",
        "Verzendkosten|Btw|Totaalbedrag|Besteld op",
        "januari februari maart april mei juni juli augustus september oktober november december",
        "{d} {m} {y}",
        ".",
    ),
    _tongue(
        "Twoje zamówienie|Wcześniejsze zamówienie",
        "Koszt dostawy|Podatek|Razem do zapłaty|Data zamówienia",
        "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
        "{d} {m} {y}",
        "\u00a0",
    ),
)


@kind("hard")
def foreign_order(desk: Desk) -> TaskPlan:
    """What shipping, tax and order cost, and when it was placed, on a page in another language."""
    tongue = pick(desk.rng, TONGUES)
    drawn = TopicRegion.drawn(desk, ORDER, KEYS, ("dl", "table", "div", "ul"))
    headings: dict[Side, str] = {"own": tongue.headings[0], "other": tongue.headings[1]}
    region = TopicRegion(desk, ORDER, drawn.traits, False, drawn.form, tongue.labels, headings)
    wanted = tuple(desk.rng.sample(KEYS, 3))
    forms = {key: DayForm() if key == "placed" else MoneyForm() for key in wanted}

    def inner(desk: Desk, spelled: SpellingHabit, order: Matter) -> str:
        rows = []
        for key in random.Random(order["total"]).sample(KEYS, len(KEYS)):
            shown = tongue.date(order[key]) if key == "placed" else tongue.amount(order[key])
            rows.append(region.labelled(spelled.labelled(tongue.labels[key]), shown))
        return region.framed("\n".join(rows))

    def draw(rng: random.Random, plan: PagePlan) -> tuple[Any, Any]:
        own = region.draw(rng)
        return own, {key: ORDER[key].truth(own[key]) for key in wanted}

    def write(rng: random.Random, matter: Any, plan: PagePlan) -> PageDraft:
        return sides(rng, region, {"own": matter, "other": region.draw(rng)}, plan.hide, inner)

    def question(address: Address) -> str:
        told = ", ".join(f"`{key}` ({ORDER[key].ask})" for key in wanted)
        return f"Of {region.where(address)}, return {told}. The page is in another language."

    body = f"""
labels, months = {dict(tongue.labels)!r}, {tongue.months!r}
found = {{}}
for label in soup.find(class_=OWN).find_all(class_=LABEL):
    key = next(key for key, said in labels.items() if same(label.get_text(), [said]))
    shown = text(label.find_next(class_=VALUE).get_text())
    if key == "placed":
        month = next(number for number, name in enumerate(months, 1) if re.search(r"\\b%s\\b" % name, shown))
        date, year = re.search(r"\\d+", shown).group(), re.search(r"\\d{{4}}", shown).group()
        found[key] = "%s-%02d-%02d" % (year, month, int(date))
    else:
        found[key] = int(re.sub(r"\\D", "", shown)) / 100
return {{key: found[key] for key in {wanted!r}}}"""
    ask: dict[Address, str] = {way: question(way) for way in ("given", "described", "meaning")}
    return TaskPlan(RecordForm(forms), ask, program(names(region), body), draw, write)


KINDS = (foreign_order,)
