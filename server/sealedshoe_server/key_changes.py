"""The keys in force, as the log says, and changes of them that the root key authorised.

A change is exactly one leaf, the one before the first that the new key signs. As the root key is offline, it
signs for a leaf ahead; the log grows up to it, or is filled up when little is missing.
"""

from collections.abc import Callable

from sealedshoe_audit.errors import VerificationError
from sealedshoe_audit.fold.keys import LogKeys, first_keys, keys_after
from sealedshoe_audit.log.note import TYPE_ED25519, VerifierKey
from sealedshoe_audit.records import VERSION, Record, open_record
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.errors import GameError, Reason, invalid
from sealedshoe_server.heads import CheckpointKey, HeadSigner
from sealedshoe_server.keys import KeyFileError, Keys
from sealedshoe_server.log_writer import DueChange, LogWriter
from sealedshoe_server.sealing import Sealer
from sealedshoe_server.shoes import ShoeMaker
from sealedshoe_server.statements import Statements
from sealedshoe_server.storage.interface import Batch, NewEntry, Store, StoreRefused

FILL_AT_MOST = 64  # leaves; a busy log reaches its change by itself
SERVER = pb.Accountability(actor="server", reason="a change of keys is due")


def read_log_keys(store: Store) -> LogKeys:
    """Folds a log's LogStarted and KeyChanged.

    Raises:
        StoreRefused: the log does not begin as it must, or a change is not sound.
    """
    first = open_record(store.read(0, 1)[0])
    if not isinstance(first, pb.LogStarted):
        raise StoreRefused("the log does not begin with LogStarted")
    try:
        keys = first_keys(first, first.header.origin, first.root_key)
        for index in store.key_changes():
            record = open_record(store.read(index, 1)[0])
            if not isinstance(record, pb.KeyChanged):
                raise StoreRefused(f"leaf {index} is no KeyChanged")
            keys = keys_after(keys, record, index)
    except VerificationError as error:
        raise StoreRefused(f"the log's keys: {error}") from error
    return keys


def checkpoint_vkeys(keys: LogKeys, origin: str) -> tuple[VerifierKey, ...]:
    """Returns every checkpoint key that was never revoked, as verifiers need them."""
    return tuple(
        VerifierKey(origin, TYPE_ED25519, key)
        for _, key in keys.checkpoints
        if key and key not in keys.revoked
    )


