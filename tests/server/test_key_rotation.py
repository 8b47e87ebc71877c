"""Every key is replaced while tables play: callers see nothing, and the log is sound at every leaf."""

import asyncio
from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256

import pytest

from sealedshoe_audit.records import open_record
from sealedshoe_audit.trust import parse_trust
from sealedshoe_audit.v1 import records_pb2 as pb
from tests.server.conftest import Start
from tests.server.reading import stored_entries, stored_records
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
    until_changed,
    verified,
)
from tests.server.running import Running

ALL = list(NAMES)
TABLES = ("a", "b", "c", "d")


def signers(server: Running) -> list[bytes]:
    """Who signed each leaf: the key ids of the envelopes."""
    entries = stored_entries(server.data_dir)
    return [pb.Envelope.FromString(entry).keyid for entry in entries]


async def busy(start: Start, *games: str) -> Running:
    """A server with four tables of these games in turn."""
    server = await start()
    for game in games:
        await server.install(game)
    for number, name in enumerate(TABLES):
        await server.open_table(name, games[number % len(games)])
    return server


@asynccontextmanager
async def playing(server: Running) -> AsyncIterator[dict[str, bytes]]:
    """Deals at all tables at once; gives the results so far, by round."""
    dealt: dict[str, bytes] = {}
    over = asyncio.Event()

    async def play(table: str) -> None:
        while not over.is_set():
            round_ = await server.deal(table)
            dealt[round_.name] = round_.result.envelope

    players = [asyncio.create_task(play(name)) for name in TABLES]
    yield dealt
    over.set()
    await asyncio.gather(*players)


@pytest.mark.parametrize("ahead", [1, 2, 9, 150])
@pytest.mark.parametrize("purpose", ALL)
async def test_a_key_changes_at_its_leaf(house: Running, purpose: int, ahead: int) -> None:
    """The leaf before the first that the new key signs, however far ahead; a quiet log is filled up."""
    size = await house.size()
    old = await in_force(house, purpose)
    new = make_key(house.data_dir, purpose)
    change = await change_of(house, purpose, new, ahead)
    assert change.first_leaf == size + ahead
    accepted = await hand_in(house, change)
    assert not accepted
    while await house.size() < change.first_leaf - 64:
        await house.deal()
    await until_changed(house, change)
    [(index, record)] = changes_in(house.data_dir)
    assert index == change.first_leaf - 1
    assert (record.old_key, record.new_key) == (old, new.name)
    filled = stored_records(house.data_dir)[size:index]
    events = [record for record in filled if isinstance(record, pb.EventRecorded)]
    assert {event.event_class for event in events} <= {pb.EVENT_CLASS_KEY_CHANGE_DUE}
    assert len(events) <= 64
    assert await in_force(house, purpose) == new.name
    await house.deal()
    await audited(house)


async def test_the_new_statement_key_signs_from_its_leaf_on(house: Running) -> None:
    """The change itself is signed by the old one."""
    old = await in_force(house, STATEMENT)
    new = await rotate(house, STATEMENT)
    await house.deal()
    [(index, record)] = changes_in(house.data_dir)
    found = signers(house)
    assert set(found[: index + 1]) == {sha256(old).digest()}
    assert set(found[index + 1 :]) == {sha256(new.name).digest()}
    assert len(found) > record.first_leaf


async def test_all_keys_change_while_tables_play(start: Start) -> None:
    """Four tables deal at once; nobody is refused, every answer's records are in the log, once."""
    server = await busy(start, "shoe-6d")
    async with playing(server) as dealt:
        for purpose in (*ALL, STATEMENT):
            before = len(dealt)
            await rotate(server, purpose, ahead=40)
            await audited(server)
            while len(dealt) < before + 8:
                await asyncio.sleep(0.01)
    purposes = [record.purpose for _, record in changes_in(server.data_dir)]
    assert purposes == [*ALL, STATEMENT]
    results = {
        f"tables/{record.link.table}/rounds/{record.round_number}": entry
        for entry in stored_entries(server.data_dir)
        if isinstance(record := open_record(entry), pb.RoundDealt)
    }
    assert results == dealt


