"""Drift: what tickets and votes look like, and how far two sets of them lie apart."""
