"""A shoe is committed to as a whole, and each range of its cards can be proved and nothing else."""

from hashlib import sha256, shake_256
from typing import Any

import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.framing import shoe_identity
from sealedshoe_audit.log.merkle import leaf_hash, node_hash
from sealedshoe_audit.shoe.commitment import (
    Shoe,
    build_shoe,
    card_leaf,
    card_salts,
    seed_commitment,
    tree_size,
    verify_card_range,
)
from tests.audit.vectors import vector_json

VECTORS: list[dict[str, Any]] = vector_json("shoes.json")["shoes"]
SHAPES = [(1, 6), (1, 52), (8, 6), (8, 416)]
Proof = tuple[bytes, int, int, int, list[bytes], list[bytes]]


def shoe_of(decks: int, reach: int) -> Shoe:
    """A shoe of a vector."""
    vector = VECTORS[decks - 1]
    return build_shoe(
        bytes.fromhex(vector["seed"]), bytes.fromhex(vector["identity"]), decks, reach
    )


SHOES = {shape: shoe_of(*shape) for shape in SHAPES}


def proof_of(shoe: Shoe, start: int, end: int) -> Proof:
    """All that `verify_card_range` takes for positions [start, end)."""
    leaves = [card_leaf(shoe.salt(i), i, shoe.order[i]) for i in range(start, end)]
    return (
        shoe.cards_root,
        len(shoe.order),
        shoe.reach,
        start,
        leaves,
        shoe.prove(start, end),
    )


def is_refused(proof: Proof) -> bool:
    """Whether the proof is refused as a card proof."""
    try:
        verify_card_range(*proof)
    except VerificationError as error:
        return error.code is Code.CARD_PROOF
    return False


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"{vector['decks']}-decks")
def test_commitment_leaf_and_roots_are_those_of_the_second_implementation(
    vector: dict[str, Any],
) -> None:
    assert seed_commitment(bytes.fromhex(vector["seed"])).hex() == vector["seed_commitment"]
    for reach, root in vector["cards_root"].items():
        shoe = shoe_of(vector["decks"], int(reach))
        assert shoe.cards_root.hex() == root
        assert shoe.seed_commitment.hex() == vector["seed_commitment"]
        assert shoe.order.hex() == vector["order"]
    first = shoe_of(vector["decks"], 6)
    assert card_leaf(first.salt(0), 0, first.order[0]).hex() == vector["first_leaf"]


def test_a_commitment_is_sha256_of_its_domain_and_the_seed() -> None:
    seed = shake_256(b"seed").digest(560)
    assert seed_commitment(seed) == sha256(b"sealedshoe/v1/seed\x00" + seed).digest()
    assert seed_commitment(seed) != seed_commitment(b"\0" + seed[1:])


@pytest.mark.parametrize("count", [1, 2, 3, 7, 416, 417])
def test_salts_are_hkdf_sha256_with_an_empty_salt(count: int) -> None:
    seed = shake_256(b"salts").digest(560)
    hkdf = HKDF(SHA256(), 16 * count, salt=None, info=b"sealedshoe/v1/card-salts")
    assert card_salts(seed, count) == hkdf.derive(seed)


def test_a_tree_has_one_more_leaf_for_cards_that_are_never_dealt() -> None:
    assert (tree_size(416, 6), tree_size(416, 416), tree_size(52, 51)) == (7, 416, 52)


def test_a_card_leaf_is_salt_position_and_card() -> None:
    leaf = card_leaf(b"s" * 16, 258, 51)
    assert leaf == b"s" * 16 + b"\x01\x02" + b"\x33"
    assert len(leaf) == 19


def test_every_salt_of_a_shoe_is_its_own() -> None:
    shoe = SHOES[8, 416]
    assert len({shoe.salt(i) for i in range(416)}) == 416


def test_a_shoe_never_shows_its_seed_in_its_representation() -> None:
    shoe = SHOES[8, 416]
    assert shoe.seed.hex() not in repr(shoe)
    assert repr(shoe.seed) not in repr(shoe)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_range_of_one_to_six_cards_is_proved(shape: tuple[int, int]) -> None:
    shoe = SHOES[shape]
    for start in range(shoe.reach):
        for end in range(start + 1, min(start + 6, shoe.reach) + 1):
            verify_card_range(*proof_of(shoe, start, end))


def test_the_proof_of_a_whole_shoe_has_no_hash() -> None:
    shoe = SHOES[8, 416]
    assert shoe.prove(0, 416) == []
    verify_card_range(*proof_of(shoe, 0, 416))


