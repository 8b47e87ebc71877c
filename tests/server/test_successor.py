"""A log that must not be continued has a successor, which shows every open shoe before it deals."""

import json
from pathlib import Path

import pytest

from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.storage.interface import StoreRefused
from tests.server.conftest import Start
from tests.server.copies import back_up, config_of, put_back, server_on
from tests.server.guards import guarded
from tests.server.handing_over import NEXT, Recovery, verified
from tests.server.reading import leaf, root_of, stored_entries
from tests.server.running import Running, wager

ORIGIN = "localhost/sealedshoe"


async def played(start: Start, after: int = 3) -> tuple[Recovery, list[bytes]]:
    """A stopped log of three tables, put back to a backup some deals before; and what it was."""
    server = await start()
    await server.install()
    await server.install("punto-banco-6d")
    await server.open_table("a")
    await server.open_table("b", "punto-banco-6d")
    await server.open_table("c")
    for _ in range(3):
        await server.deal("a")
    await server.place(wager("s1", 200), wager("s2", 300, "banker", "bob"), table="a")
    await server.place(wager("s3", 400), table="b")
    await server.set_state(pb.TableState.TABLE_STATE_CLOSED, "c")
    backup = back_up(server.data_dir, server.data_dir.parent / "backup")
    for _ in range(after):
        await server.deal("a")
        await server.deal("b")
    await server.stop()
    entries = stored_entries(server.data_dir)
    put_back(backup, server.data_dir)
    return Recovery(server.data_dir), entries


async def test_a_restored_backup_is_succeeded(start: Start) -> None:
    """With its shoes revealed, its stakes returned, and the records that are lost admitted."""
    recovery, whole = await played(start)
    kept = stored_entries(recovery.old)
    told = await recovery.succeeds()
    named = recovery.first().predecessor
    leaves = [leaf(entry) for entry in whole]
    assert (named.origin, named.reason) == (ORIGIN, "recovery")
    assert (named.size, named.root) == (len(kept), root_of(leaves[: len(kept)]))
    assert (named.newest_size, named.newest_root) == (len(whole), root_of(leaves))
    assert told.splitlines()[:2] == [
        f"{ORIGIN} ends at {len(kept)} records (recovery)",
        f"  LOST: {len(whole) - len(kept)} records of which only the head is known; the new log says so",
    ]
    assert "2 open shoes revealed, 0 of them without seed\n  3 stakes returned\n" in told
    server = await recovery.served(start)
    assert await verified(recovery, server) == ["TAIL_LOST"]


async def test_every_open_shoe_is_revealed_with_its_stakes(start: Start) -> None:
    """The table that was closed has none; the cards dealt so far are counted."""
    recovery, _ = await played(start)
    await recovery.succeeds()
    found = recovery.revealed()
    assert sorted(found) == ["a", "b"]
    stakes = {t: [(r.wager_id, r.stake) for r in shoe.returned] for t, shoe in found.items()}
    assert stakes == {"a": [("s1", 200), ("s2", 300)], "b": [("s3", 400)]}
    assert [found[table].round_number for table in "ab"] == [4, 1]
    assert 12 <= found["a"].closing.cards_dealt <= 18
    assert found["b"].closing.cards_dealt == 0
    for shoe in found.values():
        committed = shoe.opening.seed_commitment
        assert not shoe.seed_unavailable
        assert len(shoe.closing.seed) > 48
        assert len(committed) == 32


async def test_a_successor_deals(start: Start) -> None:
    """It has no games and no tables of the old log; its round and shoe numbers are its own."""
    recovery, _ = await played(start)
    await recovery.succeeds()
    server = await recovery.served(start)
    assert server.config.origin == NEXT
    await server.install()
    await server.open_table("a")
    assert (await server.deal("a")).name == "tables/a/rounds/1"
    await server.stop()
    again = await recovery.served(start)
    await again.deal("a")
    assert await verified(recovery, again) == ["TAIL_LOST"]


async def test_nothing_is_appended_to_the_old_log(start: Start) -> None:
    """Its records stay, its guard says that it ended under the newest head, and no server starts on it."""
    recovery, whole = await played(start)
    kept = stored_entries(recovery.old)
    archive = Path(f"{recovery.old}.heads").read_bytes()
    await recovery.succeeds()
    assert stored_entries(recovery.old) == kept
    assert Path(f"{recovery.old}.heads").read_bytes() == archive
    leaves = [leaf(entry) for entry in whole]
    config = config_of(recovery.old)
    assert guarded(config.guard_path) == ("ended", len(whole), root_of(leaves))
    with pytest.raises(StoreRefused) as caught:
        server_on(config)
    assert str(caught.value) == f"the log {ORIGIN} has ended: another one succeeded it"
    back_up(recovery.old, recovery.old.parent / "again")
    put_back(recovery.old.parent / "again", recovery.old)
    with pytest.raises(StoreRefused, match="has ended"):
        server_on(config)


