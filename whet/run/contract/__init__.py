"""Whether an environment keeps the contract that the rest of Whet builds on."""
