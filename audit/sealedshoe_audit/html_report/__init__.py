"""A log's verdict as one HTML file that opens from disk: no network, no script, nothing beside it."""
