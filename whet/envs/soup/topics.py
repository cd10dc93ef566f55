"""What pages are about: ten topics, each with its traits and with the headings of what is meant and what is not.

Labels, headings and the ways in which questions speak of things are dealt out between the halves, as all words are: a
synonym that was learned in training is of no use in the bench, its meaning is.
"""

from __future__ import annotations

from typing import Any

from whet.envs.soup.site.lexicon import SoupWords
from whet.envs.soup.traits import Topic, Trait, cents, count, flag, halves, of, tenths


def _taxed(order: dict[str, Any]) -> None:
    """A total holds what it is the total of."""
    if "total" in order:
        order["total"] += order.get("shipping", 0) + order.get("tax", 0)


def _reduced(product: dict[str, Any]) -> None:
    """A price before a reduction is more than the price after it: what was drawn is by how much."""
    if "before" in product:
        product["before"] = product["price"] + product["price"] * product["before"] // 1_000_000 + 1


def _in_order(first: str, second: str) -> Any:
    """Two days of which the first is not after the second."""

    def settle(record: dict[str, Any]) -> None:
        if first in record and second in record and record[second] < record[first]:
            record[first], record[second] = record[second], record[first]

    return settle


ORDER = Topic(
    "order",
    halves("the order that this page is about|the order this page was made for", "the very order shown on this page"),
    halves("Order details|Your order|This order", "What you ordered|Order summary|Your purchase"),
    halves("An earlier order|Saved cart|Order of a friend", "Bought last year|Left in the basket|A past purchase"),
    halves("the orders that are still under way", "all orders not yet handed over"),
    halves("Open orders|On the way to you", "Not yet delivered|Still to come"),
    halves("Closed orders|Delivered", "Orders of past years|Handed over"),
    (
        Trait(
            "number",
            "text",
            halves("the order number|its order number", "the number under which it is kept"),
            halves("Order no.|Order ID", "Reference|Purchase number"),
            SoupWords.sku,
        ),
        Trait(
            "shipping",
            "money",
            halves(
                "what shipping cost|the cost of shipping", "the charge for bringing it|what was charged for dispatch"
            ),
            halves("Shipping|Delivery", "Postage and packing|Freight|Carriage"),
            cents(200, 9_000),
        ),
        Trait(
            "tax",
            "money",
            halves("the tax|how much tax is in it", "what goes to the state"),
            halves("VAT|Tax", "Sales tax|Duty"),
            cents(300, 40_000),
        ),
        Trait(
            "total",
            "money",
            halves("the full amount to pay|what is to pay in all", "the sum of everything|what it comes to altogether"),
            halves("Total|To pay", "Amount due|Grand total"),
            cents(9_000, 400_000),
        ),
        Trait(
            "placed",
            "day",
            halves("the day it was placed|when it was placed", "on what day it was ordered"),
            halves("Placed on|Order date", "Ordered|Date of purchase"),
            SoupWords.day,
        ),
        Trait(
            "items",
            "number",
            halves("how many items it has|the number of items", "how many pieces are in it"),
            halves("Items|Quantity", "Pieces|Units"),
            count(1, 96),
        ),
        Trait(
            "carrier",
            "text",
            halves("who carries it|the firm that carries it", "which company brings it"),
            halves("Carrier|Sent with", "Courier|Brought by"),
            SoupWords.company,
        ),
    ),
    _taxed,
)

PRODUCT = Topic(
    "product",
    halves("the product that this page is about|the product this page sells", "what this page has for sale"),
    halves("About this product|Product details", "The article|What you get"),
    halves("Goes well with it|You may also like|Sponsored", "Others looked at|Often bought too|Seen elsewhere"),
    halves("the products that the shop itself offers in this list", "the goods of the shop's own list"),
    halves("Our range|From our shop", "All products|On our shelves"),
    halves("Advertisement|Paid placements", "Sponsored by partners|Promoted goods"),
    (
        Trait(
            "name",
            "text",
            halves("the name|its name", "what it is called"),
            halves("Name|Product", "Article|Called"),
            SoupWords.product,
        ),
        Trait(
            "price",
            "money",
            halves("the price to pay now|what it costs now", "what a buyer pays today"),
            halves("Price|Now", "Our price|Today"),
            cents(500, 250_000),
        ),
        Trait(
            "before",
            "money",
            halves("the price before the reduction|what it cost before", "the price that no longer holds"),
            halves("Was|Before", "List price|RRP"),
            cents(20_000, 900_000),
        ),
        Trait(
            "rating",
            "number",
            halves("the average rating|how it is rated on average", "how many stars buyers give it"),
            halves("Rating|Score", "Stars|Verdict"),
            tenths(11, 50),
        ),
        Trait(
            "reviews",
            "number",
            halves("how many people reviewed it|the number of reviews", "how many buyers wrote about it"),
            halves("Reviews|Opinions", "Ratings given|Voices"),
            count(1, 9800),
        ),
        Trait(
            "stock",
            "flag",
            halves("whether it can be had now|whether it is available", "whether there is any left"),
            halves("Availability|Stock", "On hand|Supply"),
            flag,
            words=("In stock", "Sold out"),
        ),
        Trait(
            "sku",
            "text",
            halves("the article number|its article number", "the code it is listed under"),
            halves("SKU|Item no.", "Model|Code"),
            SoupWords.sku,
        ),
        Trait(
            "brand",
            "text",
            halves("who makes it|the maker", "which company produces it"),
            halves("Brand|Maker", "Manufacturer|Made by"),
            SoupWords.company,
        ),
    ),
    _reduced,
)

