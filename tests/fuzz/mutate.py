"""Changes to a protobuf message that keep it canonical: a blind flip of a bit hardly ever does."""

from collections.abc import Callable
from random import Random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, EncodeError, Message

from tests.audit.random_messages import fill
from tests.fuzz.targets import message_of

Mutate = Callable[[bytes, int], bytes]
_F = FieldDescriptor


def mutator_of(name: str, mutate: Mutate) -> Callable[[bytes, int, int], bytes]:
    """Returns a custom mutator for libFuzzer: plain for text; now and then canonical for messages."""

    def run(data: bytes, most: int, seed: int) -> bytes:
        random = Random(seed)
        split = message_of(name, data)
        if split is None or random.random() < 0.3:
            return mutate(data, most)
        prefix, kind = split
        made = prefix + _changed(kind, data[len(prefix) :], random, mutate)
        return made if len(made) <= most else mutate(data, most)

    return run


def _changed(kind: type[Message], data: bytes, random: Random, mutate: Mutate) -> bytes:
    message = kind()
    try:
        message.ParseFromString(data)
        message.DiscardUnknownFields()
        for _ in range(random.choice((1, 1, 2, 4))):
            _change(message, random, mutate)
        return message.SerializeToString(deterministic=True)
    except (DecodeError, EncodeError):
        return mutate(data, len(data) + 64)


def _change(message: Any, random: Random, mutate: Mutate) -> None:
    """Goes down to some field and changes it."""
    fields = message.DESCRIPTOR.fields
    if not fields:
        return None
    field = random.choice([f for f, _ in message.ListFields()] or fields)
    if random.random() < 0.1:
        field = random.choice(fields)
    if field.message_type is not None and random.random() < 0.85:
        value = getattr(message, field.name)
        if not field.is_repeated:
            return _change(value, random, mutate)
        if len(value):
            return _change(random.choice(value), random, mutate)
    return _replace(message, field, random, mutate)


def _replace(message: Any, field: FieldDescriptor, random: Random, mutate: Mutate) -> None:
    items = getattr(message, field.name)
    if field.is_repeated and len(items) and random.random() < 0.7:
        return _reorder(items, field, random)
    if field.type == _F.TYPE_BYTES and not field.is_repeated and random.random() < 0.6:
        setattr(message, field.name, mutate(items, len(items) + 64))
        return None
    if random.random() < 0.3:
        return message.ClearField(field.name)
    other = type(message)()
    fill(other, random, 0.9)
    message.ClearField(field.name)
    for name in [f.name for f, _ in other.ListFields() if f.name != field.name]:
        other.ClearField(name)
    return message.MergeFrom(other)


def _reorder(items: Any, field: FieldDescriptor, random: Random) -> None:
    n = random.randrange(len(items))
    choice = random.random()
    if choice < 0.4:
        del items[n]
    elif choice < 0.8 and len(items) < 64:
        items.append(items[n])
    else:
        moved = [items.pop() for _ in range(len(items) - n)]
        items.extend(moved)
