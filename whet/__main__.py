"""`python -m whet`."""

from whet.cli import main

main()
