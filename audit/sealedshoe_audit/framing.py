"""Length-prefixed framing and the domain separators of every v1 format (docs/protocol.md)."""

DOMAIN_SHOE = b"sealedshoe/v1/shoe\x00"
DOMAIN_SEED = b"sealedshoe/v1/seed\x00"
DOMAIN_CARD_SALTS = b"sealedshoe/v1/card-salts"
DOMAIN_SEAL = b"sealedshoe/v1/seal\x00"
DOMAIN_PLAYER = b"sealedshoe/v1/player\x00"
DOMAIN_LOG_START = b"sealedshoe/v1/log-start\x00"
DOMAIN_KEY_CHANGE = b"sealedshoe/v1/key-change\x00"


def lp(data: bytes) -> bytes:
    """Returns a big-endian uint16 byte length and the bytes.

    Raises:
        ValueError: longer than 65,535 bytes.
    """
    if len(data) > 0xFFFF:
        raise ValueError("too long for a uint16 length")
    return len(data).to_bytes(2, "big") + data


def shoe_identity(origin: str, table: str, shoe_number: int, decks: int) -> bytes:
    """Returns lp(log origin) || lp(table id) || uint64 shoe number || uint8 decks."""
    return (
        lp(origin.encode()) + lp(table.encode()) + shoe_number.to_bytes(8, "big") + bytes([decks])
    )
