"""Verifies a whole published log, in one pass and in constant memory a table.

1. the checkpoint is signed by a trusted key, of the trusted origin, cosigned by the quorum
2. every entry is read, and every tile equals the hashes of the entries
3. every record passes the fold (`fold.log`): signature, chain, state, settlement, reveal
4. the tree's root is the checkpoint's, and every older head at hand is a prefix of it
5. what remains open is listed: shoes not revealed, with their age; wagers not dealt
"""

import tempfile
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import IO, Any, TypeAlias

from google.protobuf.message import DecodeError

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.fold.head_signers import check_head_signer
from sealedshoe_audit.fold.log import Applied, LogFold, Reveal, Vouched
from sealedshoe_audit.fold.seeds import SeedFile
from sealedshoe_audit.log.checkpoint import VerifiedCheckpoint, expect_root
from sealedshoe_audit.log.reader import LogSource, TileCheck, read_bundles, read_head
from sealedshoe_audit.names import table_name
from sealedshoe_audit.records import TABLE_PAYLOAD_TYPES
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.verify.growth import Growth
from sealedshoe_audit.verify.helpers import HelperProcesses, Helpers, NoHelpers
from sealedshoe_audit.verify.history import HeadHistory
from sealedshoe_audit.verify.left_open import unclosed_shoes, unfinished_rounds
from sealedshoe_audit.verify.position import position_of, take_position
from sealedshoe_audit.verify.report import NOTICE, Finding, Report, head_facts
from sealedshoe_audit.verify.times import StampCheck, Times
from sealedshoe_audit.verify.totals import GameTotals, add_result, totals_json
from sealedshoe_audit.verify.undealt import UndealtRounds

MAX_FINDINGS = 1000  # a log with more is beyond reading; the rest is counted
Progress = Callable[[int, int], None]
_Ended: TypeAlias = pb.RoundDealt | pb.RoundVoided
_EndsShoe: TypeAlias = pb.ShoeRetired | pb.PredecessorShoeRevealed


@dataclass(slots=True)
class LogReport(Report):
    """The verdict on a log, and what it holds.

    Attributes:
        fold: the log's state where the verification ended; None when it never began.
        position: where the next verification may go on; b"" unless the verdict is valid.
    """

    games: dict[tuple[str, int], GameTotals] = field(default_factory=lambda: {})
    records: int = 0
    findings_left_out: int = 0
    fold: LogFold | None = None
    position: bytes = b""

    def add(self, finding: Finding) -> None:
        """Keeps a finding, or counts it once there are too many."""
        if len(self.findings) < MAX_FINDINGS:
            self.findings.append(finding)
        else:
            self.findings_left_out += 1


@dataclass(frozen=True, slots=True)
class LogOptions:
    """What a verification may use besides the log and the trust file.

    Attributes:
        helpers: processes that help; 0 does all in this one.
        heads: signed checkpoints kept from before: each must be a prefix of the log.
        check_stamp: checks RFC 3161 time stamps; None leaves them unchecked.
        position: what an earlier report's `position` held; b"" starts at the first leaf.
        seeds: register of seed commitments, kept with the position; None keeps it for this run.
        stop_at: called once with the fold when it has this many leaves.
    """

    helpers: int = 0
    heads: Iterable[bytes] = ()
    check_stamp: StampCheck | None = None
    position: bytes = b""
    seeds: IO[bytes] | None = None
    stop_at: tuple[int, Callable[[LogFold], None]] | None = None


def verify_log(
    source: LogSource,
    trust: Trust,
    now_us: int,
    progress: Progress,
    options: LogOptions | None = None,
) -> LogReport:
    """Returns the verdict on a whole log.

    Args:
        now_us: the reader's time, for the age of open shoes; microseconds since 1970 UTC.
        progress: called with (entries done, entries in all).
    """
    report = LogReport()
    given = options or LogOptions()
    try:
        _, head = read_head(source, trust)
        _state_head(report, head)
        with ExitStack() as stack:
            check = _LogCheck(report, trust, now_us, given, stack)
            stack.callback(check.report_faults)
            check.run(source, head, progress)
    except VerificationError as error:
        report.add(Finding.of(error, "log"))
    if not trust.quorum:
        report.not_checked.append(
            "that the operator shows everybody this same log: needs witnesses"
        )
        report.not_checked.append("times before or after: the trust file asks for no cosignatures")
    return report


