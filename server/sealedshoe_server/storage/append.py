"""The one transaction that matters: a group of batches, appended under the head row's lock.

A crash at any step leaves the state before the transaction; nothing signed has left the process yet.
"""

import sqlite3
from collections.abc import Sequence
from hashlib import sha256

from sealedshoe_audit.log.checkpoint import Checkpoint
from sealedshoe_audit.log.merkle import Frontier
from sealedshoe_audit.log.tiles import MAX_ENTRY_BYTES
from sealedshoe_server.storage.interface import (
    Batch,
    Committed,
    Dropped,
    Outcome,
    Placement,
    PlayerRow,
    Request,
    RoundEndedRow,
    RoundOpenedRow,
    RoundState,
    ShoeClosedRow,
    ShoeOpenedRow,
    TableRow,
    TableWrite,
)


def append_group(
    db: sqlite3.Connection, origin: str, batches: Sequence[Batch], time_us: int
) -> list[Outcome]:
    """Writes a group inside an open transaction; the caller commits, or rolls back on any error.

    1. Read the head, which the transaction has locked.
    2. Drop each batch whose table moved on or whose request id is taken; place the others.
    3. Write entries, hashes and the new head's text.
    4. Build the answers under the new head, and write them with the indexes.
    """
    size, edge = db.execute("SELECT size, edge FROM head").fetchone()
    frontier = Frontier.from_edge(size, edge)
    known = frontier.complete()
    placed: list[tuple[Batch, int] | Dropped] = []
    taken: set[tuple[str, str]] = set()
    written: set[str] = set()
    for batch in batches:
        dropped = _dropped(db, batch, taken, written)
        placed.append(dropped or (batch, frontier.size))
        if dropped is None:
            _write_entries(db, batch, frontier, known)
    if frontier.size == size:
        db.execute("ROLLBACK")
        db.execute("BEGIN")
        return [place for place in placed if isinstance(place, Dropped)]
    text = Checkpoint(origin, frontier.size, frontier.root()).text()
    db.execute("INSERT INTO heads VALUES (?, ?, ?, ?)", (frontier.size, size, text, time_us))
    db.execute(
        "UPDATE head SET size = ?, edge = ?, text = ?, key_changes = key_changes + ?",
        (frontier.size, frontier.edge(), text, _key_changes(placed)),
    )
    return [_finish(db, place, frontier.size, known, time_us) for place in placed]


def _key_changes(placed: Sequence[tuple[Batch, int] | Dropped]) -> int:
    return sum(not isinstance(place, Dropped) and place[0].changes_key for place in placed)


def _dropped(
    db: sqlite3.Connection, batch: Batch, taken: set[tuple[str, str]], written: set[str]
) -> Dropped | None:
    request, write = batch.request, batch.write
    if request is not None:
        key = (request.caller, request.request_id)
        found = db.execute("SELECT 1 FROM requests WHERE caller = ? AND request_id = ?", key)
        if key in taken or found.fetchone():
            return Dropped.REQUEST_TAKEN
    if write is not None:
        row = db.execute(
            "SELECT sequence FROM tables WHERE table_id = ?", (write.table,)
        ).fetchone()
        stale = (0 if row is None else row[0]) != write.expected_sequence
        if stale or write.table in written:
            return Dropped.STALE_TABLE
        written.add(write.table)
    if batch.game is not None:
        found = db.execute("SELECT 1 FROM games WHERE game_id = ? AND version = ?", batch.game)
        if found.fetchone():
            return Dropped.STALE_TABLE
    if request is not None:
        taken.add((request.caller, request.request_id))
    return None


