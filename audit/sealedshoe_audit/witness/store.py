"""A witness's memory: the last head of each log, and every head it ever cosigned or refused as a fork."""

import sqlite3
from pathlib import Path

from sealedshoe_audit.log.checkpoint import Checkpoint, parse_checkpoint

_SCHEMA = """
CREATE TABLE IF NOT EXISTS last (origin TEXT PRIMARY KEY, size INTEGER NOT NULL, text TEXT NOT NULL,
  note BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS cosigned (id INTEGER PRIMARY KEY, origin TEXT NOT NULL, size INTEGER NOT NULL,
  time_s INTEGER NOT NULL, note BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS forks (id INTEGER PRIMARY KEY, origin TEXT NOT NULL, size INTEGER NOT NULL,
  time_s INTEGER NOT NULL, note BLOB NOT NULL) STRICT;
"""


class WitnessStore:
    """One SQLite file; what it answers survives a crash of the machine."""

    def __init__(self, path: Path) -> None:
        """Opens or makes the file.

        Raises:
            sqlite3.Error: it cannot be used.
        """
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.executescript(_SCHEMA)

    def last(self, origin: str) -> Checkpoint | None:
        """Returns the head cosigned last."""
        row = self._db.execute("SELECT text FROM last WHERE origin = ?", (origin,)).fetchone()
        return None if row is None else parse_checkpoint(row[0])

    def note(self, origin: str) -> bytes | None:
        """Returns the newest cosigned checkpoint."""
        row = self._db.execute("SELECT note FROM last WHERE origin = ?", (origin,)).fetchone()
        return None if row is None else row[0]

    def replace(self, old: Checkpoint, new: Checkpoint, note: bytes, time_s: int) -> bool:
        """Puts a head in the place of the last one; False when another was faster.

        Durable once it returns: only then may the cosignature leave.
        """
        self._db.execute("BEGIN IMMEDIATE")
        try:
            if (self.last(new.origin) or old).text() != old.text():
                return False
            self._db.execute(
                "INSERT OR REPLACE INTO last VALUES (?, ?, ?, ?)",
                (new.origin, new.size, new.text(), note),
            )
            if new.text() != old.text():  # a renewal is no new head
                self._keep("cosigned", new, note, time_s)
            self._db.execute("COMMIT")
            return True
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    def keep_fork(self, head: Checkpoint, note: bytes, time_s: int) -> None:
        """Keeps a signed head that contradicts the last one: the proof of a split view."""
        self._keep("forks", head, note, time_s)

    def _keep(self, table: str, head: Checkpoint, note: bytes, time_s: int) -> None:
        self._db.execute(
            f"INSERT INTO {table} (origin, size, time_s, note) VALUES (?, ?, ?, ?)",
            (head.origin, head.size, time_s, note),
        )

    def forks(self) -> list[bytes]:
        """Returns every head kept as a proof, oldest first."""
        return [row[0] for row in self._db.execute("SELECT note FROM forks ORDER BY id")]

    def close(self) -> None:
        """Releases the file."""
        self._db.close()
