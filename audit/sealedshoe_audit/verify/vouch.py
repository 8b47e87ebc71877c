"""What can be checked of a leaf and of a revealed shoe without the log's state: work for helpers.

A helper only ever vouches. Whatever it does not vouch for is checked again by the one who folds, so that
findings are the same with any number of helpers, down to their texts.
"""

from collections.abc import Sequence

from sealedshoe_audit.envelope import parse_envelope, verify_envelope
from sealedshoe_audit.errors import VerificationError
from sealedshoe_audit.fold.log import Reveal, Vouched
from sealedshoe_audit.log.merkle import leaf_hash
from sealedshoe_audit.records import parse_record
from sealedshoe_audit.signing import SigningKey


def vouch_all(leaves: Sequence[bytes], key: bytes) -> list[Vouched | None]:
    """Vouches for the leaves that are canonical and signed by this statement key; b"" vouches for none."""
    signer = SigningKey.of(key)
    return [_vouch(leaf, signer) for leaf in leaves]


def _vouch(leaf: bytes, signer: SigningKey) -> Vouched | None:
    try:
        envelope = parse_envelope(leaf)
        verify_envelope(envelope, signer)
        parse_record(envelope)
    except VerificationError:
        return None
    return Vouched(leaf_hash(leaf), signer.public_key)


def replay_all(origin: str, reveals: Sequence[Reveal]) -> list[bool]:
    """Says of each revealed shoe whether it replays."""
    return [_replays(origin, reveal) for reveal in reveals]


def _replays(origin: str, reveal: Reveal) -> bool:
    try:
        reveal.check(origin)
    except VerificationError:
        return False
    return True
