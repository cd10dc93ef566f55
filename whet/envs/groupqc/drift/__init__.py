"""Drift: what tickets and the votes on them look like, whether two sets differ, and an alarm that may be read daily."""
