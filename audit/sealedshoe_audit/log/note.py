"""Signed notes (C2SP signed-note v1.0.0) and Ed25519 cosignatures (tlog-cosignature v1.0.1).

A note is a text ending in LF, an empty line, and signature lines `— name base64(id[4] || signature)`.
Lines of keys that nobody here knows are ignored; a bad line of a known key rejects the note.
"""

import base64
import binascii
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.signing import KEY_BYTES, SIGNATURE_BYTES, is_signed_by, public_bytes

TYPE_ED25519 = 0x01
TYPE_COSIGNATURE = 0x04
MAX_SIGNATURES = 16  # the specification's least that a verifier must take
MAX_NOTE_BYTES = 16 * 1024  # as transparency-dev/witness caps a request


@dataclass(frozen=True, slots=True)
class VerifierKey:
    """A named public key: type 0x01 signs notes, type 0x04 cosigns checkpoints with a time."""

    name: str
    type: int
    public_key: bytes

    @property
    def id(self) -> bytes:
        """First 4 bytes of SHA-256(name || 0A || type || public key)."""
        typed = bytes([self.type]) + self.public_key
        return sha256(self.name.encode() + b"\n" + typed).digest()[:4]

    def text(self) -> str:
        """Returns the vkey line: name, hex id and base64 key, joined by `+`."""
        key = base64.b64encode(bytes([self.type]) + self.public_key).decode()
        return f"{self.name}+{self.id.hex()}+{key}"


@dataclass(frozen=True, slots=True)
class NoteSignature:
    """One signature line: the key's name, its 4-byte id, and what follows it."""

    name: str
    id: bytes
    blob: bytes


@dataclass(frozen=True, slots=True)
class Note:
    """A parsed note; nothing is verified yet."""

    text: str
    signatures: tuple[NoteSignature, ...]


def is_key_name(name: str) -> bool:
    """Whether a key may be called so: not empty, no space, no plus, no control character."""
    return bool(name) and name.isprintable() and not any(c.isspace() or c == "+" for c in name)


def parse_vkey(text: str) -> VerifierKey:
    """Reads a vkey line without its line feed.

    Raises:
        VerificationError: TRUST.
    """
    parts = text.split("+", 2)
    if len(parts) == 3 and is_key_name(parts[0]):
        key = decode_base64(parts[2])
        if key is not None and len(key) == 1 + KEY_BYTES and key[0] in (0x01, 0x04):
            found = VerifierKey(parts[0], key[0], key[1:])
            if found.id.hex() == parts[1]:
                return found
    raise VerificationError(Code.TRUST, expected="name+id+base64 key", found=ascii(text[:200]))


def parse_note(data: bytes) -> Note:
    """Splits a note into text and signature lines.

    Raises:
        VerificationError: PARSE.
    """
    if len(data) > MAX_NOTE_BYTES:
        raise _parse_error("a note of at most 16 KiB")
    try:
        whole = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _parse_error("UTF-8") from error
    if any(c < " " and c != "\n" for c in whole):
        raise _parse_error("no control characters but line feeds")
    text, separator, lines = whole.rpartition("\n\n")
    if not separator or not lines.endswith("\n"):
        raise _parse_error("text, an empty line and signature lines")
    signatures = tuple(_parse_signature(line) for line in lines[:-1].split("\n"))
    if len(signatures) > MAX_SIGNATURES:
        raise _parse_error(f"at most {MAX_SIGNATURES} signatures")
    return Note(text + "\n", signatures)


def _parse_signature(line: str) -> NoteSignature:
    parts = line.split(" ")
    if len(parts) != 3 or parts[0] != "—" or not is_key_name(parts[1]):
        raise _parse_error("a signature line")
    blob = decode_base64(parts[2])
    if blob is None or len(blob) < 5:
        raise _parse_error("a signature in base64")
    return NoteSignature(parts[1], blob[:4], blob[4:])


def _parse_error(expected: str) -> VerificationError:
    return VerificationError(Code.PARSE, expected=expected, found="another note")


def decode_base64(text: str) -> bytes | None:
    """Decodes standard base64 with padding; None unless it is the one canonical encoding."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if base64.b64encode(data).decode() == text else None


def encode_base64(data: bytes) -> str:
    """Returns standard base64 with padding."""
    return base64.b64encode(data).decode()


def signature_line(name: str, key_id: bytes, blob: bytes) -> str:
    """Returns one signature line with its line feed."""
    return f"— {name} {base64.b64encode(key_id + blob).decode()}\n"


def sign_note(text: str, name: str, private_key: Ed25519PrivateKey) -> bytes:
    """Returns the note with one Ed25519 signature; the same bytes every time."""
    key = VerifierKey(name, TYPE_ED25519, public_bytes(private_key))
    line = signature_line(name, key.id, private_key.sign(text.encode()))
    return f"{text}\n{line}".encode()


def cosignature_line(text: str, name: str, private_key: Ed25519PrivateKey, time_s: int) -> str:
    """Returns a witness's line on a checkpoint's text: type 0x04, uint64 time, signature."""
    key = VerifierKey(name, TYPE_COSIGNATURE, public_bytes(private_key))
    signature = private_key.sign(cosigned_message(text, time_s))
    return signature_line(name, key.id, time_s.to_bytes(8, "big") + signature)


def verify_signers(note: Note, keys: Iterable[VerifierKey]) -> dict[VerifierKey, int]:
    """Returns {each known key that signed: time in POSIX seconds, 0 for a plain signature}.

    Raises:
        VerificationError: NOTE_SIGNATURE when a known key's line is bad or stands twice.
    """
    known = {(key.name, key.id): key for key in keys}
    signers: dict[VerifierKey, int] = {}
    for signature in note.signatures:
        key = known.get((signature.name, signature.id))
        if key is None:
            continue
        time_s = _verify_line(note.text, key, signature.blob)
        if time_s is None or key in signers:
            raise VerificationError(
                Code.NOTE_SIGNATURE, expected=f"one good signature by {key.name}", found="another"
            )
        signers[key] = time_s
    return signers


def _verify_line(text: str, key: VerifierKey, blob: bytes) -> int | None:
    if key.type == TYPE_ED25519:
        return 0 if is_signed_by(key.public_key, blob, text.encode()) else None
    if len(blob) != 8 + SIGNATURE_BYTES or blob[0] >= 0x80:
        return None
    time_s = int.from_bytes(blob[:8], "big")
    message = cosigned_message(text, time_s)
    return time_s if is_signed_by(key.public_key, blob[8:], message) else None


def cosigned_message(text: str, time_s: int) -> bytes:
    """Returns what a witness signs: tlog-cosignature v1, over the whole checkpoint text."""
    return f"cosignature/v1\ntime {time_s}\n{text}".encode()
