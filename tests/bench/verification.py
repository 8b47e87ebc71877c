"""Rounds a second that one core verifies, against what two Ed25519 verifications a round would allow."""

import time
from dataclasses import dataclass

import grpc
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from sealedshoe_audit.envelope import pre_authentication
from sealedshoe_audit.log.checkpoint import parse_checkpoint
from sealedshoe_audit.log.merkle import Frontier
from sealedshoe_audit.log.note import parse_note
from sealedshoe_audit.log.publication import grown_files
from sealedshoe_audit.records import open_record
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.verify.log import LogReport, verify_log
from sealedshoe_server.v1 import audit_service_pb2 as pb_audit
from sealedshoe_server.v1.audit_service_pb2_grpc import AuditServiceStub
from tests.bench.plan import Plan
from tests.bench.processes import BenchBroken
from tests.bench.report import Row, Target, compare

TARGETS = {
    "shoe-8d": Target(0.7, is_minimum=True),
    "mini-baccarat-8d": Target(0.45, is_minimum=True),
}
TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class MemoryLog:
    """A published log as {path: content}; the LogSource of a verification."""

    files: dict[str, bytes]
    entries: list[bytes]

    def read(self, path: str) -> bytes | None:
        """Returns a file's bytes, or None when there is none at that path."""
        return self.files.get(path)


def export(channel: grpc.Channel) -> MemoryLog:
    """Reads the log of a running server, as of its newest checkpoint."""
    stub = AuditServiceStub(channel)
    note = stub.GetCheckpoint(pb_audit.GetCheckpointRequest(), timeout=TIMEOUT_S).checkpoint
    size = parse_checkpoint(parse_note(note).text).size
    request = pb_audit.ReadRecordsRequest(limit=size)
    answers = stub.ReadRecords(request, timeout=TIMEOUT_S)
    entries = [envelope for answer in answers for envelope in answer.envelopes]
    files = dict(grown_files(Frontier(), entries, lambda _: None))
    return MemoryLog({"checkpoint": note} | files, entries)


def _verify(log: MemoryLog, trust: Trust) -> LogReport:
    report = verify_log(log, trust, time.time_ns() // 1000, lambda _, __: None)
    if not report.valid:
        raise BenchBroken(f"the log does not verify: {report.findings[0]}")
    return report


def _signature_rate(log: MemoryLog) -> float:
    """Returns signatures a second: every record's, with the key and the signed bytes at hand."""
    envelopes = [pb.Envelope.FromString(entry) for entry in log.entries]
    first = open_record(log.entries[0])
    assert isinstance(first, pb.LogStarted)
    key = Ed25519PublicKey.from_public_bytes(first.statement_key)
    signed = [
        (envelope.signature, pre_authentication(envelope.payload_type, envelope.payload))
        for envelope in envelopes
    ]
    started = time.thread_time()
    for signature, message in signed:
        key.verify(signature, message)
    return len(signed) / (time.thread_time() - started)


def measure_verification(game: str, plan: Plan, log: MemoryLog, trust: Trust) -> Row:
    """Returns the row of one game."""
    report = _verify(log, trust)  # also enumerates the game's odds, once a process
    rounds = sum(totals.rounds for totals in report.games.values())
    pairs: list[tuple[float, float]] = []
    for _ in range(plan.repeats):
        started = time.thread_time()
        _verify(log, trust)
        ours = rounds / (time.thread_time() - started)
        pairs.append((ours, _signature_rate(log) / 2))
    what = f"{game}, {rounds:,} rounds"
    section = "verify_log on one core beside two bare signatures a round"
    return compare(section, what, "rounds/s", pairs, TARGETS[game])
