"""Tickets: where they come from, the lines of Stage-A files that hold them, and how a model is asked about one."""
