"""Which key signs what at which leaf: the log's start, and changes that the root key authorised."""

from dataclasses import dataclass, replace

from sealedshoe_audit.envelope import verify_envelope
from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.checkpoint import is_origin
from sealedshoe_audit.log.merkle import HASH_BYTES
from sealedshoe_audit.records import (
    MAX_ID_BYTES,
    Record,
    key_change_message,
    log_start_message,
)
from sealedshoe_audit.signing import KEY_BYTES, SigningKey, is_signed_by
from sealedshoe_audit.v1 import records_pb2 as pb

Purpose = pb.KeyPurpose
PURPOSES = (
    Purpose.KEY_PURPOSE_STATEMENT,
    Purpose.KEY_PURPOSE_CHECKPOINT,
    Purpose.KEY_PURPOSE_SEALING,
)
ROTATION, RECOVERY = "rotation", "recovery"


@dataclass(frozen=True, slots=True)
class LogKeys:
    """The keys of a log at some leaf.

    Attributes:
        statement: None once revoked and not replaced.
        checkpoints: (size of the first head that it signs, key) of every checkpoint key, oldest first; b""
            for a revoked one that nothing replaced.
        sealing: id of the sealing key; "" until a change names one, since LogStarted does not.
        revoked: every public key that was revoked, 32 bytes each.
        retired: every one that was replaced.
    """

    root: bytes
    statement: SigningKey | None
    checkpoints: tuple[tuple[int, bytes], ...]
    sealing: str = ""
    revoked: frozenset[bytes] = frozenset()
    retired: frozenset[bytes] = frozenset()

    @property
    def checkpoint(self) -> bytes | None:
        """The checkpoint key in force; None once revoked and not replaced."""
        return self.checkpoints[-1][1] or None

    def checkpoint_at(self, size: int) -> bytes | None:
        """Returns the key that signs heads of a size, which this log has reached."""
        in_force = [key for first_size, key in self.checkpoints if first_size <= size]
        return in_force[-1] or None


def first_keys(record: pb.LogStarted, origin: str, root_key: bytes) -> LogKeys:
    """Returns the log's first keys, which the trusted root key authorised.

    Raises:
        VerificationError: RECORD_ORIGIN, RECORD_LIMITS or ROOT_KEY.
    """
    if record.header.origin != origin:
        raise VerificationError(
            Code.RECORD_ORIGIN, expected=origin, found=record.header.origin[:200]
        )
    if record.root_key != root_key:
        raise VerificationError(Code.ROOT_KEY, expected=root_key.hex(), found=record.root_key.hex())
    sizes = {len(record.statement_key), len(record.checkpoint_key), len(record.software_manifest)}
    if sizes != {KEY_BYTES}:
        raise VerificationError(Code.ROOT_KEY, expected="keys of 32 bytes", found=str(sizes))
    distinct = {record.root_key, record.statement_key, record.checkpoint_key}
    if len(distinct) != 3:
        raise VerificationError(Code.ROOT_KEY, expected="distinct keys", found="one key twice")
    if not is_signed_by(root_key, record.root_signature, log_start_message(record)):
        raise VerificationError(
            Code.ROOT_KEY, expected="the root key's signature", found=record.root_signature.hex()
        )
    if record.HasField("predecessor"):
        _check_predecessor(record.predecessor, origin)
    first = ((0, record.checkpoint_key),)
    return LogKeys(root_key, SigningKey.of(record.statement_key), first)


def _check_predecessor(predecessor: pb.Predecessor, origin: str) -> None:
    sound = (
        is_origin(predecessor.origin)
        and predecessor.origin != origin
        and len(predecessor.root) == HASH_BYTES
        and predecessor.reason in (ROTATION, RECOVERY)
    )
    lost = predecessor.newest_size or predecessor.newest_root
    if lost:
        sound = sound and predecessor.reason == RECOVERY
        same = (predecessor.newest_size, predecessor.newest_root) == (
            predecessor.size,
            predecessor.root,
        )
        sound = sound and (predecessor.newest_size > predecessor.size or same)
        sound = sound and len(predecessor.newest_root) == HASH_BYTES
    if not sound:
        raise VerificationError(
            Code.RECORD_LIMITS, expected="origin, head and reason", found=predecessor.reason[:64]
        )


