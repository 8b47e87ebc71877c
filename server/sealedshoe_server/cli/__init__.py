"""`sealedshoe`: the server's command line."""

from sealedshoe_server.cli.main import main

__all__ = ["main"]
