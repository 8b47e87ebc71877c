"""Evidence files and receipts out of a forged log, chosen by design section 4.8 and by nothing else."""

from typing import Any

from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.v1.evidence_pb2 import Evidence, LoggedRecord, PlayerOpening, Receipt
from tests.audit.forge.log import ForgedLog
from tests.audit.forge.table import ForgedTable, player_of

Numbered = tuple[int, Any]


def logged(log: ForgedLog, index: int, size: int | None = None) -> LoggedRecord:
    """Returns a leaf with its path under the head of `size` leaves."""
    return LoggedRecord(
        index=index, envelope=log.entries[index], inclusion_path=log.path(index, size)
    )


def make_evidence(table: ForgedTable, number: int) -> Evidence:
    """Returns one round's evidence under the log's newest head; not sealed yet."""
    log, script = table.log, table.rounds[number]
    chosen = chosen_records(table, number)
    target = next(r for _, r in chosen if _ends(r, number))
    evidence = Evidence(round_number=number, checkpoint=log.note())
    evidence.records.extend(logged(log, index) for index, _ in chosen)
    if isinstance(target, pb.RoundDealt):
        end = script.first + len(script.dealt.cards)
        evidence.card_proof = script.shoe.prove(script.first, end)
    for wager_id in _wager_ids(chosen, target):
        salt, reference = player_of(wager_id)
        evidence.players.append(PlayerOpening(wager_id=wager_id, salt=salt, reference=reference))
    return evidence


def make_receipt(table: ForgedTable, number: int, size: int | None = None) -> Receipt:
    """Returns the player's receipt of a round's opening; by default under the first head with it."""
    index = opening_index(table, number)
    size = size or index + 1
    return Receipt(opening=logged(table.log, index, size), checkpoint=table.log.note(size))


def opening_index(table: ForgedTable, number: int) -> int:
    """Returns the leaf index of a round's opening."""
    return next(
        i for i, r in _mine(table) if isinstance(r, pb.RoundOpened) and r.round_number == number
    )


def result_index(table: ForgedTable, number: int) -> int:
    """Returns the leaf index of a round's result or void."""
    return next(i for i, r in _mine(table) if _ends(r, number))


def chosen_records(table: ForgedTable, number: int) -> list[Numbered]:
    """Returns the records of one round's story, ascending."""
    mine = _mine(table)
    target = next(n for n, (_, record) in enumerate(mine) if _ends(record, number))
    first = target - 1
    while first > 0 and not isinstance(mine[first][1], pb.RoundDealt):
        first -= 1
    chosen = [*_common(table), mine[0], *mine[first : target + 1]]
    previous = mine[first][1]
    if isinstance(previous, pb.RoundDealt) and not previous.HasField("closing"):
        chosen += [item for item in mine[:first] if _opens_shoe(item[1])][-1:]
    if not _reveals(mine[target][1]):
        chosen += _reveal(mine[target + 1 :])
    return sorted(dict(chosen).items())


def _common(table: ForgedTable) -> list[Numbered]:
    game = (table.game.game_id, table.game.version)
    return [
        (index, record)
        for index, record in enumerate(table.log.records)
        if isinstance(record, pb.LogStarted | pb.KeyChanged)
        or (
            isinstance(record, pb.GameInstalled)
            and (record.definition.game_id, record.definition.version) == game
        )
    ]


def _reveal(behind: list[Numbered]) -> list[Numbered]:
    for index, record in behind:
        if _opens_shoe(record):
            break
        if _reveals(record):
            return [(index, record)]
    return []


def _mine(table: ForgedTable) -> list[Numbered]:
    return [
        (index, record)
        for index, record in enumerate(table.log.records)
        if "link" in record.DESCRIPTOR.fields_by_name and record.link.table == table.name
    ]


def _ends(record: Any, number: int) -> bool:
    return isinstance(record, pb.RoundDealt | pb.RoundVoided) and record.round_number == number


def _opens_shoe(record: Any) -> bool:
    return isinstance(record, pb.RoundOpened) and record.HasField("shoe")


def _reveals(record: Any) -> bool:
    return isinstance(record, pb.ShoeRetired) or (
        isinstance(record, pb.RoundDealt) and record.HasField("closing")
    )


def _wager_ids(chosen: list[Numbered], target: Any) -> list[str]:
    if isinstance(target, pb.RoundDealt):
        return [settled.wager.wager_id for settled in target.settlements]
    return [returned.wager_id for returned in target.returned]
