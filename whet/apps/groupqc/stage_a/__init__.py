"""Stage-A: the photos of a mission become one-line summaries."""
