"""Synthetic work for users: Stage-A files and trees of drawn photos."""
