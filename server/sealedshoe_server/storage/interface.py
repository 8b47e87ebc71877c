"""What an engine must do, and the words it is told in. Every engine passes tests/server/storage_contract.py.

    append   atomic, durable, compare-and-swap per table, in groups; only a committed head is returned
    read     entries in order
    ...      and the small look-ups that a server needs, all written in the same transaction

An answer is built inside the transaction that it reports, from the rows of that transaction alone, and
stored there without the checkpoint's signature: the signature is a pure function of the head's text, so
that a retry gets the same bytes for ever.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Protocol, TypeAlias

from sealedshoe_audit.log.merkle import CompleteHash, inclusion_ranges, leaf_hash, range_hash
from sealedshoe_server.dealing.draft import Head


class StorageFailed(Exception):
    """The engine cannot write or read; what was asked for did not happen, unless `unknown`.

    Attributes:
        unknown: the outcome of a commit is not known: reload before going on.
    """

    def __init__(self, problem: str, *, unknown: bool = False) -> None:
        super().__init__(problem)
        self.unknown = unknown


class HashesMissing(StorageFailed):
    """Stored hashes that a proof needs are not there."""


class DuplicateSeed(StorageFailed):
    """A new shoe's seed commitment stands in the log already: the RNG cannot be trusted any more."""


class StoreRefused(Exception):
    """The data directory must not be used: corrupt, foreign, or another server's."""


class RoundState(IntEnum):
    """State of a row of the round index; the numbers are those of the API's enum."""

    OPEN = 1
    DEALT = 2
    VOIDED = 3


@dataclass(frozen=True, slots=True)
class NewEntry:
    """One leaf to append. table and sequence are "" and 0 for records that are no table's."""

    envelope: bytes
    leaf: bytes
    table: str = ""
    sequence: int = 0

    @classmethod
    def of(cls, envelope: bytes) -> "NewEntry":
        """Returns the entry of a record that is no table's."""
        return cls(envelope, leaf_hash(envelope))


@dataclass(frozen=True, slots=True)
class RoundOpenedRow:
    """A round for the index; `offset` is the entry's place in its batch."""

    round_number: int
    shoe_number: int
    opened_us: int
    offset: int


@dataclass(frozen=True, slots=True)
class RoundEndedRow:
    """A round's end for the index."""

    round_number: int
    state: RoundState
    offset: int
    no_next_reason: str


@dataclass(frozen=True, slots=True)
class ShoeOpenedRow:
    """A shoe for the index, with its sealed seed."""

    shoe_number: int
    offset: int
    commitment: bytes
    sealed: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class ShoeClosedRow:
    """A shoe's reveal, or its loss, for the index."""

    shoe_number: int
    offset: int


@dataclass(frozen=True, slots=True, repr=False)
class PlayerRow:
    """Who stands behind a wager: erasable, never in the log."""

    round_number: int
    wager_id: str
    reference: str
    salt: bytes


TableRow: TypeAlias = RoundOpenedRow | RoundEndedRow | ShoeOpenedRow | ShoeClosedRow | PlayerRow


