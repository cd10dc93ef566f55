"""The whole way from photos to a report in one command."""
