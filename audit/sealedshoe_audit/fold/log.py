"""The fold over a whole log: every leaf's signature, header, order and effect on the state."""

from typing import NamedTuple

from sealedshoe_audit.baccarat.definition import GameDefinition
from sealedshoe_audit.envelope import parse_envelope
from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.fold import table as table_fold
from sealedshoe_audit.fold.heads import RecentHeads
from sealedshoe_audit.fold.house import (
    check_event,
    check_game,
    check_header,
    check_inherited_shoe,
    check_log_closed,
    check_table_id,
    stamped_head,
)
from sealedshoe_audit.fold.keys import (
    RECOVERY,
    LogKeys,
    check_sealing,
    check_signer,
    first_keys,
    keys_after,
)
from sealedshoe_audit.fold.reveal import Dealt, check_reveal, dealt_cards
from sealedshoe_audit.fold.seeds import SeedRegister, SeedSet
from sealedshoe_audit.fold.state import OpenShoe, TableState
from sealedshoe_audit.log.merkle import Frontier, leaf_hash
from sealedshoe_audit.records import Record, TableRecord, parse_known_record, parse_record
from sealedshoe_audit.shoe.commitment import Shoe
from sealedshoe_audit.v1 import records_pb2 as pb


class Reveal(NamedTuple):
    """A shoe whose seed a record reveals, and every card that was dealt from it."""

    table: str
    opened: OpenShoe
    seed: bytes
    dealt: tuple[Dealt, ...]

    def check(self, origin: str) -> Shoe:
        """Replays the shoe.

        Raises:
            VerificationError: as `check_reveal`.
        """
        return check_reveal(origin, self.table, self.opened.opening, self.seed, self.dealt)


class Vouched(NamedTuple):
    """What somebody else found out about a leaf already: it and its record are canonical, and ...

    Attributes:
        hashed: its leaf hash.
        signer: the public key whose signature on it is good.
    """

    hashed: bytes
    signer: bytes


class Applied(NamedTuple):
    """One leaf that passed every check.

    Attributes:
        before, after: the table's state around it; None for records that are no table's.
        reveal: the shoe that the record closed, if its seed is there; replayed already unless the fold
            was told to leave that to its caller.
        counter_gap: seeds that the RNG instance drew and no opening shows; below 0: a counter again.
    """

    leaf_index: int
    record: Record
    before: TableState | None = None
    after: TableState | None = None
    reveal: Reveal | None = None
    counter_gap: int = 0


