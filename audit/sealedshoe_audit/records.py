"""The kinds of records, their payload types, and limits that hold for every one of them."""

from hashlib import sha256
from typing import TypeAlias

from sealedshoe_audit.canonical import parse_canonical
from sealedshoe_audit.envelope import parse_envelope
from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.framing import DOMAIN_KEY_CHANGE, DOMAIN_LOG_START, DOMAIN_PLAYER, lp
from sealedshoe_audit.v1 import records_pb2 as pb

Record: TypeAlias = (
    pb.LogStarted
    | pb.GameInstalled
    | pb.TableChanged
    | pb.RoundOpened
    | pb.WagersAccepted
    | pb.RoundDealt
    | pb.RoundVoided
    | pb.ShoeRetired
    | pb.KeyChanged
    | pb.EventRecorded
    | pb.LogClosed
    | pb.TimeStamped
    | pb.PredecessorShoeRevealed
)
TableRecord: TypeAlias = (
    pb.TableChanged
    | pb.RoundOpened
    | pb.WagersAccepted
    | pb.RoundDealt
    | pb.RoundVoided
    | pb.ShoeRetired
)

VERSION = 1
MAX_ID_BYTES = 64  # ids and references
MAX_TEXT_BYTES = 512
MAX_WAGERS = 128  # a round, over all calls

_KINDS: tuple[type[Record], ...] = (
    pb.LogStarted,
    pb.GameInstalled,
    pb.TableChanged,
    pb.RoundOpened,
    pb.WagersAccepted,
    pb.RoundDealt,
    pb.RoundVoided,
    pb.ShoeRetired,
    pb.KeyChanged,
    pb.EventRecorded,
    pb.LogClosed,
    pb.TimeStamped,
    pb.PredecessorShoeRevealed,
)


def _payload_type(kind: type[Record]) -> str:
    name = kind.DESCRIPTOR.name
    dashed = "".join(f"-{c.lower()}" if c.isupper() else c for c in name).lstrip("-")
    return f"application/vnd.sealedshoe.{dashed}.v1+protobuf"


PAYLOAD_TYPES: dict[type[Record], str] = {kind: _payload_type(kind) for kind in _KINDS}
TABLE_PAYLOAD_TYPES = frozenset(
    text for kind, text in PAYLOAD_TYPES.items() if "link" in kind.DESCRIPTOR.fields_by_name
)
_BY_TYPE = {text: kind for kind, text in PAYLOAD_TYPES.items()}


def parse_record(envelope: pb.Envelope) -> Record:
    """Parses a payload by its type. The signature is checked elsewhere, over the same bytes.

    Raises:
        VerificationError: RECORD_KIND, PARSE, UNKNOWN_FIELD or NOT_CANONICAL.
    """
    kind = _BY_TYPE.get(envelope.payload_type)
    if kind is None:
        raise VerificationError(
            Code.RECORD_KIND, expected="a known kind", found=envelope.payload_type[:100]
        )
    return parse_canonical(kind, envelope.payload)


def parse_known_record(envelope: pb.Envelope) -> Record:
    """Parses the payload of an envelope that `parse_record` has accepted before.

    Raises:
        KeyError, DecodeError: it has not.
    """
    return _BY_TYPE[envelope.payload_type].FromString(envelope.payload)


def open_record(leaf: bytes) -> Record:
    """Parses a leaf down to its record, without looking at the signature.

    Raises:
        VerificationError: as `parse_envelope` and `parse_record`.
    """
    return parse_record(parse_envelope(leaf))


def player_commitment(salt: bytes, reference: str) -> bytes:
    """SHA-256("sealedshoe/v1/player" 00 salt[16] reference)."""
    return sha256(DOMAIN_PLAYER + salt + reference.encode()).digest()


def log_start_message(record: pb.LogStarted) -> bytes:
    """What the root key signs in a log's first record."""
    origin = record.header.origin.encode()
    return DOMAIN_LOG_START + lp(origin) + record.statement_key + record.checkpoint_key


def key_change_message(record: pb.KeyChanged) -> bytes:
    """What the root key, and the new key as proof of possession, sign in a KeyChanged."""
    return (
        DOMAIN_KEY_CHANGE
        + lp(record.header.origin.encode())
        + bytes([record.purpose])
        + lp(record.old_key)
        + lp(record.new_key)
        + record.first_leaf.to_bytes(8, "big")
    )


def check_text(text: str, most: int, what: str, *, least: int = 0) -> None:
    """Checks the UTF-8 length of a recorded text.

    Raises:
        VerificationError: RECORD_LIMITS.
    """
    size = len(text.encode())
    if not least <= size <= most:
        raise VerificationError(
            Code.RECORD_LIMITS, expected=f"{what} of {least} to {most} bytes", found=str(size)
        )


def check_accountability(by: pb.Accountability) -> None:
    """Checks that a record names who did it, within limits.

    Raises:
        VerificationError: RECORD_LIMITS.
    """
    check_text(by.actor, MAX_ID_BYTES, "actor", least=1)
    check_text(by.authorised_by, MAX_ID_BYTES, "authorised_by")
    check_text(by.reason, MAX_TEXT_BYTES, "reason")
