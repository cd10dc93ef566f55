"""Runs of group quality control: photos to summaries, summaries to verdicts, and what the verdicts add up to."""
