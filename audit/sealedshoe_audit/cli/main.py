"""Arguments, files in, verdicts out. Exit 0 valid, 1 invalid, 2 usage."""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn, cast

from sealedshoe_audit.baccarat.cards import card_text
from sealedshoe_audit.cli import screen
from sealedshoe_audit.cli.sources import Unreadable, open_source
from sealedshoe_audit.errors import VerificationError
from sealedshoe_audit.names import parse_round_name
from sealedshoe_audit.trust import Trust, parse_trust
from sealedshoe_audit.verify.evidence import verify_evidence
from sealedshoe_audit.verify.log import verify_log
from sealedshoe_audit.verify.replay import replay_round
from sealedshoe_audit.verify.report import Finding, Report

VALID, INVALID, USAGE = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs one command and exits with its code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        sys.exit(_run(_parser().parse_args(given)))
    except Unreadable as error:
        _usage_error(str(error), as_json="--json" in given)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(INVALID)


class _Parser(argparse.ArgumentParser):
    """Reports misuse through the same channel as everything else."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        raise Unreadable(message)


def _usage_error(problem: str, *, as_json: bool) -> NoReturn:
    """With --json, stdout is one object whatever happens; no verdict of valid is ever implied."""
    if as_json:
        finding = {
            "code": "USAGE",
            "record": "command line",
            "expected": "readable input",
            "found": problem,
            "severity": "error",
        }
        print(json.dumps(Report().json() | {"verdict": "invalid", "findings": [finding]}))
    print(f"sealedshoe-audit: {problem}", file=sys.stderr)
    sys.exit(USAGE)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        allow_abbrev=False,
        prog="sealedshoe-audit",
        description="Verify Sealed Shoe rounds and logs without trusting their operator.",
        epilog="Exit status: 0 valid, 1 invalid, 2 usage.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    verify = commands.add_parser(
        "verify", allow_abbrev=False, help="check one round's evidence file, offline"
    )
    verify.add_argument("file", metavar="FILE", help="evidence file")
    verify.add_argument("--receipt", metavar="FILE", help="the player's own receipt of the opening")
    log = commands.add_parser("log", allow_abbrev=False, help="check a whole log")
    log.add_argument("log", metavar="DIR|URL", help="exported log directory, or its URL prefix")
    replay = commands.add_parser(
        "replay", allow_abbrev=False, help="replay one round's shoe and deal, step by step"
    )
    replay.add_argument("log", metavar="DIR|URL", help="exported log directory, or its URL prefix")
    replay.add_argument("--round", required=True, metavar="NAME", help="as tables/7/rounds/12")
    for command in (verify, log, replay):
        command.add_argument(
            "--trust", required=True, metavar="FILE", help="trust file: compare its key by phone"
        )
        command.add_argument(
            "--json", action="store_true", help="print exactly one JSON object on stdout"
        )
    return parser


def _run(options: argparse.Namespace) -> int:
    commands: dict[str, Callable[[argparse.Namespace, Trust], Report]] = {
        "verify": _verify,
        "log": _log,
        "replay": _replay,
    }
    if options.command == "replay" and parse_round_name(options.round) is None:
        raise Unreadable(f"{options.round}: a round is named like tables/7/rounds/12")
    trust_bytes = _read(options.trust)
    try:
        trust = parse_trust(trust_bytes)
    except VerificationError as error:
        report = Report([Finding.of(error, "trust file")])
        if options.command != "log":
            report.facts["round"] = getattr(options, "round", None)
    else:
        report = commands[options.command](options, trust)
    result = report.json()
    if options.json:
        print(json.dumps(result))
    else:
        _show(options.command, cast("dict[str, Any]", screen.printable(result)))
    return VALID if report.valid else INVALID


def _show(command: str, result: dict[str, Any]) -> None:
    if command == "log":
        screen.print_log(result)
    elif "outcome" in result:
        screen.print_round(result)
    if command == "replay" and "first_position" in result:
        screen.print_shoe(result, [card_text(code) for code in result.get("order", [])])
    screen.print_verdict(result)


def _verify(options: argparse.Namespace, trust: Trust) -> Report:
    receipt = _read(options.receipt) if options.receipt else None
    report = verify_evidence(_read(options.file), trust, receipt)
    report.facts.setdefault("round", None)
    return report


def _log(options: argparse.Namespace, trust: Trust) -> Report:
    now_us = time.time_ns() // 1000
    return verify_log(open_source(options.log), trust, now_us, screen.ProgressBar("verifying"))


def _replay(options: argparse.Namespace, trust: Trust) -> Report:
    progress = screen.ProgressBar("replaying")
    return replay_round(open_source(options.log), trust, options.round, progress)


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}") from error
