"""An audit: every ticket voted on, nothing learned."""
