"""What every chat wire shares: the endpoint, trying again, statuses, JSON bodies, images, tool calls."""
