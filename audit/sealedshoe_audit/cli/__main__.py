"""`python -m sealedshoe_audit.cli`."""

from sealedshoe_audit.cli.main import main

main()
