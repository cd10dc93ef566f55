"""Words that filler never says: what tasks ask for by meaning, they alone have."""

from __future__ import annotations

_WORDS = """
    account address allergen allergens amount arrival author available availability balance barcode bid birthday
    born brand budget calories capacity cart category checkout cost coupon credit currency customer deadline
    delivery departure deposit discount dose duration due email employee expires fax fee floor founded gate gross
    gtin ingredient ingredients instructor interest invoice isbn issued language length licence license location
    manufacturer maximum member members minimum model mpg net occupancy order orders organiser password payment
    phone population price published publisher quantity qty rank rating recipient record refund rent reply review
    reviews room salary score seat secret seller semester sender shipping sku speaker status stock subtotal supplier
    tax temperature ticket total tracking updated vat vendor venue version volume votes wage warranty weight winner
"""

RESERVED = frozenset(_WORDS.split())
"""Never a whole word of filler, in its text, its JSON or its attributes. A word ends where neither letter nor digit
follows, so `tax` is none within `syntax` or within a hash.
"""
