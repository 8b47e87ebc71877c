"""Builds the records of one append: each is linked, signed and folded before the next is made."""

from collections.abc import Callable
from dataclasses import dataclass, field

from sealedshoe_audit.baccarat.definition import GameDefinition
from sealedshoe_audit.fold import table as table_fold
from sealedshoe_audit.fold.state import TableState
from sealedshoe_audit.log.merkle import leaf_hash
from sealedshoe_audit.records import VERSION, TableRecord
from sealedshoe_audit.shoe.commitment import Shoe
from sealedshoe_audit.v1 import records_pb2 as pb

# Signs a record: returns its envelope's bytes.
Sign = Callable[[TableRecord], bytes]


@dataclass(frozen=True, slots=True)
class Head:
    """The newest committed head: number of leaves and 32-byte root."""

    size: int
    root: bytes


@dataclass(frozen=True, slots=True, repr=False)
class NewShoe:
    """A shoe drawn for this append and committed with it.

    Attributes:
        sealed: the encrypted seed, for its own table in the store.
    """

    shoe: Shoe
    opening: pb.ShoeOpening
    sealed: bytes


# Draws the next shoe of a table, or raises GameError RNG_FAILED.
DrawShoe = Callable[[str, int, GameDefinition, bytes], NewShoe]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """All that a decision depends on besides state and command.

    Attributes:
        now_us: UTC, never before the table's last record.
        caller: identity of who asks.
        cosigned_head_hash: SHA-256 of the newest cosigned checkpoint; b"" when there is none.
    """

    origin: str
    now_us: int
    head: Head
    sign: Sign
    draw_shoe: DrawShoe
    caller: str
    cosigned_head_hash: bytes = b""


@dataclass(slots=True)
class Entry:
    """One signed record on its way to the log."""

    record: TableRecord
    envelope: bytes
    leaf: bytes


@dataclass(slots=True)
class Draft:
    """The records of one append on one table, and the state that they lead to.

    Attributes:
        state: after the last entry; None before a table's first.
        new_shoe: drawn here, if any.
        no_round_reason: why no next round was opened; "" when one was, or none was due.
    """

    around: Surroundings
    state: TableState | None
    entries: list[Entry] = field(default_factory=lambda: [])
    new_shoe: NewShoe | None = None
    no_round_reason: str = ""

    @property
    def table(self) -> TableState:
        """The state, once the table exists."""
        if self.state is None:
            raise LookupError("the table has no record yet")
        return self.state

    def create(self, table: str, record: pb.TableChanged, game: GameDefinition) -> None:
        """Adds a table's first record."""
        self._head(record)
        record.link.table = table
        record.link.sequence = 1
        envelope = self.around.sign(record)
        leaf = leaf_hash(envelope)
        self.state = table_fold.create(record, leaf, game)
        self.entries.append(Entry(record, envelope, leaf))

    def add(self, record: TableRecord) -> None:
        """Adds a record; header and link are filled in here.

        Raises:
            VerificationError: the auditor's fold refuses it: a fault of this server.
        """
        state = self.table
        self._head(record)
        link = record.link
        link.table = state.table
        link.sequence = state.sequence + 1
        link.previous_hash = state.last_hash
        envelope = self.around.sign(record)
        leaf = leaf_hash(envelope)
        self.state = table_fold.evolve(state, record, leaf)
        self.entries.append(Entry(record, envelope, leaf))

    def _head(self, record: TableRecord) -> None:
        header = record.header
        header.version = VERSION
        header.origin = self.around.origin
        header.time_us = self.around.now_us
