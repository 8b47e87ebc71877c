"""One target a parser: takes any bytes, and lets nothing out but an error of its own.

A target returns when the parser refuses with VerificationError. When it accepts, the target holds the
parser to its canonical form: what was read, written again, is the same bytes. Every other exception is
a finding.

Files that end in a digest are fuzzed by their body, else no change would ever get past the digest.
"""

import io
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from hashlib import sha256
from typing import Any, TypeVar, cast

from google.protobuf.message import Message

from sealedshoe_audit.containers import parse_evidence, parse_receipt
from sealedshoe_audit.envelope import parse_envelope
from sealedshoe_audit.errors import VerificationError
from sealedshoe_audit.fold.log import LogFold
from sealedshoe_audit.keeping.head_archive import split_notes
from sealedshoe_audit.log.checkpoint import parse_checkpoint, verify_checkpoint
from sealedshoe_audit.log.note import (
    Note,
    VerifierKey,
    is_key_name,
    parse_note,
    parse_vkey,
    signature_line,
)
from sealedshoe_audit.log.policy import parse_policy
from sealedshoe_audit.log.proof_file import parse_proof
from sealedshoe_audit.log.tiles import pack_bundle, parse_bundle
from sealedshoe_audit.log.witness_request import parse_witness_request
from sealedshoe_audit.records import PAYLOAD_TYPES, open_record
from sealedshoe_audit.trust import parse_trust
from sealedshoe_audit.v1.records_pb2 import Envelope
from sealedshoe_audit.verify.position import position_of, take_position
from tests.audit.forge.log import ORIGIN, ROOT, key, public
from tests.audit.log.example import TRUST
from tests.audit.wire import read

_T = TypeVar("_T")
_R = TypeVar("_R")
Check = Callable[[bytes], None]
Target = Callable[[bytes], bool]
KINDS: list[type[Message]] = list(PAYLOAD_TYPES)
ROOT_KEY = public(key(ROOT))
TARGETS: dict[str, Target] = {}


def target(check: Check) -> Check:
    """Registers a target, which says whether the input passed; a refusal's text must be fit to show."""

    def run(data: bytes) -> bool:
        try:
            check(data)
        except VerificationError as error:
            str(error).encode()
            return False
        return True

    TARGETS[check.__name__] = run
    return check


def same(found: object, expected: object) -> None:
    """Fails unless both are equal."""
    if found != expected:
        raise AssertionError(f"expected {expected!r:.300}, found {found!r:.300}")


def _reread(parse: Callable[[_T], _R], written: _T) -> _R:
    """Reads what was written here: a refusal is no refusal of the input but a finding."""
    try:
        return parse(written)
    except VerificationError as error:
        raise AssertionError(f"what was written is refused: {error}") from error


def _text(data: bytes) -> str:
    """Any bytes as text, with lone surrogates for what is no UTF-8, as JSON and argv can bring them."""
    return data.decode("utf-8", "surrogateescape")


@target
def note(data: bytes) -> None:
    """A signed note: read and written again, and its signatures looked at."""
    same(_note_bytes(parse_note(data)), data)
    with suppress(VerificationError):
        verify_checkpoint(data, TRUST)


def _note_bytes(found: Note) -> bytes:
    lines = [signature_line(s.name, s.id, s.blob) for s in found.signatures]
    return f"{found.text}\n{''.join(lines)}".encode()


@target
def vkey(data: bytes) -> None:
    """A verifier key's line; and the line of any key that may exist is read."""
    name, typed = _text(data[:-33]), data[-33:]
    if is_key_name(name) and len(typed) == 33 and typed[0] in (1, 4):
        made = VerifierKey(name, typed[0], typed[1:])
        same(_reread(parse_vkey, made.text()), made)
    text = _text(data)
    same(parse_vkey(text).text(), text)


@target
def checkpoint(data: bytes) -> None:
    """A checkpoint's text, which only ever comes out of a note and so is sound UTF-8."""
    text = data.decode("utf-8", "replace")
    same(parse_checkpoint(text).text(), text)


@target
def proof(data: bytes) -> None:
    """A tlog-proof file."""
    same(parse_proof(data).data(), data)


