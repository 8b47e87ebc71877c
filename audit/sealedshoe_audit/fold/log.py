"""The fold over a whole log: every leaf's signature, header, order and effect on the state."""

from collections import deque
from dataclasses import dataclass

from sealedshoe_audit.baccarat.definition import GameDefinition, check_definition
from sealedshoe_audit.definition_record import odds_messages, read_definition
from sealedshoe_audit.envelope import parse_envelope, verify_envelope
from sealedshoe_audit.errors import Code, DefinitionError, VerificationError
from sealedshoe_audit.fold import table as table_fold
from sealedshoe_audit.fold.keys import LogKeys, first_keys, keys_after
from sealedshoe_audit.fold.reveal import Dealt, check_reveal, dealt_cards
from sealedshoe_audit.fold.state import OpenShoe, TableState
from sealedshoe_audit.log.checkpoint import is_origin
from sealedshoe_audit.log.merkle import Frontier, leaf_hash
from sealedshoe_audit.records import (
    MAX_ID_BYTES,
    VERSION,
    Record,
    TableRecord,
    check_accountability,
    check_text,
    parse_record,
)
from sealedshoe_audit.shoe.commitment import Shoe
from sealedshoe_audit.signing import KEY_BYTES
from sealedshoe_audit.v1 import records_pb2 as pb

# A RoundOpened names a head of at most so many leaves ago: servers name the newest head they know.
HEAD_WINDOW = 16_384


@dataclass(frozen=True, slots=True)
class Revealed:
    """A shoe whose seed was revealed and replayed in full."""

    opened: OpenShoe
    shoe: Shoe


@dataclass(frozen=True, slots=True)
class Applied:
    """One leaf that passed every check.

    Attributes:
        before, after: the table's state around it; None for records that are no table's.
        revealed: the shoe that the record closed.
        counter_gap: seeds that the RNG instance drew and no opening shows; below 0: a counter again.
    """

    index: int
    record: Record
    before: TableState | None = None
    after: TableState | None = None
    revealed: Revealed | None = None
    counter_gap: int = 0


class LogFold:
    """State of a log as its leaves are applied in order; a leaf that fails changes no table."""

    def __init__(self, origin: str, root_key: bytes) -> None:
        """Starts before the first leaf of the log that these two name."""
        self.origin = origin
        self.frontier = Frontier()
        self.completed: list[tuple[int, bytes]] = []  # subtrees that the last leaf completed
        self.games: dict[tuple[str, int], GameDefinition] = {}
        self.tables: dict[str, TableState] = {}
        self._root_key = root_key
        self._keys: LogKeys | None = None
        self._closed = False
        self._dealt: dict[str, list[Dealt]] = {}
        self._counters: dict[bytes, int] = {}
        self._commitments: set[bytes] = set()
        self._heads: deque[tuple[int, tuple[bytes, ...]]] = deque(maxlen=HEAD_WINDOW)
        self._heads.append((0, ()))

    def apply(self, leaf: bytes) -> Applied:
        """Checks one leaf and takes it in.

        1. It has its place in the tree, whatever it says.
        2. It is a canonical envelope, signed by the statement key in force.
        3. It is a canonical record of this log and of version 1.
        4. Its kind may stand here, and its content holds.

        Raises:
            VerificationError: with the code of the first check that failed.
        """
        index = self.frontier.size
        hashed = leaf_hash(leaf)
        self.completed = [(level, node) for level, _, node in self.frontier.append(hashed)]
        self._heads.append((self.frontier.size, tuple(self.frontier.nodes)))
        envelope = parse_envelope(leaf)
        record = parse_record(envelope)
        if isinstance(record, pb.LogStarted):
            self._start(index, record)
        if self._keys is None:
            raise VerificationError(Code.RECORD_ORDER, expected="LogStarted", found="another kind")
        verify_envelope(envelope, self._keys.statement)
        check_header(record.header, self.origin)
        if self._closed:
            raise VerificationError(Code.LOG_CLOSED, expected="no leaf", found=str(index))
        return self._dispatch(index, record, hashed, self._keys)

    def _start(self, index: int, record: pb.LogStarted) -> None:
        if index != 0:
            raise VerificationError(Code.RECORD_ORDER, expected="index 0", found=str(index))
        self._keys = first_keys(record, self.origin, self._root_key)

    def _dispatch(self, index: int, record: Record, hashed: bytes, keys: LogKeys) -> Applied:
        match record:
            case pb.LogStarted():
                return Applied(index, record)
            case pb.GameInstalled():
                self._install(record)
            case pb.KeyChanged():
                self._keys = keys_after(keys, record, index)
            case pb.EventRecorded():
                check_event(record)
            case pb.LogClosed():
                self._close(record)
            case _:
                return self._apply_table(index, record, hashed)
        return Applied(index, record)

    def _install(self, record: pb.GameInstalled) -> None:
        game = check_game(record)
        key = (game.game_id, game.version)
        if key in self.games:
            raise VerificationError(
                Code.GAME_DEFINITION, expected="a new version", found=f"{key} again"
            )
        self.games[key] = game

    def _close(self, record: pb.LogClosed) -> None:
        check_accountability(record.by)
        if not is_origin(record.successor_origin) and record.successor_origin:
            raise VerificationError(
                Code.RECORD_LIMITS, expected="an origin", found=record.successor_origin[:64]
            )
        if len(record.successor_root_key) not in (0, KEY_BYTES):
            raise VerificationError(
                Code.RECORD_LIMITS,
                expected="a root key",
                found=record.successor_root_key[:40].hex(),
            )
        open_shoes = [name for name, state in self.tables.items() if state.shoe is not None]
        if open_shoes:
            raise VerificationError(
                Code.LOG_CLOSED, expected="no open shoe", found=", ".join(open_shoes[:5])
            )
        self._closed = True

    def _apply_table(self, index: int, record: TableRecord, hashed: bytes) -> Applied:
        name = record.link.table
        before = self.tables.get(name)
        if before is None:
            after = self._create(record, hashed)
            self.tables[name] = after
            return Applied(index, record, None, after)
        after = table_fold.evolve(before, record, hashed)
        revealed, gap = None, 0
        if isinstance(record, pb.RoundOpened):
            gap = self._check_opening(record)
        elif isinstance(record, pb.RoundDealt):
            self._dealt.setdefault(name, []).extend(dealt_cards(record))
        if before.shoe is not None and after.shoe is None:
            revealed = self._reveal(name, before.shoe, record)
        self.tables[name] = after
        return Applied(index, record, before, after, revealed, gap)

    def _create(self, record: TableRecord, hashed: bytes) -> TableState:
        if not isinstance(record, pb.TableChanged):
            raise VerificationError(
                Code.RECORD_ORDER, expected=f"table {record.link.table[:40]} created", found="no"
            )
        settings = record.settings
        game = self.games.get((settings.game_id, settings.game_version))
        if game is None:
            found = f"{settings.game_id[:40]} version {settings.game_version}"
            raise VerificationError(Code.TABLE_SETTINGS, expected="an installed game", found=found)
        check_table_id(record.link.table)
        return table_fold.create(record, hashed, game)

    def _check_opening(self, record: pb.RoundOpened) -> int:
        self._check_head(record)
        if not record.HasField("shoe"):
            return 0
        opening = record.shoe
        if opening.seed_commitment in self._commitments:
            raise VerificationError(
                Code.DUPLICATE_SEED, expected="a new seed", found=opening.seed_commitment.hex()
            )
        self._commitments.add(opening.seed_commitment)
        last = self._counters.get(opening.rng_instance, 0)
        self._counters[opening.rng_instance] = max(last, opening.shoe_counter)
        return opening.shoe_counter - last - 1

    def _check_head(self, record: pb.RoundOpened) -> None:
        """The named head is a recent prefix of this very log."""
        oldest = self._heads[0][0]
        offset = record.head_size - oldest
        if 0 <= offset < len(self._heads) - 1:
            size, nodes = self._heads[offset]
            if Frontier(size, nodes).root() == record.head_root:
                return
        raise VerificationError(
            Code.HEAD_MISMATCH,
            expected=f"a head of this log, size {oldest} or more",
            found=f"size {record.head_size}, root {record.head_root.hex()}",
        )

    def _reveal(self, name: str, opened: OpenShoe, record: TableRecord) -> Revealed | None:
        dealt = self._dealt.pop(name, [])
        if not isinstance(record, pb.RoundDealt | pb.ShoeRetired):
            raise VerificationError(Code.SHOE_STATE, expected="a reveal", found="none")
        if isinstance(record, pb.ShoeRetired) and record.seed_unavailable:
            return None
        shoe = check_reveal(self.origin, name, opened.opening, record.closing.seed, dealt)
        return Revealed(opened, shoe)


