"""What a front-end does, for the demo and the terminal player: keep openings, deal, check every answer.

A front-end needs nothing but the generated stubs; this module adds the checks that a player's own device
would make with `sealedshoe_audit`, on every answer.
"""

from dataclasses import dataclass

import grpc

from sealedshoe_audit.containers import seal_receipt
from sealedshoe_audit.envelope import parse_envelope, verify_envelope
from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.checkpoint import verify_checkpoint
from sealedshoe_audit.log.merkle import leaf_hash, split_hashes
from sealedshoe_audit.records import Record, open_record, parse_record
from sealedshoe_audit.shoe.commitment import card_leaf, verify_card_range
from sealedshoe_audit.signing import SigningKey
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.v1.evidence_pb2 import LoggedRecord, Receipt
from sealedshoe_audit.verify.evidence import verify_included
from sealedshoe_rng import OsSource
from sealedshoe_server.v1 import game_service_pb2 as pb_game
from sealedshoe_server.v1.audit_service_pb2 import ReadRecordsRequest
from sealedshoe_server.v1.audit_service_pb2_grpc import AuditServiceStub

TIMEOUT_S = 10.0


def new_request_id() -> str:
    """Returns a fresh request id."""
    return OsSource().read(16).hex()


def statement_key(channel: grpc.Channel) -> bytes:
    """Returns the statement key that the log's first record names; what it signs is then checked.

    Raises:
        VerificationError: RECORD_ORDER: the log begins with something else.
    """
    request = ReadRecordsRequest(limit=1)
    for answer in AuditServiceStub(channel).ReadRecords(request, timeout=TIMEOUT_S):
        record = open_record(answer.envelopes[0])
        if isinstance(record, pb.LogStarted):
            return record.statement_key
    raise VerificationError(Code.RECORD_ORDER, expected="LogStarted", found="another record")


@dataclass(slots=True)
class Opening:
    """What a player holds before betting.

    Attributes:
        shoe: the shoe's opening, as committed.
        logged, checkpoint: the round's opening with its proof: the receipt.
    """

    round: str
    opening_hash: bytes
    shoe: pb.ShoeOpening
    logged: LoggedRecord
    checkpoint: bytes

    def receipt(self) -> bytes:
        """Returns the receipt file that proves this opening was held."""
        return seal_receipt(Receipt(opening=self.logged, checkpoint=self.checkpoint))


class Checker:
    """Checks answers against a trust file, as a player's device would."""

    def __init__(self, trust: Trust, statement_key: bytes) -> None:
        """Takes what is trusted.

        Args:
            statement_key: from the log's verified first record.
        """
        self._trust = trust
        self._key = SigningKey.of(statement_key)

    def record(self, logged: LoggedRecord, checkpoint: bytes) -> Record:
        """Returns a record that is signed and included.

        Raises:
            VerificationError: it is not.
        """
        head = verify_checkpoint(checkpoint, self._trust).checkpoint
        envelope = parse_envelope(logged.envelope)
        verify_envelope(envelope, self._key)
        verify_included(logged, head)
        return parse_record(envelope)

    def opening(
        self, opened: pb_game.OpenRound, checkpoint: bytes, shoe: pb.ShoeOpening | None
    ) -> Opening:
        """Returns a checked opening.

        Args:
            shoe: of the round before, for rounds that go on dealing from it.

        Raises:
            VerificationError: it is not what it seems.
        """
        record = self.record(opened.opening, checkpoint)
        found = leaf_hash(opened.opening.envelope)
        if not isinstance(record, pb.RoundOpened) or found != opened.opening_hash:
            raise VerificationError(
                Code.OPENING_MISMATCH, expected=opened.opening_hash.hex(), found=found.hex()
            )
        if record.HasField("shoe"):
            shoe = record.shoe
        elif opened.HasField("shoe_opening"):
            shoe = self._shoe_opening(opened, record, checkpoint)
        if shoe is None:
            raise VerificationError(Code.SHOE_OPENING, expected="the shoe's opening", found="none")
        return Opening(opened.name, opened.opening_hash, shoe, opened.opening, checkpoint)

    def _shoe_opening(
        self, opened: pb_game.OpenRound, record: pb.RoundOpened, checkpoint: bytes
    ) -> pb.ShoeOpening:
        first = self.record(opened.shoe_opening, checkpoint)
        leaf = leaf_hash(opened.shoe_opening.envelope)
        if not isinstance(first, pb.RoundOpened) or leaf != record.shoe_opening_hash:
            raise VerificationError(
                Code.SHOE_OPENING, expected=record.shoe_opening_hash.hex(), found=leaf.hex()
            )
        return first.shoe

    def result(
        self, opening: Opening, answer: pb_game.DealtRound, checkpoint: bytes
    ) -> pb.RoundDealt:
        """Returns the result of a round whose cards are the ones committed to in its opening.

        Raises:
            VerificationError: they are not.
        """
        record = self.record(answer.result, checkpoint)
        if not isinstance(record, pb.RoundDealt) or record.opening_hash != opening.opening_hash:
            raise VerificationError(
                Code.OPENING_MISMATCH, expected=opening.opening_hash.hex(), found="another round"
            )
        shoe = opening.shoe
        leaves = [card_leaf(card.salt, card.position, card.card) for card in record.cards]
        verify_card_range(
            shoe.cards_root,
            shoe.cards,
            shoe.reach,
            record.cards[0].position,
            leaves,
            split_hashes(answer.card_proof),
        )
        return record
