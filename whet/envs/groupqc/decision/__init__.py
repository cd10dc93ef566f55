"""Tickets that nobody has judged: how a model is asked about one, what its evidence lacks, and when it is released."""
