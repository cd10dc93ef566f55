"""Writes orders.csv: what customers write to a shop, and the order in it as one line.

Phrasings, customers, items and cities belong to one split each: what is learned from train messages has to carry over
to messages that share no sentence with them.

python examples/make_orders.py examples/orders.csv
"""

from __future__ import annotations

import csv
import random
import sys
from dataclasses import dataclass
from pathlib import Path

SEED = 7

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
SHORT = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "a dozen")
LARGE = (14, 15, 18, 20, 24, 25, 30, 40, 50)
"""Quantities that nobody writes as a word."""


@dataclass(frozen=True)
class Side:
    """What the messages of one split are made of. `{n}` is a number that has nothing to do with the order."""

    rows: int
    phrasings: tuple[str, ...]
    openings: tuple[str, ...]
    asides: tuple[str, ...]
    closings: tuple[str, ...]
    names: tuple[str, ...]
    items: tuple[str, ...]
    cities: tuple[str, ...]


TRAIN = Side(
    rows=48,
    phrasings=(
        "Could you send {many} {item} to {city} by {day}?",
        "I'd like to order {many} {item}. Ship them to {city} please, they should be there on {day}.",
        "We need {many} {item} at our {city} shop this {day}.",
        "{day} would be perfect for {many} {item}, that is for our office in {city}.",
        "Can I still get {many} {item} before {day}? I live in {city}.",
        "Please put me down for {many} {item}, delivery {day}, address in {city}.",
        "On {day} we open a new branch in {city} and {many} {item} are still missing.",
        "Same as always: {many} {item}, {city}, {day}.",
        "I am in {city} these days. How about {many} {item} for {day}?",
        "My sister in {city} is moving house, so {many} {item} for her on {day}.",
        "{many} {item}, please. Drop off in {city} on {day}.",
        "Would {day} work for bringing {many} {item} over to {city}?",
        "What we are missing in {city} is {many} {item}, and we are missing them from {day} on.",
        "There is a wedding in {city} on {day}; the couple wished for {many} {item}.",
        "Get {many} {item} ready for {day}. They are meant for {city}.",
        "{city} is where I work, {day} is when I am in, {many} {item} is what I am short of.",
    ),
    openings=("Hi, {name} here.", "My name is {name}.", "Good morning!", "Here is {name} from the corner bakery."),
    asides=(
        "I paid {n} euros the last time.",
        "Our cat broke the old ones.",
        "The weather has been awful lately.",
        "You have been great for {n} years!",
        "A friend told me about your store.",
        "Ring the bell twice.",
        "My phone is out of battery, so write an email.",
        "There is a discount of {n} percent in my account, I think.",
    ),
    closings=("Regards, {name}", "Yours, {name}", "Thanks!", "- {name}"),
    names=("Anna", "Bruno", "Carla", "David", "Elif", "Felix", "Greta", "Hassan", "Ines", "Jonas", "Katrin", "Liam"),
    items=(
        *("oak chairs", "desk lamps", "wool blankets", "coffee cups", "garden hoses", "picture frames", "bread knives"),
        *("floor mats", "paper bags", "steel buckets", "wall clocks", "cotton towels", "glass jars", "bike locks"),
        *("candles", "umbrellas", "pillows", "notebooks"),
    ),
    cities=(
        *("Lisbon", "Hamburg", "Turin", "Ghent", "Leeds", "Malaga", "Graz", "Lyon", "Krakow", "Bergen", "Utrecht"),
        *("Basel", "Galway", "Tampere"),
    ),
)

SELECT = Side(
    rows=24,
    phrasings=(
        "{many} {item} have to reach {city} no later than {day}.",
        "Is it possible to have {many} {item} delivered in {city}? {day} suits us best.",
        "Our warehouse in {city} lacks {item}: bring {many} when you come {day}.",
        "Ordering {many} {item} today, needed {day}, going to {city}.",
        "We run out of stock in {city} on {day}, so make it {many} {item} until then.",
        "Kindly reserve {many} {item}; my driver collects them {day} and takes them to {city}.",
        "For {day}: {many} {item}. The place is in {city}.",
        "{city} wants {many} {item} again, {day} if you can manage.",
        "Pack {many} {item} and label the parcel {city}, due {day}.",
        "By {day} I must have {many} {item}, otherwise the fair in {city} starts without them.",
        "I'm furnishing a flat in {city} and miss {many} {item}, preferably {day}.",
        "Whoever drives to {city} {day} should load {many} {item}.",
    ),
    openings=("Good afternoon, {name} calling.", "Hey folks, it's {name}.", "Greetings!"),
    asides=(
        "Nobody answered line {n} this morning.",
        "The blue door sticks a little.",
        "We all loved your new catalogue.",
        "Page {n} of it has a typo.",
        "Traffic is terrible around noon.",
        "No need for wrapping.",
    ),
    closings=("Best, {name}", "Cheers, {name}", "Many thanks in advance."),
    names=("Mira", "Nils", "Olga", "Pedro", "Quentin", "Rosa", "Sven", "Tilda"),
    items=(
        *(
            "plastic crates",
            "rubber gloves",
            "silver spoons",
            "tea pots",
            "leather belts",
            "plant pots",
            "door handles",
        ),
        *("beach balls", "ladders", "aprons", "hammers", "carpets"),
    ),
    cities=("Porto", "Dresden", "Verona", "Aarhus", "Bristol", "Seville", "Linz", "Nantes", "Gdansk", "Zurich"),
)

