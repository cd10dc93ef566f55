"""Verdicts on tickets: how one is written and read, what it earns, and what many of them add up to."""
