"""State of a table between two records, and its snapshot.

Tuples, not dataclasses: a round makes half a dozen of them, at a fifth of the cost.
"""

from typing import NamedTuple

from sealedshoe_audit.baccarat.definition import GameDefinition
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.v1 import state_pb2


class OpenRound(NamedTuple):
    """A round that takes wagers.

    Attributes:
        opening_hash: leaf hash of its RoundOpened, 32 bytes.
        opened_us: time of its RoundOpened.
        wagers: standing, in the order accepted.
    """

    opening_hash: bytes
    opened_us: int
    first_position: int
    wagers: tuple[pb.Wager, ...]


class OpenShoe(NamedTuple):
    """A shoe that is committed to and not yet revealed.

    Attributes:
        opening_hash: leaf hash of the record with the shoe's opening.
        position: next position to be dealt.
        rounds_left: rounds still to be dealt; None while the cut card is in the shoe.
        free_rounds_used: rounds dealt without a wager.
    """

    opening: pb.ShoeOpening
    opening_hash: bytes
    position: int
    rounds_left: int | None
    free_rounds_used: int


class TableState(NamedTuple):
    """A table after its last record.

    Attributes:
        sequence, last_hash, time_us: of the table's last record.
        round_number, shoe_number: the last numbers given.
        dealt_us: time of the last result; 0 before the first.
    """

    table: str
    settings: pb.TableSettings
    game: GameDefinition
    state: pb.TableState.ValueType
    sequence: int
    last_hash: bytes
    time_us: int
    round_number: int = 0
    shoe_number: int = 0
    dealt_us: int = 0
    round: OpenRound | None = None
    shoe: OpenShoe | None = None

    def snapshot(self) -> state_pb2.TableSnapshot:
        """Returns the state as a message; the game is named by the settings."""
        return state_pb2.TableSnapshot(
            table=self.table,
            settings=self.settings,
            state=self.state,
            sequence=self.sequence,
            last_hash=self.last_hash,
            time_us=self.time_us,
            round_number=self.round_number,
            shoe_number=self.shoe_number,
            dealt_us=self.dealt_us,
            round=None if self.round is None else _round_snapshot(self.round),
            shoe=None if self.shoe is None else _shoe_snapshot(self.shoe),
        )


def _round_snapshot(opened: OpenRound) -> state_pb2.OpenRoundSnapshot:
    return state_pb2.OpenRoundSnapshot(
        opening_hash=opened.opening_hash,
        opened_us=opened.opened_us,
        first_position=opened.first_position,
        wagers=opened.wagers,
    )


def _shoe_snapshot(shoe: OpenShoe) -> state_pb2.OpenShoeSnapshot:
    return state_pb2.OpenShoeSnapshot(
        opening=shoe.opening,
        opening_hash=shoe.opening_hash,
        position=shoe.position,
        rounds_left=shoe.rounds_left,
        free_rounds_used=shoe.free_rounds_used,
    )


def restore(message: state_pb2.TableSnapshot, game: GameDefinition) -> TableState:
    """Returns the state that a snapshot holds."""
    opened, shoe = message.round, message.shoe
    left = shoe.rounds_left if shoe.HasField("rounds_left") else None
    return TableState(
        table=message.table,
        settings=message.settings,
        game=game,
        state=message.state,
        sequence=message.sequence,
        last_hash=message.last_hash,
        time_us=message.time_us,
        round_number=message.round_number,
        shoe_number=message.shoe_number,
        dealt_us=message.dealt_us,
        round=OpenRound(
            opened.opening_hash, opened.opened_us, opened.first_position, tuple(opened.wagers)
        )
        if message.HasField("round")
        else None,
        shoe=OpenShoe(shoe.opening, shoe.opening_hash, shoe.position, left, shoe.free_rounds_used)
        if message.HasField("shoe")
        else None,
    )