DEVICE = Topic(
    "device",
    halves("the device that this page is about|the device this page describes", "the machine shown on this page"),
    halves("Technical data|Specification", "Data sheet|Figures"),
    halves("The model before it|Compared with", "A competitor's device|Its predecessor"),
    halves("the variants that are sold today", "every variant one can still buy"),
    halves("Current variants", "Available models|In production"),
    halves("Discontinued variants", "Models no longer made|Out of production"),
    (
        Trait(
            "model",
            "text",
            halves("the model number|its model number", "how the maker designates it"),
            halves("Model no.|Type", "Designation|Variant"),
            SoupWords.sku,
        ),
        Trait(
            "weight",
            "number",
            halves("its weight in kg|what it weighs in kg", "how heavy it is, in kg"),
            halves("Weight", "Mass|Kilograms"),
            tenths(5, 980),
            unit="kg",
        ),
        Trait(
            "power",
            "number",
            halves("its power in W|the power in W", "how many watts it draws"),
            halves("Power|Rated output", "Wattage|Consumption"),
            count(20, 4800),
            unit="W",
        ),
        Trait(
            "height",
            "number",
            halves("its height in mm|the height in mm", "how tall it is, in mm"),
            halves("Height", "Overall height|Top edge"),
            count(40, 2400),
            unit="mm",
        ),
        Trait(
            "noise",
            "number",
            halves("its noise in dB|the noise in dB", "how loud it is, in dB"),
            halves("Noise", "Sound level|Loudness"),
            count(18, 96),
            unit="dB",
        ),
        Trait(
            "released",
            "day",
            halves("the day it came out|when it came out", "since what day it has been sold"),
            halves("Released", "On the market since|Launched"),
            SoupWords.day,
        ),
        Trait(
            "material",
            "text",
            halves("what the housing is made of|the material of the housing", "of what its shell consists"),
            halves("Housing|Body", "Casing|Shell"),
            of("steel", "aluminium", "oak", "glass fibre", "brass", "recycled plastic", "ceramic"),
        ),
    ),
)

ARTICLE = Topic(
    "article",
    halves("the article that this page shows|the article of this page", "the piece one reads on this page"),
    halves("In this article|About the article", "The story|On this piece"),
    halves("Read next|Most read", "From the archive|Further stories"),
    halves("the articles of this issue", "what the present issue prints"),
    halves("In this issue", "New today|Fresh from the press"),
    halves("From older issues", "Printed before|Back numbers"),
    (
        Trait(
            "title",
            "text",
            halves("the title|its title", "what stands over it"),
            halves("Headline", "Heading|Story"),
            SoupWords.phrase,
        ),
        Trait(
            "author",
            "text",
            halves("who wrote it|its author", "from whose pen it is"),
            halves("Author|Written by", "By|Words"),
            SoupWords.person,
        ),
        Trait(
            "published",
            "day",
            halves("the day it appeared|when it appeared", "on what day it was first printed"),
            halves("Published", "First printed|Appeared"),
            SoupWords.day,
        ),
        Trait(
            "updated",
            "day",
            halves("the day it was last changed|when it was last changed", "on what day somebody last edited it"),
            halves("Updated|Revised", "Last edit|Changed"),
            SoupWords.day,
        ),
        Trait(
            "minutes",
            "number",
            halves("how many minutes it takes to read|the minutes to read it", "for how long one reads, in minutes"),
            halves("Reading time", "Minutes|Length"),
            count(1, 58),
        ),
        Trait(
            "section",
            "text",
            halves("the section it is in|its section", "in which part of the paper it stands"),
            halves("Section|Desk", "Rubric|Department"),
            SoupWords.phrase,
        ),
    ),
    _in_order("published", "updated"),
)

