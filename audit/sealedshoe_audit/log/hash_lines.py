"""Hashes as the tlog formats write them: one line of base64 each."""

from collections.abc import Iterable, Sequence

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.merkle import HASH_BYTES
from sealedshoe_audit.log.note import decode_base64, encode_base64


def hash_lines(hashes: Iterable[bytes]) -> str:
    """Returns one line a hash, each with its line feed."""
    return "".join(f"{encode_base64(value)}\n" for value in hashes)


def parse_hash_lines(lines: Sequence[str], most: int) -> tuple[bytes, ...]:
    """Reads lines without their line feeds, each 32 bytes in canonical base64.

    Raises:
        VerificationError: PARSE.
    """
    hashes = [decode_base64(line) for line in lines]
    sound = [value for value in hashes if value is not None and len(value) == HASH_BYTES]
    if len(hashes) > most or len(sound) != len(hashes):
        raise VerificationError(
            Code.PARSE, expected=f"at most {most} hashes of 32 bytes", found="other lines"
        )
    return tuple(sound)
