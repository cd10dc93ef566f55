"""A look at a file that nobody has described: what is asked in it, what the answer is, and how to check it."""
