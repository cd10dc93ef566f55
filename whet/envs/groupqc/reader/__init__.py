"""The embedded reader: what a drawn photo shows, from its pixels alone."""
