"""SQLite engine: WAL, synchronous=FULL. Nothing to install, one server a data directory.

`append` runs on the writer's thread with its own connection; reads use another, from any one thread.
"""

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from importlib import resources
from pathlib import Path

from sealedshoe_audit.errors import VerificationError
from sealedshoe_audit.log.checkpoint import Checkpoint, parse_checkpoint
from sealedshoe_audit.log.merkle import (
    EMPTY_ROOT,
    HASH_BYTES,
    Frontier,
    leaf_hash,
    node_hash,
    root_at,
)
from sealedshoe_server.dealing.draft import Head
from sealedshoe_server.storage.append import answer_digest, append_group
from sealedshoe_server.storage.interface import (
    Batch,
    CommittedHead,
    DuplicateSeed,
    HashesMissing,
    Outcome,
    PlayerRow,
    RoundQuery,
    RoundState,
    StorageFailed,
    StoredAnswer,
    StoredRound,
    StoredShoe,
    StoredTable,
    StoreRefused,
)

APPLICATION_ID = 1397969992
SCHEMA_VERSION = 3
HASHES_KEPT = 65_536
TAIL_CHECKED = 512  # entries re-hashed at every start: the part of the file written last
NEWEST_HEAD = "SELECT size, text, time_us FROM heads ORDER BY size DESC LIMIT 1"
_ROUND_COLUMNS = (
    "table_id, round_number, shoe_number, state, opened_us, opened_index, result_index, "
    "no_next_reason"
)


