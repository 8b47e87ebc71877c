"""Bodies of add-checkpoint: old size, proof and checkpoint, in one canonical form."""

import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.witness_request import (
    MAX_REQUEST_BYTES,
    WitnessRequest,
    parse_witness_request,
)
from tests.audit.log.example import CHECKPOINT, EXAMPLE

HASH: str = EXAMPLE["consistency"][1]["proof"][0]
# The worked example's request from size 2 to 3.
BODY = f"old 2\n{HASH}\n\n".encode() + CHECKPOINT
LINE = f"{HASH}\n".encode()


def test_the_worked_examples_request_is_read_and_written_to_the_byte() -> None:
    request = parse_witness_request(BODY)
    assert request == WitnessRequest(2, (base64.b64decode(HASH),), CHECKPOINT)
    assert request.data() == BODY


def test_a_first_request_has_no_hashes() -> None:
    first = b"old 0\n\n" + CHECKPOINT
    assert parse_witness_request(first) == WitnessRequest(0, (), CHECKPOINT)
    assert WitnessRequest(0, (), CHECKPOINT).data() == first


def test_a_request_of_63_hashes_is_read() -> None:
    assert len(parse_witness_request(BODY.replace(LINE, LINE * 63)).proof) == 63


def test_a_request_of_the_largest_size_is_read() -> None:
    head = b"old 0\n\n"
    most = parse_witness_request(head + b"x" * (MAX_REQUEST_BYTES - len(head)))
    assert len(most.checkpoint) == MAX_REQUEST_BYTES - len(head)


BAD = {
    "nothing": b"",
    "a line feed": b"\n",
    "no empty line": BODY.replace(LINE + b"\n", LINE).split(b"\n\n")[0],
    "no checkpoint": BODY[: -len(CHECKPOINT)],
    "no old": BODY.removeprefix(b"old 2\n"),
    "an empty old line": BODY.replace(b"old 2", b""),
    "old without a size": BODY.replace(b"old 2", b"old "),
    "old in capitals": BODY.replace(b"old", b"Old"),
    "old with two spaces": BODY.replace(b"old 2", b"old  2"),
    "old with a leading zero": BODY.replace(b"old 2", b"old 02"),
    "old below zero": BODY.replace(b"old 2", b"old -2"),
    "old with a plus": BODY.replace(b"old 2", b"old +2"),
    "old of 20 digits": BODY.replace(b"old 2", b"old 2" + b"0" * 19),
    "old in other digits": BODY.replace(b"old 2", "old ２".encode()),
    "words behind old": BODY.replace(b"old 2", b"old 2 3"),
    "old twice": BODY.replace(b"old 2\n", b"old 2\nold 2\n"),
    "carriage returns": BODY.replace(b"\n", b"\r\n"),
    "64 hashes": BODY.replace(LINE, LINE * 64),
    "a hash of 31 bytes": BODY.replace(LINE, base64.b64encode(bytes(31)) + b"\n"),
    "a hash of 33 bytes": BODY.replace(LINE, base64.b64encode(bytes(33)) + b"\n"),
    "a hash in hex": BODY.replace(LINE, b"00" * 32 + b"\n"),
    "a hash without padding": BODY.replace(LINE, LINE.replace(b"=", b"")),
    "a hash with loose bits": BODY.replace(b"C5U=", b"C5V="),
    "a hash with a space": BODY.replace(LINE, LINE[:-1] + b" \n"),
    "a hash in the other alphabet": BODY.replace(LINE, b"_" * 43 + b"=\n"),
    "too long": b"old 0\n\n" + b"x" * (MAX_REQUEST_BYTES - 6),
}


@pytest.mark.parametrize("data", BAD.values(), ids=BAD.keys())
def test_a_body_in_any_other_form_is_refused(data: bytes) -> None:
    with pytest.raises(VerificationError) as caught:
        parse_witness_request(data)
    assert caught.value.code is Code.PARSE


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=100), st.integers(0, len(BODY)), st.integers(0, 60))
def test_a_damaged_body_is_refused_or_read_as_it_stands(put: bytes, at: int, cut: int) -> None:
    data = BODY[:at] + put + BODY[at + cut :]
    assert parsed(data) in (Code.PARSE, data)


def parsed(data: bytes) -> bytes | Code:
    """Returns a body as it is written again, or why it is none."""
    try:
        return parse_witness_request(data).data()
    except VerificationError as error:
        return error.code


@settings(deadline=None, max_examples=100)
@given(
    st.integers(0, 10**19 - 1),
    st.lists(st.binary(min_size=32, max_size=32), max_size=63),
    st.binary(min_size=1, max_size=500),
)
def test_every_request_is_read_back_as_written(
    old: int, proof: list[bytes], checkpoint: bytes
) -> None:
    request = WitnessRequest(old, tuple(proof), checkpoint)
    assert parse_witness_request(request.data()) == request
