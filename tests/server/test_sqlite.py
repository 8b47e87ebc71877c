"""The SQLite engine: the contract, and what only a file can suffer."""

import base64
import resource
import sqlite3
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from sealedshoe_server.storage.append import append_group
from sealedshoe_server.storage.interface import Batch, Committed, StorageFailed
from sealedshoe_server.storage.sqlite import SqliteStore
from tests.server.batches import (
    asked,
    ended,
    loose,
    opened,
    player,
    shoe_closed,
    shoe_opened,
    step,
)
from tests.server.reading import leaf, root_of
from tests.server.storage_contract import StorageContract, check_tree

ORIGIN = "log.example/test"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.db"


@pytest.fixture
def open_store(path: Path) -> Iterator[Callable[[], SqliteStore]]:
    stores: list[SqliteStore] = []

    def open_() -> SqliteStore:
        stores.append(SqliteStore(path, ORIGIN))
        return stores[-1]

    yield open_
    for store in stores:
        store.close()


@pytest.fixture
def store(open_store: Callable[[], SqliteStore]) -> SqliteStore:
    return open_store()


class TestSqlite(StorageContract):
    """SQLite passes the contract."""


def connected(path: Path) -> closing[sqlite3.Connection]:
    """Plain SQL on the file, each statement committed at once."""
    return closing(sqlite3.connect(path, isolation_level=None))


def dump(path: Path) -> list[str]:
    """Every row of every table."""
    with closing(sqlite3.connect(path)) as db:
        return list(db.iterdump())


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET envelope = x'00'",
        "UPDATE entries SET leaf = leaf",
        "DELETE FROM entries",
        pytest.param("INSERT OR REPLACE INTO entries VALUES (0, x'00', zeroblob(32), '', 0)"),
        "UPDATE tile_hashes SET hash = zeroblob(32)",
        "DELETE FROM tile_hashes",
        pytest.param("REPLACE INTO tile_hashes VALUES (1, 0, zeroblob(32))"),
        "UPDATE heads SET text = ''",
        "DELETE FROM heads",
        pytest.param("REPLACE INTO heads SELECT size, 0, '', 0 FROM heads"),
        "UPDATE head SET size = 1",
        "UPDATE head SET size = size, text = ''",
        "DELETE FROM head",
        pytest.param("REPLACE INTO head VALUES (1, 0, x'', '', 0)"),
        "DELETE FROM requests",
        pytest.param("UPDATE requests SET request_id = 'another'"),
        pytest.param("UPDATE requests SET answer = x'00'"),
    ],
)
def test_the_engine_refuses_to_change_what_is_written(
    store: SqliteStore, path: Path, statement: str
) -> None:
    """Whoever has the file and plain SQL cannot rewrite the log by accident."""
    store.append([loose(*(f"{i}" for i in range(256)), request=asked("r"))], 1)
    before = dump(path)
    with connected(path) as db, pytest.raises(sqlite3.IntegrityError):
        db.execute(statement)
    assert dump(path) == before


class FailingConnection:
    """Passes statements on, and fails at the k-th."""

    def __init__(self, db: sqlite3.Connection, k: int) -> None:
        self._db = db
        self.left = k

    def execute(self, *args: object) -> sqlite3.Cursor:
        self.left -= 1
        if self.left == 0:
            raise sqlite3.OperationalError("disk I/O error")
        return self._db.execute(*args)  # type: ignore[arg-type]


def whole_group() -> list[Batch]:
    """A group that writes to every table of the schema."""
    ends = (ended(1), shoe_closed(1), player(1, "w", "alice"), opened(2, 2, 1), shoe_opened(2))
    return [
        step("t", 1, *ends, count=2, request=asked("r")),
        step("u", 0, opened(1), shoe_opened(1, "u"), request=asked("s")),
        loose(*(f"{i}" for i in range(256))),
        step("t", 0),
    ]


def test_a_failure_at_any_statement_leaves_the_state_before(store: SqliteStore, path: Path) -> None:
    """Whichever statement fails, the rolled-back file is as it was; without a failure all is there."""
    store.append([step("t", 0, opened(1), shoe_opened(1))], 1)
    before = dump(path)
    failures = 0
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        while True:
            failing = FailingConnection(db, failures + 1)
            db.execute("BEGIN IMMEDIATE")
            try:
                append_group(failing, ORIGIN, whole_group(), 2)  # type: ignore[arg-type]
            except sqlite3.OperationalError:
                db.execute("ROLLBACK")
                assert dump(path) == before
                failures += 1
                continue
            db.execute("COMMIT")
            break
    assert failures > 270
    assert len(check_tree(store)) == 1 + 2 + 1 + 256


def test_an_answer_that_cannot_be_built_leaves_the_state_before(
    store: SqliteStore, path: Path
) -> None:
    """Whatever the answer's builder raises, nothing of the group is left and the store goes on."""
    before = dump(path)

    def fail(_: object) -> bytes:
        raise KeyError("no such hash")

    with pytest.raises(KeyError):
        store.append([loose("a"), Batch(loose("b").entries, answer=fail)], 1)
    assert dump(path) == before
    store.append([loose("c")], 2)
    assert check_tree(store) == [b"c"]


@contextmanager
def full_disk(limit_bytes: int) -> Generator[None]:
    """No file of this process grows beyond the limit: what a full disk does to SQLite."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_refuses_and_loses_nothing(store: SqliteStore, path: Path) -> None:
    """Every batch up to the limit is there, the one that failed is not, and the next goes in."""
    store.append([loose("0", request=asked("r0"))], 1)
    wal = path.with_name("log.db-wal")
    done = 0
    with full_disk(wal.stat().st_size + 60_000):
        with suppress(StorageFailed):
            while done < 100:
                store.append([loose(str(done + 1) * 100, request=asked(f"r{done + 1}"))], 1)
                done += 1
        assert 0 < done < 100
    store.reload()
    assert store.head().head.size == done + 1
    assert store.answer("caller", f"r{done}") is not None
    assert store.answer("caller", f"r{done + 1}") is None
    _, outcomes = store.append([loose("next", request=asked(f"r{done + 1}"))], 2)
    assert isinstance(outcomes[0], Committed)
    assert len(check_tree(store)) == done + 2


def test_two_stores_on_one_file_make_one_chain_of_heads(
    open_store: Callable[[], SqliteStore], path: Path
) -> None:
    """Two racing writers: each table moves once a sequence, and every head is a prefix of the last."""
    stores = [open_store(), open_store()]
    wins: list[list[int]] = [[], []]

    def race(me: int) -> None:
        for sequence in range(60):
            batch = step("t", sequence, text=f"{me} ", request=asked(f"{me}-{sequence}"))
            _, outcomes = stores[me].append([batch, loose(f"{me} {sequence}")], sequence)
            if isinstance(outcomes[0], Committed):
                wins[me].append(sequence)

    threads = [threading.Thread(target=race, args=(me,)) for me in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not set(wins[0]) & set(wins[1])
    entries = check_tree(stores[0])
    assert len(entries) == 120 + len(wins[0]) + len(wins[1])
    with closing(sqlite3.connect(path)) as db:
        for size, text in db.execute("SELECT size, text FROM heads ORDER BY size"):
            root = root_of([leaf(entry) for entry in entries[:size]])
            assert text == heads_text(size, root)


def heads_text(size: int, root: bytes) -> str:
    """C2SP tlog-checkpoint: origin, size, root in base64, a line each."""
    return f"{ORIGIN}\n{size}\n{base64.b64encode(root).decode()}\n"