class SqliteStore:
    """One log in one file."""

    def __init__(self, path: Path, origin: str) -> None:
        """Opens or makes the file.

        Raises:
            StoreRefused: the file is corrupt, foreign, or another log's.
            StorageFailed: it cannot be opened or made.
        """
        self._path = path
        self._origin = origin
        self._open()
        # Complete subtrees never change, and every proof wants the same few large ones.
        self.complete_hash = lru_cache(maxsize=HASHES_KEPT)(self._complete_hash)

    def _open(self) -> None:
        """Leaves nothing open when it fails."""
        try:
            with contextlib.ExitStack() as failed:
                self._writer = failed.enter_context(contextlib.closing(_connect(self._path)))
                if not self._writer.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
                    self._create()
                self._check_identity()
                self._reader = failed.enter_context(contextlib.closing(_connect(self._path)))
                self._reader.execute("PRAGMA query_only = ON")
                self._check_tail()
                failed.pop_all()
        except (VerificationError, HashesMissing, TypeError, ValueError) as error:
            raise StoreRefused(f"{self._path}: the head or its hashes are damaged") from error
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise StorageFailed(f"{self._path}: {error}") from error
            raise StoreRefused(f"{self._path}: {error}") from error

    def _create(self) -> None:
        schema = (
            resources.files("sealedshoe_server.storage").joinpath("schema.sql").read_text("utf-8")
        )
        head = Checkpoint(self._origin, 0, EMPTY_ROOT).text()
        self._writer.executescript(f"BEGIN IMMEDIATE;\n{schema}")
        self._writer.execute("INSERT INTO meta VALUES ('origin', ?)", (self._origin,))
        self._writer.execute("INSERT INTO head VALUES (1, 0, x'', ?, 0)", (head,))
        self._writer.execute("INSERT INTO heads VALUES (0, 0, ?, 0)", (head,))
        self._writer.execute("COMMIT")

    def _check_identity(self) -> None:
        found = self._writer.execute("PRAGMA application_id").fetchone()[0]
        version = self._writer.execute("PRAGMA user_version").fetchone()[0]
        if (found, version) != (APPLICATION_ID, SCHEMA_VERSION):
            raise StoreRefused(f"{self._path}: not a Sealed Shoe log of version {SCHEMA_VERSION}")
        row = self._writer.execute("SELECT value FROM meta WHERE key = 'origin'").fetchone()
        if row is None or row[0] != self._origin:
            theirs = None if row is None else row[0]
            raise StoreRefused(f"{self._path}: the log of {theirs}, not of {self._origin}")

    def _check_tail(self) -> None:
        """The head row is the newest head, its edge leads to its root, and the last entries hash."""
        size, edge, text, changes = self._reader.execute(
            "SELECT size, edge, text, key_changes FROM head"
        ).fetchone()
        newest = self._reader.execute(
            "SELECT size, text FROM heads ORDER BY size DESC LIMIT 1"
        ).fetchone()
        count = self._reader.execute("SELECT max(idx) FROM entries").fetchone()[0]
        head = parse_checkpoint(text)
        sound = newest == (size, text) and head.size == size and (count is None) == (size == 0)
        if not sound or (count is not None and count != size - 1):
            raise StoreRefused(f"{self._path}: the head does not fit the entries")
        if changes != self._reader.execute("SELECT count(*) FROM key_changes").fetchone()[0]:
            raise StoreRefused(f"{self._path}: the index of key changes is damaged")
        if Frontier.from_edge(size, edge).root() != head.root:
            raise StoreRefused(f"{self._path}: the head's edge does not lead to its root")
        for envelope, leaf in self._reader.execute(
            "SELECT envelope, leaf FROM entries WHERE idx >= ? ORDER BY idx", (size - TAIL_CHECKED,)
        ):
            if leaf_hash(envelope) != leaf:
                raise StoreRefused(f"{self._path}: an entry does not match its hash")
        for (level, idx), node in Frontier.from_edge(size, edge).complete().items():
            if self._complete_hash(level, idx) != node:
                raise StoreRefused(f"{self._path}: stored hashes do not lead to the head")

    def reload(self) -> None:
        """Opens everything anew after a failure.

        Raises:
            StorageFailed: it still cannot be used.
            StoreRefused: it must not be used any more.
        """
        self.close()
        self._open()

    def close(self) -> None:
        """Releases both connections."""
        for connection in (self._writer, self._reader):
            connection.close()

    def append(self, batches: Sequence[Batch], time_us: int) -> tuple[CommittedHead, list[Outcome]]:
        """Appends a group in one transaction and reads the head back.

        Raises:
            StorageFailed: nothing was appended, or the outcome is unknown.
        """
        committing = False
        try:
            self._writer.execute("BEGIN IMMEDIATE")
            outcomes = append_group(self._writer, self._origin, batches, time_us)
            committing = True
            self._writer.execute("COMMIT")
            return _head(self._writer), outcomes
        except sqlite3.Error as error:
            if "shoes.commitment" in str(error):
                raise DuplicateSeed("a seed was drawn that the log has already") from error
            raise StorageFailed(f"append: {error}", unknown=committing) from error
        finally:
            with contextlib.suppress(sqlite3.Error):  # a closed connection has nothing to undo
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")

    def _query(self, sql: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        try:
            return self._reader.execute(sql, tuple(values))
        except sqlite3.Error as error:
            raise StorageFailed(f"read: {error}") from error

    def head(self) -> CommittedHead:
        """Returns the newest committed head."""
        return _committed(*self._query(NEWEST_HEAD).fetchone())

    def root_at(self, size: int) -> bytes:
        """Returns the root of the first `size` leaves, which must be there."""
        return root_at(size, self.complete_hash)

    def head_covering(self, index: int) -> CommittedHead:
        """Returns the first head whose tree holds this leaf: no head in between is missing.

        Raises:
            StorageFailed: it is gone, or its text does not fit the tree.
        """
        row = self._query(
            "SELECT size, text, time_us FROM heads WHERE size > ? AND before <= ? "
            "ORDER BY size LIMIT 1",
            (index, index),
        ).fetchone()
        return self._sound(f"leaf {index}", row)

    def _sound(self, what: str, row: tuple[int, str, int] | None) -> CommittedHead:
        """A head of old is signed again only if the tree leads to it."""
        if row is None:
            raise StorageFailed(f"the head of {what} is gone")
        size, text, time_us = row
        head = Head(size, self.root_at(size))
        if Checkpoint(self._origin, size, head.root).text() != text:
            raise StorageFailed(f"the head of {size} records does not fit the tree")
        return CommittedHead(head, text, time_us)

    def read(self, start: int, limit: int) -> list[bytes]:
        """Returns entries in order."""
        rows = self._query(
            "SELECT envelope FROM entries WHERE idx >= ? ORDER BY idx LIMIT ?", (start, limit)
        )
        return [row[0] for row in rows]

    def _complete_hash(self, level: int, index: int) -> bytes:
        """Returns the hash of a complete subtree, folded from the nearest level that is stored."""
        tile_level, rest = divmod(level, 8)
        low = index << rest
        hashes = self._hashes(tile_level, low, low + (1 << rest))
        if len(hashes) != 1 << rest:
            raise HashesMissing(f"hashes of level {level} at {index} are missing")
        while len(hashes) > 1:
            hashes = [node_hash(*hashes[i : i + 2]) for i in range(0, len(hashes), 2)]
        return hashes[0]

    def _hashes(self, tile_level: int, low: int, high: int) -> list[bytes]:
        if tile_level == 0:
            rows = self._query(
                "SELECT leaf FROM entries WHERE idx >= ? AND idx < ? ORDER BY idx", (low, high)
            )
        else:
            rows = self._query(
                "SELECT hash FROM tile_hashes WHERE level = ? AND idx >= ? AND idx < ? ORDER BY idx",
                (tile_level, low, high),
            )
        return [row[0] for row in rows]

    def tile(self, level: int, index: int, width: int) -> bytes | None:
        """Returns a hash tile's content, or None if the tree is not so large."""
        data = b"".join(self._hashes(level, index * 256, index * 256 + width))
        return data if len(data) == width * HASH_BYTES else None

    def answer(self, caller: str, request_id: str) -> StoredAnswer | None:
        """Returns what a request id led to.

        Raises:
            StorageFailed: its row, or its head's, is damaged.
        """
        row = self._query(
            "SELECT request_hash, answer, digest, round, head_size, text, heads.time_us "
            "FROM requests LEFT JOIN heads ON size = head_size WHERE caller = ? AND request_id = ?",
            (caller, request_id),
        ).fetchone()
        if row is None:
            return None
        request_hash, answer, digest, of_round, size, text, time_us = row
        if answer is not None and answer_digest(request_hash, size, answer) != digest:
            raise StorageFailed("a stored answer is damaged")
        head = None if text is None else (size, text, time_us)
        return StoredAnswer(request_hash, answer, self._sound("an answer", head), of_round)

    def keep_cosigned(self, size: int, note: bytes) -> None:
        """Keeps a cosigned head. Called on the writer's thread."""
        try:
            self._writer.execute(
                "INSERT OR IGNORE INTO cosigned VALUES (?, ?, ?)",
                (sha256(note).digest(), size, note),
            )
        except sqlite3.Error as error:
            raise StorageFailed(f"cosigned head: {error}") from error

    def cosigned(self, head_hash: bytes) -> bytes | None:
        """Returns a cosigned head by the hash that records name."""
        row = self._query("SELECT note FROM cosigned WHERE hash = ?", (head_hash,)).fetchone()
        return None if row is None else row[0]

    def newest_cosigned(self) -> tuple[int, bytes] | None:
        """Returns size and note of the cosigned head that was kept last."""
        row = self._query("SELECT size, note FROM cosigned ORDER BY rowid DESC LIMIT 1").fetchone()
        return None if row is None else (row[0], row[1])

    def games(self) -> list[int]:
        """Returns the leaf indexes of all GameInstalled."""
        return [row[0] for row in self._query("SELECT idx FROM games ORDER BY idx")]

    def key_changes(self) -> list[int]:
        """Returns the leaf indexes of all KeyChanged."""
        return [row[0] for row in self._query("SELECT idx FROM key_changes ORDER BY idx")]

    def newest_time_stamp(self) -> int | None:
        """Returns the leaf index of the newest TimeStamped."""
        row = self._query("SELECT idx FROM time_stamps ORDER BY idx DESC LIMIT 1").fetchone()
        return None if row is None else row[0]

    def tables(self) -> list[StoredTable]:
        """Returns every table's newest snapshot, by table id."""
        rows = self._query(
            "SELECT table_id, sequence, snapshot, no_round_reason FROM tables ORDER BY table_id"
        )
        return [StoredTable(*row) for row in rows]

    def table(self, table: str) -> StoredTable | None:
        """Returns a table's newest snapshot."""
        row = self._query(
            "SELECT table_id, sequence, snapshot, no_round_reason FROM tables WHERE table_id = ?",
            (table,),
        ).fetchone()
        return None if row is None else StoredTable(*row)

    def table_entries(self, table: str, after: int, limit: int) -> list[tuple[int, int, bytes]]:
        """Returns (sequence, index, envelope) of a table's records with a higher sequence."""
        return self._query(
            "SELECT sequence, idx, envelope FROM entries WHERE table_id = ? AND table_id <> '' "
            "AND sequence > ? ORDER BY sequence LIMIT ?",
            (table, after, limit),
        ).fetchall()

    def round(self, table: str, number: int) -> StoredRound | None:
        """Returns a round of the index."""
        row = self._query(
            f"SELECT {_ROUND_COLUMNS} FROM rounds WHERE table_id = ? AND round_number = ?",
            (table, number),
        ).fetchone()
        return None if row is None else _stored_round(row)

    def rounds(self, query: RoundQuery) -> list[StoredRound]:
        """Returns rounds, newest first."""
        conditions: list[tuple[str, object]] = [
            ("table_id = ?", query.table),
            ("shoe_number = ?", query.shoe_number),
            ("state = ?", query.state),
            ("opened_us >= ?", query.opened_from_us),
            ("opened_us < ?", query.opened_before_us),
            ("opened_index < ?", query.below_index),
            (
                "opened_index IN (SELECT opened_index FROM players WHERE reference = ?)",
                query.player,
            ),
        ]
        given = [(text, value) for text, value in conditions if value is not None]
        where = " AND ".join(text for text, _ in given) or "1"
        rows = self._query(
            f"SELECT {_ROUND_COLUMNS} FROM rounds WHERE {where} ORDER BY opened_index DESC LIMIT ?",
            (*(value for _, value in given), query.limit),
        )
        return [_stored_round(row) for row in rows]

    def shoe(self, table: str, number: int) -> StoredShoe | None:
        """Returns a shoe of the index."""
        row = self._query(
            "SELECT shoe_number, opened_index, closed_index FROM shoes "
            "WHERE table_id = ? AND shoe_number = ?",
            (table, number),
        ).fetchone()
        return None if row is None else StoredShoe(*row)

    def sealed_seed(self, commitment: bytes) -> bytes | None:
        """Returns the sealed seed behind a commitment."""
        row = self._query("SELECT sealed FROM shoes WHERE commitment = ?", (commitment,)).fetchone()
        return None if row is None else row[0]

    def players(self, table: str, round_number: int) -> Iterator[PlayerRow]:
        """Yields who stands behind a round's wagers."""
        for row in self._query(
            "SELECT round_number, wager_id, reference, salt FROM players JOIN rounds "
            "USING (opened_index) WHERE table_id = ? AND round_number = ?",
            (table, round_number),
        ):
            yield PlayerRow(*row)

    def expire_answers(self, before_us: int) -> int:
        """Drops the bytes of answers given before; the ids stay. Called on the writer's thread."""
        try:
            return self._writer.execute(
                "UPDATE requests SET answer = NULL WHERE answer IS NOT NULL AND time_us < ?",
                (before_us,),
            ).rowcount
        except sqlite3.Error as error:
            raise StorageFailed(f"expire: {error}") from error


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, isolation_level=None, check_same_thread=False, timeout=10.0, cached_statements=256
    )
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA cache_size = -16384")
    return connection


def _head(connection: sqlite3.Connection) -> CommittedHead:
    return _committed(*connection.execute(NEWEST_HEAD).fetchone())


def _committed(size: int, text: str, time_us: int) -> CommittedHead:
    return CommittedHead(Head(size, parse_checkpoint(text).root), text, time_us)


def _stored_round(row: tuple[str, int, int, int, int, int, int | None, str]) -> StoredRound:
    table, number, shoe, state, opened_us, opened, result, reason = row
    return StoredRound(table, number, shoe, RoundState(state), opened_us, opened, result, reason)
