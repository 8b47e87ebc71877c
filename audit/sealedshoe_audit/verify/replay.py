"""Replays one round out of a log: its shoe, its deal step by step, its settlements.

The log is verified from its first leaf while it is read (`fold.log`), so that what is shown is proved.
"""

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.fold.log import Applied, LogFold
from sealedshoe_audit.fold.state import TableState
from sealedshoe_audit.log.checkpoint import expect_root
from sealedshoe_audit.log.reader import LogSource, read_entries, read_head
from sealedshoe_audit.names import parse_round_name, table_name
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.verify.log import Progress, table_of
from sealedshoe_audit.verify.report import NOTICE, Finding, Report
from sealedshoe_audit.verify.round_facts import round_json


def replay_round(source: LogSource, trust: Trust, name: str, progress: Progress) -> Report:
    """Returns the verdict on a round's whole story, with its facts.

    Args:
        name: `tables/7/rounds/12`, in a form that `parse_round_name` takes.
        progress: called with (entries done, entries in all).
    """
    report = Report()
    report.facts |= {"round": name, "origin": trust.origin}
    try:
        _replay(report, source, trust, name, progress)
    except VerificationError as error:
        report.findings.append(Finding.of(error, name))
    report.not_checked.append("that the operator shows everybody this same log: needs witnesses")
    return report


def _replay(report: Report, source: LogSource, trust: Trust, name: str, progress: Progress) -> None:
    parsed = parse_round_name(name)
    if parsed is None:
        raise VerificationError(Code.ROUND_UNKNOWN, expected="tables/ID/rounds/N", found=name[:100])
    table, number = parsed
    checkpoint = read_head(source, trust)[1].checkpoint
    fold = LogFold(trust.origin, trust.root_key)
    found: Applied | None = None
    shoe_shown = False
    for done, entry in enumerate(read_entries(source, checkpoint.size)):
        applied = _apply(report, fold, entry, table)
        if applied is not None and applied.before is not None and applied.before.table == table:
            if _is_result(applied, number):
                found = applied
                _show_result(report, applied, applied.before)
            if found is not None and _loses_seed(applied, found):
                report.findings.append(
                    Finding(Code.SEED_UNAVAILABLE, name, "the shoe's seed", "its loss", NOTICE)
                )
            if found is not None and _reveals(applied, found):
                _show_shoe(report, trust.origin, applied)
                shoe_shown = True
        if done % 256 == 0:
            progress(done, checkpoint.size)
    expect_root(checkpoint, fold.frontier.root())
    if found is None:
        raise VerificationError(
            Code.ROUND_UNKNOWN, expected=f"a result of {name}", found=f"none in {checkpoint.size}"
        )
    report.checked.append(f"all {checkpoint.size} records up to the checkpoint, and its root")
    if shoe_shown:
        report.checked.append("the revealed seed replays the whole shoe and every card dealt")
    else:
        report.not_checked.append("seed, shuffle and dealt cards: the shoe's seed is not revealed")


def _apply(report: Report, fold: LogFold, entry: bytes, table: str) -> Applied | None:
    """Applies a leaf; what is wrong with other tables is a finding too, and the replay goes on."""
    index = fold.frontier.size
    try:
        return fold.apply(entry)
    except VerificationError as error:
        about = table_of(entry)
        report.findings.append(Finding.of(error, f"leaf {index}"))
        if about is None or about == table:
            raise
        return None


def _reveals(applied: Applied, found: Applied) -> bool:
    """Whether a record revealed the very shoe that the round was dealt from."""
    shoe = found.before.shoe if found.before is not None else None
    reveal = applied.reveal
    return (
        reveal is not None
        and shoe is not None
        and (reveal.opened.opening_hash == shoe.opening_hash)
    )


def _loses_seed(applied: Applied, found: Applied) -> bool:
    """Whether a record retired the very shoe that the round was dealt from, without its seed."""
    shoe = found.before.shoe if found.before is not None else None
    record = applied.record
    return (
        isinstance(record, pb.ShoeRetired)
        and record.seed_unavailable
        and shoe is not None
        and record.shoe_opening_hash == shoe.opening_hash
    )


def _is_result(applied: Applied, number: int) -> bool:
    record = applied.record
    return isinstance(record, pb.RoundDealt | pb.RoundVoided) and record.round_number == number


def _show_result(report: Report, applied: Applied, before: TableState) -> None:
    shoe, opened, record = before.shoe, before.round, applied.record
    if shoe is None or opened is None:
        return
    report.facts |= {
        "table": table_name(before.table),
        "game": f"{before.game.game_id} version {before.game.version}",
        "shoe_number": shoe.opening.shoe_number,
        "decks": before.game.decks,
        "reach": shoe.opening.reach,
        "first_position": opened.first_position,
        "seed_commitment": shoe.opening.seed_commitment.hex(),
        "cards_root": shoe.opening.cards_root.hex(),
        "result_index": applied.leaf_index,
    }
    if isinstance(record, pb.RoundDealt):
        report.facts |= round_json(record)
    else:
        report.facts |= {
            "player_cards": [],
            "banker_cards": [],
            "outcome": "void",
            "settlements": [],
            "steps": ["The round was voided: every stake went back, the cards stay undealt."],
        }


def _show_shoe(report: Report, origin: str, applied: Applied) -> None:
    if applied.reveal is not None:
        shoe = applied.reveal.check(origin)
        report.facts |= {"seed": shoe.seed.hex(), "order": list(shoe.order)}
