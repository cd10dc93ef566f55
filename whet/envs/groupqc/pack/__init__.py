"""A mission pack: what one domain of site inspections is about, as one TOML file says it."""
