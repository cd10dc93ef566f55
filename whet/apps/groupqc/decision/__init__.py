"""Verdicts on tickets that nobody has judged, and the threshold from which one is released."""