async def test_lost_seeds_are_admitted(start: Start) -> None:
    """The sealing key is another: every shoe is named, without seed, and the verifier is told."""
    recovery, _ = await played(start)
    (recovery.old / "keys" / "sealing.key").write_text("00" * 32 + "\n", "ascii")
    told = await recovery.succeeds()
    assert "2 open shoes revealed, 2 of them without seed\n  3 stakes returned\n" in told
    for shoe in recovery.revealed().values():
        assert shoe.seed_unavailable
        assert shoe.closing.seed == b""
        assert shoe.returned
    server = await recovery.served(start)
    server.notices = {"SEED_UNAVAILABLE"}
    assert await verified(recovery, server) == ["SEED_UNAVAILABLE"] * 2 + ["TAIL_LOST"]


async def test_a_lost_guard_leaves_only_what_the_archive_knows(start: Start) -> None:
    """Without both, nobody here knows of a tail; witnesses and mirrors do."""
    recovery, whole = await played(start)
    guard, archive = Path(f"{recovery.old}.guard"), Path(f"{recovery.old}.heads")
    guard.unlink()
    await recovery.succeeds()
    assert recovery.first().predecessor.newest_size == len(whole)
    assert guarded(guard)[:2] == ("ended", len(whole))
    assert archive.exists()


async def test_a_damaged_guard_ends_with_what_can_be_shown(start: Start) -> None:
    """The archive gone as well: no tail is claimed."""
    recovery, _ = await played(start)
    Path(f"{recovery.old}.guard").write_bytes(b"\xff" * 2048)
    Path(f"{recovery.old}.heads").unlink()
    await recovery.succeeds()
    named = recovery.first().predecessor
    assert (named.newest_size, named.newest_root) == (0, b"")
    assert guarded(Path(f"{recovery.old}.guard"))[:2] == ("ended", named.size)
    server = await recovery.served(start)
    assert await verified(recovery, server) == []


async def test_a_whole_log_can_be_succeeded_too(start: Start) -> None:
    """Nothing is lost then, and nothing is said to be."""
    recovery, _ = await played(start, after=0)
    told = await recovery.succeeds()
    assert "LOST" not in told
    server = await recovery.served(start)
    assert await verified(recovery, server) == []


async def test_the_root_key_may_lie_elsewhere(start: Start) -> None:
    """Offline, as it should; another root key is not this log's."""
    recovery, _ = await played(start)
    offline = (recovery.old / "keys" / "root.pem").rename(recovery.old.parent / "root.pem")
    other = recovery.old / "keys" / "statement.pem"
    said = await recovery.fails("--root-key", other)
    assert "ROOT_KEY" in said
    assert not recovery.new.exists()
    await recovery.succeeds("--root-key", offline)
    trust = json.loads((recovery.old / "trust.json").read_text("utf-8"))
    assert recovery.first().root_key.hex() == trust["root_key"]


async def test_a_running_server_is_not_succeeded(house: Running) -> None:
    """Its directory is taken."""
    recovery = Recovery(house.data_dir)
    said = await recovery.fails()
    assert said == f"Error: {house.data_dir}: another server runs on this directory\n"
    await house.deal()


async def test_two_logs_never_share_an_origin(house: Running) -> None:
    """The successor's must be another."""
    await house.stop()
    recovery = Recovery(house.data_dir)
    said = await recovery.fails("--new-origin", ORIGIN)
    assert said == "Error: the new log needs another origin: two logs never share one\n"
    assert guarded(house.config.guard_path)[0] == "open"


@pytest.mark.parametrize("taken", ["next", "published"])
async def test_a_refused_recovery_ends_nothing(start: Start, house: Running, taken: str) -> None:
    """A directory that is in use: the old log was whole, and is dealt on."""
    await house.stop()
    recovery = Recovery(house.data_dir)
    directory = recovery.old.parent / taken
    (directory / "keys").mkdir(parents=True)
    (directory / "keys" / "something").touch()
    assert "not empty" in await recovery.fails()
    await (await start()).deal()
