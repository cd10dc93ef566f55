"""Attempts spread over processes: the driver hands out tickets, pays and keeps; stations play. See decision 31."""
