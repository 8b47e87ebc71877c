"""What is committed to before betting, and what a reveal must reproduce.

seed_commitment = SHA-256("sealedshoe/v1/seed" 00 seed)
leaf i < r      = salt_i[16] || uint16(i) || card_i                         (19 bytes)
leaf r, if r < n = salt_r[16] || uint16(r) || card_r ... card_(n-1)
cards_root      = RFC 6962 root over the leaves
salts           = HKDF-SHA256(ikm = seed, salt empty, info "sealedshoe/v1/card-salts"), 16 bytes each
"""

from dataclasses import dataclass
from hashlib import sha256
from struct import Struct

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.framing import DOMAIN_CARD_SALTS, DOMAIN_SEED
from sealedshoe_audit.log.merkle import (
    LeafTree,
    leaf_hash,
    node_hash,
    outside_range,
    subtree_bounds,
)
from sealedshoe_audit.shoe.seed import card_order

SALT_BYTES = 16
CARD_LEAF_BYTES = SALT_BYTES + 3
_SHA256 = SHA256()
_HASHED_LEAF = Struct(">x16sHB").pack  # 00 || card leaf: what a leaf's hash is taken of


def seed_commitment(seed: bytes) -> bytes:
    """Returns the 32-byte commitment to a seed."""
    return sha256(DOMAIN_SEED + seed).digest()


def card_salts(seed: bytes, count: int) -> bytes:
    """Returns `count` salts of 16 bytes each: HKDF-SHA256 (RFC 5869) with an empty salt."""
    return HKDF(_SHA256, count * SALT_BYTES, None, DOMAIN_CARD_SALTS).derive(seed)


def tree_size(cards: int, reach: int) -> int:
    """Number of leaves of a card tree: r, and one more for the cards that are never dealt."""
    return reach + (reach < cards)


def card_leaf(salt: bytes, position: int, card: int) -> bytes:
    """Returns the 19 bytes of one position's leaf."""
    return salt + position.to_bytes(2, "big") + bytes([card])


@dataclass(frozen=True, slots=True, repr=False)
class Shoe:
    """A shuffled shoe with all that proves its cards. Secret until closed; never printed.

    Attributes:
        seed_commitment, cards_root: 32 bytes each, public from the opening on.
        order: card codes from position 0 up.
        salts: 16 bytes a leaf.
    """

    seed: bytes
    seed_commitment: bytes
    order: bytes
    reach: int
    salts: bytes
    tree: LeafTree

    @property
    def cards_root(self) -> bytes:
        """The committed root of the card tree."""
        return self.tree.root

    def salt(self, position: int) -> bytes:
        """Returns the salt of a position below the reach."""
        return self.salts[position * SALT_BYTES : (position + 1) * SALT_BYTES]

    def prove(self, start: int, end: int) -> list[bytes]:
        """Returns the range proof of positions [start, end): hashes from left to right."""
        return [self.tree.subtree(low, high) for low, high in self.tree.outside(start, end)]


def build_shoe(seed: bytes, identity: bytes, decks: int, reach: int) -> Shoe:
    """Derives everything from the seed, as dealer and verifier alike must.

    Raises:
        ValueError: the seed has the wrong length for the decks.
        WordsExhausted: see `shoe.seed.card_order`.
    """
    order = card_order(seed, identity, decks)
    salts = card_salts(seed, tree_size(len(order), reach))
    leaves = [
        sha256(_HASHED_LEAF(salts[i * SALT_BYTES : (i + 1) * SALT_BYTES], i, order[i])).digest()
        for i in range(reach)
    ]
    if reach < len(order):
        rest = salts[reach * SALT_BYTES :] + reach.to_bytes(2, "big") + order[reach:]
        leaves.append(leaf_hash(rest))
    tree = LeafTree(leaves)
    return Shoe(seed, seed_commitment(seed), order, reach, salts, tree)


def verify_card_range(
    cards_root: bytes, cards: int, reach: int, start: int, leaves: list[bytes], proof: list[bytes]
) -> None:
    """Checks that leaves were committed to at positions start, start + 1, ...

    Args:
        leaves: 19 bytes each: salt, position, card.
        proof: roots of the maximal subtrees outside the range, left to right, 32 bytes each.

    Raises:
        VerificationError: CARD_PROOF.
    """
    size = tree_size(cards, reach)
    end = start + len(leaves)
    if not leaves or end > reach:
        raise VerificationError(
            Code.CARD_PROOF, expected=f"positions below {reach}", found=str(end)
        )
    for position, leaf in enumerate(leaves, start):
        if len(leaf) != CARD_LEAF_BYTES or leaf[-1] >= 52:
            raise VerificationError(Code.CARD_PROOF, expected="a card leaf", found=leaf.hex())
        if int.from_bytes(leaf[SALT_BYTES:-1], "big") != position:
            raise VerificationError(
                Code.CARD_PROOF, expected=f"position {position}", found=leaf[SALT_BYTES:-1].hex()
            )
    outside = outside_range(start, end, size)
    if len(proof) != len(outside):
        raise VerificationError(
            Code.CARD_PROOF, expected=f"{len(outside)} hashes", found=f"{len(proof)} hashes"
        )
    known = dict(zip(outside, proof, strict=True))
    known |= {(start + i, start + i + 1): leaf_hash(leaf) for i, leaf in enumerate(leaves)}
    root = _fold(0, size, known)
    if root != cards_root:
        raise VerificationError(Code.CARD_PROOF, expected=cards_root.hex(), found=root.hex())


def _fold(low: int, high: int, known: dict[tuple[int, int], bytes]) -> bytes:
    if (low, high) in known:
        return known[low, high]
    left, right = subtree_bounds(low, high)
    return node_hash(_fold(*left, known), _fold(*right, known))
