"""Sorts an evidence file's records into the parts of one round's story, and folds them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sealedshoe_audit.baccarat.definition import GameDefinition, Shuffle
from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.fold import table as table_fold
from sealedshoe_audit.fold.house import check_game, check_table_id
from sealedshoe_audit.fold.result import check_deal
from sealedshoe_audit.fold.state import OpenShoe, TableState
from sealedshoe_audit.fold.table import check_shoe_opening
from sealedshoe_audit.records import Record, TableRecord
from sealedshoe_audit.v1 import records_pb2 as pb

_TABLE_KINDS = (
    pb.TableChanged,
    pb.RoundOpened,
    pb.WagersAccepted,
    pb.RoundDealt,
    pb.RoundVoided,
    pb.ShoeRetired,
)


@dataclass(frozen=True, slots=True)
class Placed:
    """A record with its leaf index and leaf hash; signature and inclusion are verified."""

    index: int
    record: Record
    leaf: bytes


@dataclass(frozen=True, slots=True)
class PlacedTable:
    """A table's record with its leaf index and leaf hash."""

    index: int
    record: TableRecord
    leaf: bytes


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of one round's story.

    Attributes:
        settings: the table's creating record.
        opening: the record that opened the shoe, when it stands before the chain.
        chain: the table's records, gapless, from the previous result (or its creation) to `target`.
        target: the round's result or void, last of the chain.
        reveal: a later record that reveals the shoe's seed.
    """

    table: str
    game: GameDefinition
    settings: PlacedTable
    opening: PlacedTable | None
    chain: tuple[PlacedTable, ...]
    target: PlacedTable
    reveal: PlacedTable | None

    def opening_of_round(self) -> PlacedTable:
        """Returns the round's RoundOpened."""
        for placed in reversed(self.chain):
            if isinstance(placed.record, pb.RoundOpened):
                return placed
        raise VerificationError(Code.EVIDENCE_INCOMPLETE, expected="RoundOpened", found="none")

    def wagers(self) -> Iterator[pb.Wager]:
        """Yields every wager of the round."""
        if isinstance(self.target.record, pb.RoundDealt):
            yield from (settled.wager for settled in self.target.record.settlements)
            return
        opened = self.opening_of_round()
        for placed in self.chain:
            if placed.index > opened.index and isinstance(placed.record, pb.WagersAccepted):
                yield from placed.record.wagers


def sort_parts(placed: Sequence[Placed], round_number: int) -> Parts:
    """Finds every part, and refuses a file with a part missing or a record that is none.

    Raises:
        VerificationError: EVIDENCE_INCOMPLETE, EVIDENCE_EXTRA, GAME_DEFINITION or ODDS_MISMATCH.
    """
    game_record, tables = _by_kind(placed)
    target = _target(tables, round_number)
    table = target.record.link.table
    check_table_id(table)
    strangers = [other for other in tables if other.record.link.table != table]
    if strangers:
        raise _extra(strangers[0].index)
    settings = tables[0]
    if not isinstance(settings.record, pb.TableChanged) or settings.record.link.sequence != 1:
        raise _incomplete("the table's creation")
    chain = _chain(tables, target)
    game = check_game(game_record)
    stated = settings.record.settings
    if (stated.game_id, stated.game_version) != (game.game_id, game.version):
        raise _incomplete(f"{stated.game_id[:40]} version {stated.game_version}")
    opening, reveal = _around(tables, settings, chain)
    return Parts(table, game, settings, opening, chain, target, reveal)


def _by_kind(placed: Sequence[Placed]) -> tuple[pb.GameInstalled, list[PlacedTable]]:
    games: list[pb.GameInstalled] = []
    tables: list[PlacedTable] = []
    for item in placed:
        record = item.record
        if isinstance(record, pb.GameInstalled):
            games.append(record)
            if len(games) > 1 or tables:
                raise _extra(item.index)
        elif isinstance(record, _TABLE_KINDS):
            tables.append(PlacedTable(item.index, record, item.leaf))
        elif not isinstance(record, pb.LogStarted | pb.KeyChanged):
            raise _extra(item.index)
    if not games:
        raise _incomplete("the game in force")
    return games[0], tables


def _target(tables: Sequence[PlacedTable], round_number: int) -> PlacedTable:
    for placed in tables:
        match placed.record:
            case (pb.RoundDealt() | pb.RoundVoided()) as record if (
                record.round_number == round_number
            ):
                return placed
            case _:
                continue
    raise _incomplete(f"the result of round {round_number}")