SESSION = Topic(
    "session",
    halves("the session that this page announces|the session of this page", "the event that one is invited to here"),
    halves("This session", "Session details|The event"),
    halves("At the same time|Earlier in the day", "The speaker's other session|Next door"),
    halves("the sessions that will take place", "all events that are not called off"),
    halves("Programme|What is on", "Schedule|Events"),
    halves("Cancelled sessions", "Called off|Will not take place"),
    (
        Trait(
            "title",
            "text",
            halves("the title|its title", "what it is announced as"),
            halves("Topic", "Subject|Theme"),
            SoupWords.phrase,
        ),
        Trait(
            "speaker",
            "text",
            halves("who speaks|the speaker", "whom one will hear"),
            halves("Speaker|Held by", "With|Presenter"),
            SoupWords.person,
        ),
        Trait(
            "room",
            "text",
            halves("where it is|the room it is in", "in which room one meets"),
            halves("Room|Place", "Hall|Venue"),
            lambda words, rng: f"{words.noun(rng).title()} {words.number(rng, 1, 40)}",
        ),
        Trait(
            "date",
            "day",
            halves("the day it is on|when it takes place", "on what day one meets"),
            halves("Date|Day", "When|Takes place"),
            SoupWords.day,
        ),
        Trait(
            "seats",
            "number",
            halves("how many seats are left|the number of seats left", "for how many there is still room"),
            halves("Seats left", "Free places|Open seats"),
            count(0, 240),
        ),
        Trait(
            "fee",
            "money",
            halves("what it costs to attend|the cost of attending", "what a visitor pays"),
            halves("Fee|Ticket", "Admission|Entry"),
            cents(500, 90_000),
        ),
    ),
)

PERSON = Topic(
    "person",
    halves("the person whose page this is|the person this page is about", "the one who is presented on this page"),
    halves("Contact|Profile", "Details|In person"),
    halves("Assistant|Predecessor", "Also in this office|Stands in"),
    halves("the people who work here now", "everybody on the present staff"),
    halves("Our people|Staff", "Who we are|The team"),
    halves("Former members", "They have left us|Once with us"),
    (
        Trait(
            "name",
            "text",
            halves("the name|the full name", "what the person is called"),
            halves("Name", "Full name|Who"),
            SoupWords.person,
        ),
        Trait(
            "role",
            "text",
            halves("the role|the role in the firm", "what the person does there"),
            halves("Role|Position", "Function|Duties"),
            lambda words, rng: f"{words.adjective(rng)} {words.noun(rng)} lead",
        ),
        Trait(
            "phone",
            "text",
            halves("the phone number|the telephone number", "under which number one can call"),
            halves("Phone|Tel.", "Call|Line"),
            SoupWords.phone,
        ),
        Trait(
            "email",
            "text",
            halves("the e-mail address|the address for e-mail", "to which electronic address one can write"),
            halves("E-mail|Mail", "Write to|Electronic post"),
            SoupWords.email,
        ),
        Trait(
            "office",
            "text",
            halves("the office address|where the office is", "at which address one can call in"),
            halves("Office|Address", "Visit|Premises"),
            SoupWords.street,
        ),
        Trait(
            "since",
            "day",
            halves("since when the person has been there|the day the person joined", "on what day the person began"),
            halves("Since|Joined", "Began|With us from"),
            SoupWords.day,
        ),
    ),
)

FLAT = Topic(
    "flat",
    halves("the flat that this page offers|the flat this page is about", "the home that one can rent here"),
    halves("The flat|Key facts", "This offer|The home"),
    halves("Similar flats|In the same street", "Already let|Elsewhere in town"),
    halves("the flats that can still be rented", "all homes without a tenant yet"),
    halves("Available flats", "To let|Vacant"),
    halves("Let already", "No longer on offer|Taken"),
    (
        Trait(
            "address",
            "text",
            halves("the address|its address", "in what street and number it is"),
            halves("Where|Street", "Location|Situated"),
            SoupWords.street,
        ),
        Trait(
            "rent",
            "money",
            halves("the monthly rent|the rent for a month", "what a tenant pays each month"),
            halves("Rent|Monthly", "Per month|Let for"),
            cents(30_000, 480_000),
        ),
        Trait(
            "deposit",
            "money",
            halves("the deposit|how much is to be deposited", "what a tenant leaves as a security"),
            halves("Deposit", "Security|Bond"),
            cents(50_000, 900_000),
        ),
        Trait(
            "rooms",
            "number",
            halves("the number of rooms|how many rooms it has", "into how many chambers it is divided"),
            halves("Rooms", "No. of rooms|Chambers"),
            count(1, 9),
        ),
        Trait(
            "area",
            "number",
            halves("the area in square metres|its size in square metres", "how many square metres it has"),
            halves("Area|Size", "Floor space|Surface"),
            count(18, 340),
            unit="m²",
        ),
        Trait(
            "free",
            "day",
            halves("from which day it is free|when it becomes free", "on what day one can move in"),
            halves("Free from", "Move in from|Vacant as of"),
            SoupWords.day,
        ),
        Trait(
            "pets",
            "flag",
            halves("whether pets are allowed|whether one may keep pets", "whether a dog or a cat may live there"),
            halves("Pets", "Animals|Cats and dogs"),
            flag,
            words=("welcome", "not allowed"),
        ),
    ),
)

