"""Learners: each proposes candidates from train evidence and lets the gate decide. None can reach a test task."""
