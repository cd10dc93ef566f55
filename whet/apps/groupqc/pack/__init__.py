"""Mission packs for users: what a file may hold, and what is wrong with one."""
