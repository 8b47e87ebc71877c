"""Files that are damaged, cut, foreign or another log's: refused with a clear text, never served."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sealedshoe_server.storage.interface import StorageFailed, StoreRefused
from sealedshoe_server.storage.sqlite import SCHEMA_VERSION, SqliteStore
from tests.server.batches import asked, loose, opened, shoe_opened, step

ORIGIN = "log.example/test"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A closed log of 261 entries in one file."""
    path = tmp_path / "log.db"
    store = SqliteStore(path, ORIGIN)
    store.append([loose(*(f"entry {i}" for i in range(256)), request=asked("r"))], 1)
    store.append([step("t", 0, opened(1), shoe_opened(1), count=5)], 2)
    store.close()
    return path


def dump(path: Path) -> list[str]:
    """Every row of every table."""
    with closing(sqlite3.connect(path)) as db:
        return list(db.iterdump())


def spoil(path: Path, *statements: str) -> None:
    """Runs SQL on the file with all triggers gone: what an attacker with the file can do."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        triggers = db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for (name,) in triggers:
            db.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            db.execute(statement)


def test_the_undamaged_file_opens(path: Path) -> None:
    """The twin of every case below."""
    store = SqliteStore(path, ORIGIN)
    assert store.head().head.size == 261
    store.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET envelope = CAST('x' || substr(envelope, 2) AS BLOB) WHERE idx = 260",
        "UPDATE entries SET envelope = CAST('x' || substr(envelope, 2) AS BLOB) WHERE idx = 0",
        "UPDATE entries SET leaf = zeroblob(32) WHERE idx = 258",
        "DELETE FROM entries WHERE idx = 260",
        "DELETE FROM heads WHERE size = 261",
        "UPDATE heads SET text = 'x' WHERE size = 261",
        "UPDATE head SET edge = zeroblob(length(edge))",
        "UPDATE tile_hashes SET hash = zeroblob(32)",
        "DELETE FROM tile_hashes",
        "DELETE FROM head",
        "UPDATE head SET edge = x''",
        "UPDATE head SET size = 260",
        "UPDATE head SET text = 'x'",
        "UPDATE heads SET size = 262 WHERE size = 261",
        "DROP TABLE entries",
        "DROP TABLE meta",
    ],
)
def test_a_tampered_log_is_refused(path: Path, statement: str) -> None:
    """The tail's entries, hashes and heads must fit together."""
    spoil(path, statement)
    with pytest.raises((StoreRefused, StorageFailed), match=r"log\.db: "):
        SqliteStore(path, ORIGIN)


def test_a_dropped_entry_in_the_middle_of_the_tail_is_refused(path: Path) -> None:
    """An entry that is missing between others is no shorter log."""
    spoil(path, "DELETE FROM entries WHERE idx = 259")
    with pytest.raises((StoreRefused, StorageFailed, IndexError, TypeError)):
        SqliteStore(path, ORIGIN)


def test_a_file_cut_at_any_page_is_refused(path: Path, tmp_path: Path) -> None:
    """Whatever is missing at the end, the server does not go on with the rest."""
    whole = path.read_bytes()
    for size in range(4096, len(whole), 4096):
        cut = tmp_path / "cut.db"
        cut.write_bytes(whole[:size])
        with pytest.raises((StoreRefused, StorageFailed)):
            SqliteStore(cut, ORIGIN)


def outcome_of_flip(whole: bytes, position: int, target: Path) -> str:
    """What opening does with one flipped byte: "opened", "refused", or an exception's name."""
    for name in ("flip.db", "flip.db-wal", "flip.db-shm"):
        target.with_name(name).unlink(missing_ok=True)
    flipped = bytearray(whole)
    flipped[position] ^= 0xFF
    target.write_bytes(flipped)
    try:
        SqliteStore(target, ORIGIN).close()
    except (StoreRefused, StorageFailed):
        return "refused"
    except Exception as error:
        return type(error).__name__
    return "opened"


def test_a_flipped_byte_is_refused_or_harmless_and_nothing_else(path: Path) -> None:
    """Every 61st byte of the file in turn: refused with a clear text, or not part of the tail."""
    whole = path.read_bytes()
    target = path.with_name("flip.db")
    outcomes = {outcome_of_flip(whole, i, target) for i in range(0, len(whole), 61)}
    assert outcomes == {"opened", "refused"}


def test_a_flipped_byte_in_any_entry_of_the_tail_is_refused(path: Path) -> None:
    """The last entries are hashed again at every start."""
    whole = path.read_bytes()
    target = path.with_name("flip.db")
    for i in (0, 100, 255):
        position = whole.index(f"entry {i}".encode())
        assert outcome_of_flip(whole, position, target) == "refused"


def test_another_logs_file_is_refused(path: Path) -> None:
    """The origin is in the file."""
    with pytest.raises(StoreRefused, match=r"the log of log\.example/test, not of log\.example/b"):
        SqliteStore(path, "log.example/b")


def test_a_foreign_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    """Some other program's SQLite file is no log."""
    path = tmp_path / "accounts.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE accounts (id INTEGER)")
        db.commit()
    before = dump(path)
    with pytest.raises(StoreRefused, match="not a Sealed Shoe log"):
        SqliteStore(path, ORIGIN)
    assert dump(path) == before


def test_a_newer_version_is_refused(path: Path) -> None:
    """A file of a schema that this release does not know stays untouched."""
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    with pytest.raises(StoreRefused, match=f"version {SCHEMA_VERSION}"):
        SqliteStore(path, ORIGIN)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    """Garbage is named as such."""
    path = tmp_path / "notes.txt"
    path.write_bytes(b"no database at all, " * 500)
    with pytest.raises(StoreRefused, match="not a database"):
        SqliteStore(path, ORIGIN)


def test_a_path_that_cannot_be_opened_fails_with_its_name(tmp_path: Path) -> None:
    """A directory in the file's place."""
    (tmp_path / "log.db").mkdir()
    with pytest.raises(StorageFailed, match=r"log\.db: unable to open"):
        SqliteStore(tmp_path / "log.db", ORIGIN)


def test_after_a_failed_reload_everything_is_a_storage_failure(path: Path) -> None:
    """Reads and appends say so as well as the reload did; once the file is back, all goes on."""
    store = SqliteStore(path, ORIGIN)
    path.rename(path.with_name("elsewhere"))
    path.mkdir()
    with pytest.raises(StorageFailed):
        store.reload()
    with pytest.raises(StorageFailed):
        store.append([loose("a")], 3)
    with pytest.raises(StorageFailed):
        store.head()
    path.rmdir()
    path.with_name("elsewhere").rename(path)
    store.reload()
    assert store.head().head.size == 261
    store.close()