class LogFold:
    """State of a log as its leaves are applied in order; a leaf that fails changes no table.

    Attributes:
        completed: subtrees that the last leaf completed, as (level, hash).
        inherited: shoes of a predecessor that this log reveals.
    """

    def __init__(
        self,
        origin: str,
        root_key: bytes,
        *,
        replay_shoes: bool = True,
    ) -> None:
        """Starts before the first leaf of the log that the first two name.

        Args:
            replay_shoes: check revealed seeds in `apply`; else the caller checks `Applied.reveal`.
        """
        self.origin = origin
        self.frontier = Frontier()
        self.completed: list[tuple[int, bytes]] = []
        self.games: dict[tuple[str, int], GameDefinition] = {}
        self.tables: dict[str, TableState] = {}
        self.keys: LogKeys | None = None
        self.predecessor: pb.Predecessor | None = None
        self.inherited: list[pb.PredecessorShoeRevealed] = []
        self.closing: pb.LogClosed | None = None
        self.heads = RecentHeads()
        self.dealt: dict[str, list[Dealt]] = {}
        self.counters: dict[bytes, int] = {}
        self.may_inherit = False
        self.root_key = root_key
        self._replay_shoes = replay_shoes
        self._seeds: SeedRegister = SeedSet()

    def register_seeds_in(self, seeds: SeedRegister) -> None:
        """Keeps seed commitments elsewhere than in memory."""
        self._seeds = seeds

    def apply(self, leaf: bytes, vouched: Vouched | None = None) -> Applied:
        """Checks one leaf and takes it in.

        1. It has its place in the tree, whatever it says.
        2. It is a canonical envelope, signed by the statement key in force.
        3. It is a canonical record of this log and of version 1.
        4. Its kind may stand here, and its content holds.

        Raises:
            VerificationError: with the code of the first check that failed.
        """
        index = self.frontier.size
        hashed = leaf_hash(leaf) if vouched is None else vouched.hashed
        self.completed = [(level, node) for level, _, node in self.frontier.append(hashed)]
        self.heads.grow(self.frontier)
        if vouched is None:
            envelope = parse_envelope(leaf)
            record = parse_record(envelope)
        else:
            envelope = pb.Envelope.FromString(leaf)
            record = parse_known_record(envelope)
        if isinstance(record, pb.LogStarted):
            self._start(index, record)
        if self.keys is None:
            raise VerificationError(Code.RECORD_ORDER, expected="LogStarted", found="another kind")
        check_signer(envelope, record, self.keys, b"" if vouched is None else vouched.signer)
        check_header(record.header, self.origin)
        if self.closing is not None:
            raise VerificationError(Code.LOG_CLOSED, expected="no leaf", found=str(index))
        return self._dispatch(index, record, hashed, self.keys)

    def _start(self, index: int, record: pb.LogStarted) -> None:
        if index != 0:
            raise VerificationError(Code.RECORD_ORDER, expected="index 0", found=str(index))
        self.keys = first_keys(record, self.origin, self.root_key)
        if record.HasField("predecessor"):
            self.predecessor = record.predecessor
            self.may_inherit = record.predecessor.reason == RECOVERY

    def _dispatch(self, index: int, record: Record, hashed: bytes, keys: LogKeys) -> Applied:
        match record:
            case pb.RoundDealt() | pb.RoundOpened() | pb.WagersAccepted():  # nearly all records
                self.may_inherit = False
                return self._apply_table(index, record, hashed, keys)
            case pb.LogStarted():
                return Applied(index, record)
            case pb.PredecessorShoeRevealed():
                self._inherit(record)
                return Applied(index, record)
            case pb.GameInstalled():
                self._install(record)
            case pb.KeyChanged():
                self.keys = keys_after(keys, record, index)
            case pb.EventRecorded():
                check_event(record)
            case pb.TimeStamped():
                head = stamped_head(record, self.origin)
                self._check_head(head.size, head.root)
            case pb.LogClosed():
                self._close(record)
            case _:
                self.may_inherit = False
                return self._apply_table(index, record, hashed, keys)
        self.may_inherit = False
        return Applied(index, record)

    def _inherit(self, record: pb.PredecessorShoeRevealed) -> None:
        if not self.may_inherit or self.predecessor is None:
            raise VerificationError(
                Code.RECORD_ORDER, expected="no predecessor's shoe here", found=record.table[:40]
            )
        check_inherited_shoe(record, self.predecessor.origin)
        self.inherited.append(record)

    def _install(self, record: pb.GameInstalled) -> None:
        game = check_game(record)
        key = (game.game_id, game.version)
        if key in self.games:
            raise VerificationError(
                Code.GAME_DEFINITION, expected="a new version", found=f"{key} again"
            )
        self.games[key] = game

    def _close(self, record: pb.LogClosed) -> None:
        check_log_closed(record)
        open_shoes = [name for name, state in self.tables.items() if state.shoe is not None]
        if open_shoes:
            raise VerificationError(
                Code.LOG_CLOSED, expected="no open shoe", found=", ".join(open_shoes[:5])
            )
        self.closing = record

    def _apply_table(
        self, index: int, record: TableRecord, hashed: bytes, keys: LogKeys
    ) -> Applied:
        name = record.link.table
        before = self.tables.get(name)
        if before is None:
            after = self._create(record, hashed)
            self.tables[name] = after
            return Applied(index, record, None, after)
        after = table_fold.evolve(before, record, hashed)
        reveal, gap = None, 0
        if isinstance(record, pb.RoundOpened):
            gap = self._check_opening(record, keys)
        elif isinstance(record, pb.RoundDealt):
            self.dealt.setdefault(name, []).extend(dealt_cards(record))
        if before.shoe is not None and after.shoe is None:
            reveal = self._reveal(name, before.shoe, record)
        self.tables[name] = after
        return Applied(index, record, before, after, reveal, gap)

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

    def _check_opening(self, record: pb.RoundOpened, keys: LogKeys) -> int:
        self._check_head(record.head_size, record.head_root)
        if not record.HasField("shoe"):
            return 0
        opening = record.shoe
        check_sealing(keys, opening)
        if not self._seeds.take(opening.seed_commitment, self.frontier.size - 1):
            raise VerificationError(
                Code.DUPLICATE_SEED, expected="a new seed", found=opening.seed_commitment.hex()
            )
        last = self.counters.get(opening.rng_instance, 0)
        self.counters[opening.rng_instance] = max(last, opening.shoe_counter)
        return opening.shoe_counter - last - 1

    def _check_head(self, size: int, root: bytes) -> None:
        """The named head is a recent prefix of this very log, without the leaf that names it."""
        found = self.heads.root(size) if size < self.frontier.size else None
        if found is None or found != root:
            raise VerificationError(
                Code.HEAD_MISMATCH,
                expected=f"a head of this log, size {self.heads.oldest} or more",
                found=f"size {size}, root {root.hex()}",
            )

    def _reveal(self, name: str, opened: OpenShoe, record: TableRecord) -> Reveal | None:
        dealt = self.dealt.pop(name, [])
        if not isinstance(record, pb.RoundDealt | pb.ShoeRetired):
            raise VerificationError(Code.SHOE_STATE, expected="a reveal", found="none")
        if isinstance(record, pb.ShoeRetired) and record.seed_unavailable:
            return None
        reveal = Reveal(name, opened, record.closing.seed, tuple(dealt))
        if self._replay_shoes:
            reveal.check(self.origin)
        return reveal
