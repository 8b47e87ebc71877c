"""A statement is signed over the bytes that are stored, and read in one form."""

from hashlib import sha256

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sealedshoe_audit.envelope import parse_envelope, pre_authentication, verify_envelope
from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.records import PAYLOAD_TYPES, open_record, parse_record, player_commitment
from sealedshoe_audit.signing import SigningKey
from sealedshoe_audit.v1.records_pb2 import Envelope, Header, LogClosed

PRIVATE = Ed25519PrivateKey.from_private_bytes(b"s" * 32)
PUBLIC = PRIVATE.public_key().public_bytes_raw()
KEY_ID = sha256(PUBLIC).digest()
KEY = SigningKey(PUBLIC, KEY_ID)
KIND = "application/vnd.sealedshoe.log-closed.v1+protobuf"
RECORD = LogClosed(header=Header(version=1, origin="o.example", time_us=5), successor_origin="n")
PAYLOAD = RECORD.SerializeToString(deterministic=True)
MESSAGE = b"DSSEv1 %d %b %d %b" % (len(KIND), KIND.encode(), len(PAYLOAD), PAYLOAD)
SIGNATURE = PRIVATE.sign(MESSAGE)


def envelope(
    kind: str = KIND, payload: bytes = PAYLOAD, keyid: bytes = KEY_ID, signature: bytes = SIGNATURE
) -> Envelope:
    """The statement, or one with something exchanged."""
    return Envelope(payload_type=kind, payload=payload, keyid=keyid, signature=signature)


def test_the_signed_bytes_are_those_of_dsse() -> None:
    signed = pre_authentication("http://example.com/HelloWorld", b"hello world")
    assert signed == b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    assert pre_authentication("", b"") == b"DSSEv1 0  0 "
    assert pre_authentication("ä", b"\0") == b"DSSEv1 2 \xc3\xa4 1 \0"


def test_type_and_payload_cannot_be_split_in_another_way() -> None:
    assert pre_authentication("a 1 b", b"c") != pre_authentication("a", b"b 1 c")


def test_a_good_statement_verifies_and_opens() -> None:
    verify_envelope(envelope(), KEY)
    leaf = envelope().SerializeToString(deterministic=True)
    assert parse_envelope(leaf) == envelope()
    assert open_record(leaf) == RECORD


@pytest.mark.parametrize(
    ("twin", "code"),
    [
        (envelope(kind=KIND.replace("closed", "started")), Code.RECORD_SIGNATURE),
        (envelope(payload=PAYLOAD + b"\0"), Code.RECORD_SIGNATURE),
        (envelope(payload=PAYLOAD[:-1]), Code.RECORD_SIGNATURE),
        (envelope(keyid=bytes(32)), Code.RECORD_KEY),
        (envelope(keyid=KEY_ID[:31]), Code.RECORD_KEY),
        (envelope(keyid=b""), Code.RECORD_KEY),
        (envelope(signature=bytes(64)), Code.RECORD_SIGNATURE),
        (envelope(signature=SIGNATURE[:-1]), Code.RECORD_SIGNATURE),
        (envelope(signature=b""), Code.RECORD_SIGNATURE),
        (envelope(signature=PRIVATE.sign(PAYLOAD)), Code.RECORD_SIGNATURE),
    ],
)
def test_a_tampered_statement_is_refused(twin: Envelope, code: Code) -> None:
    with pytest.raises(VerificationError) as refused:
        verify_envelope(twin, KEY)
    assert refused.value.code is code


def test_every_flipped_bit_of_a_payload_breaks_the_signature() -> None:
    for bit in range(8 * len(PAYLOAD)):
        flipped = bytearray(PAYLOAD)
        flipped[bit // 8] ^= 1 << bit % 8
        with pytest.raises(VerificationError, match="RECORD_SIGNATURE"):
            verify_envelope(envelope(payload=bytes(flipped)), KEY)


def test_every_kind_has_its_payload_type() -> None:
    kinds = {kind.DESCRIPTOR.name: text for kind, text in PAYLOAD_TYPES.items()}
    assert kinds == {
        name: f"application/vnd.sealedshoe.{dashed}.v1+protobuf"
        for name, dashed in {
            "LogStarted": "log-started",
            "GameInstalled": "game-installed",
            "TableChanged": "table-changed",
            "RoundOpened": "round-opened",
            "WagersAccepted": "wagers-accepted",
            "RoundDealt": "round-dealt",
            "RoundVoided": "round-voided",
            "ShoeRetired": "shoe-retired",
            "KeyChanged": "key-changed",
            "EventRecorded": "event-recorded",
            "LogClosed": "log-closed",
            "TimeStamped": "time-stamped",
            "PredecessorShoeRevealed": "predecessor-shoe-revealed",
        }.items()
    }


@pytest.mark.parametrize(
    ("twin", "code"),
    [
        (envelope(kind=""), Code.RECORD_KIND),
        (envelope(kind=KIND.replace("v1", "v2")), Code.RECORD_KIND),
        (envelope(kind=KIND.upper()), Code.RECORD_KIND),
        (envelope(payload=PAYLOAD + b"\xf8\x07\x01"), Code.UNKNOWN_FIELD),
        (envelope(payload=PAYLOAD + PAYLOAD), Code.NOT_CANONICAL),
        (envelope(payload=b"\xff"), Code.PARSE),
    ],
)
def test_a_payload_of_another_kind_or_form_is_not_opened(twin: Envelope, code: Code) -> None:
    with pytest.raises(VerificationError) as refused:
        parse_record(twin)
    assert refused.value.code is code


@pytest.mark.parametrize(
    ("tail", "code"), [(b"\x28\x01", Code.UNKNOWN_FIELD), (b"\x08", Code.PARSE)]
)
def test_an_envelope_with_something_added_is_refused(tail: bytes, code: Code) -> None:
    with pytest.raises(VerificationError) as refused:
        parse_envelope(envelope().SerializeToString(deterministic=True) + tail)
    assert refused.value.code is code


def test_a_player_is_committed_to_with_a_salt() -> None:
    salt = bytes(range(16))
    found = player_commitment(salt, "Ännchen")
    assert found == sha256(b"sealedshoe/v1/player\x00" + salt + "Ännchen".encode()).digest()
    assert found != player_commitment(bytes(16), "Ännchen")
    assert found != player_commitment(salt, "Annchen")