def tampered(proof: Proof) -> list[Proof]:
    """All twins of a proof that must be refused."""
    root, cards, reach, start, leaves, hashes = proof
    twins = [
        (bytes(32), cards, reach, start, leaves, hashes),
        (root, cards, reach, start + 1, leaves, hashes),
        (root, cards, reach, start - 1, leaves, hashes),
        (root, cards, reach, start, [], hashes),
        (root, cards, reach, start, leaves[:-1], hashes),
        (root, cards, reach, start, [*leaves, leaves[-1]], hashes),
        (root, cards, reach, start, leaves[::-1], hashes) if len(leaves) > 1 else None,
        (root, cards, reach, start, leaves, hashes[:-1]) if hashes else None,
        (root, cards, reach, start, leaves, hashes[1:]) if hashes else None,
        (root, cards, reach, start, leaves, [*hashes, bytes(32)]),
        (root, cards, reach, start, leaves, [bytes(32), *hashes]),
        (root, cards, reach, start, leaves, hashes[::-1]) if len(hashes) > 1 else None,
    ]
    twins += [
        (root, cards, reach, start, leaves, [*hashes[:n], bytes(32), *hashes[n + 1 :]])
        for n in range(len(hashes))
    ]
    for n, leaf in enumerate(leaves):
        damaged = [
            leaf[:-1] + bytes([(leaf[-1] + 1) % 52]),
            leaf[:-1] + bytes([leaf[-1] + 52]),
            leaf[:-1] + b"\xff",
            bytes([leaf[0] ^ 1]) + leaf[1:],
            leaf[:15] + bytes([leaf[15] ^ 0x80]) + leaf[16:],
            leaf[:17] + bytes([leaf[17] ^ 1]) + leaf[18:],
            bytes([leaf[16] ^ 1]).join((leaf[:16], leaf[17:])),
            leaf[:-1],
            leaf + b"\0",
            leaf[1:],
            b"",
        ]
        twins += [
            (root, cards, reach, start, [*leaves[:n], twin, *leaves[n + 1 :]], hashes)
            for twin in damaged
        ]
    return [twin for twin in twins if twin is not None]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("start", "end"), [(0, 1), (0, 4), (1, 3), (5, 6), (0, 6)])
def test_every_tampered_twin_of_a_card_proof_is_refused(
    shape: tuple[int, int], start: int, end: int
) -> None:
    accepted = [
        twin for twin in tampered(proof_of(SHOES[shape], start, end)) if not is_refused(twin)
    ]
    assert accepted == []


@pytest.mark.parametrize("decks", [1, 8])
def test_cards_beyond_the_reach_are_never_proved(decks: int) -> None:
    shoe = SHOES[decks, 6]
    root, cards, _, _, leaves, hashes = proof_of(shoe, 4, 6)
    beyond = shoe.salts[96:112] + (6).to_bytes(2, "big") + shoe.order[6:]
    assert is_refused((root, cards, 6, 4, [*leaves, beyond], hashes[:-1]))
    assert is_refused((root, cards, 6, 6, [beyond], shoe.prove(6, 7)))


def test_a_proof_of_another_shape_of_tree_is_refused() -> None:
    root, cards, reach, start, leaves, hashes = proof_of(SHOES[8, 6], 0, 5)
    assert is_refused((root, cards, 5, start, leaves, hashes))
    assert is_refused((root, 6, reach, start, leaves, hashes))
    assert is_refused((root, cards, cards, start, leaves, hashes))


def test_a_node_is_never_taken_for_a_leaf() -> None:
    shoe = SHOES[8, 416]
    inner = node_hash(
        leaf_hash(card_leaf(shoe.salt(0), 0, shoe.order[0])),
        leaf_hash(card_leaf(shoe.salt(1), 1, shoe.order[1])),
    )
    root, cards, reach, _, _, _ = proof_of(shoe, 0, 2)
    assert is_refused((root, cards, reach, 0, [inner], shoe.prove(0, 2)))


def test_a_proof_of_another_shoe_is_refused() -> None:
    one, other = (
        SHOES[8, 416],
        build_shoe(SHOES[8, 416].seed, shoe_identity("log.example/other", "7", 1, 8), 8, 416),
    )
    assert one.seed_commitment == other.seed_commitment
    assert one.cards_root != other.cards_root
    assert is_refused((other.cards_root, *proof_of(one, 0, 4)[1:]))


@pytest.mark.parametrize("size", [0, 559, 561])
def test_a_shoe_of_a_seed_of_another_length_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match="560 bytes"):
        build_shoe(bytes(size), b"", 8, 6)
