"""A message has one encoding: an independent reader of the wire format says so, and no other is taken."""

from random import Random

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st

from sealedshoe_audit.canonical import parse_canonical
from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.v1 import game_pb2, records_pb2, state_pb2
from tests.audit.random_messages import KINDS, fill, plain
from tests.audit.wire import BYTES, VARINT, damaged_at_every_depth, join, read, split, varint

SEEDS = range(12)


def named(kind: type[Message]) -> str:
    """The message type's name."""
    return kind.DESCRIPTOR.name


def finding(kind: type[Message], data: bytes) -> Code | None:
    """What the parser finds wrong, if anything."""
    try:
        parse_canonical(kind, data)
    except VerificationError as error:
        return error.code
    return None


def test_every_recorded_type_is_there() -> None:
    assert len(KINDS) > 35
    assert records_pb2.RoundDealt in KINDS
    assert state_pb2.OpenShoeSnapshot in KINDS


@pytest.mark.parametrize("kind", KINDS, ids=named)
def test_what_the_runtime_writes_is_canonical_and_complete(kind: type[Message]) -> None:
    for seed in range(60):
        message = fill(kind(), Random(seed), density=(seed % 5 + 1) / 5)
        data = message.SerializeToString(deterministic=True)
        assert read(data, kind.DESCRIPTOR) == plain(message)
        assert join(split(data)) == data
        assert parse_canonical(kind, data) == message


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(KINDS), st.randoms(use_true_random=False), st.floats(0, 1))
def test_any_message_is_written_in_the_one_form(
    kind: type[Message], random: Random, density: float
) -> None:
    message = fill(kind(), random, density)
    data = message.SerializeToString(deterministic=True)
    assert read(data, kind.DESCRIPTOR) == plain(message)
    assert finding(kind, data) is None


def unknown_number(data: bytes, descriptor: Descriptor) -> bytes:
    """Adds a field that no version knows."""
    return data + join([(15_000, VARINT, varint(1))])


def unknown_bytes(data: bytes, descriptor: Descriptor) -> bytes:
    """The same, as bytes."""
    return data + join([(15_000, BYTES, b"new")])


def unknown_in_front(data: bytes, descriptor: Descriptor) -> bytes:
    """The same, in front of all others."""
    return join([(15_000, BYTES, b"")]) + data


def reordered(data: bytes, descriptor: Descriptor) -> bytes | None:
    """Puts the first field last."""
    fields = split(data)
    if not fields or fields[0][0] == fields[-1][0]:
        return None
    return join([*fields[1:], fields[0]])


def long_tag(data: bytes, descriptor: Descriptor) -> bytes | None:
    """Writes the first tag with a needless byte."""
    return bytes([data[0] | 0x80, 0]) + data[1:] if data else None


def long_value(data: bytes, descriptor: Descriptor) -> bytes | None:
    """Writes the last number, or the last length, with a needless byte."""
    fields = split(data)
    if not fields:
        return None
    number, kind, content = fields[-1]
    value = content if kind == VARINT else varint(len(content))
    longer = value[:-1] + bytes([value[-1] | 0x80, 0])
    rest = content if kind == BYTES else b""
    if len(longer) > 10:
        return None
    return join(fields[:-1]) + varint(number << 3 | kind) + longer + rest


def explicit_default(data: bytes, descriptor: Descriptor) -> bytes | None:
    """Writes an absent field's default in its place."""
    fields = split(data)
    present = {number for number, _, _ in fields}
    for field in descriptor.fields:
        if field.is_repeated or field.has_presence or field.number in present:
            continue
        texts = (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES)
        empty = (field.number, BYTES, b"") if field.type in texts else (field.number, VARINT, b"\0")
        return join(sorted([*fields, empty], key=lambda f: f[0]))
    return None


def written_twice(data: bytes, descriptor: Descriptor) -> bytes | None:
    """Writes a field that stands once, twice; the last one counts."""
    fields = split(data)
    for n, (number, _, _) in enumerate(fields):
        if not descriptor.fields_by_number[number].is_repeated:
            return join([*fields[:n], fields[n], *fields[n:]])
    return None


