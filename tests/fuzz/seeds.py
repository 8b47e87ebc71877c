"""Seeds of the kept corpus: `python -m tests.fuzz.seeds` writes them to tests/fuzz/corpus.

They are real artefacts: the worked examples of tests/vectors and logs out of tests/audit/forge. What is
named `long-...` is an attack by size, which a fuzzer takes ages to grow.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from sealedshoe_audit.containers import seal_evidence, seal_receipt
from sealedshoe_audit.fold.log import LogFold
from sealedshoe_audit.log.note import VerifierKey, cosignature_line, sign_note
from sealedshoe_audit.log.policy import Group, Policy, PolicyLog, Witness
from sealedshoe_audit.log.proof_file import ProofFile
from sealedshoe_audit.log.witness_request import WitnessRequest
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.v1.game_pb2 import GameDefinition
from sealedshoe_audit.v1.records_pb2 import Envelope
from sealedshoe_audit.v1.state_pb2 import (
    CosignedHead,
    TableSnapshot,
    TimesSnapshot,
    VerifierPosition,
)
from sealedshoe_audit.verify.position import FORMAT as POSITION_FORMAT
from sealedshoe_audit.verify.position import position_of
from tests.audit.forge.cases import CASES
from tests.audit.forge.evidence import make_evidence, make_receipt
from tests.audit.forge.log import ORIGIN as FORGED_ORIGIN
from tests.audit.forge.log import ForgedLog, key, public
from tests.audit.forge.published import publish
from tests.audit.forge.stories import long_story
from tests.audit.log.example import (
    CHECKPOINT,
    EXAMPLE,
    LOG_KEY,
    LOG_LINE,
    ORIGIN,
    TEXT,
    WITNESS_KEY,
)
from tests.audit.random_messages import fill
from tests.audit.vectors import vector_json
from tests.fuzz.targets import KINDS

CORPUS = Path(__file__).parent / "corpus"
DIGEST_FIELD_BYTES = 34
Seed = tuple[str, str, bytes]  # target, name, input


def notes() -> Iterator[Seed]:
    """Notes, checkpoints, keys and archives of heads."""
    text_of_two = f"{ORIGIN}\n0\n{EXAMPLE['checkpoint'].splitlines()[2]}\n"
    empty = f"{ORIGIN}\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n"
    free = sign_note("any text\n\n— with a dash\n", "n/ä", key(5))
    later = sign_note(TEXT, ORIGIN, key(5)) + cosignature_line(TEXT, "w", key(6), 1).encode()
    yield "note", "worked-example", CHECKPOINT
    yield "note", "signed-once", TEXT.encode() + b"\n" + LOG_LINE
    yield "note", "other-text", free
    yield "note", "other-keys", later
    yield "note", "sixteen-signatures", TEXT.encode() + b"\n" + LOG_LINE * 16
    yield "checkpoint", "worked-example", TEXT.encode()
    yield "checkpoint", "empty-tree", empty.encode()
    yield "checkpoint", "empty-tree-other-root", text_of_two.encode()
    yield "vkey", "log", EXAMPLE["log"]["vkey"].encode()
    yield "vkey", "witness", EXAMPLE["witness"]["vkey"].encode()
    yield "vkey", "made-of-parts", b"name/1\x01" + bytes(range(32))
    yield "heads", "one", CHECKPOINT
    yield "heads", "three", CHECKPOINT + free + later
    yield "heads", "torn", CHECKPOINT + later[:-20]
    log = ForgedLog()
    log.event()
    yield "heads", "growing", log.note(1) + log.note(2)


def proofs() -> Iterator[Seed]:
    """Proof files and witness requests."""
    hashes = [bytes([n]) * 32 for n in range(63)]
    yield "proof", "worked-example", ProofFile(1, tuple(hashes[:2]), CHECKPOINT).data()
    yield "proof", "extra", ProofFile(0, (), CHECKPOINT, b"extra").data()
    yield "proof", "empty-extra", ProofFile(10**19 - 1, (hashes[0],), b"\n", b"").data()
    yield "proof", "most-hashes", ProofFile(7, tuple(hashes), b"x").data()
    yield "request", "worked-example", WitnessRequest(2, tuple(hashes[:1]), CHECKPOINT).data()
    yield "request", "first", WitnessRequest(0, (), CHECKPOINT).data()
    yield "request", "most-hashes", WitnessRequest(10**18, tuple(hashes), b"\n").data()


def policies() -> Iterator[Seed]:
    """Policies and trust files."""
    keys = [VerifierKey(f"w{n}", 4, public(key(n))) for n in range(1, 5)]
    witnesses = tuple(Witness(f"w{n}", k, "https://w.example/") for n, k in enumerate(keys))
    groups = (Group("two", 2, ("w0", "w1", "w2")), Group("all", 2, ("two", "w3")))
    policy = Policy((PolicyLog(LOG_KEY, "http://log.example/"),), witnesses, groups, "all")
    text = policy.text()
    yield "policy", "groups", text.encode()
    yield "policy", "any-and-all", f"# who\n\n{text}".replace("2 w0", "any w0").encode()
    yield "policy", "all", text.replace("all 2", "all all").replace(" ", "\t ").encode()
    yield "policy", "none", f"log {LOG_KEY.text()}\nquorum none\n".encode()
    yield "policy", "one-witness", f"witness w {keys[0].text()}\nquorum w\n".encode()
    yield "policy", "long-chain-of-groups", _chain(keys[0], 600)
    pinned = Trust(ORIGIN, public(key(1)), (LOG_KEY,), (WITNESS_KEY, *keys), 2)
    yield (
        "trust",
        "worked-example",
        vector_json("worked_example/worked_example.json")["trust"].encode(),
    )
    yield "trust", "witnesses", pinned.text().encode()
    yield "trust", "one-key", Trust(ORIGIN, public(key(1)), (LOG_KEY,)).text().encode()
    surrogate = pinned.text().replace(LOG_KEY.text(), "\\ud800")
    yield "trust", "lone-surrogate", surrogate.encode()
    deep = json.dumps(pinned.text()) + "[" * 3000
    yield "trust", "long-nesting", deep.encode()


def _chain(witness: VerifierKey, depth: int) -> bytes:
    lines = [f"witness g0 {witness.text()}"]
    lines += [f"group g{n + 1} 1 g{n}" for n in range(depth)]
    return "\n".join([*lines, f"quorum g{depth}\n"]).encode()


def tiles() -> Iterator[Seed]:
    """Bundles, the first byte being their width less one, and paths."""
    yield "bundle", "worked-example", b"\x02" + bytes.fromhex(EXAMPLE["bundle"]["data"])
    yield "bundle", "empty-entries", b"\xff" + bytes(512)
    yield "bundle", "long-entry", b"\x00\x04\x00" + bytes(1024)
    small = {name: data for name, data in publish(long_story().log).items() if "entries" in name}
    for data in small.values():
        yield "bundle", "forged", bytes([_width(data) - 1]) + data
    for name in ("0/000", "63/x001/x234/067.p/255", "entries/x001/000", "entries/005.p/1"):
        yield "path", name.replace("/", "-"), name.encode()
    yield "path", "long-index", b"0/" + b"x000/" * 1434 + b"000"
    yield "path", "long-width", b"entries/000.p/" + b"1" * 4301


def _width(data: bytes) -> int:
    width = offset = 0
    while offset < len(data):
        offset += 2 + int.from_bytes(data[offset : offset + 2], "big")
        width += 1
    return width


def messages() -> Iterator[Seed]:
    """Evidence, receipts, leaves, records, positions."""
    example: dict[str, Any] = vector_json("worked_example/worked_example.json")
    yield "evidence", "worked-example", bytes.fromhex(example["evidence"])[:-DIGEST_FIELD_BYTES]
    yield "receipt", "worked-example", bytes.fromhex(example["receipt"])[:-DIGEST_FIELD_BYTES]
    for name in ("first_round", "voided_round", "open_shoe"):
        table, number = CASES[name]()
        sealed = seal_evidence(make_evidence(table, number))
        yield "evidence", name.replace("_", "-"), sealed[:-DIGEST_FIELD_BYTES]
        sealed = seal_receipt(make_receipt(table, number))
        yield "receipt", name.replace("_", "-"), sealed[:-DIGEST_FIELD_BYTES]
    log = long_story().log
    log.change_key(9)
    log.event()
    log.close()
    for leaf, recorded in zip(log.entries, log.records, strict=True):
        name = type(recorded).__name__
        if len(leaf) < 2000 or name == "GameInstalled":
            yield "envelope", name, leaf
            prefix = bytes([KINDS.index(type(recorded))])
            yield "record", name, prefix + Envelope.FromString(leaf).payload
    for n, kind in enumerate(KINDS):
        message = fill(kind(), Random(n))
        payload = message.SerializeToString(deterministic=True)
        yield "record", f"random-{kind.DESCRIPTOR.name}", bytes([n]) + payload


def positions() -> Iterator[Seed]:
    """Positions at the first leaves, in the middle of rounds, and at the end of a log."""
    for name in ("open_shoe", "first_round", "after_a_rotation", "draining"):
        log = CASES[name]()[0].log
        fold = LogFold(log.origin, public(log.root))
        yield "position", "start", position_of(fold, 0, TimesSnapshot())[:-32]
        for count, leaf in enumerate(log.entries, 1):
            fold.apply(leaf)
            if count in (1, 4, 5, len(log.entries)):
                times = TimesSnapshot(
                    newest_stamp_us=count,
                    cosigned=[CosignedHead(hash=bytes(32), time_s=1)],
                    latest_steps=range(count),
                )
                label = f"{name}-{count}".replace("_", "-")
                yield "position", label, position_of(fold, 2, times)[:-32]


def faults() -> Iterator[Seed]:
    """Inputs that are well formed and make no sense."""
    begun = VerifierPosition(format=POSITION_FORMAT, origin=FORGED_ORIGIN)
    table = VerifierPosition(tables=[TableSnapshot(table="7")])
    game = VerifierPosition(games=[GameDefinition(game_id="g", version=1)])
    for name, more in (("unknown-game", table), ("unknown-shuffle", game)):
        more.MergeFrom(begun)
        yield "position", name, more.SerializeToString(deterministic=True)
    yield "vkey", "lone-surrogate", b"\xff+a+b"


def every_seed() -> dict[tuple[str, str], bytes]:
    """Returns {(target, name): input}; of several under one name the last."""
    makers = (notes, proofs, policies, tiles, messages, positions, faults)
    return {(where, name): data for make in makers for where, name, data in make()}


def main() -> None:
    """Writes them."""
    for (where, name), data in every_seed().items():
        file = CORPUS / where / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


if __name__ == "__main__":
    main()
