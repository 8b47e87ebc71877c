"""`sealedshoe-audit`: the verifier's command line; the only part of the package that does I/O."""

from sealedshoe_audit.cli.main import main

__all__ = ["main"]
