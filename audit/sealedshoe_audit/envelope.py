"""Signed statements: DSSE envelopes over DSSE's pre-authentication encoding, in protobuf.

The signature covers the payload's bytes exactly as stored. An envelope proves nothing until its
inclusion in a log is proved too.
"""

from sealedshoe_audit.canonical import parse_canonical
from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.signing import is_signed_by
from sealedshoe_audit.v1.records_pb2 import Envelope


def pre_authentication(payload_type: str, payload: bytes) -> bytes:
    """Returns DSSE's PAE: "DSSEv1" SP len SP type SP len SP payload, lengths in decimal."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def parse_envelope(data: bytes) -> Envelope:
    """Parses an envelope's canonical bytes.

    Raises:
        VerificationError: PARSE, UNKNOWN_FIELD or NOT_CANONICAL.
    """
    return parse_canonical(Envelope, data)


def verify_envelope(envelope: Envelope, public_key: bytes, keyid: bytes) -> None:
    """Checks key id and signature.

    Args:
        public_key: the statement key in force, 32 bytes.
        keyid: its SHA-256.

    Raises:
        VerificationError: RECORD_KEY or RECORD_SIGNATURE.
    """
    if envelope.keyid != keyid:
        raise VerificationError(Code.RECORD_KEY, expected=keyid.hex(), found=envelope.keyid.hex())
    message = pre_authentication(envelope.payload_type, envelope.payload)
    if not is_signed_by(public_key, envelope.signature, message):
        raise VerificationError(
            Code.RECORD_SIGNATURE, expected="a good signature", found=envelope.signature.hex()
        )
