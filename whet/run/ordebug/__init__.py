"""What `whet ordebug` does: figures of its runs, the gradient over the twelve cells, traces, generation."""

from __future__ import annotations
