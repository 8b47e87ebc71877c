"""One directory, one server, one log under its keys: everything else is refused before it does harm."""

import gc
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_rng import OsSource, RngFailed
from sealedshoe_server.config import Config
from sealedshoe_server.data_dir import DataDir, DataDirError, running_server
from sealedshoe_server.keys import KeyFileError
from sealedshoe_server.listeners import PortTaken
from sealedshoe_server.server import Server
from sealedshoe_server.storage.interface import StorageFailed, StoreRefused
from tests.server.conftest import Start
from tests.server.entropy import SteeredSource
from tests.server.reading import stored_records

# A server that refuses to start leaves its lock file to the end of the process.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <_io.FileIO:pytest.PytestUnraisableExceptionWarning"
)


@pytest.fixture(autouse=True)
def refused_servers_end() -> Iterator[None]:
    """Collects servers that refused to start, as the end of their process would."""
    yield
    gc.collect()


def server_on(directory: Path, **settings: str) -> Server:
    """A server that is not started."""
    given = {"listen": "127.0.0.1:0", "http_listen": "127.0.0.1:0"} | settings
    config = Config(data_dir=directory, **given)  # type: ignore[arg-type]
    return Server(config, OsSource(), bare=True, boot_id="test")


async def test_two_servers_on_one_directory_are_one_too_many(start: Start) -> None:
    """The second is refused at once, and the first serves on."""
    server = await start()
    with pytest.raises(DataDirError, match="another server runs on this directory"):
        server_on(server.data_dir)
    await server.install()
    assert await server.health() == "SERVING"


async def test_a_directory_is_free_again_after_a_stop(start: Start) -> None:
    """The next server takes the log up where the last left it."""
    server = await start()
    await server.install()
    await server.open_table()
    await server.deal()
    await server.stop()
    again = await start()
    assert (await again.deal()).name == "tables/t/rounds/2"


@pytest.mark.parametrize("listener", ["grpc", "http"])
async def test_a_port_that_is_taken_is_never_shared(start: Start, listener: str) -> None:
    """SO_REUSEPORT would give each of two servers a part of the calls."""
    first = await start()
    setting = {"grpc": "listen", "http": "http_listen"}[listener]
    second = server_on(
        first.data_dir.parent / "second", **{setting: first.server.addresses[listener]}
    )
    with pytest.raises(PortTaken, match=first.server.addresses[listener]):
        await second.start()


async def test_the_running_server_is_announced_and_withdrawn(start: Start) -> None:
    """server.json names its addresses while it runs, and is gone afterwards."""
    server = await start()
    found = running_server(server.data_dir)
    assert {name: found[name] for name in ("grpc", "http")} == server.server.addresses
    await server.stop()
    with pytest.raises(DataDirError, match="no server runs"):
        running_server(server.data_dir)


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"pid": "x"}', '{"pid": "99999999"}'])
def test_a_left_over_announcement_is_no_running_server(tmp_path: Path, content: str) -> None:
    """A crash leaves the file; its process is gone."""
    (tmp_path / "server.json").write_text(content)
    with pytest.raises((DataDirError, TypeError)) as caught:
        running_server(tmp_path)
    if content != "[]":
        assert caught.type is DataDirError


async def _stopped(start: Start) -> Path:
    server = await start()
    await server.install()
    await server.stop()
    return server.data_dir


async def test_keys_without_their_log_are_refused(start: Start) -> None:
    """A lost log.db is never replaced by a new log under old keys: that would be a fork."""
    directory = await _stopped(start)
    for file in directory.glob("log.db*"):
        file.unlink()
    with pytest.raises(DataDirError, match="fork"):
        server_on(directory)
    assert not (directory / "log.db").exists()


async def test_keys_beside_an_emptied_log_are_refused(start: Start) -> None:
    """A log.db of no bytes, as a lost write-ahead log or a full disk leaves it, is a lost log."""
    directory = await _stopped(start)
    for file in directory.glob("log.db*"):
        file.unlink()
    (directory / "log.db").touch()
    with pytest.raises((DataDirError, StoreRefused)):
        server_on(directory)


