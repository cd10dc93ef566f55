"""Rule books of runs: look at them, compare two of their steps, go back to one, and say yes or no to a change."""

from __future__ import annotations

from whet.apps.app import App

APP = App("Rule books: show, diff, roll back, approve.", "whet.apps.rules.commands:app")
