"""That a successor log takes over where its predecessor ended, and reveals what was left open there."""

from dataclasses import dataclass, field

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.fold.keys import ROTATION
from sealedshoe_audit.fold.log import LogFold
from sealedshoe_audit.fold.reveal import Dealt, check_reveal
from sealedshoe_audit.fold.state import TableState
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.verify.report import NOTICE, Finding


@dataclass(slots=True)
class EndOfLog:
    """A log's state at the head that its successor names; filled in while the old log is verified."""

    origin: str = ""
    root: bytes = b""
    closing: pb.LogClosed | None = None
    tables: dict[str, TableState] = field(default_factory=lambda: {})
    dealt: dict[str, list[Dealt]] = field(default_factory=lambda: {})

    def take(self, fold: LogFold) -> None:
        """Keeps what matters of a fold that stands at that head."""
        self.origin = fold.origin
        self.root = fold.frontier.root()
        self.closing = fold.closing
        self.tables = dict(fold.tables)
        self.dealt = {table: list(cards) for table, cards in fold.dealt.items()}


def check_handover(end: EndOfLog, successor: LogFold, root_key: bytes) -> list[Finding]:
    """Returns what is wrong between a log's end and the log that names it as its predecessor.

    Args:
        root_key: of the successor.
    """
    try:
        named = successor.predecessor
        if named is None:
            raise _bad("a log that names a predecessor", "none")
        if (named.origin, named.root) != (end.origin, end.root):
            raise _bad(f"{named.origin} at size {named.size}, {named.root.hex()}", end.root.hex())
        if named.reason == ROTATION:
            _check_rotation(end, successor.origin, root_key)
        else:
            _check_recovery(end, successor)
    except VerificationError as error:
        return [Finding.of(error, "hand-over")]
    if named.newest_size > named.size:
        found = f"{named.newest_size - named.size} records behind leaf {named.size} are not there"
        return [Finding(Code.TAIL_LOST, "hand-over", "the whole predecessor", found, NOTICE)]
    return []


def _check_rotation(end: EndOfLog, origin: str, root_key: bytes) -> None:
    closing = end.closing
    if closing is None:
        raise _bad("a predecessor that was closed", "an open one")
    if (closing.successor_origin, closing.successor_root_key) != (origin, root_key):
        raise _bad(f"{closing.successor_origin} as the successor", origin)


def _check_recovery(end: EndOfLog, successor: LogFold) -> None:
    left_open = {name: state for name, state in end.tables.items() if state.shoe is not None}
    revealed = {record.table: record for record in successor.inherited}
    if len(revealed) != len(successor.inherited) or revealed.keys() != left_open.keys():
        raise _bad(
            f"the open shoes of {', '.join(sorted(left_open)) or 'no table'} revealed",
            ", ".join(sorted(revealed)) or "none",
        )
    for name, state in left_open.items():
        _check_shoe(end, state, revealed[name])


def _check_shoe(end: EndOfLog, state: TableState, record: pb.PredecessorShoeRevealed) -> None:
    shoe, opened = state.shoe, state.round
    if shoe is None:
        return
    same = record.shoe_opening_hash == shoe.opening_hash and record.opening == shoe.opening
    if not same or record.closing.cards_dealt != shoe.position:
        raise _bad(f"the shoe that was open at {state.table}", "another")
    expected = [] if opened is None else [(w.wager_id, w.stake) for w in opened.wagers]
    found = [(returned.wager_id, returned.stake) for returned in record.returned]
    number = 0 if opened is None else state.round_number
    if found != expected or record.round_number != number:
        raise _bad(f"every stake of {state.table} returned", str(len(found)))
    if not record.seed_unavailable:
        dealt = end.dealt.get(state.table, [])
        check_reveal(end.origin, state.table, shoe.opening, record.closing.seed, dealt)


def _bad(expected: str, found: str) -> VerificationError:
    return VerificationError(Code.PREDECESSOR, expected=expected, found=found)
