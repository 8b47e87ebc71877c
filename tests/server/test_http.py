"""The HTTP port: the log's files as C2SP tlog-tiles wants them, health, metrics, trust."""

import asyncio
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from sealedshoe_audit.trust import parse_trust
from sealedshoe_audit.verify.log import verify_log
from sealedshoe_server.v1 import audit_service_pb2 as pb_audit
from tests.server.conftest import servers_in
from tests.server.reading import stored_entries, tile_files
from tests.server.running import Running

pytestmark = pytest.mark.asyncio(loop_scope="module")
SIZE = 263


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    """A log of 263 leaves: one full tile and seven more."""
    async with servers_in(tmp_path_factory.mktemp("http")) as start:
        server = await start()
        await server.install()
        await server.open_table()
        for _ in range((SIZE - 5) // 2):
            await server.deal()
        assert await server.size() == SIZE
        yield server


async def test_every_tile_and_bundle_is_served(server: Running) -> None:
    """Full and partial, levels 0 and 1, as worked out from the entries alone."""
    files = tile_files(stored_entries(server.data_dir))
    assert sorted(files) == [
        "tile/0/000",
        "tile/0/001.p/7",
        "tile/1/000.p/1",
        "tile/entries/000",
        "tile/entries/001.p/7",
    ]
    for path, content in files.items():
        status, headers, body = await server.http(f"/log/{path}")
        assert (status, body) == (200, content)
        assert headers["content-type"] == "application/octet-stream"
        assert headers["cache-control"] == "public, max-age=604800, immutable"


async def test_partial_tiles_of_older_sizes_are_served(server: Running) -> None:
    """Whoever has an older checkpoint finds the tiles that it implies."""
    entries = stored_entries(server.data_dir)
    for size in (1, 100, 255, 257, 260):
        for path, content in tile_files(entries[:size]).items():
            status, _, body = await server.http(f"/log/{path}")
            assert (path, status, body) == (path, 200, content)


@pytest.mark.parametrize(
    "path",
    [
        "tile/0/0",
        "tile/0/5",
        "tile/0/00",
        "tile/0/0000",
        "tile/0/x000/000",
        "tile/00/000",
        "tile/-1/000",
        "tile/64/000",
        "tile/0/000.p/0",
        "tile/0/000.p/256",
        "tile/0/000.p/257",
        "tile/0/000.p/007",
        "tile/0/000.p/-1",
        "tile/0/000.p/",
        "tile/0/000.p/1/",
        "tile/0/001",
        "tile/0/001.p/8",
        "tile/0/002.p/1",
        "tile/1/000",
        "tile/1/000.p/2",
        "tile/1/001.p/1",
        "tile/2/000.p/1",
        "tile/0/x001/000",
        "tile/0/x999/x999/x999/x999/x999/x999/999",
        "tile/entries/001",
        "tile/entries/001.p/8",
        "tile/entries/0",
        "tile/data/000",
        "tile/0/000.p",
        "tile/0/%30%30%30%0a",
        "tile/0/٠٠٠",
        "tile/",
        "tile/0",
        "tile/../checkpoint",
        "tile/0/../../../log.db",
        "keys/statement.pem",
        "log.db",
        "",
    ],
)
async def test_a_path_that_no_checkpoint_implies_is_not_found(server: Running, path: str) -> None:
    """Other spellings, widths beyond the size, other files: 404."""
    status, _, _ = await server.http(f"/log/{urllib.parse.quote(path, safe='/%.')}")
    assert status == 404


async def test_the_checkpoint_is_fresh_text(server: Running) -> None:
    """A signed note in UTF-8 that no cache keeps: the one that GetCheckpoint gives."""
    status, headers, body = await server.http("/log/checkpoint")
    expected = await server.audit.GetCheckpoint(pb_audit.GetCheckpointRequest())
    assert (status, body) == (200, expected.checkpoint)
    assert headers["content-type"] == "text/plain; charset=utf-8"
    assert headers["cache-control"] == "no-store"
    assert body.splitlines()[:2] == [b"localhost/sealedshoe", b"263"]


async def test_the_trust_file_is_the_directorys(server: Running) -> None:
    """Byte for byte."""
    status, headers, body = await server.http("/log/trust.json")
    assert (status, body) == (200, (server.data_dir / "trust.json").read_bytes())
    assert headers["content-type"].startswith("application/json")


async def test_health_and_metrics_are_served(server: Running) -> None:
    """200 and ok; Prometheus' text format."""
    status, _, body = await server.http("/healthz")
    assert (status, body) == (200, b"ok\n")
    status, headers, body = await server.http("/metrics")
    assert status == 200
    assert headers["content-type"].startswith("text/plain; version=")
    assert b"\nsealedshoe_log_size 263.0\n" in body


async def test_the_served_files_verify_as_a_log(server: Running) -> None:
    """An auditor who has nothing but the port and the trust file finds all well."""
    base = f"http://{server.server.addresses['http']}/log/"

    class HttpSource:
        def read(self, path: str) -> bytes | None:
            try:
                with urllib.request.urlopen(base + path, timeout=10) as answer:
                    return bytes(answer.read())
            except urllib.error.HTTPError as error:
                error.close()
                return None

    trust = parse_trust((server.data_dir / "trust.json").read_bytes())
    report = await asyncio.to_thread(verify_log, HttpSource(), trust, 2**60, lambda *_: None)
    assert report.findings == []
    assert report.records == SIZE


async def test_other_methods_are_refused(server: Running) -> None:
    """The port only reads."""

    def post() -> int:
        request = urllib.request.Request(
            f"http://{server.server.addresses['http']}/log/checkpoint", b"", method="POST"
        )
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            error.close()
            return error.code

    assert await asyncio.to_thread(post) == 405