def _write_entries(
    db: sqlite3.Connection,
    batch: Batch,
    frontier: Frontier,
    known: dict[tuple[int, int], bytes],
) -> None:
    if batch.game is not None:
        db.execute("INSERT INTO games VALUES (?, ?, ?)", (*batch.game, frontier.size))
    if batch.changes_key:
        db.execute("INSERT INTO key_changes VALUES (?)", (frontier.size,))
    if batch.stamps_time:
        db.execute("INSERT INTO time_stamps VALUES (?)", (frontier.size,))
    for entry in batch.entries:
        if len(entry.envelope) > MAX_ENTRY_BYTES:
            raise sqlite3.IntegrityError("an entry exceeds 65,535 bytes")
        db.execute(
            "INSERT INTO entries VALUES (?, ?, ?, ?, ?)",
            (frontier.size, entry.envelope, entry.leaf, entry.table, entry.sequence),
        )
        for level, index, node in frontier.append(entry.leaf):
            known[level, index] = node
            if level and level % 8 == 0:
                db.execute("INSERT INTO tile_hashes VALUES (?, ?, ?)", (level // 8, index, node))


def _finish(
    db: sqlite3.Connection,
    place: tuple[Batch, int] | Dropped,
    size: int,
    known: dict[tuple[int, int], bytes],
    time_us: int,
) -> Outcome:
    if isinstance(place, Dropped):
        return place
    batch, first = place
    if batch.write is not None:
        _write_table(db, batch.write, first)
    placement = Placement(first, size, lambda level, index: known[level, index])
    answer = batch.answer(placement) if batch.answer is not None else b""
    if batch.request is not None:
        _write_request(db, batch.request, answer, size, time_us)
    return Committed(first, answer)


def answer_digest(request_hash: bytes, head_size: int, answer: bytes) -> bytes:
    """Returns what tells a damaged answer from the one that was given.

    Args:
        request_hash: 32 bytes.
    """
    return sha256(request_hash + head_size.to_bytes(8, "big") + answer).digest()


def _write_request(
    db: sqlite3.Connection, request: Request, answer: bytes, size: int, time_us: int
) -> None:
    db.execute(
        "INSERT INTO requests (caller, request_id, request_hash, answer, digest, head_size, round, "
        "time_us) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            request.caller,
            request.request_id,
            request.request_hash,
            answer,
            answer_digest(request.request_hash, size, answer),
            size,
            request.round,
            time_us,
        ),
    )


def _write_table(db: sqlite3.Connection, write: TableWrite, first: int) -> None:
    values = (write.sequence, write.snapshot, write.no_round_reason, write.table)
    if write.expected_sequence:
        db.execute(
            "UPDATE tables SET sequence = ?, snapshot = ?, no_round_reason = ? WHERE table_id = ?",
            values,
        )
    else:
        db.execute(
            "INSERT INTO tables (sequence, snapshot, no_round_reason, table_id) VALUES (?, ?, ?, ?)",
            values,
        )
    for row in write.rows:
        _write_row(db, write.table, row, first)


def _write_row(db: sqlite3.Connection, table: str, row: TableRow, first: int) -> None:
    match row:
        case RoundOpenedRow():
            db.execute(
                "INSERT INTO rounds (opened_index, table_id, round_number, shoe_number, state, "
                "opened_us) VALUES (?, ?, ?, ?, ?, ?)",
                (
                    first + row.offset,
                    table,
                    row.round_number,
                    row.shoe_number,
                    int(RoundState.OPEN),
                    row.opened_us,
                ),
            )
        case RoundEndedRow():
            db.execute(
                "UPDATE rounds SET state = ?, result_index = ?, no_next_reason = ? "
                "WHERE table_id = ? AND round_number = ?",
                (
                    int(row.state),
                    first + row.offset,
                    row.no_next_reason,
                    table,
                    row.round_number,
                ),
            )
        case ShoeOpenedRow():
            db.execute(
                "INSERT INTO shoes (table_id, shoe_number, opened_index, commitment, sealed) "
                "VALUES (?, ?, ?, ?, ?)",
                (table, row.shoe_number, first + row.offset, row.commitment, row.sealed),
            )
        case ShoeClosedRow():
            db.execute(
                "UPDATE shoes SET closed_index = ? WHERE table_id = ? AND shoe_number = ?",
                (first + row.offset, table, row.shoe_number),
            )
        case PlayerRow():
            db.execute(
                "INSERT INTO players SELECT opened_index, ?, ?, ? FROM rounds "
                "WHERE table_id = ? AND round_number = ?",
                (row.wager_id, row.reference, row.salt, table, row.round_number),
            )
