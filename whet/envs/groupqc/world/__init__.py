"""The generator: sites, what their photos show, and the noise between the truth and a ticket."""
