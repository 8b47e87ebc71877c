"""Writes shoes.json: a plain second implementation of the shoe, on hashlib and hmac alone.

    python tests/vectors/make_shoes.py > tests/vectors/shoes.json

It shares no line with the product, so that each checks the other. Slow and simple on purpose.
"""

import hashlib
import hmac
import json
import sys

ORIGIN = "log.example/sealed-shoe"
TABLE = "table-7"
RANKS, SUITS = "A23456789TJQK", "CDHS"


def mac(key: bytes, data: bytes) -> bytes:
    """HMAC-SHA-512."""
    return hmac.new(key, data, hashlib.sha512).digest()


def drbg_update(key: bytes, value: bytes, data: bytes) -> tuple[bytes, bytes]:
    """HMAC_DRBG_Update of SP 800-90A Rev. 1, 10.1.2.2."""
    key = mac(key, value + b"\0" + data)
    value = mac(key, value)
    if data:
        key = mac(key, value + b"\1" + data)
        value = mac(key, value)
    return key, value


def words_of(seed: bytes, identity: bytes) -> list[int]:
    """Expands a seed into 112 words for each of its 128-byte reseeds."""
    personalization = b"sealedshoe/v1/shoe\0" + identity + bytes(32)
    key, value = drbg_update(bytes(64), b"\1" * 64, seed[:48] + personalization)
    words = []
    for start in range(48, len(seed), 128):
        key, value = drbg_update(key, value, seed[start : start + 128])
        for _ in range(448 // 64):
            value = mac(key, value)
            words += [int.from_bytes(value[i : i + 4], "big") for i in range(0, 64, 4)]
        key, value = drbg_update(key, value, b"")
    return words


def shuffled(decks: int, words: list[int]) -> list[int]:
    """Fisher-Yates from the last position down, with rejection."""
    cards = [code for _ in range(decks) for code in range(52)]
    taken = 0
    for i in range(len(cards) - 1, 0, -1):
        m = i + 1
        while words[taken] >= 2**32 - 2**32 % m:
            taken += 1
        j = words[taken] % m
        taken += 1
        cards[i], cards[j] = cards[j], cards[i]
    return cards


def salts_of(seed: bytes, count: int) -> list[bytes]:
    """HKDF-SHA256 (RFC 5869) with an empty salt, cut into pieces of 16 bytes."""
    key = hmac.new(bytes(32), seed, hashlib.sha256).digest()
    stream, block, counter = b"", b"", 0
    while len(stream) < 16 * count:
        counter += 1
        info = b"sealedshoe/v1/card-salts" + bytes([counter])
        block = hmac.new(key, block + info, hashlib.sha256).digest()
        stream += block
    return [stream[16 * i : 16 * i + 16] for i in range(count)]


def tree_root(leaves: list[bytes]) -> bytes:
    """Merkle tree hash of RFC 6962, 2.1, as it is written there."""
    if len(leaves) == 1:
        return hashlib.sha256(b"\0" + leaves[0]).digest()
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return hashlib.sha256(b"\1" + tree_root(leaves[:k]) + tree_root(leaves[k:])).digest()


def card_leaves(seed: bytes, cards: list[int], reach: int) -> list[bytes]:
    """One leaf for each position that can be dealt, and one for all that cannot."""
    rest = reach < len(cards)
    salts = salts_of(seed, reach + rest)
    leaves = [salts[i] + i.to_bytes(2, "big") + bytes([cards[i]]) for i in range(reach)]
    if rest:
        leaves.append(salts[reach] + reach.to_bytes(2, "big") + bytes(cards[reach:]))
    return leaves


def shoe_vector(decks: int) -> dict[str, object]:
    """One shoe and all that follows from its seed."""
    seed_length = 48 + 128 * (52 * decks // 112 + 1)
    seed = hashlib.shake_256(b"sealed shoe vector %d" % decks).digest(seed_length)
    origin, table, number = ORIGIN.encode(), TABLE.encode(), 1000 + decks
    identity = len(origin).to_bytes(2, "big") + origin + len(table).to_bytes(2, "big") + table
    identity += number.to_bytes(8, "big") + bytes([decks])
    cards = shuffled(decks, words_of(seed, identity))
    return {
        "decks": decks,
        "origin": ORIGIN,
        "table": TABLE,
        "shoe_number": number,
        "identity": identity.hex(),
        "seed": seed.hex(),
        "seed_commitment": hashlib.sha256(b"sealedshoe/v1/seed\0" + seed).hexdigest(),
        "first_cards": " ".join(RANKS[code % 13] + SUITS[code // 13] for code in cards[:12]),
        "order": bytes(cards).hex(),
        "first_leaf": card_leaves(seed, cards, 6)[0].hex(),
        "cards_root": {
            str(reach): tree_root(card_leaves(seed, cards, reach)).hex()
            for reach in (6, 52 * decks)
        },
    }


def shoe_vectors() -> dict[str, object]:
    """The whole file."""
    about = "made by make_shoes.py; bytes in hex, card codes 13 * suit + rank"
    return {"_about": about, "shoes": [shoe_vector(decks) for decks in range(1, 9)]}


if __name__ == "__main__":
    json.dump(shoe_vectors(), sys.stdout, indent=1)
    sys.stdout.write("\n")