@target
def policy(data: bytes) -> None:
    """A policy means the same once comments are gone, and can be asked who makes its quorum."""
    found = parse_policy(data)
    same(_reread(parse_policy, found.text().encode()), found)
    same(found.is_met_by([witness.key for witness in found.witnesses]), True)
    same(found.is_met_by([]), found.fewest() == 0)


@target
def bundle(data: bytes) -> None:
    """The first byte is the number of entries, less one."""
    width = data[0] + 1 if data else 256
    same(pack_bundle(parse_bundle(data[1:], width)), data[1:])


@target
def path(data: bytes) -> None:
    """A path below tile/ as the server's HTTP port reads it."""
    from tests.fuzz.served import check_path  # noqa: PLC0415 # aiohttp loads longer than all else

    check_path(data)


@target
def request(data: bytes) -> None:
    """The body of a witness's add-checkpoint."""
    same(parse_witness_request(data).data(), data)


def _sealed(body: bytes) -> bytes:
    return body + b"\x7a\x20" + sha256(body).digest()


def _check_canonical(data: bytes, message: Message) -> None:
    """What was accepted is what an independent reader of the wire format accepts.

    But for negative enum values: the reader refuses them, the runtime has one form for them too, and
    what they mean is refused by the checks behind the parser.
    """
    same(message.SerializeToString(deterministic=True), data)
    if not _has_negative_enum(message):
        read(data, cast("Any", message.DESCRIPTOR))


def _has_negative_enum(message: Message) -> bool:
    for field, value in message.ListFields():
        items = value if field.is_repeated else [value]
        if field.message_type is not None and any(_has_negative_enum(item) for item in items):
            return True
        if field.enum_type is not None and any(item < 0 for item in items):
            return True
    return False


@target
def evidence(data: bytes) -> None:
    """The body of an evidence file, before its digest; and a whole file, which rarely has a good one."""
    _check_container(parse_evidence, data)


@target
def receipt(data: bytes) -> None:
    """The body of a receipt, before its digest; and a whole file."""
    _check_container(parse_receipt, data)


def _check_container(parse: Callable[[bytes], Message], data: bytes) -> None:
    with suppress(VerificationError):
        _check_canonical(data, parse(data))
    _check_canonical(_sealed(data), parse(_sealed(data)))


@target
def trust(data: bytes) -> None:
    """A trust file."""
    same(parse_trust(data).text().encode(), data)


@target
def envelope(data: bytes) -> None:
    """A leaf, down to its record."""
    _check_canonical(data, parse_envelope(data))
    found = open_record(data)
    same(PAYLOAD_TYPES[type(found)], Envelope.FromString(data).payload_type)


@target
def record(data: bytes) -> None:
    """The first byte names the kind; the rest is a payload in a well-formed envelope."""
    kind = KINDS[data[0] % len(KINDS)] if data else KINDS[0]
    leaf = Envelope(payload_type=PAYLOAD_TYPES[cast("Any", kind)], payload=data[1:])
    found = open_record(leaf.SerializeToString(deterministic=True))
    same(type(found), kind)
    _check_canonical(data[1:], found)


@target
def heads(data: bytes) -> None:
    """Notes from an archive are whole pieces of it, in order, and the same when only they are read."""
    notes = list(split_notes(io.BytesIO(data)))
    joined = b"".join(notes)
    end = 0
    for note in notes:
        start = data.find(note, end)
        same(start >= end, True)
        end = start + len(note)
    same([_note_bytes(_reread(parse_note, found)) for found in notes], notes)
    same(list(split_notes(io.BytesIO(joined))), notes)


@target
def position(data: bytes) -> None:
    """The body of a position file, before its digest: what is taken up is put down as it was."""
    whole = data + sha256(data).digest()
    fold = LogFold(ORIGIN, ROOT_KEY)
    taken = take_position(fold, whole)
    put_down = position_of(fold, *taken)
    again = LogFold(ORIGIN, ROOT_KEY)
    same(_reread(partial(take_position, again), put_down), taken)
    same(position_of(again, *taken), put_down)
