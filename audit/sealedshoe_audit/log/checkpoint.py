"""Checkpoints (C2SP tlog-checkpoint v1.0.0): origin, size and root as a signed note, no extensions."""

import base64
import re
from dataclasses import dataclass

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.merkle import EMPTY_ROOT, HASH_BYTES
from sealedshoe_audit.log.note import (
    TYPE_ED25519,
    VerifierKey,
    is_key_name,
    parse_note,
    verify_signers,
)
from sealedshoe_audit.trust import Trust

MAX_ORIGIN_BYTES = 100  # C2SP #242: no limit is agreed yet; every known witness takes this
_SIZE = re.compile(r"0|[1-9][0-9]{0,18}")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One head of a log: its origin, number of leaves and 32-byte root."""

    origin: str
    size: int
    root: bytes

    def text(self) -> str:
        """Returns the text that is signed."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"


@dataclass(frozen=True, slots=True)
class VerifiedCheckpoint:
    """A head with those who vouch for it.

    Attributes:
        signers: the trusted checkpoint keys that signed it.
        cosigned: {witness name: POSIX seconds}.
    """

    checkpoint: Checkpoint
    signers: frozenset[VerifierKey]
    cosigned: dict[str, int]


def is_origin(text: str) -> bool:
    """Whether a log may be called so; it is also the name of the log's key."""
    return is_key_name(text) and len(text.encode()) <= MAX_ORIGIN_BYTES


def parse_checkpoint(text: str) -> Checkpoint:
    """Reads a checkpoint's text. Only the canonical form is accepted, and no extension lines.

    Raises:
        VerificationError: PARSE.
    """
    lines = text.split("\n")
    if len(lines) == 4 and lines[3] == "" and is_origin(lines[0]) and _SIZE.fullmatch(lines[1]):
        try:
            root = base64.b64decode(lines[2], validate=True)
        except ValueError:
            root = b""
        found = Checkpoint(lines[0], int(lines[1]), root)
        sound = len(root) == HASH_BYTES and (found.size > 0 or root == EMPTY_ROOT)
        if sound and found.text() == text:
            return found
    raise VerificationError(Code.PARSE, expected="origin, size and root", found=text[:200])


def parse_any_checkpoint(text: str) -> Checkpoint:
    """Reads a checkpoint of any log: as `parse_checkpoint`, but lines that extend it are read over.

    Raises:
        VerificationError: PARSE; also for an empty extension line.
    """
    lines = text.split("\n")
    extended = len(lines) > 4 and all(lines[3:-1]) and lines[-1] == ""
    return parse_checkpoint("\n".join([*lines[:3], ""]) if extended else text)


def expect_root(checkpoint: Checkpoint, root: bytes) -> None:
    """Checks that the leaves at hand lead to a checkpoint.

    Raises:
        VerificationError: ROOT_MISMATCH.
    """
    if root != checkpoint.root:
        raise VerificationError(
            Code.ROOT_MISMATCH, expected=checkpoint.root.hex(), found=root.hex()
        )


def verify_checkpoint(note_bytes: bytes, trust: Trust) -> VerifiedCheckpoint:
    """Checks a signed checkpoint against what the reader trusts.

    1. The note parses, and its text is a canonical checkpoint of the trusted origin.
    2. A trusted checkpoint key signed it, and no known key's signature is bad.
    3. At least `trust.quorum` witnesses cosigned it.

    Raises:
        VerificationError: PARSE, ORIGIN_MISMATCH, NOTE_SIGNATURE or QUORUM.
    """
    note = parse_note(note_bytes)
    checkpoint = parse_checkpoint(note.text)
    if checkpoint.origin != trust.origin:
        raise VerificationError(
            Code.ORIGIN_MISMATCH, expected=trust.origin, found=checkpoint.origin
        )
    log_signers = verify_signers(note, [k for k in trust.checkpoint_keys if k.type == TYPE_ED25519])
    if not log_signers:
        raise VerificationError(
            Code.NOTE_SIGNATURE, expected="a trusted checkpoint key's signature", found="none"
        )
    cosigners = verify_signers(note, trust.witnesses)
    cosigned = {key.name: time for key, time in cosigners.items()}
    met = trust.policy is None or not trust.quorum or trust.policy.is_met_by(cosigners)
    if len(cosigned) < trust.quorum or not met:
        raise VerificationError(
            Code.QUORUM, expected=f"{trust.quorum} cosignatures", found=str(len(cosigned))
        )
    return VerifiedCheckpoint(checkpoint, frozenset(log_signers), cosigned)
