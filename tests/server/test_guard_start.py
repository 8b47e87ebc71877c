"""No server starts on a log that is not the one its guard knows; the reason says what to do."""

import gc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.config import Config
from sealedshoe_server.storage.interface import StoreRefused
from tests.server.conftest import Start
from tests.server.copies import back_up, crash_image, put_back, server_on
from tests.server.guards import guard_file, guarded, head_text, slot
from tests.server.reading import leaf, root_of, stored_entries, stored_records

ORIGIN = "localhost/sealedshoe"
RESTORED = "a restored backup never deals. Put the whole log back, or start a successor with"


@pytest.fixture(autouse=True)
def refused_servers_end() -> Iterator[None]:
    """Collects servers that refused to start, as the end of their process would."""
    yield
    gc.collect()


@pytest.fixture
async def left(start: Start) -> Config:
    """What a stopped server left: a log of some rounds and its guard, which no refusal may touch."""
    server = await start()
    await server.install()
    await server.open_table()
    for _ in range(3):
        await server.deal()
    back_up(server.data_dir, server.data_dir.parent / "earlier")
    await server.deal()
    await server.stop()
    return server.config


def refusal(config: Config) -> str:
    """Why no server starts; neither log nor guard are touched."""
    paths = [path for path in (config.guard_path, config.heads_path) if path.is_file()]
    before = [stored_entries(config.data_dir), *(path.read_bytes() for path in paths)]
    existed = config.guard_path.exists()
    with pytest.raises(StoreRefused) as caught:
        server_on(config)
    assert [stored_entries(config.data_dir), *(path.read_bytes() for path in paths)] == before
    assert config.guard_path.exists() is existed
    return str(caught.value)


def test_the_guard_of_a_stopped_log_holds_its_head(left: Config) -> None:
    """Size and root, worked out from the entries."""
    leaves = [leaf(entry) for entry in stored_entries(left.data_dir)]
    assert guarded(left.guard_path) == ("open", len(leaves), root_of(leaves))


def test_a_log_behind_its_guard_is_refused(left: Config) -> None:
    """A backup was put back: what was dealt since then would be dealt anew."""
    known = len(stored_entries(left.data_dir))
    put_back(left.data_dir.parent / "earlier", left.data_dir)
    size = len(stored_entries(left.data_dir))
    assert 0 < size < known
    expected = f"the log has {size} records, but its guard knows {known}: {RESTORED}"
    assert refusal(left) == f"{expected} `sealedshoe recover`"


@pytest.mark.parametrize("empty", [False, True])
def test_a_log_without_its_guard_is_refused(left: Config, empty: bool) -> None:
    """An emptied one is none."""
    left.guard_path.write_bytes(b"")
    if not empty:
        left.guard_path.unlink()
    size = len(stored_entries(left.data_dir))
    assert refusal(left) == (
        f"the guard of this log of {size} records is missing: the log may be a restored backup. "
        "Put the guard back, or start a successor with `sealedshoe recover`"
    )


def rewrite(config: Config, size: int, **changes: str) -> str:
    """Makes a guard that knows another root at a size."""
    text = head_text(size, b"\xee" * 32, **changes)
    config.guard_path.write_bytes(guard_file(slot(8, text), slot(7, head_text(size - 1))))
    return text


@pytest.mark.parametrize("behind", [0, 1, 5])
def test_a_rewritten_log_is_refused(left: Config, behind: int) -> None:
    """The guard's head is no prefix of it, at the log's size and before."""
    size = len(stored_entries(left.data_dir)) - behind
    rewrite(left, size)
    expected = (
        f"the log's first {size} records are not those that its guard knows: it was rewritten"
    )
    assert refusal(left) == expected


def test_another_logs_guard_is_refused(left: Config) -> None:
    """Whatever its head is."""
    rewrite(left, 1, origin="log.example/other")
    expected = f"the guard is of the log log.example/other, not of {ORIGIN}"
    assert refusal(left) == expected


def test_an_ended_log_is_refused(left: Config) -> None:
    """Its successor deals."""
    leaves = [leaf(entry) for entry in stored_entries(left.data_dir)]
    ended = slot(900, head_text(len(leaves), root_of(leaves)), "ended")
    left.guard_path.write_bytes(guard_file(ended, slot(899, head_text(1))))
    assert refusal(left) == f"the log {ORIGIN} has ended: another one succeeded it"


def damage(path: Path) -> None:
    """Flips a bit in either slot."""
    data = bytearray(path.read_bytes())
    data[60] ^= 1
    data[1024 + 60] ^= 1
    path.write_bytes(data)


def hide(path: Path) -> None:
    """Puts a directory in its place."""
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("harm", "reason"),
    [(damage, "damaged; only `sealedshoe recover` goes on"), (hide, "Is a directory")],
)
def test_a_guard_that_cannot_be_read_is_refused(
    left: Config, harm: Callable[[Path], None], reason: str
) -> None:
    """Never taken for none."""
    harm(left.guard_path)
    assert refusal(left) == f"guard {left.guard_path}: {reason}"


def test_a_guard_that_knows_more_than_an_empty_log_is_refused(left: Config) -> None:
    """The data directory was emptied: a new log under this origin would fork the old one."""
    known = len(stored_entries(left.data_dir))
    for piece in (*left.data_dir.glob("log.db*"), *left.data_dir.glob("keys/*")):
        piece.unlink()
    (left.data_dir / "keys").rmdir()
    with pytest.raises(StoreRefused, match=f"the log has 0 records, but its guard knows {known}: "):
        server_on(left)
    assert not (left.data_dir / "keys").exists()


async def test_a_log_ahead_of_its_guard_by_a_crash_goes_on(start: Start) -> None:
    """Committed and not yet guarded: the next start guards the head, and nothing is lost."""
    server = await start()
    await server.install()
    await server.open_table()
    before = server.config.guard_path.read_bytes()
    dealt = await server.deal()
    crashed = crash_image(server.config, "crashed")
    crashed.guard_path.write_bytes(before)
    again = await start(name="crashed")
    assert guarded(crashed.guard_path)[1] == len(stored_entries(crashed.data_dir))
    assert dealt.result.envelope in stored_entries(crashed.data_dir)
    starts = [r for r in stored_records(again.data_dir) if isinstance(r, pb.EventRecorded)]
    assert len(starts) == 2
    await again.deal()


async def test_a_torn_guard_is_the_one_before(start: Start) -> None:
    """A crash in the middle of its write: the log starts, as every head before is known."""
    server = await start()
    await server.install()
    crashed = crash_image(server.config, "crashed")
    data = bytearray(crashed.guard_path.read_bytes())
    counters = [int(data[i : i + 60].split(b"\n")[1]) for i in (0, 1024)]
    newest = counters.index(max(counters)) * 1024
    data[newest + 300 : newest + 1024] = bytes(724)
    crashed.guard_path.write_bytes(data)
    size = len(stored_entries(crashed.data_dir))
    assert guarded(crashed.guard_path)[1] < size
    await start(name="crashed")
    assert guarded(crashed.guard_path)[1] == len(stored_entries(crashed.data_dir)) > size
