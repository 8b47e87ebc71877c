"""Every flipped bit, cut and random change of a file is refused, and no bytes make the verifier fail."""

import random
from collections.abc import Callable
from functools import cache
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealedshoe_audit.containers import parse_receipt, seal_evidence, seal_receipt
from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.note import parse_note
from sealedshoe_audit.log.tiles import parse_bundle
from sealedshoe_audit.trust import Trust, parse_trust
from sealedshoe_audit.verify.evidence import verify_evidence
from tests.audit.forge.cases import CASES
from tests.audit.forge.evidence import make_evidence, make_receipt
from tests.audit.forge.log import ForgedLog
from tests.audit.forge.published import errors, publish

TRUST = ForgedLog().trust()
SEALED = 34  # bytes of the digest's field
Edit = tuple[int, int, bytes]  # at, how many bytes go, what comes


@cache
def sealed(name: str) -> bytes:
    """Returns a case's honest file."""
    return seal_evidence(make_evidence(*CASES[name]()))


def flip(data: bytes, bit: int) -> bytes:
    """Returns the bytes with one bit changed."""
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def reseal(data: bytes) -> bytes:
    """Returns a changed file whose digest is right again."""
    body = data[:-SEALED]
    return body + data[-SEALED:-32] + sha256(body).digest()


def test_every_single_bit_of_a_file_counts() -> None:
    data = sealed("every_round")
    for bit in range(8 * len(data)):
        assert not verify_evidence(flip(data, bit), TRUST).valid, bit


def test_no_file_survives_a_cut() -> None:
    data = sealed("every_round")
    for size in range(len(data)):
        assert errors(verify_evidence(data[:size], TRUST)) == [Code.PARSE] or size > SEALED
        assert not verify_evidence(data[:size], TRUST).valid, size


@pytest.mark.parametrize("name", CASES)
def test_flipped_bits_are_found_by_more_than_the_digest(name: str) -> None:
    data = sealed(name)
    for bit in random.Random(name).sample(range(8 * (len(data) - SEALED)), 250):
        report = verify_evidence(reseal(flip(data, bit)), TRUST)
        assert not report.valid, bit
        assert Code.DIGEST_MISMATCH not in errors(report)


@pytest.mark.parametrize("name", CASES)
def test_a_byte_more_or_less_is_found_by_more_than_the_digest(name: str) -> None:
    data = sealed(name)
    for at in random.Random(name).sample(range(len(data) - SEALED), 40):
        assert not verify_evidence(reseal(data[:at] + data[at + 1 :]), TRUST).valid, at
        assert not verify_evidence(reseal(data[:at] + b"\x00" + data[at:]), TRUST).valid, at


def edited(data: bytes, edits: list[Edit]) -> bytes:
    """Applies edits one after the other."""
    for at, gone, new in edits:
        place = at % (len(data) + 1)
        data = data[:place] + new + data[place + gone :]
    return data


edit_lists = st.lists(
    st.tuples(st.integers(0, 2**16), st.integers(0, 8), st.binary(max_size=8)),
    min_size=1,
    max_size=4,
)
bounded = settings(deadline=None, max_examples=150)


@bounded
@given(data=st.binary(max_size=300), sealing=st.booleans())
def test_random_bytes_are_no_evidence_and_no_receipt(data: bytes, sealing: bool) -> None:
    if sealing:
        data = reseal(data + bytes([15 << 3 | 2, 32]) + bytes(32))
    assert not verify_evidence(data, TRUST).valid
    assert not verify_evidence(sealed("first_round"), TRUST, data).valid
    with pytest.raises(VerificationError):
        parse_receipt(data)


@bounded
@given(name=st.sampled_from(sorted(CASES)), edits=edit_lists, sealing=st.booleans())
def test_a_changed_file_is_never_valid(name: str, edits: list[Edit], sealing: bool) -> None:
    good = sealed(name)
    changed = edited(good[:-SEALED], edits) + good[-SEALED:]
    report = verify_evidence(reseal(changed) if sealing else changed, TRUST)
    assert report.valid is (changed == good)


@bounded
@given(edits=edit_lists, sealing=st.booleans())
def test_a_changed_receipt_is_never_good(edits: list[Edit], sealing: bool) -> None:
    good = seal_receipt(make_receipt(*CASES["first_round"]()))
    changed = edited(good[:-SEALED], edits) + good[-SEALED:]
    given_receipt = reseal(changed) if sealing else changed
    report = verify_evidence(sealed("first_round"), TRUST, given_receipt)
    assert report.valid is (changed == good)


@bounded
@given(data=st.binary(max_size=400) | st.text(max_size=200).map(str.encode))
def test_random_bytes_are_no_note_and_no_trust(data: bytes) -> None:
    with pytest.raises(VerificationError):
        parse_trust(data)
    with pytest.raises(VerificationError) as caught:
        parse_note(data)
    assert caught.value.code is Code.PARSE


def parsed(parse: Callable[[bytes], object], data: bytes) -> object:
    """Returns what a parser makes of bytes, or the code that it refuses them with."""
    try:
        return parse(data)
    except VerificationError as error:
        return error.code


@bounded
@given(edits=edit_lists)
def test_a_changed_trust_file_is_refused_or_says_what_it_says(edits: list[Edit]) -> None:
    changed = edited(TRUST.text().encode(), edits)
    found = parsed(parse_trust, changed)
    assert found is Code.TRUST or (isinstance(found, Trust) and found.text().encode() == changed)


@bounded
@given(edits=edit_lists)
def test_a_changed_note_is_refused_or_another_note(edits: list[Edit]) -> None:
    good = ForgedLog().note()
    changed = edited(good, edits)
    found = parsed(parse_note, changed)
    assert found is Code.PARSE or (found == parse_note(good)) is (changed == good)


@bounded
@given(data=st.binary(max_size=300), width=st.integers(1, 256))
def test_random_bytes_are_a_bundle_only_as_a_whole(data: bytes, width: int) -> None:
    found = parsed(lambda given_bytes: parse_bundle(given_bytes, width), data)
    if found is not Code.PARSE:
        assert isinstance(found, list)
        assert len(found) == width
        assert b"".join(len(entry).to_bytes(2, "big") + entry for entry in found) == data


@bounded
@given(edits=edit_lists)
def test_a_changed_bundle_never_gives_the_same_entries(edits: list[Edit]) -> None:
    log = CASES["every_round"]()[0].log
    width = len(log.entries)
    good = publish(log)[f"tile/entries/000.p/{width}"]
    changed = edited(good, edits)
    found = parsed(lambda given_bytes: parse_bundle(given_bytes, width), changed)
    assert found is Code.PARSE or (found == log.entries) is (changed == good)
