"""Every way in which a case departs from an honest one."""

from collections.abc import Callable
from hashlib import sha256
from random import Random
from typing import Any

from sealedshoe_audit.containers import seal_receipt
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.v1.evidence_pb2 import Evidence, PlayerOpening, Receipt
from tests.audit.forge.evidence import make_evidence
from tests.audit.forge.log import key
from tests.differential.case import Case
from tests.differential.draft import Draft, Leaf, finish, sign_by_root
from tests.differential.stories import Story, cosign
from tests.differential.text_damage import another_note, another_trust, changed, flipped
from tests.differential.wire_damage import oddly_encoded
from tests.fuzz.mutate import change_message

Change = Callable[[Draft, Random], Case]
_DIGEST = bytes([15 << 3 | 2, 32])


def digested(body: bytes) -> bytes:
    """Puts the digest behind bytes that may be no message."""
    return body + _DIGEST + sha256(body).digest()


def _bytes(data: bytes, most: int, random: Random) -> bytes:
    return changed(data, random)[:most]


def honest(draft: Draft, random: Random) -> Case:
    """Nothing is changed."""
    return finish(draft, random, "honest")


def one_bit(draft: Draft, random: Random) -> Case:
    """One bit of a file."""
    case = finish(draft, random, "one bit")
    return Case(flipped(case.evidence, random), case.trust, case.receipt, case.about)


def file_bytes(draft: Draft, random: Random) -> Case:
    """Bytes of the file, with a digest that fits; or without one."""
    case = finish(draft, random, "file bytes")
    fits = random.random() < 0.8
    body = changed(case.evidence[:-34], random) if fits else changed(case.evidence, random)
    return Case(digested(body) if fits else body, case.trust, case.receipt, case.about)


def file_encoding(draft: Draft, random: Random) -> Case:
    """The file's own encoding."""
    case = finish(draft, random, "file encoding")
    body = oddly_encoded(case.evidence[:-34], Evidence.DESCRIPTOR, random)
    return Case(digested(body), case.trust, case.receipt, case.about)


def file_field(draft: Draft, random: Random) -> Case:
    """A field of the file, whatever it is."""
    draft.seal()
    for _ in range(random.choice((1, 1, 2))):
        change_message(draft.evidence, random, lambda data, most: _bytes(data, most, random))
    body = draft.evidence
    body.digest = b""
    data = digested(body.SerializeToString(deterministic=True))
    return Case(data, draft.story.trust.text().encode(), None, "file field")


def record_field(draft: Draft, random: Random) -> Case:
    """A field of a record, signed and proved again by an operator who has every key."""
    for _ in range(random.choice((1, 1, 1, 2))):
        leaf = random.choice(draft.leaves)
        change_message(leaf.record, random, lambda data, most: _bytes(data, most, random))
        if random.random() < 0.7:
            sign_by_root(leaf.record, draft.story.table.log.root)
    draft.relink = random.random() < 0.9
    return finish(draft, random, "record field")


def number_nudged(draft: Draft, random: Random) -> Case:
    """A number of a record, changed by a little."""
    leaf = random.choice(draft.leaves)
    _nudge(leaf.record, random)
    sign_by_root(leaf.record, draft.story.table.log.root)
    return finish(draft, random, "number nudged")


def _nudge(message: Any, random: Random) -> None:
    fields = [f for f, _ in message.ListFields() if f.name not in ("origin",)]
    random.shuffle(fields)
    for field in fields:
        value = getattr(message, field.name)
        if field.message_type is not None and len(value) if field.is_repeated else field.message_type:
            _nudge(random.choice(value) if field.is_repeated else value, random)
            return
        if not field.is_repeated and isinstance(value, int) and not isinstance(value, bool):
            _set_near(message, field.name, value, random)
            return


def _set_near(message: Any, name: str, value: int, random: Random) -> None:
    step = random.choice((-1, 1, -20, 20, value, -value))
    try:
        setattr(message, name, value + step)
    except ValueError:
        message.ClearField(name)


