"""Proof files (C2SP tlog-proof v1): that a leaf is in a log, in one text that anyone can check offline.

c2sp.org/tlog-proof@v1
extra <base64>          optional; covered by nothing
index <n>
<base64 hash>...        siblings from leaf to root
<empty line>
<signed checkpoint>
"""

import re
from dataclasses import dataclass

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.checkpoint import VerifiedCheckpoint, verify_checkpoint
from sealedshoe_audit.log.hash_lines import hash_lines, parse_hash_lines
from sealedshoe_audit.log.merkle import leaf_hash, verify_inclusion
from sealedshoe_audit.log.note import MAX_NOTE_BYTES, decode_base64, encode_base64
from sealedshoe_audit.trust import Trust

HEADER = "c2sp.org/tlog-proof@v1"
MAX_PROOF_BYTES = 8 * 1024 + MAX_NOTE_BYTES
MAX_HASHES = 63
_INDEX = re.compile("index (0|[1-9][0-9]{0,18})")


@dataclass(frozen=True, slots=True)
class ProofFile:
    """A leaf's place in a tree, and the checkpoint of that tree; nothing is verified yet."""

    index: int
    path: tuple[bytes, ...]
    checkpoint: bytes
    extra: bytes | None = None

    def data(self) -> bytes:
        """Returns the file's bytes."""
        extra = "" if self.extra is None else f"extra {encode_base64(self.extra)}\n"
        hashes = hash_lines(self.path)
        return f"{HEADER}\n{extra}index {self.index}\n{hashes}\n".encode() + self.checkpoint


def parse_proof(data: bytes) -> ProofFile:
    """Reads a proof file; only canonical bytes are accepted.

    Raises:
        VerificationError: PARSE.
    """
    head, separator, checkpoint = data.partition(b"\n\n")
    if len(data) > MAX_PROOF_BYTES or not separator or not checkpoint:
        raise _bad("a proof, an empty line and a checkpoint")
    try:
        lines = head.decode("ascii").split("\n")
    except UnicodeDecodeError as error:
        raise _bad("ASCII") from error
    if lines[0] != HEADER:
        raise _bad(HEADER)
    extra = None
    if len(lines) > 1 and lines[1].startswith("extra "):
        extra = decode_base64(lines.pop(1).removeprefix("extra "))
        if extra is None:
            raise _bad("extra data in base64")
    index = _INDEX.fullmatch(lines[1]) if len(lines) > 1 else None
    if index is None:
        raise _bad("an index")
    return ProofFile(int(index[1]), parse_hash_lines(lines[2:], MAX_HASHES), checkpoint, extra)


def verify_proof(proof: ProofFile, entry: bytes, trust: Trust) -> VerifiedCheckpoint:
    """Checks that an entry stands in a trusted log at the proof's index.

    Raises:
        VerificationError: INCLUSION, or as `verify_checkpoint`.
    """
    head = verify_checkpoint(proof.checkpoint, trust)
    checkpoint = head.checkpoint
    leaf = leaf_hash(entry)
    verify_inclusion(proof.index, checkpoint.size, leaf, proof.path, checkpoint.root)
    return head


def _bad(expected: str) -> VerificationError:
    return VerificationError(Code.PARSE, expected=expected, found="another proof file")
