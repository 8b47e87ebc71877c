"""A restart, a crash or a failing disk around a change of keys: it happened at its leaf, or not at all."""

import asyncio

import pytest

from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.keys import KeyFileError
from tests.server.conftest import Start
from tests.server.copies import crash_image
from tests.server.guards import unwritable
from tests.server.reading import stored_entries, stored_records
from tests.server.refusals import refusal_of
from tests.server.rotating import (
    CHECKPOINT,
    NAMES,
    SEALING,
    STATEMENT,
    audited,
    change_of,
    changes_in,
    evidence,
    hand_in,
    in_force,
    make_key,
    rotate,
    status,
    until_changed,
    verified,
)
from tests.server.running import Running

ALL = list(NAMES)


@pytest.mark.parametrize("purpose", ALL)
async def test_a_change_survives_a_restart(start: Start, house: Running, purpose: int) -> None:
    """The key stays in force, old answers come again, old shoes are dealt on, old evidence holds."""
    request = await house.deal_request()
    first = await house.raw("DealRound", request)
    old = await evidence(house, request.round)
    new = await rotate(house, purpose)
    await house.stop()
    again = await start()
    assert await in_force(again, purpose) == new.name
    assert await again.raw("DealRound", request) == first
    await again.deal()
    assert verified(again, old).valid
    assert verified(again, await evidence(again, request.round)).valid
    assert verified(again, await evidence(again, "tables/t/rounds/2")).valid


async def test_shoes_sealed_before_are_reopened_after_a_restart(start: Start) -> None:
    """Three tables, each shoe under a sealing key of its own, and all are dealt on and revealed."""
    server = await start()
    await server.install()
    for name in ("a", "b", "c"):
        await server.open_table(name)
        await server.deal(name)
        await rotate(server, SEALING)
    await server.stop()
    again = await start()
    for name in ("a", "b", "c"):
        assert (await again.deal(name)).name == f"tables/{name}/rounds/2"
        await again.set_state(pb.TableState.TABLE_STATE_CLOSED, name)
    records = stored_records(again.data_dir)
    used = {r.shoe.sealing_key_id for r in records if isinstance(r, pb.RoundOpened) if r.shoe.cards}
    assert len(used) == 3
    assert [r.seed_unavailable for r in records if isinstance(r, pb.ShoeRetired)] == [False] * 3


async def test_a_restart_between_acceptance_and_the_leaf_forgets_the_change(
    start: Start, house: Running
) -> None:
    """The same request is handed in again, and happens at the leaf that the root key signed for."""
    new = make_key(house.data_dir, STATEMENT)
    change = await change_of(house, STATEMENT, new, 100)
    await hand_in(house, change)
    assert (await status(house)).key_change_at == change.first_leaf
    await house.stop()
    again = await start()
    assert (await status(again)).key_change_at == 0
    assert await in_force(again, STATEMENT) != new.name
    assert not await hand_in(again, change)
    while await again.size() < change.first_leaf - 64:
        await again.deal()
    await until_changed(again, change)
    assert [index for index, _ in changes_in(again.data_dir)] == [change.first_leaf - 1]


@pytest.mark.parametrize("purpose", ALL)
async def test_a_crash_right_after_the_commit_of_a_change(
    start: Start, house: Running, purpose: int
) -> None:
    """The head is guarded, signed with the key in force at its size, and everything goes on."""
    new = make_key(house.data_dir, purpose)
    change = await change_of(house, purpose, new, 1)
    guard = house.config.guard_path.read_bytes()
    await hand_in(house, change)
    await until_changed(house, change)
    crashed = crash_image(house.config, "crashed")
    crashed.guard_path.write_bytes(guard)
    crashed.heads_path.unlink()
    assert len(stored_entries(crashed.data_dir)) == change.first_leaf
    again = await start(name="crashed")
    assert await in_force(again, purpose) == new.name
    assert await hand_in(again, change)
    await again.deal()
    await audited(again)


async def fail_at(server: Running, change: pb.KeyChanged) -> None:
    """Has a change committed, or the filling before it, while no head can be released."""
    with unwritable(server.config.guard_path):
        await hand_in(server, change)
        while (await status(server)).log_writable:
            await asyncio.sleep(0.02)
        refusal = await refusal_of(server.deal())
        assert (refusal.code, refusal.reason) == ("UNAVAILABLE", "STORAGE_FAILED")


@pytest.mark.parametrize("purpose", ALL)
async def test_a_change_whose_commit_was_not_released_stands(house: Running, purpose: int) -> None:
    """Handed in again, it is done; nothing happens twice."""
    new = make_key(house.data_dir, purpose)
    change = await change_of(house, purpose, new, 1)
    await fail_at(house, change)
    await house.install(version=2)
    await until_changed(house, change)
    await house.deal()
    assert await in_force(house, purpose) == new.name
    assert [index for index, _ in changes_in(house.data_dir)] == [change.first_leaf - 1]


@pytest.mark.parametrize("purpose", ALL)
async def test_a_failure_while_the_log_is_filled_up_changes_nothing(
    house: Running, purpose: int
) -> None:
    """The change is forgotten; once its leaf has passed, the root key signs for another."""
    new = make_key(house.data_dir, purpose)
    change = await change_of(house, purpose, new, 5)
    await fail_at(house, change)
    await house.install(version=2)
    refusal = await refusal_of(hand_in(house, change))
    assert (refusal.reason, refusal.fields) == ("KEY_CHANGE_INVALID", ("first_leaf",))
    assert changes_in(house.data_dir) == []
    again = await change_of(house, purpose, new, 5)
    await until_changed(house, again)
    await house.deal()
    assert [index for index, _ in changes_in(house.data_dir)] == [again.first_leaf - 1]


async def test_no_change_is_done_before_its_head_is_released(house: Running) -> None:
    """The guard does not know it yet: a restored log would not have it."""
    change = await change_of(house, STATEMENT, make_key(house.data_dir, STATEMENT), 1)
    with unwritable(house.config.guard_path):
        await hand_in(house, change)
        while (await status(house)).log_writable:
            await asyncio.sleep(0.02)
        refusal = await refusal_of(hand_in(house, change))
    assert refusal.reason == "STORAGE_FAILED"


@pytest.mark.parametrize("purpose", [STATEMENT, CHECKPOINT])
async def test_a_log_without_the_file_of_its_key_does_not_start(
    start: Start, house: Running, purpose: int
) -> None:
    """The key that the log names is missing: with the reason, and with nothing appended."""
    new = await rotate(house, purpose)
    await house.stop()
    entries = stored_entries(house.data_dir)
    aside = new.path.rename(new.path.with_suffix(".aside"))
    with pytest.raises(KeyFileError, match=new.name.hex()):
        await start()
    assert stored_entries(house.data_dir) == entries
    aside.rename(new.path)
    await (await start()).deal()


async def test_a_log_without_its_sealing_key_does_not_start(start: Start, house: Running) -> None:
    """With a reason that names it."""
    new = await rotate(house, SEALING)
    await house.stop()
    new.path.rename(new.path.with_suffix(".aside"))
    with pytest.raises(KeyFileError, match=new.name.decode()):
        await start()