def record_encoding(draft: Draft, random: Random) -> Case:
    """How a record or its envelope is encoded, under a good signature."""
    leaf = random.choice(draft.leaves)
    kind = type(leaf.record).DESCRIPTOR
    if random.random() < 0.6:
        leaf.payload = lambda data: oddly_encoded(data, kind, random)
    else:
        leaf.envelope = lambda data: oddly_encoded(data, pb.Envelope.DESCRIPTOR, random)
    return finish(draft, random, "record encoding")


def payload_bytes(draft: Draft, random: Random) -> Case:
    """Bytes of a record or its envelope; the record is still proved."""
    leaf = random.choice(draft.leaves)
    if random.random() < 0.5:
        leaf.payload = lambda data: changed(data, random)
    else:
        leaf.envelope = lambda data: changed(data, random)
    return finish(draft, random, "payload bytes")


def record_kind(draft: Draft, random: Random) -> Case:
    """A record under another kind's name."""
    dashed = random.choice(("time-stamped", "log-closed", "round-dealt", "nothing", "Round-dealt"))
    leaf = random.choice(draft.leaves)
    leaf.kind = f"application/vnd.sealedshoe.{dashed}.v1+protobuf"
    return finish(draft, random, "record kind")


def other_signer(draft: Draft, random: Random) -> Case:
    """A record signed by a key that is not in force."""
    leaf = random.choice(draft.leaves)
    leaf.signer = key(random.choice((1, 2, 3, 9, 99)))
    return finish(draft, random, "other signer")


def records_moved(draft: Draft, random: Random) -> Case:
    """A record dropped, doubled, moved, or given another index."""
    leaves = draft.leaves
    n, m = random.randrange(len(leaves)), random.randrange(len(leaves))
    way = random.randrange(5)
    if way == 0:
        del leaves[n]
    elif way == 1:
        leaves.insert(m, _twin(leaves[n], leaves[n].index))
    elif way == 2:
        leaves[n], leaves[m] = leaves[m], leaves[n]
    elif way == 3:
        leaves[n].index = random.choice((0, leaves[m].index, draft.size - 1, draft.size, 2**63))
    else:
        leaves[n].index, leaves[m].index = leaves[m].index, leaves[n].index
    return finish(draft, random, "records moved")


def _twin(leaf: Leaf, index: int) -> Leaf:
    return Leaf(index, leaf.record, leaf.was)


def record_added(draft: Draft, random: Random) -> Case:
    """A true record of the log that the round does not need."""
    log = draft.story.table.log
    index = random.randrange(len(log.records))
    known = {leaf.index for leaf in draft.leaves}
    if index not in known and log.records[index] is not None:
        draft.leaves.append(Leaf(index, log.records[index], log.leaves[index]))
        draft.leaves.sort(key=lambda leaf: leaf.index)
    return finish(draft, random, "record added")


def another_round(draft: Draft, random: Random) -> Case:
    """Another round's number, proof, players or receipt."""
    case = finish(draft, random, "another round", receipt=True)
    other = random.choice(draft.story.finished)
    foreign = make_evidence(draft.story.table, other)
    way = random.randrange(4)
    if way == 0:
        draft.evidence.round_number = random.choice((0, other, other + 1, 2**63))
    elif way == 1:
        draft.evidence.card_proof = foreign.card_proof
    elif way == 2:
        draft.evidence.players.extend(foreign.players)
    receipt = Draft.of(draft.story, other)
    receipt.seal()
    data = seal_receipt(receipt.receipt()) if way == 3 else case.receipt
    return Case(draft.seal(), case.trust, data, case.about)


def player_opening(draft: Draft, random: Random) -> Case:
    """The openings of the players' commitments."""
    players = draft.evidence.players
    if players:
        chosen = random.choice(players)
        change_message(chosen, random, lambda data, most: _bytes(data, most, random))
        if random.random() < 0.3:
            players.append(chosen)
    else:
        players.append(PlayerOpening(wager_id="x", salt=bytes(16), reference="y"))
    return finish(draft, random, "player opening")


