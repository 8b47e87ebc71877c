"""An independent reader of protobuf's wire format that accepts the canonical encoding alone."""

from collections.abc import Callable, Iterator
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor

VARINT, BYTES = 0, 2
Field = tuple[int, int, bytes]  # number, wire type, content as it stands on the wire
_F = FieldDescriptor
_BYTES_TYPES = (_F.TYPE_STRING, _F.TYPE_BYTES, _F.TYPE_MESSAGE)
_BITS = {_F.TYPE_UINT32: 32, _F.TYPE_UINT64: 64, _F.TYPE_BOOL: 1, _F.TYPE_ENUM: 31}


def varint(value: int) -> bytes:
    """The shortest encoding of an unsigned number."""
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def read_varint(data: bytes, offset: int) -> tuple[int, int]:
    """Reads a number that must be written in as few bytes as possible."""
    value = shift = 0
    while True:
        byte = data[offset]
        offset += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            assert byte or not shift, "a varint with a needless byte"
            assert value < 2**64, "a varint beyond 64 bits"
            return value, offset
        shift += 7


def split(data: bytes) -> list[Field]:
    """Cuts a message into its fields."""
    fields: list[Field] = []
    offset = 0
    while offset < len(data):
        tag, start = read_varint(data, offset)
        number, kind = tag >> 3, tag & 7
        assert kind in (VARINT, BYTES), f"wire type {kind}"
        value, offset = read_varint(data, start)
        content = varint(value)
        if kind == BYTES:
            content, offset = data[offset : offset + value], offset + value
        assert offset <= len(data), "a field beyond the end"
        fields.append((number, kind, content))
    return fields


def join(fields: list[Field]) -> bytes:
    """Writes fields in the order given."""
    out = b""
    for number, kind, content in fields:
        size = varint(len(content)) if kind == BYTES else b""
        out += varint(number << 3 | kind) + size + content
    return out


def read(data: bytes, descriptor: Descriptor) -> dict[str, Any]:
    """Reads a canonical message: fields ascending, known, without defaults; values by name."""
    values: dict[str, Any] = {}
    last = 0
    for number, kind, content in split(data):
        field = descriptor.fields_by_number[number]
        unpacked = field.is_repeated and field.type in _BYTES_TYPES
        assert number > last or (unpacked and number == last), "fields not ascending"
        last = number
        if field.is_repeated and not unpacked:
            assert kind == BYTES, "a repeated number that is not packed"
            values[field.name] = list(_packed(content, field))
            assert values[field.name], "an empty packed field"
            continue
        value = _single(kind, content, field)
        if unpacked:
            values.setdefault(field.name, []).append(value)
        else:
            assert field.has_presence or value, "a default that is written"
            values[field.name] = value
    return values


def _packed(content: bytes, field: FieldDescriptor) -> Iterator[int]:
    offset = 0
    while offset < len(content):
        value, offset = read_varint(content, offset)
        yield _number(value, field)


def _single(kind: int, content: bytes, field: FieldDescriptor) -> Any:
    assert kind == (BYTES if field.type in _BYTES_TYPES else VARINT), "another wire type"
    if field.type == _F.TYPE_MESSAGE:
        return read(content, field.message_type)
    if field.type == _F.TYPE_BYTES:
        return content
    if field.type == _F.TYPE_STRING:
        return content.decode("utf-8")
    return _number(read_varint(content, 0)[0], field)


def _number(value: int, field: FieldDescriptor) -> int:
    if field.type == _F.TYPE_INT64:
        return value - 2**64 if value >> 63 else value
    assert value < 2 ** _BITS[field.type], "a number out of its field's range"
    return value


def damaged_at_every_depth(
    data: bytes, descriptor: Descriptor, damage: Callable[[bytes, Descriptor], bytes | None]
) -> Iterator[bytes]:
    """Yields the message with one message in it damaged, for each message in it."""
    twin = damage(data, descriptor)
    if twin is not None:
        yield twin
    fields = split(data)
    for n, (number, kind, content) in enumerate(fields):
        inner = descriptor.fields_by_number[number].message_type
        if inner is not None:
            for twin in damaged_at_every_depth(content, inner, damage):
                yield join([*fields[:n], (number, kind, twin), *fields[n + 1 :]])
