"""Starts the log that follows another: after its orderly end, or because it must not be continued.

A log that was restored from a backup, or lost its tail, is never appended to. Its successor has an origin of
its own, names the old log's head, and reveals every shoe that was open there before it deals its first card.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sealedshoe_audit.errors import VerificationError
from sealedshoe_audit.fold.keys import RECOVERY, ROTATION
from sealedshoe_audit.fold.log import LogFold
from sealedshoe_audit.fold.state import OpenShoe, TableState
from sealedshoe_audit.framing import shoe_identity
from sealedshoe_audit.keeping.head_archive import HeadArchive
from sealedshoe_audit.keeping.published import write_log
from sealedshoe_audit.log.checkpoint import Checkpoint, parse_checkpoint
from sealedshoe_audit.log.note import parse_note
from sealedshoe_audit.log.reader import LogSource, read_entries
from sealedshoe_audit.records import VERSION, Record
from sealedshoe_audit.signing import public_bytes
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.config import Config
from sealedshoe_server.data_dir import DataDir, DataDirError, start_record
from sealedshoe_server.guard import ENDED, Guard
from sealedshoe_server.heads import CheckpointKey, HeadKeeper, HeadSigner
from sealedshoe_server.keys import Keys, make_keys
from sealedshoe_server.manifest import manifest_digest
from sealedshoe_server.sealing import SealBroken, Sealer
from sealedshoe_server.statements import Statements
from sealedshoe_server.storage.interface import Batch, NewEntry, Store
from sealedshoe_server.storage.sqlite import SqliteStore

READ_AT_ONCE = 1024


@dataclass(frozen=True, slots=True)
class Started:
    """What was started, and what it took over."""

    origin: str
    predecessor: pb.Predecessor
    revealed: int
    lost_seeds: int
    stakes_returned: int


def start_successor(
    old: Config,
    new: Config,
    root_key: Ed25519PrivateKey,
    mirror: LogSource | None,
    publish: Path | None,
    now_us: int,
    random_bytes: Callable[[int], bytes],
) -> Started:
    """Makes the data directory of the log that follows the one on `old.data_dir`.

    1. The old log is folded to its end, from its store or from a mirror that has more of it.
    2. It is marked as ended in its guard: nothing is ever appended to it.
    3. New keys are made under the same root key; the new log's first records are written.

    Args:
        mirror: a verified copy of the old log, if there is one.
        publish: directory for the old log as it ends, signed, for those who verify both.

    Raises:
        DataDirError: the directories or the logs cannot be used so.
        StoreRefused, StorageFailed, KeyFileError: as at a server's start.
    """
    data = DataDir(old.data_dir)
    data.lock()
    try:
        store = SqliteStore(data.log, old.origin)
        fold = _fold(store, old.origin, root_key, mirror)
        closed = fold.closing is not None
        _check_named(fold.closing, new.origin, root_key)
        predecessor = _predecessor(fold, old, ROTATION if closed else RECOVERY)
        keys = data.load_keys()
        inherited = [] if closed else list(_open_shoes(fold, store, keys))
        if publish is not None:
            _publish_end(store, fold, keys, mirror, publish)
        _refuse_used(new)
        _end(Guard(old.guard_path), predecessor)
        store.close()
    finally:
        data.unlock()
    _write_log(new, root_key, predecessor, inherited, now_us, random_bytes)
    return Started(
        new.origin,
        predecessor,
        len(inherited),
        sum(record.seed_unavailable for record in inherited),
        sum(len(record.returned) for record in inherited),
    )


def _check_named(closing: pb.LogClosed | None, origin: str, root_key: Ed25519PrivateKey) -> None:
    if closing is None:
        return
    named = (closing.successor_origin, closing.successor_root_key)
    if named != (origin, public_bytes(root_key)):
        raise DataDirError(f"the old log names {named[0] or 'no log'} as its successor")


def _fold(
    store: Store, origin: str, root_key: Ed25519PrivateKey, mirror: LogSource | None
) -> LogFold:
    """Folds the longest copy of the log at hand; the shorter one must be a prefix of it."""
    size, mirrored = store.head().head.size, 0
    if mirror is not None:
        note = mirror.read("checkpoint")
        head = None if note is None else parse_checkpoint(parse_note(note).text)
        mirrored = 0 if head is None or head.origin != origin else head.size
    fold = LogFold(origin, public_bytes(root_key))
    entries = _entries(store, size)
    if mirror is not None and mirrored >= size:
        entries = read_entries(mirror, mirrored)
    try:
        for entry in entries:
            fold.apply(entry)
            if fold.frontier.size == size and fold.frontier.root() != store.head().head.root:
                raise DataDirError("the mirror and the data directory hold different histories")
    except VerificationError as error:
        raise DataDirError(f"the old log at leaf {fold.frontier.size - 1}: {error}") from error
    return fold


def _publish_end(
    store: Store,
    fold: LogFold,
    keys: Keys,
    mirror: LogSource | None,
    directory: Path,
) -> None:
    """Writes the old log's files up to its end, with its last head signed."""
    if directory.exists() and any(directory.iterdir()):
        raise DataDirError(f"{directory}: not empty")
    if fold.keys is None or fold.keys.checkpoint is None:
        raise DataDirError("the old log has no checkpoint key in force that could sign its end")
    signer = HeadSigner(fold.origin, [CheckpointKey(0, keys.signer(fold.keys.checkpoint))])
    size = fold.frontier.size
    whole = store.head().head.size >= size
    entries = _entries(store, size) if whole or mirror is None else read_entries(mirror, size)
    write_log(directory, fold.origin, entries, signer.sign)


