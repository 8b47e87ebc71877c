"""Evidence and receipt files: canonical protobuf that ends in SHA-256 of all bytes before it.

The digest is field 15 of 32 bytes, so that its field is the last 34 bytes of the file. It guards against
damage only; what the file says is proved by signatures, hashes and the canonical form.
"""

from hashlib import sha256
from typing import TypeVar

from sealedshoe_audit.canonical import parse_canonical
from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.v1.evidence_pb2 import Evidence, Receipt

EVIDENCE_FORMAT = "sealedshoe/v1/evidence"
RECEIPT_FORMAT = "sealedshoe/v1/receipt"
MAX_FILE_BYTES = 64 * 1024 * 1024  # far above a round with 128 wagers and hundreds of voids
_DIGEST_FIELD = bytes([15 << 3 | 2, 32])

_C = TypeVar("_C", Evidence, Receipt)


def seal_evidence(evidence: Evidence) -> bytes:
    """Returns the file's bytes; format and digest are filled in here."""
    evidence.format = EVIDENCE_FORMAT
    return _seal(evidence)


def seal_receipt(receipt: Receipt) -> bytes:
    """Returns the file's bytes; format and digest are filled in here."""
    receipt.format = RECEIPT_FORMAT
    return _seal(receipt)


def _seal(container: Evidence | Receipt) -> bytes:
    container.digest = b""
    body = container.SerializeToString(deterministic=True)
    return body + _DIGEST_FIELD + sha256(body).digest()


def parse_evidence(data: bytes) -> Evidence:
    """Reads an evidence file; nothing in it is verified but damage and form.

    Raises:
        VerificationError: PARSE, DIGEST_MISMATCH, UNKNOWN_FIELD, NOT_CANONICAL or FORMAT.
    """
    return _parse(Evidence, data, EVIDENCE_FORMAT)


def parse_receipt(data: bytes) -> Receipt:
    """Reads a receipt file; nothing in it is verified but damage and form.

    Raises:
        VerificationError: as `parse_evidence`.
    """
    return _parse(Receipt, data, RECEIPT_FORMAT)


def _parse(kind: type[_C], data: bytes, file_format: str) -> _C:
    body, field, digest = data[:-34], data[-34:-32], data[-32:]
    if len(data) < 34 or len(data) > MAX_FILE_BYTES or field != _DIGEST_FIELD:
        raise VerificationError(Code.PARSE, expected="a file that ends in its digest", found="none")
    if sha256(body).digest() != digest:
        raise VerificationError(
            Code.DIGEST_MISMATCH, expected=digest.hex(), found=sha256(body).hexdigest()
        )
    container = parse_canonical(kind, data)
    if container.format != file_format:
        raise VerificationError(Code.FORMAT, expected=file_format, found=container.format[:100])
    return container
