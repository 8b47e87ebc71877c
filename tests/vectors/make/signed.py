"""Vectors of envelopes, records, notes, checkpoints and trust files: good ones, and one broken for every rule."""

import base64
import json
from collections.abc import Iterator
from random import Random
from typing import Any

from sealedshoe_audit.log.note import VerifierKey, sign_note
from sealedshoe_audit.v1 import records_pb2 as pb
from tests.audit.forge.log import ForgedLog, key, public, sign_payload
from tests.audit.forge.stories import every_kind
from tests.audit.wire import damaged_at_every_depth, join, split, varint
from tests.differential.stories import WITNESS_KEYS, WITNESSES, cosign
from tests.vectors.make.suite import Suite

SOURCE = "tests/audit/forge: records of a forged log, signed with fixed test keys"
ENVELOPE = pb.Envelope.DESCRIPTOR


def envelope() -> Suite:
    """Envelopes of every kind, and what may be wrong with their form, key or signature."""
    suite = Suite("envelope", SOURCE)
    log = every_kind()
    signer = public(log.statement).hex()
    for record, entry in zip(log.records, log.entries, strict=True):
        made = pb.Envelope.FromString(entry)
        name = f"{record.DESCRIPTOR.name} {log.entries.index(entry)}"
        by = made.keyid == sign_payload("", b"", log.statement).keyid
        given = {"envelope": entry.hex(), "public_key": signer}
        if by:
            suite.good(name, given, {"payload_type": made.payload_type})
        else:
            suite.bad(f"{name} by an earlier key", given, "RECORD_KEY")
    entry = log.entries[-1]
    for name, data, code in _broken_envelopes(entry, log):
        suite.bad(name, {"envelope": data.hex(), "public_key": signer}, code)
    return suite


def _broken_envelopes(entry: bytes, log: ForgedLog) -> Iterator[tuple[str, bytes, str]]:
    made = pb.Envelope.FromString(entry)
    yield "no bytes", b"", "RECORD_KEY"
    yield "cut", entry[:-1], "PARSE"
    yield "too long", entry + bytes(65536 - len(entry)), "RECORD_LIMITS"
    yield from _odd_encodings(entry)
    other = sign_payload(made.payload_type, made.payload, key(7))
    yield "another key", other.SerializeToString(deterministic=True), "RECORD_KEY"
    for field in ("payload_type", "payload", "signature"):
        twin = pb.Envelope.FromString(entry)
        value = getattr(twin, field)
        changed = value + "x" if isinstance(value, str) else bytes([value[0] ^ 1]) + value[1:]
        setattr(twin, field, changed)
        yield f"another {field}", twin.SerializeToString(deterministic=True), "RECORD_SIGNATURE"
    short = pb.Envelope.FromString(entry)
    short.signature = short.signature[:-1]
    yield "a short signature", short.SerializeToString(deterministic=True), "RECORD_SIGNATURE"


def _odd_encodings(data: bytes) -> Iterator[tuple[str, bytes, str]]:
    fields = split(data)
    yield "fields out of order", join(fields[::-1]), "NOT_CANONICAL"
    yield "a field twice", join([fields[0], *fields]), "NOT_CANONICAL"
    yield "a default written", join([*fields, (2, 2, b"")][:4] + [(4, 2, b"")]), "NOT_CANONICAL"
    first = varint(1 << 3 | 2) + bytes([len(fields[0][2]) | 0x80, 0x00]) + fields[0][2]
    yield "a length with a needless byte", first + join(fields[1:]), "NOT_CANONICAL"
    yield "a tag with a needless byte", b"\x8a\x00" + join(fields)[1:], "NOT_CANONICAL"
    for name, number, kind in (("number", 5, 0), ("bytes", 99, 2)):
        unknown = (number, kind, b"\x01")
        yield f"an unknown field of {name}", join([*fields, unknown]), "UNKNOWN_FIELD"
    yield "a known field of another wire type", join([(1, 0, b"\x01"), *fields]), "UNKNOWN_FIELD"
    yield "an unknown group", data + varint(5 << 3 | 3) + varint(5 << 3 | 4), "UNKNOWN_FIELD"
    yield "unknown and out of order", join([*fields[::-1], (5, 0, b"\x01")]), "UNKNOWN_FIELD"
    yield "field number 0", data + b"\x00\x01", "PARSE"
    yield "wire type 6", data + varint(1 << 3 | 6), "PARSE"
    yield "wire type 7", data + varint(1 << 3 | 7), "PARSE"
    yield "a group that does not end", data + varint(5 << 3 | 3), "PARSE"
    yield "a group that ends before it starts", data + varint(5 << 3 | 4), "PARSE"
    yield "a tag of eleven bytes", data + b"\x8a" + b"\x80" * 9 + b"\x00", "PARSE"
    yield "a length beyond the end", data[:-64], "PARSE"
    bad = join([(1, 2, b"a\xff"), *fields[1:]])
    yield "text that is no UTF-8", bad, "PARSE"


