"""Exports: resumed at any size they equal one made in one go, and the auditor reads them as they lie."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path

import pytest

from sealedshoe_audit.trust import parse_trust
from sealedshoe_audit.verify.log import verify_log
from tests.server.commands import fails, sealedshoe, succeeds
from tests.server.conftest import Start
from tests.server.handing_over import NOW_US, FileSource
from tests.server.reading import stored_entries, tile_files
from tests.server.rotating import CHECKPOINT, STATEMENT, change_of, hand_in, make_key, rotate
from tests.server.running import Running

BUNDLE = 256


async def export(server: Running, directory: Path) -> dict[str, bytes]:
    """Exports, and returns the files that are there."""
    told = await succeeds("export", "--data-dir", server.data_dir, directory)
    assert told.strip() == f"{directory}: {await server.size():,} records"
    return files_in(directory)


def files_in(directory: Path) -> dict[str, bytes]:
    """Every file by its path."""
    paths = [path for path in directory.rglob("*") if path.is_file()]
    return {str(path.relative_to(directory)): path.read_bytes() for path in paths}


def is_partial(path: str) -> bool:
    """Whether a tile is not full: those of earlier sizes may stay."""
    return ".p/" in path


def check(server: Running, directory: Path) -> None:
    """The auditor's verdict on the directory."""
    trust = parse_trust((server.data_dir / "trust.json").read_bytes())
    report = verify_log(FileSource(directory), trust, NOW_US, lambda *_: None)
    assert report.valid, report.findings
    assert report.records == len(stored_entries(server.data_dir))


async def grow(server: Running, size: int) -> None:
    """Fills the log up to a size, with the server's own records."""
    while await server.size() < size:
        missing = size - await server.size()
        ahead = min(missing, 60)
        change = await change_of(server, STATEMENT, make_key(server.data_dir, STATEMENT), ahead)
        await hand_in(server, change)
        while await server.size() < change.first_leaf:
            await asyncio.sleep(0.005)


async def test_an_export_is_what_the_log_is(house: Running, tmp_path: Path) -> None:
    """Every tile and bundle as worked out here, the newest checkpoint, and nothing else."""
    await house.deal()
    found = await export(house, tmp_path / "export")
    expected = tile_files(stored_entries(house.data_dir))
    expected["checkpoint"] = (await house.http("/log/checkpoint"))[2]
    assert found == expected
    check(house, tmp_path / "export")


async def test_a_resumed_export_equals_one_in_one_go(house: Running, tmp_path: Path) -> None:
    """Byte for byte, before, at and behind the edges of tiles; what else lies there is older parts."""
    resumed = tmp_path / "resumed"
    for number, size in enumerate((10, 11, 255, 256, 257, 300, 511, 513, 514)):
        await grow(house, size)
        assert await house.size() == size
        found = await export(house, resumed)
        whole = await export(house, tmp_path / f"whole-{number}")
        assert {path: found.get(path) for path in whole} == whole
        assert all(is_partial(path) for path in found.keys() - whole.keys())
        check(house, resumed)
    assert set(tile_files(stored_entries(house.data_dir))) <= set(found)


async def test_an_export_with_nothing_new_stays(house: Running, tmp_path: Path) -> None:
    """The same files again."""
    first = await export(house, tmp_path / "export")
    assert await export(house, tmp_path / "export") == first


async def test_an_export_goes_on_over_key_changes_and_restarts(
    start: Start, house: Running, tmp_path: Path
) -> None:
    """It lasts as long as the log."""
    await export(house, tmp_path / "export")
    await rotate(house, CHECKPOINT)
    await export(house, tmp_path / "export")
    await house.stop()
    again = await start()
    await rotate(again, STATEMENT)
    await export(again, tmp_path / "export")
    check(again, tmp_path / "export")


async def test_an_interrupted_export_is_taken_up(house: Running, tmp_path: Path) -> None:
    """The checkpoint is written last: whatever of the new files is there already is written again."""
    directory = tmp_path / "export"
    await export(house, directory)
    before = (directory / "checkpoint").read_bytes()
    await house.deal()
    whole = await export(house, directory)
    (directory / "checkpoint").write_bytes(before)
    for path in whole:
        if path != "checkpoint" and f".p/{await house.size()}" in path:
            (directory / path).write_bytes(b"half")
    assert await export(house, directory) == whole
    check(house, directory)


async def test_a_directory_in_use_is_refused(house: Running, tmp_path: Path) -> None:
    """Nothing is written among somebody's files."""
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "file").write_bytes(b"mine")
    said = await fails("export", "--data-dir", house.data_dir, tmp_path / "used")
    assert said == f"Error: {tmp_path / 'used'}: not empty, and no export\n"
    assert files_in(tmp_path / "used") == {"file": b"mine"}


