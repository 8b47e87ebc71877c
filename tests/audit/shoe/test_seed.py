"""A seed has one length for its decks and gives one shoe, the same for every implementation."""

from hashlib import shake_256
from typing import Any

import pytest

from sealedshoe_audit.framing import shoe_identity
from sealedshoe_audit.shoe.seed import card_order, expand, seed_bytes, segments
from tests.audit.vectors import vector_json
from tests.vectors.make_shoes import shoe_vectors

SHOES: list[dict[str, Any]] = vector_json("shoes.json")["shoes"]
LENGTHS = {1: 176, 2: 176, 3: 304, 4: 304, 5: 432, 6: 432, 7: 560, 8: 560}
SEED = shake_256(b"test_seed").digest(560)
IDENTITY = shoe_identity("log.example/a", "7", 1, 8)


def first_difference(one: bytes, other: bytes) -> int:
    """First position at which two shoes differ."""
    return next(i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)


@pytest.mark.parametrize("decks", LENGTHS)
def test_a_seed_is_48_bytes_and_128_for_each_segment(decks: int) -> None:
    assert seed_bytes(decks) == LENGTHS[decks]
    assert segments(decks) == (LENGTHS[decks] - 48) // 128


@pytest.mark.parametrize("decks", range(1, 9))
def test_there_are_9_to_85_words_to_spare(decks: int) -> None:
    words = expand(SEED[: LENGTHS[decks]], IDENTITY, decks)
    assert len(words) == 112 * segments(decks)
    assert 9 <= len(words) - (52 * decks - 1) <= 85
    assert all(0 <= word < 2**32 for word in words)


@pytest.mark.parametrize("decks", range(1, 9))
@pytest.mark.parametrize("difference", [-128, -1, 1, 128])
def test_a_seed_of_another_length_is_refused(decks: int, difference: int) -> None:
    seed = (SEED * 2)[: LENGTHS[decks] + difference]
    with pytest.raises(ValueError, match=f"{LENGTHS[decks]} bytes, not {len(seed)}"):
        card_order(seed, IDENTITY, decks)


def test_the_vectors_are_those_that_the_second_implementation_makes() -> None:
    assert vector_json("shoes.json") == shoe_vectors()
    assert [shoe["decks"] for shoe in SHOES] == list(range(1, 9))


@pytest.mark.parametrize("shoe", SHOES, ids=lambda shoe: f"{shoe['decks']}-decks")
def test_a_seed_gives_the_order_of_the_second_implementation(shoe: dict[str, Any]) -> None:
    identity = shoe_identity(shoe["origin"], shoe["table"], shoe["shoe_number"], shoe["decks"])
    assert identity.hex() == shoe["identity"]
    order = card_order(bytes.fromhex(shoe["seed"]), identity, shoe["decks"])
    assert order.hex() == shoe["order"]
    assert sorted(order) == sorted(list(range(52)) * shoe["decks"])


def test_one_frozen_shoe_never_changes() -> None:
    eight = SHOES[7]
    identity = shoe_identity("log.example/sealed-shoe", "table-7", 1008, 8)
    order = card_order(bytes.fromhex(eight["seed"]), identity, 8)
    assert order[:8].hex() == FROZEN


FROZEN = "1d311d042813162c"


@pytest.mark.parametrize(
    "other",
    [
        shoe_identity("log.example/b", "7", 1, 8),
        shoe_identity("log.example/a", "8", 1, 8),
        shoe_identity("log.example/a", "7", 2, 8),
        shoe_identity("log.example/a", "7", 1, 7),
        shoe_identity("log.example/a7", "", 1, 8),
    ],
)
def test_origin_table_number_and_decks_each_change_the_order(other: bytes) -> None:
    one, twin = card_order(SEED, IDENTITY, 8), card_order(SEED, other, 8)
    assert sum(a == b for a, b in zip(one, twin, strict=True)) < 60


@pytest.mark.parametrize("byte", [0, 31, 32, 47, 48, 175])
def test_a_flipped_bit_of_the_first_parts_of_a_seed_changes_the_whole_order(byte: int) -> None:
    twin = bytearray(SEED)
    twin[byte] ^= 1
    one, other = card_order(SEED, IDENTITY, 8), card_order(bytes(twin), IDENTITY, 8)
    assert sum(a == b for a, b in zip(one, other, strict=True)) < 60


@pytest.mark.parametrize("segment", range(4))
def test_each_reseed_decides_the_words_from_its_segment_on(segment: int) -> None:
    twin = bytearray(SEED)
    twin[48 + 128 * segment] ^= 0x80
    one, other = expand(SEED, IDENTITY, 8), expand(bytes(twin), IDENTITY, 8)
    start = 112 * segment
    assert one[:start] == other[:start]
    assert all(a != b for a, b in zip(one[start:], other[start:], strict=True))


def test_leading_zeros_of_a_seed_are_kept() -> None:
    zeros = bytes(10) + SEED[10:]
    assert card_order(zeros, IDENTITY, 8) != card_order(SEED, IDENTITY, 8)
    with pytest.raises(ValueError, match="550"):
        card_order(zeros.lstrip(b"\0"), IDENTITY, 8)
