"""Whet: make a language-model agent measurably better at a task that a program can check."""
