"""Signed statements: DSSE envelopes over DSSE's pre-authentication encoding, in protobuf.

The signature covers the payload's bytes exactly as stored. An envelope proves nothing until its
inclusion in a log is proved too.
"""

from sealedshoe_audit.canonical import parse_canonical
from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.tiles import MAX_ENTRY_BYTES
from sealedshoe_audit.signing import SigningKey, is_signed_by
from sealedshoe_audit.v1.records_pb2 import Envelope


def pre_authentication(payload_type: str, payload: bytes) -> bytes:
    """Returns DSSE's PAE: "DSSEv1" SP len SP type SP len SP payload, lengths in decimal."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def parse_envelope(data: bytes) -> Envelope:
    """Parses an envelope's canonical bytes.

    Raises:
        VerificationError: RECORD_LIMITS, PARSE, UNKNOWN_FIELD or NOT_CANONICAL.
    """
    if len(data) > MAX_ENTRY_BYTES:
        raise VerificationError(
            Code.RECORD_LIMITS, expected=f"at most {MAX_ENTRY_BYTES} bytes", found=str(len(data))
        )
    return parse_canonical(Envelope, data)


def verify_envelope(envelope: Envelope, key: SigningKey | None, verified_by: bytes = b"") -> None:
    """Checks key id and signature.

    Args:
        key: the statement key in force; None once it is revoked.
        verified_by: a public key whose signature on this envelope was found good before.

    Raises:
        VerificationError: RECORD_KEY or RECORD_SIGNATURE.
    """
    if key is None or envelope.keyid != key.keyid:
        expected = "no record: the key is revoked" if key is None else key.keyid.hex()
        raise VerificationError(Code.RECORD_KEY, expected=expected, found=envelope.keyid.hex())
    if verified_by == key.public_key:
        return
    message = pre_authentication(envelope.payload_type, envelope.payload)
    if not is_signed_by(key.public_key, envelope.signature, message):
        raise VerificationError(
            Code.RECORD_SIGNATURE, expected="a good signature", found=envelope.signature.hex()
        )
