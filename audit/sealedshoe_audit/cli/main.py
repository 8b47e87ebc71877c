"""Arguments, files in, verdicts out. Exit 0 valid, 1 invalid, 2 usage."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, cast

from sealedshoe_audit.baccarat.cards import card_text
from sealedshoe_audit.cli import screen
from sealedshoe_audit.cli.arguments import make_parser
from sealedshoe_audit.cli.follow_commands import run_mirror, run_witness
from sealedshoe_audit.cli.log_command import run_log, write_html
from sealedshoe_audit.cli.proof_commands import run_proof, run_prove
from sealedshoe_audit.cli.sources import Unreadable, open_source, read_input, read_trust
from sealedshoe_audit.errors import VerificationError
from sealedshoe_audit.log.policy import parse_policy
from sealedshoe_audit.names import parse_round_name
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.verify.evidence import verify_evidence
from sealedshoe_audit.verify.replay import replay_round
from sealedshoe_audit.verify.report import Finding, Report

VALID, INVALID, USAGE = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs one command and exits with its code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        sys.exit(_run(make_parser().parse_args(given)))
    except Unreadable as error:
        _usage_error(str(error), as_json="--json" in given)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(INVALID)


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


def _run(options: argparse.Namespace) -> int:
    if options.command == "witness":
        return run_witness(options)
    commands: dict[str, Callable[[argparse.Namespace, Trust], Report]] = {
        "verify": _verify,
        "log": run_log,
        "replay": _replay,
        "prove": run_prove,
        "proof": run_proof,
        "mirror": run_mirror,
    }
    if options.command == "replay" and parse_round_name(options.round) is None:
        raise Unreadable(f"{options.round}: a round is named like tables/7/rounds/12")
    trust: Trust | None = None
    try:
        trust = read_trust(options.trust)
        if options.policy:
            trust = trust.under(parse_policy(read_input(options.policy)))
    except VerificationError as error:
        report = Report([Finding.of(error, "trust file")])
        if options.command in ("verify", "replay"):
            report.facts["round"] = getattr(options, "round", None)
    else:
        report = commands[options.command](options, trust)
    result = report.json()
    if options.command == "log" and options.html:
        write_html(options, result, trust)
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
    receipt = read_input(options.receipt) if options.receipt else None
    report = verify_evidence(read_input(options.file), trust, receipt)
    report.facts.setdefault("round", None)
    return report


def _replay(options: argparse.Namespace, trust: Trust) -> Report:
    progress = screen.ProgressBar("replaying")
    return replay_round(open_source(options.log), trust, options.round, progress)