async def test_a_log_without_its_keys_is_refused(start: Start) -> None:
    """No new keys are made for a log that has begun."""
    directory = await _stopped(start)
    (directory / "keys").rename(directory / "elsewhere")
    with pytest.raises(KeyFileError, match=r"statement\.pem"):
        server_on(directory)
    assert not (directory / "keys").exists()


async def test_another_logs_keys_are_refused(start: Start, tmp_path: Path) -> None:
    """Keys and log must belong together."""
    one, two = await start(name="one"), await start(name="two")
    await one.stop()
    await two.stop()
    (one.data_dir / "keys").rename(tmp_path / "old")
    (two.data_dir / "keys").rename(one.data_dir / "keys")
    server = server_on(one.data_dir)
    with pytest.raises(KeyFileError, match="not this log's"):
        await server.start()


async def test_another_origin_is_refused(start: Start) -> None:
    """A directory is one log's for ever."""
    directory = await _stopped(start)
    with pytest.raises(StoreRefused, match="not of other"):
        server_on(directory, origin="other.example/log")


def test_a_file_in_the_directorys_place_is_refused(tmp_path: Path) -> None:
    """With the path and what is wrong."""
    (tmp_path / "data").write_text("a file")
    with pytest.raises(DataDirError, match="data: File exists"):
        server_on(tmp_path / "data")


def test_a_directory_in_the_locks_place_is_refused(tmp_path: Path) -> None:
    """What cannot be opened cannot be locked."""
    (tmp_path / "lock").mkdir()
    with pytest.raises(DataDirError, match="Is a directory"):
        server_on(tmp_path)


def test_a_directory_in_the_logs_place_is_refused(tmp_path: Path) -> None:
    """Nothing else is made there."""
    (tmp_path / "log.db").mkdir()
    with pytest.raises(StorageFailed):
        server_on(tmp_path)
    assert not (tmp_path / "keys").exists()


async def test_a_start_that_failed_before_its_first_record_is_taken_up(tmp_path: Path) -> None:
    """A crash after the keys were made leaves an empty log: the next start begins it under them."""
    crashed = server_on(tmp_path / "data")
    made = {p.name: p.read_bytes() for p in (tmp_path / "data" / "keys").iterdir()}
    crashed._data.unlock()  # what the end of a process does
    server = server_on(tmp_path / "data")
    await server.start()
    await server.stop()
    assert {p.name: p.read_bytes() for p in (tmp_path / "data" / "keys").iterdir()} == made
    assert isinstance(stored_records(tmp_path / "data")[0], pb.LogStarted)


def test_half_made_keys_of_a_crash_are_made_anew(tmp_path: Path) -> None:
    """Keys appear whole or not at all: what a crash left in keys.new is thrown away."""
    fresh = tmp_path / "keys.new"
    fresh.mkdir()
    (fresh / "root.pem").write_text("half a key")
    data = DataDir(tmp_path)
    keys = data.load_or_make_keys(True, OsSource().read)
    assert len(keys.sealing) == 32
    assert not fresh.exists()


async def test_the_directory_holds_private_and_public_files_apart(start: Start) -> None:
    """The directory itself is its owner's alone; trust.json and vkey hold no private key."""
    server = await start()
    assert server.data_dir.stat().st_mode & 0o777 == 0o700
    trust = json.loads((server.data_dir / "trust.json").read_text())
    vkey = (server.data_dir / "vkey").read_text()
    assert trust["checkpoint_keys"] == [vkey.removesuffix("\n")]
    first = stored_records(server.data_dir)[0]
    assert isinstance(first, pb.LogStarted)
    assert trust["root_key"] == first.root_key.hex()


def test_no_keys_are_made_from_a_source_that_fails(tmp_path: Path) -> None:
    """A first start on a stuck source is refused: keys of equal bytes would sign for ever."""
    source = SteeredSource()
    source.fault = "stuck"
    config = Config(data_dir=tmp_path, listen="127.0.0.1:0", http_listen="127.0.0.1:0")
    with pytest.raises(RngFailed, match="steered"):
        Server(config, source, bare=True, boot_id="test")
    assert not (tmp_path / "keys").exists()
