"""The Sealed Shoe game server."""
