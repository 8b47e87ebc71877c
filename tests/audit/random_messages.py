"""Messages of every recorded type, filled at random from a seed."""

from random import Random
from types import ModuleType
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from sealedshoe_audit.v1 import evidence_pb2, game_pb2, records_pb2, state_pb2

_MODULES: tuple[ModuleType, ...] = (records_pb2, game_pb2, evidence_pb2, state_pb2)
KINDS: list[type[Message]] = [
    getattr(module, name)
    for module in _MODULES
    for name in sorted(module.DESCRIPTOR.message_types_by_name)
]
_F = FieldDescriptor
_EDGES = (0, 1, 127, 128, 2**14, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**64 - 1)


def fill(message: Message, random: Random, density: float = 0.8) -> Message:
    """Sets fields at random, with edge values, and returns the message."""
    for field in message.DESCRIPTOR.fields:
        if random.random() > density:
            continue
        if field.is_repeated:
            _extend(getattr(message, field.name), field, random, density)
        elif field.type == _F.TYPE_MESSAGE:
            getattr(message, field.name).SetInParent()
            fill(getattr(message, field.name), random, density)
        else:
            setattr(message, field.name, _scalar(field, random))
    return message


def _extend(items: Any, field: FieldDescriptor, random: Random, density: float) -> None:
    for _ in range(random.randrange(4)):
        if field.type == _F.TYPE_MESSAGE:
            fill(items.add(), random, density)
        else:
            items.append(_scalar(field, random))


def _scalar(field: FieldDescriptor, random: Random) -> Any:
    if field.type == _F.TYPE_BOOL:
        return random.random() < 0.5
    if field.type == _F.TYPE_ENUM:
        return random.choice([value.number for value in field.enum_type.values])
    if field.type == _F.TYPE_BYTES:
        return random.randbytes(random.choice((0, 1, 16, 32, 200)))
    if field.type == _F.TYPE_STRING:
        return random.choice(("", "7", "tables/7", "ä€𝄞", "x" * 200))
    edges = _EDGES
    if field.type == _F.TYPE_UINT32:
        edges = tuple(edge for edge in _EDGES if edge < 2**32)
    elif field.type == _F.TYPE_INT64:
        edges = (*(edge for edge in _EDGES if edge < 2**63), -1, -(2**63))
    return random.choice(edges)


def plain(message: Message) -> dict[str, Any]:
    """All values that are set, by name, as the reader of the wire format gives them."""
    return {field.name: _plain(field, value) for field, value in message.ListFields()}


def _plain(field: FieldDescriptor, value: Any) -> Any:
    if field.is_repeated:
        return [plain(item) if field.message_type else item for item in value]
    return plain(value) if field.message_type else value