def record() -> Suite:
    """Payloads of every kind through form and header; broken at every depth."""
    suite = Suite("record", SOURCE)
    log = every_kind()
    seen: set[str] = set()
    for made, entry in zip(log.records, log.entries, strict=True):
        kind = made.DESCRIPTOR.name
        if kind in seen:
            continue
        seen.add(kind)
        parts = pb.Envelope.FromString(entry)
        given = _given(log, parts.payload_type, parts.payload)
        suite.good(kind, given, {"kind": kind})
        _break_payload(suite, log, kind, parts, made)
    _break_header(suite, log)
    for wrong in ("", "application/json", "application/vnd.sealedshoe.RoundDealt.v1+protobuf"):
        suite.bad(f"kind {wrong!r}", _given(log, wrong, b""), "RECORD_KIND")
    return suite


def _given(log: ForgedLog, kind: str, payload: bytes) -> dict[str, str]:
    return {"payload_type": kind, "payload": payload.hex(), "origin": log.origin}


def _break_payload(suite: Suite, log: ForgedLog, kind: str, parts: Any, made: Any) -> None:
    damages = {
        "an unknown field": (lambda d, _: d + varint(1000 << 3) + b"\x01", "UNKNOWN_FIELD"),
        "no end": (lambda d, _: d + b"\x80", "PARSE"),
        "a field twice": (_twice, "NOT_CANONICAL"),
        "a default written": (_default, "NOT_CANONICAL"),
    }
    random = Random(kind)
    for name, (damage, code) in damages.items():
        twins = list(damaged_at_every_depth(parts.payload, made.DESCRIPTOR, damage))
        for n in sorted({0, *random.sample(range(len(twins)), min(3, len(twins)))}):
            given = _given(log, parts.payload_type, twins[n])
            suite.bad(f"{kind}: {name}, message {n}", given, code)


def _twice(data: bytes, descriptor: Any) -> bytes | None:
    """The first singular field once more."""
    for n, (number, kind, content) in enumerate(fields := split(data)):
        if not descriptor.fields_by_number[number].is_repeated:
            return join([*fields[:n], (number, kind, content), *fields[n:]])
    return None


def _default(data: bytes, descriptor: Any) -> bytes | None:
    """A number that is zero or a text that is empty, written where it is absent."""
    fields = split(data)
    present = {number for number, _, _ in fields}
    for field in descriptor.fields:
        if field.number in present or field.is_repeated or field.message_type:
            continue
        text = field.type in (field.TYPE_STRING, field.TYPE_BYTES)
        place = sum(number < field.number for number, _, _ in fields)
        absent = (field.number, 2, b"") if text else (field.number, 0, b"\x00")
        return join([*fields[:place], absent, *fields[place:]])
    return None


