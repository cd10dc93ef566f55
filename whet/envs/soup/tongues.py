"""Languages of pages: their labels, digits, amounts and dates. No language belongs to both halves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from whet.envs.soup.site import Half
from whet.envs.soup.traits import SpellingHabit, Trait

ERAS = (("令和", date(2019, 5, 1), 2018), ("平成", date(1989, 1, 8), 1988))
"""Japanese eras: the first day of each, and the year before its first one."""

WIDE = str.maketrans("0123456789,", "０１２３４５６７８９，")
"""Digits as wide as the characters that they stand among."""


@dataclass(frozen=True, slots=True)
class Tongue:
    """How a language writes records of one topic."""

    code: str
    headings: tuple[str, str]
    labels: Mapping[str, str]
    months: tuple[str, ...]
    """Their names; none where months are numbers."""
    day: str
    money: str
    group: str = "."
    point: str = ","
    digits: str = "0123456789"
    whole: bool = False
    """Whether amounts have no smaller coin."""
    wide: bool = False
    eras: bool = False

    @property
    def rtl(self) -> bool:
        return self.code in ("ar", "fa", "he", "ur")

    def show(self, trait: Trait, value: Any, spelled: SpellingHabit) -> str:
        """The value as a page of this language writes it."""
        if trait.sort == "day":
            return self._digits(self._date(value, spelled), spelled)
        if trait.sort == "money":
            plain = f"{value // 100:,}" if self.whole else f"{value / 100:,.2f}"
            return self.money.format(self._digits(self._marked(plain), spelled))
        if trait.sort == "number":
            return self._digits(self._marked(f"{value:,}"), spelled) + (f" {trait.unit}" if trait.unit else "")
        return str(value)

    def _marked(self, plain: str) -> str:
        return plain.translate({ord(","): self.group, ord("."): self.point})

    def _date(self, value: date, spelled: SpellingHabit) -> str:
        name = self.months[value.month - 1] if self.months else ""
        if self.eras and spelled.day % 2:
            era, _, before = next(era for era in ERAS if value >= era[1])
            return f"{era}{value.year - before}年{value.month}月{value.day}日"
        return self.day.format(d=value.day, m=name, n=value.month, y=value.year)

    def _digits(self, shown: str, spelled: SpellingHabit) -> str:
        if self.wide and spelled.number:
            return shown.translate(WIDE)
        return shown if self.digits[0] == "0" else shown.translate(str.maketrans("0123456789", self.digits))


def _labels(keys: str, labels: str) -> dict[str, str]:
    return dict(zip(keys.split(), labels.split("|"), strict=True))


def _orders(code: str, headings: str, labels: str, months: str, day: str, group: str) -> Tongue:
    own, other = headings.split("|")
    told = _labels("shipping tax total placed", labels)
    return Tongue(code, (own, other), told, tuple(months.split()), day, "{}&nbsp;€", group)


ORDERS: Mapping[Half, tuple[Tongue, ...]] = {
    "train": (
        _orders(
            "de",
            "Ihre Bestellung|Frühere Bestellung",
            "Versandkosten|Mehrwertsteuer|Gesamtbetrag|Bestellt am",
            "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
            "{d}. {m} {y}",
            ".",
        ),
        _orders(
            "es",
            "Su pedido|Pedido anterior",
            "Gastos de envío|IVA|Importe total|Fecha del pedido",
            "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
            "{d} de {m} de {y}",
            ".",
        ),
        _orders(
            "it",
            "Il suo ordine|Ordine precedente",
            "Spese di spedizione|Imposta|Totale|Ordinato il",
            "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
            "{d} {m} {y}",
            ".",
        ),
    ),
    "bench": (
        _orders(
            "fr",
            "Votre commande|Commande précédente",
            "Frais de port|TVA|Montant global|Commandé le",
            "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
            "{d} {m} {y}",
            "\u202f",
        ),
        _orders(
            "nl",
            "Uw bestelling|Eerdere bestelling",
            "Verzendkosten|Btw|Totaalbedrag|Besteld op",
            "januari februari maart april mei juni juli augustus september oktober november december",
            "{d} {m} {y}",
            ".",
        ),
        _orders(
            "pl",
            "Twoje zamówienie|Wcześniejsze zamówienie",
            "Koszt dostawy|Podatek|Razem do zapłaty|Data zamówienia",
            "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
            "{d} {m} {y}",
            "\u00a0",
        ),
    ),
}


def _goods(code: str, headings: str, labels: str, money: str, group: str) -> Tongue:
    own, other = headings.split("|")
    return Tongue(code, (own, other), _labels("name price rating reviews", labels), (), "", money, group)


GOODS: Mapping[Half, tuple[Tongue, ...]] = {
    "train": (
        _goods("de", "Unser Sortiment|Anzeigen", "Artikel|Preis|Bewertung|Meinungen", "{} €", "."),
        _goods("es", "Nuestros productos|Publicidad", "Producto|Precio|Valoración|Opiniones", "{}&nbsp;€", "."),
        _goods("sv", "Vårt sortiment|Annonser", "Vara|Pris|Betyg|Omdömen", "{} kr", "\u00a0"),
    ),
    "bench": (
        _goods("fr", "Nos produits|Publicités", "Article|Prix|Note|Avis", "{} €", "\u202f"),
        _goods("pt", "Os nossos artigos|Anúncios", "Artigo|Preço|Classificação|Comentários", "€ {}", "."),
        _goods("cs", "Naše nabídka|Reklama", "Zboží|Cena|Hodnocení|Recenze", "{} Kč", "\u00a0"),
    ),
}


def _bills(code: str, headings: str, labels: str, months: str, money: str, marks: str, digits: str) -> Tongue:
    own, other = headings.split("|")
    told, group, point = _labels("net tax due issued", labels), marks[0], marks[1]
    return Tongue(code, (own, other), told, tuple(months.split("|")), "{d} {m} {y}", money, group, point, digits)


ARABIC, PERSIAN, LATIN = "٠١٢٣٤٥٦٧٨٩", "۰۱۲۳۴۵۶۷۸۹", "0123456789"

BILLS: Mapping[Half, tuple[Tongue, ...]] = {
    "train": (
        _bills(
            "ar",
            "هذه الفاتورة|الفاتورة السابقة",
            "المبلغ دون ضريبة|الضريبة|تاريخ الاستحقاق|تاريخ الإصدار",
            "يناير|فبراير|مارس|أبريل|مايو|يونيو|يوليو|أغسطس|سبتمبر|أكتوبر|نوفمبر|ديسمبر",
            "{}\u00a0ج.م",
            "٬٫",
            ARABIC,
        ),
        _bills(
            "ar",
            "فاتورتكم|فاتورة قديمة",
            "الصافي|ضريبة القيمة المضافة|يستحق في|حررت في",
            "كانون الثاني|شباط|آذار|نيسان|أيار|حزيران|تموز|آب|أيلول|تشرين الأول|تشرين الثاني|كانون الأول",
            "\u200f{} ل.ل",
            "٬٫",
            ARABIC,
        ),
    ),
    "bench": (
        _bills(
            "he",
            "החשבונית שלך|חשבונית קודמת",
            'לפני מס|מע"מ|לתשלום עד|הופקה ביום',
            "בינואר|בפברואר|במרץ|באפריל|במאי|ביוני|ביולי|באוגוסט|בספטמבר|באוקטובר|בנובמבר|בדצמבר",
            "\u200f{}\u00a0₪",
            ",.",
            LATIN,
        ),
        _bills(
            "fa",
            "این صورتحساب|صورتحساب پیشین",
            "مبلغ خالص|مالیات|سررسید|تاریخ صدور",
            "ژانویه|فوریه|مارس|آوریل|مه|ژوئن|ژوئیه|اوت|سپتامبر|اکتبر|نوامبر|دسامبر",
            "{} یورو",
            "٬٫",
            PERSIAN,
        ),
    ),
}


def _flats(
    code: str, headings: str, labels: str, day: str, money: str, wide: bool = False, eras: bool = False
) -> Tongue:
    own, other = headings.split("|")
    told = _labels("rent deposit area free", labels)
    return Tongue(code, (own, other), told, (), day, money, ",", ".", whole=True, wide=wide, eras=eras)


FLATS: Mapping[Half, tuple[Tongue, ...]] = {
    "train": (
        _flats(
            "ja",
            "この物件|似た物件",
            "家賃|敷金|専有面積|入居可能日",
            "{y}年{n}月{d}日",
            "{}円",
            wide=True,
            eras=True,
        ),
    ),
    "bench": (
        _flats("zh", "本房源|相似房源", "月租|押金|建筑面积|入住日期", "{y}年{n}月{d}日", "{}元", wide=True),
        _flats("ko", "이 집|비슷한 집", "월세|보증금|전용면적|입주 가능일", "{y}년 {n}월 {d}일", "{}원"),
    ),
}