def _chain(tables: Sequence[PlacedTable], target: PlacedTable) -> tuple[PlacedTable, ...]:
    """Walks back from the target to the previous result, or to the table's creation."""
    position = tables.index(target)
    chain = [target]
    while position > 0 and chain[-1].record.link.sequence > 1:
        position -= 1
        previous = tables[position]
        if previous.record.link.sequence != chain[-1].record.link.sequence - 1:
            raise _incomplete(f"record {chain[-1].record.link.sequence - 1} of the table")
        chain.append(previous)
        if isinstance(previous.record, pb.RoundDealt):
            break
    first = chain[-1]
    created = first.record.link.sequence == 1 and first is tables[0]
    if len(chain) < 2 or not (created or isinstance(first.record, pb.RoundDealt)):
        raise _incomplete("the previous result, or the table's creation")
    return tuple(reversed(chain))


def _around(
    tables: Sequence[PlacedTable], settings: PlacedTable, chain: tuple[PlacedTable, ...]
) -> tuple[PlacedTable | None, PlacedTable | None]:
    """Returns the shoe's opening before the chain, and the reveal behind it."""
    before = [t for t in tables if t.index < chain[0].index and t is not settings]
    behind = [t for t in tables if t.index > chain[-1].index]
    if len(before) > 1 or len(behind) > 1:
        raise _extra((before[1:] or behind[1:])[0].index)
    opening = before[0] if before else None
    if opening is not None:
        record = opening.record
        if not isinstance(record, pb.RoundOpened) or not record.HasField("shoe"):
            raise _extra(opening.index)
    return opening, behind[0] if behind else None


def fold_parts(parts: Parts) -> tuple[TableState, TableState]:
    """Folds the chain by the same rules as the log.

    Returns:
        The states before and after the target.

    Raises:
        VerificationError: whatever the fold finds.
    """
    created = parts.settings.record
    if not isinstance(created, pb.TableChanged):
        raise _incomplete("the table's creation")
    state = table_fold.create(created, parts.settings.leaf, parts.game)
    first = parts.chain[0]
    if isinstance(first.record, pb.RoundDealt):
        state = _state_after_result(state, parts, first, first.record)
    elif parts.opening is not None:
        raise _extra(parts.opening.index)
    before = state
    for placed in parts.chain[1:]:
        before, state = state, table_fold.evolve(state, placed.record, placed.leaf)
    return before, state


def _state_after_result(
    created: TableState, parts: Parts, placed: PlacedTable, result: pb.RoundDealt
) -> TableState:
    """The table as the previous result left it, as far as the file can show."""
    check_deal(result.cards[0].position if result.cards else 0, result)
    shoe: OpenShoe | None = None
    shoe_number = _shoe_number_before(parts)
    if parts.opening is not None and isinstance(parts.opening.record, pb.RoundOpened):
        opening = parts.opening.record
        check_shoe_opening(opening, parts.game, opening.shoe.shoe_number)
        shoe = _shoe_after_result(parts.game, parts.opening, opening, result)
        shoe_number = shoe.opening.shoe_number
        if result.HasField("closing") or parts.opening.index > placed.index:
            raise _extra(parts.opening.index)
    return created._replace(
        state=_state_before(parts.chain),
        sequence=result.link.sequence,
        last_hash=placed.leaf,
        time_us=result.header.time_us,
        round_number=result.round_number,
        shoe_number=shoe_number,
        dealt_us=result.header.time_us,
        shoe=shoe,
    )


def _shoe_number_before(parts: Parts) -> int:
    """The shoe number before the chain's first own opening: the file shows no other source."""
    for placed in parts.chain[1:]:
        if isinstance(placed.record, pb.RoundOpened) and placed.record.HasField("shoe"):
            return placed.record.shoe.shoe_number - 1
    return 0


def _shoe_after_result(
    game: GameDefinition, placed: PlacedTable, opening: pb.RoundOpened, result: pb.RoundDealt
) -> OpenShoe:
    """The open shoe after the previous result; rounds left follow from the cut card's position."""
    if game.shuffle is Shuffle.EVERY_ROUND:
        raise _extra(placed.index)
    first = result.cards[0].position
    end = first + len(result.cards)
    left = game.rounds_left_after(first, end, None)
    if first > game.cards - game.cut_depth:
        raise VerificationError(
            Code.SHOE_STATE, expected="a shoe with a round left", found=f"position {first}"
        )
    return OpenShoe(opening.shoe, placed.leaf, end, left, 0)


def _state_before(chain: Sequence[PlacedTable]) -> pb.TableState.ValueType:
    """A table that dealt was enabled or draining; the first change after it says which."""
    following = chain[1].record if len(chain) > 1 else None
    draining = pb.TableState.TABLE_STATE_DRAINING
    if isinstance(following, pb.TableChanged) and following.before == draining:
        return draining
    return pb.TableState.TABLE_STATE_ENABLED


def _incomplete(expected: str) -> VerificationError:
    return VerificationError(Code.EVIDENCE_INCOMPLETE, expected=expected, found="none")


def _extra(index: int) -> VerificationError:
    return VerificationError(
        Code.EVIDENCE_EXTRA,
        expected="no record that the round does not need",
        found=f"leaf {index}",
    )
