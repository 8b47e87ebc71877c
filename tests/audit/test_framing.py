"""Length-prefixed fields cannot be split in another way."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealedshoe_audit.framing import lp, shoe_identity


def test_a_field_is_its_big_endian_length_and_its_bytes() -> None:
    assert lp(b"") == b"\x00\x00"
    assert lp(b"abc") == b"\x00\x03abc"
    assert lp(bytes(300))[:2] == b"\x01\x2c"


def test_the_longest_field_is_65535_bytes() -> None:
    assert len(lp(bytes(65_535))) == 65_537
    with pytest.raises(ValueError, match="uint16"):
        lp(bytes(65_536))


def test_a_hyphen_moved_between_two_fields_gives_other_bytes() -> None:
    assert lp(b"a-1") + lp(b"2") != lp(b"a") + lp(b"1-2")
    assert shoe_identity("a-1", "2", 1, 8) != shoe_identity("a", "1-2", 1, 8)


@settings(deadline=None, max_examples=200)
@given(st.lists(st.binary(max_size=6), max_size=4), st.lists(st.binary(max_size=6), max_size=4))
def test_two_lists_of_fields_collide_only_when_they_are_equal(
    one: list[bytes], other: list[bytes]
) -> None:
    joined = [b"".join(lp(field) for field in fields) for fields in (one, other)]
    assert (joined[0] == joined[1]) is (one == other)


def test_a_shoe_identity_is_origin_table_number_and_decks() -> None:
    assert shoe_identity("o.example", "7", 258, 6) == (
        b"\x00\x09o.example\x00\x017\x00\x00\x00\x00\x00\x00\x01\x02\x06"
    )


@pytest.mark.parametrize(
    "twin",
    [("p", "7", 1, 8), ("o", "8", 1, 8), ("o", "7", 2, 8), ("o", "7", 1, 6), ("o7", "", 1, 8)],
)
def test_each_part_changes_a_shoe_identity(twin: tuple[str, str, int, int]) -> None:
    assert shoe_identity(*twin) != shoe_identity("o", "7", 1, 8)


def test_an_impossible_shoe_number_is_refused() -> None:
    with pytest.raises(OverflowError):
        shoe_identity("o", "7", 2**64, 8)
