"""What pages are about: ten topics, each with its traits and with the headings of what is meant and what is not."""

from __future__ import annotations

from whet.envs.soup.site.lexicon import SoupWords
from whet.envs.soup.traits import Topic, Trait, cents, count, flag, of, tenths

ORDER = Topic(
    "order",
    "the order that this page is about",
    ("Order details", "Your order", "This order", "Order summary"),
    ("An earlier order", "Saved cart", "Bought with it last year", "Order of a friend"),
    "the orders that are still under way",
    ("Open orders", "On the way to you", "Not yet delivered"),
    ("Closed orders", "Delivered", "Orders of past years"),
    (
        Trait("number", "text", "the order number", ("Order no.", "Reference", "Order ID"), SoupWords.sku),
        Trait(
            "shipping",
            "money",
            "what shipping cost",
            ("Shipping", "Delivery", "Postage and packing", "Freight"),
            cents(200, 9_000),
        ),
        Trait("tax", "money", "the tax", ("VAT", "Sales tax", "Tax"), cents(300, 40_000)),
        Trait("total", "money", "the full amount to pay", ("Total", "Amount due", "To pay"), cents(9_000, 400_000)),
        Trait("placed", "day", "the day it was placed", ("Placed on", "Order date", "Ordered"), SoupWords.day),
        Trait("items", "number", "how many items it has", ("Items", "Pieces", "Quantity"), count(1, 96)),
        Trait("carrier", "text", "who carries it", ("Carrier", "Sent with", "Courier"), SoupWords.company),
    ),
)

PRODUCT = Topic(
    "product",
    "the product that this page is about",
    ("About this product", "Product details", "The article"),
    ("Goes well with it", "You may also like", "Others looked at", "Sponsored"),
    "the products that the shop itself offers in this list",
    ("Our range", "From our shop", "All products"),
    ("Advertisement", "Sponsored by partners", "Paid placements"),
    (
        Trait("name", "text", "the name", ("Name", "Article", "Title"), SoupWords.product),
        Trait("price", "money", "the price to pay now", ("Price", "Now", "Our price"), cents(500, 250_000)),
        Trait(
            "before",
            "money",
            "the price before the reduction",
            ("Was", "Before", "List price", "RRP"),
            cents(900, 450_000),
        ),
        Trait("rating", "number", "the average rating", ("Rating", "Stars", "Score"), tenths(11, 50)),
        Trait(
            "reviews", "number", "how many people reviewed it", ("Reviews", "Opinions", "Ratings given"), count(1, 9800)
        ),
        Trait(
            "stock",
            "flag",
            "whether it can be had now",
            ("Availability", "Stock"),
            flag,
            words=("In stock", "Sold out"),
        ),
        Trait("sku", "text", "the article number", ("SKU", "Item no.", "Model"), SoupWords.sku),
        Trait("brand", "text", "who makes it", ("Brand", "Maker", "Manufacturer"), SoupWords.company),
    ),
)

DEVICE = Topic(
    "device",
    "the device that this page is about",
    ("Technical data", "Specification", "Data sheet"),
    ("The model before it", "Compared with", "A competitor's device"),
    "the variants that are sold today",
    ("Current variants", "Available models"),
    ("Discontinued variants", "Models no longer made"),
    (
        Trait("model", "text", "the model number", ("Model", "Type", "Designation"), SoupWords.sku),
        Trait("weight", "number", "its weight in kg", ("Weight", "Mass"), tenths(5, 980), unit="kg"),
        Trait("power", "number", "its power in W", ("Power", "Rated output", "Wattage"), count(20, 4800), unit="W"),
        Trait("height", "number", "its height in mm", ("Height", "Overall height"), count(40, 2400), unit="mm"),
        Trait("noise", "number", "its noise in dB", ("Noise", "Sound level"), count(18, 96), unit="dB"),
        Trait("released", "day", "the day it came out", ("Released", "On the market since"), SoupWords.day),
        Trait(
            "material",
            "text",
            "what the housing is made of",
            ("Housing", "Body", "Casing"),
            of("steel", "aluminium", "oak", "glass fibre", "brass", "recycled plastic", "ceramic"),
        ),
    ),
)

ARTICLE = Topic(
    "article",
    "the article that this page shows",
    ("In this article", "About the article", "The story"),
    ("Read next", "From the archive", "Most read"),
    "the articles of this issue",
    ("In this issue", "New today"),
    ("From older issues", "From the archive"),
    (
        Trait("title", "text", "the title", ("Title", "Headline"), SoupWords.phrase),
        Trait("author", "text", "who wrote it", ("By", "Author", "Written by"), SoupWords.person),
        Trait("published", "day", "the day it appeared", ("Published", "First printed"), SoupWords.day),
        Trait("updated", "day", "the day it was last changed", ("Updated", "Last edit", "Revised"), SoupWords.day),
        Trait("minutes", "number", "how many minutes it takes to read", ("Reading time", "Minutes"), count(1, 58)),
        Trait("section", "text", "the section it is in", ("Section", "Desk", "Rubric"), SoupWords.phrase),
    ),
)