class KeyMaster:
    """Puts the keys in force into use, and takes changes of them.

    Attributes:
        keys: as the log says.
        on_change: called when other keys came into force.
    """

    def __init__(
        self,
        origin: str,
        store: Store,
        writer: LogWriter,
        signer: HeadSigner,
        statements: Statements,
        shoes: ShoeMaker,
        load: Callable[[], Keys],
        now_us: Callable[[], int],
    ) -> None:
        """Takes its collaborators; `refresh` puts the keys into use."""
        self._origin = origin
        self._store = store
        self._writer = writer
        self._signer = signer
        self._statements = statements
        self._load = load
        self._now_us = now_us
        self._shoes = shoes
        self.on_change: Callable[[], None] = lambda: None
        self.keys = read_log_keys(store)
        writer.on_key_change = self.refresh

    def refresh(self) -> None:
        """Reads the keys in force from the log and puts them into use.

        Raises:
            KeyFileError: a key that the log names is missing.
        """
        self.keys = keys = read_log_keys(self._store)
        files = self._load()
        if keys.statement is None:
            self._writer.halt(Reason.LOG_CLOSED, "the statement key is revoked: start a successor")
        else:
            self._statements.use(files.signer(keys.statement.public_key))
        self._signer.keys = checkpoint_keys(keys, files)
        sealers = {sealer.key_id: sealer for sealer in map(Sealer, files.sealers)}
        if keys.sealing and keys.sealing not in sealers:
            raise KeyFileError(
                f"the key files are not this log's: none is sealing key {keys.sealing}"
            )
        in_force = sealers[keys.sealing] if keys.sealing else Sealer(files.sealing)
        self._shoes.seal_with(in_force, tuple(sealers.values()))
        self.on_change()

    async def take(self, change: pb.KeyChanged) -> bool:
        """Takes a change; returns whether it stands in the log already.

        Raises:
            GameError: KEY_CHANGE_INVALID, KEY_CHANGE_WAITING, or STORAGE_FAILED while it is not released.
        """
        if self._writer.halted is not None:
            raise GameError(*self._writer.halted)
        record = pb.KeyChanged()
        record.CopyFrom(change)
        record.header.origin = self._origin  # the root key signed for this log
        if await self._stands(record):
            return True
        due = self._writer.due
        if due is not None and due.root_signature != change.root_signature:
            raise GameError(Reason.KEY_CHANGE_WAITING, f"another change waits for leaf {due.index}")
        index = change.first_leaf - 1
        size = self._writer.published.head.head.size
        if index < size:
            raise _refused("first_leaf", f"has passed: the log has {size} records; authorise anew")
        self._check(record, index)
        self._writer.due = DueChange(
            index,
            lambda: self._batch(record),
            self._padding,
            lambda: self._prepare(record),
            change.root_signature,
        )
        self.fill_up()
        return False

    def _check(self, change: pb.KeyChanged, index: int) -> None:
        if change.purpose == pb.KeyPurpose.KEY_PURPOSE_CHECKPOINT and not change.new_key:
            raise _refused("change.new_key", "must be there: a log without one has no heads")
        try:
            keys = keys_after(self.keys, change, index)
        except VerificationError as error:
            raise _refused("change", f"expected {error.expected}") from error
        files = self._load()
        named = [keys.checkpoint, None if keys.statement is None else keys.statement.public_key]
        missing = [key for key in named if key is not None and key not in files.signing]
        sealers = {Sealer(secret).key_id for secret in files.sealers}
        if missing or (keys.sealing and keys.sealing not in sealers):
            raise _refused("change.new_key", "has no file among the server's keys")

    async def _stands(self, change: pb.KeyChanged) -> bool:
        if change.first_leaf - 1 not in self._store.key_changes():
            return False
        await self._writer.released(change.first_leaf)
        record = open_record(self._store.read(change.first_leaf - 1, 1)[0])
        return isinstance(record, pb.KeyChanged) and (
            record.root_signature == change.root_signature
        )

    def fill_up(self) -> None:
        """Lets a waiting change happen now if few leaves are missing."""
        due = self._writer.due
        if due is not None and due.index - self._writer.published.head.head.size <= FILL_AT_MOST:
            due.now = True
            self._writer.wake()

    def _batch(self, record: pb.KeyChanged) -> Batch:
        record.header.CopyFrom(self._header())
        return Batch((self._entry(record),), changes_key=True)

    def _prepare(self, change: pb.KeyChanged) -> None:
        """Has the signer sign the change's own head with the new checkpoint key.

        Raises:
            KeyFileError, GameError: a file that was there when the change was taken is gone.
        """
        self._check(change, change.first_leaf - 1)
        if change.purpose == pb.KeyPurpose.KEY_PURPOSE_CHECKPOINT and change.new_key:
            new = CheckpointKey(change.first_leaf, self._load().signer(change.new_key))
            self._signer.keys = (*self._signer.keys, new)

    def _padding(self, count: int) -> Batch:
        event = pb.EventRecorded(
            header=self._header(),
            event_class=pb.EventClass.EVENT_CLASS_KEY_CHANGE_DUE,
            component="keys",
            by=SERVER,
        )
        return Batch(tuple(self._entry(event) for _ in range(count)))

    def _entry(self, record: Record) -> NewEntry:
        return NewEntry.of(self._statements.sign(record))

    def _header(self) -> pb.Header:
        return pb.Header(version=VERSION, origin=self._origin, time_us=self._now_us())


def checkpoint_keys(keys: LogKeys, files: Keys) -> tuple[CheckpointKey, ...]:
    """Returns the private halves of a log's checkpoint keys.

    Raises:
        KeyFileError: one is missing.
    """
    return tuple(CheckpointKey(size, files.signer(key)) for size, key in keys.checkpoints if key)


def _refused(field: str, problem: str) -> GameError:
    return invalid(Reason.KEY_CHANGE_INVALID, field, problem)
