"""`sealedshoe-audit mirror` and `witness`: what runs for long."""

import argparse
import os
import sys
import time
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from sealedshoe_audit.cli.sources import Unreadable, open_source, read_input
from sealedshoe_audit.errors import VerificationError
from sealedshoe_audit.log.note import VerifierKey, is_key_name, parse_vkey
from sealedshoe_audit.log.policy import parse_policy
from sealedshoe_audit.mirror.mirror import Mirror, Step
from sealedshoe_audit.mirror.service import MirrorMetrics, keep_following
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.verify.report import Finding, Report
from sealedshoe_audit.witness.store import WitnessStore
from sealedshoe_audit.witness.witness import Witness


def run_mirror(options: argparse.Namespace, trust: Trust) -> Report:
    """Follows once, or for ever."""
    report = Report()
    try:
        mirror = Mirror(Path(options.directory), trust)
        source = open_source(options.log)
        if options.every is None:
            step = mirror.follow(source)
            report.facts |= {"old_size": step.old, "size": step.new}
            report.checked.append(
                f"{step.new - step.old} new records extend the {step.old} that were here"
            )
        else:
            metrics = _metrics(options.metrics)
            keep_following(mirror, source, options.every, metrics, _tell)
    except VerificationError as error:
        report.findings.append(Finding.of(error, "mirror"))
    except OSError as error:
        raise Unreadable(f"{options.directory}: {error}") from error
    report.not_checked.append("what the records say: sealedshoe-audit log checks them")
    return report


def _metrics(address: str | None) -> MirrorMetrics | None:
    if address is None:
        return None
    host, port = _address(address)
    try:
        return MirrorMetrics(port, host)
    except (ImportError, OSError) as error:
        raise Unreadable(f"--metrics: {error}") from error


def _tell(found: Step | Exception) -> None:
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    if isinstance(found, Step):
        if found.new > found.old:
            print(f"{now} size {found.new} (+{found.new - found.old})", file=sys.stderr)
    else:
        print(f"{now} {found}", file=sys.stderr)


def run_witness(options: argparse.Namespace) -> int:
    """Serves until it is stopped.

    Raises:
        Unreadable: a file or an argument cannot be used.
    """
    directory = Path(options.directory)
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        key = _witness_key(directory / "witness.pem")
    except OSError as error:
        raise Unreadable(f"{directory}: {error.strerror}") from error
    if not is_key_name(options.name):
        raise Unreadable("--name: no spaces and no plus signs")
    store = WitnessStore(directory / "witness.db")
    witness = Witness(options.name, key, _logs(options), store, lambda: int(time.time()))
    print(witness.vkey.text(), flush=True)
    if not options.show_key:
        _serve(witness, options.listen)
    store.close()
    return 0


def _serve(witness: Witness, listen: str) -> None:
    try:
        from aiohttp import web  # noqa: PLC0415 # an extra

        from sealedshoe_audit.witness.service import make_witness_application  # noqa: PLC0415
    except ImportError as error:
        raise Unreadable("witness needs the extra: sealedshoe-audit[services]") from error
    host, port = _address(listen)

    def started(text: str) -> None:
        if "http" in text:
            print(text.splitlines()[0], file=sys.stderr, flush=True)

    web.run_app(
        make_witness_application(witness), host=host, port=port, print=started, access_log=None
    )


def _logs(options: argparse.Namespace) -> dict[str, list[VerifierKey]]:
    """Keys of one origin go together: around a rotation a log has two."""
    try:
        keys = [parse_vkey(text) for text in options.log]
        if options.policy:
            keys += [log.key for log in parse_policy(read_input(options.policy)).logs]
    except VerificationError as error:
        raise Unreadable(f"log keys: {error}") from error
    if not keys and not options.show_key:
        raise Unreadable("no log to cosign: give --log or --policy")
    logs: dict[str, list[VerifierKey]] = {}
    for key in keys:
        logs.setdefault(key.name, []).append(key)
    return logs


def _witness_key(path: Path) -> Ed25519PrivateKey:
    """Returns the witness's key; made on first use, and durable before it is shown."""
    if not path.exists():
        fresh = Ed25519PrivateKey.generate()
        pem = fresh.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(pem)
            file.flush()
            os.fsync(file.fileno())
    try:
        key = load_pem_private_key(path.read_bytes(), None)
    except ValueError as error:
        raise Unreadable(f"{path}: no private key in PEM") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise Unreadable(f"{path}: not an Ed25519 key")
    return key


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65_535:
        raise Unreadable(f"{text}: must be ADDRESS:PORT")
    return host.strip("[]"), int(port)