def _break_header(suite: Suite, log: ForgedLog) -> None:
    kind = "application/vnd.sealedshoe.event-recorded.v1+protobuf"
    for name, header, code in (
        ("version 0", pb.Header(origin=log.origin, time_us=1), "RECORD_VERSION"),
        ("version 2", pb.Header(version=2, origin=log.origin, time_us=1), "RECORD_VERSION"),
        ("another origin", pb.Header(version=1, origin="other", time_us=1), "RECORD_ORIGIN"),
        ("no time", pb.Header(version=1, origin=log.origin), "RECORD_TIME"),
        ("a time before 1970", pb.Header(version=1, origin=log.origin, time_us=-1), "RECORD_TIME"),
    ):
        payload = pb.EventRecorded(header=header).SerializeToString(deterministic=True)
        suite.bad(name, _given(log, kind, payload), code)
    suite.bad("no header", _given(log, kind, b""), "RECORD_VERSION")


def note() -> Suite:
    """Signed notes: plain signatures and cosignatures, and every way to write one wrongly."""
    suite = Suite("note", "tests/audit/forge and C2SP signed-note v1.0.0, by hand")
    text = "log.example/a\nsome text\n"
    signed = sign_note(text, "log.example/a", key(3))
    both = cosign(signed, ["w1.example/a"], 1_767_225_600)
    keys = [VerifierKey("log.example/a", 1, public(key(3))).text(), WITNESS_KEYS[0].text()]
    plain, witness = {"name": "log.example/a", "time": "0"}, {"name": "w1.example/a", "time": "1767225600"}
    for name, data, signers in (
        ("one signature", signed, [plain]),
        ("with a cosignature", both, [plain, witness]),
        ("with a stranger's", cosign(signed, ["w2.example/b"], 5), [plain]),
        ("only a stranger's", sign_note(text, "log.example/a", key(4)), []),
        ("a key of another name", sign_note(text, "log.example/b", key(3)), []),
        ("text with an empty line", sign_note("a\n\nb\n", "log.example/a", key(3)), [plain]),
        ("text of one line feed", sign_note("\n", "log.example/a", key(3)), [plain]),
        ("text with a delete character", sign_note("\x7f\n", "log.example/a", key(3)), [plain]),
        ("sixteen lines", signed + _stranger_lines(15), [plain]),
    ):
        suite.good(name, _note_input(data, keys), {"signers": signers})
    for name, data, code in _broken_notes(signed, both):
        suite.bad(name, _note_input(data, keys), code)
    return suite


def _note_input(data: bytes, keys: list[str]) -> dict[str, Any]:
    return {"note": data.hex(), "keys": keys}


def _stranger_lines(count: int) -> bytes:
    line = base64.b64encode(bytes(68)).decode()
    return f"— stranger {line}\n".encode() * count


def _broken_notes(signed: bytes, both: bytes) -> Iterator[tuple[str, bytes, str]]:
    head, line = signed[: signed.index(b"\n\n") + 2], signed[signed.index(b"\n\n") + 2 :]
    blob = line.split(b" ")[2]
    yield "empty", b"", "PARSE"
    yield "no signature", head, "PARSE"
    yield "no empty line", head[:-1] + line, "PARSE"
    yield "no last line feed", signed[:-1], "PARSE"
    yield "a line feed more", signed + b"\n", "PARSE"
    yield "a hyphen for the dash", head + b"-" + line[3:], "PARSE"
    yield "two spaces", head + line.replace(b" ", b"  ", 1), "PARSE"
    yield "a tab in the text", b"a\tb\n\n" + line, "PARSE"
    yield "a carriage return", signed.replace(b"\n", b"\r\n"), "PARSE"
    yield "no UTF-8", b"\xff\n\n" + line, "PARSE"
    yield "a name with a plus", head + line.replace(b"/a ", b"+a "), "PARSE"
    yield "a name with a no-break space", head + line.replace(b"/a ", "\u00a0a ".encode()), "PARSE"
    yield "no name", head + "—  ".encode() + blob, "PARSE"
    yield "four parts", head + line[:-1] + b" x\n", "PARSE"
    yield "base64 without padding", head + line.replace(b"=", b""), "PARSE"
    yield "base64 with a line feed less", head + line.replace(blob, b"AA==\n"), "PARSE"
    yield "base64 with loose bits", head + "— a AAAAAB==\n".encode(), "PARSE"
    yield "base64 of the other alphabet", head + "— a AAAA_AAA\n".encode(), "PARSE"
    yield "four bytes of signature", head + "— a AAAAAA==\n".encode(), "PARSE"
    yield "seventeen lines", signed + _stranger_lines(16), "PARSE"
    yield "17 KiB", b"x" * 17_000 + b"\n\n" + line, "PARSE"
    yield "another text", b"x" + signed, "NOTE_SIGNATURE"
    yield "a line twice", signed + line, "NOTE_SIGNATURE"
    data = bytearray(base64.b64decode(blob))
    data[-1] ^= 1
    spoilt = base64.b64encode(bytes(data))
    yield "another signature", head + line.replace(blob[:-1], spoilt), "NOTE_SIGNATURE"
    data[-1] ^= 1
    short = base64.b64encode(bytes(data[:-1]))
    yield "a signature cut", head + line.replace(blob[:-1], short), "NOTE_SIGNATURE"
    cosigned = both.splitlines(keepends=True)[-1]
    blob = bytearray(base64.b64decode(cosigned.split(b" ")[2]))
    blob[11] ^= 1
    spoilt = base64.b64encode(bytes(blob))
    other = cosigned.replace(cosigned.split(b" ")[2][:-1], spoilt)
    yield "another time of a cosignature", signed + other, "NOTE_SIGNATURE"


