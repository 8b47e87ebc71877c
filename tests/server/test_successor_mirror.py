"""A mirror that has more than the restored log gives the tail back; a false one is refused."""

from pathlib import Path

import pytest

from sealedshoe_audit.v1 import records_pb2 as pb
from tests.server.commands import succeeds
from tests.server.conftest import Start
from tests.server.copies import back_up, put_back
from tests.server.handing_over import Recovery, verified
from tests.server.reading import leaf, root_of, stored_entries, tile_files
from tests.server.rotating import CHECKPOINT, SEALING, STATEMENT, rotate
from tests.server.running import Running, wager


async def mirrored(start: Start, *changes: int) -> tuple[Recovery, Path, list[bytes]]:
    """A log put back to a backup, an export with more of it, and what the export has.

    Args:
        changes: keys that are changed behind the backup.
    """
    server = await start()
    await server.install()
    await server.open_table()
    await server.open_table("u")
    await server.deal()
    backup = back_up(server.data_dir, server.data_dir.parent / "backup")
    for purpose in changes:
        await rotate(server, purpose)
    await server.deal()
    await server.place(wager("late", 500))
    mirror = server.data_dir.parent / "mirror"
    await succeeds("export", "--data-dir", server.data_dir, mirror)
    entries = stored_entries(server.data_dir)
    await server.deal()
    await server.stop()
    put_back(backup, server.data_dir, keys=False)
    return Recovery(server.data_dir), mirror, entries


async def test_a_mirror_that_has_more_gives_it_back(start: Start) -> None:
    """The successor names its head; only what nobody has is lost."""
    recovery, mirror, entries = await mirrored(start)
    await recovery.succeeds("--mirror", mirror)
    named = recovery.first().predecessor
    assert (named.size, named.root) == (len(entries), root_of([leaf(entry) for entry in entries]))
    assert named.newest_size == len(entries) + 2
    [late] = recovery.revealed()["t"].returned
    assert (late.wager_id, late.stake) == ("late", 500)
    assert recovery.revealed()["t"].round_number == 3
    server = await recovery.served(start)
    assert await verified(recovery, server) == ["TAIL_LOST"]


async def test_a_mirror_that_has_less_is_not_needed(start: Start) -> None:
    """The data directory is the longer copy."""
    recovery, mirror, _ = await mirrored(start)
    for file in mirror.rglob("*"):
        if file.is_file():
            file.unlink()
    kept = stored_entries(recovery.old)
    note = Path(f"{recovery.old}.heads").read_bytes().split(b"localhost/sealedshoe\n3\n")[1]
    for path, data in tile_files(kept[:3]).items():
        (mirror / path).parent.mkdir(parents=True, exist_ok=True)
        (mirror / path).write_bytes(data)
    signed = b"localhost/sealedshoe\n3\n" + b"\n".join(note.split(b"\n")[:3]) + b"\n"
    (mirror / "checkpoint").write_bytes(signed)
    await recovery.succeeds("--mirror", mirror)
    assert recovery.first().predecessor.size == len(kept)


@pytest.mark.parametrize("purpose", [STATEMENT, SEALING])
async def test_a_key_that_changed_behind_the_backup_is_followed(start: Start, purpose: int) -> None:
    """The mirror's records say which key is in force."""
    recovery, mirror, entries = await mirrored(start, purpose)
    await recovery.succeeds("--mirror", mirror)
    assert recovery.first().predecessor.size == len(entries)
    server = await recovery.served(start)
    assert await verified(recovery, server) == ["TAIL_LOST"]


async def test_the_published_end_is_signed_by_the_key_in_force_there(start: Start) -> None:
    """Not by the one that the backup knew."""
    recovery, mirror, _ = await mirrored(start, CHECKPOINT)
    await recovery.succeeds("--mirror", mirror)
    server = await recovery.served(start)
    assert await verified(recovery, server) == ["TAIL_LOST"]


async def test_a_mirror_of_another_history_is_refused(start: Start) -> None:
    """Its records are signed, but they are not what the data directory holds."""
    recovery, mirror, _ = await mirrored(start)
    server = await start(name="fork")
    await server.install()
    await server.stop()
    fork = stored_entries(server.data_dir)
    for path, data in tile_files(fork * 9).items():
        (mirror / path).parent.mkdir(parents=True, exist_ok=True)
        (mirror / path).write_bytes(data)
    text = (mirror / "checkpoint").read_bytes().split(b"\n")
    text[1] = str(len(fork) * 9).encode()
    (mirror / "checkpoint").write_bytes(b"\n".join(text))
    said = await recovery.fails("--mirror", mirror)
    assert said.startswith("Error: the old log at leaf 0: ROOT_KEY: ")
    assert not recovery.new.exists()


@pytest.mark.parametrize("place", [-1, -2, 3])
async def test_a_mirror_with_a_changed_record_is_refused(start: Start, place: int) -> None:
    """Whether it is behind the backup or before."""
    recovery, mirror, entries = await mirrored(start)
    changed = list(entries)
    envelope = pb.Envelope.FromString(entries[place])
    envelope.signature = bytes([envelope.signature[0] ^ 1]) + envelope.signature[1:]
    changed[place] = envelope.SerializeToString(deterministic=True)
    for path, data in tile_files(changed).items():
        (mirror / path).write_bytes(data)
    said = await recovery.fails("--mirror", mirror)
    index = place % len(entries)
    assert said.startswith(f"Error: the old log at leaf {index}: RECORD_SIGNATURE: ")
    assert not recovery.new.exists()


async def test_without_a_mirror_the_tail_stays_lost(start: Start, house: Running) -> None:
    """A directory that is no mirror adds nothing."""
    await house.deal()
    await house.stop()
    empty = house.data_dir.parent / "nothing"
    empty.mkdir()
    recovery = Recovery(house.data_dir)
    await recovery.succeeds("--mirror", empty)
    assert recovery.first().predecessor.size == len(stored_entries(house.data_dir))