async def test_another_logs_export_is_refused(start: Start, house: Running, tmp_path: Path) -> None:
    """By its origin; its files stay."""
    other = await start(name="other", origin="log.example/other")
    before = await export(other, tmp_path / "export")
    said = await fails("export", "--data-dir", house.data_dir, tmp_path / "export")
    assert said == "Error: the export is another log's, or damaged\n"
    assert files_in(tmp_path / "export") == before


async def test_another_history_of_this_origin_is_refused(
    start: Start, house: Running, tmp_path: Path
) -> None:
    """Shorter or longer than the log; it stays what it was, with its own checkpoint."""
    same = await start(name="same")
    short = await export(same, tmp_path / "short")
    said = await fails("export", "--data-dir", house.data_dir, tmp_path / "short")
    assert said == "Error: the records do not lead to the checkpoint\n"
    found = files_in(tmp_path / "short")
    assert {path: found.get(path) for path in short} == short
    check(same, tmp_path / "short")
    long = await export(house, tmp_path / "long")
    said = await fails("export", "--data-dir", same.data_dir, tmp_path / "long")
    sizes = f"has {await house.size()} records, the log {await same.size()}"
    assert said == f"Error: {tmp_path / 'long'}: {sizes}\n"
    assert files_in(tmp_path / "long") == long


async def damaged(server: Running, directory: Path, path: str, data: bytes | None) -> None:
    """Changes or removes a file of an export, lets the log grow, and expects the next one to refuse."""
    await export(server, directory)
    if data is None:
        (directory / path).unlink()
    else:
        (directory / path).write_bytes(data)
    before = files_in(directory)
    await server.deal()
    ran = await sealedshoe("export", "--data-dir", server.data_dir, directory)
    assert ran.code == 1
    assert ran.err.startswith("Error: ")
    assert files_in(directory)["checkpoint"] == before["checkpoint"]


@pytest.mark.parametrize("data", [None, b"", b"x" * 32, b"x" * 31])
async def test_a_damaged_hash_tile_is_refused(
    house: Running, tmp_path: Path, data: bytes | None
) -> None:
    """An export goes on from what its own tiles say."""
    path = f"tile/0/000.p/{await house.size()}"
    await damaged(house, tmp_path / "export", path, data)


@pytest.mark.parametrize("data", [None, b"", b"\x00\x05half", b"\xff" * 50])
async def test_a_damaged_entry_bundle_is_refused(
    house: Running, tmp_path: Path, data: bytes | None
) -> None:
    """Missing, empty, cut or garbage: with a reason and not with a traceback."""
    path = f"tile/entries/000.p/{await house.size()}"
    await damaged(house, tmp_path / "export", path, data)


async def test_a_flipped_byte_at_the_edge_is_refused(house: Running, tmp_path: Path) -> None:
    """Else it goes into the next bundle for good, and the export never verifies again."""
    size = await house.size()
    flipped = bytearray(tile_files(stored_entries(house.data_dir))[f"tile/entries/000.p/{size}"])
    flipped[-1] ^= 1
    await damaged(house, tmp_path / "export", f"tile/entries/000.p/{size}", bytes(flipped))


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"localhost/sealedshoe\n5\n"])
async def test_a_damaged_checkpoint_is_refused(house: Running, tmp_path: Path, data: bytes) -> None:
    """With a reason."""
    directory = tmp_path / "export"
    await export(house, directory)
    (directory / "checkpoint").write_bytes(data)
    said = await fails("export", "--data-dir", house.data_dir, directory)
    assert said.startswith("Error: ")


async def test_an_export_that_follows_keeps_up(house: Running, tmp_path: Path) -> None:
    """As a process of its own it writes what is new again and again; what lies there is always whole."""
    command = [sys.executable, "-m", "sealedshoe_server", "export", "--follow", "--every", "0.02"]
    command += ["--data-dir", str(house.data_dir), str(tmp_path / "export")]
    process = await asyncio.create_subprocess_exec(*command, stdout=DEVNULL, stderr=PIPE)
    try:
        for _ in range(3):
            await house.deal()
            newest = (await house.http("/log/checkpoint"))[2]
            async with asyncio.timeout(20):
                while not _holds(tmp_path / "export" / "checkpoint", newest):
                    await asyncio.sleep(0.02)
            check(house, tmp_path / "export")
    finally:
        process.terminate()
        _, errors = await process.communicate()
    assert b"Traceback" not in errors
    whole = await export(house, tmp_path / "whole")
    found = files_in(tmp_path / "export")
    assert {path: found.get(path) for path in whole} == whole


def _holds(path: Path, note: bytes) -> bool:
    return path.exists() and path.read_bytes() == note
