"""Batches for storage tests: small made-up entries with real hashes."""

from sealedshoe_server.storage.interface import (
    Batch,
    NewEntry,
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
from tests.server.reading import leaf


def loose(*texts: str, request: Request | None = None) -> Batch:
    """Entries that are no table's."""
    entries = tuple(NewEntry(text.encode(), leaf(text.encode())) for text in texts)
    return Batch(entries, request=request, answer=tell_place)


def step(
    table: str,
    after: int,
    *rows: TableRow,
    count: int = 1,
    request: Request | None = None,
    reason: str = "",
    text: str = "",
) -> Batch:
    """The next `count` records of a table whose last sequence is `after`."""
    names = [f"{text}{table} {after + i + 1}".encode() for i in range(count)]
    entries = tuple(
        NewEntry(name, leaf(name), table, after + i + 1) for i, name in enumerate(names)
    )
    snapshot = f"snapshot {after + count}".encode()
    write = TableWrite(table, after, after + count, snapshot, reason, rows)
    return Batch(entries, write, request, tell_place)


def tell_place(placement: Placement) -> bytes:
    """An answer that says where its batch stands and proves its first entry."""
    place = f"{placement.first_index}/{placement.tree_size} "
    return place.encode() + placement.inclusion_path(0)


def asked(request_id: str, caller: str = "caller", body: bytes = b"body") -> Request:
    """A request with the hash of its body."""
    return Request(caller, request_id, leaf(body), "tables/t/rounds/1")


def opened(number: int, shoe: int = 1, offset: int = 0, at: int = 1000) -> RoundOpenedRow:
    """A round for the index."""
    return RoundOpenedRow(number, shoe, at, offset)


def ended(number: int, offset: int = 0, reason: str = "") -> RoundEndedRow:
    """A dealt round for the index."""
    return RoundEndedRow(number, RoundState.DEALT, offset, reason)


def shoe_opened(number: int, table: str = "t") -> ShoeOpenedRow:
    """A shoe for the index."""
    return ShoeOpenedRow(number, 0, leaf(f"seed {table} {number}".encode()), b"sealed")


def shoe_closed(number: int, offset: int = 0) -> ShoeClosedRow:
    """A shoe's end for the index."""
    return ShoeClosedRow(number, offset)


def player(number: int, wager_id: str, reference: str) -> PlayerRow:
    """Who stands behind a wager."""
    return PlayerRow(number, wager_id, reference, b"s" * 16)
