"""`python -m sealedshoe_server`."""

from sealedshoe_server.cli import main

main()
