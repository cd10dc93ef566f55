"""Runs of group quality control: photos to summaries, summaries to verdicts, and what the verdicts add up to."""

from __future__ import annotations

from whet.apps.app import App

APP = App("Group quality control: from the photos of a site to one verdict.", "whet.apps.groupqc.commands:app")
