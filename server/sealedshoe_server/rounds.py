"""Rounds out of the store: openings with proofs, results as they were answered, summaries, evidence.

Everything here is a pure function of committed rows: a dealt round's answer is built again, years later,
to the very bytes that DealRound gave, under the head that first covered its result.
"""

from sealedshoe_audit.baccarat.settlement import INT64_MAX
from sealedshoe_audit.containers import seal_evidence
from sealedshoe_audit.fold.state import TableState
from sealedshoe_audit.log.merkle import leaf_hash
from sealedshoe_audit.names import round_name, table_name
from sealedshoe_audit.records import Record, open_record
from sealedshoe_audit.shoe.commitment import Shoe
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.v1.evidence_pb2 import Evidence, LoggedRecord, PlayerOpening
from sealedshoe_server.answers import logged_at, with_checkpoint
from sealedshoe_server.cosigning import Cosigner
from sealedshoe_server.errors import GameError, Reason
from sealedshoe_server.log_writer import LogWriter
from sealedshoe_server.sealing import SealBroken
from sealedshoe_server.shoes import ShoeMaker
from sealedshoe_server.storage.interface import (
    RoundState,
    StorageFailed,
    Store,
    StoredRound,
    StoredShoe,
)
from sealedshoe_server.v1 import game_service_pb2 as pb_game

_STEP = 64  # records read at a time when walking back along a table


