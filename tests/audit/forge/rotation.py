"""Changes of every key of a forged log, by the root key or by whoever pretends to be it."""

from collections.abc import Callable, Iterable

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sealedshoe_audit.log.note import VerifierKey
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.v1 import records_pb2 as pb
from tests.audit.forge.log import ForgedLog, key, key_change, payload_type, public, sign_payload

STATEMENT, CHECKPOINT, SEALING = 1, 2, 3  # as KeyPurpose numbers them
Change = Callable[[pb.KeyChanged], object]


def unchanged(_: pb.KeyChanged) -> None:
    """Changes nothing."""


def change_of(
    log: ForgedLog,
    purpose: int,
    old: bytes,
    new: Ed25519PrivateKey | bytes,
    change: Change = unchanged,
) -> pb.KeyChanged:
    """Returns a change as the root key signs it; `new` is bytes for a revocation or a sealing key's id.

    Args:
        change: made before root key and new key sign.
    """
    named = new if isinstance(new, bytes) else public(new)
    record = pb.KeyChanged(
        header=log.header(),
        purpose=pb.KeyPurpose.ValueType(purpose),
        old_key=old,
        new_key=named,
        first_leaf=len(log.entries) + 1,
    )
    change(record)
    record.root_signature = log.root.sign(key_change(record))
    if not isinstance(new, bytes):
        record.possession_signature = new.sign(key_change(record))
    return record


def append_by(log: ForgedLog, record: pb.KeyChanged, signer: Ed25519PrivateKey) -> None:
    """Adds a record whose envelope somebody else than the log's statement key signs."""
    payload = record.SerializeToString(deterministic=True)
    envelope = sign_payload(payload_type(record), payload, signer)
    log.add(envelope.SerializeToString(deterministic=True), record)


def revoke(log: ForgedLog, purpose: int, *, by_root: bool = False) -> None:
    """Revokes the statement or checkpoint key in force; the statement key signs it, or the root key."""
    in_force = log.statement if purpose == STATEMENT else log.checkpoint_key
    record = change_of(log, purpose, public(in_force), b"")
    append_by(log, record, log.root if by_root else log.statement)


def replace_revoked(log: ForgedLog, purpose: int, number: int, *, by_root: bool = False) -> None:
    """Puts a new key in the place of a revoked one."""
    signer = log.root if by_root else log.statement
    append_by(log, change_of(log, purpose, b"", key(number)), signer)
    if purpose == STATEMENT:
        log.statement = key(number)
    else:
        log.checkpoint_key = key(number)


def trust_in(log: ForgedLog, numbers: Iterable[int]) -> Trust:
    """Returns the trust of a reader who knows these checkpoint keys."""
    keys = tuple(VerifierKey(log.origin, 1, public(key(number))) for number in numbers)
    return Trust(log.origin, public(log.root), keys)