def _refuse_used(config: Config) -> None:
    data = DataDir(config.data_dir)
    if data.keys.exists() or data.log.exists():
        raise DataDirError(f"{config.data_dir}: not empty")


def _end(guard: Guard, predecessor: pb.Predecessor) -> None:
    """Marks a log as ended, under the newest head that is known of it."""
    size, root = predecessor.size, predecessor.root
    if predecessor.newest_size:
        size, root = predecessor.newest_size, predecessor.newest_root
    guard.read_or_none()
    guard.write(Checkpoint(predecessor.origin, size, root).text(), ENDED)


def _entries(store: Store, size: int) -> Iterator[bytes]:
    for start in range(0, size, READ_AT_ONCE):
        yield from store.read(start, min(READ_AT_ONCE, size - start))


def _predecessor(fold: LogFold, old: Config, reason: str) -> pb.Predecessor:
    """Names the end that can be shown, and the newest head that the guard or the archive knew beyond it."""
    found = pb.Predecessor(
        origin=fold.origin, size=fold.frontier.size, root=fold.frontier.root(), reason=reason
    )
    guarded = Guard(old.guard_path).read_or_none()
    known = [] if guarded is None else [guarded.head]
    known += [
        parse_checkpoint(parse_note(note).text) for note in HeadArchive(old.heads_path).read()
    ]
    beyond = [head for head in known if head.origin == fold.origin and head.size > found.size]
    if beyond and reason == RECOVERY:
        newest = max(beyond, key=lambda head: head.size)
        found.newest_size, found.newest_root = newest.size, newest.root
    return found


def _open_shoes(fold: LogFold, store: Store, keys: Keys) -> Iterator[pb.PredecessorShoeRevealed]:
    sealers = {sealer.key_id: sealer for sealer in map(Sealer, keys.sealers)}
    for name, state in sorted(fold.tables.items()):
        if state.shoe is not None:
            seed = _seed(store, sealers, fold.origin, name, state.shoe)
            yield _revealed(name, state, state.shoe, seed)


def _seed(
    store: Store, sealers: dict[str, Sealer], origin: str, table: str, shoe: OpenShoe
) -> bytes:
    """Returns an open shoe's seed, or b"" when it cannot be had any more."""
    opening = shoe.opening
    sealed = store.sealed_seed(opening.seed_commitment)
    sealer = sealers.get(opening.sealing_key_id)
    if sealed is None or sealer is None:
        return b""
    identity = shoe_identity(origin, table, opening.shoe_number, opening.cards // 52)
    try:
        return sealer.open(sealed, identity, opening.seed_commitment)
    except SealBroken:
        return b""


def _revealed(
    table: str, state: TableState, shoe: OpenShoe, seed: bytes
) -> pb.PredecessorShoeRevealed:
    wagers = () if state.round is None else state.round.wagers
    return pb.PredecessorShoeRevealed(
        table=table,
        shoe_opening_hash=shoe.opening_hash,
        opening=shoe.opening,
        closing=pb.ShoeClosing(seed=seed, cards_dealt=shoe.position),
        seed_unavailable=not seed,
        round_number=0 if state.round is None else state.round_number,
        returned=[pb.ReturnedStake(wager_id=w.wager_id, stake=w.stake) for w in wagers],
    )


def _write_log(
    config: Config,
    root_key: Ed25519PrivateKey,
    predecessor: pb.Predecessor,
    inherited: list[pb.PredecessorShoeRevealed],
    now_us: int,
    random_bytes: Callable[[int], bytes],
) -> None:
    data = DataDir(config.data_dir)
    data.lock()
    try:
        _refuse_used(config)
        make_keys(data.keys, random_bytes, root_key)
        keys = data.load_keys()
        statements = Statements(keys.statement)
        first = start_record(config.origin, keys, root_key, manifest_digest(), now_us, predecessor)
        for record in inherited:
            record.header.CopyFrom(pb.Header(version=VERSION, origin=config.origin, time_us=now_us))
        records: list[Record] = [first, *inherited]
        batch = Batch(tuple(NewEntry.of(statements.sign(record)) for record in records))
        store = SqliteStore(data.log, config.origin)
        head, _ = store.append([batch], now_us)
        signer = HeadSigner(config.origin, [CheckpointKey(0, keys.checkpoint)])
        keeper = HeadKeeper(Guard(config.guard_path), HeadArchive(config.heads_path))
        keeper.keep(head.text, signer.sign(head.text))
        store.close()
    finally:
        data.unlock()


def successor_config(config: Config, data_dir: Path, origin: str) -> Config:
    """Returns the settings of a successor: those of the log before, on its own paths."""
    return replace(config, data_dir=data_dir, origin=origin, guard="", heads="")
