"""A log that grows, its forks, and a mirror's directory as it must be."""

from pathlib import Path

from sealedshoe_audit.log.note import VerifierKey
from sealedshoe_audit.trust import Trust
from tests.audit.forge.log import ForgedLog, key, public, sign_head
from tests.audit.forge.published import MemorySource, publish
from tests.audit.forge.tree import leaf_of

ORIGIN = "log.example/mirrored"
LOG = key(31)
TRUST = Trust(ORIGIN, bytes(32), (VerifierKey(ORIGIN, 1, public(LOG)),))
ENTRIES = [b"entry %d" % n for n in range(1100)]
Files = dict[str, bytes]


def files_at(size: int, entries: list[bytes] = ENTRIES) -> Files:
    """Returns the files of the log at a size, and no others."""
    log = ForgedLog(origin=ORIGIN)
    log.checkpoint_key = LOG
    log.entries = entries[:size]
    return publish(log)


def note_at(size: int, entries: list[bytes] = ENTRIES) -> bytes:
    """Returns the head at a size."""
    return sign_head([leaf_of(entry) for entry in entries[:size]], ORIGIN, LOG)


def forked_at(index: int) -> list[bytes]:
    """Returns another history, which parts from the log at a leaf."""
    return [*ENTRIES[:index], b"forged", *ENTRIES[index + 1 :]]


def source_at(size: int, entries: list[bytes] = ENTRIES) -> MemorySource:
    """Returns the log as it is served at a size."""
    return MemorySource(files_at(size, entries))


def files_in(directory: Path) -> Files:
    """Returns a mirror's published files: all but the heads and the conflict."""
    paths = [path for path in directory.rglob("*") if path.is_file()]
    named = {path.relative_to(directory).as_posix(): path.read_bytes() for path in paths}
    return {name: data for name, data in named.items() if name.startswith(("tile/", "checkpoint"))}
