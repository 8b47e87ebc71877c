"""A published log is read in order and every tile of it compared."""

import pytest

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.merkle import Frontier, leaf_hash
from sealedshoe_audit.log.reader import TileCheck, read_entries
from tests.audit.log.reference import NaiveTree


class Files:
    """A published log held in memory."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files

    def read(self, path: str) -> bytes | None:
        """Returns a file's bytes."""
        return self.files.get(path)


def path_of(kind: str, index: int, width: int) -> str:
    """A path of a log that has below a thousand tiles."""
    return f"tile/{kind}/{index:03d}" + (f".p/{width}" if width < 256 else "")


def published(entries: list[bytes]) -> Files:
    """Cuts a log into files, plainly."""
    tree, files = NaiveTree(entries), {}
    for start in range(0, len(entries), 256):
        part = entries[start : start + 256]
        bundle = b"".join(len(entry).to_bytes(2, "big") + entry for entry in part)
        files[path_of("entries", start // 256, len(part))] = bundle
        hashes = [tree.mth(start + n, start + n + 1) for n in range(len(part))]
        files[path_of("0", start // 256, len(part))] = b"".join(hashes)
    full = len(entries) // 256
    if full:
        upper = [tree.mth(256 * n, 256 * n + 256) for n in range(full)]
        files[path_of("1", 0, full)] = b"".join(upper)
    return Files(files)


def checked(files: Files, size: int) -> int:
    """Reads the whole log and compares its tiles; returns how many."""
    frontier, check = Frontier(), TileCheck(files)
    for entry in read_entries(files, size):
        for level, _, node in frontier.append(leaf_hash(entry)):
            check.completed(level, node)
    check.finish()
    return check.compared


def finding(files: Files, size: int) -> Code | None:
    """What reading a log finds wrong, if anything."""
    try:
        checked(files, size)
    except VerificationError as error:
        return error.code
    return None


SIZES = [1, 2, 255, 256, 257, 511, 512, 600]
ENTRIES = [b"entry %d" % n for n in range(600)]


@pytest.mark.parametrize("size", SIZES)
def test_a_whole_log_is_read_and_all_its_tiles_compared(size: int) -> None:
    files = published(ENTRIES[:size])
    assert list(read_entries(files, size)) == ENTRIES[:size]
    assert checked(files, size) == -(-size // 256) + (size >= 256)


def test_an_empty_log_needs_no_file() -> None:
    assert list(read_entries(Files({}), 0)) == []
    assert checked(Files({}), 0) == 0


@pytest.mark.parametrize("size", SIZES)
def test_a_log_without_one_of_its_files_is_refused(size: int) -> None:
    whole = published(ENTRIES[:size]).files
    for path in whole:
        rest = {name: data for name, data in whole.items() if name != path}
        assert finding(Files(rest), size) is Code.MISSING_FILE, path


@pytest.mark.parametrize("size", SIZES)
def test_a_damaged_tile_or_entry_is_found(size: int) -> None:
    whole = published(ENTRIES[:size]).files
    for path, data in whole.items():
        flipped = data[:-1] + bytes([data[-1] ^ 1])
        assert finding(Files(whole | {path: flipped}), size) is Code.TILE_MISMATCH, path
        torn = Code.PARSE if "entries" in path else Code.TILE_MISMATCH
        assert finding(Files(whole | {path: data[:-1]}), size) is torn, path
        assert finding(Files(whole | {path: data + b"\0"}), size) is torn, path


def test_a_partial_tile_of_another_width_is_not_read() -> None:
    files = published(ENTRIES[:3]).files
    files["tile/0/000.p/2"] = files.pop("tile/0/000.p/3")[:64]
    assert finding(Files(files), 3) is Code.MISSING_FILE
