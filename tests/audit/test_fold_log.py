"""Leaves out of their place, not what they say, or not signed by the key in force are refused."""

from collections.abc import Callable
from typing import Any

import pytest

from sealedshoe_audit.errors import Code
from sealedshoe_audit.v1 import records_pb2 as pb
from tests.audit.forge.log import (
    BY,
    ORIGIN,
    ForgedLog,
    key,
    nth,
    payload_type,
    sign_payload,
)
from tests.audit.forge.published import check_log, errors
from tests.audit.forge.stories import every_kind, table_of

KINDS = (pb.LogStarted, pb.GameInstalled, pb.TableChanged, pb.RoundOpened, pb.WagersAccepted)
KINDS += (pb.RoundDealt, pb.RoundVoided, pb.ShoeRetired, pb.KeyChanged, pb.EventRecorded)
KINDS += (pb.LogClosed,)


def rebuilt(change: Callable[[Any], object], kind: type) -> list[Code]:
    """Returns the findings when the only or first record of a kind was changed before signing."""
    return errors(check_log(every_kind(nth(kind, 1, change))))


def test_a_log_with_every_kind_is_valid() -> None:
    log = every_kind()
    assert {type(record) for record in log.records} == set(KINDS)
    assert check_log(log).findings == []


@pytest.mark.parametrize("kind", KINDS[1:])
@pytest.mark.parametrize("version", [0, 2])
def test_every_record_carries_version_1(kind: type, version: int) -> None:
    found = rebuilt(lambda r: setattr(r.header, "version", version), kind)
    assert found[0] is Code.RECORD_VERSION


@pytest.mark.parametrize("kind", KINDS[1:-3])
@pytest.mark.parametrize("origin", ["", ORIGIN + "/", "log.example"])
def test_every_record_carries_the_origin_of_its_log(kind: type, origin: str) -> None:
    found = rebuilt(lambda r: setattr(r.header, "origin", origin), kind)
    assert found[0] is Code.RECORD_ORIGIN


@pytest.mark.parametrize("kind", KINDS[1:])
def test_every_record_carries_a_time(kind: type) -> None:
    assert rebuilt(lambda r: r.header.ClearField("time_us"), kind)[0] is Code.RECORD_TIME


@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_field_under_a_good_signature_is_refused(kind: type) -> None:
    def rewrite(record: Any, payload: bytes) -> bytes:
        return payload + b"\xf8\x3f\x01" if isinstance(record, kind) else payload

    assert errors(check_log(every_kind(rewrite=rewrite)))[0] is Code.UNKNOWN_FIELD


def event_payload(log: ForgedLog) -> bytes:
    """Returns an event's canonical payload: fields 1 to 4."""
    event = pb.EventRecorded(header=log.header(), event_class=1, component="server", by=BY)
    return event.SerializeToString(deterministic=True)


CLASS = b"\x10\x01"  # field 2: event_class
NON_CANONICAL: dict[str, Callable[[bytes], bytes]] = {
    "default written": lambda p: p + b"\x2a\x00",
    "field twice": lambda p: p.replace(CLASS, CLASS + CLASS, 1),
    "long varint": lambda p: p.replace(CLASS, b"\x10\x81\x00", 1),
    "long tag": lambda p: p.replace(CLASS, b"\x90\x00\x01", 1),
    "out of order": lambda p: CLASS + p.replace(CLASS, b"", 1),
    "message in two parts": lambda p: p + b"\x22\x00",
}


@pytest.mark.parametrize("change", NON_CANONICAL.values(), ids=NON_CANONICAL.keys())
def test_a_payload_in_another_encoding_is_refused(change: Callable[[bytes], bytes]) -> None:
    log = ForgedLog()
    payload = event_payload(log)
    assert payload.count(CLASS) == 1
    kind = payload_type(pb.EventRecorded())
    log.add(sign_payload(kind, change(payload), log.statement).SerializeToString())
    assert errors(check_log(log)) == [Code.NOT_CANONICAL]


PAYLOADS = [
    (b"\xff", Code.PARSE),
    (b"\x0a\x05", Code.PARSE),
    (b"", Code.RECORD_VERSION),
]


@pytest.mark.parametrize(("payload", "code"), PAYLOADS)
def test_a_payload_that_is_no_record_is_refused(payload: bytes, code: Code) -> None:
    log = ForgedLog()
    envelope = sign_payload(payload_type(pb.EventRecorded()), payload, log.statement)
    log.add(envelope.SerializeToString())
    assert errors(check_log(log)) == [code]


TYPES = [
    "",
    "application/vnd.sealedshoe.round-forged.v1+protobuf",
    "application/vnd.sealedshoe.event-recorded.v2+protobuf",
    "Application/vnd.sealedshoe.event-recorded.v1+protobuf",
]


