"""`sealedshoe-audit log`: a whole log, or what is new behind a position, alone or with its predecessor."""

import argparse
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from sealedshoe_audit.cli import screen
from sealedshoe_audit.cli.sources import Unreadable, open_source, read_input, read_trust
from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.html_report import render
from sealedshoe_audit.keeping.files import write_file
from sealedshoe_audit.keeping.head_archive import HeadArchive
from sealedshoe_audit.log.reader import LogSource
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.tsa import MissingExtra, stamp_check
from sealedshoe_audit.verify.handover import EndOfLog, check_handover
from sealedshoe_audit.verify.hashes import verify_hashes
from sealedshoe_audit.verify.log import LogOptions, LogReport, verify_log
from sealedshoe_audit.verify.report import Finding, Report
from sealedshoe_audit.verify.times import StampCheck


def run_log(options: argparse.Namespace, trust: Trust) -> Report:
    """Runs the command.

    Raises:
        Unreadable: an input is missing or cannot be used.
    """
    source = open_source(options.log)
    if options.jobs < 1:
        raise Unreadable("--jobs: at least 1")
    if bool(options.predecessor) != bool(options.predecessor_trust):
        raise Unreadable("--predecessor and --predecessor-trust go together")
    if options.hashes_only:
        return verify_hashes(source, trust, screen.ProgressBar("hashing"))
    now_us = time.time_ns() // 1000
    with ExitStack() as stack:
        given = LogOptions(
            helpers=options.jobs - 1,
            heads=_heads(options.heads),
            check_stamp=_stamp_check(options.tsa_root),
            position=_position(options.position),
            seeds=_seeds(options.position, stack),
        )
        progress = screen.ProgressBar("verifying")
        report = verify_log(source, trust, now_us, progress, given)
        if options.predecessor:
            _add_predecessor(report, options, now_us)
        if options.position and report.position:
            write_file(Path(options.position), report.position)
    return report


def _heads(path: str | None) -> Iterator[bytes]:
    if path:
        if not Path(path).is_file():
            raise Unreadable(f"{path}: no such file")
        yield from HeadArchive(Path(path)).read()


def _stamp_check(path: str | None) -> StampCheck | None:
    if not path:
        return None
    try:
        return stamp_check([read_input(path)])
    except (MissingExtra, ValueError) as error:
        raise Unreadable(f"{path}: {error}") from error


def _position(path: str | None) -> bytes:
    return read_input(path) if path and Path(path).exists() else b""


def _seeds(path: str | None, stack: ExitStack) -> IO[bytes] | None:
    """The register of seed commitments lies beside the position."""
    if not path:
        return None
    beside = Path(f"{path}.seeds")
    try:
        return stack.enter_context(beside.open("r+b" if beside.exists() else "w+b"))
    except OSError as error:
        raise Unreadable(f"{beside}: {error.strerror}") from error


def _add_predecessor(report: LogReport, options: argparse.Namespace, now_us: int) -> None:
    """Verifies the log before, stands still at the head that this one names, and compares."""
    if report.fold is None or report.fold.predecessor is None:
        report.add(Finding(Code.PREDECESSOR, "hand-over", "a log with a predecessor", "none"))
        return
    named = report.fold.predecessor
    try:
        # Its head is named by a record of this log: this log's witnesses vouch for it too.
        old_trust = replace(read_trust(options.predecessor_trust), quorum=0)
    except VerificationError as error:
        report.add(Finding.of(error, "predecessor's trust file"))
        return
    end = EndOfLog()
    source: LogSource = open_source(options.predecessor)
    before = verify_log(
        source,
        old_trust,
        now_us,
        screen.ProgressBar("predecessor"),
        LogOptions(helpers=options.jobs - 1, stop_at=(named.size, end.take)),
    )
    for finding in before.findings:
        report.add(
            Finding(
                finding.code,
                f"predecessor, {finding.record}",
                finding.expected,
                finding.found,
                finding.severity,
            )
        )
    for finding in check_handover(end, report.fold, report.fold.root_key):
        report.add(finding)
    report.checked.append(
        f"the predecessor {named.origin} up to size {named.size}, and the hand-over"
    )
    report.facts["predecessor"] = before.json()


def write_html(options: argparse.Namespace, result: dict[str, Any], trust: Trust | None) -> None:
    """Writes the report that a browser opens, also when nothing could be verified.

    Raises:
        Unreadable: it cannot be written.
    """
    now_us = time.time_ns() // 1000
    page = render(result, verified_us=now_us, source=options.log, trust=trust)
    try:
        Path(options.html).write_text(page, encoding="utf-8")
    except OSError as error:
        raise Unreadable(f"{options.html}: {error.strerror}") from error
