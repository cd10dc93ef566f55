"""Whet among other tools: environments for verifiers, its results, and configs for prime-rl."""
