"""A round's evidence taken apart, so that a changed record can be signed and proved again.

What a change breaks must be the rule that it breaks, not the nearest signature: leaf hashes that later
records name are followed, envelopes signed anew, paths and checkpoint made over the new leaves.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sealedshoe_audit.containers import seal_evidence, seal_receipt
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.v1.evidence_pb2 import Evidence, LoggedRecord, Receipt
from tests.audit.forge.evidence import chosen_records, make_evidence, opening_index
from tests.audit.forge.log import key, key_change, lp, payload_type, public, sign_payload, sign_root
from tests.audit.forge.tree import leaf_of, path_of, root_of
from tests.differential.case import Case
from tests.differential.stories import Story, cosign

Bytes = Callable[[bytes], bytes]
KEYS = {public(key(number)): key(number) for number in range(1, 256)}


def same(data: bytes) -> bytes:
    """Changes nothing."""
    return data


@dataclass(slots=True)
class Leaf:
    """A record on its way into the file; the hooks change its bytes before and after it is signed."""

    index: int
    record: Any
    was: bytes
    signer: Ed25519PrivateKey | None = None
    payload: Bytes = same
    envelope: Bytes = same
    kind: str = ""


@dataclass(slots=True)
class Draft:
    """One round's evidence and receipt, open for changes."""

    story: Story
    number: int
    leaves: list[Leaf]
    evidence: Evidence
    size: int
    relink: bool = True
    note: Bytes = same
    entries: Bytes = same
    hashes: list[bytes] = field(default_factory=lambda: [])

    @classmethod
    def of(cls, story: Story, number: int) -> "Draft":
        """Takes an honest round apart."""
        log = story.table.log
        chosen = chosen_records(story.table, number)
        leaves = [Leaf(i, _copy(record), leaf_of(log.entries[i])) for i, record in chosen]
        evidence = make_evidence(story.table, number)
        del evidence.records[:]
        for leaf in leaves:
            record = leaf.record
            if isinstance(record, pb.RoundOpened) and record.round_number == number:
                evidence.cosigned_head = story.cosigned.get(record.cosigned_head_hash, b"")
        return cls(story, number, leaves, evidence, len(log.entries), hashes=log.leaves)

    def seal(self) -> bytes:
        """Signs, proves and seals."""
        made = self._signed()
        hashes = list(self.hashes[: self.size])
        for leaf, entry in zip(self.leaves, made, strict=True):
            if leaf.index < len(hashes):
                hashes[leaf.index] = leaf_of(entry)
        del self.evidence.records[:]
        for leaf, entry in zip(self.leaves, made, strict=True):
            path = b"".join(path_of(leaf.index, hashes)) if leaf.index < len(hashes) else b""
            self.evidence.records.append(
                LoggedRecord(index=leaf.index, envelope=entry, inclusion_path=path)
            )
        self.hashes = hashes
        self.evidence.checkpoint = self.note(self.head(hashes))
        return seal_evidence(self.evidence)

    def head(self, hashes: list[bytes]) -> bytes:
        """Returns the checkpoint over leaf hashes, cosigned as the trust file asks."""
        log, trust = self.story.table.log, self.story.trust
        note = sign_root(root_of(hashes), len(hashes), log.origin, log.checkpoint_key)
        return cosign(note, [w.name for w in trust.witnesses[: trust.quorum]], 1_767_225_700)

    def receipt(self, size: int | None = None) -> Receipt:
        """Returns the player's receipt, after `seal`."""
        index = opening_index(self.story.table, self.number)
        entry = next((r.envelope for r in self.evidence.records if r.index == index), b"")
        hashes = self.hashes[: size or index + 1]
        path = b"".join(path_of(index, hashes)) if index < len(hashes) else b""
        opening = LoggedRecord(index=index, envelope=entry, inclusion_path=path)
        log = self.story.table.log
        note = sign_root(root_of(hashes), len(hashes), log.origin, self._checkpoint_key(hashes))
        return Receipt(opening=opening, checkpoint=note)

    def _checkpoint_key(self, hashes: list[bytes]) -> Ed25519PrivateKey:
        """The checkpoint key in force at a head."""
        log = self.story.table.log
        changes = [
            record
            for record in log.records[: len(hashes)]
            if isinstance(record, pb.KeyChanged) and record.purpose == pb.KEY_PURPOSE_CHECKPOINT
        ]
        in_force = changes[-1].new_key if changes else log.records[0].checkpoint_key
        return KEYS[in_force]

    def _signed(self) -> list[bytes]:
        renamed: dict[bytes, bytes] = {}
        made: list[bytes] = []
        for leaf in self.leaves:
            if self.relink:
                _follow(leaf.record, renamed)
            data = leaf.payload(leaf.record.SerializeToString(deterministic=True))
            signer = leaf.signer or self._statement_key(leaf.index)
            envelope = sign_payload(leaf.kind or payload_type(leaf.record), data, signer)
            entry = leaf.envelope(envelope.SerializeToString(deterministic=True))
            renamed[leaf.was] = leaf_of(entry)
            made.append(entry)
        return made

    def _statement_key(self, index: int) -> Ed25519PrivateKey:
        log = self.story.table.log
        changes = [
            record
            for record in log.records[:index]
            if isinstance(record, pb.KeyChanged) and record.purpose == pb.KEY_PURPOSE_STATEMENT
        ]
        in_force = changes[-1].new_key if changes else log.records[0].statement_key
        return KEYS[in_force]


def _copy(record: Any) -> Any:
    twin = type(record)()
    twin.CopyFrom(record)
    return twin


def _follow(record: Any, renamed: dict[bytes, bytes]) -> None:
    """Puts new leaf hashes in the place of the old ones."""
    if "link" in record.DESCRIPTOR.fields_by_name:
        link = record.link
        link.previous_hash = renamed.get(link.previous_hash, link.previous_hash)
    for name in ("opening_hash", "shoe_opening_hash"):
        if name in record.DESCRIPTOR.fields_by_name:
            value = getattr(record, name)
            setattr(record, name, renamed.get(value, value))


def sign_by_root(record: Any, root: Ed25519PrivateKey) -> None:
    """Signs anew what the root key signs of a record."""
    if isinstance(record, pb.LogStarted):
        keys = record.statement_key + record.checkpoint_key
        origin = lp(record.header.origin.encode()[:65535])
        record.root_signature = root.sign(b"sealedshoe/v1/log-start\x00" + origin + keys)
    if isinstance(record, pb.KeyChanged) and 0 <= record.purpose < 256:
        message = key_change(record)
        record.root_signature = root.sign(message)
        if record.possession_signature and record.new_key in KEYS:
            record.possession_signature = KEYS[record.new_key].sign(message)


def finish(draft: Draft, random: Random, about: str, *, receipt: bool | None = None) -> Case:
    """Returns the case that a draft makes."""
    evidence = draft.seal()
    wanted = random.random() < 0.3 if receipt is None else receipt
    sealed = seal_receipt(draft.receipt()) if wanted else None
    return Case(evidence, draft.story.trust.text().encode(), sealed, about)
