"""Files that are kept: written whole and durably, and the archive of heads."""
