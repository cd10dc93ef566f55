"""The viewer: runs in a browser, those under way too. It reads ledgers, writes nothing, loads nothing from afar."""
