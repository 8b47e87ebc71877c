"""A server's log carries stamps that an auditor checks with the authority's certificate."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio

from sealedshoe_audit.trust import parse_trust
from sealedshoe_audit.tsa import stamp_check
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.verify.log import LogOptions, LogReport, verify_log
from sealedshoe_server.storage.sqlite import SqliteStore
from sealedshoe_server.time_stamping import newest_stamp_us
from sealedshoe_server.v1 import audit_service_pb2 as pb_audit
from tests.server.local_tsa import LocalTsa, local_tsa, make_authorities
from tests.server.reading import MemorySource, stored_entries, stored_records
from tests.server.running import Running
from tests.server.watched import LONG, SHORT, Watched, eventually, until_cosigned, watched_in


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two authorities."""
    return await make_authorities(tmp_path_factory.mktemp("authorities"))


@pytest.fixture
async def tsa(tmp_path: Path, certificates: Path) -> AsyncIterator[LocalTsa]:
    """An authority on a loopback port."""
    async with local_tsa(tmp_path / "tsa", certificates) as made:
        yield made


@pytest.fixture
async def watched(tmp_path: Path, tsa: LocalTsa) -> AsyncIterator[Watched]:
    """Two witnesses; the authority outlives the servers."""
    assert tsa.url
    async with watched_in(tmp_path, 2) as made:
        yield made


def stamps(server: Running) -> list[pb.TimeStamped]:
    """The stamps in a log."""
    records = stored_records(server.data_dir)
    return [record for record in records if isinstance(record, pb.TimeStamped)]


async def until_stamped(server: Running, count: int) -> None:
    """Waits for so many stamps."""
    await eventually(lambda: len(stamps(server)) >= count)


def size_of(note: bytes) -> int:
    """Of a checkpoint."""
    return int(note.split(b"\n")[1])


async def verdict(server: Running, roots: Sequence[Path]) -> LogReport:
    """The auditor's, with the authorities that it trusts."""
    answer = await server.audit.GetCheckpoint(pb_audit.GetCheckpointRequest(), timeout=10)
    note = answer.checkpoint
    source = MemorySource(stored_entries(server.data_dir)[: size_of(note)], note)
    trust = parse_trust((server.data_dir / "trust.json").read_bytes())
    options = LogOptions(check_stamp=stamp_check([root.read_bytes() for root in roots]))
    return verify_log(source, trust, time.time_ns() // 1000, lambda _, __: None, options)


async def test_a_log_is_stamped_at_its_start_and_at_each_shoe_of_several_rounds(
    watched: Watched, tsa: LocalTsa
) -> None:
    """Without witnesses the signed head; the auditor finds the stamps good, and a stranger's not."""
    server = await watched.plain(tsa_url=tsa.url, tsa_root=str(tsa.root))
    await until_stamped(server, 1)
    await server.install(LONG)
    for count, table in ((2, "a"), (3, "b")):
        await server.open_table(table, game=LONG)
        opened = await server.size()
        await until_stamped(server, count)
        assert size_of(stamps(server)[-1].checkpoint) == opened
        await server.deal(table)
    assert [record.response for record in stamps(server)] == tsa.given
    report = await verdict(server, [tsa.root])
    assert report.findings == []
    sizes = [size_of(record.checkpoint) for record in stamps(server)]
    assert [stamp["size"] for stamp in report.facts["time_stamps"]] == sizes
    report = await verdict(server, [tsa.stranger])
    assert {str(finding.code) for finding in report.findings} == {"TIME_STAMP"}


async def test_with_witnesses_only_cosigned_heads_are_stamped(
    watched: Watched, tsa: LocalTsa
) -> None:
    """None before the first quorum; and openings that name a stamped head are bracketed."""
    for witness in watched.witnesses:
        witness.quirk = "down"
    rule = "group q all w0 w1\nquorum q"
    server = await watched.open(
        SHORT, rule, cosigned=False, tsa_url=tsa.url, tsa_root=str(tsa.root)
    )
    await eventually(lambda: all(len(witness.asked) >= 2 for witness in watched.witnesses))
    assert tsa.asked == []
    for witness in watched.witnesses:
        witness.quirk = ""
    await until_stamped(server, 1)
    await until_cosigned(server)
    assert stamps(server)[0].checkpoint.count("\n— ".encode()) == 3
    report = await verdict(server, [tsa.root])
    assert report.findings == []
    assert len(report.facts["time_stamps"]) == len(stamps(server))


@pytest.mark.parametrize("quirk", ["down", "garbage", "stranger", "other", "rejected"])
async def test_play_goes_on_without_stamps(watched: Watched, tsa: LocalTsa, quirk: str) -> None:
    """An authority that fails stops nobody, and leaves nothing in the log."""
    tsa.quirk = quirk
    server = await watched.plain(tsa_url=tsa.url, tsa_root=str(tsa.root))
    await server.install(LONG)
    await server.open_table(game=LONG)
    while b'time_stamps_total{result="failed"}' not in (await server.http("/metrics"))[2]:
        await asyncio.sleep(0.02)
    await server.deal()
    assert stamps(server) == []


async def test_a_log_that_was_stamped_under_another_policy_stays_valid(
    watched: Watched, tsa: LocalTsa
) -> None:
    """Witnesses come and go: what was stamped was cosigned by those of its time."""
    first, second = watched.witnesses
    given = {"tsa_url": tsa.url, "tsa_root": str(tsa.root)}
    server = await watched.start("quorum w0", witnesses=[first], **given)
    await until_stamped(server, 1)
    await until_cosigned(server)
    await server.stop()
    again = await watched.start("quorum w0", witnesses=[second])
    await until_cosigned(again)
    report = await verdict(again, [tsa.root])
    await again.channel.close()
    await again.server.stop()
    again.stopped = True  # audited here, before it stopped
    assert report.findings == []


async def test_a_restart_goes_on_behind_the_newest_stamp(watched: Watched, tsa: LocalTsa) -> None:
    """So that an authority whose clock stepped back meanwhile makes no log invalid."""
    server = await watched.plain(tsa_url=tsa.url, tsa_root=str(tsa.root), stamp_every_s=0.1)
    await until_stamped(server, 2)
    await server.stop()
    newest = stamps(server)[-1]
    own, strange = (stamp_check([root.read_bytes()]) for root in (tsa.root, tsa.stranger))
    with closing(SqliteStore(server.data_dir / "log.db", server.config.origin)) as store:
        assert newest_stamp_us(store, own) == own(newest.response, newest.checkpoint)
        assert newest_stamp_us(store, strange) == 0


async def test_a_log_without_stamps_has_no_newest_one(watched: Watched, tsa: LocalTsa) -> None:
    """The first may have any time."""
    server = await watched.plain()
    await server.stop()
    with closing(SqliteStore(server.data_dir / "log.db", server.config.origin)) as store:
        assert newest_stamp_us(store, stamp_check([tsa.root.read_bytes()])) == 0
