"""Whether new tickets or votes still look like a reference: compared once, or watched day by day."""
