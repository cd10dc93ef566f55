"""What `whet ordebug` does: figures of its runs, the gradient over the twelve cells, traces, generation."""

from __future__ import annotations

from whet.apps.app import App

APP = App("Broken optimisation models: generate, traces, gradient, metrics.", "whet.apps.ordebug.commands:app")
