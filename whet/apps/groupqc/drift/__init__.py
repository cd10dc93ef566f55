"""Whether new tickets or votes still look like a reference."""
