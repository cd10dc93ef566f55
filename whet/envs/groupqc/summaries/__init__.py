"""The one-line summary of a photo: its text, and the counts in it."""