def head_size(draft: Draft, random: Random) -> Case:
    """A checkpoint of the same log at another size."""
    draft.size = random.randint(1, draft.size)
    return finish(draft, random, "head size")


def head_text(draft: Draft, random: Random) -> Case:
    """The checkpoint's note."""
    origin = draft.story.table.log.origin
    draft.note = lambda note: another_note(note, origin, random)
    return finish(draft, random, "head text")


def named_head(draft: Draft, random: Random) -> Case:
    """The cosigned head: changed, or another one."""
    heads = [*draft.story.cosigned.values(), draft.story.table.log.note(), b""]
    head = random.choice(heads)
    if random.random() < 0.5:
        head = another_note(head, draft.story.table.log.origin, random) if head else b"x"
    draft.evidence.cosigned_head = head
    if random.random() < 0.6:  # the opening names it
        for leaf in draft.leaves:
            if isinstance(leaf.record, pb.RoundOpened):
                leaf.record.cosigned_head_hash = sha256(head).digest()
    return finish(draft, random, "named head")


def trust_file(draft: Draft, random: Random) -> Case:
    """The trust file."""
    case = finish(draft, random, "trust file")
    return Case(case.evidence, another_trust(case.trust, random), case.receipt, case.about)


def receipt_file(draft: Draft, random: Random) -> Case:
    """The receipt: its bytes, encoding, fields or head."""
    case = finish(draft, random, "receipt file", receipt=False)
    receipt = draft.receipt(random.choice((None, None, random.randint(1, draft.size))))
    origin = draft.story.table.log.origin
    way = random.randrange(6)
    if way == 0:
        receipt.checkpoint = another_note(receipt.checkpoint, origin, random)
    elif way == 1:
        receipt.checkpoint = cosign(receipt.checkpoint, ["w1.example/a"], 7)
    elif way == 2:
        change_message(receipt, random, lambda data, most: _bytes(data, most, random))
    data = seal_receipt(receipt) if way != 2 else _resealed(receipt)
    if way == 3:
        data = digested(oddly_encoded(data[:-34], Receipt.DESCRIPTOR, random))
    elif way == 4:
        data = random.choice((changed(data, random), digested(changed(data[:-34], random))))
    return Case(case.evidence, case.trust, data, case.about)


def _resealed(receipt: Receipt) -> bytes:
    receipt.digest = b""
    return digested(receipt.SerializeToString(deterministic=True))


def stale_keys(draft: Draft, random: Random) -> Case:
    """A trust file with fewer or more checkpoint keys than the log used, or a quorum not met."""
    case = finish(draft, random, "stale keys")
    trust = draft.story.trust
    text = case.trust.decode()
    if len(trust.checkpoint_keys) > 1 and random.random() < 0.7:
        gone = random.choice(trust.checkpoint_keys).text()
        lines = [line for line in text.splitlines(keepends=True) if gone not in line]
        text = "".join(lines).replace('",\n  ],\n  "format"', '"\n  ],\n  "format"')
    else:
        text = text.replace(f'"quorum": {trust.quorum}', f'"quorum": {trust.quorum + 1}')
    return Case(case.evidence, text.encode(), case.receipt, case.about)


WEIGHTS: dict[Change, int] = {
    honest: 8,
    one_bit: 2,
    file_bytes: 6,
    file_encoding: 6,
    file_field: 8,
    record_field: 24,
    number_nudged: 12,
    record_encoding: 8,
    payload_bytes: 4,
    record_kind: 2,
    other_signer: 3,
    records_moved: 5,
    record_added: 3,
    another_round: 4,
    player_opening: 3,
    head_size: 3,
    head_text: 6,
    named_head: 5,
    trust_file: 6,
    receipt_file: 8,
    stale_keys: 2,
}


def any_case(story: Story, random: Random) -> Case:
    """Returns a case of a random round with a random change."""
    draft = Draft.of(story, random.choice(story.finished))
    change = random.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
    return change(draft, random)
