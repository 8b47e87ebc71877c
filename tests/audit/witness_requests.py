"""A log for witnesses: its heads, its forks and add-checkpoint bodies, by the recursion of RFC 6962."""

import base64
import sqlite3
from hashlib import sha256
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from sealedshoe_audit.log.note import VerifierKey, sign_note
from sealedshoe_audit.witness.store import WitnessStore
from sealedshoe_audit.witness.witness import Witness
from tests.audit.forge.log import key, public
from tests.audit.log.reference import NaiveTree

ORIGIN = "log.example/witnessed"
NAME = "witness.example/w1"
LOG, SECOND, STRANGER, WITNESS = key(31), key(32), key(33), key(34)
ENTRIES = [b"entry %d" % n for n in range(60)]
TREE = NaiveTree(ENTRIES)
FORK = NaiveTree([*ENTRIES[:20], b"forged", *ENTRIES[21:]])
LOG_KEYS = [VerifierKey(ORIGIN, 1, public(LOG)), VerifierKey(ORIGIN, 1, public(SECOND))]


def b64(data: bytes) -> str:
    """Returns standard base64."""
    return base64.b64encode(data).decode()


def head_text(size: int | str, root: bytes, origin: str = ORIGIN) -> str:
    """Returns a checkpoint's text."""
    return f"{origin}\n{size}\n{b64(root)}\n"


def head(
    size: int,
    tree: NaiveTree = TREE,
    private: Ed25519PrivateKey = LOG,
    origin: str = ORIGIN,
) -> bytes:
    """Returns a signed checkpoint."""
    return sign_note(head_text(size, tree.root(size), origin), origin, private)


def body(old: int, note: bytes, proof: list[bytes] | None = None) -> bytes:
    """Returns an add-checkpoint body with any proof."""
    return b"old %d\n" % old + b"".join(b64(h).encode() + b"\n" for h in proof or []) + b"\n" + note


def request(old: int, new: int, tree: NaiveTree = TREE) -> bytes:
    """Returns the body that asks to go on from one size to another."""
    return body(old, head(new, tree), tree.proof(old, new))


def cosigned_at(line: str, text: str, name: str, public_key: bytes) -> int:
    """Checks a cosignature line by tlog-cosignature's own words; returns its time."""
    dash, named, data = line.removesuffix("\n").split(" ")
    blob = base64.b64decode(data)
    assert (dash, named, len(blob)) == ("—", name, 4 + 8 + 64)
    assert blob[:4] == sha256(name.encode() + b"\n\x04" + public_key).digest()[:4]
    time_s = int.from_bytes(blob[4:12], "big")
    message = b"cosignature/v1\ntime %d\n" % time_s + text.encode()
    Ed25519PublicKey.from_public_bytes(public_key).verify(blob[12:], message)
    return time_s


class Clock:
    """A clock that tests set."""

    def __init__(self, now_s: int = 1_767_225_600) -> None:
        self.now_s = now_s

    def __call__(self) -> int:
        """Returns the time in seconds."""
        return self.now_s


_opened: list[WitnessStore] = []


def opened(store: WitnessStore) -> WitnessStore:
    """Returns a memory that `close_all` closes."""
    _opened.append(store)
    return store


def close_all() -> None:
    """Closes every memory that a test opened."""
    while _opened:
        _opened.pop().close()


def open_witness(path: Path, clock: Clock | None = None) -> tuple[Witness, WitnessStore]:
    """Returns the witness of the log over a file, and its memory."""
    store = opened(WitnessStore(path))
    return Witness(NAME, WITNESS, {ORIGIN: LOG_KEYS}, store, clock or Clock()), store


def rows(path: Path, table: str) -> list[tuple[str, int, int, bytes]]:
    """Reads a witness's memory from outside: origin, size, time, note."""
    db = sqlite3.connect(path)
    try:
        return db.execute(f"SELECT origin, size, time_s, note FROM {table} ORDER BY id").fetchall()
    finally:
        db.close()