def _state_head(report: LogReport, head: VerifiedCheckpoint) -> None:
    checkpoint = head.checkpoint
    text = f"the checkpoint of {checkpoint.origin} at size {checkpoint.size}"
    cosigned = f", cosigned by {len(head.cosigned)} witnesses" if head.cosigned else ""
    report.checked.append(text + cosigned)
    report.facts |= head_facts(head)


class _LogCheck:
    """One pass over a log."""

    def __init__(
        self, report: LogReport, trust: Trust, now_us: int, options: LogOptions, stack: ExitStack
    ) -> None:
        self._report = report
        self._options = options
        self._now_us = now_us
        seeds = options.seeds
        if seeds is None:
            seeds = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 # the stack closes it
        self._fold = LogFold(trust.origin, trust.root_key, replay_shoes=False)
        self._times = Times(trust, options.check_stamp)
        known = self._go_on(options.position) if options.position else 0
        self._seeds = SeedFile(seeds, known)
        self._fold.register_seeds_in(self._seeds)
        self._start = self._fold.frontier.size
        self._helpers: Helpers = (
            stack.enter_context(HelperProcesses(options.helpers, trust.origin, self._not_replayed))
            if options.helpers
            else NoHelpers(trust.origin, self._not_replayed)
        )
        self._history = HeadHistory(trust, options.heads)
        self._undealt = UndealtRounds(trust.origin)
        self._growth = Growth()
        self._first_faults: dict[str, tuple[int, Finding]] = {}
        self._house_faults: list[tuple[int, Finding]] = []
        report.fold = self._fold

    def _go_on(self, position: bytes) -> int:
        known, times = take_position(self._fold, position)
        self._times.go_on(self._fold.frontier.size, times)
        return known

    def run(self, source: LogSource, head: VerifiedCheckpoint, progress: Progress) -> None:
        size = head.checkpoint.size
        if size < self._start:
            raise VerificationError(
                Code.ROLLBACK, expected=f"{self._start} leaves or more", found=str(size)
            )
        tiles = TileCheck.at(source, size, self._fold.frontier)
        self._look_back(size)
        try:
            self._take_all(source, size, tiles, progress)
        finally:
            self._helpers.finish()
        tiles.finish()
        self._check_root(head)
        self._state_checked(tiles.compared)
        self._conclude()

    def _take_all(self, source: LogSource, size: int, tiles: TileCheck, progress: Progress) -> None:
        bundles = read_bundles(source, size, self._start)
        for leaves, vouched in self._helpers.vouch(bundles, self._statement_key):
            for leaf, voucher in zip(leaves, vouched, strict=True):
                self._take(leaf, voucher)
                for level, node in self._fold.completed:
                    tiles.completed(level, node)
                self._after_leaf()
            self._report.records += len(leaves)
            progress(self._fold.frontier.size, size)

    def _statement_key(self) -> bytes:
        keys = self._fold.keys
        return b"" if keys is None or keys.statement is None else keys.statement.public_key

    def _look_back(self, size: int) -> None:
        for finding in self._history.beyond(size):
            self._report.add(finding)
        self._after_leaf()

    def _after_leaf(self) -> None:
        frontier = self._fold.frontier
        if self._history.wants(frontier.size):
            for finding in self._history.compare(frontier.size, frontier.root(), self._fold.keys):
                self._report.add(finding)
        stop = self._options.stop_at
        if stop is not None and stop[0] == frontier.size:
            stop[1](self._fold)

    def _check_root(self, head: VerifiedCheckpoint) -> None:
        expect_root(head.checkpoint, self._fold.frontier.root())
        if self._fold.keys is not None:
            size = head.checkpoint.size
            check_head_signer(head.signers, self._fold.keys, size, "the checkpoint")

    def _state_checked(self, tiles: int) -> None:
        report = self._report
        since = f" from leaf {self._start} on" if self._start else ""
        report.checked += [
            f"{report.records} records{since}: canonical form, signature, chain and state",
            f"{tiles} tiles against the entries, and the root",
            "every result dealt and settled again; every revealed seed shuffled again",
            "every game's odds enumerated again",
        ]
        if self._history.passed_over(self._start):
            report.not_checked.append(
                f"{self._history.passed_over(self._start)} older heads below the position: start without"
            )
        if self._history.compared:
            report.checked.append(
                f"{self._history.compared} older heads: each a prefix of this log"
            )
        if self._times.checked:
            report.checked.append(f"{self._times.checked} time stamps over heads of this log")
        if self._times.unchecked:
            report.not_checked.append(
                f"{self._times.unchecked} time stamps: name the authority's certificate (--tsa-root)"
            )
        if self._times.bracketed:
            report.checked.append(
                f"{self._times.bracketed} openings are younger than the cosigned head they name"
            )

    def _take(self, leaf: bytes, vouched: Vouched | None) -> None:
        index = self._fold.frontier.size
        try:
            applied = self._fold.apply(leaf, vouched)
            self._growth.take(applied.record.header.time_us)
            self._check_times(applied)
            self._times.take(applied.record.header.time_us)
        except VerificationError as error:
            self._times.take(0)
            self._fault(error, index, table_of(leaf))
            return
        if applied.reveal is not None:
            self._helpers.replay(index, applied.reveal)
        self._notice_losses(applied)
        self._undealt.take(applied)
        self._count(applied)

    def _check_times(self, applied: Applied) -> None:
        record = applied.record
        if isinstance(record, pb.RoundOpened):
            self._times.opened(record)
        elif isinstance(record, pb.TimeStamped) and self._fold.keys is not None:
            self._times.stamp(record, self._fold.keys)

    def _notice_losses(self, applied: Applied) -> None:
        about = f"leaf {applied.leaf_index}"
        if applied.counter_gap:
            gap = applied.counter_gap
            found = f"{gap} discarded" if gap > 0 else "a counter that stood before"
            expected = "every seed drawn to open a shoe, once"
            self._notice(Code.SHOE_COUNTER_GAP, about, expected, found)
        record = applied.record
        if isinstance(record, _EndsShoe) and record.seed_unavailable:
            self._notice(Code.SEED_UNAVAILABLE, about, "the shoe's seed", "none")

    def _not_replayed(self, index: int, reveal: Reveal) -> None:
        """Replays a shoe that did not, for what exactly is wrong with it."""
        try:
            reveal.check(self._fold.origin)
        except VerificationError as error:
            self._fault(error, index, reveal.table)

    def _fault(self, error: VerificationError, index: int, table: str | None) -> None:
        """Reports a bad record; of a table that has one, only the first is reported."""
        about = f"leaf {index}" if table is None else f"leaf {index} of {table_name(table[:40])}"
        finding = Finding.of(error, about)
        if table is None:
            if len(self._house_faults) <= MAX_FINDINGS:
                self._house_faults.append((index, finding))
        elif table not in self._first_faults or index < self._first_faults[table][0]:
            self._first_faults[table] = (index, finding)

    def _notice(self, code: Code, about: str, expected: str, found: str) -> None:
        self._report.add(Finding(code, about, expected, found, NOTICE))

    def _count(self, applied: Applied) -> None:
        record, before = applied.record, applied.before
        if before is None or not isinstance(record, _Ended):
            return
        key = (before.game.game_id, before.game.version)
        totals = self._report.games.setdefault(key, GameTotals(before.game.decks))
        add_result(totals, before.settings.limits.currency, record)

    def _conclude(self) -> None:
        report, fold = self._report, self._fold
        for index, commitment in self._seeds.duplicates():
            report.add(
                Finding(Code.DUPLICATE_SEED, f"leaf {index}", "a new seed", commitment.hex())
            )
        report.facts |= self._facts()
        if report.facts["unclosed_shoes"]:
            count = len(report.facts["unclosed_shoes"])
            report.not_checked.append(
                f"seed, shuffle and dealt cards of {count} shoes that are not revealed yet: their "
                "rounds' evidence proves the cards"
            )
        if report.valid and not self._first_faults and not self._house_faults:
            report.position = position_of(fold, self._seeds.count, self._times.snapshot())

    def report_faults(self) -> None:
        """Reports bad records in the order of their leaves, however far the pass came."""
        faults = [*self._house_faults, *self._first_faults.values()]
        for _, finding in sorted(faults, key=lambda fault: fault[0]):
            self._report.add(finding)

    def _facts(self) -> dict[str, Any]:
        report, fold = self._report, self._fold
        return {
            "from": self._start,
            "records": report.records,
            "games": {
                f"{game_id} version {version}": totals_json(totals)
                for (game_id, version), totals in sorted(report.games.items())
            },
            "tables": len(fold.tables),
            "broken_tables": sorted(self._first_faults),
            "unclosed_shoes": unclosed_shoes(fold.tables, self._now_us),
            "unfinished_rounds": unfinished_rounds(fold.tables, self._now_us),
            "undealt": self._undealt.json(),
            "undealt_left_out": self._undealt.left_out,
            "growth": self._growth.json(),
            "time_stamps": self._times.stamps,
            "openings_after_a_cosigned_head": self._times.bracketed,
            "older_heads": self._history.compared,
            "closed": fold.closing is not None,
            "findings_left_out": report.findings_left_out,
        }


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
