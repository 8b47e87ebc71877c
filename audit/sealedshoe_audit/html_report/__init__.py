"""A log's verdict as one HTML file that opens from disk: no network, no script, nothing beside it."""

from sealedshoe_audit.html_report.page import render

__all__ = ["render"]