TEST = Side(
    rows=90,
    phrasings=(
        "My cafe in {city} ran out of {item}, {many} more on {day} would save us.",
        "Just a quick request: {many} {item} sent across to {city}, arriving {day}.",
        "Do you have {many} {item} in store? If so, deliver to {city} {day}.",
        "I'm throwing a party in {city} on {day} and I'm after {many} {item}.",
        "Book {many} {item} for me. I'll be at home in {city} on {day}.",
        "Next {day}, {city}: {many} {item}.",
        "The school in {city} asked me to buy {many} {item}, latest {day}.",
        "Let's do {many} {item} for the {city} hotel, with arrival on {day}.",
        "{day} is the deadline for {many} {item} that go to {city}.",
        "Any chance of {many} {item} in {city} come {day}?",
        "Still in {city}, still waiting. I want {many} {item} and I want them {day}.",
        "Add {many} {item} to my basket, destination {city}, date {day}.",
        "You can expect me in {city} on {day}, so have {many} {item} waiting.",
        "Somebody from {city} ordered {many} {item}. {day} is when they should turn up.",
        "Our choir sings in {city} {day}, hence {many} {item}.",
        "It would make my week if {many} {item} were in {city} {day}.",
        "Requesting {many} {item}. Where: {city}. When: {day}.",
        "How much are {many} {item} with transport to {city}? I'd take them {day}.",
        "Grandma turns eighty in {city}, she gets {many} {item}, and the date is {day}.",
        "Renovation in {city} begins {day}. Until that moment I have to own {many} {item}.",
        "Keep {many} {item} aside, somebody brings them to {city} {day}.",
        "{city} branch, {day} shift: hand over {many} {item}.",
        "A customer of ours in {city} insists on {many} {item} {day}.",
        "If the van passes {city} {day}, throw in {many} {item}.",
        "I count on you for {many} {item}, {city}, not after {day}.",
        "May I have {many} {item} brought to my studio in {city}? Try {day}.",
        "The {city} team meets {day} and wants {many} {item} on the table.",
        "Refill, please: {many} {item} for the stand in {city}, opening {day}.",
        "{many} {item} is all I ask, for {city}, {day} at the latest.",
        "Since {city} hosts the tournament {day}, we must bring {many} {item}.",
    ),
    openings=(
        "Hello there, {name} writing.",
        "Dear team,",
        "It is me, {name}.",
        "Evening all!",
        "You know me, I'm {name}.",
    ),
    asides=(
        "Last month box {n} got lost.",
        "The kids are very excited.",
        "Leave it with the neighbour.",
        "I sit at extension {n}.",
        "What a lovely website.",
        "Sorry for the short notice.",
        "It took {n} minutes to find this form.",
        "Cash is fine.",
        "Mind the dog.",
        "Invoice number {n} is settled.",
    ),
    closings=("Thank you! {name}", "Bye, {name}", "Sincerely, {name}", "So long!", "Much obliged, {name}"),
    names=(
        *("Ulrike", "Victor", "Wanda", "Xavier", "Yusuf", "Zoe", "Aylin", "Boris", "Celine", "Dmitri", "Edith"),
        *("Fatima", "Giorgio", "Helga"),
    ),
    items=(
        *("kitchen stools", "tennis rackets", "bath mirrors", "soup bowls", "travel mugs", "copper pans", "bar tables"),
        *("velvet curtains", "fishing rods", "school desks", "wine coolers", "snow shovels", "torches", "hammocks"),
        *("baskets", "vases", "kettles", "scarves", "ceiling fans", "bird cages"),
    ),
    cities=(
        *("Madrid", "Bremen", "Naples", "Antwerp", "Oxford", "Bilbao", "Salzburg", "Toulouse", "Poznan", "Malmo"),
        *("Rotterdam", "Geneva", "Dublin", "Helsinki", "Athens", "Riga"),
    ),
)

SIDES = {"train": TRAIN, "select": SELECT, "test": TEST}


def quantity(chance: random.Random) -> tuple[str, int]:
    """How a customer writes a number, and the number."""
    if chance.random() < 0.3:
        large = chance.choice(LARGE)
        return str(large), large
    place = chance.randrange(len(WORDS))
    return chance.choice((str(place + 2), WORDS[place])), place + 2


def weekday(chance: random.Random) -> tuple[str, str]:
    """How a customer writes a day, and its name in full."""
    place = chance.randrange(len(DAYS))
    return chance.choice((DAYS[place], DAYS[place], DAYS[place].lower(), SHORT[place])), DAYS[place]


def order(side: Side, phrasing: str, chance: random.Random) -> tuple[str, str]:
    """A message and the line that it comes to."""
    many, number = quantity(chance)
    written, day = weekday(chance)
    item, city, name = chance.choice(side.items), chance.choice(side.cities), chance.choice(side.names)
    asked = phrasing.format(many=many, item=item, city=city, day=written)
    parts = [asked[0].upper() + asked[1:]]
    if chance.random() < 0.5:
        parts.append(chance.choice(side.asides).format(n=chance.randint(13, 99)))
    if chance.random() < 0.5:
        parts.insert(0, chance.choice(side.openings).format(name=name))
    elif chance.random() < 0.5:
        parts.append(chance.choice(side.closings).format(name=name))
    return " ".join(parts), f"{number} | {item} | {city} | {day}"


def orders(seed: int = SEED) -> list[tuple[str, str, str, str]]:
    """The rows: id, split, message, order."""
    chance = random.Random(seed)
    rows: dict[str, tuple[str, str]] = {}
    for split, side in SIDES.items():
        wanted = len(rows) + side.rows
        while len(rows) < wanted:
            message, line = order(side, side.phrasings[len(rows) % len(side.phrasings)], chance)
            rows.setdefault(message, (split, line))
    return [(f"M{number:03d}", split, message, line) for number, (message, (split, line)) in enumerate(rows.items(), 1)]


def main(path: Path, seed: int = SEED) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("id", "split", "message", "order"))
        writer.writerows(orders(seed))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
