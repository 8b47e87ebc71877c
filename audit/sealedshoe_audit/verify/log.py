"""Verifies a whole published log, in one pass and in constant memory a table.

1. the checkpoint is signed by a trusted key, of the trusted origin, cosigned by the quorum
2. every entry is read, and every tile equals the hashes of the entries
3. every record passes the fold (`fold.log`): signature, chain, state, settlement, reveal
4. the tree's root is the checkpoint's
5. what remains open is listed: shoes not revealed, with their age; wagers not dealt
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import DecodeError

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.fold.log import Applied, LogFold
from sealedshoe_audit.log.checkpoint import Checkpoint, verify_checkpoint
from sealedshoe_audit.log.reader import LogSource, TileCheck, read_entries
from sealedshoe_audit.names import round_name, table_name
from sealedshoe_audit.records import TABLE_PAYLOAD_TYPES
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.verify.report import NOTICE, Finding, Report
from sealedshoe_audit.verify.totals import GameTotals, add_result, totals_json
from sealedshoe_audit.verify.undealt import UndealtRounds

MAX_FINDINGS = 1000  # a log with more is beyond reading; the rest is counted
Progress = Callable[[int, int], None]


@dataclass(slots=True)
class LogReport(Report):
    """The verdict on a log, and what it holds."""

    games: dict[tuple[str, int], GameTotals] = field(default_factory=lambda: {})
    records: int = 0
    findings_left_out: int = 0

    def add(self, finding: Finding) -> None:
        """Keeps a finding, or counts it once there are too many."""
        if len(self.findings) < MAX_FINDINGS:
            self.findings.append(finding)
        else:
            self.findings_left_out += 1


def read_checkpoint(source: LogSource, trust: Trust) -> Checkpoint:
    """Returns the log's verified head.

    Raises:
        VerificationError: MISSING_FILE, or as `verify_checkpoint`.
    """
    note = source.read("checkpoint")
    if note is None:
        raise VerificationError(Code.MISSING_FILE, expected="checkpoint", found="no such file")
    return verify_checkpoint(note, trust).checkpoint


def verify_log(source: LogSource, trust: Trust, now_us: int, progress: Progress) -> LogReport:
    """Returns the verdict on a whole log.

    Args:
        now_us: the reader's time, for the age of open shoes; microseconds since 1970 UTC.
        progress: called with (entries done, entries in all).
    """
    report = LogReport()
    try:
        checkpoint = read_checkpoint(source, trust)
        report.checked.append(f"the checkpoint of {checkpoint.origin} at size {checkpoint.size}")
        check = _LogCheck(report, trust, now_us)
        check.run(source, checkpoint, progress)
    except VerificationError as error:
        report.add(Finding.of(error, "log"))
    report.not_checked.append("that the operator shows everybody this same log: needs witnesses")
    if not trust.quorum:
        report.not_checked.append("times before or after: the trust file asks for no cosignatures")
    return report


class _LogCheck:
    """One pass over a log."""

    def __init__(self, report: LogReport, trust: Trust, now_us: int) -> None:
        self._report = report
        self._fold = LogFold(trust.origin, trust.root_key)
        self._undealt = UndealtRounds()
        self._broken: set[str] = set()
        self._now_us = now_us

    def run(self, source: LogSource, checkpoint: Checkpoint, progress: Progress) -> None:
        tiles = TileCheck(source)
        for entry in read_entries(source, checkpoint.size):
            self._take(entry)
            for level, node in self._fold.completed:
                tiles.completed(level, node)
            self._report.records += 1
            if self._report.records % 256 == 0:
                progress(self._report.records, checkpoint.size)
        tiles.finish()
        progress(checkpoint.size, checkpoint.size)
        root = self._fold.frontier.root()
        if root != checkpoint.root:
            raise VerificationError(
                Code.ROOT_MISMATCH, expected=checkpoint.root.hex(), found=root.hex()
            )
        self._report.checked += [
            f"{self._report.records} records: canonical form, signature, chain and state",
            f"{tiles.compared} tiles against the entries, and the root",
            "every result dealt and settled again; every revealed seed shuffled again",
            "every game's odds enumerated again",
        ]
        self._conclude()

    def _take(self, entry: bytes) -> None:
        index = self._fold.frontier.size
        try:
            applied = self._fold.apply(entry)
        except VerificationError as error:
            self._fault(error, index, entry)
            return
        if applied.counter_gap:
            gap = applied.counter_gap
            found = f"{gap} discarded" if gap > 0 else "a counter that stood before"
            expected = "every seed drawn to open a shoe, once"
            self._notice(Code.SHOE_COUNTER_GAP, f"leaf {index}", expected, found)
        if isinstance(applied.record, pb.ShoeRetired) and applied.record.seed_unavailable:
            self._notice(Code.SEED_UNAVAILABLE, f"leaf {index}", "the shoe's seed", "none")
        self._undealt.take(applied)
        self._count(applied)

    def _fault(self, error: VerificationError, index: int, entry: bytes) -> None:
        """Reports a bad record; of a table that has one, later records are not reported again."""
        table = table_of(entry)
        if table in self._broken:
            return
        if table is not None:
            self._broken.add(table)
        about = f"leaf {index}" if table is None else f"leaf {index} of {table_name(table[:40])}"
        self._report.add(Finding.of(error, about))

    def _notice(self, code: Code, about: str, expected: str, found: str) -> None:
        self._report.add(Finding(code, about, expected, found, NOTICE))

    def _count(self, applied: Applied) -> None:
        record, before = applied.record, applied.before
        if before is None or not isinstance(record, pb.RoundDealt | pb.RoundVoided):
            return
        key = (before.game.game_id, before.game.version)
        totals = self._report.games.setdefault(key, GameTotals(before.game.decks))
        add_result(totals, before.settings.limits.currency, record)

    def _conclude(self) -> None:
        facts: dict[str, Any] = self._report.facts
        facts["origin"] = self._fold.origin
        facts["size"] = self._fold.frontier.size
        facts["games"] = {
            f"{game_id} version {version}": totals_json(totals)
            for (game_id, version), totals in sorted(self._report.games.items())
        }
        facts["tables"] = len(self._fold.tables)
        facts["broken_tables"] = sorted(self._broken)
        facts["unclosed_shoes"] = self._unclosed_shoes()
        facts["unfinished_rounds"] = self._unfinished_rounds()
        facts["undealt"] = self._undealt.json()
        facts["findings_left_out"] = self._report.findings_left_out
        if facts["unclosed_shoes"]:
            count = len(facts["unclosed_shoes"])
            self._report.not_checked.append(
                f"seed, shuffle and dealt cards of {count} shoes that are not revealed yet: their "
                "rounds' evidence proves the cards"
            )

    def _unclosed_shoes(self) -> list[dict[str, Any]]:
        return [
            {
                "table": table_name(name),
                "shoe_number": state.shoe.opening.shoe_number,
                "cards_dealt": state.shoe.position,
                "age_s": max(0, self._now_us - state.time_us) // 1_000_000,
            }
            for name, state in sorted(self._fold.tables.items())
            if state.shoe is not None
        ]

    def _unfinished_rounds(self) -> list[dict[str, Any]]:
        return [
            {
                "round": round_name(name, state.round_number),
                "wagers": len(state.round.wagers),
                "age_s": max(0, self._now_us - state.round.opened_us) // 1_000_000,
            }
            for name, state in sorted(self._fold.tables.items())
            if state.round is not None and state.round.wagers
        ]


def table_of(entry: bytes) -> str | None:
    """Returns the table id that an entry claims, for naming it in findings; None if it has none."""
    envelope = pb.Envelope()
    try:
        envelope.ParseFromString(entry)
        if envelope.payload_type not in TABLE_PAYLOAD_TYPES:
            return None
        return pb.RoundOpened.FromString(envelope.payload).link.table or None
    except DecodeError:
        return None
