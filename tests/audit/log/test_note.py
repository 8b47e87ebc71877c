"""Signed notes: one accepted form, known keys must verify, unknown lines are ignored."""

import base64
from hashlib import sha256

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.note import (
    VerifierKey,
    cosigned_message,
    is_key_name,
    parse_note,
    parse_vkey,
    sign_note,
    signature_line,
    verify_signers,
)
from sealedshoe_audit.signing import public_bytes
from tests.audit.log.example import (
    CHECKPOINT,
    EXAMPLE,
    LOG_KEY,
    LOG_LINE,
    LOG_PRIVATE,
    ORIGIN,
    TEXT,
    WITNESS_KEY,
    WITNESS_LINE,
    WITNESS_PRIVATE,
)

PLAIN = f"{TEXT}\n".encode() + LOG_LINE
OTHER = Ed25519PrivateKey.from_private_bytes(b"o" * 32)


def finding(data: bytes, *keys: VerifierKey) -> Code | None:
    """What a note's check finds wrong, if anything."""
    try:
        verify_signers(parse_note(data), keys)
    except VerificationError as error:
        return error.code
    return None


def test_the_worked_example_is_signed_to_the_byte() -> None:
    assert sign_note(TEXT, ORIGIN, LOG_PRIVATE) == PLAIN
    assert sign_note(TEXT, ORIGIN, LOG_PRIVATE) == PLAIN
    assert parse_note(CHECKPOINT).text == TEXT


def test_key_ids_and_vkeys_are_those_of_the_worked_example() -> None:
    assert VerifierKey(ORIGIN, 1, bytes.fromhex(EXAMPLE["log"]["public_key"])) == LOG_KEY
    assert LOG_KEY.id.hex() == EXAMPLE["log"]["key_id"]
    assert LOG_KEY.text() == EXAMPLE["log"]["vkey"]
    assert WITNESS_KEY.text() == EXAMPLE["witness"]["vkey"]
    assert WITNESS_KEY.type == 4
    assert LOG_KEY.public_key == public_bytes(LOG_PRIVATE)
    hashed = sha256(ORIGIN.encode() + b"\n\x01" + LOG_KEY.public_key).digest()
    assert LOG_KEY.id == hashed[:4]


def test_known_keys_verify_with_their_times_and_unknown_lines_are_ignored() -> None:
    note = parse_note(CHECKPOINT)
    assert verify_signers(note, [LOG_KEY]) == {LOG_KEY: 0}
    assert verify_signers(note, [WITNESS_KEY]) == {WITNESS_KEY: 1767225600}
    assert verify_signers(note, [LOG_KEY, WITNESS_KEY]) == {
        LOG_KEY: 0,
        WITNESS_KEY: 1767225600,
    }
    assert verify_signers(note, []) == {}
    assert verify_signers(note, [VerifierKey(ORIGIN, 1, public_bytes(OTHER))]) == {}


def test_a_cosignature_covers_its_time_in_big_endian_seconds() -> None:
    message = cosigned_message(TEXT, 1767225600)
    assert message == b"cosignature/v1\ntime 1767225600\n" + TEXT.encode()
    blob = (1767225600).to_bytes(8, "big") + WITNESS_PRIVATE.sign(message)
    line = signature_line(WITNESS_KEY.name, WITNESS_KEY.id, blob)
    assert line.encode() == WITNESS_LINE
    little = (1767225600).to_bytes(8, "little") + WITNESS_PRIVATE.sign(message)
    twin = PLAIN + signature_line(WITNESS_KEY.name, WITNESS_KEY.id, little).encode()
    assert finding(twin, WITNESS_KEY) is Code.NOTE_SIGNATURE


def test_a_cosignature_of_a_time_beyond_63_bits_is_refused() -> None:
    for time_s, found in ((2**63 - 1, None), (2**63, Code.NOTE_SIGNATURE)):
        signed = WITNESS_PRIVATE.sign(cosigned_message(TEXT, time_s))
        blob = time_s.to_bytes(8, "big") + signed
        note = PLAIN + signature_line(WITNESS_KEY.name, WITNESS_KEY.id, blob).encode()
        assert finding(note, WITNESS_KEY) is found


def test_a_plain_signature_is_no_cosignature_and_the_other_way_round() -> None:
    plain = signature_line(WITNESS_KEY.name, WITNESS_KEY.id, WITNESS_PRIVATE.sign(TEXT.encode()))
    assert finding(PLAIN + plain.encode(), WITNESS_KEY) is Code.NOTE_SIGNATURE
    log_as_witness = VerifierKey(ORIGIN, 4, LOG_KEY.public_key)
    assert verify_signers(parse_note(PLAIN), [log_as_witness]) == {}


def test_a_bad_line_of_a_known_key_rejects_the_note_and_of_an_unknown_one_does_not() -> None:
    bad = PLAIN + WITNESS_LINE.replace(b"AABpVbkA", b"AABpVbkB")
    assert bad != CHECKPOINT
    assert finding(bad, LOG_KEY, WITNESS_KEY) is Code.NOTE_SIGNATURE
    assert finding(bad, LOG_KEY) is None


def test_a_line_of_a_known_key_that_stands_twice_rejects_the_note() -> None:
    assert finding(PLAIN + LOG_LINE, LOG_KEY) is Code.NOTE_SIGNATURE


def test_a_note_signed_by_two_trusted_keys_of_one_name_is_good() -> None:
    both = PLAIN + sign_note(TEXT, ORIGIN, OTHER).split(b"\n\n")[1]
    assert finding(both, LOG_KEY, VerifierKey(ORIGIN, 1, public_bytes(OTHER))) is None