DAMAGE = {
    unknown_number: Code.UNKNOWN_FIELD,
    unknown_bytes: Code.UNKNOWN_FIELD,
    unknown_in_front: Code.UNKNOWN_FIELD,
    reordered: Code.NOT_CANONICAL,
    long_tag: Code.NOT_CANONICAL,
    long_value: Code.NOT_CANONICAL,
    explicit_default: Code.NOT_CANONICAL,
    written_twice: Code.NOT_CANONICAL,
}


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("kind", KINDS, ids=named)
def test_another_encoding_is_refused_at_any_depth(kind: type[Message], damage: object) -> None:
    tried = 0
    for seed in SEEDS:
        message = fill(kind(), Random(f"{seed}"), density=(seed % 4 + 1) / 4)
        data = message.SerializeToString(deterministic=True)
        for twin in damaged_at_every_depth(data, kind.DESCRIPTOR, damage):  # type: ignore[arg-type]
            tried += 1
            assert finding(kind, twin) is DAMAGE[damage], twin.hex()  # type: ignore[index]
    assert tried


HEADER = records_pb2.Header


@pytest.mark.parametrize(
    ("kind", "data", "code"),
    [
        (HEADER, "", None),
        (HEADER, "0801", None),
        (HEADER, "08011201611802", None),
        (HEADER, "0800", Code.NOT_CANONICAL),
        (HEADER, "1200", Code.NOT_CANONICAL),
        (HEADER, "088100", Code.NOT_CANONICAL),
        (HEADER, "880001", Code.NOT_CANONICAL),
        (HEADER, "08010801", Code.NOT_CANONICAL),
        (HEADER, "0881808080808080808001", Code.NOT_CANONICAL),
        (HEADER, "088180808010", Code.NOT_CANONICAL),
        (HEADER, "18020801", Code.NOT_CANONICAL),
        (HEADER, "0d01000000", Code.UNKNOWN_FIELD),
        (HEADER, "0a0101", Code.UNKNOWN_FIELD),
        (HEADER, "2001", Code.UNKNOWN_FIELD),
        (HEADER, "2324", Code.UNKNOWN_FIELD),
        (HEADER, "0001", Code.PARSE),
        (HEADER, "08", Code.PARSE),
        (HEADER, "0880", Code.PARSE),
        (HEADER, "120261", Code.PARSE),
        (HEADER, "1201ff", Code.PARSE),
        (HEADER, "1203eda080", Code.PARSE),
        (HEADER, "0f", Code.PARSE),
        (HEADER, "08ffffffffffffffffffff01", Code.PARSE),
        (game_pb2.Condition, "120102", None),
        (game_pb2.Condition, "12020102", None),
        (game_pb2.Condition, "1002", Code.NOT_CANONICAL),
        (game_pb2.Condition, "1200", Code.NOT_CANONICAL),
        (game_pb2.Condition, "120101120102", Code.NOT_CANONICAL),
        (game_pb2.Condition, "12028100", Code.NOT_CANONICAL),
        (records_pb2.ShoeRetired, "3801", None),
        (records_pb2.ShoeRetired, "3802", Code.NOT_CANONICAL),
        (records_pb2.ShoeRetired, "0a00", None),
        (state_pb2.OpenShoeSnapshot, "2000", None),
        (state_pb2.OpenShoeSnapshot, "2800", Code.NOT_CANONICAL),
    ],
)
def test_bytes_written_by_hand_are_judged_rightly(
    kind: type[Message], data: str, code: Code | None
) -> None:
    assert finding(kind, bytes.fromhex(data)) is code


@pytest.mark.parametrize("kind", KINDS, ids=named)
def test_a_message_cut_at_any_byte_is_refused_or_is_whole_fields(kind: type[Message]) -> None:
    data = fill(kind(), Random("cut"), density=1).SerializeToString(deterministic=True)[:400]
    for cut in range(len(data)):
        if finding(kind, data[:cut]) is None:
            assert len(read(data[:cut], kind.DESCRIPTOR)) <= cut


@settings(deadline=None, max_examples=400)
@given(st.sampled_from(KINDS), st.binary(max_size=40))
def test_any_bytes_are_refused_or_are_the_one_encoding(kind: type[Message], data: bytes) -> None:
    found = finding(kind, data)
    assert found in {None, Code.PARSE, Code.UNKNOWN_FIELD, Code.NOT_CANONICAL}
    if found is None:
        assert kind.FromString(data).SerializeToString(deterministic=True) == data
        assert isinstance(read(data, kind.DESCRIPTOR), dict)
