"""Encodings of a message that mean nearly the same and are not canonical, or do not parse at all."""

from collections.abc import Callable
from random import Random

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from tests.audit.wire import BYTES, VARINT, Field, join, split, varint

_F = FieldDescriptor
_SCALARS = (_F.TYPE_UINT32, _F.TYPE_UINT64, _F.TYPE_INT64, _F.TYPE_BOOL, _F.TYPE_ENUM)


def oddly_encoded(data: bytes, descriptor: Descriptor, random: Random) -> bytes:
    """Returns canonical bytes with one oddity in the message or in one within it."""
    fields = split(data)
    inner = [n for n, (number, _, _) in enumerate(fields) if _message_in(descriptor, number)]
    if inner and random.random() < 0.6:
        n = random.choice(inner)
        number, kind, content = fields[n]
        below = _message_in(descriptor, number)
        assert below is not None
        fields[n] = (number, kind, oddly_encoded(content, below, random))
        return join(fields)
    return random.choice(ODDITIES)(fields, descriptor, random)


def _message_in(descriptor: Descriptor, number: int) -> Descriptor | None:
    field = descriptor.fields_by_number.get(number)
    return None if field is None else field.message_type


def padded(value: int, random: Random) -> bytes:
    """A varint with needless bytes; now and then with more than ten."""
    out = bytearray(varint(value))
    out[-1] |= 0x80
    out += b"\x80" * random.choice((0, 0, 1, 3, 8, 10)) + b"\x00"
    return bytes(out)


def _raw(field: Field) -> bytes:
    return join([field])


def _spliced(fields: list[Field], n: int, piece: bytes, *, replace: bool) -> bytes:
    return join(fields[:n]) + piece + join(fields[n + replace :])


def _somewhere(fields: list[Field], random: Random) -> int:
    return random.randrange(len(fields)) if fields else 0


def _overlong_tag(fields: list[Field], _: Descriptor, random: Random) -> bytes:
    if not fields:
        return b"\x80"
    n = _somewhere(fields, random)
    number, kind, content = fields[n]
    rest = _raw((number, kind, content))[len(varint(number << 3 | kind)) :]
    return _spliced(fields, n, padded(number << 3 | kind, random) + rest, replace=True)


def _overlong_value(fields: list[Field], _: Descriptor, random: Random) -> bytes:
    if not fields:
        return b"\x08"
    n = _somewhere(fields, random)
    number, kind, content = fields[n]
    value = len(content) if kind == BYTES else int.from_bytes(content[:1], "big") & 0x7F
    tail = content if kind == BYTES else b""
    piece = varint(number << 3 | kind) + padded(value, random) + tail
    return _spliced(fields, n, piece, replace=True)


def _swapped(fields: list[Field], _: Descriptor, random: Random) -> bytes:
    turned = list(fields)
    random.shuffle(turned)
    return join(turned)


def _doubled(fields: list[Field], _: Descriptor, random: Random) -> bytes:
    if not fields:
        return b""
    n = _somewhere(fields, random)
    return _spliced(fields, n, _raw(fields[n]), replace=False)


def _unknown(fields: list[Field], _: Descriptor, random: Random) -> bytes:
    number = random.choice((14, 16, 99, 2**20, 2**29 - 1))
    pieces = (
        _raw((number, VARINT, varint(random.randrange(3)))),
        _raw((number, BYTES, random.randbytes(random.randrange(5)))),
        varint(number << 3 | 1) + bytes(8),
        varint(number << 3 | 5) + bytes(4),
        varint(number << 3 | 3) + varint(number << 3 | 4),
        varint(number << 3 | 3) + b"\x08\x01" + varint(number << 3 | 4),
        varint(number << 3 | 3),
        varint(number << 3 | 4),
        varint(number << 3 | 6) + b"\x00",
        varint(0 << 3 | 0) + b"\x00",
        varint(2**29 << 3 | 0) + b"\x00",
        varint(2**32 << 3 | 0) + b"\x00",
    )
    return _spliced(fields, _somewhere(fields, random), random.choice(pieces), replace=False)


def _other_wire_type(fields: list[Field], _: Descriptor, random: Random) -> bytes:
    if not fields:
        return b"\x0d"
    n = _somewhere(fields, random)
    number = fields[n][0]
    pieces = (
        _raw((number, VARINT, b"\x01")),
        _raw((number, BYTES, b"\x01")),
        varint(number << 3 | 1) + bytes(8),
        varint(number << 3 | 5) + bytes(4),
    )
    return _spliced(fields, n, random.choice(pieces), replace=random.random() < 0.5)


def _default(fields: list[Field], descriptor: Descriptor, random: Random) -> bytes:
    field = random.choice(descriptor.fields)
    kind = VARINT if field.type in _SCALARS and not field.is_repeated else BYTES
    content = b"\x00" if kind == VARINT else b""
    place = sum(number <= field.number for number, _, _ in fields)
    return _spliced(fields, place, _raw((field.number, kind, content)), replace=False)


def _out_of_range(fields: list[Field], descriptor: Descriptor, random: Random) -> bytes:
    numbers = [f.number for f in descriptor.fields if f.type in _SCALARS and not f.is_repeated]
    if not numbers:
        return join(fields) + b"\x00"
    number = random.choice(numbers)
    value = random.choice((2, 2**31, 2**32, 2**32 + 1, 2**63, 2**64 - 1))
    kept = [f for f in fields if f[0] != number]
    place = sum(n <= number for n, _, _ in kept)
    return _spliced(kept, place, _raw((number, VARINT, varint(value))), replace=False)


def _unpacked(fields: list[Field], descriptor: Descriptor, random: Random) -> bytes:
    """A repeated scalar written one by one, split in two, or not at all but for its tag."""
    packed = [f for f in descriptor.fields if f.is_repeated and f.type in _SCALARS]
    if not packed:
        return _swapped(fields, descriptor, random)
    number = random.choice(packed).number
    ones = _raw((number, VARINT, b"\x01"))
    pieces = (ones, ones + ones, _raw((number, BYTES, b"\x01")), _raw((number, BYTES, b"\x80")))
    place = sum(n <= number for n, _, _ in fields)
    return _spliced(fields, place, random.choice(pieces), replace=False)


def _bad_text(fields: list[Field], descriptor: Descriptor, random: Random) -> bytes:
    texts = [f.number for f in descriptor.fields if f.type == _F.TYPE_STRING]
    if not texts:
        return join(fields)[:-1]
    number = random.choice(texts)
    bad = random.choice((b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82"))
    kept = [f for f in fields if f[0] != number]
    place = sum(n <= number for n, _, _ in kept)
    return _spliced(kept, place, _raw((number, BYTES, b"a" + bad)), replace=False)


def _cut(fields: list[Field], _: Descriptor, random: Random) -> bytes:
    data = join(fields)
    return data[: random.randrange(len(data))] if data else b"\x80"


ODDITIES: tuple[Callable[[list[Field], Descriptor, Random], bytes], ...] = (
    _overlong_tag,
    _overlong_value,
    _swapped,
    _doubled,
    _unknown,
    _other_wire_type,
    _default,
    _out_of_range,
    _unpacked,
    _bad_text,
    _cut,
)
