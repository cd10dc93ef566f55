"""What belongs to one environment's users: runs and commands of their own, found by the entry point `whet.commands`."""