SESSION = Topic(
    "session",
    "the session that this page announces",
    ("This session", "Session details"),
    ("At the same time", "Earlier in the day", "The speaker's other session"),
    "the sessions that will take place",
    ("Programme", "Schedule", "What is on"),
    ("Cancelled sessions", "Called off"),
    (
        Trait("title", "text", "the title", ("Title", "Topic"), SoupWords.phrase),
        Trait("speaker", "text", "who speaks", ("Speaker", "Held by", "With"), SoupWords.person),
        Trait(
            "room",
            "text",
            "where it is",
            ("Room", "Place", "Hall"),
            lambda words, rng: f"{words.noun(rng).title()} {words.number(rng, 1, 40)}",
        ),
        Trait("date", "day", "the day it is on", ("Date", "Day", "When"), SoupWords.day),
        Trait("seats", "number", "how many seats are left", ("Seats left", "Free places"), count(0, 240)),
        Trait("fee", "money", "what it costs to attend", ("Fee", "Ticket", "Admission"), cents(500, 90_000)),
    ),
)

PERSON = Topic(
    "person",
    "the person whose page this is",
    ("Contact", "Profile", "Details"),
    ("Assistant", "Predecessor", "Also in this office"),
    "the people who work here now",
    ("Our people", "Staff", "Who we are"),
    ("Former members", "They have left us"),
    (
        Trait("name", "text", "the name", ("Name", "Full name"), SoupWords.person),
        Trait(
            "role",
            "text",
            "the role",
            ("Role", "Position", "Function"),
            lambda words, rng: f"{words.adjective(rng)} {words.noun(rng)} lead",
        ),
        Trait("phone", "text", "the phone number", ("Phone", "Tel.", "Call"), SoupWords.phone),
        Trait("email", "text", "the e-mail address", ("E-mail", "Write to", "Mail"), SoupWords.email),
        Trait("office", "text", "the office address", ("Office", "Visit", "Address"), SoupWords.street),
        Trait("since", "day", "since when the person has been there", ("Since", "Joined"), SoupWords.day),
    ),
)

FLAT = Topic(
    "flat",
    "the flat that this page offers",
    ("The flat", "This offer", "Key facts"),
    ("Similar flats", "Already let", "In the same street"),
    "the flats that can still be rented",
    ("Available flats", "To let"),
    ("Let already", "No longer on offer"),
    (
        Trait("address", "text", "the address", ("Address", "Where", "Location"), SoupWords.street),
        Trait("rent", "money", "the monthly rent", ("Rent", "Per month", "Monthly"), cents(30_000, 480_000)),
        Trait("deposit", "money", "the deposit", ("Deposit", "Security"), cents(50_000, 900_000)),
        Trait("rooms", "number", "the number of rooms", ("Rooms", "No. of rooms"), count(1, 9)),
        Trait(
            "area", "number", "the area in square metres", ("Area", "Size", "Floor space"), count(18, 340), unit="m²"
        ),
        Trait("free", "day", "from which day it is free", ("Free from", "Move in from"), SoupWords.day),
        Trait("pets", "flag", "whether pets are allowed", ("Pets", "Animals"), flag, words=("welcome", "not allowed")),
    ),
)

JOB = Topic(
    "job",
    "the job that this page advertises",
    ("The position", "Job facts", "At a glance"),
    ("Other openings", "Filled positions", "Jobs near you"),
    "the jobs that are still open",
    ("Open positions", "We are looking for"),
    ("Filled positions", "Closed applications"),
    (
        Trait(
            "title",
            "text",
            "the job title",
            ("Position", "Job", "Title"),
            lambda words, rng: f"{words.noun(rng).title()} {words.noun(rng).title()} Engineer",
        ),
        Trait("company", "text", "the employer", ("Employer", "Company", "Firm"), SoupWords.company),
        Trait("salary", "money", "the yearly salary", ("Salary", "Pay", "Per year"), cents(2_400_000, 19_000_000)),
        Trait("city", "text", "the city it is in", ("City", "Place of work"), SoupWords.city),
        Trait("closes", "day", "until when one can apply", ("Apply by", "Closing date", "Deadline"), SoupWords.day),
        Trait("hours", "number", "the hours a week", ("Hours a week", "Weekly hours"), count(8, 42)),
    ),
)

INVOICE = Topic(
    "invoice",
    "the invoice that this page shows",
    ("Invoice", "This invoice", "Bill"),
    ("The invoice before", "Quotation", "Credit note"),
    "the invoices that have not been paid",
    ("Unpaid", "Outstanding invoices", "Open items"),
    ("Paid", "Settled invoices"),
    (
        Trait("number", "text", "the invoice number", ("Invoice no.", "Document"), SoupWords.sku),
        Trait("customer", "text", "who is billed", ("Customer", "Bill to", "Client"), SoupWords.company),
        Trait("net", "money", "the amount without tax", ("Net", "Before tax", "Subtotal"), cents(5_000, 900_000)),
        Trait("tax", "money", "the tax", ("VAT", "Tax"), cents(800, 190_000)),
        Trait("due", "day", "the day by which it must be paid", ("Due", "Payable by", "Due date"), SoupWords.day),
        Trait("issued", "day", "the day it was issued", ("Issued", "Invoice date"), SoupWords.day),
    ),
)

TOPICS = (ORDER, PRODUCT, DEVICE, ARTICLE, SESSION, PERSON, FLAT, JOB, INVOICE)
