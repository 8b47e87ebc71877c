"""What the command line takes."""

import argparse
import os
import sys
from typing import NoReturn

from sealedshoe_audit.cli.sources import Unreadable

TRUST_HELP = "trust file: compare its key by phone"
LOG_HELP = "exported or mirrored log directory, or its URL prefix"


class Parser(argparse.ArgumentParser):
    """Reports misuse through the same channel as everything else."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        raise Unreadable(message)


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of all commands."""
    parser = Parser(
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
    _add_log(log)
    replay = commands.add_parser(
        "replay", allow_abbrev=False, help="replay one round's shoe and deal, step by step"
    )
    replay.add_argument("log", metavar="DIR|URL", help=LOG_HELP)
    replay.add_argument("--round", required=True, metavar="NAME", help="as tables/7/rounds/12")
    prove = commands.add_parser(
        "prove", allow_abbrev=False, help="write a record and its tlog-proof file"
    )
    prove.add_argument("log", metavar="DIR|URL", help=LOG_HELP)
    prove.add_argument("--index", required=True, type=int, metavar="N", help="leaf index")
    prove.add_argument("-o", "--output", required=True, metavar="FILE", help="FILE and FILE.entry")
    proof = commands.add_parser(
        "proof", allow_abbrev=False, help="check a tlog-proof file against its record, offline"
    )
    proof.add_argument("file", metavar="FILE", help="proof file")
    proof.add_argument("entry", metavar="ENTRY", help="the record, byte for byte")
    mirror = commands.add_parser(
        "mirror",
        allow_abbrev=False,
        help="follow a log into a directory; refuse forks and rollbacks",
    )
    mirror.add_argument("log", metavar="URL|DIR", help=LOG_HELP)
    mirror.add_argument("directory", metavar="DIR", help="the mirror; resumed if it is one already")
    mirror.add_argument("--every", type=float, metavar="S", help="keep following, every S seconds")
    mirror.add_argument("--metrics", metavar="ADDRESS:PORT", help="serve metrics, with --every")
    for command in (verify, log, replay, prove, proof, mirror):
        command.add_argument("--trust", required=True, metavar="FILE", help=TRUST_HELP)
        command.add_argument(
            "--policy", metavar="FILE", help="tlog-policy with witnesses and quorum"
        )
        command.add_argument(
            "--json", action="store_true", help="print exactly one JSON object on stdout"
        )
    _add_witness(
        commands.add_parser("witness", allow_abbrev=False, help="run a witness that cosigns logs")
    )
    return parser


def _add_log(log: argparse.ArgumentParser) -> None:
    log.add_argument("log", metavar="DIR|URL", help=LOG_HELP)
    log.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="processes to use [default: one a core]",
    )
    log.add_argument(
        "--html", metavar="FILE", help="write a report that any browser opens, offline"
    )
    log.add_argument(
        "--position", metavar="FILE", help="go on from this file's position, and keep the new one"
    )
    log.add_argument(
        "--heads", metavar="FILE", help="archive of older heads: each must be a prefix"
    )
    log.add_argument("--tsa-root", metavar="PEM", help="certificate of a time stamp authority")
    log.add_argument(
        "--predecessor", metavar="DIR|URL", help="the log before: check the hand-over too"
    )
    log.add_argument("--predecessor-trust", metavar="FILE", help="its trust file")
    log.add_argument(
        "--hashes-only", action="store_true", help="tiles, entries and root; no record is opened"
    )


def _add_witness(witness: argparse.ArgumentParser) -> None:
    witness.add_argument("directory", metavar="DIR", help="its key and its memory; made if missing")
    witness.add_argument("--name", required=True, help="name of its key, as witness.example/w1")
    witness.add_argument(
        "--log",
        action="append",
        default=[],
        metavar="VKEY",
        help="key of a log to cosign; repeatable",
    )
    witness.add_argument("--policy", metavar="FILE", help="tlog-policy whose logs are cosigned")
    witness.add_argument(
        "--listen", default="127.0.0.1:7450", metavar="ADDRESS:PORT", help="[default: %(default)s]"
    )
    witness.add_argument("--show-key", action="store_true", help="print the verifier key and end")
    witness.add_argument("--json", action="store_true", help=argparse.SUPPRESS)
