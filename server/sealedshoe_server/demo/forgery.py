"""What an operator with the real keys could do to a log's past: cut winnings, and sign it all again.

The forged log is sound in itself: every signature, chain, proof and settlement holds. Only somebody who kept
an older head can tell.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sealedshoe_audit.baccarat.rules import deal
from sealedshoe_audit.definition_record import read_definition
from sealedshoe_audit.fold.result import settlements
from sealedshoe_audit.log.merkle import Frontier, leaf_hash
from sealedshoe_audit.names import round_name
from sealedshoe_audit.records import Record, open_record
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.statements import Statements


@dataclass(frozen=True, slots=True)
class Forgery:
    """A forged log, and what was changed in it."""

    entries: list[bytes]
    round: str
    leaf: int
    paid_before: int
    paid_after: int


def rewrite_result(entries: Sequence[bytes], key: Ed25519PrivateKey) -> Forgery:
    """Returns the log with one winner paid on the smallest stake instead of the real one.

    Raises:
        LookupError: no round can be changed so.
    """
    records = [open_record(entry) for entry in entries]
    index, position = _victim(records)
    before = records[index]
    if not isinstance(before, pb.RoundDealt):
        raise LookupError("no round was dealt")
    changed = _cut(before, position, records)
    statements = Statements(key)
    forged = list(entries[:index])
    tree = Frontier()
    roots = [tree.root()]
    for entry in forged:
        tree.append(leaf_hash(entry))
        roots.append(tree.root())
    leaves: dict[bytes, bytes] = {}
    for old, record in zip(entries[index:], [changed, *records[index + 1 :]], strict=True):
        _mend(record, lambda leaf: leaves.get(leaf, leaf), roots)
        entry = statements.sign(record)
        leaves[leaf_hash(old)] = leaf_hash(entry)
        forged.append(entry)
        tree.append(leaf_hash(entry))
        roots.append(tree.root())
    name = round_name(before.link.table, before.round_number)
    paid = (_paid(before, position), _paid(changed, position))
    return Forgery(forged, name, index, *paid)


def _victim(records: Sequence[Record]) -> tuple[int, int]:
    """A winning wager that came with the deal: none that stands in a record of its own."""
    standing: set[str] = set()
    for index, record in enumerate(records):
        if isinstance(record, pb.WagersAccepted):
            standing |= {wager.wager_id for wager in record.wagers}
        if isinstance(record, pb.RoundDealt):
            minimum = _settings(records, record.link.table).limits.minimum
            for position, settled in enumerate(record.settlements):
                wins = settled.gross_return > settled.wager.stake > minimum
                if wins and settled.wager.wager_id not in standing:
                    return index, position
    raise LookupError("nobody won with a deal")


def _settings(records: Sequence[Record], table: str) -> pb.TableSettings:
    for record in records:
        if isinstance(record, pb.TableChanged) and record.link.table == table:
            return record.settings
    raise LookupError(table)


def _cut(record: pb.RoundDealt, position: int, records: Sequence[Record]) -> pb.RoundDealt:
    """The same deal, with one stake lowered and the settlement worked out by the rules."""
    settings = _settings(records, record.link.table)
    definition = next(
        other.definition
        for other in records
        if isinstance(other, pb.GameInstalled) and other.definition.game_id == settings.game_id
    )
    wagers = [settled.wager for settled in record.settlements]
    wagers[position].stake = settings.limits.minimum
    cards = bytes(card.card for card in record.cards)
    changed = pb.RoundDealt()
    changed.CopyFrom(record)
    del changed.settlements[:]
    settled = settlements(read_definition(definition), deal(cards), wagers)
    changed.settlements.extend(settled)
    return changed


def _mend(record: Record, leaf: Callable[[bytes], bytes], roots: Sequence[bytes]) -> None:
    """Puts the forged hashes in place of the real ones that a record names."""
    if isinstance(
        record,
        pb.TableChanged
        | pb.RoundOpened
        | pb.WagersAccepted
        | pb.RoundDealt
        | pb.RoundVoided
        | pb.ShoeRetired,
    ):
        record.link.previous_hash = leaf(record.link.previous_hash)
    if isinstance(record, pb.WagersAccepted | pb.RoundDealt | pb.RoundVoided):
        record.opening_hash = leaf(record.opening_hash)
    if isinstance(record, pb.RoundOpened | pb.ShoeRetired):
        record.shoe_opening_hash = leaf(record.shoe_opening_hash)
    if isinstance(record, pb.RoundOpened):
        record.head_root = roots[record.head_size]
        record.cosigned_head_hash = b""


def _paid(record: pb.RoundDealt, position: int) -> int:
    settled = record.settlements[position]
    return settled.gross_return - settled.commission
