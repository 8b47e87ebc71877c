"""Which statement key signs which leaf: the log's start, and changes that the root key authorised."""

from dataclasses import dataclass

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.records import key_change_message, log_start_message
from sealedshoe_audit.signing import KEY_BYTES, is_signed_by, key_id
from sealedshoe_audit.v1 import records_pb2 as pb


@dataclass(frozen=True, slots=True)
class StatementKey:
    """The key in force: 32 public bytes and their SHA-256."""

    public_key: bytes
    keyid: bytes

    @classmethod
    def of(cls, public_key: bytes) -> "StatementKey":
        """Names a key by its bytes."""
        return cls(public_key, key_id(public_key))


def check_log_start(record: pb.LogStarted, origin: str, root_key: bytes) -> None:
    """Checks that the trusted root key authorised the log's first keys.

    Raises:
        VerificationError: RECORD_ORIGIN or ROOT_KEY.
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


def next_statement_key(
    current: StatementKey | None, record: pb.KeyChanged, index: int, root_key: bytes
) -> StatementKey | None:
    """Returns the statement key in force after a KeyChanged; None once it is revoked.

    1. The root key signed the change; a new signing key proved its possession.
    2. The change takes effect at the next leaf.
    3. A statement key can only be changed from the one in force.

    Raises:
        VerificationError: KEY_CHANGE.
    """
    message = key_change_message(record)
    if not is_signed_by(root_key, record.root_signature, message):
        raise _bad("the root key's signature", record.root_signature.hex())
    signs = record.purpose in (
        pb.KeyPurpose.KEY_PURPOSE_STATEMENT,
        pb.KeyPurpose.KEY_PURPOSE_CHECKPOINT,
    )
    if not signs and record.purpose != pb.KeyPurpose.KEY_PURPOSE_SEALING:
        raise _bad("a listed purpose", str(record.purpose))
    if signs and record.new_key:
        if not is_signed_by(record.new_key, record.possession_signature, message):
            raise _bad("proof of possession", record.possession_signature.hex())
    elif record.possession_signature:
        raise _bad("no proof of possession", record.possession_signature.hex())
    if record.first_leaf != index + 1:
        raise _bad(f"first leaf {index + 1}", str(record.first_leaf))
    if record.purpose != pb.KeyPurpose.KEY_PURPOSE_STATEMENT:
        return current
    if current is None or record.old_key != current.public_key:
        raise _bad("the key in force", record.old_key.hex())
    return StatementKey.of(record.new_key) if record.new_key else None


def _bad(expected: str, found: str) -> VerificationError:
    return VerificationError(Code.KEY_CHANGE, expected=expected, found=found)
