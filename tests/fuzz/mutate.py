"""Changes to a protobuf message that keep it canonical: a blind flip of a bit hardly ever does."""

from collections.abc import Callable
from random import Random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, EncodeError, Message

from sealedshoe_audit.v1.evidence_pb2 import Evidence, Receipt
from sealedshoe_audit.v1.records_pb2 import Envelope
from sealedshoe_audit.v1.state_pb2 import VerifierPosition
from tests.audit.random_messages import fill
from tests.fuzz.targets import KINDS

Mutate = Callable[[bytes, int], bytes]
_F = FieldDescriptor
# Targets whose input, after so many bytes, is a message.
MESSAGES: dict[str, tuple[int, type[Message] | None]] = {
    "evidence": (0, Evidence),
    "receipt": (0, Receipt),
    "envelope": (0, Envelope),
    "record": (1, None),
    "position": (0, VerifierPosition),
}


def mutator_of(name: str, mutate: Mutate) -> Callable[[bytes, int, int], bytes]:
    """Returns a custom mutator for libFuzzer: plain for text; now and then canonical for messages."""

    def run(data: bytes, most: int, seed: int) -> bytes:
        random = Random(seed)
        split = _message_in(name, data)
        if split is None or random.random() < 0.3:
            return mutate(data, most)
        prefix, kind = split
        made = prefix + _changed(kind, data[len(prefix) :], random, mutate)
        return made if len(made) <= most else mutate(data, most)

    return run


def _message_in(name: str, data: bytes) -> tuple[bytes, type[Message]] | None:
    """Returns what stands before the message in a target's input, and the message's type."""
    if name not in MESSAGES:
        return None
    skip, kind = MESSAGES[name]
    return data[:skip], kind or KINDS[data[0] % len(KINDS) if data else 0]


def _changed(kind: type[Message], data: bytes, random: Random, mutate: Mutate) -> bytes:
    message = kind()
    try:
        message.ParseFromString(data)
        message.DiscardUnknownFields()
        for _ in range(random.choice((1, 1, 2, 4))):
            change_message(message, random, mutate)
        return message.SerializeToString(deterministic=True)
    except (DecodeError, EncodeError):
        return mutate(data, len(data) + 64)


def change_message(message: Any, random: Random, mutate: Mutate) -> None:
    """Goes down to some field and changes it."""
    fields = message.DESCRIPTOR.fields
    if not fields:
        return
    field = random.choice([f for f, _ in message.ListFields()] or fields)
    if random.random() < 0.1:
        field = random.choice(fields)
    if field.message_type is not None and random.random() < 0.85:
        value = getattr(message, field.name)
        if not field.is_repeated or len(value):
            inner = random.choice(value) if field.is_repeated else value
            change_message(inner, random, mutate)
            return
    _replace(message, field, random, mutate)


def _replace(message: Any, field: FieldDescriptor, random: Random, mutate: Mutate) -> None:
    items = getattr(message, field.name)
    if field.is_repeated and len(items) and random.random() < 0.7:
        _reorder(items, random)
    elif field.type == _F.TYPE_BYTES and not field.is_repeated and random.random() < 0.6:
        setattr(message, field.name, mutate(items, len(items) + 64))
    elif random.random() < 0.3:
        message.ClearField(field.name)
    else:
        _fill_anew(message, field, random)


def _fill_anew(message: Any, field: FieldDescriptor, random: Random) -> None:
    """Gives one field another value out of a whole message of random ones."""
    other = type(message)()
    fill(other, random, 0.9)
    message.ClearField(field.name)
    for name in [f.name for f, _ in other.ListFields() if f.name != field.name]:
        other.ClearField(name)
    message.MergeFrom(other)


def _reorder(items: Any, random: Random) -> None:
    """Removes an item, repeats one, or turns the last ones round."""
    n = random.randrange(len(items))
    choice = random.random()
    if choice < 0.4:
        del items[n]
    elif choice < 0.8 and len(items) < 64:
        items.append(items[n])
    else:
        moved = [items.pop() for _ in range(len(items) - n)]
        items.extend(moved)