def check_header(header: pb.Header, origin: str) -> None:
    """Checks version, origin and time of a record.

    Raises:
        VerificationError: RECORD_VERSION, RECORD_ORIGIN or RECORD_TIME.
    """
    if header.version != VERSION:
        raise VerificationError(
            Code.RECORD_VERSION, expected=str(VERSION), found=str(header.version)
        )
    if header.origin != origin:
        raise VerificationError(Code.RECORD_ORIGIN, expected=origin, found=header.origin[:200])
    if header.time_us <= 0:
        raise VerificationError(Code.RECORD_TIME, expected="a time", found=str(header.time_us))


def check_game(record: pb.GameInstalled) -> GameDefinition:
    """Checks a recorded definition and works its odds out again.

    Raises:
        VerificationError: GAME_DEFINITION, ODDS_MISMATCH or RECORD_LIMITS.
    """
    check_accountability(record.by)
    try:
        game = read_definition(record.definition)
        check_definition(game)
    except DefinitionError as error:
        raise VerificationError(
            Code.GAME_DEFINITION, expected="a sound definition", found=str(error)[:300]
        ) from error
    if list(record.odds) != odds_messages(game):
        raise VerificationError(
            Code.ODDS_MISMATCH, expected=f"the exact odds of {game.game_id}", found="others"
        )
    return game


def check_table_id(table: str) -> None:
    """Checks the last segment of a table's name.

    Raises:
        VerificationError: RECORD_LIMITS.
    """
    if not 1 <= len(table) <= 40 or any(c not in _ID_CHARACTERS for c in table):
        raise VerificationError(
            Code.RECORD_LIMITS, expected="a table id [a-z0-9-]{1,40}", found=table[:40]
        )


_ID_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


def check_event(record: pb.EventRecorded) -> None:
    """Checks an event's class and texts.

    Raises:
        VerificationError: RECORD_LIMITS.
    """
    check_accountability(record.by)
    if record.event_class == 0 or record.event_class not in pb.EventClass.values():
        raise VerificationError(
            Code.RECORD_LIMITS, expected="a listed event class", found=str(record.event_class)
        )
    check_text(record.component, MAX_ID_BYTES, "component", least=1)
    check_text(record.before, MAX_ID_BYTES, "before")
    check_text(record.after, MAX_ID_BYTES, "after")
