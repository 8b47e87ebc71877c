"""Seed layout and its deterministic expansion into the order of a shoe.

The seed is entropy_input[32] || nonce[16] || reseed_1[128] || ... || reseed_S[128]. HMAC_DRBG SHA-512 is
instantiated with the first two and the shoe's identity, then S times reseeded and asked for 448 bytes:
112 big-endian uint32 words. The call sequence is that of CAVP's `pr_true` vectors; no prediction
resistance is claimed for a stored seed. The 32 zero bytes of the personalization are reserved in v1.
"""

import struct

from sealedshoe_audit.baccarat.cards import CARDS_PER_DECK, fresh_shoe
from sealedshoe_audit.framing import DOMAIN_SHOE
from sealedshoe_audit.hmac_drbg import HmacDrbg
from sealedshoe_audit.shoe.words import shuffle

ENTROPY_INPUT_BYTES = 32
NONCE_BYTES = 16
RESEED_BYTES = 128
SEGMENT_BYTES = 448
WORDS_PER_SEGMENT = SEGMENT_BYTES // 4
_RESERVED = bytes(32)


def segments(decks: int) -> int:
    """S: the number of reseeds, 4 for 8 decks."""
    return CARDS_PER_DECK * decks // WORDS_PER_SEGMENT + 1


def seed_bytes(decks: int) -> int:
    """Length of a seed: 48 + 128 S, 560 for 8 decks."""
    return ENTROPY_INPUT_BYTES + NONCE_BYTES + RESEED_BYTES * segments(decks)


def expand(seed: bytes, identity: bytes, decks: int) -> tuple[int, ...]:
    """Returns the words that shuffle the shoe, 112 a segment.

    Args:
        seed: exactly `seed_bytes(decks)` bytes.
        identity: as `framing.shoe_identity` returns it.

    Raises:
        ValueError: the seed has another length.
    """
    if len(seed) != seed_bytes(decks):
        raise ValueError(f"a seed of {decks} decks is {seed_bytes(decks)} bytes, not {len(seed)}")
    start = ENTROPY_INPUT_BYTES + NONCE_BYTES
    drbg = HmacDrbg(
        seed[:ENTROPY_INPUT_BYTES],
        seed[ENTROPY_INPUT_BYTES:start],
        DOMAIN_SHOE + identity + _RESERVED,
    )
    stream: list[bytes] = []
    for offset in range(start, len(seed), RESEED_BYTES):
        drbg.reseed(seed[offset : offset + RESEED_BYTES])
        stream.append(drbg.generate(SEGMENT_BYTES))
    words = b"".join(stream)
    return struct.unpack(f">{len(words) // 4}I", words)


def card_order(seed: bytes, identity: bytes, decks: int) -> bytes:
    """Returns the shuffled shoe, one card code a byte, dealt from position 0 up.

    Raises:
        ValueError: the seed has another length.
        WordsExhausted: too many rejected words; about never.
    """
    return shuffle(fresh_shoe(decks), expand(seed, identity, decks))
