"""Reads a log out of its file and audits it whole; tree and tiles are worked out here, from RFC 6962."""

import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path

from sealedshoe_audit.records import Record, open_record
from sealedshoe_audit.trust import parse_trust
from sealedshoe_audit.verify.log import LogReport, verify_log


def leaf(entry: bytes) -> bytes:
    """RFC 6962, 2.1: the hash of a leaf."""
    return sha256(b"\x00" + entry).digest()


def root_of(leaves: Sequence[bytes]) -> bytes:
    """RFC 6962, 2.1: the tree's root over leaf hashes, straight from the definition."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return sha256(b"\x01" + root_of(leaves[:split]) + root_of(leaves[split:])).digest()


def tile_files(entries: Sequence[bytes]) -> dict[str, bytes]:
    """C2SP tlog-tiles: every tile and bundle of a log of fewer than 256,000 entries."""
    files: dict[str, bytes] = {}
    for start in range(0, len(entries), 256):
        part = entries[start : start + 256]
        bundle = b"".join(len(entry).to_bytes(2, "big") + entry for entry in part)
        files["tile/entries/" + _path(start // 256, len(part))] = bundle
    nodes = [leaf(entry) for entry in entries]
    level = 0
    while nodes:
        for start in range(0, len(nodes), 256):
            part = nodes[start : start + 256]
            files[f"tile/{level}/" + _path(start // 256, len(part))] = b"".join(part)
        whole = len(nodes) // 256
        nodes = [root_of(nodes[i * 256 : i * 256 + 256]) for i in range(whole)]
        level += 1
    return files


def _path(index: int, width: int) -> str:
    return f"{index:03d}" + (f".p/{width}" if width < 256 else "")


class MemorySource:
    """A published log in memory."""

    def __init__(self, entries: Sequence[bytes], note: bytes) -> None:
        self._files = {**tile_files(entries), "checkpoint": note}

    def read(self, path: str) -> bytes | None:
        return self._files.get(path)


def stored_entries(data_dir: Path) -> list[bytes]:
    """Every leaf in a server's file, in order."""
    with closing(sqlite3.connect(data_dir / "log.db")) as db:
        return [row[0] for row in db.execute("SELECT envelope FROM entries ORDER BY idx")]


def stored_records(data_dir: Path) -> list[Record]:
    """Every record in a server's file, in order."""
    return [open_record(entry) for entry in stored_entries(data_dir)]


def audit_log(data_dir: Path, note: bytes) -> LogReport:
    """The auditor's verdict on the log in a directory under a signed checkpoint."""
    size = int(note.split(b"\n")[1])
    source = MemorySource(stored_entries(data_dir)[:size], note)
    trust = parse_trust((data_dir / "trust.json").read_bytes())
    return verify_log(source, trust, time.time_ns() // 1000, lambda _, __: None)