@dataclass(frozen=True, slots=True)
class TableWrite:
    """The effect of a batch on one table.

    Attributes:
        expected_sequence: the table's last sequence that the decision was made on; 0 for a new table.
        snapshot: TableSnapshot after the batch.
    """

    table: str
    expected_sequence: int
    sequence: int
    snapshot: bytes
    no_round_reason: str
    rows: tuple[TableRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """Who asked, under which id, and the hash of what was asked."""

    caller: str
    request_id: str
    request_hash: bytes
    round: str = ""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a batch's entries came to stand: enough to prove them under the group's new head."""

    first_index: int
    tree_size: int
    complete: CompleteHash

    def inclusion_path(self, offset: int) -> bytes:
        """Returns the joined path of the batch's entry at this offset."""
        return inclusion_path(self.first_index + offset, self.tree_size, self.complete)


def inclusion_path(index: int, size: int, complete: CompleteHash) -> bytes:
    """Returns the joined hashes from leaf to root."""
    ranges = inclusion_ranges(index, size)
    return b"".join(range_hash(low, high, complete) for low, high in ranges)


@dataclass(frozen=True, slots=True)
class Batch:
    """What one command appends: all of it or nothing.

    Attributes:
        answer: builds the answer's bytes, without checkpoint, inside the transaction.
        game: (game id, version) when the batch installs one.
        changes_key: the batch is one KeyChanged.
        stamps_time: the batch is one TimeStamped.
        closes_log: the batch is the log's last record; nothing is appended behind it.
    """

    entries: tuple[NewEntry, ...]
    write: TableWrite | None = None
    request: Request | None = None
    answer: Callable[[Placement], bytes] | None = None
    game: tuple[str, int] | None = None
    changes_key: bool = False
    stamps_time: bool = False
    closes_log: bool = False


@dataclass(frozen=True, slots=True)
class Committed:
    """The batch is durable."""

    first_index: int
    answer: bytes


class Dropped(IntEnum):
    """The batch left no trace: its table moved on, its request id is taken, or its key is out."""

    STALE_TABLE = 1
    REQUEST_TAKEN = 2
    KEY_CHANGED = 3


Outcome: TypeAlias = Committed | Dropped


@dataclass(frozen=True, slots=True)
class CommittedHead:
    """A head read back after its commit: only this is ever signed."""

    head: Head
    text: str
    time_us: int


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """What a request id leads to.

    Attributes:
        answer: bytes without checkpoint; None once they have expired.
        head: the one that the answer's proofs end in.
    """

    request_hash: bytes
    answer: bytes | None
    head: CommittedHead
    round: str


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A table's newest snapshot."""

    table: str
    sequence: int
    snapshot: bytes
    no_round_reason: str


@dataclass(frozen=True, slots=True)
class StoredRound:
    """A row of the round index. result_index is None while open."""

    table: str
    round_number: int
    shoe_number: int
    state: RoundState
    opened_us: int
    opened_index: int
    result_index: int | None
    no_next_reason: str


@dataclass(frozen=True, slots=True)
class StoredShoe:
    """A row of the shoe index. closed_index is None while open."""

    shoe_number: int
    opened_index: int
    closed_index: int | None


@dataclass(frozen=True, slots=True)
class RoundQuery:
    """Filters of ListRounds; newest first, keyset by opening index.

    Attributes:
        below_index: rounds opened at a lower leaf index only; None for the newest.
    """

    table: str | None
    player: str | None
    shoe_number: int | None
    state: RoundState | None
    opened_from_us: int | None
    opened_before_us: int | None
    below_index: int | None
    limit: int


class Store(Protocol):
    """A durable log with its indexes. `append` is called by one writer at a time, reads by anyone."""

    def append(self, batches: Sequence[Batch], time_us: int) -> tuple[CommittedHead, list[Outcome]]:
        """Appends a group in one transaction and reads the head back.

        Raises:
            StorageFailed: nothing was appended, or the outcome is unknown.
        """
        ...

    def reload(self) -> None:
        """Opens everything anew after a failure.

        Raises:
            StorageFailed: it still cannot be used.
        """
        ...

    def head(self) -> CommittedHead:
        """Returns the newest committed head."""
        ...

    def root_at(self, size: int) -> bytes:
        """Returns the root of the first `size` leaves, which must be there."""
        ...

    def head_covering(self, index: int) -> CommittedHead:
        """Returns the first head whose tree holds this leaf: the one its answer was proved under.

        Raises:
            StorageFailed: it is gone, or its text does not fit the tree.
        """
        ...

    def read(self, start: int, limit: int) -> list[bytes]:
        """Returns entries in order; fewer than the limit at the end of the log."""
        ...

    def complete_hash(self, level: int, index: int) -> bytes:
        """Returns the hash of a complete subtree."""
        ...

    def tile(self, level: int, index: int, width: int) -> bytes | None:
        """Returns a hash tile's content, or None if the tree is not so large."""
        ...

    def answer(self, caller: str, request_id: str) -> StoredAnswer | None:
        """Returns what a request id led to.

        Raises:
            StorageFailed: its row, or its head's, is damaged.
        """
        ...

    def keep_cosigned(self, size: int, note: bytes) -> None:
        """Keeps a cosigned head.

        Raises:
            StorageFailed: it is not kept.
        """
        ...

    def cosigned(self, head_hash: bytes) -> bytes | None:
        """Returns a cosigned head by the hash that records name."""
        ...

    def newest_cosigned(self) -> tuple[int, bytes] | None:
        """Returns size and note of the cosigned head that was kept last."""
        ...

    def games(self) -> list[int]:
        """Returns the leaf indexes of all GameInstalled."""
        ...

    def key_changes(self) -> list[int]:
        """Returns the leaf indexes of all KeyChanged."""
        ...

    def newest_time_stamp(self) -> int | None:
        """Returns the leaf index of the newest TimeStamped."""
        ...

    def tables(self) -> list[StoredTable]:
        """Returns every table's newest snapshot, by table id."""
        ...

    def table(self, table: str) -> StoredTable | None:
        """Returns a table's newest snapshot."""
        ...

    def table_entries(self, table: str, after: int, limit: int) -> list[tuple[int, int, bytes]]:
        """Returns (sequence, index, envelope) of a table's records with a higher sequence."""
        ...

    def round(self, table: str, number: int) -> StoredRound | None:
        """Returns a round of the index."""
        ...

    def rounds(self, query: RoundQuery) -> list[StoredRound]:
        """Returns rounds, newest first."""
        ...

    def shoe(self, table: str, number: int) -> StoredShoe | None:
        """Returns a shoe of the index."""
        ...

    def sealed_seed(self, commitment: bytes) -> bytes | None:
        """Returns the sealed seed behind a commitment."""
        ...

    def players(self, table: str, round_number: int) -> Iterator[PlayerRow]:
        """Yields who stands behind a round's wagers, as far as not erased."""
        ...

    def expire_answers(self, before_us: int) -> int:
        """Drops the bytes of answers given before; the ids stay. Returns how many."""
        ...

    def close(self) -> None:
        """Releases everything."""
        ...