@pytest.mark.parametrize("size", [0, 1, 63, 65])
def test_a_signature_of_another_length_by_a_known_key_rejects_the_note(size: int) -> None:
    blob = (LOG_PRIVATE.sign(TEXT.encode()) * 2)[:size]
    line = signature_line(ORIGIN, LOG_KEY.id, blob).encode()
    right = Code.NOTE_SIGNATURE if size else Code.PARSE
    assert finding(f"{TEXT}\n".encode() + line, LOG_KEY) is right


TWINS: dict[str, bytes] = {
    "empty": b"",
    "no empty line": TEXT.encode() + LOG_LINE,
    "no signature": f"{TEXT}\n".encode(),
    "no final line feed": PLAIN[:-1],
    "CRLF": PLAIN.replace(b"\n", b"\r\n"),
    "one CR": PLAIN.replace(b"\n3\n", b"\n3\r\n"),
    "tab": PLAIN.replace(b"\n3\n", b"\n3\t\n"),
    "NUL": PLAIN.replace(b"\n3\n", b"\n3\0\n"),
    "not UTF-8": PLAIN.replace(b"\n3\n", b"\n\xff\n"),
    "overlong UTF-8": PLAIN.replace(b"\n3\n", b"\n\xc0\xb3\n"),
    "hyphen for the em dash": PLAIN.replace("—".encode(), b"-"),
    "en dash for the em dash": PLAIN.replace("—".encode(), "–".encode()),
    "two spaces": PLAIN.replace("— ".encode(), "—  ".encode()),
    "no name": PLAIN.replace(f"— {ORIGIN} ".encode(), "—  ".encode()),
    "plus in the name": PLAIN.replace(f"— {ORIGIN}".encode(), f"— {ORIGIN}+x".encode()),
    "no-break space in the name": PLAIN.replace("— ".encode(), "— \u00a0".encode()),
    "space after the signature": PLAIN[:-1] + b" \n",
    "line feed after the signatures": PLAIN + b"\n",
    "padding left out": PLAIN[:-2] + b"\n",
    "base64 with a stray character": PLAIN.replace(b"qf76", b"qf7!"),
    "base64 of the URL alphabet": PLAIN.replace(b"/x", b"_x"),
    "base64 with unused bits set": PLAIN.replace(b"LbvHQI=\n", b"LbvHQJ=\n"),
    "only a key id": f"{TEXT}\n— {ORIGIN} {base64.b64encode(LOG_KEY.id).decode()}\n".encode(),
    "17 signatures": PLAIN + WITNESS_LINE * 16,
    "longer than 16 KiB": b"x" * 16_384 + PLAIN,
}


@pytest.mark.parametrize("twin", TWINS)
def test_a_note_of_another_form_is_refused(twin: str) -> None:
    assert TWINS[twin] != PLAIN
    assert finding(TWINS[twin], LOG_KEY) is Code.PARSE


def test_sixteen_signatures_are_taken() -> None:
    strangers = [
        signature_line(f"stranger-{n}", bytes([n]) * 4, b"any").encode() for n in range(15)
    ]
    note = parse_note(PLAIN + b"".join(strangers))
    assert len(note.signatures) == 16
    assert verify_signers(note, [LOG_KEY]) == {LOG_KEY: 0}


def test_the_last_empty_line_ends_the_text() -> None:
    text = "one\n\ntwo\n"
    note = parse_note(sign_note(text, "a.example", LOG_PRIVATE))
    assert note.text == text
    key = VerifierKey("a.example", 1, LOG_KEY.public_key)
    assert verify_signers(note, [key]) == {key: 0}


VKEYS: dict[str, str] = {
    "empty": "",
    "other id": EXAMPLE["log"]["vkey"].replace("a9fefa39", "a9fefa38"),
    "upper case id": EXAMPLE["log"]["vkey"].replace("a9fefa39", "A9FEFA39"),
    "other name": "x" + EXAMPLE["log"]["vkey"],
    "no name": EXAMPLE["log"]["vkey"].removeprefix(ORIGIN),
    "space in the name": EXAMPLE["log"]["vkey"].replace("rng", "r ng"),
    "short key": EXAMPLE["log"]["vkey"][:-4],
    "line feed": EXAMPLE["log"]["vkey"] + "\n",
    "no base64": f"{ORIGIN}+a9fefa39+!",
    "two parts": f"{ORIGIN}+a9fefa39",
    "unknown type": VerifierKey(ORIGIN, 2, LOG_KEY.public_key).text(),
    "ML-DSA type": VerifierKey(ORIGIN, 6, LOG_KEY.public_key).text(),
}


@pytest.mark.parametrize("twin", VKEYS)
def test_a_verifier_key_of_another_form_is_refused(twin: str) -> None:
    with pytest.raises(VerificationError) as refused:
        parse_vkey(VKEYS[twin])
    assert refused.value.code is Code.TRUST


def test_base64_with_a_plus_belongs_to_the_key() -> None:
    key = next(
        key
        for n in range(256)
        if "+" in (key := VerifierKey("w", 4, bytes([n]) * 31 + b"\xfb")).text().split("+", 2)[2]
    )
    assert parse_vkey(key.text()) == key


@pytest.mark.parametrize("name", ["", " ", "a b", "a+b", "a\n", "a\u2003b", "a\x7f", "a\u0000"])
def test_a_key_name_has_no_space_no_plus_and_no_control_character(name: str) -> None:
    assert not is_key_name(name)


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_any_bytes_parse_or_are_refused(data: bytes) -> None:
    assert finding(data) in {None, Code.PARSE}
