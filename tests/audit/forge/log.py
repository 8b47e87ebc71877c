"""A whole log in memory, signed with the real keys: what an operator who cheats could publish.

Hooks, in the order a record meets them; each may change what it is given:

    tamper(record)             before anything is signed
    rewrite(record, payload)   the payload's bytes, before they are signed
    spoil(record, envelope)    the envelope, after signing
"""

import base64
import re
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sealedshoe_audit.log.note import VerifierKey, sign_note
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.v1 import records_pb2 as pb
from tests.audit.forge.tree import leaf_of, path_of, root_of

ORIGIN = "log.example/sealed-shoe"
START_US = 1_767_225_600_000_000  # 2026-01-01T00:00:00Z
SECOND_US = 1_000_000
BY = pb.Accountability(actor="op-1", authorised_by="op-2", reason="test")
ROOT, STATEMENT, CHECKPOINT = 1, 2, 3

Tamper = Callable[[Any], object]
Rewrite = Callable[[Any, bytes], bytes]


def key(number: int) -> Ed25519PrivateKey:
    """Returns one of the test keys, by number."""
    return Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32)


def public(private: Ed25519PrivateKey) -> bytes:
    """Returns the 32 bytes of the public half."""
    return private.public_key().public_bytes_raw()


def payload_type(record: Any) -> str:
    """Returns the payload type of a record."""
    dashed = re.sub("(?<!^)([A-Z])", r"-\1", record.DESCRIPTOR.name).lower()
    return f"application/vnd.sealedshoe.{dashed}.v1+protobuf"


def sign_payload(kind: str, payload: bytes, private: Ed25519PrivateKey) -> pb.Envelope:
    """Returns the DSSE envelope of a payload."""
    message = b"DSSEv1 %d %b %d %b" % (len(kind), kind.encode(), len(payload), payload)
    return pb.Envelope(
        payload_type=kind,
        payload=payload,
        keyid=sha256(public(private)).digest(),
        signature=private.sign(message),
    )


def lp(data: bytes) -> bytes:
    """Returns a uint16 length and the bytes."""
    return len(data).to_bytes(2, "big") + data


def nth(kind: type, count: int, change: Callable[[Any], object]) -> Tamper:
    """Returns a hook that changes the n-th record of a kind, from 1."""
    seen = 0

    def tamper(record: Any) -> None:
        nonlocal seen
        seen += isinstance(record, kind)
        if isinstance(record, kind) and seen == count:
            change(record)

    return tamper


class ForgedLog:
    """A log that grows record by record. `keys`: number added to every key, for other operators."""

    def __init__(
        self,
        tamper: Tamper = lambda _: None,
        *,
        rewrite: Rewrite = lambda _, payload: payload,
        origin: str = ORIGIN,
        keys: int = 0,
    ):
        self.origin = origin
        self.tamper = tamper
        self.rewrite = rewrite
        self.spoil: Callable[[Any, pb.Envelope], object] = lambda *_: None
        self.root, self.statement, self.checkpoint_key = (
            key(n + keys) for n in (ROOT, STATEMENT, CHECKPOINT)
        )
        self.records: list[Any] = []
        self.entries: list[bytes] = []
        self.time_us = START_US
        self.shoes_drawn = 0
        self.start()

    @property
    def leaves(self) -> list[bytes]:
        """The leaf hashes."""
        return [leaf_of(entry) for entry in self.entries]

    def header(self) -> pb.Header:
        """Returns the next record's header, one second after the last."""
        self.time_us += SECOND_US
        return pb.Header(version=1, origin=self.origin, time_us=self.time_us)

    def append(self, record: Any) -> bytes:
        """Signs and adds a record; returns its leaf hash."""
        self.tamper(record)
        payload = self.rewrite(record, record.SerializeToString(deterministic=True))
        envelope = sign_payload(payload_type(record), payload, self.statement)
        self.spoil(record, envelope)
        return self.add(envelope.SerializeToString(deterministic=True), record)

    def add(self, entry: bytes, record: Any = None) -> bytes:
        """Adds a leaf as it is."""
        self.records.append(record)
        self.entries.append(entry)
        return leaf_of(entry)

    def start(self) -> None:
        """Adds LogStarted."""
        keys = public(self.statement) + public(self.checkpoint_key)
        message = b"sealedshoe/v1/log-start\x00" + lp(self.origin.encode()) + keys
        self.append(
            pb.LogStarted(
                header=self.header(),
                root_key=public(self.root),
                statement_key=public(self.statement),
                checkpoint_key=public(self.checkpoint_key),
                root_signature=self.root.sign(message),
                software_manifest=bytes(range(32)),
            )
        )

    def event(self) -> bytes:
        """Adds an event that is no table's."""
        return self.append(
            pb.EventRecorded(header=self.header(), event_class=1, component="server", by=BY)
        )

    def close(self) -> bytes:
        """Adds the last leaf."""
        return self.append(pb.LogClosed(header=self.header(), successor_origin="next", by=BY))

    def change_key(self, number: int, purpose: int = 1, old: bytes | None = None) -> None:
        """Rotates a key to another test key; a signing key is in use from the next leaf on."""
        seals = purpose == pb.KEY_PURPOSE_SEALING
        in_force = self.checkpoint_key if purpose == pb.KEY_PURPOSE_CHECKPOINT else self.statement
        replaced = b"seal-1" if seals else public(in_force)
        record = pb.KeyChanged(
            header=self.header(),
            purpose=pb.KeyPurpose.ValueType(purpose),
            old_key=replaced if old is None else old,
            new_key=f"seal-{number}".encode() if seals else public(key(number)),
            first_leaf=len(self.entries) + 1,
        )
        record.root_signature = self.root.sign(key_change(record))
        if purpose != pb.KEY_PURPOSE_SEALING:
            record.possession_signature = key(number).sign(key_change(record))
        self.append(record)
        if purpose == pb.KEY_PURPOSE_STATEMENT:
            self.statement = key(number)
        if purpose == pb.KEY_PURPOSE_CHECKPOINT:
            self.checkpoint_key = key(number)

    def note(self, size: int | None = None) -> bytes:
        """Returns the signed checkpoint of the first `size` leaves."""
        return sign_head(self.leaves[:size], self.origin, self.checkpoint_key)

    def path(self, index: int, size: int | None = None) -> bytes:
        """Returns the inclusion path of a leaf, joined."""
        return b"".join(path_of(index, self.leaves[:size]))

    def trust(self) -> Trust:
        """Returns what a reader of this log takes as given."""
        checkpoint = VerifierKey(self.origin, 1, public(self.checkpoint_key))
        return Trust(self.origin, public(self.root), (checkpoint,))


def sign_head(leaves: list[bytes], origin: str, private: Ed25519PrivateKey) -> bytes:
    """Returns a signed checkpoint over leaf hashes."""
    return sign_root(root_of(leaves), len(leaves), origin, private)


def sign_root(root: bytes, size: int, origin: str, private: Ed25519PrivateKey) -> bytes:
    """Returns a signed checkpoint that states any root."""
    text = f"{origin}\n{size}\n{base64.b64encode(root).decode()}\n"
    return sign_note(text, origin, private)


def key_change(record: pb.KeyChanged) -> bytes:
    """Returns what root key and new key sign."""
    return (
        b"sealedshoe/v1/key-change\x00"
        + lp(record.header.origin.encode())
        + bytes([record.purpose])
        + lp(record.old_key)
        + lp(record.new_key)
        + record.first_leaf.to_bytes(8, "big")
    )