class Rounds:
    """Reads rounds of one log."""

    def __init__(
        self, store: Store, writer: LogWriter, shoes: ShoeMaker, cosigner: Cosigner | None
    ) -> None:
        """Takes its collaborators; without a cosigner heads go out with our signature alone."""
        self._cosigner = cosigner
        self._store = store
        self._writer = writer
        self._shoes = shoes

    def open_round(self, table: TableState, size: int) -> pb_game.OpenRound | None:
        """Returns the open round with its openings proved under the head of this size."""
        if table.round is None or table.shoe is None:
            return None
        stored = self.find(table.table, table.round_number)
        shoe = self._shoe(table.table, table.shoe_number)
        same = shoe.opened_index == stored.opened_index
        return pb_game.OpenRound(
            name=round_name(table.table, table.round_number),
            opening_hash=table.round.opening_hash,
            opening=self._logged(stored.opened_index, size),
            shoe_opening=None if same else self._logged(shoe.opened_index, size),
        )

    def _logged(self, index: int, size: int) -> LoggedRecord:
        return logged_at(index, self._leaf(index), size, self._store.complete_hash)

    def _leaf(self, index: int) -> bytes:
        found = self._store.read(index, 1)
        if not found:
            raise StorageFailed(f"an index names leaf {index}, which is not there")
        return found[0]

    def _record(self, index: int) -> Record:
        return open_record(self._leaf(index))

    def _result(self, stored: StoredRound) -> pb.RoundDealt | pb.RoundVoided:
        """The record that the index names as a round's result."""
        record = self._record(-1 if stored.result_index is None else stored.result_index)
        named = (stored.table, stored.round_number)
        if (
            not isinstance(record, pb.RoundDealt | pb.RoundVoided)
            or (record.link.table, record.round_number) != named
        ):
            raise StorageFailed(f"the index does not name the result of {round_name(*named)}")
        return record

    def _opening(self, table: str, index: int) -> pb.RoundOpened:
        """The record that an index names as an opening."""
        record = self._record(index)
        if not isinstance(record, pb.RoundOpened) or record.link.table != table:
            raise StorageFailed(f"leaf {index} opens nothing at {table_name(table)}")
        return record

    def find(self, table: str, number: int) -> StoredRound:
        """Returns a round of the index.

        Raises:
            GameError: ROUND_NOT_FOUND.
        """
        stored = self._store.round(table, number) if number <= INT64_MAX else None
        if stored is None:
            raise GameError(Reason.ROUND_NOT_FOUND, f"there is no {round_name(table, number)}")
        return stored

    def _shoe(self, table: str, number: int) -> StoredShoe:
        shoe = self._store.shoe(table, number)
        if shoe is None:
            raise StorageFailed(f"shoe {number} of {table} is missing from the index")
        return shoe

    async def answer(self, table: str, number: int) -> bytes:
        """Returns the answer that DealRound gave.

        Raises:
            GameError: ROUND_NOT_FOUND, ROUND_NOT_FINISHED, or SEED_UNAVAILABLE while the shoe is open.
        """
        stored = self.find(table, number)
        if stored.state is not RoundState.DEALT or stored.result_index is None:
            state = stored.state.name.lower()
            raise GameError(
                Reason.ROUND_NOT_FINISHED,
                f"{round_name(table, number)} is {state}",
                metadata={"state": state},
            )
        head = self._store.head_covering(stored.result_index)
        size = head.head.size
        await self._writer.released(size)
        answer = pb_game.DealRoundResponse(
            round=pb_game.DealtRound(
                name=round_name(table, number),
                result=self._logged(stored.result_index, size),
                card_proof=self._card_proof(stored),
                next_round=self._next_round(stored, size),
                no_next_round_reason=stored.no_next_reason,
            )
        ).SerializeToString(deterministic=True)
        return with_checkpoint(answer, self._writer.sign_head(head.text))

    def _next_round(self, stored: StoredRound, size: int) -> pb_game.OpenRound | None:
        """The round opened in the same append, right behind the result."""
        following = self._store.round(stored.table, stored.round_number + 1)
        if following is None or stored.result_index is None or stored.no_next_reason:
            return None
        return pb_game.OpenRound(
            name=round_name(stored.table, following.round_number),
            opening_hash=leaf_hash(self._leaf(following.opened_index)),
            opening=self._logged(following.opened_index, size),
        )

    def _card_proof(self, stored: StoredRound) -> bytes:
        if stored.result_index is None:
            return b""
        record = self._result(stored)
        if isinstance(record, pb.RoundVoided):
            return b""
        first = record.cards[0].position
        shoe = self._cards(stored.table, self._shoe(stored.table, stored.shoe_number))
        return b"".join(shoe.prove(first, first + len(record.cards)))

    def _cards(self, table: str, shoe: StoredShoe) -> Shoe:
        """The cards of any shoe: revealed in the log, or sealed while open."""
        opened = self._opening(table, shoe.opened_index)
        if shoe.closed_index is not None:
            closed = self._record(shoe.closed_index)
            if isinstance(closed, pb.RoundDealt | pb.ShoeRetired) and closed.closing.seed:
                return self._shoes.derive_revealed(table, opened.shoe, closed.closing.seed)
        sealed = self._store.sealed_seed(opened.shoe.seed_commitment)
        try:
            if sealed is None:
                raise SealBroken("the sealed seed is gone")
            return self._shoes.reopen(table, opened.shoe, sealed)
        except SealBroken as error:
            raise GameError(
                Reason.SEED_UNAVAILABLE, "the shoe's seed cannot be had; the log has the result"
            ) from error

    def summary(self, stored: StoredRound) -> pb_game.RoundSummary:
        """Returns a row of a listing."""
        summary = pb_game.RoundSummary(
            name=round_name(stored.table, stored.round_number),
            state=pb_game.RoundState.ValueType(stored.state),
            shoe_number=stored.shoe_number,
            opening_index=stored.opened_index,
        )
        summary.open_time.FromMicroseconds(stored.opened_us)
        if stored.result_index is not None:
            summary.result.index = stored.result_index
            summary.result.envelope = self._leaf(stored.result_index)
        return summary

    def sequence_before_open_round(self, table: TableState) -> int:
        """Returns the sequence after which a watcher sees the open round from its RoundOpened on."""
        if table.round is None:
            return table.sequence
        stored = self.find(table.table, table.round_number)
        return self._opening(table.table, stored.opened_index).link.sequence - 1

    async def evidence(self, table: str, number: int, player: str) -> bytes:
        """Returns a round's evidence file under the newest checkpoint, cosigned if possible.

        Args:
            player: open only this player's commitments; "" for every player of the round.

        Raises:
            GameError: ROUND_NOT_FOUND or ROUND_NOT_FINISHED.
        """
        stored = self.find(table, number)
        if stored.result_index is None:
            raise GameError(
                Reason.ROUND_NOT_FINISHED,
                f"{round_name(table, number)} has no result yet",
                metadata={"state": "open"},
            )
        indexes = self._evidence_indexes(stored)
        await self._writer.released(indexes[-1] + 1)
        size, note = self._newest_head(indexes[-1])
        changes = [index for index in self._store.key_changes() if index < size]
        players = [
            PlayerOpening(wager_id=row.wager_id, salt=row.salt, reference=row.reference)
            for row in self._store.players(table, number)
            if player in ("", row.reference)
        ]
        evidence = Evidence(
            round_number=number,
            records=[self._logged(index, size) for index in sorted({*indexes, *changes})],
            card_proof=self._card_proof(stored),
            players=players,
            checkpoint=note,
            cosigned_head=self._cosigned_before(stored),
        )
        return seal_evidence(evidence)

    def _newest_head(self, index: int) -> tuple[int, bytes]:
        """The newest cosigned head if it covers the leaf, else the newest head."""
        published = self._writer.published
        if self._cosigner is not None and self._cosigner.newest.size > index:
            return self._cosigner.newest.size, self._cosigner.newest.note
        return published.head.head.size, published.note

    def _cosigned_before(self, stored: StoredRound) -> bytes:
        """The cosigned head that the round's opening names, if it names one."""
        named = self._opening(stored.table, stored.opened_index).cosigned_head_hash
        return (self._store.cosigned(named) or b"") if named else b""

    def _evidence_indexes(self, stored: StoredRound) -> list[int]:
        """LogStarted, game, settings, the shoe's opening, the chain, the reveal: in leaf order."""
        created = self._store.table_entries(stored.table, 0, 1)[0]
        settings = open_record(created[2])
        if not isinstance(settings, pb.TableChanged) or stored.result_index is None:
            raise StorageFailed("a table's first record creates it")
        chain = self._chain(stored.table, self._result(stored).link.sequence)
        indexes = {0, self._game_index(settings.settings), created[1], *chain}
        first = self._record(chain[0])
        shoe = self._shoe(stored.table, stored.shoe_number)
        if isinstance(first, pb.RoundDealt) and not first.HasField("closing"):
            previous = self.find(stored.table, first.round_number)
            indexes.add(self._shoe(stored.table, previous.shoe_number).opened_index)
        if shoe.closed_index is not None:
            indexes.add(shoe.closed_index)
        return sorted(indexes)

    def _game_index(self, settings: pb.TableSettings) -> int:
        for index in self._store.games():
            record = self._record(index)
            if isinstance(record, pb.GameInstalled):
                game = record.definition
                if (game.game_id, game.version) == (settings.game_id, settings.game_version):
                    return index
        raise StorageFailed("the table's game is missing from the index")

    def _chain(self, table: str, result_sequence: int) -> list[int]:
        """Leaf indexes from the previous result, or the table's creation, to this one."""
        chain: list[int] = []
        below = result_sequence
        while True:
            start = max(0, below - _STEP)
            rows = self._store.table_entries(table, start, below - start)
            for sequence, index, envelope in reversed(rows):
                chain.append(index)
                earlier = sequence < result_sequence
                if earlier and isinstance(open_record(envelope), pb.RoundDealt):
                    return chain[::-1]
            if start == 0:
                return chain[::-1]
            below = start