async def test_a_change_discards_no_shoe(start: Start) -> None:
    """A seed that was drawn and never shown is what an operator does who looks for a better shoe."""
    server = await busy(start, "punto-banco-6d")
    async with playing(server) as dealt:
        for _ in range(6):
            before = len(dealt)
            await rotate(server, STATEMENT, ahead=20)
            while len(dealt) < before + 4:
                await asyncio.sleep(0.01)
    await server.stop()  # finds no notice: every seed drawn has opened a shoe


async def test_a_change_waits_for_a_log_that_grows(start: Start) -> None:
    """Nothing is filled up as long as more than 64 leaves are missing."""
    server = await busy(start, "shoe-6d", "punto-banco-6d")
    size = await server.size()
    new = make_key(server.data_dir, STATEMENT)
    await hand_in(server, await change_of(server, STATEMENT, new, 120))
    await asyncio.gather(*(server.deal(name) for name in TABLES))
    kinds = {type(record) for record in stored_records(server.data_dir)[size:]}
    assert kinds == {pb.RoundDealt, pb.RoundOpened}
    assert await in_force(server, STATEMENT) != new.name


@pytest.mark.parametrize("purpose", ALL)
async def test_old_answers_come_again_byte_for_byte(house: Running, purpose: int) -> None:
    """Under the key that was in force then: also two changes later."""
    request = await house.deal_request()
    first = await house.raw("DealRound", request)
    await rotate(house, purpose)
    second_request = await house.deal_request()
    second = await house.raw("DealRound", second_request)
    await rotate(house, purpose)
    await house.deal()
    assert await house.raw("DealRound", request) == first
    assert await house.raw("DealRound", second_request) == second
    lines = {b64decode(note.split()[-1])[:4] for note in (first, second)}
    assert len(lines) == (2 if purpose == CHECKPOINT else 1)  # ids of the keys that signed


async def test_evidence_from_both_sides_of_every_change_is_good(start: Start) -> None:
    """Files made before, across and after, all under the trust file as it is in the end."""
    server = await busy(start, "shoe-6d", "punto-banco-6d")
    files: list[bytes] = []
    names: list[str] = []
    for purpose in ALL:
        for table in TABLES:
            names.append((await server.deal(table)).name)
            files.append(await evidence(server, names[-1]))
        await rotate(server, purpose)
        names.append((await server.deal("a")).name)  # opened before the change, dealt behind it
        files += [await evidence(server, name) for name in names]
    for data in files:
        report = verified(server, data)
        assert report.valid, report.findings
    assert len(files) > 30


async def test_evidence_under_another_key_is_not_good(house: Running) -> None:
    """The old trust file does not know the key; the new one not what a stranger signed."""
    old_trust = (house.data_dir / "trust.json").read_bytes()
    name = (await house.deal()).name
    await rotate(house, CHECKPOINT)
    data = await evidence(house, name)
    assert verified(house, data).valid
    (house.data_dir / "trust.json").write_bytes(old_trust)
    report = verified(house, data)
    assert [str(finding.code) for finding in report.findings] == ["NOTE_SIGNATURE"]
    await rotate(house, STATEMENT)  # writes the trust file anew


async def test_trust_lists_every_checkpoint_key_and_shows_the_newest(house: Running) -> None:
    """In the file, over HTTP, and in vkey."""
    first = await in_force(house, CHECKPOINT)
    news = [(await rotate(house, CHECKPOINT)).name for _ in range(2)]
    trust = parse_trust((house.data_dir / "trust.json").read_bytes())
    assert [key.public_key for key in trust.checkpoint_keys] == [first, *news]
    assert (await house.http("/log/trust.json"))[2] == trust.text().encode()
    shown = (house.data_dir / "vkey").read_text("ascii")
    assert shown == trust.checkpoint_keys[-1].text() + "\n"


async def test_new_shoes_are_sealed_with_the_new_key(quick: Running) -> None:
    """And the open one stays with the old: its opening is in the log."""
    old = await in_force(quick, SEALING)
    new = await rotate(quick, SEALING)
    for _ in range(2):
        await quick.deal()
    opened = [r for r in stored_records(quick.data_dir) if isinstance(r, pb.RoundOpened)]
    assert [r.shoe.sealing_key_id.encode() for r in opened] == [old, new.name, new.name]