@pytest.mark.parametrize("kind", TYPES)
def test_an_unknown_payload_type_is_refused(kind: str) -> None:
    log = ForgedLog()
    log.add(sign_payload(kind, event_payload(log), log.statement).SerializeToString())
    assert errors(check_log(log)) == [Code.RECORD_KIND]


Spoil = Callable[[pb.Envelope], object]
SPOILED: dict[str, tuple[Spoil, Code]] = {
    "another key's id": (lambda e: setattr(e, "keyid", bytes(32)), Code.RECORD_KEY),
    "no key id": (lambda e: e.ClearField("keyid"), Code.RECORD_KEY),
    "no signature": (lambda e: e.ClearField("signature"), Code.RECORD_SIGNATURE),
    "cut signature": (lambda e: setattr(e, "signature", bytes(63)), Code.RECORD_SIGNATURE),
    "other signature": (lambda e: setattr(e, "signature", bytes(64)), Code.RECORD_SIGNATURE),
    "other component": (
        lambda e: setattr(e, "payload", e.payload.replace(b"server", b"serves")),
        Code.RECORD_SIGNATURE,
    ),
}


@pytest.mark.parametrize(("change", "code"), SPOILED.values(), ids=SPOILED.keys())
def test_a_record_changed_after_signing_is_refused(change: Spoil, code: Code) -> None:
    log = ForgedLog()
    log.spoil = lambda _, envelope: change(envelope)
    log.event()
    assert errors(check_log(log)) == [code]


def test_a_signature_is_bound_to_the_payload_type() -> None:
    log = ForgedLog()
    closed = pb.LogClosed(header=log.header(), successor_origin="next", by=BY)
    payload = closed.SerializeToString(deterministic=True)
    envelope = sign_payload(payload_type(pb.EventRecorded()), payload, log.statement)
    envelope.payload_type = payload_type(closed)
    log.add(envelope.SerializeToString())
    assert errors(check_log(log)) == [Code.RECORD_SIGNATURE]


@pytest.mark.parametrize("number", [1, 3, 4])
def test_only_the_statement_key_signs_records(number: int) -> None:
    log = ForgedLog()
    log.statement = key(number)
    log.event()
    assert errors(check_log(log)) == [Code.RECORD_KEY]


ENTRIES = [(b"", Code.RECORD_KIND), (b"\xff", Code.PARSE), (b"\xf8\x3f\x01", Code.UNKNOWN_FIELD)]


@pytest.mark.parametrize(("entry", "code"), ENTRIES)
def test_a_leaf_that_is_no_envelope_is_refused(entry: bytes, code: Code) -> None:
    log = ForgedLog()
    log.add(entry)
    assert errors(check_log(log)) == [code]


def test_a_log_begins_with_log_started() -> None:
    log = ForgedLog()
    log.event()
    del log.entries[0]
    assert errors(check_log(log)) == [Code.RECORD_ORDER]


def test_a_log_starts_once() -> None:
    log = ForgedLog()
    log.start()
    assert errors(check_log(log)) == [Code.RECORD_ORDER]


def test_a_table_begins_with_its_creation() -> None:
    table = table_of()
    table.open()
    del table.log.entries[2]
    assert errors(check_log(table.log)) == [Code.RECORD_ORDER]


def test_a_log_does_not_close_over_an_open_shoe() -> None:
    table = table_of()
    table.open()
    table.void()
    table.log.close()
    assert errors(check_log(table.log)) == [Code.LOG_CLOSED]


def test_nothing_follows_the_last_leaf() -> None:
    log = ForgedLog()
    log.close()
    log.event()
    log.close()
    assert errors(check_log(log)) == [Code.LOG_CLOSED, Code.LOG_CLOSED]


Event = Callable[[pb.EventRecorded], object]
EVENTS: dict[str, Event] = {
    "no class": lambda r: r.ClearField("event_class"),
    "unlisted class": lambda r: setattr(r, "event_class", 99),
    "no component": lambda r: r.ClearField("component"),
    "long component": lambda r: setattr(r, "component", "x" * 65),
    "long before": lambda r: setattr(r, "before", "x" * 65),
    "long after": lambda r: setattr(r, "after", "x" * 65),
    "nobody": lambda r: r.ClearField("by"),
}


@pytest.mark.parametrize("change", EVENTS.values(), ids=EVENTS.keys())
def test_an_event_outside_its_limits_is_refused(change: Event) -> None:
    log = ForgedLog(nth(pb.EventRecorded, 1, change))
    log.event()
    assert errors(check_log(log)) == [Code.RECORD_LIMITS]
