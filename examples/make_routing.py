"""Writes routing.csv: short support tickets for four queues, made from sentences, openings and closings by chance.

python examples/make_routing.py examples/routing.csv
"""

from __future__ import annotations

import csv
import random
import sys
from pathlib import Path

ROWS = 400

SENTENCES = {
    "billing": (
        "I was charged {n} euros twice this month",
        "The invoice for {m} shows the wrong amount",
        "Why did my payment of {n} euros fail",
        "Please send me a receipt for order {n}",
        "My refund of {n} euros has not arrived",
        "The discount code was not applied to my bill",
        "I want to change the card I pay with",
        "You took money for a plan that I cancelled in {m}",
        "The tax on invoice {n} looks wrong",
        "Can I pay in {n} instalments",
        "My bank says you charged me in {m} without asking",
        "The price on the bill is higher than the price you advertised",
    ),
    "delivery": (
        "My parcel has not arrived since {m}",
        "The box arrived open and {n} items are missing",
        "Where is order {n} right now",
        "The driver left the package at the wrong house",
        "I need the shipment by the end of {m}",
        "The tracking number {n} does not work",
        "Please deliver to my office instead of my home",
        "The courier came when nobody was there",
        "Half of my order came, the rest is late",
        "The package is stuck at customs for {n} days",
        "You shipped the wrong size of shoes",
        "Can you ship order {n} to another country",
    ),
    "account": (
        "I cannot log in with my password",
        "My account was locked after {n} attempts",
        "Please change the email address of my profile",
        "I did not get the code to confirm my phone",
        "How do I delete my account",
        "Someone else is using my user name",
        "The link to reset my password has expired",
        "I want to merge my {n} accounts",
        "Please add my colleague as a second user",
        "My profile still shows my old name",
        "I was logged out on {n} devices at once",
        "How can I turn on two step sign in",
    ),
    "technical": (
        "The app closes when I open page {n}",
        "Error {n} appears when I upload a photo",
        "The website is very slow since {m}",
        "The search button does nothing",
        "My screen stays white after the update",
        "The camera of the device does not turn on",
        "Sound stops after {n} minutes",
        "The printer is not found by the program",
        "The download breaks off at {n} percent",
        "The battery is empty after {n} hours",
        "The new version crashes on my tablet",
        "Bluetooth does not connect to the speaker",
    ),
}
OPENINGS = ("", "", "Hello, ", "Hi there, ", "Good morning, ", "Dear team, ", "Sorry to bother you. ", "Me again: ")
CLOSINGS = ("", "", "Thanks.", "Please help.", "What should I do?", "This is urgent.", "Kind regards.", "I am waiting.")
MONTHS = ("January", "March", "April", "May", "June", "July", "August", "September", "October", "November")


def ticket(chance: random.Random) -> tuple[str, str]:
    queue = chance.choice(sorted(SENTENCES))
    said = chance.choice(SENTENCES[queue]).format(n=chance.randint(2, 99), m=chance.choice(MONTHS))
    return f"{chance.choice(OPENINGS)}{said}. {chance.choice(CLOSINGS)}".strip(), queue


def main(path: Path) -> None:
    chance = random.Random(7)
    rows: dict[str, str] = {}
    while len(rows) < ROWS:
        text, queue = ticket(chance)
        rows.setdefault(text, queue)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("id", "text", "queue"))
        writer.writerows((f"R{number:03d}", text, queue) for number, (text, queue) in enumerate(rows.items(), 1))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
