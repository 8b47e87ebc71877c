"""Which statement key signs which leaf: the log's start, and changes that the root key authorised."""

from dataclasses import dataclass, replace

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.checkpoint import is_origin
from sealedshoe_audit.log.merkle import HASH_BYTES
from sealedshoe_audit.records import key_change_message, log_start_message
from sealedshoe_audit.signing import KEY_BYTES, SigningKey, is_signed_by
from sealedshoe_audit.v1 import records_pb2 as pb

Purpose = pb.KeyPurpose
_OTHER_PURPOSES = (Purpose.KEY_PURPOSE_CHECKPOINT, Purpose.KEY_PURPOSE_SEALING)
PREDECESSOR_REASONS = ("rotation", "recovery")


@dataclass(frozen=True, slots=True)
class LogKeys:
    """The keys of a log at some leaf; a revoked key is None."""

    root: bytes
    statement: SigningKey | None
    checkpoint: bytes | None


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
        _check_predecessor(record.predecessor)
    return LogKeys(root_key, SigningKey.of(record.statement_key), record.checkpoint_key)


def _check_predecessor(predecessor: pb.Predecessor) -> None:
    sound = is_origin(predecessor.origin) and len(predecessor.root) == HASH_BYTES
    if not sound or predecessor.reason not in PREDECESSOR_REASONS:
        raise VerificationError(
            Code.RECORD_LIMITS, expected="origin, root and reason", found=predecessor.reason[:64]
        )


def keys_after(keys: LogKeys, record: pb.KeyChanged, index: int) -> LogKeys:
    """Returns the keys in force after a KeyChanged.

    1. The purpose is listed, and the root key signed the change.
    2. A new signing key proved its possession, and serves no other purpose.
    3. The change takes effect at the next leaf, and from the key in force.

    Raises:
        VerificationError: KEY_CHANGE.
    """
    if record.purpose not in (Purpose.KEY_PURPOSE_STATEMENT, *_OTHER_PURPOSES):
        raise _bad("a listed purpose", str(record.purpose))
    message = key_change_message(record)
    if not is_signed_by(keys.root, record.root_signature, message):
        raise _bad("the root key's signature", record.root_signature.hex())
    signs = record.purpose != Purpose.KEY_PURPOSE_SEALING
    if signs and record.new_key:
        if not is_signed_by(record.new_key, record.possession_signature, message):
            raise _bad("proof of possession", record.possession_signature.hex())
        statement = keys.statement.public_key if keys.statement is not None else None
        if record.new_key in (keys.root, statement, keys.checkpoint):
            raise _bad("a key of its own purpose", record.new_key.hex())
    elif record.possession_signature:
        raise _bad("no proof of possession", record.possession_signature.hex())
    if record.first_leaf != index + 1:
        raise _bad(f"first leaf {index + 1}", str(record.first_leaf))
    if record.purpose == Purpose.KEY_PURPOSE_STATEMENT:
        if keys.statement is None or record.old_key != keys.statement.public_key:
            raise _bad("the key in force", record.old_key.hex())
        return replace(keys, statement=SigningKey.of(record.new_key) if record.new_key else None)
    if record.purpose == Purpose.KEY_PURPOSE_CHECKPOINT:
        if record.old_key != keys.checkpoint:
            raise _bad("the key in force", record.old_key.hex())
        return replace(keys, checkpoint=record.new_key or None)
    return keys


def _bad(expected: str, found: str) -> VerificationError:
    return VerificationError(Code.KEY_CHANGE, expected=expected, found=found)
