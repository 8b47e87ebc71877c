"""A draft as the batch that the store appends: entries, snapshot, and rows for the indexes."""

from collections.abc import Callable, Sequence

from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.dealing.draft import Draft
from sealedshoe_server.dealing.wagers import Offer
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


def batch_of(
    draft: Draft,
    expected_sequence: int,
    offers: Sequence[Offer],
    request: Request | None,
    answer: Callable[[Draft, Placement], bytes],
) -> Batch:
    """Returns the batch.

    Args:
        expected_sequence: of the table when the decision was made; 0 for a new one.
        offers: wagers taken by this draft, whose players' names go into the erasable table.
    """
    table = draft.table
    entries = tuple(
        NewEntry(entry.envelope, entry.leaf, table.table, entry.record.link.sequence)
        for entry in draft.entries
    )
    write = TableWrite(
        table.table,
        expected_sequence,
        table.sequence,
        table.snapshot().SerializeToString(),
        draft.no_round_reason,
        (*_player_rows(draft, offers), *_rows(draft)),
    )
    return Batch(entries, write, request, lambda placement: answer(draft, placement))


def _player_rows(draft: Draft, offers: Sequence[Offer]) -> list[TableRow]:
    if not offers:
        return []
    record = draft.entries[0].record
    number = record.round_number if isinstance(record, pb.RoundDealt) else draft.table.round_number
    return [PlayerRow(number, offer.wager_id, offer.player, offer.salt) for offer in offers]


def _rows(draft: Draft) -> list[TableRow]:
    rows: list[TableRow] = []
    for offset, entry in enumerate(draft.entries):
        record = entry.record
        if isinstance(record, pb.RoundDealt | pb.RoundVoided):
            dealt = isinstance(record, pb.RoundDealt)
            state = RoundState.DEALT if dealt else RoundState.VOIDED
            rows.append(RoundEndedRow(record.round_number, state, offset, draft.no_round_reason))
        if isinstance(record, pb.RoundOpened):
            rows += _opened_rows(draft, record, offset)
        closes = isinstance(record, pb.RoundDealt) and record.HasField("closing")
        if closes or isinstance(record, pb.ShoeRetired):
            rows.append(ShoeClosedRow(_closed_shoe(draft, offset), offset))
    return rows


def _opened_rows(draft: Draft, record: pb.RoundOpened, offset: int) -> list[TableRow]:
    shoe_number = draft.table.shoe_number
    rows: list[TableRow] = [
        RoundOpenedRow(record.round_number, shoe_number, record.header.time_us, offset)
    ]
    if draft.new_shoe is not None:
        opening = draft.new_shoe.opening
        rows.append(
            ShoeOpenedRow(
                opening.shoe_number, offset, opening.seed_commitment, draft.new_shoe.sealed
            )
        )
    return rows


def _closed_shoe(draft: Draft, offset: int) -> int:
    """A draft opens at most one shoe, and only after it closed the one before."""
    later = draft.entries[offset + 1 :]
    opens = any(
        isinstance(entry.record, pb.RoundOpened) and entry.record.HasField("shoe")
        for entry in later
    )
    return draft.table.shoe_number - opens
