"""The body of add-checkpoint (C2SP tlog-witness v1.0.0): old size, consistency proof, signed checkpoint."""

import re
from dataclasses import dataclass

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.hash_lines import hash_lines, parse_hash_lines
from sealedshoe_audit.log.note import MAX_NOTE_BYTES

MAX_HASHES = 63
MAX_REQUEST_BYTES = 4 * 1024 + MAX_NOTE_BYTES
_OLD = re.compile("old (0|[1-9][0-9]{0,18})")


@dataclass(frozen=True, slots=True)
class WitnessRequest:
    """A request to cosign; nothing is verified yet.

    Attributes:
        old: size of the head that the witness cosigned last, 0 for none.
        proof: that the checkpoint's tree extends that head's.
    """

    old: int
    proof: tuple[bytes, ...]
    checkpoint: bytes

    def data(self) -> bytes:
        """Returns the body's bytes."""
        return f"old {self.old}\n{hash_lines(self.proof)}\n".encode() + self.checkpoint


def parse_witness_request(data: bytes) -> WitnessRequest:
    """Reads a body; only canonical bytes are accepted.

    Raises:
        VerificationError: PARSE.
    """
    head, separator, checkpoint = data.partition(b"\n\n")
    if len(data) > MAX_REQUEST_BYTES or not separator or not checkpoint:
        raise _bad("old size, hashes, an empty line and a checkpoint")
    try:
        lines = head.decode("ascii").split("\n")
    except UnicodeDecodeError as error:
        raise _bad("ASCII") from error
    old = _OLD.fullmatch(lines[0])
    if old is None:
        raise _bad("an old size")
    return WitnessRequest(int(old[1]), parse_hash_lines(lines[1:], MAX_HASHES), checkpoint)


def _bad(expected: str) -> VerificationError:
    return VerificationError(Code.PARSE, expected=expected, found="another request")
