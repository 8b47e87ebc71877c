"""Whose signature makes a head of a log: the checkpoint key in force behind its last leaf."""

from collections.abc import Iterable
from dataclasses import replace

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.fold.keys import LogKeys
from sealedshoe_audit.log.checkpoint import VerifiedCheckpoint, verify_checkpoint
from sealedshoe_audit.log.note import TYPE_ED25519, VerifierKey
from sealedshoe_audit.trust import Trust


def check_head_signer(
    signers: Iterable[VerifierKey], keys: LogKeys, size: int, what: str = "the head"
) -> None:
    """Checks that a head is signed by the checkpoint key in force behind its last leaf.

    Args:
        keys: of the log at this head or later.
        what: names the head in the finding.

    Raises:
        VerificationError: KEY_REVOKED or NOTE_SIGNATURE.
    """
    signed_by = {key.public_key for key in signers}
    in_force = keys.checkpoint_at(size)
    if in_force in signed_by:
        return
    expected = in_force.hex() if in_force is not None else "no head: the key is revoked"
    code = Code.KEY_REVOKED if signed_by & keys.revoked else Code.NOTE_SIGNATURE
    found = ", ".join(sorted(key.hex() for key in signed_by)) or "none"
    raise VerificationError(code, expected=f"{what} signed by {expected}", found=found)


def verify_old_head(note: bytes, trust: Trust, keys: LogKeys, what: str) -> VerifiedCheckpoint:
    """Checks a head of the past by the log's own keys, whatever became of them since.

    No quorum is asked for: what counted was the quorum of its time.

    Args:
        keys: of the log at this head or later.
        what: names the head in the finding.

    Raises:
        VerificationError: PARSE, ORIGIN_MISMATCH, NOTE_SIGNATURE or KEY_REVOKED.
    """
    ever = [key for _, key in keys.checkpoints if key]
    known = tuple(VerifierKey(trust.origin, TYPE_ED25519, key) for key in ever)
    head = verify_checkpoint(note, replace(trust, checkpoint_keys=known, quorum=0))
    check_head_signer(head.signers, keys, head.checkpoint.size, what)
    return head
