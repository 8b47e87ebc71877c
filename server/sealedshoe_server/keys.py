"""Key files: made once on an empty data directory, then only read, and only when kept privately.

root.pem        Ed25519, authorises the statement key; belongs offline once the log is started
statement.pem   Ed25519, signs records
checkpoint.pem  Ed25519, signs checkpoints
sealing.key     64 hex digits, seals seeds

A rotation adds statement-….pem, checkpoint-….pem or sealing-….key beside them. Which key is in force, the
log says; the others stay: old answers are signed again to the same bytes, old seeds are opened again.
"""

import os
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from sealedshoe_audit.keeping.files import sync_directory
from sealedshoe_audit.signing import public_bytes
from sealedshoe_server.sealing import Sealer

SIGNING_KEYS = ("root", "statement", "checkpoint")


class KeyFileError(Exception):
    """A key file is missing, of the wrong kind, or readable by others."""


@dataclass(frozen=True, slots=True, repr=False)
class Keys:
    """The keys that a running server needs; the root key is not among them.

    Attributes:
        statement, checkpoint, sealing: the first ones, made with the log.
        signing: every statement and checkpoint key by its public bytes.
        sealers: every sealing key.
    """

    statement: Ed25519PrivateKey
    checkpoint: Ed25519PrivateKey
    sealing: bytes
    signing: Mapping[bytes, Ed25519PrivateKey]
    sealers: tuple[bytes, ...]

    def signer(self, public: bytes) -> Ed25519PrivateKey:
        """Returns the private half of a key that the log names.

        Raises:
            KeyFileError: no key file has it.
        """
        found = self.signing.get(public)
        if found is None:
            raise KeyFileError(f"the key files are not this log's: none is {public.hex()}")
        return found


def make_keys(
    directory: Path,
    random_bytes: Callable[[int], bytes],
    root_key: Ed25519PrivateKey | None = None,
) -> None:
    """Writes the four key files; without root.pem when there is a root key already.

    Raises:
        KeyFileError: the directory exists with something in it.
    """
    directory.mkdir(mode=0o700, exist_ok=True)
    if any(directory.iterdir()):
        raise KeyFileError(f"{directory}: not empty, keys are never overwritten")
    for name in SIGNING_KEYS[1:] if root_key is not None else SIGNING_KEYS:
        key = Ed25519PrivateKey.from_private_bytes(random_bytes(32))
        _write_signing_key(directory / f"{name}.pem", key)
    _write_sealing_key(directory / "sealing.key", random_bytes(32))
    sync_directory(directory)
    sync_directory(directory.parent)


def _write_signing_key(path: Path, key: Ed25519PrivateKey) -> None:
    _write(path, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))


def _write_sealing_key(path: Path, secret: bytes) -> None:
    _write(path, secret.hex().encode() + b"\n")


def _write(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def load_keys(directory: Path) -> Keys:
    """Returns the keys of a server.

    Raises:
        KeyFileError: see the class.
    """
    statement = load_signing_key(directory / "statement.pem")
    checkpoint = load_signing_key(directory / "checkpoint.pem")
    sealing = _load_sealing_key(directory / "sealing.key")
    files = [*directory.glob("statement-*.pem"), *directory.glob("checkpoint-*.pem")]
    signing = [statement, checkpoint, *map(load_signing_key, sorted(files))]
    later = [_load_sealing_key(path) for path in sorted(directory.glob("sealing-*.key"))]
    by_public = {public_bytes(key): key for key in signing}
    return Keys(statement, checkpoint, sealing, by_public, (sealing, *later))


def add_key(directory: Path, purpose: str, random_bytes: Callable[[int], bytes]) -> Path:
    """Writes a new key file beside the others; it is in force once the log says so.

    Args:
        purpose: statement, checkpoint or sealing.
    """
    if purpose == "sealing":
        secret = random_bytes(32)
        path = directory / f"sealing-{Sealer(secret).key_id}.key"
        _write_sealing_key(path, secret)
        return path
    key = Ed25519PrivateKey.from_private_bytes(random_bytes(32))
    path = directory / f"{purpose}-{public_bytes(key).hex()[:16]}.pem"
    _write_signing_key(path, key)
    return path


def load_signing_key(path: Path) -> Ed25519PrivateKey:
    """Returns an Ed25519 private key.

    Raises:
        KeyFileError: see the class.
    """
    data = _read_private(path)
    try:
        key = load_pem_private_key(data, None)
    except (ValueError, TypeError) as error:
        raise KeyFileError(f"{path}: not an unencrypted PEM private key") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyFileError(f"{path}: not an Ed25519 key")
    return key


def _load_sealing_key(path: Path) -> bytes:
    text = _read_private(path)
    if not re.fullmatch(rb"[0-9a-f]{64}\n?", text):
        raise KeyFileError(f"{path}: a sealing key is 64 hex digits")
    return bytes.fromhex(text.decode("ascii"))


def _read_private(path: Path) -> bytes:
    """Reads a file that nobody but its owner, this user, may touch."""
    try:
        status = path.stat()
        data = path.read_bytes()
    except OSError as error:
        raise KeyFileError(f"{path}: {error.strerror}") from error
    if stat.S_IMODE(status.st_mode) & 0o077 or status.st_uid != os.geteuid():
        raise KeyFileError(
            f"{path}: others may read it; its mode must be 0600, its owner this user"
        )
    return data
