"""A forged log and the one that takes over from it: closed and rotated, or lost and recovered."""

from collections.abc import Callable
from typing import Any

from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.verify.handover import EndOfLog, check_handover
from sealedshoe_audit.verify.log import LogOptions, verify_log
from sealedshoe_audit.verify.report import Finding
from tests.audit.forge.log import BY, ForgedLog, key, nth, public
from tests.audit.forge.published import MemorySource, check_log, publish
from tests.audit.forge.table import ForgedTable
from tests.audit.forge.tree import root_of

NEXT = "log.example/sealed-shoe-2"
NEXT_KEYS = 40  # added to the successor's key numbers
ROTATION, RECOVERY = "rotation", "recovery"

Change = Callable[[Any], object]


def unchanged(_: Any) -> None:
    """Changes nothing."""


def close_for(log: ForgedLog, origin: str = NEXT, root_key: bytes | None = None) -> None:
    """Adds the last leaf, which names a successor."""
    root = public(key(1 + NEXT_KEYS)) if root_key is None else root_key
    log.append(
        pb.LogClosed(header=log.header(), successor_origin=origin, successor_root_key=root, by=BY)
    )


def successor_of(
    log: ForgedLog, reason: str, change: Change = unchanged, tamper: Change = unchanged
) -> ForgedLog:
    """Returns a log that names another's head as it stands now.

    Args:
        change: of the Predecessor that it names.
        tamper: of every record.
    """
    named = pb.Predecessor(
        origin=log.origin, size=len(log.entries), root=root_of(log.leaves), reason=reason
    )
    change(named)
    name = nth(pb.LogStarted, 1, lambda record: record.predecessor.CopyFrom(named))

    def hook(record: Any) -> None:
        name(record)
        tamper(record)

    return ForgedLog(hook, origin=NEXT, keys=NEXT_KEYS)


def reveal_shoe(
    successor: ForgedLog, table: ForgedTable, change: Change = unchanged
) -> pb.PredecessorShoeRevealed:
    """Adds the reveal of a table's open shoe, and returns its stakes."""
    assert table.shoe is not None
    opening = next(
        record.shoe
        for record in reversed(table.log.records)
        if isinstance(record, pb.RoundOpened)
        and record.link.table == table.name
        and record.HasField("shoe")
    )
    is_open = table.round_number in table.rounds and not _ended(table)
    record = pb.PredecessorShoeRevealed(
        header=successor.header(),
        table=table.name,
        shoe_opening_hash=table.shoe_opening,
        opening=opening,
        closing=pb.ShoeClosing(seed=table.shoe.seed, cards_dealt=table.position),
        round_number=table.round_number if is_open else 0,
        returned=[pb.ReturnedStake(wager_id=w.wager_id, stake=w.stake) for w in table.standing],
    )
    change(record)
    successor.append(record)
    return record


def _ended(table: ForgedTable) -> bool:
    return any(
        isinstance(record, pb.RoundDealt | pb.RoundVoided)
        and record.link.table == table.name
        and record.round_number == table.round_number
        for record in table.log.records
    )


def hand_over(old: ForgedLog, new: ForgedLog) -> list[Finding]:
    """Verifies both logs, standing still in the old one at the head that the new one names."""
    report = check_log(new)
    assert report.fold is not None
    named = report.fold.predecessor
    end = EndOfLog()
    stop = None if named is None else (named.size, end.take)
    source = MemorySource(publish(old))
    options = LogOptions(stop_at=stop)
    before = verify_log(source, old.trust(), old.time_us, lambda *_: None, options)
    crossed = check_handover(end, report.fold, report.fold.root_key)
    return [*before.findings, *report.findings, *crossed]