def trust_of(log: ForgedLog, quorum: int = 0, witnesses: int = 0) -> str:
    """Returns a trust file's text."""
    checkpoint = VerifierKey(log.origin, 1, public(log.checkpoint_key)).text()
    content = {
        "checkpoint_keys": [checkpoint],
        "format": "sealedshoe/v1/trust",
        "origin": log.origin,
        "quorum": quorum,
        "root_key": public(log.root).hex(),
        "witnesses": [w.text() for w in WITNESS_KEYS[:witnesses]],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def checkpoint() -> Suite:
    """Checkpoints under a trust file: forms, origins, signers and quorums."""
    suite = Suite("checkpoint", "tests/audit/forge and C2SP tlog-checkpoint v1.0.0, by hand")
    log = every_kind()
    note_bytes = log.note()
    size = len(log.entries)
    root = base64.b64decode(note_bytes.splitlines()[2]).hex()
    for quorum, names in ((0, []), (0, ["w1.example/a"]), (1, ["w2.example/b"]), (2, sorted(WITNESSES))):
        data = cosign(note_bytes, list(names), 1_767_225_600)
        given = {"note": data.hex(), "trust": trust_of(log, quorum, 3)}
        cosigned = [{"name": name, "time": "1767225600"} for name in names]
        expected = {"origin": log.origin, "size": str(size), "root": root, "cosigned": cosigned}
        suite.good(f"quorum {quorum}, cosigned by {len(names)}", given, expected)
    for name, data, code in _broken_checkpoints(log, note_bytes):
        given = {"note": data.hex(), "trust": trust_of(log, 0, 3)}
        suite.bad(name, given, code)
    for quorum, names in ((1, []), (2, ["w1.example/a"]), (3, ["w1.example/a", "w3.example/c"])):
        data = cosign(note_bytes, list(names), 5)
        given = {"note": data.hex(), "trust": trust_of(log, quorum, 3)}
        suite.bad(f"quorum {quorum}, cosigned by {len(names)}", given, "QUORUM")
    return suite


def _broken_checkpoints(log: ForgedLog, note_bytes: bytes) -> Iterator[tuple[str, bytes, str]]:
    origin, size, root = note_bytes.decode().splitlines()[:3]
    for name, text in (
        ("an extension line", f"{origin}\n{size}\n{root}\nmore\n"),
        ("a leading zero", f"{origin}\n0{size}\n{root}\n"),
        ("a sign", f"{origin}\n+{size}\n{root}\n"),
        ("no size", f"{origin}\n\n{root}\n"),
        ("a size of twenty digits", f"{origin}\n{10**19}\n{root}\n"),
        ("a root of 31 bytes", f"{origin}\n{size}\n{base64.b64encode(bytes(31)).decode()}\n"),
        ("a root without padding", f"{origin}\n{size}\n{root[:-1]}\n"),
        ("an empty log with a root", f"{origin}\n0\n{root}\n"),
        ("two lines", f"{origin}\n{size}\n"),
        ("an origin of 101 bytes", f"{'o' * 101}\n{size}\n{root}\n"),
    ):
        yield name, sign_note(text, log.origin, log.checkpoint_key), "PARSE"
    other = sign_note(f"other\n{size}\n{root}\n", log.origin, log.checkpoint_key)
    yield "another origin", other, "ORIGIN_MISMATCH"
    by = sign_note(f"{origin}\n{size}\n{root}\n", log.origin, key(4))
    yield "another key", by, "NOTE_SIGNATURE"
    yield "a cut note", note_bytes[:-1], "PARSE"


def trust() -> Suite:
    """Trust files: the one form, and what is not it."""
    suite = Suite("trust", "docs/protocol.md, 10, by hand")
    log = every_kind()
    for quorum, witnesses in ((0, 0), (0, 3), (2, 3), (3, 3)):
        text = trust_of(log, quorum, witnesses)
        expected = {
            "origin": log.origin,
            "root_key": public(log.root).hex(),
            "checkpoint_keys": 1,
            "witnesses": witnesses,
            "quorum": quorum,
        }
        suite.good(f"quorum {quorum} of {witnesses}", {"file": text.encode().hex()}, expected)
    for name, data in _broken_trust(trust_of(log, 1, 2)):
        suite.bad(name, {"file": data.hex()}, "TRUST")
    return suite


def _broken_trust(text: str) -> Iterator[tuple[str, bytes]]:
    yield "empty", b""
    yield "no object", b"[]\n"
    yield "no UTF-8", text.encode().replace(b"log.example", b"log\xff.example")
    yield "a byte order mark", b"\xef\xbb\xbf" + text.encode()
    yield "no last line feed", text.encode()[:-1]
    yield "a line feed more", f"{text}\n".encode()
    yield "indented by four", f"{json.dumps(json.loads(text), indent=4)}\n".encode()
    yield "in one line", f"{json.dumps(json.loads(text))}\n".encode()
    yield "an escape", text.replace("log.example", "log\\u002eexample").encode()
    yield "a key twice", text.replace("{\n", '{\n  "quorum": 1,\n').encode()
    for name in json.loads(text):
        content = json.loads(text)
        del content[name]
        yield f"without {name}", _form(content)
        for value in (None, 7, "x", [], {}, True, -1, 1.0, ["x"], [7]):
            if value != [] or name not in ("witnesses",):
                yield f"{name} is {value!r}", _form(json.loads(text) | {name: value})
    yield "quorum above the witnesses", _form(json.loads(text) | {"quorum": 3})
    yield "a key more", _form(json.loads(text) | {"more": 1})
    content = json.loads(text)
    yield "upper-case hex", _form(content | {"root_key": content["root_key"].upper()})
    yield "a short root key", _form(content | {"root_key": content["root_key"][2:]})
    yield "a witness twice", _form(content | {"witnesses": content["witnesses"][:1] * 2})
    yield "a witness among the keys", _form(content | {"checkpoint_keys": content["witnesses"][:1]})
    yield "a checkpoint key as witness", _form(content | {"witnesses": content["checkpoint_keys"]})
    yield "another key id", _form(content | {"checkpoint_keys": [_other_id(content)]})
    yield "another origin", _form(content | {"origin": "other.example/log"})
    yield "the root key signs checkpoints", _form(content | {"root_key": _key_hex(content)})


def _form(content: dict[str, Any]) -> bytes:
    ordered = dict(sorted(content.items()))
    return f"{json.dumps(ordered, indent=2, ensure_ascii=False)}\n".encode()


def _other_id(content: dict[str, Any]) -> str:
    name, key_id, rest = content["checkpoint_keys"][0].split("+", 2)
    return f"{name}+{int(key_id, 16) ^ 1:08x}+{rest}"


def _key_hex(content: dict[str, Any]) -> str:
    return base64.b64decode(content["checkpoint_keys"][0].split("+", 2)[2])[1:].hex()
