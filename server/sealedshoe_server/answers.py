"""Answers as bytes: built once inside the append, completed with the signed checkpoint on release.

Every answer message has its checkpoint in field 15, the last: appending that field to the stored bytes
gives the whole message, and as the signature is deterministic, a retry gets the same bytes.
"""

from collections.abc import Sequence

from sealedshoe_audit.errors import VerificationError
from sealedshoe_audit.log.merkle import (
    CompleteHash,
    inclusion_ranges,
    leaf_hash,
    range_hash,
    root_at,
    verify_inclusion,
)
from sealedshoe_audit.names import round_name
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.v1.evidence_pb2 import LoggedRecord
from sealedshoe_server.dealing.draft import Draft, Entry
from sealedshoe_server.storage.interface import Placement, StorageFailed
from sealedshoe_server.v1 import game_service_pb2 as game_pb
from sealedshoe_server.v1 import operator_service_pb2 as operator_pb

_CHECKPOINT_TAG = bytes([15 << 3 | 2])


def with_checkpoint(answer: bytes, note: bytes) -> bytes:
    """Returns the whole answer: its stored part, and the signed checkpoint as field 15."""
    size = len(note)
    varint = bytearray()
    while size > 0x7F:
        varint.append(size & 0x7F | 0x80)
        size >>= 7
    varint.append(size)
    return answer + _CHECKPOINT_TAG + bytes(varint) + note


def logged(entry: Entry, offset: int, placement: Placement) -> LoggedRecord:
    """Returns a batch's record with its proof under the group's head."""
    return LoggedRecord(
        index=placement.first_index + offset,
        envelope=entry.envelope,
        inclusion_path=placement.inclusion_path(offset),
    )


def logged_alone(envelope: bytes, placement: Placement) -> LoggedRecord:
    """Returns a batch's only record with its proof under the group's head."""
    return LoggedRecord(
        index=placement.first_index,
        envelope=envelope,
        inclusion_path=placement.inclusion_path(0),
    )


def logged_at(index: int, envelope: bytes, size: int, complete: CompleteHash) -> LoggedRecord:
    """Returns a stored record with its proof under the head of this size.

    Raises:
        StorageFailed: the stored hashes do not prove it; nobody is handed a proof that fails.
    """
    path = [range_hash(low, high, complete) for low, high in inclusion_ranges(index, size)]
    try:
        verify_inclusion(index, size, leaf_hash(envelope), path, root_at(size, complete))
    except VerificationError as error:
        raise StorageFailed(f"leaf {index} does not lead to the head of {size} records") from error
    return LoggedRecord(index=index, envelope=envelope, inclusion_path=b"".join(path))


def records_of(draft: Draft, placement: Placement) -> list[LoggedRecord]:
    """Returns all records of a draft with their proofs."""
    return [logged(entry, offset, placement) for offset, entry in enumerate(draft.entries)]


def opened_round(draft: Draft, placement: Placement) -> game_pb.OpenRound | None:
    """Returns the round that a draft opened, if it did."""
    offset = len(draft.entries) - 1
    entry = draft.entries[offset]
    if not isinstance(entry.record, pb.RoundOpened):
        return None
    return game_pb.OpenRound(
        name=round_name(draft.table.table, entry.record.round_number),
        opening_hash=entry.leaf,
        opening=logged(entry, offset, placement),
    )


def dealt_round(draft: Draft, card_proof: Sequence[bytes], placement: Placement) -> bytes:
    """Returns DealRound's answer without its checkpoint."""
    result = draft.entries[0]
    if not isinstance(result.record, pb.RoundDealt):
        raise TypeError("the draft deals no round")
    return game_pb.DealRoundResponse(
        round=game_pb.DealtRound(
            name=round_name(draft.table.table, result.record.round_number),
            result=logged(result, 0, placement),
            card_proof=b"".join(card_proof),
            next_round=opened_round(draft, placement),
            no_next_round_reason=draft.no_round_reason,
        )
    ).SerializeToString(deterministic=True)


def accepted_wagers(draft: Draft, placement: Placement) -> bytes:
    """Returns PlaceWagers' answer without its checkpoint."""
    return game_pb.PlaceWagersResponse(
        accepted=logged(draft.entries[0], 0, placement)
    ).SerializeToString(deterministic=True)


def created_table(draft: Draft, placement: Placement) -> bytes:
    """Returns CreateTable's answer without its checkpoint."""
    return operator_pb.CreateTableResponse(
        table=f"tables/{draft.table.table}", round=opened_round(draft, placement)
    ).SerializeToString(deterministic=True)


def changed_state(draft: Draft, placement: Placement) -> bytes:
    """Returns SetTableState's answer without its checkpoint."""
    return operator_pb.SetTableStateResponse(
        state=draft.table.state, records=records_of(draft, placement)
    ).SerializeToString(deterministic=True)


def voided_round(draft: Draft, placement: Placement) -> bytes:
    """Returns VoidRound's answer without its checkpoint."""
    return operator_pb.VoidRoundResponse(records=records_of(draft, placement)).SerializeToString(
        deterministic=True
    )


def retired_shoe(draft: Draft, placement: Placement) -> bytes:
    """Returns RetireShoe's answer without its checkpoint."""
    return operator_pb.RetireShoeResponse(records=records_of(draft, placement)).SerializeToString(
        deterministic=True
    )