JOB = Topic(
    "job",
    halves("the job that this page advertises|the job this page is about", "the work that is on offer here"),
    halves("The position|Job facts", "At a glance|This vacancy"),
    halves("Other openings|Jobs near you", "Filled recently|Elsewhere in the firm"),
    halves("the jobs that are still open", "all posts nobody has got yet"),
    halves("Open positions", "We are looking for|Vacancies"),
    halves("Filled positions", "Closed applications|No longer vacant"),
    (
        Trait(
            "title",
            "text",
            halves("the job title|the title of the job", "what the post is called"),
            halves("Job", "Post|Vacancy"),
            lambda words, rng: f"{words.noun(rng).title()} {words.noun(rng).title()} Engineer",
        ),
        Trait(
            "company",
            "text",
            halves("the employer|who the employer is", "for which firm one would work"),
            halves("Employer|Company", "Firm|Organisation"),
            SoupWords.company,
        ),
        Trait(
            "salary",
            "money",
            halves("the yearly salary|the salary for a year", "what one earns in a year"),
            halves("Salary|Pay", "Per year|Annual earnings"),
            cents(2_400_000, 19_000_000),
        ),
        Trait(
            "city",
            "text",
            halves("the city it is in|in which city it is", "in what town one would work"),
            halves("City", "Place of work|Town"),
            SoupWords.city,
        ),
        Trait(
            "closes",
            "day",
            halves("until when one can apply|the last day to apply", "on what day applications end"),
            halves("Apply by|Deadline", "Closing date|Open until"),
            SoupWords.day,
        ),
        Trait(
            "hours",
            "number",
            halves("the hours a week|how many hours a week it is", "for how long one works in a week"),
            halves("Hours a week", "Weekly hours|Working time"),
            count(8, 42),
        ),
    ),
)

INVOICE = Topic(
    "invoice",
    halves("the invoice that this page shows|the invoice of this page", "the bill one sees on this page"),
    halves("Invoice|This invoice", "Bill|Your bill"),
    halves("The invoice before|Quotation", "Credit note|An older bill"),
    halves("the invoices that have not been paid", "all bills on which money is still owed"),
    halves("Unpaid|Open items", "Outstanding|Money owed"),
    halves("Paid", "Settled|Cleared"),
    (
        Trait(
            "number",
            "text",
            halves("the invoice number|its invoice number", "the number it is filed under"),
            halves("Invoice no.", "Document|File number"),
            SoupWords.sku,
        ),
        Trait(
            "customer",
            "text",
            halves("who is billed|the customer", "to which firm it was sent"),
            halves("Customer|Bill to", "Client|Debtor"),
            SoupWords.company,
        ),
        Trait(
            "net",
            "money",
            halves("the amount without tax|what it is without tax", "the sum that no tax is in"),
            halves("Net", "Before tax|Subtotal"),
            cents(5_000, 900_000),
        ),
        Trait(
            "tax",
            "money",
            halves("the tax|how much tax there is", "what the state gets"),
            halves("VAT|Tax", "Sales tax|Levy"),
            cents(800, 190_000),
        ),
        Trait(
            "due",
            "day",
            halves("the day by which it must be paid|when it must be paid", "until what day one may pay it"),
            halves("Due|Due date", "Payable by|Pay until"),
            SoupWords.day,
        ),
        Trait(
            "issued",
            "day",
            halves("the day it was issued|when it was issued", "on what day it was written"),
            halves("Issued", "Date of the bill|Drawn up"),
            SoupWords.day,
        ),
    ),
    _in_order("issued", "due"),
)

TOPICS = (ORDER, PRODUCT, DEVICE, ARTICLE, SESSION, PERSON, FLAT, JOB, INVOICE)
