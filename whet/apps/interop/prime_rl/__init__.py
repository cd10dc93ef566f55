"""Configs for prime-rl: written for a named version, and checked against what that version takes."""
