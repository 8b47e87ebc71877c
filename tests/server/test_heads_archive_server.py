"""Every head that a server released is in its archive, verbatim, and can be followed over gRPC."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from sealedshoe_server.v1 import audit_service_pb2 as pb_audit
from tests.server.conftest import Start
from tests.server.copies import crash_image
from tests.server.fake_witness import FakeWitness, fake_witness
from tests.server.reading import audit_log, leaf, root_of, stored_entries
from tests.server.refusals import refusal_of
from tests.server.rotating import CHECKPOINT, checkpoint, rotate
from tests.server.running import Running

SIGNATURE = "— ".encode()


def notes_in(archive: bytes) -> list[bytes]:
    """Notes as C2SP signed-note has them: text, empty line, signature lines."""
    notes: list[bytes] = []
    rest = archive
    while rest:
        text, found, rest = rest.partition(b"\n\n")
        assert found
        note = text + found
        while rest.startswith(SIGNATURE):
            line, _, rest = rest.partition(b"\n")
            note += line + b"\n"
        notes.append(note)
    return notes


def archived(server: Running) -> list[bytes]:
    """What the archive holds."""
    return notes_in(server.config.heads_path.read_bytes())


def size_of(note: bytes) -> int:
    """The size that a note states."""
    return int(note.split(b"\n")[1])


async def heads_of(server: Running, count: int, **request: Any) -> list[tuple[bytes, bool]]:
    """The first so many heads that WatchCheckpoints shows."""
    call = server.audit.WatchCheckpoints(pb_audit.WatchCheckpointsRequest(**request))
    try:
        answers = [await asyncio.wait_for(call.read(), 10) for _ in range(count)]
    finally:
        call.cancel()
    return [(answer.checkpoint, answer.cosigned) for answer in answers]


@pytest.fixture
async def witness() -> AsyncIterator[FakeWitness]:
    """A witness on a loopback port."""
    async with fake_witness("w.example/1") as made:
        yield made


@pytest.fixture
async def cosigned(start: Start, witness: FakeWitness, tmp_path: Path) -> Running:
    """A server whose heads that witness cosigns."""
    policy = tmp_path / "policy"
    policy.write_text(f"witness w {witness.vkey} {witness.url}\nquorum w\n", "utf-8")
    server = await start(witness_policy=str(policy))
    await server.install("punto-banco-6d")
    await server.open_table(game="punto-banco-6d")
    return server


async def test_every_answers_head_is_archived(house: Running) -> None:
    """Verbatim, in order, each once, and each a true head of the log."""
    answers: list[bytes] = []
    for _ in range(6):
        request = await house.deal_request()
        answers.append((await house.game.DealRound(request, timeout=10)).checkpoint)
    found = archived(house)
    assert [note for note in found if note in answers] == answers
    sizes = [size_of(note) for note in found]
    assert sizes == sorted(set(sizes))
    leaves = [leaf(entry) for entry in stored_entries(house.data_dir)]
    for note in found:
        text = house.config.origin.encode() + b"\n%d\n" % size_of(note)
        assert note.startswith(text)
        assert note.split(b"\n")[2] == root_line(leaves[: size_of(note)])


def root_line(leaves: list[bytes]) -> bytes:
    """The third line of a checkpoint."""
    return b64encode(root_of(leaves))


async def test_an_old_answer_adds_nothing(house: Running) -> None:
    """Its head was archived when it was released."""
    request = await house.deal_request()
    await house.raw("DealRound", request)
    await house.deal()
    before = archived(house)
    await house.raw("DealRound", request)
    assert archived(house) == before


async def test_a_restart_adds_only_what_is_new(start: Start, house: Running) -> None:
    """What was archived stays byte for byte; also across a change of the checkpoint key."""
    await rotate(house, CHECKPOINT)
    await house.deal()
    before = house.config.heads_path.read_bytes()
    await house.stop()
    assert house.config.heads_path.read_bytes() == before
    again = await start()
    await again.deal()
    after = again.config.heads_path.read_bytes()
    assert after.startswith(before)
    assert len(notes_in(after)) > len(notes_in(before))


@pytest.mark.parametrize("left", [1, 30, 60, 110, -1])
async def test_a_torn_end_is_cut_off_and_written_again(
    start: Start, house: Running, left: int
) -> None:
    """A crash in the middle of a note, after so many of its bytes: the whole log is archived after it."""
    await house.deal()
    whole = house.config.heads_path.read_bytes()
    last = notes_in(whole)[-1]
    crashed = crash_image(house.config, "crashed")
    crashed.heads_path.write_bytes(whole[: -len(last)] + last[:left])
    again = await start(name="crashed")
    found = again.config.heads_path.read_bytes()
    assert found.startswith(whole)
    await again.deal()
    assert archived(again)[-1] == await checkpoint(again)


async def test_a_damaged_note_costs_no_other(start: Start, house: Running) -> None:
    """A torn end is cut off, but what stands behind some damage was released and is kept."""
    for _ in range(3):
        await house.deal()
    await house.stop()
    before = archived(house)
    torn = bytearray(house.config.heads_path.read_bytes())
    torn[len(before[0]) + len(before[1]) - 5] ^= 0x80
    house.config.heads_path.write_bytes(torn)
    again = await start()
    kept = again.config.heads_path.read_bytes()
    assert all(note in kept for note in before[2:])


async def test_cosigned_heads_are_archived_as_they_are_shown(
    cosigned: Running, witness: FakeWitness
) -> None:
    """Each beside the head as it was signed first."""
    shown: set[bytes] = set()
    for _ in range(3):
        await cosigned.deal()
        size = await cosigned.size()
        while size_of(await checkpoint(cosigned)) < size:
            await asyncio.sleep(0.01)
        shown.add(await checkpoint(cosigned))
    found = archived(cosigned)
    assert shown <= set(found)
    for note in shown:
        signed, _, line = note.rstrip(b"\n").rpartition(b"\n")
        assert signed + b"\n" in found
        assert line.decode() + "\n" in witness.lines


async def test_heads_are_watched_from_the_start(house: Running) -> None:
    """Size 0 shows all of the archive."""
    await house.deal()
    expected = [note for note in archived(house) if size_of(note)]
    assert await heads_of(house, len(expected), after_size=0) == [(n, False) for n in expected]


async def test_heads_are_watched_from_a_size(house: Running) -> None:
    """Only larger ones, and then each new one."""
    await house.deal()
    expected = archived(house)[-2:]
    after = size_of(archived(house)[-3])
    assert await heads_of(house, 2, after_size=after) == [(note, False) for note in expected]
    call = house.audit.WatchCheckpoints(
        pb_audit.WatchCheckpointsRequest(after_size=await house.size())
    )
    await house.deal()
    answer = await asyncio.wait_for(call.read(), 10)
    assert answer.checkpoint == await checkpoint(house)
    call.cancel()


async def test_heads_are_watched_live(house: Running) -> None:
    """Without a size: those to come, each once and in order, for every reader."""
    calls = [house.audit.WatchCheckpoints(pb_audit.WatchCheckpointsRequest()) for _ in range(3)]
    reads = [asyncio.create_task(call.read()) for call in calls]
    seen: list[list[bytes]] = [[] for _ in calls]
    while not all(read.done() for read in reads):
        await house.deal()
    for mine, read, call in zip(seen, reads, calls, strict=True):
        mine.append((await read).checkpoint)
        while mine[-1] != archived(house)[-1]:
            mine.append((await asyncio.wait_for(call.read(), 10)).checkpoint)
        assert archived(house)[-len(mine) :] == mine
        call.cancel()


async def test_cosigned_heads_are_told_from_signed_ones(
    cosigned: Running, witness: FakeWitness
) -> None:
    """By the witness's line, not by the log's."""
    await cosigned.deal()
    size = await cosigned.size()
    while size_of(await checkpoint(cosigned)) < size:
        await asyncio.sleep(0.01)
    expected = [note for note in archived(cosigned) if size_of(note)]
    shown = await heads_of(cosigned, len(expected), after_size=0)
    lines = [line.encode() for line in witness.lines]
    assert shown == [(note, any(line in note for line in lines)) for note in expected]
    assert {is_cosigned for _, is_cosigned in shown} == {False, True}


async def test_watchers_are_told_when_the_server_drains(house: Running) -> None:
    """Everything first, then where to resume."""
    sizes = pb_audit.WatchCheckpointsRequest(after_size=0)
    call = house.audit.WatchCheckpoints(sizes)
    expected = [note for note in archived(house) if size_of(note)]
    seen = [(await asyncio.wait_for(call.read(), 10)).checkpoint for _ in expected]
    stopping = asyncio.create_task(house.server.stop())
    refusal = await refusal_of(call.read())
    assert (refusal.code, refusal.reason) == ("UNAVAILABLE", "SERVER_DRAINING")
    assert refusal.retry_after_s == 1.0
    assert seen == expected
    await house.channel.close()
    await stopping
    house.stopped = True
    assert audit_log(house.data_dir, archived(house)[-1]).valid
