"""What size costs: the hashes of a million leaves, a start on a million-leaf log, a second core."""

import os
import time
from hashlib import sha256
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sealedshoe_audit.log.checkpoint import Checkpoint
from sealedshoe_audit.log.merkle import Frontier, leaf_hash
from sealedshoe_audit.log.note import TYPE_ED25519, VerifierKey, sign_note
from sealedshoe_audit.log.publication import grown_files
from sealedshoe_audit.signing import public_bytes
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.verify.hashes import verify_hashes
from sealedshoe_audit.verify.log import LogOptions, verify_log
from sealedshoe_server.config import Config
from sealedshoe_server.guard import Guard
from sealedshoe_server.house import SERVER
from sealedshoe_server.keys import load_keys
from sealedshoe_server.statements import Statements
from sealedshoe_server.storage.interface import Batch, NewEntry
from sealedshoe_server.storage.sqlite import SqliteStore
from tests.bench.plan import Plan
from tests.bench.processes import BenchBroken, game_server
from tests.bench.report import Row, Target, compare
from tests.bench.verification import MemoryLog

ORIGIN = "bench.example/log"
ENTRY_BYTES = 400
BATCH = 1000


def measure_hashes(plan: Plan) -> Row:
    """Returns the time for a large log's hashes alone, beside hashing its bytes once."""
    leaves = plan.large_log
    key = Ed25519PrivateKey.generate()
    body = os.urandom(ENTRY_BYTES - 8)
    entries = [number.to_bytes(8) + body for number in range(leaves)]
    frontier = Frontier()
    files = dict(grown_files(frontier, entries, lambda _: None))
    text = Checkpoint(ORIGIN, leaves, frontier.root()).text()
    log = MemoryLog(files | {"checkpoint": sign_note(text, ORIGIN, key)}, entries)
    trust = Trust(ORIGIN, bytes(32), (VerifierKey(ORIGIN, TYPE_ED25519, public_bytes(key)),))
    started = time.thread_time()
    if not verify_hashes(log, trust, lambda _, __: None).valid:
        raise BenchBroken("the hashes do not lead to the head")
    ours = time.thread_time() - started
    started = time.thread_time()
    for entry in entries:
        sha256(entry).digest()
    bare = time.thread_time() - started
    target = Target(15.0 * leaves / 1_000_000, of_ratio=False)
    what = f"{leaves:,} leaves"
    return compare("hashes alone beside SHA-256 of every leaf", what, "s", [(ours, bare)], target)


def measure_second_core(plan: Plan, game: str, log: MemoryLog, trust: Trust) -> Row:
    """Returns how much faster a whole log is verified by two processes: who folds, and a helper."""
    pairs: list[tuple[float, float]] = []
    for _ in range(plan.repeats):
        pairs.append((1 / _seconds(log, trust, 1), 1 / _seconds(log, trust, 0)))
    target = Target(1.7, is_minimum=True)
    return compare("verify_log on two cores beside one", game, "logs/s", pairs, target)


def _seconds(log: MemoryLog, trust: Trust, helpers: int) -> float:
    started = time.monotonic()
    options = LogOptions(helpers=helpers)
    report = verify_log(log, trust, time.time_ns() // 1000, lambda _, __: None, options)
    if not report.valid:
        raise BenchBroken(f"the log does not verify: {report.findings[0]}")
    return time.monotonic() - started


def measure_large_restart(plan: Plan, scratch: Path) -> Row:
    """Returns the time until a server on a large log listens, beside a first start."""
    data_dir = scratch / "large"
    started = time.monotonic()
    with game_server(data_dir):
        first = time.monotonic() - started
    _fill(data_dir, plan.large_log)
    started = time.monotonic()
    with game_server(data_dir):
        again = time.monotonic() - started
    target = Target(3.0, of_ratio=False)
    what = f"log of {plan.large_log:,} leaves"
    return compare("restart beside a first start", what, "s", [(again, first)], target)


def _fill(data_dir: Path, leaves: int) -> None:
    """Appends one event again and again: sound records, and the store's own way of writing them."""
    origin = Config().origin
    event = pb.EventRecorded(
        header=pb.Header(version=1, origin=origin, time_us=time.time_ns() // 1000),
        event_class=pb.EventClass.EVENT_CLASS_CLOCK_MOVED,
        component="bench",
        by=SERVER,
    )
    envelope = Statements(load_keys(data_dir / "keys").statement).sign(event)
    entry = NewEntry(envelope, leaf_hash(envelope))
    store = SqliteStore(data_dir / "log.db", origin)
    head = store.head()
    while head.head.size < leaves:
        head, _ = store.append([Batch((entry,) * BATCH)], head.time_us + 1)
    store.close()
    guard = Guard(data_dir.with_name(f"{data_dir.name}.guard"))
    guard.read()
    guard.write(head.text)