def check_signer(
    envelope: pb.Envelope, record: Record, keys: LogKeys, verified_by: bytes = b""
) -> None:
    """Checks that the key in force signed a record.

    A revocation needs the root key alone, and so does a statement key that follows a revoked one.

    Args:
        verified_by: a public key whose signature on this envelope was found good before.

    Raises:
        VerificationError: RECORD_KEY, RECORD_SIGNATURE or KEY_REVOKED.
    """
    signer = keys.statement
    if isinstance(record, pb.KeyChanged) and (signer is None or not record.new_key):
        root = SigningKey.of(keys.root)
        if envelope.keyid == root.keyid:
            signer = root
    if keys.revoked and envelope.keyid in {SigningKey.of(key).keyid for key in keys.revoked}:
        raise VerificationError(
            Code.KEY_REVOKED, expected="a key in force", found=envelope.keyid.hex()
        )
    verify_envelope(envelope, signer, verified_by)


def keys_after(keys: LogKeys, record: pb.KeyChanged, index: int) -> LogKeys:
    """Returns the keys in force after a KeyChanged.

    1. The purpose is listed, and the root key signed the change.
    2. A new signing key proved its possession, served no other purpose, and was never revoked.
    3. The change takes effect at the next leaf, and from the key in force.

    Raises:
        VerificationError: KEY_CHANGE.
    """
    if record.purpose not in PURPOSES:
        raise _bad("a listed purpose", str(record.purpose))
    message = key_change_message(record)
    if not is_signed_by(keys.root, record.root_signature, message):
        raise _bad("the root key's signature", record.root_signature.hex())
    if record.first_leaf != index + 1:
        raise _bad(f"first leaf {index + 1}", str(record.first_leaf))
    if record.purpose == Purpose.KEY_PURPOSE_SEALING:
        return _change_sealing(keys, record)
    _check_new_key(keys, record, message)
    return _change_signing(keys, record, index)


def _check_new_key(keys: LogKeys, record: pb.KeyChanged, message: bytes) -> None:
    if not record.new_key:
        _refuse_possession(record)
        return
    if not is_signed_by(record.new_key, record.possession_signature, message):
        raise _bad("proof of possession", record.possession_signature.hex())
    statement = keys.statement.public_key if keys.statement is not None else None
    if record.new_key in (keys.root, statement, keys.checkpoint, *keys.revoked, *keys.retired):
        raise _bad("a new key, of its own purpose", record.new_key.hex())


def _refuse_possession(record: pb.KeyChanged) -> None:
    if record.possession_signature:
        raise _bad("no proof of possession", record.possession_signature.hex())


def _change_signing(keys: LogKeys, record: pb.KeyChanged, index: int) -> LogKeys:
    is_statement = record.purpose == Purpose.KEY_PURPOSE_STATEMENT
    statement = keys.statement.public_key if keys.statement is not None else b""
    in_force = statement if is_statement else keys.checkpoint or b""
    revokes = not record.new_key
    if record.old_key != in_force or (revokes and not in_force):
        raise _bad("the key in force", record.old_key.hex())
    if revokes:
        keys = replace(keys, revoked=keys.revoked | {in_force})
    elif in_force:
        keys = replace(keys, retired=keys.retired | {in_force})
    if is_statement:
        new = SigningKey.of(record.new_key) if record.new_key else None
        return replace(keys, statement=new)
    return replace(keys, checkpoints=(*keys.checkpoints, (index + 1, record.new_key)))


def _change_sealing(keys: LogKeys, record: pb.KeyChanged) -> LogKeys:
    """Sealing keys are named by their ids; a lost one is replaced, never just revoked."""
    _refuse_possession(record)
    try:
        old, new = record.old_key.decode("ascii"), record.new_key.decode("ascii")
    except UnicodeDecodeError as error:
        raise _bad("sealing key ids", record.new_key[:40].hex()) from error
    if not 1 <= len(new) <= MAX_ID_BYTES or new == old or (keys.sealing and old != keys.sealing):
        raise _bad("another sealing key's id, from the one in force", new[:64])
    return replace(keys, sealing=new)


def check_sealing(keys: LogKeys, opening: pb.ShoeOpening) -> None:
    """Checks that a new shoe is sealed with the key in force, as far as the log has named it.

    Raises:
        VerificationError: SHOE_OPENING.
    """
    if keys.sealing and opening.sealing_key_id != keys.sealing:
        raise VerificationError(
            Code.SHOE_OPENING,
            expected=f"sealing key {keys.sealing}",
            found=opening.sealing_key_id[:64],
        )


def _bad(expected: str, found: str) -> VerificationError:
    return VerificationError(Code.KEY_CHANGE, expected=expected, found=found)
